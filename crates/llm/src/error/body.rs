//! Reads the body of an error, whatever its shape.
//!
//! Known shapes: `{"error":{…}}`, `{"error":"text"}`, flat `{message,type,code}`,
//! `{"detail":"…"}` and `{"detail":[{msg,loc}]}`, arrays of those, JSON inside
//! a message, web pages, and plain text. What a provider echoes of the request
//! or of the model's answer is not taken for its own words.

use serde_json::Value;

const LONGEST_MESSAGE: usize = 2_000;
const LONGEST_WORDS: usize = 16 * 1024;
const DEEPEST: usize = 8;
/// Fields in which providers repeat what they were sent or what the model wrote.
const ECHOES: [&str; 7] =
    ["failed_generation", "input", "messages", "prompt", "headers", "user_id", "tool_calls"];

/// What a body says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// For the person.
    pub message: String,
    /// Everything that can tell the kind, in lower case.
    pub words: String,
    /// A status code within the body.
    pub status: Option<u16>,
    /// The provider's name for the request.
    pub request_id: Option<String>,
}

/// Reads a body.
pub(super) fn read(body: &str) -> Said {
    let text = body.trim().trim_start_matches('\u{FEFF}');
    let said = match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => read_json(&value),
        Ok(Value::String(text)) => plain(&text),
        _ if text.starts_with('<') => page(text),
        _ => plain(text),
    };
    Said { message: bounded(said.message.trim(), LONGEST_MESSAGE), ..said }
}

fn read_json(value: &Value) -> Said {
    let mut words = String::new();
    collect(value, 0, &mut words);
    Said {
        message: message_of(value, 0).unwrap_or_default(),
        words: words.to_lowercase(),
        status: status_of(value),
        request_id: value.get("request_id").and_then(Value::as_str).map(ToOwned::to_owned),
    }
}

fn plain(text: &str) -> Said {
    Said { message: text.to_owned(), words: bounded(text, LONGEST_WORDS).to_lowercase(), ..Said::default() }
}

/// A web page: its title, or its text.
fn page(text: &str) -> Said {
    let lower = text.to_ascii_lowercase();
    let title = lower
        .find("<title>")
        .map(|at| at + "<title>".len())
        .and_then(|from| Some((from, from + lower.get(from..)?.find("</title>")?)))
        .and_then(|(from, to)| text.get(from..to))
        .map(|title| title.trim().to_owned())
        .filter(|title| !title.is_empty());
    plain(&title.unwrap_or_else(|| without_tags(&bounded(text, LONGEST_MESSAGE))))
}

