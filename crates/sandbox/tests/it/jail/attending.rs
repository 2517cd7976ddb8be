//! Nothing is left behind, jailed or not.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rein_sandbox::jail::Preference;
use rein_sandbox::{Ended, Grace, Leftovers, SandboxError, Spawn, Status, helper, run};
use tokio_util::sync::CancellationToken;

use super::{Place, WHOLE, jailed, run_in, settle};
use crate::{finish, runs, script, somebody_runs};

const ROLE: &str = "REIN_SANDBOX_TEST_ATTENDED";

/// Leaves the session by a double fork, forgets its environment, and does not hang up.
const DAEMON: &str = "(setsid env -i nohup setsid sleep WORD >/dev/null 2>&1 &)";

fn with_helper() {
    helper::use_program(env!("CARGO_BIN_EXE_rein-jail"));
}

#[tokio::test]
async fn a_helper_without_a_jail_changes_nothing_but_who_is_the_parent() {
    with_helper();
    let (exit, printed) = finish(script("echo out; echo err >&2; cat; exit 3")).await.unwrap();
    assert_eq!((exit.status, exit.ended, exit.leftovers), (Status::Code(3), Ended::Exited, Leftovers::None));
    assert_eq!(printed, "out\nerr\n");
    let (exit, _) = finish(script("kill -SEGV $$")).await.unwrap();
    assert_eq!(exit.status, Status::Signal(11));
    let (_, printed) = finish(script("cut -d' ' -f1,5,6 /proc/$$/stat")).await.unwrap();
    let numbers: Vec<&str> = printed.split_ascii_whitespace().collect();
    assert!(numbers.iter().all(|number| *number == numbers[0]), "{printed}");
    let (_, printed) =
        finish(Spawn::new("grep", "/").arg("-E").arg("Sig(Ign|Blk)").arg("/proc/self/status")).await.unwrap();
    assert_eq!(printed, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    let (_, printed) = finish(Spawn::new("ls", "/").arg("/proc/self/fd")).await.unwrap();
    assert_eq!(printed, "0\n1\n2\n3\n");
    let error = finish(Spawn::new("rein-has-no-such-program", "/")).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Program { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
}

#[tokio::test]
async fn a_daemon_that_forgets_everything_is_ended_with_its_command() {
    with_helper();
    let place = Place::new();
    let word = format!("4000.{}", std::process::id());
    let text = DAEMON.replace("WORD", &word);
    let (exit, _) = finish(script(&text)).await.unwrap();
    assert_eq!((exit.status, exit.leftovers), (Status::Code(0), Leftovers::Ended));
    assert!(!somebody_runs(&word));
    for preference in WHOLE {
        let Some((exit, _)) = run_in(place.jail(preference), &place.work(), &text).await else { continue };
        assert_eq!((exit.status, exit.leftovers), (Status::Code(0), Leftovers::Ended), "{preference:?}");
        assert!(!somebody_runs(&word), "{preference:?}");
    }
}

#[tokio::test]
async fn who_ignores_the_request_is_killed_with_all_that_he_started() {
    let place = Place::new();
    for preference in [Preference::BuiltIn, Preference::Bubblewrap, Preference::LandlockAlone] {
        let word = format!("5000.{}", std::process::id());
        let text =
            format!("trap '' TERM; {}; sleep {word} & while :; do wait; done", DAEMON.replace("WORD", &word));
        let spawn = Spawn::new("bash", place.work()).arg("-c").arg(text);
        let spawn = jailed(spawn, place.jail(preference))
            .timeout(Duration::from_millis(500))
            .grace(Grace(Duration::from_millis(50)));
        let Some((exit, _)) = settle(finish(spawn).await) else { continue };
        assert_eq!((exit.status, exit.ended), (Status::Signal(9), Ended::TimedOut), "{preference:?}");
        assert!(!somebody_runs(&word), "{preference:?}");
    }
}

/// Is the rein that will be killed, when the other test starts it as such; else does nothing.
#[tokio::test]
async fn a_rein_that_will_be_killed() {
    let Some(role) = std::env::var_os(ROLE) else { return };
    with_helper();
    let place = Place::new();
    let word = std::env::var("REIN_SANDBOX_TEST_WORD").unwrap();
    let text =
        format!("{}; setsid sleep {word} & echo ready; wait; sleep {word}", DAEMON.replace("WORD", &word));
    let spawn = Spawn::new("bash", place.work()).arg("-c").arg(text);
    let spawn = match role.to_str().unwrap() {
        "built-in" => jailed(spawn, place.jail(Preference::BuiltIn)),
        "bubblewrap" => jailed(spawn, place.jail(Preference::Bubblewrap)),
        _ => spawn,
    };
    let mut take = |bytes: &[u8]| {
        std::io::stdout().write_all(bytes).unwrap();
        std::io::stdout().flush().unwrap();
    };
    run(spawn, &mut take, &CancellationToken::new()).await.unwrap();
}

#[test]
fn nothing_survives_a_rein_that_is_killed() {
    for role in ["plain", "built-in", "bubblewrap"] {
        let word = format!("6000.{}{}", std::process::id(), role.len());
        let mut rein = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "jail::attending::a_rein_that_will_be_killed",
                "--nocapture",
                "--test-threads=1",
            ])
            .envs([(ROLE, role), ("REIN_SANDBOX_TEST_WORD", word.as_str())])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(rein.stdout.take().unwrap()).lines().map(Result::unwrap);
        let is_ready = lines.any(|line| line.contains("ready"));
        let may_be_missing = std::env::var_os("REIN_TEST_WITHOUT_JAIL").is_some();
        assert!(is_ready || may_be_missing, "{role}");
        // What was started in the background may not have become its program yet.
        let deadline = Instant::now() + Duration::from_secs(20);
        while is_ready && !somebody_runs(&word) {
            assert!(Instant::now() < deadline, "{role}: {word} never ran");
            std::thread::yield_now();
        }
        rein.kill().unwrap();
        rein.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while somebody_runs(&word) {
            assert!(Instant::now() < deadline, "{role}: {word} still runs");
            std::thread::yield_now();
        }
    }
}

