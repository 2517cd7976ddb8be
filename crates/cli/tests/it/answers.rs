//! Runs that come to an answer, in the three formats.

use rein_protocol::Event;
use rein_testkit::{Project, Turn};
use serde_json::{Value, json};

use crate::{asking, rein, server};

#[test]
fn an_answer_is_all_there_is_on_standard_output() {
    let (project, server) = (Project::new(), server([Turn::text("It is fine.")]));
    let output = asking(&project, &server).args(["-p", "how", "is it?"]).run();
    output.assert_success();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("It is fine.\n", ""));
    assert_eq!(server.requests()[0].last_user_text(), "how is it?");
    server.assert_done();
}

#[test]
fn what_is_piped_in_is_put_after_the_prompt() {
    let (project, server) = (Project::new(), server([Turn::text("ok"), Turn::text("ok")]));
    asking(&project, &server).args(["-p", "review"]).stdin("a\nb\n").run().assert_success();
    assert_eq!(server.requests()[0].last_user_text(), "review\n\n<stdin>\na\nb\n</stdin>");
    asking(&project, &server).arg("-p").stdin("only this\n").run().assert_success();
    assert_eq!(server.requests()[1].last_user_text(), "only this");
}

#[test]
fn input_that_does_not_end_is_waited_for_and_that_is_said() {
    let (project, server) = (Project::new(), server([Turn::text("ok")]));
    let mut running = asking(&project, &server).args(["-p", "review"]).stdin_open().spawn();
    running.read_stderr_until("waiting for the end of standard input");
    running.write_stdin("late");
    running.close_stdin();
    running.wait().assert_success();
    assert_eq!(server.requests()[0].last_user_text(), "review\n\n<stdin>\nlate\n</stdin>");
}

#[test]
fn doings_are_told_on_standard_error_and_not_when_quiet() {
    let project = Project::new().file("a.txt", "content\n");
    let turns = || [Turn::text("I look. ").and_call("read", json!({"path": "a.txt"})), Turn::text("Done.")];
    let server = server(turns().into_iter().chain(turns()));
    let output = asking(&project, &server).args(["-p", "read it"]).run();
    output.assert_success();
    assert_eq!(output.stdout, "I look. \n\nDone.\n");
    assert!(output.stderr.starts_with("→ read a.txt\n✓ read a.txt"), "{output}");
    let output = asking(&project, &server).args(["-p", "read it", "--quiet"]).run();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("I look. \n\nDone.\n", ""));
    assert!(server.requests()[1].tool_results()[0].1.contains("content"));
}

#[test]
fn the_json_format_is_one_object() {
    let project = Project::new().file("a.txt", "content\n");
    let turns = [Turn::call("read", json!({"path": "a.txt"})), Turn::text("Done.").usage(50, 5, 20)];
    let server = server(turns);
    let output = asking(&project, &server).args(["-p", "read it", "--output", "json"]).run();
    output.assert_success();
    assert_eq!(output.stderr, "");
    let [object] = &output.json_lines()[..] else { panic!("{output}") };
    assert_eq!(object["type"], "result");
    assert_eq!(object["answer"], "Done.");
    assert_eq!(object["stop_reason"], "end_turn");
    assert_eq!(object["exit_code"], 0);
    assert_eq!(object["steps"], 2);
    assert_eq!(object["model"], "openai/test-model");
    assert_eq!(object["cost_usd"], Value::Null, "nobody knows what test-model costs");
    assert_eq!(
        object["usage"]["input"].as_u64().unwrap() + object["usage"]["cache_read"].as_u64().unwrap(),
        150
    );
    assert_eq!(object["usage"]["output"], 15);
    assert_eq!(
        (&object["calls"][0]["tool"], &object["calls"][0]["status"]),
        (&json!("read"), &json!("completed"))
    );
    assert_eq!(object["refused"], json!([]));
}

#[test]
fn the_stream_format_is_lines_of_json_from_the_first_to_the_last() {
    let project = Project::new().file("a.txt", "content\n");
    let turns =
        [Turn::call("read", json!({"path": "a.txt"})), Turn::text("Done, and this takes a few deltas.")];
    let server = server(turns);
    let output = asking(&project, &server).args(["-p", "read it", "--output-format", "stream-json"]).run();
    output.assert_success();
    assert_eq!(output.stderr, "");
    let lines = output.json_lines();
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!((&first["type"], &first["mode"]), (&json!("session"), &json!("tight")));
    assert_eq!(
        (&last["type"], &last["answer"]),
        (&json!("result"), &json!("Done, and this takes a few deltas."))
    );
    assert_eq!(first["session"], last["session"]);
    let events: Vec<Event> =
        lines[1..lines.len() - 1].iter().map(|line| serde_json::from_value(line.clone()).unwrap()).collect();
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    let mut transcript = rein_protocol::transcript::Transcript::default();
    events.iter().for_each(|event| transcript.apply(event));
    assert_eq!(transcript.answer(), "Done, and this takes a few deltas.");
}

#[test]
fn words_come_out_while_the_model_still_speaks() {
    let (project, server) =
        (Project::new(), server([Turn::text("first words").gate("more").and_text(", last words")]));
    let mut running = asking(&project, &server).args(["-p", "?"]).spawn();
    running.read_stdout_until("first words");
    server.open_gate("more");
    let output = running.wait();
    output.assert_success();
    assert_eq!(output.stdout, "first words, last words\n");
}

#[test]
fn without_a_model_it_says_exactly_what_to_do() {
    let output = rein(&Project::new()).args(["-p", "hello"]).run();
    output.assert_code(1);
    assert_eq!(output.stdout, "");
    for words in ["OPENAI_API_KEY", "config.toml", "rein demo"] {
        assert!(output.stderr.contains(words), "{words} is not in {output}");
    }
}

#[test]
fn an_error_before_the_run_is_also_a_line_in_the_machine_formats() {
    for format in ["json", "stream-json"] {
        let output = rein(&Project::new()).args(["-p", "hello", "--output", format]).run();
        output.assert_code(1);
        let [object] = &output.json_lines()[..] else { panic!("{output}") };
        assert_eq!((&object["type"], &object["exit_code"]), (&json!("error"), &json!(1)));
        assert!(!object["hints"].as_array().unwrap().is_empty());
    }
}

#[test]
fn an_unknown_provider_is_told_which_there_are() {
    let output = rein(&Project::new()).args(["-p", "hello", "-m", "opneai/gpt-5"]).run();
    assert_ne!(output.code, Some(0));
    assert!(output.stderr.contains("opneai") && output.stderr.contains("openai"), "{output}");
}

#[test]
fn a_key_is_never_printed() {
    let secret = "sk-test-0123456789abcdef";
    let (project, server) = (Project::new(), server([Turn::error(401, format!("wrong key {secret}"))]));
    let output = asking(&project, &server)
        .env("OPENAI_API_KEY", secret)
        .args(["-p", "hello", "--output", "json"])
        .run();
    output.assert_code(1);
    assert!(!output.stdout.contains(secret) && !output.stderr.contains(secret), "{output}");
}
