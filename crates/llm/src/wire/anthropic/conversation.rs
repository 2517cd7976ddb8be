//! The messages of a request, in the provider's words.

use rein_protocol::message::AssistantPart;
use rein_protocol::{Content, ModelRef, ToolInput};
use serde_json::{Value, json};

use crate::catalog::{Quirks, ToolIdShape};
use crate::request::ModelRequest;
use crate::wire::Wire;
use crate::wire::alternating::{Alternating, Role};
use crate::wire::history::{OutgoingCall, ResultContent, Turn, acceptable_name, arrange};
use crate::wire::image::{Picture, Shower, picture};
use crate::wire::opaque::unseal;

/// The messages of a request, in the provider's words.
pub(super) fn messages(request: &ModelRequest, quirks: &Quirks) -> Vec<Value> {
    let mut conversation = Alternating::new(text);
    for turn in arrange(&request.messages, ToolIdShape::Word64) {
        match turn {
            Turn::User(content) => {
                conversation.add(Role::User, contents(content, request, quirks, Shower::Person));
            }
            Turn::Assistant { model, parts, calls } => {
                conversation.add(Role::Assistant, assistant(model, parts, &calls, request));
            }
            Turn::Result { id, content } => {
                conversation.add(Role::User, vec![result(&id, &content, request, quirks)]);
            }
            Turn::Stray { tool, content } => {
                let mut blocks = vec![text(&format!("The result of an earlier call of `{tool}`:"))];
                blocks.extend(contents(content, request, quirks, Shower::Person));
                conversation.add(Role::User, blocks);
            }
        }
    }
    conversation.finish()
}

/// Whether the model is in the middle of its calls, and its last message does not begin with its own thinking: then
/// it may not think on.
pub(super) fn breaks_thinking(messages: &[Value]) -> bool {
    let kind = |block: Option<&Value>| {
        block.and_then(|block| block.get("type")?.as_str()).unwrap_or_default().to_owned()
    };
    let content = |message: &Value| message.get("content").and_then(Value::as_array).cloned();
    let mut back = messages.iter().rev();
    let last = back.next().and_then(content).unwrap_or_default();
    let answers = last.iter().any(|block| kind(Some(block)) == "tool_result");
    let before = back.next().and_then(content).unwrap_or_default();
    answers && !matches!(kind(before.first()).as_str(), "thinking" | "redacted_thinking")
}

/// Calls come last: the provider wants the results right behind them.
fn assistant(
    model: &ModelRef,
    parts: &[AssistantPart],
    calls: &[OutgoingCall],
    request: &ModelRequest,
) -> Vec<Value> {
    let words = parts.iter().filter_map(|part| match part {
        AssistantPart::Text { text: words } => Some(text(words)).filter(|_| !words.trim().is_empty()),
        AssistantPart::Reasoning { .. } => {
            unseal(Wire::Anthropic, request, model, part).map(|(thinking, block)| thought(thinking, block))
        }
        AssistantPart::Call(_) => None,
    });
    words.chain(calls.iter().map(call)).collect()
}

/// Thinking as it came; blocks of the provider's as they came.
fn thought(thinking: &str, block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(fields) = block.as_object_mut()
        && fields.get("type").and_then(Value::as_str) == Some("thinking")
    {
        fields.insert("thinking".to_owned(), thinking.into());
    }
    block
}

fn call(outgoing: &OutgoingCall) -> Value {
    let input = match &outgoing.call.input {
        ToolInput::Json { value } => value.clone(),
        ToolInput::Malformed { .. } => json!({}),
    };
    json!({"type": "tool_use", "id": outgoing.id, "name": acceptable_name(&outgoing.call.tool), "input": input})
}

fn result(id: &str, content: &ResultContent, request: &ModelRequest, quirks: &Quirks) -> Value {
    let (mut blocks, failed) = match content {
        ResultContent::Missing(words) => (vec![text(words)], true),
        ResultContent::Given { content, is_error } => {
            (contents(content, request, quirks, Shower::Tool), *is_error)
        }
    };
    if blocks.is_empty() {
        blocks.push(text("(no output)"));
    }
    let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": blocks});
    if let (true, Some(fields)) = (failed, result.as_object_mut()) {
        fields.insert("is_error".to_owned(), true.into());
    }
    result
}

fn contents(content: &[Content], request: &ModelRequest, quirks: &Quirks, shower: Shower) -> Vec<Value> {
    let blocks = content.iter().filter_map(|piece| match piece {
        Content::Text { text: words } => Some(text(words)).filter(|_| !words.trim().is_empty()),
        Content::Image { media_type, blob } => {
            Some(match picture(request, quirks, shower, media_type, blob) {
                Picture::Bytes(data) => json!({
                    "type": "image",
                    "source": {"type": "base64", "media_type": media_type, "data": data},
                }),
                Picture::Words(words) => text(&words),
            })
        }
    });
    blocks.collect()
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}
