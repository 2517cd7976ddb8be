//! Repositories whose settings name programs: a read runs none of them.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use rein_protocol::Effect;
use serde_json::json;

use super::{git, repository};
use crate::Stage;

/// A repository that runs a program at every opportunity, and the file that the program would leave.
fn hostile() -> (Stage, PathBuf) {
    let stage = repository(&[
        ("a.txt", "one\n"),
        ("b.bin", "one\n"),
        (".gitattributes", "*.txt filter=evil diff=evil merge=evil\n*.bin filter=a=b.c diff=other\n"),
    ]);
    let canary = stage.root.with_file_name("canary");
    let program =
        stage.put(".git/program", format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", canary.display()));
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    for hook in
        ["post-index-change", "post-checkout", "pre-commit", "fsmonitor-watchman", "reference-transaction"]
    {
        symlink(&program, stage.at(&format!(".git/hooks/{hook}"))).unwrap();
    }
    std::fs::create_dir(stage.at("included")).unwrap();
    for (key, value) in [
        ("core.fsmonitor", program.as_str()),
        ("core.pager", &program),
        ("core.editor", &program),
        ("core.sshCommand", &program),
        ("core.askPass", &program),
        ("core.gitProxy", &program),
        ("core.hooksPath", ".git/hooks"),
        ("core.alternateRefsCommand", &program),
        ("credential.helper", &program),
        ("diff.external", &program),
        ("diff.evil.command", &program),
        ("diff.evil.textconv", &program),
        ("diff.other.textconv", &program),
        ("diff.submodule", "log"),
        ("filter.evil.clean", &program),
        ("filter.evil.smudge", &program),
        ("filter.evil.required", "true"),
        ("merge.evil.driver", &program),
        ("gpg.program", &program),
        ("gpg.ssh.program", &program),
        ("gpg.format", "ssh"),
        ("log.showSignature", "true"),
        ("interactive.diffFilter", &program),
        ("pager.status", &program),
        ("pager.log", &program),
        ("pager.diff", "true"),
        ("sequence.editor", &program),
        ("uploadpack.packObjectsHook", &program),
        ("remote.origin.url", "ext::sh -c touch% canary"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &program),
        ("extensions.partialClone", "origin"),
        ("protocol.ext.allow", "always"),
        ("submodule.recurse", "true"),
        ("include.path", "../included/config"),
    ] {
        git(&stage.root, &["config", key, value]);
    }
    for command in ["status", "diff", "log", "show", "branch", "rev-parse", "config", "cat-file"] {
        git(&stage.root, &["config", &format!("alias.{command}"), &format!("!{program}")]);
    }
    stage.put(
        "included/config",
        format!("[filter \"a=b.c\"]\n\tprocess = {program}\n\tclean = {program}\n\trequired = true\n"),
    );
    // The content differs, so that everything has a reason to look at it; and a signature to be verified.
    stage.put("a.txt", "two\n");
    stage.put("b.bin", "two\n");
    let _ = std::fs::remove_file(&canary);
    (stage, canary)
}

#[tokio::test]
async fn reads_run_nothing_of_the_repository() {
    let (stage, canary) = hostile();
    // The trap works: the user's own git falls into it.
    let own = std::process::Command::new("git").args(["diff"]).current_dir(&stage.root).output().unwrap();
    assert!(canary.exists(), "{own:?}");
    std::fs::remove_file(&canary).unwrap();
    for arguments in [
        json!({"action": "status"}),
        json!({"action": "diff"}),
        json!({"action": "diff", "staged": true}),
        json!({"action": "diff", "rev": "HEAD"}),
        json!({"action": "log"}),
        json!({"action": "log", "paths": ["a.txt"]}),
        json!({"action": "show"}),
        json!({"action": "show", "rev": "HEAD:a.txt"}),
        json!({"action": "branch"}),
        json!({"action": "worktree"}),
    ] {
        let text = stage.done("git", arguments.clone()).await;
        let trace = std::fs::read_to_string(&canary).unwrap_or_default();
        assert_eq!(trace, "", "{arguments} ran something: {text}");
    }
    let diff = stage.done("git", json!({"action": "diff"})).await;
    assert!(
        diff.contains("-one\n+two\n")
            && diff.contains("[the repository's filters (such as lfs) were not run"),
        "{diff}"
    );
}

#[tokio::test]
async fn a_missing_object_is_not_fetched() {
    let (stage, canary) = hostile();
    let blob = git(&stage.root, &["rev-parse", "HEAD:a.txt"]);
    let (directory, rest) = blob.trim().split_at(2);
    std::fs::remove_file(stage.at(&format!(".git/objects/{directory}/{rest}"))).unwrap();
    stage.failed("git", json!({"action": "show", "rev": "HEAD:a.txt"})).await;
    stage.failed("git", json!({"action": "diff", "rev": "HEAD"})).await;
    assert!(!canary.exists() && !stage.at("canary").exists());
}

#[tokio::test]
async fn submodules_are_not_looked_into() {
    let (inner, canary) = hostile();
    let outer = repository(&[("a.txt", "")]);
    std::fs::rename(&inner.root, outer.at("inner")).unwrap();
    git(&outer.root, &["-c", "core.fsmonitor=false", "add", "inner"]);
    git(&outer.root, &["commit", "-qm", "inner"]);
    let _ = std::fs::remove_file(&canary);
    outer.done("git", json!({"action": "status"})).await;
    outer.done("git", json!({"action": "diff"})).await;
    outer.done("git", json!({"action": "diff", "rev": "HEAD~1"})).await;
    assert!(!canary.exists(), "{:?}", std::fs::read_to_string(&canary));
}

#[tokio::test]
async fn a_store_elsewhere_is_named_in_the_intent() {
    let other = repository(&[("secret.txt", "secret\n")]);
    let stage = Stage::new();
    stage.put(".git", format!("gitdir: {}\n", other.at(".git").display()));
    let intent = stage.intent("git", json!({"action": "show", "rev": "HEAD:secret.txt"})).await;
    assert_eq!(
        intent.effects,
        [Effect::Read { path: stage.at("secret.txt") }, Effect::Read { path: other.at(".git") }]
    );
}

#[tokio::test]
async fn files_that_are_said_to_be_elsewhere_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a.txt"), "secret\n").unwrap();
    let stage = repository(&[("a.txt", "a\n")]);
    git(&stage.root, &["config", "core.worktree", outside.path().to_str().unwrap()]);
    for arguments in [json!({"action": "diff"}), json!({"action": "add", "paths": ["a.txt"]})] {
        let message = stage.failed("git", arguments).await;
        assert!(!message.contains("secret\n"), "{message}");
    }
}

