//! What a process gets and what it gives.

use std::os::fd::AsRawFd;

use rein_sandbox::{Ended, Leftovers, SandboxError, Spawn, Status, run};
use tokio_util::sync::CancellationToken;

use crate::{finish, script};

#[tokio::test]
async fn output_and_errors_come_in_the_order_in_which_they_were_written() {
    let (exit, printed) =
        finish(script("for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3")).await.unwrap();
    assert_eq!(printed, "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
    assert_eq!((exit.status, exit.ended, exit.leftovers), (Status::Code(3), Ended::Exited, Leftovers::None));
}

#[tokio::test]
async fn a_flood_costs_no_memory() {
    const AMOUNT: usize = 100_000_000;
    let memory = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap().to_owned();
        line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = memory();
    let (mut count, mut most, mut calls) = (0, 0, 0);
    let mut take = |bytes: &[u8]| {
        count += bytes.len();
        calls += 1;
        if calls % 100 == 0 {
            most = most.max(memory());
        }
    };
    let exit = run(script(&format!("head -c {AMOUNT} /dev/zero")), &mut take, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((exit.status, count), (Status::Code(0), AMOUNT));
    assert!(most < before + 20_000, "{before} KB before, {most} KB at most");
}

#[tokio::test]
async fn standard_input_is_empty_and_there_is_no_terminal() {
    let (exit, printed) = finish(script("cat; exec 3<>/dev/tty || echo no terminal")).await.unwrap();
    assert_eq!(exit.status, Status::Code(0));
    assert!(printed.ends_with("no terminal\n"), "{printed}");
}

#[tokio::test]
async fn the_child_leads_its_own_session_and_group() {
    let (_, printed) = finish(script("cut -d' ' -f1,5,6 /proc/$$/stat")).await.unwrap();
    let numbers: Vec<&str> = printed.split_ascii_whitespace().collect();
    assert_eq!(numbers.len(), 3);
    assert!(numbers.iter().all(|number| *number == numbers[0]), "{printed}");
}

/// Rust ignores SIGPIPE, and the test runner may have been started with other signals ignored.
#[tokio::test]
async fn signals_are_neither_ignored_nor_blocked() {
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    assert!(
        own.lines().any(|line| line.starts_with("SigIgn:") && !line.ends_with("0000000000000000")),
        "{own}"
    );
    let (_, printed) =
        finish(Spawn::new("grep", "/").arg("-E").arg("Sig(Ign|Blk)").arg("/proc/self/status")).await.unwrap();
    assert_eq!(printed, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    let (exit, _) =
        finish(script("set -o pipefail; yes | head -n 1; exit $((${PIPESTATUS[0]} + 0))")).await.unwrap();
    assert_eq!(exit.status, Status::Code(141), "`yes` is ended by SIGPIPE");
}

#[tokio::test]
async fn files_that_rein_was_started_with_do_not_reach_the_child() {
    let (read, _write) = rustix::pipe::pipe().unwrap();
    let number = read.as_raw_fd();
    assert!(number > 2);
    let (_, printed) =
        finish(script(&format!("[ -e /proc/self/fd/{number} ] && echo there; echo done"))).await.unwrap();
    assert_eq!(printed, "done\n");
}

#[tokio::test]
async fn an_end_by_signal_is_told_from_an_exit() {
    let (exit, _) = finish(script("kill -SEGV $$")).await.unwrap();
    assert_eq!((exit.status, exit.ended), (Status::Signal(11), Ended::Exited));
}

#[tokio::test]
async fn additions_to_the_environment_win_and_the_rest_is_cleaned() {
    let (_, printed) = finish(
        script("echo $PAGER $GIT_TERMINAL_PROMPT $EXTRA_TOKEN $TERM; test -n \"$PATH\" && echo path")
            .variable("EXTRA_TOKEN", "given")
            .variable("TERM", "vt100"),
    )
    .await
    .unwrap();
    assert_eq!(printed, "cat 0 given vt100\npath\n");
}

#[tokio::test]
async fn a_missing_program_and_a_missing_directory_are_told_apart() {
    let error = finish(Spawn::new("rein-has-no-such-program", "/")).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Program { program, source }
            if program == "rein-has-no-such-program" && source.kind() == std::io::ErrorKind::NotFound),
        "{error}"
    );
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let error = finish(Spawn::new("true", &missing)).await.unwrap_err();
    assert!(matches!(&error, SandboxError::Directory { cwd, .. } if *cwd == missing), "{error}");
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = finish(Spawn::new("true", &file)).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Directory { source, .. }
        if source.kind() == std::io::ErrorKind::NotADirectory),
        "{error}"
    );
}

