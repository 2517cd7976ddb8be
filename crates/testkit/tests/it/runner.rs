//! The runner, with a shell as the binary, and the model server's own binary.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rein_testkit::{Output, Project, Rein, Signal};
use serde_json::json;

use crate::client::{Client, chat, content};

fn shell(project: &Project, script: &str) -> Rein {
    Rein::with_binary("/bin/sh", project).args(["-c", script])
}

fn panic_of(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it should have panicked");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_run_has_everything_that_was_printed_and_the_exit_code() {
    let project = Project::new();
    let output = shell(&project, "cat; echo bad >&2; exit 3").stdin("in").run();
    let expected = Output {
        code: Some(3),
        signal: None,
        stdout: "in".to_owned(),
        stderr: "bad\n".to_owned(),
        stdout_bytes: b"in".to_vec(),
    };
    assert_eq!(output, expected);
    output.assert_code(3);
    assert!(
        panic_of(|| {
            output.assert_success();
        })
        .contains("it exited with 3\n--- stdout\nin\n--- stderr\nbad")
    );
}

#[test]
fn the_environment_is_the_projects_and_nothing_else() {
    let project = Project::new();
    let run = |rein: Rein| {
        let output = rein.run();
        let mut lines: Vec<String> = output.stdout.lines().map(str::to_owned).collect();
        // The shell's own.
        lines.retain(|line| !["PWD=", "SHLVL=", "_=", "OLDPWD="].iter().any(|own| line.starts_with(own)));
        lines.sort();
        lines
    };
    let path = std::env::var("PATH").unwrap();
    let home = format!("HOME={}", project.home().display());
    let rein_home = format!("REIN_HOME={}", project.rein_home().display());
    let expected = [home, "LANG=C.UTF-8".to_owned(), format!("PATH={path}"), rein_home, "TZ=UTC".to_owned()];
    assert_eq!(run(shell(&project, "env")), expected);
    let changed =
        shell(&project, "env").env_remove("HOME").env_remove("LANG").env("TZ", "X").env_remove("REIN_HOME");
    assert_eq!(run(changed), [format!("PATH={path}"), "TZ=X".to_owned()]);
}

#[test]
fn it_runs_in_the_project_and_without_stdin_there_is_none() {
    let project = Project::new().directory("below");
    assert_eq!(shell(&project, "pwd; cat").run().stdout, format!("{}\n", project.path().display()));
    let below = project.join("below");
    assert_eq!(shell(&project, "pwd").current_dir(&below).run().stdout, format!("{}\n", below.display()));
}

#[test]
fn large_input_and_output_pass_each_other() {
    let project = Project::new();
    let input = "0123456789abcde\n".repeat(1 << 16);
    let output = shell(&project, "cat").stdin(&input).run();
    assert!(output.stdout == input);
    let unread = shell(&project, "exit 0").stdin(&input).run();
    assert_eq!(unread.code, Some(0));
}

#[test]
fn output_is_read_as_it_comes_and_input_written_meanwhile() {
    let project = Project::new();
    let script = "echo ready; read line; echo \"got $line\"; echo warn >&2; read line; echo end";
    let mut running = shell(&project, script).stdin_open().spawn();
    assert_eq!(running.read_stdout_until("ready\n"), "ready\n");
    running.write_stdin("one\n");
    assert_eq!(running.read_stdout_until("got one"), "got one");
    assert_eq!(running.read_stderr_until("\n"), "warn\n");
    assert!(!running.has_ended());
    running.close_stdin();
    assert_eq!(running.read_stdout_until("end"), "\nend");
    assert_eq!(running.wait().assert_success().stdout, "ready\ngot one\nend\n");
}

#[test]
fn a_pattern_that_never_comes_is_a_panic_with_what_came() {
    let project = Project::new();
    let mut running = shell(&project, "echo some; echo other >&2").spawn();
    let message = panic_of(|| {
        running.read_stdout_until("none");
    });
    assert!(message.starts_with("it ended without printing `none`\n--- stdout so far\nsome\n"), "{message}");
}

