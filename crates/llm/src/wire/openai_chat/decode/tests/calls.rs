//! Calls, one failure mode a test.

use super::*;

#[test]
fn calls_that_come_with_stop_are_calls() {
    let one = calls_delta(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    assert_eq!(
        complete(&[&one, &finish("stop")]),
        [started(0, "a", "f"), call_delta(0, "{}"), completed(0, "a", "f", "{}"), done(Finish::Stop)]
    );
}

#[test]
fn a_call_is_complete_when_the_next_begins_or_words_follow() {
    let events = complete(&[
        &delta(r#"{"content":"Now:"}"#),
        &calls_delta(r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#),
        &calls_delta(r#"{"index":0,"function":{"arguments":"{}"}}"#),
        &calls_delta(r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}"#),
        &delta(r#"{"content":"So."}"#),
        &finish("tool_calls"),
    ]);
    assert_eq!(
        events,
        [
            text(0, "Now:"),
            started(1, "a", "f"),
            call_delta(1, "{}"),
            completed(1, "a", "f", "{}"),
            started(2, "b", "g"),
            call_delta(2, "{}"),
            completed(2, "b", "g", "{}"),
            text(3, "So."),
            done(Finish::ToolCalls),
        ]
    );
}

#[test]
fn interleaved_calls_keep_their_parts_and_their_arguments() {
    let events = complete(&[
        &calls_delta(
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":""}}"#,
        ),
        &calls_delta(r#"{"index":1,"function":{"arguments":"{\"y\":"}}"#),
        &calls_delta(r#"{"index":0,"function":{"arguments":"{\"x\":1}"}}"#),
        &calls_delta(r#"{"index":1,"function":{"arguments":"2}"}}"#),
        &finish("tool_calls"),
    ]);
    assert_eq!(
        events,
        [
            started(0, "a", "f"),
            started(1, "b", "g"),
            call_delta(1, "{\"y\":"),
            call_delta(0, "{\"x\":1}"),
            call_delta(1, "2}"),
            completed(0, "a", "f", "{\"x\":1}"),
            completed(1, "b", "g", "{\"y\":2}"),
            done(Finish::ToolCalls),
        ]
    );
}

#[test]
fn an_index_may_begin_anywhere_or_be_missing() {
    let from_one = calls(&[
        &calls_delta(r#"{"index":1,"id":"a","function":{"name":"f","arguments":"{"}}"#),
        &calls_delta(r#"{"index":1,"function":{"arguments":"}"}}"#),
        &finish("tool_calls"),
    ]);
    assert_eq!(from_one, [call("a", "f", "{}")]);
    let missing = calls(&[
        &calls_delta(r#"{"id":"a","function":{"name":"f","arguments":"{\"x\""}}"#),
        &calls_delta(r#"{"function":{"arguments":":1}"}}"#),
        &calls_delta(r#"{"id":"b","function":{"name":"f","arguments":"{}"}}"#),
        &finish("tool_calls"),
    ]);
    assert_eq!(missing, [call("a", "f", "{\"x\":1}"), call("b", "f", "{}")]);
    let two_at_once = calls(&[
        &calls_delta(
            r#"{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
        ),
        &finish("tool_calls"),
    ]);
    assert_eq!(two_at_once, [call("call_0", "f", "{}"), call("call_1", "f", "{\"x\":1}")]);
}

#[test]
fn continuations_with_empty_repeated_or_changing_ids_and_names_continue() {
    let continued = [
        r#"{"index":0,"id":"","type":"function","function":{"name":"","arguments":"1}"}}"#,
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"1}"}}"#,
        r#"{"index":0,"id":null,"function":{"name":null,"arguments":"1}"}}"#,
        r#"{"index":0,"id":"other","function":{"arguments":"1}"}}"#,
        r#"{"id":"a","function":{"arguments":"1}"}}"#,
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"1}"}},{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
    ];
    for continuation in continued {
        let events = calls(&[
            &calls_delta(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}"#),
            &calls_delta(continuation),
            &finish("tool_calls"),
        ]);
        assert_eq!(events, [call("a", "f", "{\"x\":1}")], "{continuation}");
    }
}

#[test]
fn one_id_or_one_index_for_several_calls_are_several_calls() {
    let second = [
        (r#"{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}"#, call("a", "g", "{}")),
        (r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}"#, call("b", "f", "{}")),
        (r#"{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}"#, call("call_1", "f", "{}")),
        (r#"{"index":0,"id":"a","function":{"name":"g","arguments":""}}"#, call("a", "g", "{}")),
        (r#"{"id":"a","function":{"name":"g","arguments":"{}"}}"#, call("a", "g", "{}")),
    ];
    for (delta, expected) in second {
        let events = calls(&[
            &calls_delta(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}"#),
            &calls_delta(delta),
            &finish("tool_calls"),
        ]);
        assert_eq!(events, [call("a", "f", "{\"x\":1}"), expected], "{delta}");
    }
}

#[test]
fn arguments_that_are_absent_mean_none_and_an_object_is_taken_as_it_is() {
    for function in [r#"{"name":"f"}"#, r#"{"name":"f","arguments":""}"#, r#"{"name":"f","arguments":null}"#]
    {
        let one = calls_delta(&format!(r#"{{"index":0,"id":"a","function":{function}}}"#));
        assert_eq!(calls(&[&one, &finish("tool_calls")]), [call("a", "f", "{}")], "{function}");
    }
    let object = calls_delta(r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"z":1,"a":[2]}}}"#);
    assert_eq!(calls(&[&object, &finish("tool_calls")]), [call("a", "f", "{\"z\":1,\"a\":[2]}")]);
}

#[test]
fn arguments_cut_by_the_output_limit_stay_cut() {
    for arguments in ["", "{\\\"x\\\": [1,"] {
        let one = calls_delta(&format!(
            r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":"{arguments}"}}}}"#
        ));
        let expected = arguments.replace('\\', "");
        assert_eq!(calls(&[&one, &finish("length")]), [call("a", "f", &expected)]);
    }
}

#[test]
fn a_name_that_comes_late_is_waited_for() {
    let events = complete(&[
        &calls_delta(r#"{"index":0,"id":"a","function":{"arguments":"{"}}"#),
        &calls_delta(r#"{"index":0,"function":{"name":"f","arguments":"}"}}"#),
        &finish("tool_calls"),
    ]);
    let expected =
        [started(0, "a", "f"), call_delta(0, "{}"), completed(0, "a", "f", "{}"), done(Finish::ToolCalls)];
    assert_eq!(events, expected);
}

#[test]
fn the_older_function_call_is_a_call() {
    let events = calls(&[
        &delta(r#"{"function_call":{"name":"f","arguments":""}}"#),
        &delta(r#"{"function_call":{"arguments":"{\"x\":"}}"#),
        &delta(r#"{"function_call":{"arguments":"1}"}}"#),
        &finish("function_call"),
    ]);
    assert_eq!(events, [call("call_0", "f", "{\"x\":1}")]);
}
