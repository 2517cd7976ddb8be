//! What only looks.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use rein_protocol::{CallStatus, Effect};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{git, repository, short, unborn};
use crate::Stage;

#[tokio::test]
async fn status_says_where_things_are() {
    let stage = repository(&[("a.txt", "a\n"), ("b.txt", "b\nb\nb\nb\n"), ("c.txt", "c\n")]);
    assert_eq!(stage.done("git", json!({"action": "status"})).await, "on main\nnothing to commit\n");
    stage.put("a.txt", "changed\n");
    git(&stage.root, &["mv", "b.txt", "moved b.txt"]);
    git(&stage.root, &["rm", "-q", "c.txt"]);
    stage.put("new/x.txt", "");
    stage.put("q\"uote\nline", "");
    let called = stage.call("git", json!({"action": "status"})).await;
    assert_eq!(
        called.text,
        "on main\nstaged:\n  D c.txt\n  R b.txt -> moved b.txt\nchanged:\n  M a.txt\nuntracked:\n  new/\n  q\\\"uote\\nline\n"
    );
    assert_eq!(called.display.summary.as_deref(), Some("2 staged, 1 changed, 2 untracked"));
    assert_eq!(
        stage.done("git", json!({"action": "status", "paths": ["new"]})).await,
        "on main\nuntracked:\n  new/\n"
    );
}

#[tokio::test]
async fn a_look_is_a_read_of_the_workspace_or_of_what_was_named() {
    let stage = repository(&[("src/a.txt", "a\n")]);
    let intent = stage.intent("git", json!({"action": "diff"})).await;
    assert_eq!(intent.effects, [Effect::Read { path: stage.root.clone() }]);
    assert_eq!(intent.display.title, "git diff");
    let intent = stage.intent("git", json!({"action": "diff", "paths": ["src/*.txt"]})).await;
    assert_eq!(intent.effects, [Effect::Read { path: stage.at("src") }]);
    let intent = stage.intent("git", json!({"action": "show", "rev": "HEAD:src/a.txt"})).await;
    assert_eq!(intent.effects, [Effect::Read { path: stage.at("src/a.txt") }]);
    assert_eq!(intent.display.title, "git show HEAD:src/a.txt");
}

#[tokio::test]
async fn a_repository_without_commits_is_no_failure() {
    let stage = unborn();
    stage.put("a.txt", "a\n");
    let done = async |arguments| stage.done("git", arguments).await;
    assert_eq!(done(json!({"action": "status"})).await, "on main, no commits yet\nuntracked:\n  a.txt\n");
    assert_eq!(done(json!({"action": "log"})).await, "no commits yet\n");
    assert_eq!(done(json!({"action": "branch"})).await, "* main (no commits yet)\n");
    assert_eq!(done(json!({"action": "diff", "staged": true})).await, "nothing is staged\n");
    assert_eq!(stage.failed("git", json!({"action": "show"})).await, "There are no commits yet.");
    git(&stage.root, &["add", "a.txt"]);
    let diff = done(json!({"action": "diff", "staged": true})).await;
    assert!(diff.starts_with("1 file, +1 -0\n  a.txt +1 -0\n\ndiff --git a/a.txt b/a.txt\n"), "{diff}");
}

#[tokio::test]
async fn a_diff_begins_with_its_numbers() {
    let stage = repository(&[("a.txt", "one\ntwo\n"), ("b.txt", "b\n")]);
    stage.put("a.txt", "one\n2\n");
    std::fs::write(stage.at("b.txt"), b"\0binary").unwrap();
    let diff = stage.done("git", json!({"action": "diff"})).await;
    assert!(
        diff.starts_with("2 files, +1 -1\n  a.txt +1 -1\n  b.txt binary\n\ndiff --git a/a.txt b/a.txt\n"),
        "{diff}"
    );
    assert!(diff.contains("@@ -1,2 +1,2 @@\n one\n-two\n+2\n"), "{diff}");
    git(&stage.root, &["commit", "-qam", "second"]);
    for rev in ["HEAD~1..HEAD", "HEAD~1...", "HEAD~1"] {
        let again = stage.done("git", json!({"action": "diff", "rev": rev, "paths": ["a.txt"]})).await;
        assert!(again.starts_with("1 file, +1 -1\n  a.txt +1 -1\n\ndiff"), "{rev}: {again}");
    }
    assert!(stage.done("git", json!({"action": "diff"})).await.starts_with("no changes that are not staged"));
}