#[test]
fn signals_reach_the_process_and_end_it() {
    let project = Project::new();
    let script = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 1; done";
    let mut running = shell(&project, script).spawn();
    running.read_stdout_until("ready");
    running.kill_group(Signal::Terminate);
    assert_eq!(running.wait().assert_code(7).stdout, "ready\ncaught\n");
    let mut running = shell(&project, "echo ready; exec sleep 1000").spawn();
    running.read_stdout_until("ready");
    running.kill(Signal::Kill);
    let output = running.wait();
    assert_eq!((output.code, output.signal), (None, Some(9)));
}

#[test]
fn the_watchdog_kills_the_group_and_panics_with_what_came() {
    let project = Project::new();
    let mut running = shell(&project, "sleep 1000 & echo $!; echo partial; wait").spawn();
    let child = running.read_stdout_until("\n").trim().to_owned();
    running.read_stdout_until("partial");
    running.set_watchdog(Duration::ZERO);
    let message = panic_of(|| {
        running.wait();
    });
    assert!(message.starts_with("it did not end within 0ns of its start\n--- stdout so far\n"), "{message}");
    assert!(message.contains("partial"), "{message}");
    // The child is gone, or a zombie that nobody has reaped yet.
    let alive =
        format!("kill -0 {child} 2>/dev/null && ! grep -q '^State:.*Z' /proc/{child}/status 2>/dev/null");
    shell(&project, &format!("while {alive}; do :; done")).run().assert_success();
}

#[test]
fn a_process_that_is_dropped_is_killed() {
    let project = Project::new();
    let mut running = shell(&project, "echo $$; exec sleep 1000").spawn();
    let pid = running.read_stdout_until("\n").trim().to_owned();
    assert_eq!(pid, running.pid().to_string());
    drop(running);
    shell(&project, &format!("while kill -0 {pid} 2>/dev/null; do :; done")).run().assert_success();
}

#[test]
fn lines_of_json_are_read() {
    let project = Project::new();
    let output = shell(&project, r#"echo '{"a":1}'; echo '[2]'"#).run();
    assert_eq!(output.json_lines(), [json!({"a": 1}), json!([2])]);
}

#[test]
fn the_model_server_is_also_a_program() {
    let script = r#"{
        "models": ["bench"],
        "pick": "cycle",
        "turns": [
            {"text": "big: ", "text_bytes": 100000, "usage": {"input": 1, "output": 2}, "delta_size": 100},
            {"calls": [{"tool": "read", "arguments": {"path": "a"}}], "repeat": 2},
            {"status": 429, "body": {"error": "slow"}, "headers": {"retry-after": "1"}}
        ]
    }"#;
    let project = Project::new().file("script.json", script);
    let binary = env!("CARGO_BIN_EXE_rein-model-server");
    let mut running = Rein::with_binary(binary, &project).args(["--script", "script.json"]).spawn();
    let url = running.read_stdout_until("\n");
    let address =
        url.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/v1")).unwrap().to_owned();
    let ask = || {
        let mut client = Client::connect_to(&address);
        client.post(&chat("hi"));
        let head = client.head();
        (head.status, String::from_utf8(client.body(&head)).unwrap())
    };
    for _ in 0..2 {
        assert_eq!(content(&ask().1).len(), 100_005);
        assert!(ask().1.contains("tool_calls") && ask().1.contains("tool_calls"));
        assert_eq!(ask(), (429, r#"{"error":"slow"}"#.to_owned()));
    }
    running.kill(Signal::Terminate);
    assert_eq!(running.wait().signal, Some(15));
    let wrong = Rein::with_binary(binary, &project).args(["--script", "absent.json"]).run();
    assert!(wrong.stderr.starts_with("error: absent.json cannot be read:"), "{wrong}");
    wrong.assert_code(1);
}