#[tokio::test]
async fn a_nul_in_an_argument_is_an_error_and_not_a_panic() {
    let error = finish(Spawn::new("echo", "/").arg("a\0b")).await.unwrap_err();
    assert!(matches!(error, SandboxError::Program { .. }), "{error}");
}

/// The signal of a parent's death comes when the thread that forked ends.
#[test]
fn a_child_survives_the_thread_that_asked_for_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(directory.path().join("gate")).status().unwrap();
    assert!(made.success());
    let mut spawn = script("echo started; read word < gate; echo $word");
    spawn.cwd = directory.path().to_owned();

    let (sender, mut started) = tokio::sync::mpsc::unbounded_channel();
    let mut future = Box::pin(async move {
        let mut printed = String::new();
        let mut take = |bytes: &[u8]| {
            printed.push_str(&String::from_utf8_lossy(bytes));
            let _ = sender.send(());
        };
        let exit = run(spawn, &mut take, &CancellationToken::new()).await.unwrap();
        (exit, printed)
    });
    let handle = runtime.handle().clone();
    let asker = std::thread::spawn(move || {
        handle.block_on(async {
            tokio::select! {
                _ = &mut future => panic!("the gate is closed"),
                _ = started.recv() => {}
            }
        });
        future
    });
    let future = asker.join().unwrap();
    std::fs::write(directory.path().join("gate"), "through\n").unwrap();
    let (exit, printed) = runtime.block_on(future);
    assert_eq!((exit.status, printed.as_str()), (Status::Code(0), "started\nthrough\n"));
}

/// Starts itself again with secrets in its environment, and is then the rein that has them.
#[tokio::test]
async fn secrets_of_rein_do_not_reach_the_child() {
    const SECRET: &str = "hunter2";
    if std::env::var("OPENAI_API_KEY").is_ok_and(|value| value == SECRET) {
        rein_sandbox::hide_variables(["NAMED".into()], [format!("{SECRET}-{SECRET}").into()]);
        let (_, printed) = finish(Spawn::new("env", "/")).await.unwrap();
        assert!(printed.contains("HARMLESS=kept") && !printed.contains(SECRET), "{printed}");
        println!("checked");
        return;
    }
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "running::secrets_of_rein_do_not_reach_the_child", "--nocapture"])
        .envs([
            ("OPENAI_API_KEY", SECRET),
            ("SSH_AUTH_SOCK", SECRET),
            ("BASH_ENV", SECRET),
            ("NAMED", SECRET),
            ("COPY", "hunter2-hunter2"),
            ("HARMLESS", "kept"),
        ])
        .env("DATABASE_URL", format!("postgres://app:{SECRET}@db/app"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && printed.contains("checked"), "{printed}");
}

#[tokio::test]
async fn it_reads_what_it_was_given_and_its_errors_can_go_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let errors = std::fs::File::create(directory.path().join("errors")).unwrap();
    let text = "x".repeat(300_000);
    let spawn =
        script("wc -c; echo oops >&2").input(text.into_bytes()).errors(std::os::fd::OwnedFd::from(errors));
    let (exit, printed) = finish(spawn).await.unwrap();
    assert_eq!((exit.status, printed.trim()), (Status::Code(0), "300000"));
    assert_eq!(std::fs::read_to_string(directory.path().join("errors")).unwrap(), "oops\n");
}

#[tokio::test]
async fn a_variable_of_the_own_environment_can_be_kept_back() {
    let (name, _) = std::env::vars().find(|(name, _)| name.starts_with("CARGO_PKG_NAME")).unwrap();
    let there = format!("echo ${{{name}-gone}}");
    assert_eq!(finish(script(&there)).await.unwrap().1, "rein-sandbox\n");
    assert_eq!(finish(script(&there).without(&name)).await.unwrap().1, "gone\n");
    let given = script(&there).without(&name).variable(&name, "given");
    assert_eq!(finish(given).await.unwrap().1, "given\n");
}
