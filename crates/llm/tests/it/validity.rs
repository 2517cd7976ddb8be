//! What every provider insists on, as far as its documentation says so: whether
//! a request would be accepted.

use std::collections::HashSet;

use rein_llm::Wire;
use serde_json::Value;

type Verdict = Result<(), String>;

/// Whether a provider of a wire would accept the body of a request.
pub fn check(wire: Wire, body: &Value) -> Verdict {
    match wire {
        Wire::OpenAiChat => chat(body),
        Wire::OpenAiResponses => responses(body),
        Wire::Anthropic => turns(list(&body["messages"]), &Anthropic),
        Wire::Google => google(list(&body["contents"])),
        Wire::Bedrock => turns(list(&body["messages"]), &Bedrock),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn ensure(holds: bool, complaint: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(complaint()) }
}

fn is_word(text: &str, longest: usize) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.len() <= longest && text.bytes().all(sound)
}

fn chat(body: &Value) -> Verdict {
    let messages = list(&body["messages"]);
    ensure(!messages.is_empty(), || "there are no messages".to_owned())?;
    let mut open: Vec<String> = Vec::new();
    let mut ids = HashSet::new();
    for (place, message) in messages.iter().enumerate() {
        let complain = |what: &str| format!("message {place}: {what}: {message}");
        let role = text(&message["role"]);
        if role == "tool" {
            let id = text(&message["tool_call_id"]);
            let at = open
                .iter()
                .position(|known| known == id)
                .ok_or_else(|| complain("a result without a call"))?;
            open.remove(at);
            ensure(message["content"].is_string(), || complain("a result is no text"))?;
            continue;
        }
        ensure(open.is_empty(), || complain("a call has no result"))?;
        match role {
            "system" => ensure(place == 0, || complain("instructions are not first"))?,
            "user" => ensure(has_content(&message["content"]), || complain("it is empty"))?,
            "assistant" => {
                let calls = list(&message["tool_calls"]);
                ensure(has_content(&message["content"]) || !calls.is_empty(), || complain("it is empty"))?;
                for call in calls {
                    let id = text(&call["id"]).to_owned();
                    ensure(!id.is_empty() && id.chars().count() <= 40, || {
                        complain("an id is too long or empty")
                    })?;
                    ensure(ids.insert(id.clone()), || complain("an id is not unique"))?;
                    ensure(is_word(text(&call["function"]["name"]), 64), || complain("a name is refused"))?;
                    let arguments = serde_json::from_str::<Value>(text(&call["function"]["arguments"]));
                    ensure(arguments.is_ok_and(|value| value.is_object()), || {
                        complain("arguments are no object")
                    })?;
                    open.push(id);
                }
            }
            _ => return Err(complain("an unknown role")),
        }
    }
    ensure(open.is_empty(), || format!("calls without a result at the end: {open:?}"))
}

fn has_content(content: &Value) -> bool {
    match content {
        Value::String(words) => !words.trim().is_empty(),
        Value::Array(parts) => !parts.is_empty(),
        _ => false,
    }
}

/// How a wire with turns of blocks calls things.
trait Blocks {
    fn call<'a>(&self, block: &'a Value) -> Option<(&'a str, &'a str, &'a Value)>;
    fn result<'a>(&self, block: &'a Value) -> Option<(&'a str, &'a [Value])>;
    fn words<'a>(&self, block: &'a Value) -> Option<&'a str>;
    fn thought(&self, block: &Value) -> Option<Verdict>;
}

struct Anthropic;

impl Blocks for Anthropic {
    fn call<'a>(&self, block: &'a Value) -> Option<(&'a str, &'a str, &'a Value)> {
        (block["type"] == "tool_use").then(|| (text(&block["id"]), text(&block["name"]), &block["input"]))
    }

    fn result<'a>(&self, block: &'a Value) -> Option<(&'a str, &'a [Value])> {
        (block["type"] == "tool_result").then(|| (text(&block["tool_use_id"]), list(&block["content"])))
    }

    fn words<'a>(&self, block: &'a Value) -> Option<&'a str> {
        (block["type"] == "text").then(|| text(&block["text"]))
    }

    fn thought(&self, block: &Value) -> Option<Verdict> {
        match text(&block["type"]) {
            "thinking" => {
                Some(ensure(!text(&block["signature"]).is_empty(), || "thinking is unsigned".to_owned()))
            }
            "redacted_thinking" => Some(Ok(())),
            _ => None,
        }
    }
}

struct Bedrock;

impl Blocks for Bedrock {
    fn call<'a>(&self, block: &'a Value) -> Option<(&'a str, &'a str, &'a Value)> {
        let call = block.get("toolUse")?;
        Some((text(&call["toolUseId"]), text(&call["name"]), &call["input"]))
    }

    fn result<'a>(&self, block: &'a Value) -> Option<(&'a str, &'a [Value])> {
        let result = block.get("toolResult")?;
        Some((text(&result["toolUseId"]), list(&result["content"])))
    }

    fn words<'a>(&self, block: &'a Value) -> Option<&'a str> {
        block.get("text").map(text)
    }

    fn thought(&self, block: &Value) -> Option<Verdict> {
        let thought = block.get("reasoningContent")?;
        let signed = thought.get("redactedContent").is_some()
            || !text(&thought["reasoningText"]["signature"]).is_empty();
        Some(ensure(signed, || "thinking is unsigned".to_owned()))
    }
}

