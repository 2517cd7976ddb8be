//! `rein` on a terminal, with the real engine behind it. The terminal is that of `script` from util-linux.

use rein_testkit::{ModelServer, Project, Rein, Turn};
use serde_json::json;

use crate::server;

/// A face on a terminal; what it draws is on standard output.
fn face(project: &Project, server: &ModelServer, arguments: &str) -> Rein {
    let command = format!("{} --model openai/test-model {arguments}", env!("CARGO_BIN_EXE_rein"));
    Rein::with_binary("script", project)
        .server(server)
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .args(["-qec", &command, "/dev/null"])
        .stdin_open()
}

/// What the keys of an ask look like once they count.
const ARMED: &str = "\u{1b}[1;36my\u{1b}[0m";

#[test]
fn a_person_prompts_approves_quits_and_comes_back() {
    let project = Project::new().file("sum.txt", "one\n");
    let server = server([
        Turn::call("read", json!({"path": "sum.txt"})),
        Turn::call("edit", json!({"path": "sum.txt", "old_string": "one", "new_string": "two"})),
        Turn::text("It says two now."),
        Turn::text("Good bye then."),
    ]);
    let mut running = face(&project, &server, "").spawn();
    running.read_stdout_until("? for help");
    running.write_stdin("change it\r");
    running.read_stdout_until("may this run?");
    running.read_stdout_until(ARMED);
    assert_eq!(project.read("sum.txt"), "one\n");
    running.write_stdin("y");
    running.read_stdout_until("It says two now.");
    assert_eq!(project.read("sum.txt"), "two\n");
    running.write_stdin("/quit\r");
    let output = running.wait();
    output.assert_success();
    assert!(output.stdout.contains("go on with: rein --resume "), "{output}");

    let mut running = face(&project, &server, "--continue").spawn();
    running.read_stdout_until("It says two now.");
    running.write_stdin("thanks\r");
    running.read_stdout_until("Good bye then.");
    running.write_stdin("\u{3}\u{3}");
    running.wait().assert_success();
    server.assert_done();
}

#[test]
fn a_rejected_edit_changes_nothing_and_words_reach_the_model() {
    let project = Project::new().file("sum.txt", "one\n");
    let server = server([
        Turn::call("read", json!({"path": "sum.txt"})),
        Turn::call("edit", json!({"path": "sum.txt", "old_string": "one", "new_string": "two"})),
        Turn::text("Then I leave it."),
    ]);
    let mut running = face(&project, &server, "").spawn();
    running.read_stdout_until("? for help");
    running.write_stdin("change it\r");
    running.read_stdout_until(ARMED);
    running.write_stdin("Nleave it\r");
    running.read_stdout_until("Then I leave it.");
    running.write_stdin("\u{4}");
    running.wait().assert_success();
    assert_eq!(project.read("sum.txt"), "one\n");
    let requests = server.requests();
    let results = requests[2].tool_results();
    let (_, told) = results.last().unwrap();
    assert!(told.contains("leave it"), "{told}");
}

#[test]
fn settings_reach_the_face_and_the_face_changes_them() {
    let settings = "# mine\nstatus_line = [\"model\", \"mode\"]\n\n[keys]\nquit = [\"ctrl-q\"]\n";
    let project = Project::new().rein_file("config/config.toml", settings);
    let server = server([]);
    let mut running = face(&project, &server, "").spawn();
    running.read_stdout_until("tight");
    running.write_stdin("/theme dark\r");
    running.read_stdout_until("theme: written to");
    running.write_stdin("\u{11}");
    running.wait().assert_success();
    let written = std::fs::read_to_string(project.rein_home().join("config/config.toml")).unwrap();
    let wanted = settings.replace("\n\n[keys]", "\ntheme = \"dark\"\n\n[keys]");
    assert_eq!(written, wanted);
}
