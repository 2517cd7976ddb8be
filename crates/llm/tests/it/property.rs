//! Whatever a server sends, and however it is split, decoding keeps its contract.

use std::collections::HashMap;

use proptest::prelude::*;
use rein_llm::wire::AnswerDecoder;
use rein_llm::{ModelError, ModelEvent, Wire};

use crate::bedrock::message;

fn decode(bytes: &[u8], split: usize) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    decode_as(Wire::OpenAiChat, bytes, split)
}

fn decode_as(wire: Wire, bytes: &[u8], split: usize) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = AnswerDecoder::new(wire);
    let mut events = Vec::new();
    for piece in bytes.chunks(split.max(1)) {
        if let Err(error) = decoder.push(piece, &mut events) {
            return (events, Err(error));
        }
        if decoder.ended() {
            return (events, Ok(()));
        }
    }
    let end = decoder.finish(&mut events);
    (events, end)
}

fn call_entry() -> impl Strategy<Value = String> {
    let index = prop_oneof![Just(""), Just("\"index\":0,"), Just("\"index\":1,"), Just("\"index\":7,")];
    let id = prop_oneof![
        Just(""),
        Just("\"id\":\"\","),
        Just("\"id\":\"a\","),
        Just("\"id\":\"b\","),
        Just("\"id\":null,")
    ];
    let name =
        prop_oneof![Just(""), Just("\"name\":\"f\","), Just("\"name\":\"g\","), Just("\"name\":\"\",")];
    let arguments = prop_oneof![
        Just("\"\""),
        Just("\"{}\""),
        Just("\"{\\\"x\\\":\""),
        Just("\"1}\""),
        Just("null"),
        Just("{\"o\":1}"),
        Just("7")
    ];
    (index, id, name, arguments).prop_map(|(index, id, name, arguments)| {
        format!("{{{index}{id}\"function\":{{{name}\"arguments\":{arguments}}}}}")
    })
}

fn delta() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\"content\":\"hi \"".to_owned()),
        Just("\"content\":\"<think>\"".to_owned()),
        Just("\"content\":\"</think> \u{e9}\"".to_owned()),
        Just(
            "\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"text\":\"m\"}]},{\"text\":\"t\"}]"
                .to_owned()
        ),
        Just("\"reasoning\":\"r\",\"content\":null".to_owned()),
        Just("\"refusal\":\"no\"".to_owned()),
        Just("\"tool_calls\":null".to_owned()),
        Just("\"function_call\":{\"name\":\"l\",\"arguments\":\"{}\"}".to_owned()),
        proptest::collection::vec(call_entry(), 1..3)
            .prop_map(|calls| format!("\"tool_calls\":[{}]", calls.join(","))),
    ]
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (delta(), 0_u8..3).prop_map(|(delta, index)| {
            let index = if index == 2 { "" } else { "\"index\":0," };
            format!("data: {{\"choices\":[{{{index}\"delta\":{{{delta}}}}}]}}\n\n")
        }),
        1 => Just("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n".to_owned()),
        1 => Just("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n".to_owned()),
        1 => Just(": waiting\n\n".to_owned()),
        1 => Just("data: [DONE]\n\n".to_owned()),
        1 => Just("data: {\"error\":{\"message\":\"boom\"}}\n\n".to_owned()),
        1 => Just("data: {\"choices\":7,\"usage\":[],\"error\":null}\n\n".to_owned()),
        1 => Just("data: {\"cho".to_owned()),
    ]
}

