//! `bash`.

use rein_protocol::{Block, CallStatus, Effect};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{Stage, Taken};

#[tokio::test]
async fn a_command_runs_in_the_workspace() {
    let stage = Stage::with(&[("a.txt", "")]);
    let arguments = json!({"command": "pwd; ls\necho oops >&2"});
    let intent = stage.intent("bash", arguments.clone()).await;
    let command = "pwd; ls\necho oops >&2".to_owned();
    assert_eq!(
        intent.effects,
        [Effect::Execute { command: command.clone(), cwd: stage.root.clone(), prelude: String::new() }]
    );
    assert_eq!(intent.display.title, "$ pwd; ls …");
    assert_eq!(intent.display.blocks, [Block::Command { command, cwd: stage.root.display().to_string() }]);
    let called = stage.call("bash", arguments).await;
    assert_eq!((called.status, called.display.summary.as_deref()), (CallStatus::Completed, Some("exit 0")));
    assert_eq!(called.text, format!("{}\na.txt\noops\n", stage.root.display()));
}

#[tokio::test]
async fn how_it_ended_is_said_after_the_output() {
    let stage = Stage::new();
    let called = async |command: &str| {
        let called = stage.call("bash", json!({"command": command})).await;
        (called.status, called.text)
    };
    assert_eq!(called("true").await, (CallStatus::Completed, "[no output]".into()));
    assert_eq!(called("echo a; exit 3").await, (CallStatus::Failed, "a\n[exit code 3]".into()));
    assert_eq!(called("printf a; exit 3").await, (CallStatus::Failed, "a\n[exit code 3]".into()));
    assert_eq!(called("exit 1").await, (CallStatus::Failed, "[exit code 1; no output]".into()));
    assert_eq!(
        called("echo a; kill -SEGV $$").await,
        (CallStatus::Failed, "a\n[killed by signal 11 (SIGSEGV)]".into())
    );
    let (status, text) = called("no-such-program-here").await;
    assert!(status == CallStatus::Failed && text.ends_with("[exit code 127]"), "{text}");
    assert_eq!(
        called("sleep 1000 & echo a").await,
        (CallStatus::Completed, "a\n[what it left in the background goes on as job_1]".into())
    );
}

#[tokio::test]
async fn a_timeout_says_how_to_raise_it() {
    let stage = Stage::new();
    let called = stage.call("bash", json!({"command": "echo a; sleep 1000", "timeout": 1})).await;
    assert_eq!(
        (called.status, called.display.summary.as_deref()),
        (CallStatus::Failed, Some("timed out after 1 s"))
    );
    assert_eq!(
        called.text,
        "a\n[timed out after 1 s and was ended; set `timeout` to more seconds (at most 3600) if it needs them]"
    );
    for timeout in [0, 3601] {
        let complaint = stage.complaint("bash", json!({"command": "true", "timeout": timeout})).await;
        assert!(
            complaint.contains(&format!("`timeout`: must be from 1 to 3600, not {timeout}")),
            "{complaint}"
        );
    }
}

#[tokio::test]
async fn an_interrupt_ends_it_and_keeps_what_it_printed() {
    struct CancelWhenPrinted(CancellationToken, Taken);
    impl rein_tools::Output for CancelWhenPrinted {
        fn write(&mut self, bytes: &[u8]) {
            self.1.write(bytes);
            self.0.cancel();
        }
    }
    let stage = Stage::new();
    let cancel = CancellationToken::new();
    let mut output = CancelWhenPrinted(cancel.clone(), Taken::default());
    let plan = stage.plan("bash", json!({"command": "echo begun; sleep 1000"})).await.unwrap();
    let outcome = plan.run(&stage.scene, &mut output, &cancel).await;
    assert_eq!(outcome.status, CallStatus::Interrupted);
    assert_eq!(outcome.trailer.as_deref(), Some("[interrupted by the user]"));
    assert_eq!(output.1.0, b"begun\n");

    let plan = stage.plan("bash", json!({"command": "touch started"})).await.unwrap();
    assert_eq!(stage.run(plan, &cancel).await.status, CallStatus::Interrupted);
    assert!(!stage.at("started").exists());
}

#[tokio::test]
async fn what_cannot_be_passed_to_a_shell_is_refused() {
    let stage = Stage::new();
    assert!(stage.complaint("bash", json!({"command": "a\0b"})).await.contains("NUL"));
    assert!(stage.complaint("bash", json!({"command": " \n"})).await.contains("empty"));
    let long = format!("true {}", "x".repeat(130_000));
    assert_eq!(stage.done("bash", json!({"command": long})).await, "[no output]");
    let longer = format!("true {}", "x".repeat(132_000));
    assert!(stage.complaint("bash", json!({"command": longer})).await.contains("Put the text into a file"));
}

#[tokio::test]
async fn a_shell_that_is_not_there_is_named() {
    let mut stage = Stage::new();
    stage.scene.shell = "/nonexistent/shell".into();
    let message = stage.failed("bash", json!({"command": "true"})).await;
    assert!(message.contains("/nonexistent/shell"), "{message}");
    let mut stage = Stage::new();
    stage.scene.shell = "sh".into();
    assert_eq!(stage.done("bash", json!({"command": "echo $0"})).await, "sh\n");
}
