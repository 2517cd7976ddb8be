//! Whatever a server sends, and however it is split, decoding keeps its contract.

use std::collections::HashMap;

use proptest::prelude::*;
use rein_llm::wire::AnswerDecoder;
use rein_llm::{ModelError, ModelEvent, Wire};

fn decode(bytes: &[u8], split: usize) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = AnswerDecoder::new(Wire::OpenAiChat);
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
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200), split in 1_usize..40) {
        let (events, end) = decode(&bytes, split);
        check(&events, end.is_ok());
    }
}
