//! Runs that end before their time: caps, failures, signals and readers that go away.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rein_testkit::{ModelServer, Project, Rein, Script, Signal, Turn};
use serde_json::json;

use crate::{asking, server, session_in};

#[test]
fn the_cap_on_steps_is_an_exit_code_of_its_own() {
    let project = Project::new().file("a", "1").file("b", "2");
    let read = |path: &str| Turn::call("read", json!({"path": path}));
    let server = server([read("a"), read("b")]);
    let output = asking(&project, &server).args(["-p", "go", "--max-steps", "2"]).run();
    output.assert_code(4);
    assert!(output.stderr.contains("max_steps"), "{output}");
    session_in(&output.stderr);
}

#[test]
fn a_model_that_repeats_itself_is_stopped() {
    let project = Project::new().file("a", "1");
    let server = ModelServer::start_blocking(Script::always(Turn::call("read", json!({"path": "a"}))));
    let output = asking(&project, &server).args(["-p", "go"]).run();
    output.assert_code(3);
    assert!(output.stderr.contains("(doom_loop)"), "{output}");
    assert!(server.requests().len() < 10, "{}", server.requests().len());
}

#[test]
fn a_model_that_fails_is_told_with_its_reason() {
    let (project, server) = (Project::new(), server([Turn::error(400, "the server said no")]));
    let output = asking(&project, &server).args(["-p", "go"]).run();
    output.assert_code(1);
    assert!(
        output.stderr.contains("the server said no") && output.stderr.contains("(model_error)"),
        "{output}"
    );
    session_in(&output.stderr);
}

#[test]
fn an_answer_that_was_cut_off_is_no_success() {
    let (project, server) = (Project::new(), server([Turn::text("half an").finish("length")]));
    let output = asking(&project, &server).args(["-p", "go", "--output", "json"]).run();
    output.assert_code(1);
    let object = &output.json_lines()[0];
    assert_eq!((&object["stop_reason"], &object["answer"]), (&json!("length"), &json!("half an")));
}

#[test]
fn a_signal_ends_the_turn_properly_and_names_the_way_back() {
    for (signal, code) in [(Signal::Interrupt, 130), (Signal::Terminate, 143), (Signal::Hangup, 143)] {
        let (project, server) =
            (Project::new(), server([Turn::text("first words").gate("never"), Turn::text("Rest.")]));
        let mut running = asking(&project, &server).args(["-p", "go"]).spawn();
        running.read_stdout_until("first words");
        running.kill(signal);
        let output = running.wait();
        output.assert_code(code);
        assert_eq!(output.stdout, "first words\n");
        let session = session_in(&output.stderr);
        let resumed = asking(&project, &server).args(["--resume", &session]).run();
        resumed.assert_success();
        assert_eq!(resumed.stdout, "Rest.\n");
        assert_eq!(server.requests()[1].assistant_messages(), 1, "what had been said is kept");
    }
}

#[test]
fn a_signal_kills_a_command_that_runs() {
    let project = Project::new();
    let server =
        server([Turn::call("bash", json!({"command": "echo begun; sleep 1000"})), Turn::text("Rest.")]);
    let mut running =
        asking(&project, &server).args(["-p", "go", "--mode", "free", "--output", "stream-json"]).spawn();
    running.read_stdout_until("call_started");
    running.kill(Signal::Interrupt);
    let output = running.wait();
    output.assert_code(130);
    let lines = output.json_lines();
    let result = lines.last().unwrap();
    assert_eq!((&result["type"], &result["stop_reason"]), (&json!("result"), &json!("interrupted")));
    assert_eq!(result["calls"][0]["status"], "interrupted");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    // A command that does not heed the first request gives the second one time to come.
    let project = Project::new();
    let stubborn = "trap '' TERM; echo begun; while :; do sleep 1; done";
    let server = server([Turn::call("bash", json!({"command": stubborn}))]);
    let mut running =
        asking(&project, &server).args(["-p", "go", "--mode", "free", "--output", "stream-json"]).spawn();
    running.read_stdout_until("\"type\":\"call_output\"");
    running.kill(Signal::Interrupt);
    running.read_stderr_until("interrupting; once more to quit at once");
    running.kill(Signal::Interrupt);
    let output = running.wait();
    output.assert_code(130);
    assert!(!output.stdout.contains("\"type\":\"result\""), "the end of the turn was waited for: {output}");
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_ignored() {
    let (project, server) = (Project::new(), server([Turn::text("first").gate("go on").and_text(", last")]));
    let mut running = Rein::with_binary("/bin/sh", &project)
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rein")])
        .args(["-p", "go", "--model", "openai/test-model"])
        .server(&server)
        .spawn();
    running.read_stdout_until("first");
    running.kill(Signal::Hangup);
    server.open_gate("go on");
    let output = running.wait();
    output.assert_success();
    assert_eq!(output.stdout, "first, last\n");
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let project = Project::new();
    // Blanks are held back until words follow them: a call might, too.
    let server = server([Turn::text("one\n…").gate("read").and_text("two\nthree\n").gate("never")]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_rein"))
        .args(["-p", "go", "--model", "openai/test-model"])
        .current_dir(project.path())
        .env("HOME", project.home())
        .env("REIN_HOME", project.rein_home())
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_API_KEY", "test-key")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "one\n");
    server.open_gate("read");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let project = Project::new();
    let server = ModelServer::start_blocking(Script::always(Turn::text("words")));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rein"))
        .args(["-p", "go", "--model", "openai/test-model"])
        .current_dir(project.path())
        .env("HOME", project.home())
        .env("REIN_HOME", project.rein_home())
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_API_KEY", "test-key")
        .stdin(Stdio::null())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output cannot be written"));
}
