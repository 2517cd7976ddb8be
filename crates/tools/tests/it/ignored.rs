//! What ignore files hide from `glob` and `grep`, and what they cannot do.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::{Stage, make_fifo};

/// The files that `glob` finds, in the order of their names.
async fn found(stage: &Stage, pattern: &str, path: &str) -> Vec<String> {
    let text = stage.done("glob", json!({"pattern": pattern, "path": path, "hidden": true})).await;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn deeper_files_and_later_lines_override() {
    let stage = Stage::with(&[
        (".git/HEAD", ""),
        (".gitignore", "\u{feff}*.log\r\n/build/\n!important.log\n# a comment\n[\n\\#x\ndocs/**/draft\n"),
        ("a.log", ""),
        ("important.log", ""),
        ("#x", ""),
        ("build/out", ""),
        ("sub/build/out", ""),
        ("sub/.gitignore", "!a.log\nimportant.log\n"),
        ("sub/a.log", ""),
        ("sub/b.log", ""),
        ("sub/important.log", ""),
        ("sub/deep/a.log", ""),
        ("docs/one/draft", ""),
        ("draft", ""),
    ]);
    let expected = [
        ".gitignore",
        "draft",
        "important.log",
        "sub/.gitignore",
        "sub/a.log",
        "sub/build/out",
        "sub/deep/a.log",
    ];
    assert_eq!(found(&stage, "*", ".").await, expected);
    // From below, what is above counts as well.
    assert_eq!(found(&stage, "*", "sub/deep").await, ["sub/deep/a.log"]);
    assert_eq!(found(&stage, "*", "sub").await, expected[3..]);
}

#[tokio::test]
async fn escapes_blanks_and_exceptions_are_read_as_git_reads_them() {
    let stage = Stage::with(&[
        (".git/HEAD", ""),
        (".gitignore", "\\!loud\nkept\\ \ncut \ndocs/*\n!docs/README.md\n/top\n"),
        ("!loud", ""),
        ("kept ", ""),
        ("kept", ""),
        ("cut", ""),
        ("cut ", ""),
        ("docs/README.md", ""),
        ("docs/other.md", ""),
        ("top", ""),
        ("sub/top", ""),
    ]);
    assert_eq!(found(&stage, "*", ".").await, [".gitignore", "cut ", "docs/README.md", "kept", "sub/top"]);
}

#[tokio::test]
async fn every_kind_of_ignore_file_counts_in_its_rank() {
    let stage = Stage::with(&[
        (".git/info/exclude", "excluded\nboth\n"),
        (".gitignore", "!both\nchosen\n"),
        (".ignore", "!chosen\nignored\n"),
        ("excluded", ""),
        ("both", ""),
        ("chosen", ""),
        ("ignored", ""),
    ]);
    assert_eq!(found(&stage, "*", ".").await, [".gitignore", ".ignore", "both", "chosen"]);
}

#[tokio::test]
async fn the_rules_end_at_the_root_of_the_repository() {
    let stage = Stage::with(&[("a.rs", ""), ("sub/b.rs", "")]);
    std::fs::write(stage.root.parent().unwrap().join(".gitignore"), "*.rs\n").unwrap();
    assert!(found(&stage, "*.rs", "sub").await.concat().contains("no files match"));
    std::fs::create_dir(stage.at(".git")).unwrap();
    assert_eq!(found(&stage, "*.rs", "sub").await, ["sub/b.rs"]);
    assert_eq!(found(&stage, "*.rs", ".").await, ["a.rs", "sub/b.rs"]);
}

#[tokio::test]
async fn a_linked_work_tree_has_the_excludes_of_its_repository() {
    let stage = Stage::with(&[
        ("main/.git/info/exclude", "secret\n"),
        ("main/.git/worktrees/one/commondir", "../..\n"),
        ("one/.git", "gitdir: ../main/.git/worktrees/one\n"),
        ("one/secret", ""),
        ("one/open", ""),
    ]);
    assert_eq!(found(&stage, "*", "one").await, ["one/open"]);
}

#[tokio::test]
async fn only_small_regular_files_are_obeyed_and_nothing_else_is_opened() {
    let stage = Stage::with(&[("a.txt", "needle"), ("b.txt", "needle")]);
    let notice = |count: usize| format!("[{count} ignore files not obeyed: too large or no regular file]");
    for name in [".gitignore", ".ignore", "sub/.gitignore", ".git/info/exclude"] {
        let path = stage.put(name, "");
        let check = async |what: &str| {
            let shown = stage.done("grep", json!({"pattern": "needle"})).await;
            let expected = format!("a.txt\n1:needle\n\nb.txt\n1:needle\n{}", notice(1));
            assert_eq!(shown, expected, "{name} {what}");
            let shown = stage.done("glob", json!({"pattern": "?.txt"})).await;
            assert!(shown.ends_with(&notice(1)) && shown.lines().count() == 3, "{name} {what}: {shown}");
            if path.is_dir() {
                std::fs::remove_dir(&path).unwrap();
            } else {
                std::fs::remove_file(&path).unwrap();
            }
        };
        std::fs::write(&path, "a.txt\n".repeat(10_001)).unwrap();
        check("with too many lines").await;
        std::fs::write(&path, format!("a.txt\n#{}\n", "x".repeat(1024 * 1024))).unwrap();
        check("too large").await;
        std::fs::create_dir(&path).unwrap();
        check("a directory").await;
        make_fifo(&path);
        check("a pipe").await;
        symlink("/dev/zero", &path).unwrap();
        check("a link to a device").await;
    }
    stage.put(".gitignore", format!("{}\na.txt\n", "x".repeat(5000)));
    assert_eq!(stage.done("grep", json!({"pattern": "needle"})).await, "b.txt\n1:needle\n");
}

#[tokio::test]
async fn a_repository_that_is_no_directory_does_not_block() {
    let stage = Stage::with(&[("sub/a.txt", "")]);
    make_fifo(&stage.at("sub/.git"));
    symlink("/dev/zero", stage.at(".git")).unwrap();
    let notice = "[2 ignore files not obeyed: too large or no regular file]";
    assert_eq!(found(&stage, "*.txt", ".").await, [notice, "sub/a.txt"]);
}
