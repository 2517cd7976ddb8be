//! What rules, modes and the system forbid.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rein_protocol::CallStatus;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Stage;

fn guarded() -> Stage {
    let mut stage = Stage::with(&[
        ("src/a.txt", "needle"),
        ("src/key.pem", "needle"),
        ("src/deep/other.pem", "needle"),
        ("src/b.rs", ""),
    ]);
    stage.scene.may_read = Arc::new(|path: &Path| path.extension().is_none_or(|end| end != "pem"));
    stage
}

#[tokio::test]
async fn files_that_may_not_be_read_are_left_out_and_counted() {
    let stage = guarded();
    let shown = stage.done("grep", json!({"pattern": "needle"})).await;
    assert_eq!(shown, "src/a.txt\n1:needle\n[2 files left out: not permitted]");
    let shown = stage.done("grep", json!({"pattern": "needle", "glob": "*.txt"})).await;
    assert_eq!(shown, "src/a.txt\n1:needle\n");
    let shown = stage.done("glob", json!({"pattern": "*.pem"})).await;
    assert_eq!(
        shown,
        "[no files match; files that git ignores are not searched; 2 files left out: not permitted]"
    );
    let shown = stage.done("glob", json!({"pattern": "src/*"})).await;
    assert!(!shown.contains("pem") && shown.ends_with("\n[1 files left out: not permitted]"), "{shown}");
    assert_eq!(stage.read("src").await, "a.txt\nb.rs\ndeep/\n[2 files left out: not permitted]");
    assert_eq!(stage.read("src/deep").await, "[1 files left out: not permitted]");
    let message = stage.failed("read", json!({"path": "src/kye.pem"})).await;
    assert_eq!(message, "src/kye.pem does not exist.", "no names are hinted at");
    // What was named itself has been judged already.
    let shown = stage.done("grep", json!({"pattern": "needle", "path": "src/key.pem"})).await;
    assert_eq!(shown, "src/key.pem\n1:needle\n");
}

/// The thread that searches waits until the call has ended, which must therefore not wait for it.
#[tokio::test]
async fn an_interrupt_does_not_wait_for_what_cannot_be_stopped() {
    for (tool, arguments) in [("grep", json!({"pattern": "needle"})), ("glob", json!({"pattern": "*"}))] {
        let mut stage = Stage::with(&[("a.txt", "needle")]);
        let cancel = CancellationToken::new();
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let (end, inner_cancel) = (Mutex::new(end), cancel.clone());
        stage.scene.may_read = Arc::new(move |_: &Path| {
            inner_cancel.cancel();
            end.lock().unwrap().recv().is_ok()
        });
        let plan = stage.plan(tool, arguments).await.unwrap();
        let called = stage.run(plan, &cancel).await;
        assert_eq!(called.status, CallStatus::Interrupted, "{tool}");
        drop(ended);
    }
}

#[tokio::test]
async fn names_are_shown_on_one_line() {
    let stage = Stage::with(&[("new\nline/\u{1b}[31m.txt", "needle")]);
    let name = "new\\nline/\\u{1b}[31m.txt\n";
    assert_eq!(stage.done("glob", json!({"pattern": "*.txt"})).await, name);
    assert_eq!(stage.done("grep", json!({"pattern": "needle"})).await, format!("{name}1:needle\n"));
}

#[tokio::test]
async fn a_path_that_cannot_be_looked_at_is_told_from_a_missing_one() {
    let stage = Stage::new();
    let long = "x".repeat(300);
    let expected = format!("{long} cannot be read: File name too long (os error 36).");
    for (tool, arguments) in [
        ("read", json!({"path": long})),
        ("glob", json!({"path": long, "pattern": "*"})),
        ("grep", json!({"path": long, "pattern": "x"})),
    ] {
        assert_eq!(stage.failed(tool, arguments).await, expected, "{tool}");
    }
}

/// Runs a test as a user whom modes concern; for root, on a thread of its own that gives that up.
// A test that does not run must say so.
#[allow(clippy::print_stderr)]
fn as_a_user<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send) {
    let run = || {
        if rustix::process::geteuid().is_root() {
            let nobody = rustix::process::Uid::from_raw(65534);
            if rustix::thread::set_thread_res_uid(nobody, nobody, nobody).is_err()
                || tempfile::tempdir().is_err()
            {
                eprintln!("SKIPPED: root cannot become another user here, and modes do not concern root");
                return;
            }
        }
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test());
    };
    let ended = std::thread::scope(|scope| scope.spawn(run).join());
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_that_may_not_be_opened_is_named_or_counted() {
    as_a_user(async || {
        let stage = Stage::with(&[("closed/a.txt", "needle"), ("open.txt", "needle")]);
        set_mode(&stage.at("closed"), 0o000);
        let denied = "closed may not be read: permission denied.";
        let told = [
            stage.failed("read", json!({"path": "closed"})).await,
            stage.failed("glob", json!({"path": "closed", "pattern": "*"})).await,
            stage.failed("grep", json!({"path": "closed", "pattern": "needle"})).await,
        ];
        let below = stage.failed("grep", json!({"path": "closed/a.txt", "pattern": "needle"})).await;
        let globbed = stage.done("glob", json!({"pattern": "*.txt"})).await;
        let grepped = stage.done("grep", json!({"pattern": "needle"})).await;
        set_mode(&stage.at("closed"), 0o700);
        assert_eq!(told, [denied; 3]);
        assert_eq!(below, "closed/a.txt may not be read: permission denied.");
        assert!(globbed.starts_with("open.txt\n[1 directories could not be opened: closed"), "{globbed}");
        assert!(grepped.starts_with("open.txt\n1:needle\n[1 directories could not be opened"), "{grepped}");
    });
}

#[test]
fn a_write_protected_file_is_not_replaced() {
    as_a_user(async || {
        let stage = Stage::with(&[("a.txt", "old")]);
        stage.read("a.txt").await;
        let write = json!({"path": "a.txt", "content": "new"});
        let edit = json!({"path": "a.txt", "old": "old", "new": "new"});
        let planned = stage.plan("write", write.clone()).await.unwrap();
        set_mode(&stage.at("a.txt"), 0o444);
        let expected = "a.txt is write-protected (mode 0444), so it was not changed. \
                        Ask the user whether it may be, or write to another file.";
        assert_eq!(stage.complaint("write", write.clone()).await, expected);
        assert_eq!(stage.complaint("edit", edit.clone()).await, expected);
        assert_eq!(stage.run(planned, &CancellationToken::new()).await.text, expected);
        assert_eq!(stage.get("a.txt"), b"old");
        set_mode(&stage.at("a.txt"), 0o644);
        stage.done("edit", edit).await;
        assert_eq!(stage.get("a.txt"), b"new");
    });
}