#[tokio::test]
async fn a_long_diff_is_cut_with_a_hint() {
    let stage = repository(&[("a.txt", ""), ("b.txt", "")]);
    stage.put("a.txt", "a line of some length\n".repeat(10_000));
    stage.put("b.txt", "b\n");
    let diff = stage.done("git", json!({"action": "diff"})).await;
    assert!(diff.starts_with("2 files, +10001 -0\n  a.txt +10000 -0\n  b.txt +1 -0\n"), "{diff}");
    assert!(
        diff.ends_with("+a line of some length\n[the lines of 1 of 2 files are shown, the last one in part; narrow with paths to see the others]"),
        "{diff}"
    );
    assert!(diff.len() < 50_000);
    assert!(stage.done("git", json!({"action": "diff", "paths": ["b.txt"]})).await.ends_with("+b\n"));
}

#[tokio::test]
async fn a_log_is_one_line_a_commit() {
    let stage = repository(&[("a.txt", "a\n")]);
    git(&stage.root, &["commit", "-q", "--allow-empty", "-m", "second\n\nwith a body"]);
    git(&stage.root, &["tag", "v1"]);
    let (first, second) = (short(&stage, "HEAD~1"), short(&stage, "HEAD"));
    assert_eq!(
        stage.done("git", json!({"action": "log"})).await,
        format!("{second} 2026-01-02 Ada (HEAD -> main, tag: v1) second\n{first} 2026-01-02 Ada first\n")
    );
    assert_eq!(
        stage.done("git", json!({"action": "log", "limit": 1, "rev": "v1"})).await,
        format!(
            "{second} 2026-01-02 Ada (HEAD -> main, tag: v1) second\n[there are older ones; raise limit, or go on with rev]"
        )
    );
    assert_eq!(
        stage.done("git", json!({"action": "log", "paths": ["a.txt"]})).await,
        format!("{first} 2026-01-02 Ada first\n")
    );
    assert_eq!(
        stage.failed("git", json!({"action": "log", "rev": "nowhere"})).await,
        "There is no commit `nowhere` here. Look with log or branch what there is."
    );
}

#[tokio::test]
async fn a_commit_and_a_file_as_it_was_are_shown() {
    let stage = repository(&[("src/a.txt", "old\n")]);
    stage.put("src/a.txt", "new\n");
    git(&stage.root, &["commit", "-qam", "second\n\nwhy"]);
    let shown = stage.done("git", json!({"action": "show"})).await;
    let hash = git(&stage.root, &["rev-parse", "HEAD"]);
    let head = format!(
        "commit {hash}author Ada <ada@example.com> 2026-01-02T03:04:05+00:00\nparents {}\n\nsecond\n\nwhy\n\n1 file, +1 -1\n  src/a.txt +1 -1\n\ndiff --git",
        short(&stage, "HEAD~1")
    );
    assert!(shown.replace("05Z", "05+00:00").starts_with(&head), "{shown}");
    assert_eq!(stage.done("git", json!({"action": "show", "rev": "HEAD~1:src/a.txt"})).await, "old\n");
    assert_eq!(stage.done("git", json!({"action": "show", "rev": ":src/a.txt"})).await, "new\n");
    assert_eq!(stage.done("git", json!({"action": "show", "rev": "HEAD:src"})).await, "a.txt\n");
    let message = stage.failed("git", json!({"action": "show", "rev": "HEAD:b.txt"})).await;
    assert!(message.starts_with("There is no b.txt in HEAD."), "{message}");
    let blob = git(&stage.root, &["rev-parse", "HEAD~1:src/a.txt"]);
    assert!(stage.failed("git", json!({"action": "show", "rev": blob.trim()})).await.contains("no commit"));
}

