//! A conversation begun over one wire goes on over any other: whatever is in
//! it, the next provider accepts it, and no signature reaches a stranger.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use rein_http::CancellationToken;
use rein_llm::wire::AnswerDecoder;
use rein_llm::{ModelEvent, ModelRequest, ModelsOptions, Quirks, Wire};
use rein_protocol::message::AssistantPart;
use rein_protocol::{BlobId, CallId, Content, Message, ModelRef, ToolCall, ToolInput};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::matrix::{Told, models_at};
use crate::server::{listen, read_request};
use crate::speech::{self, End, Say};
use crate::validity;

fn model_of(wire: Wire) -> ModelRef {
    ModelRef { provider: "test".to_owned(), model: format!("model-of-{}", wire.name()) }
}

/// What an answer of a wire comes to, as it is kept.
fn parts(wire: Wire, says: &[Say]) -> Vec<AssistantPart> {
    let mut events = Vec::new();
    let mut decoder = AnswerDecoder::new(wire);
    decoder.push(&speech::answer(wire, says), &mut events).unwrap();
    if !decoder.ended() {
        decoder.finish(&mut events).unwrap();
    }
    parts_of(events)
}

fn parts_of(events: Vec<ModelEvent>) -> Vec<AssistantPart> {
    let mut parts: BTreeMap<u32, AssistantPart> = BTreeMap::new();
    for event in events {
        match event {
            ModelEvent::TextDelta { part, delta } => {
                let empty = AssistantPart::Text { text: String::new() };
                if let AssistantPart::Text { text } = parts.entry(part).or_insert(empty) {
                    text.push_str(&delta);
                }
            }
            ModelEvent::ReasoningDelta { part, delta } => {
                let empty = AssistantPart::Reasoning { text: String::new(), opaque: None };
                if let AssistantPart::Reasoning { text, .. } = parts.entry(part).or_insert(empty) {
                    text.push_str(&delta);
                }
            }
            ModelEvent::ReasoningOpaque { part, opaque: sealed } => {
                let empty = AssistantPart::Reasoning { text: String::new(), opaque: None };
                if let AssistantPart::Reasoning { opaque, .. } = parts.entry(part).or_insert(empty) {
                    *opaque = Some(sealed);
                }
            }
            ModelEvent::CallCompleted { part, wire_id, tool, arguments } => {
                let input = ToolInput::parse(&arguments);
                parts.insert(part, AssistantPart::Call(ToolCall { id: CallId::new(), wire_id, tool, input }));
            }
            ModelEvent::CallStarted { .. }
            | ModelEvent::CallDelta { .. }
            | ModelEvent::Usage(_)
            | ModelEvent::Finished(_) => {}
        }
    }
    parts.into_values().collect()
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn picture() -> Content {
    Content::Image { media_type: "image/png".to_owned(), blob: BlobId("picture".to_owned()) }
}

fn result(call: &ToolCall, content: Vec<Content>, is_error: bool) -> Message {
    let (wire_id, tool) = (call.wire_id.clone(), call.tool.clone());
    Message::Tool { call: call.id.clone(), wire_id, tool, content, is_error }
}

fn call(wire_id: &str, tool: &str, input: &str) -> ToolCall {
    let (wire_id, tool) = (wire_id.to_owned(), tool.to_owned());
    ToolCall { id: CallId::new(), wire_id, tool, input: ToolInput::parse(input) }
}

/// Everything that can be in a conversation, message by message: not all of it is in order.
fn messages(wire: Wire) -> Vec<Message> {
    let model = model_of(wire);
    let said = |parts: Vec<AssistantPart>| Message::Assistant { model: model.clone(), parts };
    let odd = "functions.read:0/with spaces and far more characters than anybody would ever accept in an id";
    let answer = parts(
        wire,
        &[
            Say::Thought("I wonder."),
            Say::Text("Let me look."),
            Say::Call { id: "same", tool: "read", arguments: "{\"path\":\"a\"}" },
            Say::Call { id: "same", tool: "read", arguments: "{\"path\":\"b\"}" },
            Say::End(End::Calls),
        ],
    );
    let first = answer.iter().find_map(|part| match part {
        AssistantPart::Call(call) => Some(call.clone()),
        _ => None,
    });
    let (odd_call, malformed) = (call(odd, "read the file!", "{}"), call("", "", "[1"));
    let thought = parts(wire, &[Say::Thought("Only a thought."), Say::End(End::Stop)]);
    vec![
        Message::User { content: vec![Content::text("Look at this"), picture()] },
        said(answer),
        // The second call of the answer has no result.
        result(&first.unwrap(), vec![Content::text("content"), picture()], false),
        user("  "),
        said(Vec::new()),
        said(thought),
        result(&call("stray", "grep", "{}"), vec![Content::text("a result of nobody")], false),
        said(vec![
            AssistantPart::Call(odd_call.clone()),
            AssistantPart::Text { text: "after a call".to_owned() },
        ]),
        result(&odd_call, Vec::new(), true),
        result(&odd_call, vec![Content::text("twice")], false),
        said(vec![AssistantPart::Call(malformed)]),
        said(vec![AssistantPart::Text { text: "cut off in the ".to_owned() }]),
        user("Go on."),
    ]
}

fn request(model: &ModelRef, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: model.model.clone(),
        system: vec!["You are rein.".to_owned()],
        messages,
        images: [(BlobId("picture".to_owned()), Bytes::from_static(b"\x89PNG"))].into_iter().collect(),
        ..ModelRequest::default()
    }
}

