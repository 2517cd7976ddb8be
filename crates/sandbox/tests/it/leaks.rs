//! Many processes leave nothing. Alone in its process, or the counts would be those of other tests.

use std::time::{Duration, Instant};

use rein_sandbox::{Spawn, TerminalSize, run};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 1_000;

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Children of this process, zombies included.
fn children() -> usize {
    let own = std::process::id().to_string();
    let is_child = |entry: &std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        fields.split_ascii_whitespace().nth(1) == Some(own.as_str())
    };
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(is_child).count()
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Starts itself again, so that no other test runs beside it.
#[test]
fn a_thousand_processes_leave_no_files_no_zombies_and_no_threads() {
    const ALONE: &str = "REIN_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "leaks::a_thousand_processes_leave_no_files_no_zombies_and_no_threads"])
            .arg("--nocapture")
            .env(ALONE, "1")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && printed.contains("counted"), "{printed}");
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let once = async |terminal: Option<TerminalSize>| {
            let mut spawn = Spawn::new("true", "/");
            spawn.terminal = terminal;
            run(spawn, &mut |_| {}, &CancellationToken::new()).await.unwrap();
        };
        once(None).await;
        let (files, processes) = (open_files(), children());
        for round in 0..ROUNDS {
            once((round % 4 == 0).then(TerminalSize::default)).await;
        }
        let deadline = Instant::now() + Duration::from_secs(20);
        // A child's thread takes the status after the call is over.
        // The first one may not have been taken yet when it was counted, so fewer is as good.
        while open_files() > files || children() > processes || threads() > 50 {
            assert!(Instant::now() < deadline, "{} files, {} children", open_files(), children());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        println!("counted");
    });
}
