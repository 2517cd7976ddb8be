//! Answers of every wire, written after the providers' documentation: what a
//! server sends when a model says something.

use rein_llm::Wire;
use serde_json::{Value, json};

/// What a model says, whatever the wire.
#[derive(Debug, Clone, Copy)]
pub enum Say {
    Text(&'static str),
    Thought(&'static str),
    Call {
        id: &'static str,
        tool: &'static str,
        arguments: &'static str,
    },
    End(End),
    /// The provider fails in the middle.
    Error(&'static str),
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Stop,
    Calls,
    Length,
}

/// What a wire's reasoning is signed with, where it signs.
pub fn signature(wire: Wire) -> Option<&'static str> {
    match wire {
        Wire::OpenAiChat => None,
        Wire::OpenAiResponses => Some("sealed-by-responses"),
        Wire::Anthropic => Some("signed-by-anthropic"),
        Wire::Google => Some("c2lnbmVkLWJ5LWdvb2dsZQ=="),
        Wire::Bedrock => Some("signed-by-bedrock"),
    }
}

/// The body of an answer.
pub fn answer(wire: Wire, says: &[Say]) -> Vec<u8> {
    frames(wire, says).concat()
}

/// The same, event by event.
pub fn frames(wire: Wire, says: &[Say]) -> Vec<Vec<u8>> {
    let opening = match wire {
        Wire::OpenAiResponses => {
            vec![named(
                json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "error": null}}),
            )]
        }
        Wire::Anthropic => {
            vec![named(json!({"type": "message_start", "message": {"id": "m", "type": "message",
            "role": "assistant", "content": [], "model": "x", "usage": {"input_tokens": 5, "output_tokens": 1}}}))]
        }
        Wire::Bedrock => vec![message(":event-type", "messageStart", &json!({"role": "assistant"}))],
        Wire::OpenAiChat | Wire::Google => Vec::new(),
    };
    let said = says.iter().enumerate().flat_map(|(index, say)| match wire {
        Wire::OpenAiChat => chat(index, *say),
        Wire::OpenAiResponses => responses(index, *say),
        Wire::Anthropic => anthropic(index, *say),
        Wire::Google => google(*say),
        Wire::Bedrock => bedrock(index, *say),
    });
    opening.into_iter().chain(said).collect()
}

/// The body of an answer without success.
pub fn error(wire: Wire, status: u16, words: &str) -> String {
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => {
            json!({"error": {"message": words, "type": "e", "code": null}})
        }
        Wire::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": words}}),
        Wire::Google => json!({"error": {"code": status, "message": words, "status": "UNKNOWN"}}),
        Wire::Bedrock => json!({"message": words}),
    }
    .to_string()
}

fn data(value: Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

fn named(value: Value) -> Vec<u8> {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()).into_bytes()
}

fn chat(index: usize, say: Say) -> Vec<Vec<u8>> {
    let delta = |delta: Value| vec![data(json!({"choices": [{"index": 0, "delta": delta}]}))];
    match say {
        Say::Text(text) => delta(json!({"content": text})),
        Say::Thought(text) => delta(json!({"reasoning_content": text})),
        Say::Call { id, tool, arguments } => {
            delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": tool, "arguments": arguments}}]}))
        }
        Say::End(end) => {
            let word = match end {
                End::Stop => "stop",
                End::Calls => "tool_calls",
                End::Length => "length",
            };
            vec![
                data(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]})),
                data(json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})),
                b"data: [DONE]\n\n".to_vec(),
            ]
        }
        Say::Error(words) => {
            vec![data(json!({"error": {"message": words, "type": "server_error", "code": 503}}))]
        }
    }
}

fn responses(index: usize, say: Say) -> Vec<Vec<u8>> {
    let item = |kind: &str, item: Value| {
        named(json!({"type": format!("response.output_item.{kind}"), "output_index": index, "item": item}))
    };
    let delta = |kind: &str, delta: &str| {
        named(json!({"type": format!("response.{kind}.delta"), "output_index": index, "item_id": "i",
            "content_index": 0, "summary_index": 0, "delta": delta}))
    };
    match say {
        Say::Text(text) => {
            let message = |content: Value| json!({"id": "m", "type": "message", "role": "assistant", "content": content});
            let whole = message(json!([{"type": "output_text", "text": text, "annotations": []}]));
            vec![item("added", message(json!([]))), delta("output_text", text), item("done", whole)]
        }
        Say::Thought(text) => {
            let thought = |summary: Value| {
                json!({"id": "rs", "type": "reasoning", "summary": summary,
                "encrypted_content": signature(Wire::OpenAiResponses)})
            };
            let whole = thought(json!([{"type": "summary_text", "text": text}]));
            vec![
                item("added", thought(json!([]))),
                delta("reasoning_summary_text", text),
                item("done", whole),
            ]
        }
        Say::Call { id, tool, arguments } => {
            let call = |arguments: &str| {
                json!({"id": "fc", "type": "function_call", "status": "completed",
                "call_id": id, "name": tool, "arguments": arguments})
            };
            vec![
                item("added", call("")),
                delta("function_call_arguments", arguments),
                item("done", call(arguments)),
            ]
        }
        Say::End(end) => {
            let (kind, details) = match end {
                End::Stop | End::Calls => ("completed", Value::Null),
                End::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
            };
            let response = json!({"id": "r", "status": kind, "error": null, "output": [],
                "incomplete_details": details, "usage": {"input_tokens": 5, "output_tokens": 2}});
            vec![named(json!({"type": format!("response.{kind}"), "response": response}))]
        }
        Say::Error(words) => vec![named(json!({"type": "error", "code": "server_error", "message": words}))],
    }
}

