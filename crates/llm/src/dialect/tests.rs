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
        (
            Dialect::Hermes,
            "Looking.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\",\"count\":2}}\n</tool_call>\n<tool_call>\n{\"name\": \"list_files\", \"arguments\": {}}\n</tool_call>",
        ),
        (
            Dialect::QwenCoder,
            "Looking.\n<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n<parameter=count>\n2\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=list_files>\n</function>\n</tool_call>",
        ),
        (
            Dialect::AnthropicXml,
            "Looking.\n<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a</parameter>\n<parameter name=\"count\">2</parameter>\n</invoke>\n<invoke name=\"list_files\">\n</invoke>\n</function_calls>\n",
        ),
        (
            Dialect::DeepSeek,
            "Looking.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\":\"a\",\"count\":2}<｜tool▁call▁end｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>list_files\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
        (
            Dialect::DeepSeek,
            "Looking.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n<｜DSML｜parameter name=\"count\" string=\"false\">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"list_files\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
        (
            Dialect::Glm,
            "Looking.\n<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>count</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>list_files</tool_call>",
        ),
        (
            Dialect::Kimi,
            "Looking.<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\":\"a\",\"count\":2}<|tool_call_end|><|tool_call_begin|>functions.list_files:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        ),
        (
            Dialect::Harmony,
            "<|channel|>final<|message|>Looking.<|end|><|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\":\"a\",\"count\":2}<|call|><|start|>assistant to=functions.list_files<|channel|>commentary<|message|>{}<|call|>",
        ),
        (
            Dialect::Gemini,
            "Looking.\n```tool_code\nprint(default_api.read(path=\"a\", count=2))\nprint(default_api.list_files())\n```",
        ),
        (
            Dialect::Gemma,
            "Looking.<|tool_call>call:read{path:<|\"|>a<|\"|>,count:2}<tool_call|><|tool_call>call:list_files{}<tool_call|>",
        ),
        (Dialect::Llama, "Looking.<|python_tag|>[read(path='a', count=2), list_files()]<|eom_id|>"),
        (
            Dialect::Llama,
            "Looking.<|tool_call_start|>[read(path=\"a\", count=2), list_files()]<|tool_call_end|>",
        ),
        (
            Dialect::AnthropicXml,
            "Looking.\n<minimax:tool_call>\n<invoke name=\"read\"><parameter name=\"path\">a</parameter><parameter name=\"count\">2</parameter></invoke>\n<invoke name=\"list_files\"></invoke>\n</minimax:tool_call>",
        ),
        (
            Dialect::Mistral,
            "Looking.[TOOL_CALLS]read[ARGS]{\"path\":\"a\",\"count\":2}[TOOL_CALLS]list_files[ARGS]{}",
        ),
        (
            Dialect::Mistral,
            "Looking.[TOOL_CALLS][{\"name\":\"read\",\"arguments\":{\"path\":\"a\",\"count\":2}}, {\"name\":\"list_files\",\"arguments\":{}}]",
        ),
        (
            Dialect::Json,
            "Looking.\n```json\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\",\"count\":2}}\n```\n```json\n{\"name\": \"list_files\", \"arguments\": {}}\n```",
        ),
        (
            Dialect::Json,
            "Looking.\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\",\"count\":2}}\n{\"name\": \"list_files\", \"arguments\": {}}",
        ),
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

#[test]
fn what_merely_talks_about_a_call_is_text() {
    for words in [
        "Use <tool_call> to call a tool, and </tool_call> to end.",
        "It writes `<tool_call>{\"name\": \"read\", \"arguments\": {}}</tool_call>` then.",
        "As in\n```xml\n<tool_call>\n{\"name\": \"read\", \"arguments\": {}}\n</tool_call>\n```\nand so on.",
        "The tag \"<tool_call>\" is quoted, '<invoke name=\"read\">' too.",
        "Use <|tool_call_end|> to close a call.",
        "```json\n{\"name\": \"my-package\", \"version\": \"1.0.0\"}\n```",
        "{\"key\": \"value\"}",
        "```json\n{\"name\": \"read\"",
        "a < b, x <- y, [1, 2], {3}, <tool",
        "```python\nread(path='a')\n```\n",
        "[read the manual](https://example.com) [ ] todo",
        "`to=functions.read` is a recipient; analysis to=functions.read is not spilled.",
        "Trailing blanks \n\n",
        "```tool_code\nfor x in y:\n    pass\n```\nafter",
        "",
    ] {
        let expected: Vec<DialectEvent> = if words.is_empty() { Vec::new() } else { vec![text(words)] };
        assert_eq!(scan(None, words), expected);
        assert_eq!(scan(Some(Dialect::Hermes), words), expected);
    }
}

#[test]
fn reasoning_is_told_apart_from_words() {
    assert_eq!(scan(None, "\n<think>\na < b</think>\n\nYes."), [reasoning("\na < b"), text("Yes.")]);
    assert_eq!(scan(None, "The <think> tag"), [text("The <think> tag")]);
    assert_eq!(scan(None, "<think>on and on </th"), [reasoning("on and on </th")]);
    assert_eq!(
        gist(
            Some(Dialect::Harmony),
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>"
        ),
        ["thought Hm.", "text Yes."]
    );
    assert_eq!(
        gist(Some(Dialect::Gemma), "<|channel>thought\nHm.<channel|>Yes."),
        ["thought Hm.", "text Yes."]
    );
    assert_eq!(gist(Some(Dialect::Mistral), "[THINK]Hm.[/THINK]Yes."), ["thought Hm.", "text Yes."]);
}

#[test]
fn values_may_hold_the_tags_themselves() {
    let written = "<tool_call>{\"name\": \"write\", \"arguments\": {\"content\": \"</tool_call> and <tool_call>\"}}</tool_call>done";
    assert_eq!(
        gist(Some(Dialect::Hermes), written),
        ["write {\"content\": \"</tool_call> and <tool_call>\"}", "text done"]
    );
    let written =
        "<function=write>\n<parameter=content>\na </parameter> b </function> c\n\n</parameter>\n</function>";
    assert_eq!(
        gist(Some(Dialect::QwenCoder), written),
        ["write {\"content\":\"a </parameter> b </function> c\\n\"}"]
    );
    let written = "<tool_call>write\n<arg_key>content</arg_key>\n<arg_value>uses <arg_key> and </arg_key> here</arg_value>\n</tool_call>";
    assert_eq!(
        gist(Some(Dialect::Glm), written),
        ["write {\"content\":\"uses <arg_key> and </arg_key> here\"}"]
    );
}

#[test]
fn what_breaks_off_is_closed_only_if_nothing_but_brackets_is_missing() {
    for (dialect, written, expected) in [
        (
            Dialect::Hermes,
            "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"",
            "read {\"path\": \"a\"}",
        ),
        (
            Dialect::Hermes,
            "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}",
            "read {\"path\": \"a\"}",
        ),
        (
            Dialect::Hermes,
            "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a",
            "read {\"path\": \"a",
        ),
        (
            Dialect::Kimi,
            "<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\": [1",
            "read {\"path\":\"[1]\"}",
        ),
        (Dialect::QwenCoder, "<function=read><parameter=path>a</parameter>", "read {\"path\":\"a\"}"),
        (Dialect::QwenCoder, "<function=read><parameter=path>a", "read {\"path\":\"a"),
        (Dialect::Llama, "[read(path='a')", "read {\"path\":\"a\"}"),
        (Dialect::Gemma, "<|tool_call>call:read{path:<|\"|>a", "read {path:<|\"|>a"),
    ] {
        assert_eq!(gist(Some(dialect), written), [expected], "{dialect}");
    }
}

#[test]
fn an_answer_cut_by_its_limit_has_no_whole_calls_at_its_end() {
    for written in [
        "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"",
        "<tool_call>{\"name\": \"read\", \"arguments\": {",
        "<function=read><parameter=path>a</parameter>",
        "<function=read>",
    ] {
        let mut scanner = Scanner::new(None, Others::Unmistakable, offered());
        let mut events = Vec::new();
        scanner.push(written, &mut events);
        scanner.cut(&mut events);
        let Some(DialectEvent::CallCompleted { arguments, .. }) = events.last() else { panic!("{events:?}") };
        assert!(serde_json::from_str::<serde_json::Value>(arguments).is_err(), "{arguments}");
    }
}

#[test]
fn slips_of_small_models_are_forgiven() {
    for (written, expected) in [
        // Two braces, as some prompts show it.
        (
            "<tool_call>\n{{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}}\n</tool_call>",
            "read {\"path\": \"a\"}",
        ),
        (
            "```json\n{\"name\": \"Read\", \"arguments\": \"{\\\"path\\\": \\\"a\\\"}\"}\n```",
            "read {\"path\": \"a\"}",
        ),
        ("```\n{\"arguments\": {\"path\": \"a\"}, \"name\": \"read\"}\n```", "read {\"path\":\"a\"}"),
        (
            "{\"name\": \"read\", \"parameters\": {\"path\": \"a\", \"count\": \"2\"}}",
            "read {\"path\":\"a\",\"count\":2}",
        ),
        (
            "{\"type\": \"function\", \"function\": {\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}}",
            "read {\"path\":\"a\"}",
        ),
        ("{'name': 'read', 'arguments': {'path': 'a',}}", "read {\"path\":\"a\"}"),
        ("<tool_call>\n```json\n{\"name\": \"read\", \"arguments\": {}}\n```\n</tool_call>", "read {}"),
        ("<tool_call>{\"name\": \"read\", \"path\": \"a\"}</tool_call>", "read {\"path\":\"a\"}"),
        ("<tools>[{\"name\": \"read\", \"arguments\": {}}]</tools>", "read {}"),
        ("<function=read>{\"path\": \"a\"}</function>", "read {\"path\": \"a\"}"),
        (
            "<tools>\n    <function name=\"read\" arguments='{\"path\": \"a\"}'/>\n</tools>",
            "read {\"path\": \"a\"}",
        ),
        ("<function name=\"list_files\"/>", "list_files {}"),
        (
            "<tool_call><function name=\"read\"><parameter name=\"path\">a</parameter></function></tool_call>",
            "read {\"path\":\"a\"}",
        ),
    ] {
        assert_eq!(gist(None, written), [expected]);
    }
}

#[test]
fn what_a_chosen_dialect_cannot_read_becomes_a_call_that_the_model_is_told_about() {
    let written =
        "<tool_call>\n{\"name\": \"write\", \"arguments\": {\"content\": \"broken\n</tool_call>\nDone.";
    let found = gist(Some(Dialect::Hermes), written);
    assert_eq!(found, ["write {\"content\": \"broken\n", "text Done."]);
    assert_eq!(
        gist(Some(Dialect::Hermes), "<tool_call>{\"name\": \"unheard\", \"arguments\": {}}</tool_call>"),
        ["unheard {}"]
    );
    assert_eq!(scan(None, "<tool_call>{\"name\": \"unheard\", \"arguments\": {}}</tool_call>").len(), 1);
}

#[test]
fn arguments_are_told_while_they_come() {
    let mut scanner = Scanner::new(Some(Dialect::QwenCoder), Others::Ignored, offered());
    let mut events = Vec::new();
    scanner.push("<function=write><parameter=content>\nline one\nline \"two\" <", &mut events);
    let delta = |text: &str| DialectEvent::CallDelta(text.to_owned());
    assert_eq!(
        joined(events),
        [
            DialectEvent::CallStarted { tool: "write".to_owned() },
            delta("{\"content\":\"line one\\nline \\\"two\\\" ")
        ]
    );
    let mut scanner = Scanner::new(None, Others::Unmistakable, offered());
    let mut events = Vec::new();
    scanner.push("```json\n{\"name\": \"write\", \"arguments\": {\"content\": \"li", &mut events);
    assert_eq!(
        joined(events),
        [DialectEvent::CallStarted { tool: "write".to_owned() }, delta("{\"content\": \"li")]
    );
}

#[test]
fn what_harmony_spills_is_cut() {
    let spilled = "Done. analysis to=functions.read code \u{5929}\u{5929} and more";
    assert_eq!(scan(Some(Dialect::Harmony), spilled), [text("Done. analysis")]);
}

#[test]
fn names_are_read_and_written_alike() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.to_string().parse(), Ok(dialect));
        assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.name());
    }
    let error = "klingon".parse::<Dialect>().unwrap_err().to_string();
    assert!(error.starts_with("`klingon` is no dialect; there are: anthropic-xml, hermes"), "{error}");
}