/// An event of Anthropic's, in an order that no provider would send.
fn anthropic_event() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        Just(r#"{"type":"text","text":""}"#),
        Just(r#"{"type":"text","text":"a"}"#),
        Just(r#"{"type":"thinking","thinking":"","signature":""}"#),
        Just(r#"{"type":"redacted_thinking","data":"d"}"#),
        Just(r#"{"type":"tool_use","id":"t","name":"f","input":{}}"#),
        Just(r#"{"type":"tool_use","id":"","name":"g","input":{"x":1}}"#),
        Just(r#"{"type":"server_tool_use","id":"s","name":"w","input":{}}"#),
        Just("7"),
    ];
    let delta = prop_oneof![
        Just(r#"{"type":"text_delta","text":"\u00e9"}"#),
        Just(r#"{"type":"thinking_delta","thinking":"t"}"#),
        Just(r#"{"type":"signature_delta","signature":"s"}"#),
        Just(r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#),
        Just(r#"{"type":"input_json_delta","partial_json":"1}"}"#),
        Just(r#"{"type":"citations_delta","citation":{}}"#),
        Just(r#"{"type":"novel_delta","list":[1]}"#),
    ];
    let line = |kind: &str, rest: String| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
    prop_oneof![
        6 => (0_u8..3, block).prop_map(move |(index, block)|
            line("content_block_start", format!(",\"index\":{index},\"content_block\":{block}"))),
        8 => (0_u8..3, delta).prop_map(move |(index, delta)|
            line("content_block_delta", format!(",\"index\":{index},\"delta\":{delta}"))),
        4 => (0_u8..3).prop_map(move |index| line("content_block_stop", format!(",\"index\":{index}"))),
        1 => Just(line("message_delta", ",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}".to_owned())),
        1 => Just(line("message_stop", String::new())),
        1 => Just(line("ping", String::new())),
        1 => Just(line("error", ",\"error\":{\"message\":\"boom\"}".to_owned())),
        1 => Just("data: {\"ty".to_owned()),
    ]
}

/// A message of Bedrock's, likewise.
fn bedrock_message() -> impl Strategy<Value = Vec<u8>> {
    let delta = prop_oneof![
        Just(r#"{"text":"a"}"#),
        Just(r#"{"reasoningContent":{"text":"r"}}"#),
        Just(r#"{"reasoningContent":{"signature":"s"}}"#),
        Just(r#"{"reasoningContent":{"redactedContent":"YQ=="}}"#),
        Just(r#"{"toolUse":{"input":"{}"}}"#),
        Just(r#"{"toolUse":{"input":{"o":1}}}"#),
        Just(r#"{"toolResult":[{"text":"x"}]}"#),
        Just("null"),
    ];
    let start = prop_oneof![
        Just(r#"{"toolUse":{"toolUseId":"t","name":"f"}}"#),
        Just(r#"{"toolUse":{"toolUseId":"t","name":"f","type":"server_tool_use"}}"#),
        Just(r#"{"toolResult":{"toolUseId":"t"}}"#),
    ];
    prop_oneof![
        8 => (0_u8..3, delta).prop_map(|(index, delta)|
            message("contentBlockDelta", &format!("{{\"contentBlockIndex\":{index},\"delta\":{delta}}}"))),
        4 => (0_u8..3, start).prop_map(|(index, start)|
            message("contentBlockStart", &format!("{{\"contentBlockIndex\":{index},\"start\":{start}}}"))),
        4 => (0_u8..3).prop_map(|index|
            message("contentBlockStop", &format!("{{\"contentBlockIndex\":{index}}}"))),
        1 => Just(message("messageStop", "{\"stopReason\":\"end_turn\"}")),
        1 => Just(message("metadata", "{\"usage\":{\"inputTokens\":1}}")),
        1 => Just(message("metadata", "oops")),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ]
}

/// An event of OpenAI's responses, likewise.
fn response_event() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        Just(r#"{"type":"message","content":[],"phase":"commentary"}"#),
        Just(
            r#"{"type":"message","content":[{"type":"output_text","text":"m"},{"type":"refusal","refusal":"no"}]}"#
        ),
        Just(r#"{"type":"reasoning","encrypted_content":"e","summary":[{"text":"s"}]}"#),
        Just(r#"{"type":"reasoning","summary":[]}"#),
        Just(r#"{"type":"function_call","call_id":"c","name":"f","arguments":""}"#),
        Just(r#"{"type":"function_call","name":"f"}"#),
        Just(r#"{"type":"custom_tool_call","call_id":"c","name":"f","input":"a\"b"}"#),
        Just(r#"{"type":"web_search_call"}"#),
        Just("7"),
    ];
    let delta = prop_oneof![
        Just("output_text"),
        Just("refusal"),
        Just("reasoning_summary_text"),
        Just("function_call_arguments"),
        Just("custom_tool_call_input"),
        Just("novel"),
    ];
    let line = |kind: &str, rest: String| format!("data: {{\"type\":\"response.{kind}\"{rest}}}\n\n");
    prop_oneof![
        6 => (0_u8..3, item.clone()).prop_map(move |(index, item)|
            line("output_item.added", format!(",\"output_index\":{index},\"item\":{item}"))),
        6 => (0_u8..3, item.clone()).prop_map(move |(index, item)|
            line("output_item.done", format!(",\"output_index\":{index},\"item\":{item}"))),
        8 => (0_u8..3, delta).prop_map(move |(index, kind)|
            line(&format!("{kind}.delta"), format!(",\"output_index\":{index},\"delta\":\"{{\u{e9}\""))),
        1 => Just(line("reasoning_summary_part.added", ",\"output_index\":0".to_owned())),
        1 => item.prop_map(move |item| line("completed",
            format!(",\"response\":{{\"output\":[{item}],\"usage\":{{\"input_tokens\":1}}}}"))),
        1 => Just(line("incomplete", ",\"response\":{\"status\":\"incomplete\"}".to_owned())),
        1 => Just(line("failed", ",\"response\":{\"error\":{\"message\":\"boom\"}}".to_owned())),
        1 => Just("data: {\"ty".to_owned()),
    ]
}

/// A chunk of Google's, likewise.
fn google_chunk() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(r#"{"text":"a"}"#),
        Just(r#"{"text":"","thoughtSignature":"s"}"#),
        Just(r#"{"text":"b","thoughtSignature":"s"}"#),
        Just(r#"{"text":"t","thought":true}"#),
        Just(r#"{"text":"","thought":true,"thoughtSignature":"s"}"#),
        Just(r#"{"functionCall":{"name":"f","args":{"x":1},"id":"i"}}"#),
        Just(r#"{"functionCall":{"name":"f","willContinue":true},"thoughtSignature":"s"}"#),
        Just(
            r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"b"}],"willContinue":true}}"#
        ),
        Just(r#"{"functionCall":{}}"#),
        Just(r#"{"inlineData":{}}"#),
        Just("7"),
    ];
    prop_oneof![
        8 => proptest::collection::vec(part, 0..3).prop_map(|parts| {
            format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{}]}}}}]}}\r\n\r\n", parts.join(","))
        }),
        1 => Just("data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}\n\n".to_owned()),
        1 => Just("data: {\"candidates\":[{\"finishReason\":\"MALFORMED_FUNCTION_CALL\"}]}\n\n".to_owned()),
        1 => Just("data: {\"promptFeedback\":{\"blockReason\":1}}\n\n".to_owned()),
        1 => Just("data: {\"error\":{\"message\":\"boom\"}}\n\n".to_owned()),
        1 => Just("data: {\"ca".to_owned()),
    ]
}

/// Every part begins once, grows only while it is open, and calls are complete with all that was said of them.
fn check(events: &[ModelEvent], complete: bool) {
    let mut open: HashMap<u32, String> = HashMap::new();
    let mut begun = 0;
    for (place, event) in events.iter().enumerate() {
        match event {
            ModelEvent::TextDelta { part, delta } | ModelEvent::ReasoningDelta { part, delta } => {
                assert!(!delta.is_empty());
                assert!(*part <= begun, "{events:?}");
                begun = begun.max(part + 1);
            }
            ModelEvent::ReasoningOpaque { part, .. } => {
                assert!(*part <= begun, "{events:?}");
                begun = begun.max(part + 1);
            }
            ModelEvent::CallStarted { part, wire_id, .. } => {
                assert_eq!(*part, begun, "{events:?}");
                assert!(!wire_id.is_empty());
                begun += 1;
                open.insert(*part, String::new());
            }
            ModelEvent::CallDelta { part, delta } => {
                open.get_mut(part).expect("an open call").push_str(delta)
            }
            ModelEvent::CallCompleted { part, arguments, .. } => {
                let said = open.remove(part).expect("an open call");
                assert!(said == *arguments || (said.trim().is_empty() && arguments == "{}"), "{events:?}");
            }
            ModelEvent::Usage(_) => {}
            ModelEvent::Finished(_) => assert_eq!(place, events.len() - 1, "{events:?}"),
        }
    }
    let finished = matches!(events.last(), Some(ModelEvent::Finished(_)));
    assert_eq!(finished, complete, "{events:?}");
    assert!(!complete || open.is_empty(), "{events:?}");
}

proptest! {
    #[test]
    fn the_contract_holds_for_any_stream_and_any_split(lines in proptest::collection::vec(line(), 0..14), split in 1_usize..40) {
        let bytes = lines.concat().into_bytes();
        let (events, end) = decode(&bytes, bytes.len());
        check(&events, end.is_ok());
        let (same_events, same_end) = decode(&bytes, split);
        prop_assert_eq!(events, same_events);
        prop_assert_eq!(end, same_end);
    }

    #[test]
    fn the_contract_holds_for_messages_of_anthropic(events in proptest::collection::vec(anthropic_event(), 0..14), split in 1_usize..40) {
        let bytes = events.concat().into_bytes();
        let (events, end) = decode_as(Wire::Anthropic, &bytes, bytes.len());
        check(&events, end.is_ok());
        prop_assert_eq!((events, end), decode_as(Wire::Anthropic, &bytes, split));
    }

    #[test]
    fn the_contract_holds_for_messages_of_bedrock(messages in proptest::collection::vec(bedrock_message(), 1..14), split in 1_usize..40) {
        let bytes = messages.concat();
        let (events, end) = decode_as(Wire::Bedrock, &bytes, bytes.len());
        check(&events, end.is_ok());
        prop_assert_eq!((events, end), decode_as(Wire::Bedrock, &bytes, split));
    }

    #[test]
    fn the_contract_holds_for_responses_of_openai(events in proptest::collection::vec(response_event(), 0..14), split in 1_usize..40) {
        let bytes = events.concat().into_bytes();
        let (events, end) = decode_as(Wire::OpenAiResponses, &bytes, bytes.len());
        check(&events, end.is_ok());
        prop_assert_eq!((events, end), decode_as(Wire::OpenAiResponses, &bytes, split));
    }

    #[test]
    fn the_contract_holds_for_contents_of_google(chunks in proptest::collection::vec(google_chunk(), 0..14), split in 1_usize..40) {
        let bytes = chunks.concat().into_bytes();
        let (events, end) = decode_as(Wire::Google, &bytes, bytes.len());
        check(&events, end.is_ok());
        prop_assert_eq!((events, end), decode_as(Wire::Google, &bytes, split));
    }

    #[test]
    fn any_bytes_are_survived_by_every_wire(bytes in proptest::collection::vec(any::<u8>(), 0..200), split in 1_usize..40) {
        for wire in Wire::ALL {
            let (events, end) = decode_as(wire, &bytes, split);
            check(&events, end.is_ok());
        }
    }
}
