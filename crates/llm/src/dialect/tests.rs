//! Every dialect read whole and in every split, and what only looks like one.

use super::offered::tests::offered;
use super::scanner::{DialectEvent, Others, Scanner};
use super::*;

/// What was found, with deltas joined.
fn read(scanner: &mut Scanner, pieces: &[&str]) -> Vec<DialectEvent> {
    let mut events = Vec::new();
    for piece in pieces {
        scanner.push(piece, &mut events);
    }
    scanner.finish(&mut events);
    joined(events)
}

fn joined(events: Vec<DialectEvent>) -> Vec<DialectEvent> {
    let mut joined: Vec<DialectEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(DialectEvent::Text(text)), DialectEvent::Text(more))
            | (Some(DialectEvent::Reasoning(text)), DialectEvent::Reasoning(more))
            | (Some(DialectEvent::CallDelta(text)), DialectEvent::CallDelta(more)) => text.push_str(&more),
            (_, event) => joined.push(event),
        }
    }
    joined
}

/// The same for the whole text, for each of its characters, and for every split in two.
fn scan(chosen: Option<Dialect>, text: &str) -> Vec<DialectEvent> {
    let scanner = || Scanner::new(chosen, Others::Unmistakable, offered());
    let whole = read(&mut scanner(), &[text]);
    let characters: Vec<String> = text.chars().map(String::from).collect();
    let pieces: Vec<&str> = characters.iter().map(String::as_str).collect();
    assert_eq!(read(&mut scanner(), &pieces), whole, "by characters: {text}");
    for (place, _) in text.char_indices() {
        let (one, two) = text.split_at(place);
        assert_eq!(read(&mut scanner(), &[one, two]), whole, "split at {place}: {text}");
    }
    whole
}

fn text(text: &str) -> DialectEvent {
    DialectEvent::Text(text.to_owned())
}

fn reasoning(text: &str) -> DialectEvent {
    DialectEvent::Reasoning(text.to_owned())
}

/// The calls and words of a text, without deltas.
fn gist(chosen: Option<Dialect>, text: &str) -> Vec<String> {
    scan(chosen, text)
        .into_iter()
        .filter_map(|event| match event {
            DialectEvent::Text(text) => Some(format!("text {text}")),
            DialectEvent::Reasoning(text) => Some(format!("thought {text}")),
            DialectEvent::CallCompleted { tool, arguments } => Some(format!("{tool} {arguments}")),
            DialectEvent::CallStarted { .. } | DialectEvent::CallDelta(_) => None,
        })
        .collect()
}

/// Texts of every dialect that say the same.
fn two_calls() -> Vec<(Dialect, &'static str)> {
    vec![
        (Dialect::Hermes, "Looking.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\",\"count\":2}}\n</tool_call>\n<tool_call>\n{\"name\": \"list_files\", \"arguments\": {}}\n</tool_call>"),
        (Dialect::QwenCoder, "Looking.\n<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n<parameter=count>\n2\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=list_files>\n</function>\n</tool_call>"),
        (Dialect::AnthropicXml, "Looking.\n<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a</parameter>\n<parameter name=\"count\">2</parameter>\n</invoke>\n<invoke name=\"list_files\">\n</invoke>\n</function_calls>\n"),
        (Dialect::DeepSeek, "Looking.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\":\"a\",\"count\":2}<｜tool▁call▁end｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>list_files\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
        (Dialect::DeepSeek, "Looking.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n<｜DSML｜parameter name=\"count\" string=\"false\">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"list_files\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
        (Dialect::Glm, "Looking.\n<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>count</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>list_files</tool_call>"),
        (Dialect::Kimi, "Looking.<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\":\"a\",\"count\":2}<|tool_call_end|><|tool_call_begin|>functions.list_files:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"),
        (Dialect::Harmony, "<|channel|>final<|message|>Looking.<|end|><|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\":\"a\",\"count\":2}<|call|><|start|>assistant to=functions.list_files<|channel|>commentary<|message|>{}<|call|>"),
        (Dialect::Gemini, "Looking.\n```tool_code\nprint(default_api.read(path=\"a\", count=2))\nprint(default_api.list_files())\n```"),
        (Dialect::Gemma, "Looking.<|tool_call>call:read{path:<|\"|>a<|\"|>,count:2}<tool_call|><|tool_call>call:list_files{}<tool_call|>"),
        (Dialect::Llama, "Looking.<|python_tag|>[read(path='a', count=2), list_files()]<|eom_id|>"),
        (Dialect::Mistral, "Looking.[TOOL_CALLS]read[ARGS]{\"path\":\"a\",\"count\":2}[TOOL_CALLS]list_files[ARGS]{}"),
        (Dialect::Mistral, "Looking.[TOOL_CALLS][{\"name\":\"read\",\"arguments\":{\"path\":\"a\",\"count\":2}}, {\"name\":\"list_files\",\"arguments\":{}}]"),
        (Dialect::Json, "Looking.\n```json\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\",\"count\":2}}\n```\n```json\n{\"name\": \"list_files\", \"arguments\": {}}\n```"),
        (Dialect::Json, "Looking.\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\",\"count\":2}}\n{\"name\": \"list_files\", \"arguments\": {}}"),
    ]
}

#[test]
fn several_calls_are_found_in_every_dialect_chosen_or_not() {
    for (dialect, written) in two_calls() {
        let expected = ["text Looking.", r#"read {"path":"a","count":2}"#, "list_files {}"];
        assert_eq!(gist(Some(dialect), written), expected, "{dialect}");
        assert_eq!(gist(None, written), expected, "unasked, {dialect}");
    }
}
