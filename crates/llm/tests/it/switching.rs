//! A conversation that begins with one model goes on with any other, whatever wires they speak.

use rein_llm::wire::{AnswerDecoder, Wire};
use rein_llm::{Catalog, ModelEvent, ModelRequest, Quirks};
use rein_protocol::message::AssistantPart;
use rein_protocol::{Message, ModelRef};
use serde_json::{Value, json};

use crate::bedrock::message;
use crate::responses::{answer, answered, request, user};

/// What providers seal their reasoning with here.
const SEAL: &str = "c2VhbGVkLWJ5LXRoZS1wcm92aWRlcg";

/// An answer with sealed reasoning, words and two calls, and the model that gave it.
fn told(wire: Wire) -> (&'static str, Vec<u8>) {
    let sse = |events: &[Value]| -> Vec<u8> {
        events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
    };
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{\"path\":\"a\"}"});
    match wire {
        Wire::OpenAiChat => {
            let call = |index: u64| {
                json!({"index": index, "id": format!("functions.read:{index}"),
                "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}})
            };
            let delta = json!({"reasoning_content": "Pondered", "content": "Words", "tool_calls": [call(0), call(1)]});
            let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]});
            ("groq/openai/gpt-oss-120b", sse(&[chunk]))
        }
        Wire::OpenAiResponses => {
            let thought =
                json!({"type": "reasoning", "encrypted_content": SEAL, "summary": [{"text": "Pondered"}]});
            let words = json!({"type": "message", "phase": "commentary", "content": [{"text": "Words"}]});
            let response =
                json!({"status": "completed", "output": [thought, words, call("call_1"), call("call_2")]});
            ("openai/gpt-5.4", sse(&[json!({"type": "response.completed", "response": response})]))
        }
        Wire::Anthropic => {
            let call =
                |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "a"}});
            let content = json!([{"type": "thinking", "thinking": "Pondered", "signature": SEAL},
                {"type": "text", "text": "Words"}, call("toolu_1"), call("toolu_2")]);
            let body = json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"});
            ("anthropic/claude-sonnet-4-5", body.to_string().into_bytes())
        }
        Wire::Google => {
            let call = json!({"functionCall": {"name": "read", "args": {"path": "a"}}});
            let mut signed = call.clone();
            signed["thoughtSignature"] = SEAL.into();
            let parts = json!([{"text": "Pondered", "thought": true}, {"text": "Words"}, signed, call]);
            let chunk = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
            ("google/gemini-3.8-flash", sse(&[chunk]))
        }
        Wire::Bedrock => {
            let event = |kind: &str, payload: Value| message(kind, &payload.to_string());
            let delta = |index: u64, delta: Value| {
                event("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}))
            };
            let start = |index: u64, id: &str| {
                let start = json!({"toolUse": {"toolUseId": id, "name": "read"}});
                event("contentBlockStart", json!({"contentBlockIndex": index, "start": start}))
            };
            let input = || json!({"toolUse": {"input": "{\"path\":\"a\"}"}});
            let bytes = [
                delta(0, json!({"reasoningContent": {"text": "Pondered"}})),
                delta(0, json!({"reasoningContent": {"signature": SEAL}})),
                delta(1, json!({"text": "Words"})),
                start(2, "tooluse_1"),
                delta(2, input()),
                start(3, "tooluse_2"),
                delta(3, input()),
                event("messageStop", json!({"stopReason": "tool_use"})),
            ];
            ("bedrock/us.anthropic.claude-sonnet-5", bytes.concat())
        }
    }
}

fn decoded(wire: Wire) -> (ModelRef, Message) {
    let (model, bytes) = told(wire);
    let mut decoder = AnswerDecoder::new(wire);
    let mut events: Vec<ModelEvent> = Vec::new();
    decoder.push(&bytes, &mut events).unwrap();
    if !decoder.ended() {
        decoder.finish(&mut events).unwrap();
    }
    let model: ModelRef = model.parse().unwrap();
    let answer = answer(&model, &events);
    (model, answer)
}

fn quirks(catalog: &Catalog, model: &ModelRef) -> Quirks {
    let provider = catalog.provider(&model.provider).unwrap();
    provider.model(&model.model).unwrap().quirks(&provider.quirks)
}

#[test]
fn what_one_model_said_every_other_can_be_told() {
    let catalog = Catalog::bundled();
    for first in Wire::ALL {
        let (began, said) = decoded(first);
        let Message::Assistant { parts, .. } = &said else { panic!("no answer") };
        let calls = parts.iter().filter(|part| matches!(part, AssistantPart::Call(_))).count();
        assert_eq!(calls, 2, "{first:?}: {parts:?}");
        let mut messages = answered(user("Read both"), said);
        // One result got lost.
        messages.pop();
        messages.push(user("Go on"));
        for second in Wire::ALL {
            let (goes_on, _) = decoded(second);
            let request = ModelRequest { model: goes_on.model.clone(), ..request(messages.clone()) };
            let encoded = second.encode(&request, &quirks(&catalog, &goes_on)).unwrap();
            let body = String::from_utf8(encoded.body.to_vec()).unwrap();
            let pair = format!("{began} and then {goes_on}: {body}");
            assert!(body.contains("Words") && body.contains("Go on"), "{pair}");
            assert!(body.contains("there is no result"), "{pair}");
            // What is sealed goes back to where it came from, and to nobody else.
            let sealed = first == second && first != Wire::OpenAiChat;
            assert_eq!(body.contains(SEAL), sealed, "{pair}");
            if first != second {
                assert!(!body.contains("Pondered"), "{pair}");
            }
        }
    }
}
