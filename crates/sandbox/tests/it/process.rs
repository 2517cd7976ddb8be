//! A process that is kept.

use std::time::Duration;

use rein_sandbox::{Ended, Event, Grace, Leftover, Leftovers, Process, Status};
use tokio_util::sync::CancellationToken;

use crate::{runs, script, somebody_runs};

/// What it prints until it does something else, and what that was.
async fn follow(process: &mut Process) -> (String, &'static str) {
    let mut printed = String::new();
    loop {
        match process.next().await {
            Event::Output(bytes) => printed.push_str(&String::from_utf8_lossy(bytes)),
            Event::Exited => return (printed, "exited"),
            Event::Gone => return (printed, "gone"),
        }
    }
}

#[tokio::test]
async fn it_prints_then_exits_then_is_gone() {
    let mut process = Process::start(&script("echo a; echo b >&2; exit 3")).await.unwrap();
    assert_eq!(process.status().unwrap(), None);
    assert_eq!(follow(&mut process).await, ("a\nb\n".to_owned(), "exited"));
    assert_eq!(process.status().unwrap(), Some(Status::Code(3)));
    assert!(!process.has_leftovers().await);
    for _ in 0..2 {
        assert_eq!(follow(&mut process).await, (String::new(), "gone"));
    }
}

#[tokio::test]
async fn a_daemon_is_kept_is_heard_and_is_ended() {
    for daemon in ["", "setsid ", "nohup ", "nohup setsid "] {
        let text = format!(
            "{daemon}sh -c 'while [ ! -e \"$GATE\" ]; do sleep 0.01; done; echo late; exec sleep 1000' & echo $!; exit 4"
        );
        let directory = tempfile::tempdir().unwrap();
        let gate = directory.path().join("gate");
        let mut process = Process::start(&script(&text).variable("GATE", &gate)).await.unwrap();
        let mut printed = String::new();
        let mut take = |bytes: &[u8]| printed.push_str(&String::from_utf8_lossy(bytes));
        let cancel = CancellationToken::new();
        let exit = process.finish(None, Grace::default(), &mut take, &cancel, Leftover::Keep).await.unwrap();
        assert_eq!(
            (exit.status, exit.ended, exit.leftovers),
            (Status::Code(4), Ended::Exited, Leftovers::Running),
            "{daemon}"
        );
        let pid = printed.lines().last().unwrap().to_owned();
        assert!(runs(&pid), "{daemon}{printed}");
        std::fs::write(gate, "").unwrap();
        assert_eq!(process.next().await, Event::Output(b"late\n"), "{daemon}");
        assert_eq!(process.end(Grace::default(), &mut |_| {}).await, Leftovers::None);
        assert!(!runs(&pid), "{daemon}");
        assert_eq!(process.next().await, Event::Gone);
    }
}

#[tokio::test]
async fn a_daemon_that_ends_by_itself_is_noticed() {
    let mut process =
        Process::start(&script("(setsid sleep 0.2 >/dev/null 2>&1 &) ; echo done")).await.unwrap();
    assert_eq!(follow(&mut process).await, ("done\n".to_owned(), "exited"));
    assert!(process.has_leftovers().await);
    assert_eq!(follow(&mut process).await, (String::new(), "gone"));
}

#[tokio::test]
async fn what_is_dropped_is_killed_with_its_daemons() {
    let word = format!("1000.7{}", std::process::id());
    let text = format!("setsid sleep {word} & trap '' TERM; echo ready; exec sleep {word}");
    let mut process = Process::start(&script(&text)).await.unwrap();
    assert_eq!(process.next().await, Event::Output(b"ready\n"));
    drop(process);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while somebody_runs(&word) {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn who_is_not_read_waits() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    let text = "trap 'exit 9' TERM; (head -c 10000000 /dev/zero; touch \"$MARK\") & wait";
    let mut process = Process::start(&script(text).variable("MARK", &mark)).await.unwrap();
    assert!(matches!(process.next().await, Event::Output(_)));
    assert!(!mark.exists(), "ten megabytes do not fit into a pipe");
    let mut count = 0;
    while let Event::Output(bytes) = process.next().await {
        count += bytes.len();
    }
    assert!(mark.exists() && count > 9_000_000);
}