#[tokio::test]
async fn files_that_may_not_be_read_are_not_shown() {
    let mut stage = repository(&[("key.pem", "secret one\n"), ("a.txt", "a\n"), ("d/key.pem", "x\n")]);
    stage.scene.may_read = Arc::new(|path| path.extension().is_none_or(|end| end != "pem"));
    stage.put("key.pem", "secret two\n");
    stage.put("a.txt", "b\n");
    let note = "[1 files left out: not permitted]";
    let diff = stage.done("git", json!({"action": "diff"})).await;
    assert!(!diff.contains("pem") && !diff.contains("secret") && diff.ends_with(note), "{diff}");
    assert_eq!(
        stage.done("git", json!({"action": "status"})).await,
        format!("on main\nchanged:\n  M a.txt\n{note}")
    );
    git(&stage.root, &["mv", "key.pem", "open.txt"]);
    let diff = stage.done("git", json!({"action": "diff", "rev": "HEAD"})).await;
    assert!(!diff.contains("secret one"), "{diff}");
    let shown = stage.done("git", json!({"action": "show"})).await;
    assert!(!shown.contains("secret") && shown.ends_with("[2 files left out: not permitted]"), "{shown}");
    assert_eq!(stage.done("git", json!({"action": "show", "rev": "HEAD:d"})).await, "");
}

#[tokio::test]
async fn branches_and_worktrees_are_listed() {
    let stage = repository(&[("a.txt", "a\n")]);
    let first = short(&stage, "HEAD");
    git(&stage.root, &["branch", "other"]);
    git(&stage.root, &["worktree", "add", "-q", "../tree two", "other"]);
    let listed = stage.done("git", json!({"action": "branch"})).await;
    assert!(listed.contains(&format!("* main {first} 2026-01-02 first\n")), "{listed}");
    let trees = stage.done("git", json!({"action": "worktree"})).await;
    let long: String = git(&stage.root, &["rev-parse", "HEAD"]).chars().take(10).collect();
    let other = stage.root.with_file_name("tree two");
    assert_eq!(trees, format!(". main {long}\n{} other {long}\n", other.display()));
    git(&stage.root, &["checkout", "-q", "--detach"]);
    let listed = stage.done("git", json!({"action": "branch"})).await;
    assert!(listed.starts_with(&format!("* (detached at {first})\n")), "{listed}");
    assert!(stage.done("git", json!({"action": "status"})).await.starts_with("detached at "));
    // In the linked one.
    let mut inside = Stage::new();
    inside.scene.workspace = other.clone();
    assert!(inside.done("git", json!({"action": "status"})).await.starts_with("on other\n"));
    let intent = inside.intent("git", json!({"action": "log"})).await;
    assert_eq!(intent.effects, [Effect::Read { path: other }], "the repository knows this worktree");
}

#[tokio::test]
async fn conflicts_and_what_is_in_progress_are_named() {
    let stage = repository(&[("a.txt", "a\n")]);
    git(&stage.root, &["checkout", "-qb", "other"]);
    stage.put("a.txt", "other\n");
    git(&stage.root, &["commit", "-qam", "other"]);
    git(&stage.root, &["checkout", "-q", "main"]);
    stage.put("a.txt", "main\n");
    git(&stage.root, &["commit", "-qam", "main"]);
    let merge =
        std::process::Command::new("git").args(["merge", "-q", "other"]).current_dir(&stage.root).output();
    assert!(!merge.unwrap().status.success());
    assert_eq!(
        stage.done("git", json!({"action": "status"})).await,
        "on main\nconflicts:\n  UU a.txt\n[merge in progress: resolve conflicts, add, commit; or git merge --abort (bash)]"
    );
    assert!(stage.done("git", json!({"action": "diff"})).await.contains("++<<<<<<<"));
    let message = stage.failed("git", json!({"action": "commit", "message": "m"})).await;
    assert!(
        message.starts_with("There are conflicts. Edit these files, add them, then commit."),
        "{message}"
    );
}

#[tokio::test]
async fn a_workspace_below_the_root_sees_its_part() {
    let stage = repository(&[("a.txt", "a\n"), ("sub/b.txt", "b\n")]);
    stage.put("a.txt", "x\n");
    stage.put("sub/b.txt", "x\n");
    let mut below = Stage::new();
    below.scene.workspace = stage.at("sub");
    assert_eq!(below.done("git", json!({"action": "status"})).await, "on main\nchanged:\n  M b.txt\n");
    let diff = below.done("git", json!({"action": "diff"})).await;
    assert!(diff.starts_with("1 file, +1 -1\n  b.txt +1 -1\n\ndiff --git a/sub/b.txt"), "{diff}");
    let intent = below.intent("git", json!({"action": "diff", "paths": ["../a.txt"]})).await;
    assert_eq!(intent.effects, [Effect::Read { path: stage.at("a.txt") }]);
    assert!(below.done("git", json!({"action": "show"})).await.contains("1 file, +1 -0"));
}

