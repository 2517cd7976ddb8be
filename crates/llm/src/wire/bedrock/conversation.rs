//! The messages of a request, in Converse's words.

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

/// The messages of a request.
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
    let content = |message: Option<&Value>| {
        message.and_then(|message| message.get("content")?.as_array().cloned()).unwrap_or_default()
    };
    let mut back = messages.iter().rev();
    let answers = content(back.next()).iter().any(|block| block.get("toolResult").is_some());
    let before = content(back.next());
    answers && before.first().is_none_or(|block| block.get("reasoningContent").is_none())
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
            unseal(Wire::Bedrock, request, model, part).map(|(thinking, block)| thought(thinking, block))
        }
        AssistantPart::Call(_) => None,
    });
    words.chain(calls.iter().map(call)).collect()
}

/// Thinking as it came; blocks of the provider's as they came.
fn thought(thinking: &str, block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(signed) = block.pointer_mut("/reasoningContent/reasoningText").and_then(Value::as_object_mut)
    {
        signed.insert("text".to_owned(), thinking.into());
    }
    block
}

fn call(outgoing: &OutgoingCall) -> Value {
    let input = match &outgoing.call.input {
        ToolInput::Json { value } => value.clone(),
        ToolInput::Malformed { .. } => json!({}),
    };
    let name = acceptable_name(&outgoing.call.tool);
    json!({"toolUse": {"toolUseId": outgoing.id, "name": name, "input": input}})
}

fn result(id: &str, content: &ResultContent, request: &ModelRequest, quirks: &Quirks) -> Value {
    let (mut blocks, status) = match content {
        ResultContent::Missing(words) => (vec![text(words)], "error"),
        ResultContent::Given { content, is_error } => {
            let blocks = contents(content, request, quirks, Shower::Tool);
            (blocks, if *is_error { "error" } else { "success" })
        }
    };
    if blocks.is_empty() {
        blocks.push(text("(no output)"));
    }
    json!({"toolResult": {"toolUseId": id, "content": blocks, "status": status}})
}

fn contents(content: &[Content], request: &ModelRequest, quirks: &Quirks, shower: Shower) -> Vec<Value> {
    let blocks = content.iter().filter_map(|piece| match piece {
        Content::Text { text: words } => Some(text(words)).filter(|_| !words.trim().is_empty()),
        Content::Image { media_type, blob } => {
            Some(match picture(request, quirks, shower, media_type, blob) {
                Picture::Bytes(bytes) => {
                    let format = media_type.rsplit('/').next().unwrap_or_default();
                    json!({"image": {"format": format, "source": {"bytes": bytes}}})
                }
                Picture::Words(words) => text(&words),
            })
        }
    });
    blocks.collect()
}

fn text(words: &str) -> Value {
    json!({"text": words})
}
