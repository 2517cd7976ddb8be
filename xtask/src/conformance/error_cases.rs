//! Cases about errors of providers: what class they are, whether another try
//! makes sense, and after what time.

use serde_json::{Map, Value, json};

use super::case::{PeerCase, Verdict};
use super::peers::{ask, not_applicable, same};

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    let input = &case.input;
    match case.op.as_str() {
        "overflow-text" => {
            classify(&json!({"message": input["message"], "provider": input["provider"]}), |found| {
                overflow(found, &case.expect)
            })
        }
        "api-error" => {
            classify(&picked(input, &["status", "message", "headers", "body", "provider"]), |found| {
                overflow(found, &case.expect)?;
                retryable(found, &case.expect)
            })
        }
        "stream-error" => stream_error(case),
        "retryable" => error_retryable(case),
        "classify" => flags(case, &input["error"]["message"], &input["error"]["status"]),
        "classify-message" => flags(case, &input["errorMessage"], &input["errorStatus"]),
        "gateway-status" => gateway(case),
        "http-status" => http_status(case),
        "google-quota" => google_quota(case),
        "delay" => delay(case),
        "headers-and-text" | "message-text" | "google-error-body" => after(case),
        _ => not_applicable("settings of another project's retries"),
    }
}

fn classify(input: &Value, check: impl FnOnce(&Value) -> Result<(), String>) -> Verdict {
    ask("error.classify", &without_nulls(input), |found| check(found?))
}

fn picked(input: &Value, names: &[&str]) -> Value {
    let mut fields: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), input[*name].clone())).collect();
    if let Some(body) = fields.get_mut("body")
        && (body.is_object() || body.is_array())
    {
        *body = Value::String(body.to_string());
    }
    Value::Object(fields)
}

fn without_nulls(input: &Value) -> Value {
    match input {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

fn overflow(found: &Value, expect: &Value) -> Result<(), String> {
    same(&json!({"overflow": found["class"] == "overflow"}), &json!({"overflow": expect["overflow"] == true}))
        .map_err(|difference| format!("{difference} (class {})", found["class"]))
}

fn retryable(found: &Value, expect: &Value) -> Result<(), String> {
    if expect["retryable"].is_null() {
        return Ok(());
    }
    same(&json!({"retryable": found["retryable"]}), &json!({"retryable": expect["retryable"]}))
        .map_err(|difference| format!("{difference} (class {})", found["class"]))
}

fn one_of(found: &Value, classes: &[&str]) -> Result<(), String> {
    match found["class"].as_str() {
        Some(class) if classes.contains(&class) => Ok(()),
        _ => Err(format!("ours:   {}\ntheirs: one of {classes:?}", found["class"])),
    }
}

fn stream_error(case: &PeerCase) -> Verdict {
    let event = &case.input["event"];
    let body = event["message"].as_str().map_or_else(|| event.to_string(), str::to_owned);
    classify(&json!({"body": body}), |found| {
        overflow(found, &case.expect)?;
        retryable(found, &case.expect)
    })
}

fn error_retryable(case: &PeerCase) -> Verdict {
    if case.input["retry_fetch_errors"] == false {
        return not_applicable("a setting that turns retries off");
    }
    let error = &case.input["error"];
    let data = if error["data"].is_object() { &error["data"] } else { error };
    let input = json!({
        "message": data["message"],
        "status": if data["statusCode"].is_null() { &data["status"] } else { &data["statusCode"] },
        "headers": data["responseHeaders"],
        "body": data["responseBody"],
        "provider": case.input["provider"],
    });
    classify(&input, |found| retryable(found, &case.expect))
}

fn flags(case: &PeerCase, message: &Value, status: &Value) -> Verdict {
    let flags: Vec<&str> =
        case.expect["flags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    classify(&json!({"message": message, "status": status}), |found| {
        overflow(found, &case.expect)?;
        if flags.contains(&"UsageLimit") {
            return one_of(found, &["rate_limit", "quota"]);
        }
        let expect = json!({"retryable": flags.contains(&"Transient")});
        retryable(found, &expect)
    })
}

fn gateway(case: &PeerCase) -> Verdict {
    let error = &case.input["error"];
    classify(&json!({"message": error["message"], "status": error["status"]}), |found| {
        match case.expect["type"].as_str() {
            Some("authentication_error") => one_of(found, &["auth"]),
            Some("rate_limit_error") => one_of(found, &["rate_limit", "quota"]),
            Some("invalid_request_error") => one_of(found, &["bad_request", "overflow"]),
            _ => one_of(found, &["overloaded", "network", "other"]),
        }
    })
}

fn http_status(case: &PeerCase) -> Verdict {
    classify(&picked(&case.input, &["status", "body"]), |found| match case.expect["class"].as_str() {
        Some("credits_exhausted") => one_of(found, &["quota"]),
        Some("rate_limit") => one_of(found, &["rate_limit"]),
        Some("context_length") => one_of(found, &["overflow"]),
        Some("auth") => one_of(found, &["auth"]),
        Some("server") => one_of(found, &["overloaded", "other"]),
        _ => one_of(found, &["bad_request", "other"]),
    })
}

fn google_quota(case: &PeerCase) -> Verdict {
    if case.expect["class"] == "unchanged" {
        return not_applicable("a classifier for quotas alone, and this is none");
    }
    if is_classified(&case.input["error"]) {
        return not_applicable("the class is the name of that project's own error");
    }
    classify(&google_error(&case.input["error"]), |found| {
        retryable(found, &case.expect)?;
        match case.expect.get("retryDelayMs") {
            Some(expected) => same_time(&found["retry_after_ms"], expected),
            None => Ok(()),
        }
    })
}

fn is_classified(error: &Value) -> bool {
    error["name"].as_str().is_some_and(|name| name.ends_with("QuotaError"))
}

/// An error object of that project as what had come over the wire.
fn google_error(error: &Value) -> Value {
    let body = match &error["cause"] {
        Value::Object(cause) if !cause.is_empty() => Value::String(json!({"error": cause}).to_string()),
        _ => Value::Null,
    };
    without_nulls(
        &json!({"message": error["message"], "status": error["status"], "body": body, "provider": "google"}),
    )
}

fn delay(case: &PeerCase) -> Verdict {
    if case.input["random"].as_f64().is_some_and(|random| random != 0.0) {
        return not_applicable("a delay with a random part");
    }
    let input = json!({
        "attempt": case.input["attempt"],
        "headers": case.input["headers"],
        "now": case.input["now_ms"],
    });
    ask("retry.delay", &without_nulls(&input), |found| same(&found?["ms"], &case.expect["delay_ms"]))
}

/// How long the provider says to wait, wherever it says so.
fn after(case: &PeerCase) -> Verdict {
    if is_classified(&case.input["error"]) {
        return not_applicable("the delay is in a field of that project's own error");
    }
    let input = match case.op.as_str() {
        "google-error-body" => google_error(&case.input["error"]),
        _ => {
            json!({"status": 429, "message": case.input["message"], "headers": case.input["headers"], "now": case.input["now_ms"]})
        }
    };
    classify(&input, |found| same_time(&found["retry_after_ms"], &case.expect["delay_ms"]))
}

/// The same to the millisecond; some say more than that.
fn same_time(ours: &Value, theirs: &Value) -> Result<(), String> {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(one), Some(other)) if (one - other).abs() < 1.0 => Ok(()),
        _ => same(ours, theirs),
    }
}