#[tokio::test]
async fn where_there_is_no_repository_nothing_is_asked() {
    let stage = Stage::new();
    let complaint = stage.complaint("git", json!({"action": "status"})).await;
    assert_eq!(
        complaint,
        format!(
            "{} is in no git repository. If one is wanted, make it with bash: git init",
            stage.root.display()
        )
    );
    git(&stage.root, &["init", "-q", "--bare"]);
    assert!(stage.complaint("git", json!({"action": "log"})).await.contains("is a bare repository"));
    let stage = Stage::new();
    std::fs::create_dir(stage.at(".git")).unwrap();
    assert!(stage.complaint("git", json!({"action": "log"})).await.contains("is in no git repository"));
}

#[tokio::test]
async fn names_of_any_bytes_and_submodules_are_no_problem() {
    let stage = repository(&[("a.txt", "a\n")]);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(stage.root.join(name), "x\n").unwrap();
    let inner = repository(&[("b.txt", "b\n")]);
    let address = inner.root.display().to_string();
    git(&stage.root, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &address, "inner"]);
    git(&stage.root, &["add", "."]);
    let status = stage.done("git", json!({"action": "status"})).await;
    assert_eq!(status, "on main\nstaged:\n  A .gitmodules\n  A caf\u{fffd}.txt\n  A inner\n");
    let diff = stage.done("git", json!({"action": "diff", "staged": true})).await;
    assert!(diff.contains("+Subproject commit") && diff.contains("  caf\u{fffd}.txt +1 -0\n"), "{diff}");
    let mut below = Stage::new();
    below.scene.workspace = stage.at("inner");
    assert_eq!(
        below.done("git", json!({"action": "status"})).await.lines().next(),
        Some("on main, up to date with origin/main")
    );
}

#[tokio::test]
async fn very_many_files_are_counted_and_not_listed() {
    let stage = repository(&[("a.txt", "a\n")]);
    for index in 0..3_000 {
        stage.put(&format!("many-{index}"), "");
    }
    let called = stage.call("git", json!({"action": "status"})).await;
    assert_eq!(called.display.summary.as_deref(), Some("3000 untracked"));
    assert_eq!(called.text.lines().filter(|line| line.contains("many-")).count(), 100);
    assert!(
        called.text.ends_with("[100 of 3000 untracked files shown; narrow with paths]"),
        "{}",
        called.text
    );
}

#[tokio::test]
async fn an_interrupt_is_obeyed_before_anything_runs() {
    let stage = repository(&[("a.txt", "a\n")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let plan = stage.plan("git", json!({"action": "status"})).await.unwrap();
    assert_eq!(stage.run(plan, &cancel).await.status, CallStatus::Interrupted);
}

/// The index alone holds them, so that no hundred thousand files must be made.
#[tokio::test]
async fn a_hundred_thousand_changes_are_counted_too() {
    use std::io::Write;
    let stage = repository(&[("a.txt", "a\n")]);
    let blob = git(&stage.root, &["rev-parse", "HEAD:a.txt"]);
    let mut child = std::process::Command::new("git")
        .args(["update-index", "--index-info"])
        .current_dir(&stage.root)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let entries: String =
        (0..100_000).map(|index| format!("100644 {} 0\tmany/{index}\n", blob.trim())).collect();
    child.stdin.take().unwrap().write_all(entries.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let called = stage.call("git", json!({"action": "status"})).await;
    assert_eq!(called.display.summary.as_deref(), Some("100000 staged, 100000 changed"));
    assert!(called.text.len() < 10_000, "{}", called.text.len());
    let called = stage.call("git", json!({"action": "diff", "staged": true})).await;
    assert_eq!(called.display.summary.as_deref(), Some("100000 files, +100000 -0"));
    assert!(
        called.text.len() < 50_000 && called.text.contains("[100 of 100000 files shown; narrow with paths;")
    );
}
