//! `--record` and `rein replay` through the real binary.

use std::os::unix::fs::PermissionsExt;

use rein_testkit::{ModelServer, Project, Rein, Turn};
use serde_json::json;

use crate::{asking, rein, server};

const KEY: &str = "canary-key-0815-4711";

fn turns() -> [Turn; 2] {
    [Turn::text("I look. ").and_call("read", json!({"path": "a.txt"})), Turn::text("Done.")]
}

fn recording(project: &Project, server: &ModelServer) -> Rein {
    asking(project, server).env("OPENAI_API_KEY", KEY).args(["-p", "read it", "--record", "run.jsonl"])
}

#[test]
fn a_recorded_run_is_played_back_the_same_without_a_server() {
    let project = Project::new().file("a.txt", "content\n");
    let server = server(turns());
    recording(&project, &server).run().assert_success();
    drop(server);
    let output = rein(&project).args(["replay", "run.jsonl"]).run();
    output.assert_success();
    assert_eq!(output.stdout, "the same: 2 requests, each as it was recorded\n", "{output}");
    let recorded = std::fs::read_to_string(project.path().join("run.jsonl")).unwrap();
    assert!(!recorded.contains(KEY), "{recorded}");
    assert_eq!(
        std::fs::metadata(project.path().join("run.jsonl")).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let listed = rein(&project).args(["sessions", "list", "--json"]).run();
    let sessions: Vec<serde_json::Value> = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(sessions.len(), 1, "what is played is not kept: {listed}");
}

#[test]
fn the_first_divergence_names_the_request_and_the_place() {
    let project = Project::new().file("a.txt", "content\n");
    let server = server(turns());
    recording(&project, &server).run().assert_success();
    std::fs::write(project.path().join("a.txt"), "other\n").unwrap();
    let output = rein(&project).args(["replay", "run.jsonl"]).run();
    output.assert_code(1);
    assert!(output.stdout.starts_with("request 2 differs at body.messages["), "{output}");
    assert!(output.stdout.contains("content") && output.stdout.contains("other"), "{output}");
    let output = rein(&project).args(["replay", "run.jsonl", "--json"]).run();
    output.assert_code(1);
    let report: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&report["same"], &report["requests"]), (&json!(false), &json!(1)), "{output}");
    assert_eq!(report["divergence"]["request"], 2);
}

#[test]
fn a_recording_permits_nothing_by_itself() {
    let project = Project::new();
    let server = server([Turn::call("write", json!({"path": "b.txt", "content": "x"})), Turn::text("Done.")]);
    recording(&project, &server).args(["--mode", "write"]).run().assert_success();
    std::fs::remove_file(project.path().join("b.txt")).unwrap();
    let output = rein(&project).args(["replay", "run.jsonl"]).run();
    output.assert_code(1);
    assert!(output.stdout.contains("it was recorded in mode write, and played in mode tight"), "{output}");
    assert!(!project.path().join("b.txt").exists());
    rein(&project).args(["replay", "run.jsonl", "--mode", "write"]).run().assert_success();
    assert!(project.path().join("b.txt").exists());
}

#[test]
fn errors_and_retries_are_played_back_without_waiting() {
    let project = Project::new();
    let server = server([
        Turn::error(503, "busy"),
        Turn::error(429, "slow down").header("retry-after", "1"),
        Turn::text("Done."),
    ]);
    recording(&project, &server).args(["--config", "retry.base_delay_ms=1"]).run().assert_success();
    let output = rein(&project).args(["replay", "run.jsonl"]).run();
    output.assert_success();
    assert_eq!(output.stdout, "the same: 3 requests, each as it was recorded\n");
}

#[test]
fn what_cannot_be_recorded_or_played_is_said_before_anything_is_done() {
    let project = Project::new().file("run.jsonl", "precious\n");
    let server = server([]);
    let output = recording(&project, &server).run();
    output.assert_code(2);
    assert!(output.stderr.contains("it exists already and is not overwritten"), "{output}");
    let output = rein(&project).args(["replay", "run.jsonl"]).run();
    output.assert_code(2);
    assert!(
        output.stderr.contains("this is not a recording: its first line is not the head of one"),
        "{output}"
    );
    rein(&project).args(["replay", "nowhere.jsonl"]).run().assert_code(2);
    server.assert_done();
}
