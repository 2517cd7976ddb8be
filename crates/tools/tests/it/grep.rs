//! `grep`.

use rein_protocol::{CallStatus, Effect};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{Stage, make_fifo};

#[tokio::test]
async fn matches_are_grouped_by_file_in_the_order_of_paths() {
    let stage = Stage::with(&[
        ("src/b.rs", "let x = 1;\nlet y = 2;\n"),
        ("src/a.rs", "// none\nlet z = 3;"),
        ("notes.md", "let it be\n"),
    ]);
    let shown = stage.done("grep", json!({"pattern": "^let \\w"})).await;
    assert_eq!(
        shown,
        "notes.md\n1:let it be\n\nsrc/a.rs\n2:let z = 3;\n\nsrc/b.rs\n1:let x = 1;\n2:let y = 2;\n"
    );
    let called = stage.call("grep", json!({"pattern": "let", "glob": "*.rs", "path": "src"})).await;
    assert_eq!(called.text, "src/a.rs\n2:let z = 3;\n\nsrc/b.rs\n1:let x = 1;\n2:let y = 2;\n");
    assert_eq!(called.display.summary.as_deref(), Some("3 matches in 2 files"));
    let intent = stage.intent("grep", json!({"pattern": "let", "path": "src/a.rs"})).await;
    assert_eq!(intent.effects, [Effect::Read { path: stage.at("src/a.rs") }]);
    assert_eq!(
        stage.done("grep", json!({"pattern": "let", "path": "src/a.rs"})).await,
        "src/a.rs\n2:let z = 3;\n"
    );
}

#[tokio::test]
async fn options_do_what_they_say() {
    let stage = Stage::with(&[("a.txt", "1\n2\nA+B\n4\n5\n6\na+b\n8\n")]);
    let shown = async |arguments: serde_json::Value| stage.done("grep", arguments).await;
    assert_eq!(shown(json!({"pattern": "a+b", "literal": true})).await, "a.txt\n7:a+b\n");
    assert_eq!(
        shown(json!({"pattern": "a\\+b", "case_insensitive": true, "context": 1})).await,
        "a.txt\n2-2\n3:A+B\n4-4\n--\n6-6\n7:a+b\n8-8\n"
    );
    assert_eq!(shown(json!({"pattern": "2\\nA"})).await, "a.txt\n2:2\n3:A+B\n");
    assert_eq!(
        shown(json!({"pattern": "zzz"})).await,
        "[no matches; files that git ignores are not searched]"
    );
    // Names that other programs have for the same.
    assert_eq!(shown(json!({"query": "A", "-i": false, "include": "*.txt"})).await, "a.txt\n3:A+B\n");
}

#[tokio::test]
async fn files_and_counts_can_be_asked_for() {
    let stage = Stage::with(&[
        ("src/a.rs", "needle\n"),
        ("src/b.rs", "needle needle\nneedle\n"),
        ("notes.md", "needle\n"),
        (".ci/x.rs", "needle\n"),
    ]);
    let shown = async |arguments: serde_json::Value| stage.done("grep", arguments).await;
    assert_eq!(shown(json!({"pattern": "needle", "mode": "files"})).await, "notes.md\nsrc/a.rs\nsrc/b.rs\n");
    assert_eq!(
        shown(json!({"pattern": "needle", "mode": "counts"})).await,
        "src/b.rs: 2\nnotes.md: 1\nsrc/a.rs: 1\n"
    );
    assert_eq!(
        shown(json!({"pattern": "needle", "output_mode": "files_with_matches", "type": "rust"})).await,
        "src/a.rs\nsrc/b.rs\n"
    );
    assert_eq!(
        shown(json!({"pattern": "needle", "mode": "files", "type": "rs", "hidden": true})).await,
        ".ci/x.rs\nsrc/a.rs\nsrc/b.rs\n"
    );
    assert_eq!(shown(json!({"pattern": "needle", "mode": "files", "glob": ".ci/*"})).await, ".ci/x.rs\n");
    let old = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::options().write(true).open(stage.at("notes.md")).unwrap().set_modified(old).unwrap();
    let newest = shown(json!({"pattern": "needle", "mode": "files", "newest": true})).await;
    assert!(newest.ends_with("\nnotes.md\n"), "{newest}");
    let called = stage.call("grep", json!({"pattern": "needle", "mode": "files"})).await;
    assert_eq!(called.display.summary.as_deref(), Some("3 files"));
}

#[tokio::test]
async fn a_match_may_span_lines() {
    let stage = Stage::with(&[("a.rs", "fn one(\n    x: u8,\n) {}\nfn two() {}\n")]);
    assert_eq!(
        stage.done("grep", json!({"pattern": r"fn \w+\(.*?\) \{", "multiline": true})).await,
        "a.rs\n1:fn one(\n2:    x: u8,\n3:) {}\n4:fn two() {}\n"
    );
    assert_eq!(stage.done("grep", json!({"pattern": r"fn \w+\(.*?\) \{"})).await, "a.rs\n4:fn two() {}\n");
}

