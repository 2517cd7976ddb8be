//! Nothing outlives the call.

use std::time::Duration;

use rein_sandbox::{Ended, Grace, Leftovers, SandboxError, Status, run};
use tokio_util::sync::CancellationToken;

use crate::{finish, runs, script, somebody_runs};

/// Runs a script that prints pids, a line each, and cancels it when it has printed so many.
async fn cancel_after(count: usize, text: &str, grace: Grace) -> (rein_sandbox::Exit, Vec<String>) {
    let cancel = CancellationToken::new();
    let mut printed = String::new();
    let trigger = cancel.clone();
    let mut take = |bytes: &[u8]| {
        printed.push_str(&String::from_utf8_lossy(bytes));
        if printed.lines().count() >= count && printed.ends_with('\n') {
            trigger.cancel();
        }
    };
    let exit = run(script(text).grace(grace), &mut take, &cancel).await.unwrap();
    let pids =
        printed.lines().filter(|line| line.bytes().all(|byte| byte.is_ascii_digit())).map(str::to_owned);
    let pids: Vec<String> = pids.collect();
    (exit, pids)
}

#[tokio::test]
async fn a_timeout_ends_the_tree_with_those_who_left_the_session() {
    let word = format!("1000.{}", std::process::id());
    let text = format!("setsid sleep {word} & (setsid sleep {word} &) ; sleep {word}");
    let (exit, _) = finish(script(&text).timeout(Duration::from_millis(300))).await.unwrap();
    assert_eq!((exit.status, exit.ended), (Status::Signal(15), Ended::TimedOut));
    assert!(!somebody_runs(&word));
}

#[tokio::test]
async fn cancelling_ends_every_kind_of_descendant() {
    let (exit, pids) = cancel_after(
        4,
        "sleep 1000 & echo $!
         setsid sh -c 'echo $$; exec sleep 1000' &
         (setsid sh -c 'sleep 1000 & echo $!; wait' &)
         env -i setsid sh -c 'echo $$; exec sleep 1000' &
         wait",
        Grace::default(),
    )
    .await;
    assert_eq!(exit.ended, Ended::Cancelled);
    assert!(pids.iter().all(|pid| pid.parse::<u32>().is_ok() && !runs(pid)), "{pids:?}");
}

#[tokio::test]
async fn who_ignores_the_request_is_killed() {
    let (exit, pids) = cancel_after(
        1,
        "trap '' TERM; sleep 1000 & echo $!; while :; do wait; done",
        Grace(Duration::from_millis(50)),
    )
    .await;
    assert_eq!((exit.status, exit.ended), (Status::Signal(9), Ended::Cancelled));
    assert!(pids.iter().all(|pid| pid.parse::<u32>().is_ok() && !runs(pid)), "{pids:?}");
}

#[tokio::test]
async fn who_heeds_the_request_may_still_speak() {
    let cancel = CancellationToken::new();
    let mut printed = String::new();
    let trigger = cancel.clone();
    let mut take = |bytes: &[u8]| {
        printed.push_str(&String::from_utf8_lossy(bytes));
        trigger.cancel();
    };
    let text = "trap 'head -c 300000 /dev/zero | tr \"\\\\0\" x; echo; echo bye; exit 7' TERM; echo ready; sleep 1000 & wait";
    let exit = run(script(text).grace(Grace(Duration::from_secs(60))), &mut take, &cancel).await.unwrap();
    assert_eq!((exit.status, exit.ended), (Status::Code(7), Ended::Cancelled));
    assert!(printed.ends_with("xxx\nbye\n"), "{} bytes", printed.len());
}

#[tokio::test]
async fn a_stopped_process_hears_the_request() {
    let (exit, pids) = cancel_after(1, "echo $$; kill -STOP $$", Grace(Duration::from_secs(5))).await;
    assert_eq!((exit.status, exit.ended), (Status::Signal(15), Ended::Cancelled));
    assert!(pids.iter().all(|pid| pid.parse::<u32>().is_ok() && !runs(pid)), "{pids:?}");
}

#[tokio::test]
async fn a_background_process_does_not_hold_up_the_call_and_is_ended() {
    for text in [
        "sleep 1000 & echo $!",
        "sleep 1000 >/dev/null 2>&1 & echo $!",
        "nohup setsid sleep 1000 >/dev/null 2>&1 & echo $!",
    ] {
        let (exit, printed) = finish(script(text)).await.unwrap();
        assert_eq!(
            (exit.status, exit.ended, exit.leftovers),
            (Status::Code(0), Ended::Exited, Leftovers::Ended),
            "{text}"
        );
        assert!(!runs(&printed), "{text}: {printed}");
    }
}

#[tokio::test]
async fn a_background_flood_does_not_hold_up_the_call() {
    let mut count = 0_usize;
    let exit = run(script("yes & exit 0"), &mut |bytes| count += bytes.len(), &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((exit.status, exit.leftovers), (Status::Code(0), Leftovers::Ended));
}

#[tokio::test]
async fn the_last_words_of_a_process_that_the_shell_does_not_wait_for_are_heard() {
    let (exit, printed) = finish(script("exec > >(cat); seq 20000")).await.unwrap();
    assert_eq!(exit.status, Status::Code(0));
    assert!(printed.ends_with("19999\n20000\n"), "{} bytes", printed.len());
}

#[tokio::test]
async fn dropping_the_future_kills_the_tree() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let mut take = move |bytes: &[u8]| {
        let _ = sender.send(String::from_utf8_lossy(bytes).into_owned());
    };
    let cancel = CancellationToken::new();
    let mut future =
        Box::pin(run(script("setsid sleep 1000 & echo $! $$; trap '' TERM; wait"), &mut take, &cancel));
    let printed = tokio::select! {
        _ = &mut future => panic!("it waits"),
        printed = receiver.recv() => printed.unwrap(),
    };
    drop(future);
    let pids: Vec<&str> = printed.split_ascii_whitespace().collect();
    assert_eq!(pids.len(), 2);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while pids.iter().any(|pid| runs(pid)) {
        assert!(std::time::Instant::now() < deadline, "{pids:?}");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn what_is_cancelled_before_it_begins_is_not_started() {
    let directory = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let mut spawn = script("touch started");
    spawn.cwd = directory.path().to_owned();
    let error = run(spawn, &mut |_| {}, &cancel).await.unwrap_err();
    assert!(matches!(error, SandboxError::NotStarted { .. }));
    assert!(!directory.path().join("started").exists());
}

#[tokio::test]
async fn no_child_stays_a_zombie_of_ours() {
    for _ in 0..3 {
        finish(script("sleep 1000 & (sleep 0 &); exit 1")).await.unwrap();
    }
    let own = std::process::id().to_string();
    let is_zombie_of_ours = || {
        std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let fields: Vec<&str> =
                stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace().collect();
            fields.first() == Some(&"Z") && fields.get(1) == Some(&own.as_str())
        })
    };
    // The child's thread takes the status after the call is over.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while is_zombie_of_ours() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
}