#[tokio::test]
async fn a_missing_program_is_an_error_inside_too() {
    let place = Place::new();
    for preference in WHOLE {
        let spawn = jailed(Spawn::new("rein-has-no-such-program", place.work()), place.jail(preference));
        match finish(spawn).await {
            Err(SandboxError::Program { source, .. }) => {
                assert_eq!(source.kind(), std::io::ErrorKind::NotFound)
            }
            Err(error @ SandboxError::Unavailable { .. }) => drop(settle(Err(error))),
            other => panic!("{preference:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn killing_the_attendant_kills_all() {
    let place = Place::new();
    let mut jail = place.jail(Preference::BuiltIn);
    jail.limits.processes = 200;
    let word = format!("7000.{}", std::process::id());
    let spawn = jailed(
        Spawn::new("bash", place.work()).arg("-c").arg(format!("sleep {word} & echo $BASHPID; wait")),
        jail,
    );
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let mut take = move |bytes: &[u8]| {
        let _ = sender.send(bytes.to_vec());
    };
    let cancel = CancellationToken::new();
    let running = run(spawn, &mut take, &cancel);
    let kill = async {
        receiver.recv().await.unwrap();
        assert!(somebody_runs(&word));
        let of = |parent: u32| -> Vec<u32> {
            std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))
                .unwrap_or_default()
                .split_ascii_whitespace()
                .map(|id| id.parse().unwrap())
                .collect()
        };
        // Its child is forked by a thread, so all of the process's tasks are asked.
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().file_name());
        let helpers: Vec<u32> = tasks
            .flat_map(|task| {
                let path = format!("/proc/self/task/{}/children", task.to_str().unwrap());
                let text = std::fs::read_to_string(path).unwrap_or_default();
                text.split_ascii_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<u32>>()
            })
            .collect();
        let first = helpers.iter().flat_map(|helper| of(*helper)).next().unwrap();
        assert!(runs(&first.to_string()));
        Command::new("kill").args(["-9", &first.to_string()]).status().unwrap();
        std::future::pending::<()>().await
    };
    let exit = tokio::select! {
        exit = running => exit.unwrap(),
        () = kill => unreachable!(),
    };
    assert_eq!(exit.status, Status::Signal(9));
    assert!(!somebody_runs(&word));
}