#[tokio::test]
async fn the_directories_with_most_matches_are_named_when_there_are_too_many() {
    let stage = Stage::new();
    for number in 0..40 {
        stage.put(&format!("src/{number}.txt"), "needle\n".repeat(3));
        stage.put(&format!("tests/{number}.txt"), "needle\n");
    }
    let shown = stage.done("grep", json!({"pattern": "needle"})).await;
    assert!(
        shown.ends_with(
            "[100 of 160 matches in 80 files; narrow pattern, path or glob to see the others; most in src (120), tests (40)]"
        ),
        "{shown}"
    );
    for number in 40..130 {
        stage.put(&format!("tests/{number}.txt"), "needle\n");
    }
    let shown = stage.done("grep", json!({"pattern": "needle", "mode": "files", "path": "tests"})).await;
    assert_eq!(shown.matches(".txt\n").count(), 100);
    assert!(shown.starts_with("tests/\n  0.txt\n"), "{shown}");
    assert!(shown.ends_with("[100 of 130 files; narrow pattern, path or glob to see the others]"), "{shown}");
}

#[tokio::test]
async fn too_many_matches_are_counted_and_the_first_shown() {
    let stage = Stage::new();
    for number in 0..30 {
        stage.put(&format!("{number:02}.txt"), "needle\n".repeat(10));
    }
    for _ in 0..3 {
        let shown = stage.done("grep", json!({"pattern": "needle"})).await;
        assert_eq!(shown.matches("needle").count(), 100);
        assert!(
            shown.starts_with("00.txt\n1:needle\n")
                && shown.contains("\n09.txt\n")
                && !shown.contains("10.txt")
        );
        assert!(
            shown.ends_with(
                "[100 of 300 matches in 30 files; narrow pattern, path or glob to see the others]"
            ),
            "{shown}"
        );
    }
    stage.put("00.txt", "needle\n".repeat(1_000));
    let shown = stage.done("grep", json!({"pattern": "needle"})).await;
    assert!(shown.contains("\n100:needle\n[100 of 1290 matches"), "{shown}");
}

#[tokio::test]
async fn long_lines_are_shown_around_the_match() {
    let stage =
        Stage::with(&[("min.js", &format!("{}needle{}\n", "a".repeat(100_000), "b".repeat(100_000)))]);
    let shown = stage.done("grep", json!({"pattern": "needle"})).await;
    assert_eq!(shown, format!("min.js\n1:…{}needle{}…\n", "a".repeat(200), "b".repeat(562)));
}

#[tokio::test]
async fn what_is_ignored_binary_or_no_file_is_left_out() {
    let stage = Stage::with(&[("a.txt", "needle"), ("target/b.txt", "needle"), (".gitignore", "target/")]);
    stage.put("c.bin", b"needle\n\0\0");
    stage.put("late.bin", format!("needle\n{}\0", "text\n".repeat(50_000)));
    stage.put("latin1.txt", b"caf\xe9 needle\n");
    let utf16: Vec<u8> = "\u{feff}needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    stage.put("utf16.txt", utf16);
    make_fifo(&stage.at("fifo"));
    std::os::unix::fs::symlink("a.txt", stage.at("link")).unwrap();
    let shown = stage.done("grep", json!({"pattern": "needle"})).await;
    assert_eq!(
        shown,
        "a.txt\n1:needle\n\nlatin1.txt\n1:caf\u{FFFD} needle\n\nutf16.txt\n1:needle\n\
         [matches in 1 binary files not shown]"
    );
    assert_eq!(
        stage.done("grep", json!({"pattern": "nothing like it"})).await,
        "[no matches; files that git ignores and 1 hidden entries are not searched; \
         hidden: true searches the latter; 2 binary files not searched]"
    );
    let shown = stage.done("grep", json!({"pattern": "needle", "path": "target"})).await;
    assert_eq!(shown, "target/b.txt\n1:needle\n");
}

#[tokio::test]
async fn an_artifact_is_searched_whatever_it_is() {
    let stage = Stage::new();
    let id = stage.keep(b"one\n\0two needle\n");
    let arguments = json!({"pattern": "needle", "path": format!("artifact:{id}")});
    assert_eq!(stage.intent("grep", arguments.clone()).await.effects, []);
    assert_eq!(stage.done("grep", arguments).await, format!("artifact:{id}\n2:\0two needle\n"));
}

#[tokio::test]
async fn mistakes_are_explained() {
    let stage = Stage::with(&[("src/a.rs", "")]);
    let complaint = stage.complaint("grep", json!({"pattern": "foo("})).await;
    assert!(complaint.starts_with("`pattern` is not a valid regular expression: "), "{complaint}");
    assert!(complaint.ends_with("It looks like plain text: call again with literal: true."), "{complaint}");
    assert_eq!(
        stage.complaint("grep", json!({"pattern": "x", "type": "haskel"})).await,
        "`type`: there is no type \"haskel\". Did you mean haskell? Or use glob, like *.haskel."
    );
    assert!(stage.complaint("grep", json!({"pattern": ""})).await.contains("empty"));
    assert_eq!(
        stage.complaint("grep", json!({"pattern": "x{1000000}y"})).await,
        "`pattern` needs more than 2097152 bytes when compiled, which is the limit. \
         Use smaller counts in {}, or a shorter pattern."
    );
    make_fifo(&stage.at("fifo"));
    assert_eq!(
        stage.failed("grep", json!({"pattern": "x", "path": "fifo"})).await,
        "fifo is a named pipe. Only files and directories can be searched."
    );
    assert_eq!(
        stage.failed("grep", json!({"pattern": "x", "path": "scr"})).await,
        "scr does not exist. Did you mean src?"
    );
}

#[tokio::test]
async fn it_can_be_interrupted() {
    let stage = Stage::with(&[("a.txt", "needle")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let plan = stage.plan("grep", json!({"pattern": "needle"})).await.unwrap();
    let called = stage.run(plan, &cancel).await;
    assert_eq!((called.status, called.text.as_str()), (CallStatus::Interrupted, "[interrupted by the user]"));
}