mod any_text {
    use proptest::prelude::*;

    use super::*;

    fn fragment() -> impl Strategy<Value = String> {
        let calls: Vec<String> = two_calls().into_iter().map(|(_, written)| written.to_owned()).collect();
        let broken: Vec<(String, usize)> =
            calls.iter().map(|call| (call.clone(), call.chars().count())).collect();
        prop_oneof![
            3 => prop::sample::select(calls),
            3 => (prop::sample::select(broken), 0.0_f64..1.0).prop_map(|((call, length), share)| {
                call.chars().take((length as f64 * share) as usize).collect()
            }),
            2 => prop::sample::select(vec![
                "<tool_call>", "</tool_call>", "<function=read>", "</parameter>", "```", "```json\n", "{", "}", "[", "\n",
                " ", "`", "<think>", "</think>", "<|", "|>", "[TOOL_CALLS]", "\"", "'", "<invoke name=\"read\">", "word",
                "<｜tool▁call▁begin｜>", "<|channel|>", "<|message|>", "analysis to=functions.read", " code", "\u{e9}",
                "<arg_key>", "</arg_value>", "<|\"|>", "{\"name\": \"read\"", ", \"arguments\": ",
            ]).prop_map(str::to_owned),
        ]
    }

    proptest! {
        #[test]
        fn is_read_alike_however_it_is_split(
            fragments in prop::collection::vec(fragment(), 0..7),
            splits in prop::collection::vec(1_usize..12, 1..6),
            chosen in prop::option::of(prop::sample::select(Dialect::ALL.to_vec())),
        ) {
            let text = fragments.concat();
            let scanner = || Scanner::new(chosen, Others::Unmistakable, offered());
            let whole = read(&mut scanner(), &[&text]);
            let characters: Vec<char> = text.chars().collect();
            let mut pieces: Vec<String> = Vec::new();
            let mut at = 0;
            for length in splits.iter().cycle() {
                if at >= characters.len() {
                    break;
                }
                let end = (at + length).min(characters.len());
                pieces.push(characters[at..end].iter().collect());
                at = end;
            }
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(read(&mut scanner(), &pieces), whole, "{}", text);
        }

        #[test]
        fn without_tools_and_dialect_is_words(fragments in prop::collection::vec(fragment(), 0..5)) {
            let text = fragments.concat();
            prop_assume!(!text.trim_start().starts_with("<think>"));
            let mut scanner = Scanner::new(None, Others::Unmistakable, OfferedTools::default());
            let expected: Vec<DialectEvent> =
                if text.is_empty() { Vec::new() } else { vec![DialectEvent::Text(text.clone())] };
            prop_assert_eq!(read(&mut scanner, &[&text]), expected);
        }
    }
}