/// Persons and models take turns, and results stand first in the turn behind their calls.
fn turns(messages: &[Value], blocks: &dyn Blocks) -> Verdict {
    ensure(!messages.is_empty(), || "there are no messages".to_owned())?;
    let mut ids = HashSet::new();
    let mut open: HashSet<String> = HashSet::new();
    for (place, message) in messages.iter().enumerate() {
        let complain = |what: &str| format!("message {place}: {what}: {message}");
        let expected = if place % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == expected, || complain("not their turn"))?;
        let content = list(&message["content"]);
        ensure(!content.is_empty(), || complain("it is empty"))?;
        let mut results_over = false;
        for block in content {
            if let Some((id, inside)) = blocks.result(block) {
                ensure(open.remove(id), || complain("a result without a call"))?;
                ensure(!results_over, || complain("a result is not first"))?;
                ensure(!inside.is_empty(), || complain("a result is empty"))?;
                continue;
            }
            results_over = true;
            if let Some((id, name, input)) = blocks.call(block) {
                ensure(expected == "assistant", || complain("a person calls"))?;
                ensure(is_word(id, 64) && is_word(name, 64), || complain("an id or a name is refused"))?;
                ensure(input.is_object(), || complain("arguments are no object"))?;
                ensure(ids.insert(id.to_owned()), || complain("an id is not unique"))?;
                open.insert(id.to_owned());
            } else if let Some(words) = blocks.words(block) {
                ensure(!words.trim().is_empty(), || complain("words are blank"))?;
            } else if let Some(verdict) = blocks.thought(block) {
                ensure(expected == "assistant", || complain("a person thinks"))?;
                verdict?;
            }
        }
        ensure(expected == "assistant" || open.is_empty(), || complain("a call has no result"))?;
    }
    ensure(open.is_empty(), || format!("calls without a result at the end: {open:?}"))?;
    let last = messages.last().filter(|message| message["role"] == "assistant");
    let words = last.and_then(|message| blocks.words(list(&message["content"]).last()?));
    ensure(words.is_none_or(|words| words == words.trim_end()), || "the last words end in a blank".to_owned())
}

fn responses(body: &Value) -> Verdict {
    let items = list(&body["input"]);
    ensure(!items.is_empty(), || "there is no input".to_owned())?;
    let (mut called, mut answered) = (HashSet::new(), HashSet::new());
    for (place, item) in items.iter().enumerate() {
        let complain = |what: &str| format!("item {place}: {what}: {item}");
        match text(&item["type"]) {
            "function_call" => {
                let id = text(&item["call_id"]);
                ensure(!id.is_empty() && id.len() <= 64, || complain("an id is too long or empty"))?;
                ensure(called.insert(id), || complain("an id is not unique"))?;
                ensure(is_word(text(&item["name"]), 64), || complain("a name is refused"))?;
                let arguments = serde_json::from_str::<Value>(text(&item["arguments"]));
                ensure(arguments.is_ok_and(|value| value.is_object()), || {
                    complain("arguments are no object")
                })?;
            }
            "function_call_output" => {
                let id = text(&item["call_id"]);
                ensure(called.contains(id), || complain("a result before its call"))?;
                ensure(answered.insert(id), || complain("a second result"))?;
            }
            "reasoning" => {
                ensure(!text(&item["encrypted_content"]).is_empty(), || complain("reasoning is not sealed"))?;
                let next = items.get(place + 1).map(|next| text(&next["type"])).unwrap_or_default();
                let follows = matches!(next, "function_call" | "message" | "reasoning");
                ensure(follows, || complain("reasoning that nothing follows"))?;
            }
            "message" | "" => ensure(has_content(&item["content"]), || complain("it is empty"))?,
            _ => {}
        }
    }
    ensure(called == answered, || "a call has no result".to_owned())
}

fn google(contents: &[Value]) -> Verdict {
    ensure(!contents.is_empty(), || "there are no contents".to_owned())?;
    let mut open: Vec<String> = Vec::new();
    for (place, content) in contents.iter().enumerate() {
        let complain = |what: &str| format!("content {place}: {what}: {content}");
        let expected = if place % 2 == 0 { "user" } else { "model" };
        ensure(content["role"] == expected, || complain("not their turn"))?;
        let parts = list(&content["parts"]);
        ensure(!parts.is_empty(), || complain("it is empty"))?;
        let names = |field: &str| -> Vec<String> {
            let found = parts.iter().filter_map(|part| part.get(field));
            found.map(|found| text(&found["name"]).to_owned()).collect()
        };
        let (calls, results) = (names("functionCall"), names("functionResponse"));
        ensure(results == open, || complain("the results are not those of the calls"))?;
        ensure(expected == "model" || calls.is_empty(), || complain("a person calls"))?;
        ensure(calls.iter().all(|name| is_word(name, 64)), || complain("a name is refused"))?;
        open = calls;
        let sound = parts.iter().all(|part| match (part.get("functionCall"), part.get("text")) {
            (Some(call), _) => call.get("args").is_none_or(Value::is_object),
            (None, Some(words)) => !text(words).is_empty() || part.get("thoughtSignature").is_some(),
            (None, None) => true,
        });
        ensure(sound, || complain("arguments are no object, or words are none"))?;
    }
    ensure(open.is_empty(), || format!("calls without a result at the end: {open:?}"))
}