fn without_tags(text: &str) -> String {
    let mut inside = false;
    let visible: String = text
        .chars()
        .map(|c| match c {
            '<' => (inside = true, ' ').1,
            '>' => (inside = false, ' ').1,
            c if inside => {
                if c == '\n' {
                    '\n'
                } else {
                    ' '
                }
            }
            c => c,
        })
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn message_of(value: &Value, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::String(text) => Some(unwrapped(text, depth)).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => {
            let messages: Vec<String> = items.iter().filter_map(|item| item_message(item, depth)).collect();
            Some(messages.join("; ")).filter(|text| !text.is_empty())
        }
        Value::Object(fields) => {
            let names =
                ["error", "message", "detail", "error_description", "msg", "errors", "title", "code", "type"];
            let message = names.iter().find_map(|name| message_of(fields.get(*name)?, depth + 1))?;
            Some(with_upstream(message, value, depth))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// One entry of a list of complaints, with the place it complains about.
fn item_message(item: &Value, depth: usize) -> Option<String> {
    let message = message_of(item, depth + 1)?;
    let place: Vec<String> = item
        .get("loc")
        .and_then(Value::as_array)
        .map(|steps| {
            steps
                .iter()
                .map(|step| step.as_str().map_or_else(|| step.to_string(), ToOwned::to_owned))
                .collect()
        })
        .unwrap_or_default();
    if place.is_empty() { Some(message) } else { Some(format!("{}: {message}", place.join("."))) }
}

/// A message that is JSON itself is looked into.
fn unwrapped(text: &str, depth: usize) -> String {
    if text.trim_start().starts_with('{')
        && let Ok(inner) = serde_json::from_str::<Value>(text)
        && let Some(message) = message_of(&inner, depth + 1)
    {
        return message;
    }
    text.to_owned()
}

/// A router's own words say little; what the provider behind it said is added.
fn with_upstream(message: String, value: &Value, depth: usize) -> String {
    let raw = value.get("metadata").and_then(|metadata| metadata.get("raw"));
    match raw.and_then(|raw| message_of(raw, depth + 1)) {
        Some(upstream) if !message.contains(&upstream) => format!("{message}: {upstream}"),
        _ => message,
    }
}

fn status_of(value: &Value) -> Option<u16> {
    let object = match value {
        Value::Array(items) => items.first()?,
        other => other,
    };
    let inner = object.get("error").filter(|error| error.is_object());
    [inner, Some(object)].into_iter().flatten().find_map(|fields| {
        ["status_code", "code", "status", "http_code"].iter().find_map(|name| {
            let number = match fields.get(*name)? {
                Value::Number(number) => number.as_u64()?,
                Value::String(text) => text.trim().parse().ok()?,
                _ => return None,
            };
            u16::try_from(number).ok().filter(|status| (400..600).contains(status))
        })
    })
}

fn collect(value: &Value, depth: usize, words: &mut String) {
    if depth > DEEPEST || words.len() > LONGEST_WORDS {
        return;
    }
    match value {
        Value::String(text) => {
            words.push_str(&bounded(text, LONGEST_WORDS));
            words.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, depth + 1, words)),
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| !ECHOES.contains(&name.as_str())) {
                // The one field whose name tells more than its value.
                if name == "retryDelay" {
                    words.push_str(&format!("retry in {}\n", value.as_str().unwrap_or_default()));
                }
                collect(value, depth + 1, words);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The beginning of a text, at most `limit` characters.
pub(crate) fn bounded(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_in_every_shape() {
        let table = [
            (r#"{"error":{"message":"no","type":"t","code":null}}"#, "no"),
            (r#"{"error":"no"}"#, "no"),
            (r#"{"code":"invalid","error":"no"}"#, "no"),
            (r#"{"message":"no","type":"not_found_error","code":"x"}"#, "no"),
            (r#"{"object":"error","message":"no","code":"3051"}"#, "no"),
            (r#"{"id":"1","message":"no"}"#, "no"),
            (r#"{"detail":"no"}"#, "no"),
            (
                r#"{"detail":[{"loc":["body","messages",0],"msg":"required","input":"x"}]}"#,
                "body.messages.0: required",
            ),
            (r#"[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#, "no"),
            (r#"{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}"#, "inner"),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"message\":\"too hot\"}"}}}"#,
                "Provider returned error: too hot",
            ),
            (r#"{"type":"error","error":{"type":"overloaded_error"}}"#, "overloaded_error"),
            ("<html><head><title>502 Bad Gateway</title></head><body>x</body></html>", "502 Bad Gateway"),
            ("<html><body><h1>Not here</h1> <p>Go away</p></body></html>", "Not here Go away"),
            ("   \n  {\"error\":{\"message\":\"no\"}}", "no"),
            ("upstream connect error", "upstream connect error"),
            ("", ""),
            ("{}", ""),
        ];
        for (body, expected) in table {
            assert_eq!(read(body).message, expected, "{body}");
        }
    }

    #[test]
    fn echoes_of_the_request_are_not_the_providers_words() {
        let said = read(
            r#"{"error":{"message":"tool call failed","failed_generation":"Context Length Exceeded","status_code":400}}"#,
        );
        assert_eq!((said.words.as_str(), said.status), ("tool call failed\n", Some(400)));
    }

    #[test]
    fn a_message_of_any_length_is_bounded() {
        let message = read(&format!("{{\"error\":\"{}\"}}", "é".repeat(5_000))).message;
        assert_eq!(message.chars().count(), LONGEST_MESSAGE + 1);
    }
}
