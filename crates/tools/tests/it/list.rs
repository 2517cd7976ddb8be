//! `list`.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rein_protocol::{CallStatus, Effect};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Stage;

#[tokio::test]
async fn a_directory_is_a_tree_with_what_is_deeper_counted() {
    let stage = Stage::with(&[
        ("src/main.rs", ""),
        ("src/deep/a.rs", ""),
        ("src/deep/b.rs", ""),
        ("README.md", ""),
        (".github/ci.yml", ""),
        (".git/HEAD", ""),
        (".gitignore", "target/\n*.log\n"),
        ("target/debug/x", ""),
        ("a.log", ""),
    ]);
    stage.put("large.bin", vec![0; 150_000]);
    std::os::unix::fs::symlink("src/main.rs", stage.at("link")).unwrap();
    let expected = ".git/\n.github/ (1)\n.gitignore\nREADME.md\nlarge.bin (150 kB)\nlink -> src/main.rs\n\
                    src/\n  deep/ (2)\n  main.rs\ntarget/ [ignored]\n[1 ignored files left out]";
    assert_eq!(stage.done("list", json!({})).await, expected);
    assert_eq!(
        stage.intent("list", json!({"path": "src"})).await.effects,
        [Effect::Read { path: stage.at("src") }]
    );
    let deep = stage.done("list", json!({"path": "src", "depth": 3})).await;
    assert_eq!(deep, "deep/\n  a.rs\n  b.rs\nmain.rs\n");
    assert_eq!(stage.done("list", json!({"path": "src", "depth": 1})).await, "deep/ (2)\nmain.rs\n");
    assert_eq!(stage.done("list", json!({"path": "target"})).await, "debug/\n  x\n");
}

#[tokio::test]
async fn the_newest_come_first_when_that_is_asked_for() {
    let stage = Stage::with(&[("a", ""), ("b", ""), ("c", "")]);
    for (name, hours) in [("a", 30), ("b", 5), ("c", 20)] {
        let time = SystemTime::now() - Duration::from_secs(hours * 3_600 + 60);
        std::fs::File::options().write(true).open(stage.at(name)).unwrap().set_modified(time).unwrap();
    }
    let shown = stage.done("list", json!({"newest": true})).await;
    assert_eq!(shown, "b 5 h ago\nc 20 h ago\na 30 h ago\n");
}

#[tokio::test]
async fn a_large_directory_does_not_hide_its_neighbours() {
    let stage = Stage::new();
    for number in 0..500 {
        stage.put(&format!("many/f{number:03}"), "");
    }
    stage.put("zoo/lion", "");
    let shown = stage.done("list", json!({})).await;
    assert!(shown.starts_with("many/\n  f000\n  f001\n"), "{shown}");
    assert!(shown.contains("\n  f039\n  … 460 more\nzoo/\n  lion\n"), "{shown}");
    assert!(shown.ends_with("[460 entries not shown: 460 in many/; list those or use glob]"), "{shown}");
    let shown = stage.done("list", json!({"path": "many"})).await;
    assert_eq!(shown.lines().count(), 202);
    assert!(
        shown.ends_with("… 300 more\n[300 entries not shown: 300 in this directory; list those or use glob]")
    );
}

#[tokio::test]
async fn what_may_not_be_read_is_left_out_and_mistakes_are_explained() {
    let mut stage = Stage::with(&[("a.txt", ""), ("key.pem", ""), ("empty/.keep", "")]);
    std::fs::remove_file(stage.at("empty/.keep")).unwrap();
    stage.scene.may_read = Arc::new(|path: &Path| path.extension().is_none_or(|end| end != "pem"));
    assert_eq!(stage.done("list", json!({})).await, "a.txt\nempty/\n[1 files left out: not permitted]");
    assert_eq!(stage.done("list", json!({"path": "empty"})).await, "[empty directory]");
    assert_eq!(
        stage.failed("list", json!({"path": "a.txt"})).await,
        "a.txt is a file. Use read to see what is in it."
    );
    assert_eq!(
        stage.failed("list", json!({"path": "emtpy"})).await,
        "emtpy does not exist. Did you mean empty?"
    );
    let cancel = CancellationToken::new();
    cancel.cancel();
    let plan = stage.plan("list", json!({})).await.unwrap();
    assert_eq!(stage.run(plan, &cancel).await.status, CallStatus::Interrupted);
}
