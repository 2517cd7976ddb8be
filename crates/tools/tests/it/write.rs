//! `write`.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use rein_protocol::{Block, CallStatus, Effect};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{Stage, make_fifo};

#[tokio::test]
async fn a_new_file_is_made_with_its_directories() {
    let stage = Stage::new();
    let arguments = json!({"path": "a/b/new.txt", "content": "one\ntwo\n"});
    let intent = stage.intent("write", arguments.clone()).await;
    assert_eq!(intent.effects, [Effect::Write { path: stage.at("a/b/new.txt") }]);
    assert!(!stage.at("a").exists(), "a plan does nothing");
    let called = stage.call("write", arguments).await;
    assert_eq!((called.status, called.text.as_str()), (CallStatus::Completed, "Created a/b/new.txt."));
    assert_eq!(stage.get("a/b/new.txt"), b"one\ntwo\n");
    assert_eq!(called.display.summary.as_deref(), Some("+2 -0"));
    assert_eq!(
        called.display.blocks,
        [Block::Diff {
            path: "a/b/new.txt".into(),
            unified: "@@ -0,0 +1,2 @@\n+one\n+two\n".into(),
            added: 2,
            removed: 0
        }]
    );
}

#[tokio::test]
async fn what_was_just_written_is_known() {
    let stage = Stage::new();
    stage.done("write", json!({"path": "a.txt", "content": "one"})).await;
    stage.done("write", json!({"path": "a.txt", "content": "two"})).await;
    stage.done("edit", json!({"path": "a.txt", "old": "two", "new": "three"})).await;
    let told = stage.done("write", json!({"path": "a.txt", "content": "three"})).await;
    assert_eq!(told, "a.txt already had this content.");
}

#[tokio::test]
async fn an_existing_file_must_have_been_read_as_it_is() {
    let stage = Stage::with(&[("a.txt", "old"), ("empty", "")]);
    let arguments = json!({"path": "a.txt", "content": "new"});
    assert_eq!(
        stage.complaint("write", arguments.clone()).await,
        "a.txt exists and has not been read in this conversation. Read it first, then change it."
    );
    stage.read("a.txt").await;
    stage.put("a.txt", "OLD");
    assert_eq!(
        stage.complaint("write", arguments.clone()).await,
        "a.txt was not changed, because it has changed on disk since it was read:\n@@ -1,1 +1,1 @@\n-old\n+OLD\nTake that into account and call again."
    );
    stage.read("a.txt").await;
    assert_eq!(stage.done("write", arguments).await, "Replaced a.txt.");
    assert_eq!(stage.get("a.txt"), b"new");
    stage.done("write", json!({"path": "empty", "content": "nothing was lost"})).await;
}

#[tokio::test]
async fn a_change_between_plan_and_run_is_not_overwritten() {
    let stage = Stage::with(&[("a.txt", "old")]);
    stage.read("a.txt").await;
    let plan = stage.plan("write", json!({"path": "a.txt", "content": "new"})).await.unwrap();
    stage.put("a.txt", "somebody else's");
    let called = stage.run(plan, &CancellationToken::new()).await;
    assert_eq!(called.status, CallStatus::Failed);
    assert_eq!(
        called.text,
        "Nothing was done: a.txt changed while the call waited. Read it again, then change it."
    );
    assert_eq!(stage.get("a.txt"), b"somebody else's");

    let plan = stage.plan("write", json!({"path": "b.txt", "content": "new"})).await.unwrap();
    stage.put("b.txt", "somebody else's");
    assert_eq!(stage.run(plan, &CancellationToken::new()).await.status, CallStatus::Failed);
    assert_eq!(stage.get("b.txt"), b"somebody else's");
}

#[tokio::test]
async fn mode_line_ends_and_encoding_are_kept() {
    let stage = Stage::new();
    let script = stage.put("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o750)).unwrap();
    stage.put("crlf.txt", "a\r\nb\r\n");
    stage.put("bom.cs", "\u{feff}using A;\r\n");
    let utf16: Vec<u8> = "\u{feff}é\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    stage.put("utf16.txt", utf16);
    for name in ["run.sh", "crlf.txt", "bom.cs", "utf16.txt"] {
        stage.read(name).await;
        stage.done("write", json!({"path": name, "content": "x\ny\n"})).await;
    }
    assert_eq!(std::fs::metadata(&script).unwrap().mode() & 0o7777, 0o750);
    assert_eq!(stage.get("run.sh"), b"x\ny\n");
    assert_eq!(stage.get("crlf.txt"), b"x\r\ny\r\n");
    assert_eq!(stage.get("bom.cs"), "\u{feff}x\r\ny\r\n".as_bytes());
    let expected: Vec<u8> = "\u{feff}x\r\ny\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(stage.get("utf16.txt"), expected);
    // What has CRLF itself is taken as it is, and a new file too.
    stage.done("write", json!({"path": "crlf.txt", "content": "x\r\ny\n"})).await;
    assert_eq!(stage.get("crlf.txt"), b"x\r\ny\n");
    stage.done("write", json!({"path": "new.txt", "content": "x\r\n\0"})).await;
    assert_eq!(stage.get("new.txt"), b"x\r\n\0");
}

#[tokio::test]
async fn a_link_stays_and_its_target_is_written() {
    let stage = Stage::with(&[("real.txt", "old")]);
    symlink("real.txt", stage.at("link")).unwrap();
    symlink("later/new.txt", stage.at("dangling")).unwrap();
    stage.read("link").await;
    let intent = stage.intent("write", json!({"path": "link", "content": "new"})).await;
    assert_eq!(intent.effects, [Effect::Write { path: stage.at("real.txt") }]);
    stage.done("write", json!({"path": "link", "content": "new"})).await;
    stage.done("write", json!({"path": "dangling", "content": "made"})).await;
    assert_eq!(stage.get("real.txt"), b"new");
    assert_eq!(stage.get("later/new.txt"), b"made");
    assert!(stage.at("link").is_symlink() && stage.at("dangling").is_symlink());
}

#[tokio::test]
async fn what_is_no_file_is_refused() {
    let stage = Stage::new();
    std::fs::create_dir(stage.at("directory")).unwrap();
    make_fifo(&stage.at("fifo"));
    let refused = async |path: &str| stage.complaint("write", json!({"path": path, "content": ""})).await;
    assert_eq!(refused("directory").await, "directory is a directory. Name a file in it.");
    assert_eq!(refused("new/").await, "new/ is the path of a directory. Name a file.");
    assert_eq!(refused("fifo").await, "fifo is a named pipe, which cannot be changed. Name a file.");
    assert!(refused("").await.contains("empty"));
    stage.put("file", "");
    let message = stage.failed("write", json!({"path": "file/below", "content": ""})).await;
    assert!(message.starts_with("file/below could not be written: "), "{message}");
}

#[tokio::test]
async fn a_cancelled_call_writes_nothing() {
    let stage = Stage::new();
    let cancel = CancellationToken::new();
    let plan = stage.plan("write", json!({"path": "a.txt", "content": "new"})).await.unwrap();
    cancel.cancel();
    assert_eq!(stage.run(plan, &cancel).await.status, CallStatus::Interrupted);
    assert!(!stage.at("a.txt").exists());
}
