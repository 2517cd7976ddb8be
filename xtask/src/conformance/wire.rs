//! Recorded exchanges with providers: nothing may panic, nothing may depend on
//! how the bytes were cut, and what was decoded is what the bytes say.

use serde_json::{Value, json};

use super::case::{Exchange, Verdict};
use super::peers::{not_applicable, same};
use super::wire_truth;
use crate::probe::{self, Failure};

/// Decodes one exchange.
pub fn run(case: &Exchange) -> Verdict {
    // Anthropic's messages are the same wherever they are served.
    let variant = case.variant.as_ref().filter(|variant| *variant != "vertex-raw-predict");
    if let Some(variant) = variant {
        return not_applicable(&format!("variant {variant}"));
    }
    if wire_of(case).is_none() {
        return not_applicable("a protocol that is not spoken: this provider is asked in another");
    }
    let whole = match decode(case, None) {
        Err(Failure::Unavailable(op)) => return Verdict::NoSubject(op),
        Err(Failure::Wrong(message)) => return Verdict::Differ(format!("error: {message}")),
        Ok(whole) => whole,
    };
    let checked = pieces(case, &whole)
        .and_then(|()| tags(case, &whole))
        .and_then(|()| wire_truth::compare(case, &whole));
    match checked {
        Ok(()) => Verdict::Agree,
        Err(difference) => Verdict::Differ(difference),
    }
}

/// The protocol of ours that reads an exchange. Errors are understood the same on all of them.
fn wire_of(case: &Exchange) -> Option<&str> {
    match case.wire.as_str() {
        // What it speaks are chat completions, with some things of its own.
        "mistral" => Some("openai-chat"),
        "cohere" | "ollama" | "other" if case.response.status >= 400 => Some("openai-chat"),
        "cohere" | "ollama" | "other" => None,
        known => Some(known),
    }
}

fn decode(case: &Exchange, split: Option<usize>) -> probe::Answer {
    let mut input = json!({
        "wire": wire_of(case),
        "provider": case.provider,
        "streamed": case.streamed,
        "status": case.response.status,
        "headers": case.response.headers,
        "body": case.response.body,
        "body_base64": case.response.body_encoding == "base64",
    });
    if let (Some(split), Some(fields)) = (split, input.as_object_mut()) {
        fields.insert("split".to_owned(), json!(split));
    }
    probe::call("wire.decode", &input)
}

fn pieces(case: &Exchange, whole: &Value) -> Result<(), String> {
    for split in [1, 7, 64] {
        let cut = decode(case, Some(split)).map_err(|failure| failure.message())?;
        same(&cut, whole).map_err(|difference| format!("cut into pieces of {split} bytes:\n{difference}"))?;
    }
    Ok(())
}

/// What the tags of the collection say must be there.
fn tags(case: &Exchange, decoded: &Value) -> Result<(), String> {
    let has = |feature: &str| case.features.iter().any(|found| found == feature);
    // Calls of the provider's own tools are calls to the collection; ours keep them for the provider.
    let own = decoded["opaque"].as_array().into_iter().flatten();
    let own =
        own.filter(|kept| kept["block"]["toolUse"].is_object() || kept["block"]["type"] == "server_tool_use");
    let calls = decoded["calls"].as_array().map_or(0, Vec::len) + own.count();
    let failed = has("error") || has("error_in_stream") || has("error_in_200") || case.response.status >= 400;
    let class = decoded["error"]["class"].as_str();
    let expectations = [
        (failed, class.is_some(), "an error"),
        (!failed, class.is_none(), "no error"),
        (has("usage") && !failed, decoded["usage"].is_object(), "usage"),
        (has("length_stop"), decoded["stop"] == "length", "the stop `length`"),
        (has("parallel_tool_calls") && !has("server_tool"), calls >= 2, "at least two calls"),
        (has("context_overflow"), class == Some("overflow"), "the error class `overflow`"),
        (has("auth_error"), class == Some("auth"), "the error class `auth`"),
        (has("rate_limit"), matches!(class, Some("rate_limit" | "quota")), "the error class `rate_limit`"),
    ];
    match expectations.iter().find(|(expected, found, _)| *expected && !*found) {
        Some((_, _, what)) => Err(format!("theirs: {what}\nours:   {decoded}")),
        None => Ok(()),
    }
}
