//! Commands in the background, and `job`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rein_protocol::{CallStatus, JobState};
use rein_tools::{JobSettings, Jobs};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{Stage, Taken};

fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

fn wait_until_dead(pid: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while runs(pid) {
        assert!(Instant::now() < deadline, "{pid}");
        std::thread::yield_now();
    }
}

fn stage(settings: JobSettings) -> Stage {
    let mut stage = Stage::new();
    stage.scene.jobs = Arc::new(Jobs::new(settings));
    stage
}

async fn job(stage: &Stage, arguments: serde_json::Value) -> String {
    stage.done("job", arguments).await
}

#[tokio::test]
async fn a_command_goes_on_in_the_background_and_is_followed_there() {
    let stage = Stage::new();
    let mut changes = stage.scene.jobs.subscribe();
    let command = "echo one; read word < gate; echo $word; exit 3";
    stage.done("bash", json!({"command": "mkfifo gate"})).await;
    let called = stage.call("bash", json!({"command": command, "background": true})).await;
    assert_eq!(
        (called.status, called.display.summary.as_deref()),
        (CallStatus::Completed, Some("runs as job_1"))
    );
    assert_eq!(called.text, "[still running as job_1; use job to read, wait or kill]");
    let begun = changes.recv().await.unwrap();
    assert_eq!(
        (begun.id.0.as_str(), begun.command.as_str(), begun.state),
        ("job_1", command, JobState::Running)
    );
    assert!(job(&stage, json!({"action": "list"})).await.starts_with("job_1 running, "));
    stage.done("bash", json!({"command": "echo two > gate"})).await;
    assert_eq!(
        job(&stage, json!({"action": "wait", "id": "1"})).await,
        "one\ntwo\n[job_1 ended with exit code 3]"
    );
    assert_eq!(
        job(&stage, json!({"action": "read"})).await,
        "[job_1 ended with exit code 3; nothing new was printed]"
    );
    assert_eq!(
        job(&stage, json!({"action": "read", "lines": 1})).await,
        "two\n[job_1 ended with exit code 3]"
    );
    assert_eq!(changes.recv().await.unwrap().state, JobState::Exited { code: 3 });
    assert_eq!(stage.scene.jobs.take_notices(), Vec::<String>::new(), "the model has seen it");
}

#[tokio::test]
async fn the_model_is_told_of_jobs_that_ended_once() {
    let stage = Stage::new();
    let mut changes = stage.scene.jobs.subscribe();
    stage.done("bash", json!({"command": "exit 1", "background": true})).await;
    while changes.recv().await.unwrap().state.is_alive() {}
    assert_eq!(stage.scene.jobs.take_notices(), ["job_1 (`exit 1`) ended with exit code 1"]);
    assert_eq!(stage.scene.jobs.take_notices(), Vec::<String>::new());
}

#[tokio::test]
async fn what_takes_long_goes_on_by_itself() {
    let stage =
        stage(JobSettings { background_after: Some(Duration::from_millis(300)), ..JobSettings::default() });
    let text = stage.done("bash", json!({"command": "echo $$; export LATE=1; exec sleep 1000"})).await;
    let (pid, told) = text.split_once('\n').unwrap();
    assert_eq!(told, "[still running as job_1; use job to read, wait or kill]");
    assert!(runs(pid));
    assert_eq!(
        stage.done("bash", json!({"command": "echo [$LATE]"})).await,
        "[]\n",
        "it writes no state back"
    );
    assert_eq!(job(&stage, json!({"action": "kill"})).await, "[job_1 was ended; nothing new was printed]");
    assert!(!runs(pid));
}