fn encoded(wire: Wire, request: &ModelRequest) -> Value {
    let encoded = wire.encode(request, &Quirks::default()).unwrap();
    serde_json::from_slice(&encoded.body).unwrap()
}

#[test]
fn a_conversation_begun_on_any_wire_goes_on_over_any_other() {
    for begun in Wire::ALL {
        for wire in Wire::ALL {
            let body = encoded(wire, &request(&model_of(wire), messages(begun)));
            validity::check(wire, &body).unwrap_or_else(|error| panic!("{begun:?} to {wire:?}: {error}"));
            let text = body.to_string();
            for words in ["Look at this", "Let me look.", "Go on.", "after a call", "a result of nobody"] {
                assert!(text.contains(words), "{begun:?} to {wire:?} loses `{words}`: {text}");
            }
            let Some(signature) = speech::signature(begun) else { continue };
            assert_eq!(text.contains(signature), begun == wire, "{begun:?} to {wire:?}: {text}");
        }
    }
}

#[test]
fn reasoning_of_another_model_of_the_same_provider_stays_behind() {
    for wire in Wire::ALL {
        let other = ModelRef { model: "another".to_owned(), ..model_of(wire) };
        let body = encoded(wire, &request(&other, messages(wire)));
        validity::check(wire, &body).unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        let text = body.to_string();
        assert!(
            speech::signature(wire).is_none_or(|signature| !text.contains(signature)),
            "{wire:?}: {text}"
        );
    }
}

#[test]
fn the_rules_are_rules() {
    let broken = [
        (Wire::OpenAiChat, json!({"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]})),
        (
            Wire::Anthropic,
            json!({"messages": [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]}),
        ),
        (Wire::Bedrock, json!({"messages": [{"role": "user", "content": []}]})),
        (
            Wire::OpenAiResponses,
            json!({"input": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]}),
        ),
        (
            Wire::Google,
            json!({"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f"}}]}]}),
        ),
    ];
    for (wire, body) in broken {
        assert!(validity::check(wire, &body).is_err(), "{wire:?}");
    }
}

#[tokio::test]
async fn a_switch_in_the_middle_of_a_conversation_works_over_real_sockets() {
    for begun in Wire::ALL {
        for wire in Wire::ALL {
            let (listener, url) = listen().await;
            let serving = async move {
                let mut seen = Vec::new();
                for (spoken, says) in [
                    (
                        begun,
                        &[
                            Say::Thought("Hm."),
                            Say::Call { id: "x.1", tool: "read", arguments: "{}" },
                            Say::End(End::Calls),
                        ][..],
                    ),
                    (wire, &[Say::Text("Done."), Say::End(End::Stop)][..]),
                ] {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    seen.push(read_request(&mut stream).await);
                    let body = speech::answer(spoken, says);
                    let head = format!(
                        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
                    let _ = stream.shutdown().await;
                }
                seen
            };
            let asking = async {
                let mut conversation = vec![user("read it")];
                let ask = async |wire: Wire, messages: &[Message]| {
                    let models = models_at(wire, &url, ModelsOptions::default());
                    let request = request(&model_of(wire), messages.to_vec());
                    let cancel = CancellationToken::new();
                    Told::of(models.stream(&model_of(wire), &request, cancel).await.unwrap()).await
                };
                let told = ask(begun, &conversation).await;
                assert_eq!(told.error, None, "{begun:?}");
                let parts = parts_of(told.events);
                let calls: Vec<ToolCall> = parts
                    .iter()
                    .filter_map(|part| match part {
                        AssistantPart::Call(call) => Some(call.clone()),
                        _ => None,
                    })
                    .collect();
                conversation.push(Message::Assistant { model: model_of(begun), parts });
                conversation
                    .extend(calls.iter().map(|call| result(call, vec![Content::text("content")], false)));
                let told = ask(wire, &conversation).await;
                assert_eq!(told.error, None, "{begun:?} to {wire:?}");
            };
            let (seen, ()) = tokio::join!(serving, asking);
            let (_, body) = seen[1].split_once("\r\n\r\n").unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            validity::check(wire, &body).unwrap_or_else(|error| panic!("{begun:?} to {wire:?}: {error}"));
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_left_of_a_conversation_is_accepted_in_any_order(
        picked in proptest::collection::vec((0_usize..5, 0_usize..13), 0..14),
    ) {
        let pools: Vec<Vec<Message>> = Wire::ALL.into_iter().map(messages).collect();
        let conversation: Vec<Message> =
            picked.iter().map(|(pool, place)| pools[pool % pools.len()][*place].clone()).collect();
        for wire in Wire::ALL {
            let body = encoded(wire, &request(&model_of(wire), conversation.clone()));
            if let Err(error) = validity::check(wire, &body) {
                prop_assert!(false, "{:?}: {}", wire, error);
            }
        }
    }
}
