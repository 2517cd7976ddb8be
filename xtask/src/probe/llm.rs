//! Operations of the llm crate.

use base64::Engine as _;
use rein_http::Headers;
use rein_llm::dialect::spoken;
use rein_llm::wire::{Decoded, Shape, decode_response};
use rein_llm::{
    Begins, Dialect, ErrorKind, ModelError, ModelRequest, Quirks, Wire, classify as classify_error, retry,
};
use rein_protocol::{Finish, Timestamp, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Failure, typed};

/// `error.classify`.
pub fn classify(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        status: Option<u16>,
        #[serde(default)]
        headers: Option<Map<String, Value>>,
        body: Option<String>,
        message: Option<String>,
        now: Option<i64>,
    }
    let input: Input = typed(input)?;
    let headers = headers(input.headers);
    let now = input.now.map_or_else(Timestamp::now, Timestamp);
    let texts = [input.body, input.message].into_iter().flatten().filter(|text| !text.trim().is_empty());
    let errors = texts.map(|text| classify_error(input.status, &headers, &text, now));
    let mut errors: Vec<ModelError> = errors.collect();
    if errors.is_empty() {
        errors.push(classify_error(input.status, &headers, "", now));
    }
    // The body comes first; the message counts where the body says nothing.
    let telling = errors.iter().find(|error| error.kind != ErrorKind::Other).or(errors.first());
    match telling {
        Some(error) => Ok(json!({
            "class": class(error.kind),
            "retryable": error.retryable(),
            "retry_after_ms": milliseconds(error),
        })),
        None => Err(Failure::wrong("nothing to classify")),
    }
}

/// `retry.delay`: the delay without its random part.
pub fn delay(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        attempt: u32,
        #[serde(default)]
        headers: Option<Map<String, Value>>,
        body: Option<String>,
        now: Option<i64>,
    }
    let input: Input = typed(input)?;
    let now = input.now.map_or_else(Timestamp::now, Timestamp);
    let asked = retry::asked_by(&headers(input.headers), &input.body.unwrap_or_default(), now);
    let delay = retry::delay(input.attempt, asked, retry::BASE_DELAY, 0.0);
    Ok(json!({ "ms": u64::try_from(delay.as_millis()).unwrap_or(u64::MAX) }))
}

/// `wire.encode`.
pub fn encode(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        wire: String,
        request: ModelRequest,
        #[serde(default)]
        quirks: Quirks,
    }
    let input: Input = typed(input)?;
    let encoded =
        wire(&input.wire, "wire.encode")?.encode(&input.request, &input.quirks).map_err(Failure::wrong)?;
    let body: Value = serde_json::from_slice(&encoded.body).map_err(Failure::wrong)?;
    Ok(json!({ "path": encoded.path, "body": body }))
}

/// `wire.decode`.
pub fn decode(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        wire: String,
        #[serde(default)]
        streamed: bool,
        #[serde(default = "success")]
        status: u16,
        #[serde(default)]
        headers: Option<Map<String, Value>>,
        body: String,
        #[serde(default)]
        body_base64: bool,
        split: Option<usize>,
    }
    let input: Input = typed(input)?;
    let wire = wire(&input.wire, "wire.decode")?;
    let body = match input.body_base64 {
        true => {
            base64::engine::general_purpose::STANDARD.decode(input.body.trim()).map_err(Failure::wrong)?
        }
        false => input.body.into_bytes(),
    };
    let shape = if input.streamed { Shape::Streamed } else { Shape::Whole };
    Ok(decoded(decode_response(wire, shape, input.status, &headers(input.headers), &body, input.split)))
}

/// `dialect.parse`.
pub fn dialect(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        dialect: String,
        #[serde(alias = "pieces")]
        chunks: Vec<String>,
        #[serde(default)]
        opened: bool,
        #[serde(default)]
        tools: Option<Vec<Value>>,
    }
    let input: Input = typed(input)?;
    let name = dialect_of(&input.dialect).unwrap_or(&input.dialect);
    let dialect: Dialect = name.parse().map_err(Failure::wrong)?;
    let tools: Vec<ToolSpec> = input.tools.iter().flatten().filter_map(tool).collect();
    let pieces: Vec<&str> = input.chunks.iter().map(String::as_str).collect();
    let begins = if input.opened { Begins::Thinking } else { Begins::Answering };
    let spoken = spoken(dialect, begins, &tools, &pieces);
    let calls: Vec<Value> = spoken
        .calls
        .iter()
        .map(|(name, written)| {
            let read = serde_json::from_str(written).unwrap_or_else(|_| Value::String(written.clone()));
            json!({ "name": name, "arguments": read })
        })
        .collect();
    Ok(json!({ "text": spoken.text, "thinking": spoken.reasoning, "calls": calls }))
}