fn anthropic(index: usize, say: Say) -> Vec<Vec<u8>> {
    let start =
        |block: Value| named(json!({"type": "content_block_start", "index": index, "content_block": block}));
    let delta = |delta: Value| named(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    let stop = || named(json!({"type": "content_block_stop", "index": index}));
    match say {
        Say::Text(text) => vec![
            start(json!({"type": "text", "text": ""})),
            delta(json!({"type": "text_delta", "text": text})),
            stop(),
        ],
        Say::Thought(text) => vec![
            start(json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(json!({"type": "thinking_delta", "thinking": text})),
            delta(json!({"type": "signature_delta", "signature": signature(Wire::Anthropic)})),
            stop(),
        ],
        Say::Call { id, tool, arguments } => vec![
            start(json!({"type": "tool_use", "id": id, "name": tool, "input": {}})),
            delta(json!({"type": "input_json_delta", "partial_json": arguments})),
            stop(),
        ],
        Say::End(end) => {
            let word = match end {
                End::Stop => "end_turn",
                End::Calls => "tool_use",
                End::Length => "max_tokens",
            };
            let last = json!({"type": "message_delta", "delta": {"stop_reason": word}, "usage": {"output_tokens": 2}});
            vec![named(last), named(json!({"type": "message_stop"}))]
        }
        Say::Error(words) => {
            vec![named(json!({"type": "error", "error": {"type": "overloaded_error", "message": words}}))]
        }
    }
}

fn google(say: Say) -> Vec<Vec<u8>> {
    let parts = |part: Value| {
        vec![data(json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]}))]
    };
    match say {
        Say::Text(text) => parts(json!({"text": text})),
        Say::Thought(text) => {
            parts(json!({"text": text, "thought": true, "thoughtSignature": signature(Wire::Google)}))
        }
        Say::Call { id, tool, arguments } => {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            parts(json!({"functionCall": {"id": id, "name": tool, "args": arguments},
                "thoughtSignature": signature(Wire::Google)}))
        }
        Say::End(end) => {
            let word = if end == End::Length { "MAX_TOKENS" } else { "STOP" };
            vec![data(
                json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": []}, "finishReason": word}],
                "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}}),
            )]
        }
        Say::Error(words) => {
            vec![data(json!({"error": {"code": 503, "message": words, "status": "UNAVAILABLE"}}))]
        }
    }
}

fn bedrock(index: usize, say: Say) -> Vec<Vec<u8>> {
    let event = |kind: &str, payload: Value| message(":event-type", kind, &payload);
    let delta =
        |delta: Value| event("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}));
    let stop = || event("contentBlockStop", json!({"contentBlockIndex": index}));
    match say {
        Say::Text(text) => vec![delta(json!({"text": text})), stop()],
        Say::Thought(text) => vec![
            delta(json!({"reasoningContent": {"text": text}})),
            delta(json!({"reasoningContent": {"signature": signature(Wire::Bedrock)}})),
            stop(),
        ],
        Say::Call { id, tool, arguments } => {
            let start =
                json!({"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": id, "name": tool}}});
            vec![event("contentBlockStart", start), delta(json!({"toolUse": {"input": arguments}})), stop()]
        }
        Say::End(end) => {
            let word = match end {
                End::Stop => "end_turn",
                End::Calls => "tool_use",
                End::Length => "max_tokens",
            };
            vec![
                event("messageStop", json!({"stopReason": word})),
                event("metadata", json!({"usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7}})),
            ]
        }
        Say::Error(words) => {
            vec![message(":exception-type", "serviceUnavailableException", &json!({"message": words}))]
        }
    }
}

/// A message of Amazon's framing; an exception if its name stands under that header.
fn message(header: &str, kind: &str, payload: &Value) -> Vec<u8> {
    let class = if header == ":event-type" { "event" } else { "exception" };
    let mut head = Vec::new();
    for (name, value) in [(header, kind), (":message-type", class)] {
        head.push(name.len() as u8);
        head.extend_from_slice(name.as_bytes());
        head.push(7);
        head.extend_from_slice(&(value.len() as u16).to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let payload = payload.to_string();
    let mut bytes = ((head.len() + payload.len() + 16) as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(&(head.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(payload.as_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes
}