#[tokio::test]
async fn a_daemon_becomes_a_job() {
    let stage = Stage::new();
    for daemon in ["sleep 1000", "setsid sleep 1000", "nohup sleep 1000 >/dev/null 2>&1"] {
        let begun = Instant::now();
        let text = stage.done("bash", json!({"command": format!("{daemon} & echo $!; export D=1")})).await;
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not wait for the daemon");
        let (pid, told) = text.split_once('\n').unwrap();
        assert!(told.starts_with("[what it left in the background goes on as job_"), "{text}");
        assert!(runs(pid), "{daemon}");
        let id = told.rsplit_once("job_").unwrap().1.trim_end_matches(']');
        assert!(stage.scene.jobs.list().last().unwrap().state == JobState::Daemon { code: 0 });
        job(&stage, json!({"action": "kill", "id": id})).await;
        assert!(!runs(pid), "{daemon}");
    }
    assert_eq!(stage.done("bash", json!({"command": "echo $D"})).await, "1\n");
}

#[tokio::test]
async fn an_interrupt_ends_the_command_of_the_call_and_no_other() {
    struct CancelWhenPrinted(CancellationToken, Taken);
    impl rein_tools::Output for CancelWhenPrinted {
        fn write(&mut self, bytes: &[u8]) {
            self.1.write(bytes);
            self.0.cancel();
        }
    }
    let stage = Stage::new();
    stage.done("bash", json!({"command": "exec sleep 1000", "background": true})).await;
    let cancel = CancellationToken::new();
    let mut output = CancelWhenPrinted(cancel.clone(), Taken::default());
    let plan = stage.plan("bash", json!({"command": "echo $$; sleep 1000"})).await.unwrap();
    let outcome = plan.run(&stage.scene, &mut output, &cancel).await;
    assert_eq!(outcome.status, CallStatus::Interrupted);
    assert!(!runs(&String::from_utf8_lossy(&output.1.0)));
    assert_eq!(stage.scene.jobs.list()[0].state, JobState::Running);
    let plan = stage.plan("job", json!({"action": "wait"})).await.unwrap();
    assert_eq!(stage.run(plan, &cancel).await.status, CallStatus::Interrupted);
    assert_eq!(stage.scene.jobs.list()[0].state, JobState::Running);
    stage.scene.jobs.end_all().await;
}

#[tokio::test]
async fn a_dropped_call_ends_its_command() {
    let stage = Stage::new();
    let plan = stage.plan("bash", json!({"command": "echo $$ > pid; echo ready; sleep 1000"})).await.unwrap();
    struct Tell(tokio::sync::mpsc::UnboundedSender<()>);
    impl rein_tools::Output for Tell {
        fn write(&mut self, _: &[u8]) {
            let _ = self.0.send(());
        }
    }
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let mut output = Tell(sender);
    let cancel = CancellationToken::new();
    tokio::select! {
        _ = plan.run(&stage.scene, &mut output, &cancel) => panic!("it sleeps"),
        _ = receiver.recv() => {}
    }
    let pid = String::from_utf8(stage.get("pid")).unwrap();
    stage.scene.jobs.end_all().await;
    assert!(!runs(&pid));
}

#[tokio::test]
async fn jobs_end_with_the_conversation() {
    let stage = Stage::new();
    stage.done("bash", json!({"command": "echo $$ > one; exec sleep 1000", "background": true})).await;
    stage.done("bash", json!({"command": "setsid sleep 1000 & echo $! > two"})).await;
    while !stage.at("one").exists() || stage.get("one").is_empty() {
        tokio::task::yield_now().await;
    }
    let pids = [stage.get("one"), stage.get("two")].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(pids.iter().all(|pid| runs(pid)));
    stage.scene.jobs.end_all().await;
    assert!(pids.iter().all(|pid| !runs(pid)));
    let text = stage.failed("bash", json!({"command": "true"})).await;
    assert_eq!(text, "The command was not run: the conversation is being closed.");
}