/// The dialect that reads a format, by the words of other projects for it, if there is one.
pub fn dialect_of(format: &str) -> Option<&'static str> {
    if let Ok(dialect) = format.parse::<Dialect>() {
        return Some(dialect.name());
    }
    Some(match format {
        "anthropic" | "xml" => "anthropic-xml",
        "deepseek-v3" | "deepseek-v3.1" | "cogito" => "deepseek",
        "gemma4" => "gemma",
        "glm-4.6" => "glm",
        "qwen3" | "qwen3-json" | "think-tags" => "hermes",
        "json-in-text" | "json-tool-calls" => "json",
        "kimi-k2" => "kimi",
        "llama4-pythonic" | "pythonic" => "llama",
        "ministral" => "mistral",
        "qwen3-coder" | "nemotron" => "qwen-coder",
        _ => return None,
    })
}

/// A tool as other projects write one.
fn tool(value: &Value) -> Option<ToolSpec> {
    let value = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    Some(ToolSpec {
        name: value.get("name")?.as_str()?.to_owned(),
        description: value.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        input_schema: value
            .get("parameters")
            .or_else(|| value.get("input_schema"))
            .filter(|schema| schema.is_object())
            .cloned()
            .unwrap_or(json!({})),
    })
}

fn success() -> u16 {
    200
}

fn wire(name: &str, op: &str) -> Result<Wire, Failure> {
    Wire::from_name(name).ok_or_else(|| Failure::Unavailable(format!("{op} ({name})")))
}

fn headers(given: Option<Map<String, Value>>) -> Headers {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    given.unwrap_or_default().into_iter().map(|(name, value)| (name, text(value))).collect()
}

fn decoded(decoded: Decoded) -> Value {
    let calls: Vec<Value> = decoded
        .calls
        .iter()
        .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }))
        .collect();
    let mut answer = json!({
        "text": decoded.text,
        "reasoning": decoded.reasoning,
        "opaque": decoded.opaque,
        "calls": calls,
        "stop": decoded.finish.as_ref().map(stop),
        "usage": decoded.usage,
    });
    if let (Some(error), Some(fields)) = (decoded.error, answer.as_object_mut()) {
        let error = json!({
            "class": class(error.kind),
            "message": error.message,
            "retry_after_ms": milliseconds(&error),
        });
        fields.insert("error".to_owned(), error);
    }
    answer
}

fn stop(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::Refusal => "refusal",
        Finish::Other { reason } => reason,
        Finish::Interrupted => "interrupted",
        Finish::Died => "died",
        Finish::Error { .. } => "error",
    }
}

/// The classes that the probe knows; ours are finer.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Overflow => "overflow",
        ErrorKind::RateLimit => "rate_limit",
        ErrorKind::Overloaded => "overloaded",
        ErrorKind::Auth => "auth",
        ErrorKind::Quota => "quota",
        ErrorKind::BadRequest | ErrorKind::NotFound => "bad_request",
        ErrorKind::Network | ErrorKind::Stalled | ErrorKind::Cut => "network",
        ErrorKind::Protocol | ErrorKind::Cancelled | ErrorKind::NoModel | ErrorKind::Other => "other",
    }
}

fn milliseconds(error: &ModelError) -> Option<u64> {
    error.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn an_answer_is_decoded_and_an_unknown_wire_is_not_available() {
        let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let input = |wire: &str| json!({"wire": wire, "streamed": true, "status": 200, "headers": null, "body": body, "split": 3});
        let answer = call("wire.decode", &input("openai-chat")).unwrap();
        assert_eq!((&answer["text"], &answer["stop"]), (&json!("hi"), &json!("stop")));
        assert!(answer.get("error").is_none());
        assert_eq!(
            call("wire.decode", &input("telex")),
            Err(Failure::Unavailable("wire.decode (telex)".to_owned()))
        );
    }

    #[test]
    fn an_error_has_a_class_and_a_delay() {
        let input = json!({"status": 429, "headers": {"retry-after": 3}, "body": "{\"error\":{\"message\":\"slow down\"}}"});
        let expected = json!({"class": "rate_limit", "retryable": true, "retry_after_ms": 3_000});
        assert_eq!(call("error.classify", &input), Ok(expected));
        assert_eq!(call("retry.delay", &json!({"attempt": 2, "headers": {}})), Ok(json!({"ms": 4_000})));
        assert!(call("retry.delay", &json!({"attempt": -1})).is_err());
    }

    #[test]
    fn a_request_is_encoded_to_json() {
        let request = json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]});
        let answer = call("wire.encode", &json!({"wire": "openai-chat", "request": request})).unwrap();
        assert_eq!(answer["body"]["model"], "m");
    }
}