#[tokio::test]
async fn a_repository_that_changed_after_the_check_is_refused() {
    let other = repository(&[("b.txt", "b\n")]);
    let stage = repository(&[("a.txt", "a\n")]);
    let plan = stage.plan("git", json!({"action": "log"})).await.unwrap();
    std::fs::remove_dir_all(stage.at(".git")).unwrap();
    stage.put(".git", format!("gitdir: {}\n", other.at(".git").display()));
    let called = stage.run(plan, &tokio_util::sync::CancellationToken::new()).await;
    assert!(called.text.starts_with("Nothing was done: the repository changed"), "{}", called.text);
}

/// Every trap alone: the user's own git runs the program, and a read does not.
#[tokio::test]
async fn each_way_to_run_a_program_is_closed() {
    let attributes = "*.txt filter=evil diff=evil\n";
    for (settings, own, read) in [
        (&[("core.fsmonitor", "PROGRAM")][..], &["status"][..], json!({"action": "status"})),
        (&[("core.hooksPath", ".git/traps")], &["status"], json!({"action": "status"})),
        (&[("filter.evil.clean", "PROGRAM")], &["status"], json!({"action": "status"})),
        (&[("filter.evil.clean", "PROGRAM")], &["diff"], json!({"action": "diff"})),
        (&[("filter.evil.process", "PROGRAM")], &["diff"], json!({"action": "diff"})),
        (&[("diff.external", "PROGRAM")], &["diff"], json!({"action": "diff"})),
        (&[("diff.evil.command", "PROGRAM")], &["diff"], json!({"action": "diff"})),
        (&[("diff.evil.textconv", "PROGRAM")], &["diff"], json!({"action": "diff"})),
        (&[("diff.evil.textconv", "PROGRAM")], &["show"], json!({"action": "show"})),
        (&[("log.showSignature", "true"), ("gpg.program", "PROGRAM")], &["log"], json!({"action": "log"})),
        (&[("log.showSignature", "true"), ("gpg.program", "PROGRAM")], &["show"], json!({"action": "show"})),
    ] {
        let stage = repository(&[("a.txt", "one\n"), (".gitattributes", attributes)]);
        let canary = stage.root.with_file_name("canary");
        let script = format!("#!/bin/sh\necho x >> {}\ncat < /dev/null\n", canary.display());
        let program = stage.put(".git/program", script);
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::create_dir(stage.at(".git/traps")).unwrap();
        symlink(&program, stage.at(".git/traps/post-index-change")).unwrap();
        sign(&stage);
        stage.put("a.txt", "two\n");
        stage.put("new.txt", "");
        git(&stage.root, &["add", "--intent-to-add", "new.txt"]);
        for (key, value) in settings {
            git(&stage.root, &["config", key, &value.replace("PROGRAM", program.to_str().unwrap())]);
        }
        // An index that must be refreshed, for the hook that waits for it.
        let refresh = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
        let file = std::fs::File::options().write(true).open(stage.at(".gitattributes")).unwrap();
        file.set_modified(refresh).unwrap();
        let text = stage.call("git", read.clone()).await.text;
        assert!(!canary.exists(), "{settings:?} {read}: {text}");
        let done = std::process::Command::new("git").args(own).current_dir(&stage.root).output().unwrap();
        assert!(canary.exists(), "the trap {settings:?} does not work: {own:?} {done:?}");
    }
}

/// Puts a commit with a signature on top, which somebody may want to verify.
fn sign(stage: &Stage) {
    use std::io::Write;
    let commit = git(&stage.root, &["cat-file", "commit", "HEAD"]);
    let (head, message) = commit.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
    let mut child = std::process::Command::new("git")
        .args(["hash-object", "-t", "commit", "-w", "--stdin"])
        .current_dir(&stage.root)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    write!(child.stdin.take().unwrap(), "{head}\n{signature}\n\n{message}").unwrap();
    let hash = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    git(&stage.root, &["update-ref", "HEAD", hash.trim()]);
}
