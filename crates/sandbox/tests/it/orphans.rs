//! What is left when rein itself is killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rein_sandbox::{end_orphans, run};
use tokio_util::sync::CancellationToken;

use crate::{runs, script};

const ROLE: &str = "REIN_SANDBOX_TEST_ROLE";

/// Is the rein that will be killed, when the other test starts it as such; else does nothing.
#[tokio::test]
async fn a_rein_that_will_be_killed() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let mut take = |bytes: &[u8]| {
        std::io::stdout().write_all(bytes).unwrap();
        std::io::stdout().flush().unwrap();
    };
    let text = "(setsid sleep 1000 & echo pids $! $PPID $$); wait; sleep 1000; exit";
    run(script(text), &mut take, &CancellationToken::new()).await.unwrap();
}

#[test]
fn the_child_dies_with_rein_and_the_next_rein_ends_the_rest() {
    let mut rein = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "orphans::a_rein_that_will_be_killed", "--nocapture", "--test-threads=1"])
        .env(ROLE, "victim")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(rein.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line =
        lines.filter_map(|line| line.split_once("pids ").map(|(_, pids)| pids.to_owned())).next().unwrap();
    let pids: Vec<&str> = line.split_ascii_whitespace().collect();
    let [orphan, parent, child] = pids.as_slice() else { panic!("{line}") };
    assert_eq!(*parent, rein.id().to_string());
    assert!(runs(orphan) && runs(child));
    end_orphans();
    assert!(runs(orphan) && runs(child), "their rein lives");

    rein.kill().unwrap();
    rein.wait().unwrap();
    until_gone(child);
    end_orphans();
    until_gone(orphan);
}

fn until_gone(pid: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while runs(pid) {
        assert!(Instant::now() < deadline, "{pid} still runs");
        std::thread::yield_now();
    }
}