#[tokio::test]
async fn dropping_the_jobs_kills_them() {
    let mut stage = Stage::new();
    stage.done("bash", json!({"command": "sleep 1000 & echo $! > pid; trap '' TERM"})).await;
    let pid = String::from_utf8(stage.get("pid")).unwrap();
    assert!(runs(&pid));
    stage.scene.jobs = Arc::default();
    tokio::task::yield_now().await;
    wait_until_dead(&pid);
}

#[tokio::test]
async fn so_many_and_no_more_may_run() {
    let stage = stage(JobSettings { most_running: 2, ..JobSettings::default() });
    for _ in 0..2 {
        stage.done("bash", json!({"command": "exec sleep 1000", "background": true})).await;
    }
    let text = stage.failed("bash", json!({"command": "true"})).await;
    assert_eq!(
        text,
        "The command was not run: 2 commands run already, which is as many as may; wait for one or end one with job first."
    );
    job(&stage, json!({"action": "kill", "id": "job_1"})).await;
    stage.done("bash", json!({"command": "true"})).await;
    assert!(stage.complaint("job", json!({"action": "read"})).await.contains("There are: job_1, job_2."));
    assert!(
        stage
            .complaint("job", json!({"action": "kill", "id": "job_9"}))
            .await
            .contains("There is no job `job_9`")
    );
    stage.scene.jobs.end_all().await;
}

#[tokio::test]
async fn a_job_in_a_terminal_is_typed_to() {
    let stage = Stage::new();
    let command = "read -p 'name? ' name; echo hello $name; stty size";
    stage.done("bash", json!({"command": command, "background": true, "pty": true})).await;
    let asks = stage.scene.jobs.find("job_1").unwrap();
    while !asks.since(0).bytes.ends_with(b"? ") {
        tokio::task::yield_now().await;
    }
    stage.done("job", json!({"action": "write", "id": "job_1", "input": "you\n"})).await;
    let text = job(&stage, json!({"action": "wait", "id": "job_1"})).await;
    assert_eq!(text, "name? you\nhello you\n40 120\n[job_1 ended with exit code 0]");
    let text = stage.failed("job", json!({"action": "write", "input": "x"})).await;
    assert_eq!(text, "Nothing can be typed: the job is over.");
    assert_eq!(
        stage.done("bash", json!({"command": "tty -s && echo $TERM", "pty": true})).await,
        "xterm-256color\n"
    );
}

#[tokio::test]
async fn a_time_limit_that_was_given_counts_in_the_background_too() {
    let stage = Stage::new();
    stage.done("bash", json!({"command": "sleep 1000", "background": true, "timeout": 1})).await;
    let text = job(&stage, json!({"action": "wait"})).await;
    assert_eq!(text, "[job_1 timed out and was ended; nothing new was printed]");
}

#[tokio::test]
async fn a_flood_in_the_background_is_kept_in_a_log_and_its_end_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let settings = JobSettings {
        directory: Some(directory.path().join("logs")),
        output_cap: 1_000_000,
        ..JobSettings::default()
    };
    let stage = stage(settings);
    stage.done("bash", json!({"command": "seq 1000000", "background": true})).await;
    let text = job(&stage, json!({"action": "wait"})).await;
    assert!(
        text.contains("bytes before this; see ") && text.contains("\n999999\n1000000\n"),
        "{}",
        text.len()
    );
    let path = directory.path().join("logs/job_1.log");
    let kept = std::fs::read(&path).unwrap();
    assert_eq!(kept.len(), 1_000_000);
    assert!(kept.starts_with(b"1\n2\n3\n"));
    assert_eq!(stage.scene.jobs.find("job_1").unwrap().log_file(), Some((path, 6_888_896 - 1_000_000)));
}

#[tokio::test]
async fn a_progress_bar_costs_one_line() {
    let stage = Stage::new();
    let command = "for i in $(seq 500); do printf '\\r\\033[32m%d%%\\033[0m' $i; done; echo; echo done";
    assert_eq!(stage.done("bash", json!({"command": command})).await, "500%\ndone\n");
}
