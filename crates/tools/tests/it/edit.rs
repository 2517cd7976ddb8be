//! `edit`.

use rein_protocol::{Block, CallStatus, Effect};
use serde_json::json;

use crate::Stage;

async fn refused(stage: &Stage, old: &str, new: &str) -> String {
    let complaint = stage.complaint("edit", json!({"path": "a.txt", "old": old, "new": new})).await;
    complaint.strip_prefix("a.txt was not changed: ").unwrap_or(&complaint).to_owned()
}

#[tokio::test]
async fn the_only_occurrence_is_replaced() {
    let stage = Stage::with(&[("a.txt", "one\ntwo\nthree\n")]);
    stage.read("a.txt").await;
    let arguments = json!({"path": "a.txt", "old": "two\n", "new": "2\n2.5\n"});
    let intent = stage.intent("edit", arguments.clone()).await;
    assert_eq!(intent.effects, [Effect::Write { path: stage.at("a.txt") }]);
    assert_eq!(
        intent.display.blocks,
        [Block::Diff {
            path: "a.txt".into(),
            unified: "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n".into(),
            added: 2,
            removed: 1
        }]
    );
    let called = stage.call("edit", arguments).await;
    assert_eq!((called.status, called.text.as_str()), (CallStatus::Completed, "Edited a.txt at line 2."));
    assert_eq!(stage.get("a.txt"), b"one\n2\n2.5\nthree\n");
}

#[tokio::test]
async fn other_names_of_the_fields_are_understood() {
    let stage = Stage::with(&[("a.txt", "a a")]);
    stage.read("a.txt").await;
    let arguments = json!({"filePath": "a.txt", "oldString": "a", "newString": "b", "replaceAll": "true"});
    assert_eq!(stage.done("edit", arguments).await, "Edited a.txt at 2 places.");
    assert_eq!(stage.get("a.txt"), b"b b");
}

#[tokio::test]
async fn what_is_not_clear_is_refused_with_help() {
    let stage = Stage::with(&[("a.txt", "fn a() {\n    work();\n}\nfn b() {\n    work();\n}\n")]);
    assert_eq!(
        refused(&stage, "work", "play").await,
        "a.txt exists and has not been read in this conversation. Read it first, then change it."
    );
    stage.read("a.txt").await;
    assert_eq!(
        refused(&stage, "work();", "play();").await,
        "`old` occurs 2 times, at lines 2, 5. Add lines around it until it occurs once, or set replace_all."
    );
    assert_eq!(
        refused(&stage, "fn c() {\n    work();", "").await,
        "`old` does not occur in it. The nearest lines are:\n1|fn a() {\n2|    work();\nRead them and copy them exactly."
    );
    assert!(refused(&stage, "4|fn b() {", "").await.contains("line numbers"));
    assert_eq!(refused(&stage, "work", "work").await, "`old` and `new` are the same. Nothing would change.");
    assert!(refused(&stage, "", "x").await.starts_with("`old` is empty, but the file is not."));
    stage.put("a.txt", "something else");
    assert!(refused(&stage, "work", "play").await.contains("changed on disk since it was read"));
    assert_eq!(stage.get("a.txt"), b"something else");
}

#[tokio::test]
async fn an_empty_old_makes_a_file_that_is_not_there_or_empty() {
    let stage = Stage::with(&[("empty", "")]);
    assert_eq!(stage.done("edit", json!({"path": "d/new", "old": "", "new": "x"})).await, "Created d/new.");
    assert_eq!(stage.get("d/new"), b"x");
    stage.done("edit", json!({"path": "empty", "old": "", "new": "y"})).await;
    assert_eq!(stage.get("empty"), b"y");
}

#[tokio::test]
async fn a_missing_file_gets_the_nearest_names_only_inside_the_workspace() {
    let stage = Stage::with(&[("main.rs", "")]);
    std::fs::write(stage.root.parent().unwrap().join("secret.txt"), "").unwrap();
    let complaint =
        async |path: &str| stage.complaint("edit", json!({"path": path, "old": "a", "new": "b"})).await;
    assert_eq!(
        complaint("mian.rs").await,
        "mian.rs does not exist. Did you mean main.rs? To create a file, use write."
    );
    let outside = complaint("../secrt.txt").await;
    assert!(outside.ends_with("secrt.txt does not exist. To create a file, use write."), "{outside}");
}

#[tokio::test]
async fn line_ends_and_encodings_are_kept() {
    let stage = Stage::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    stage.put("crlf", "a\r\nb\r\nc\r\n");
    stage.put("bom", "\u{feff}a\nb\n");
    stage.put("utf16", utf16("\u{feff}a\nb\n"));
    stage.put("latin1", b"a\nb\ncaf\xe9\n");
    for name in ["crlf", "bom", "utf16", "latin1"] {
        stage.read(name).await;
        stage.done("edit", json!({"path": name, "old": "a\nb", "new": "x\ny\nz"})).await;
    }
    assert_eq!(stage.get("crlf"), b"x\r\ny\r\nz\r\nc\r\n");
    assert_eq!(stage.get("bom"), "\u{feff}x\ny\nz\n".as_bytes());
    assert_eq!(stage.get("utf16"), utf16("\u{feff}x\ny\nz\n"));
    assert_eq!(stage.get("latin1"), b"x\ny\nz\ncaf\xe9\n");
    stage.done("edit", json!({"path": "latin1", "old": "café", "new": "thé"})).await;
    assert_eq!(stage.get("latin1"), b"x\ny\nz\nth\xe9\n");
}

#[tokio::test]
async fn a_large_file_is_edited() {
    let line = "0123456789 some line that is like all the others\n";
    let text = format!("{}needle\n{}", line.repeat(100_000), line.repeat(100_000));
    assert!(text.len() > 9_000_000);
    let stage = Stage::with(&[("a.txt", &text)]);
    stage.read("a.txt").await;
    let told = stage.done("edit", json!({"path": "a.txt", "old": "needle", "new": "thread"})).await;
    assert_eq!(told, "Edited a.txt at line 100001.");
    assert_eq!(stage.get("a.txt"), text.replace("needle", "thread").as_bytes());
    let complaint =
        stage.complaint("edit", json!({"path": "a.txt", "old": "nothing like that", "new": ""})).await;
    assert!(complaint.contains("does not occur"), "{complaint}");
}

#[tokio::test]
async fn a_loose_match_is_made_and_said() {
    let stage = Stage::with(&[("a.rs", "fn a() {\n    if b {\n        c();\n    }\n}\n")]);
    stage.read("a.rs").await;
    let arguments =
        json!({"path": "a.rs", "old": "if b {\n    c();\n}", "new": "if b {\n    d();\n    e();\n}"});
    assert_eq!(
        stage.done("edit", arguments).await,
        "Edited a.rs at line 2. Line 2 was matched ignoring indentation; check it."
    );
    assert_eq!(stage.get("a.rs"), b"fn a() {\n    if b {\n        d();\n        e();\n    }\n}\n");
}

#[tokio::test]
async fn several_edits_are_made_together_or_not_at_all() {
    let stage = Stage::with(&[("a.txt", "one\ntwo\nthree\n")]);
    stage.read("a.txt").await;
    let edits = json!([{"old": "one", "new": "1"}, {"oldText": "1\ntwo", "newText": "1\n2"}]);
    let told = stage.done("edit", json!({"path": "a.txt", "edits": edits})).await;
    assert_eq!(told, "Edited a.txt at 2 places.");
    assert_eq!(stage.get("a.txt"), b"1\n2\nthree\n");
    let edits = json!([{"old": "1", "new": "one"}, {"old": "four", "new": "4"}]);
    let complaint = stage.complaint("edit", json!({"path": "a.txt", "edits": edits})).await;
    assert!(complaint.starts_with("a.txt was not changed: edit 2 of 2: `old` does not occur"), "{complaint}");
    let edits = json!([{"old": "1", "new": "one"}, {"old": "one", "new": "1"}]);
    let complaint = stage.complaint("edit", json!({"path": "a.txt", "edits": edits})).await;
    assert_eq!(complaint, "a.txt was not changed: the edits undo each other. Nothing would change.");
    assert_eq!(stage.get("a.txt"), b"1\n2\nthree\n");
    // As a text, and with the fields of a single edit left empty.
    let edits = "[{\"old\": \"three\", \"new\": \"3\"}]";
    stage.done("edit", json!({"path": "a.txt", "edits": edits, "old": "", "new": ""})).await;
    assert_eq!(stage.get("a.txt"), b"1\n2\n3\n");
}

#[tokio::test]
async fn what_stands_for_something_left_out_is_refused() {
    let stage = Stage::with(&[("a.rs", "fn a() {\n    b();\n    c();\n}\n// ... rest unchanged\n")]);
    stage.read("a.rs").await;
    let edit = |new: &str| json!({"path": "a.rs", "old": "    b();\n    c();", "new": new});
    let complaint = stage.complaint("edit", edit("    d();\n    // ... existing code ...")).await;
    assert!(
        complaint.contains("line 2 of the new text, \"// ... existing code ...\", stands for"),
        "{complaint}"
    );
    stage.done("edit", edit("    d();\n    // ... rest unchanged")).await;
}

#[tokio::test]
async fn what_changed_since_it_was_seen_is_shown() {
    let stage = Stage::new();
    stage.done("write", json!({"path": "a.txt", "content": "one\ntwo\nthree\n"})).await;
    stage.put("a.txt", "one\n2\nthree\n");
    let arguments = json!({"path": "a.txt", "old": "three", "new": "3"});
    assert_eq!(
        stage.complaint("edit", arguments.clone()).await,
        "a.txt was not changed, because it has changed on disk since it was read:\n\
         @@ -1,3 +1,3 @@\n one\n-two\n+2\n three\nTake that into account and call again."
    );
    assert_eq!(stage.get("a.txt"), b"one\n2\nthree\n");
    stage.done("edit", arguments).await;
    assert_eq!(stage.get("a.txt"), b"one\n2\n3\n");
}

#[tokio::test]
async fn what_changed_is_not_shown_of_a_file_that_may_not_be_read_by_now() {
    let mut stage = Stage::new();
    stage.done("write", json!({"path": "a.txt", "content": "one\n"})).await;
    stage.put("a.txt", "secret\n");
    stage.scene.may_read = std::sync::Arc::new(|_| false);
    let complaint = stage.complaint("edit", json!({"path": "a.txt", "old": "one", "new": "1"})).await;
    assert_eq!(complaint, "a.txt has changed on disk since it was read. Read it again, then change it.");
}

#[tokio::test]
async fn files_that_programs_write_come_with_a_note() {
    let generated = "// Code generated by x. DO NOT EDIT.\nv\n";
    let stage = Stage::with(&[("Cargo.lock", "version = 4\n"), ("a.go", generated)]);
    for (path, old) in [("Cargo.lock", "4"), ("a.go", "v\n")] {
        stage.read(path).await;
        let told = stage.done("edit", json!({"path": path, "old": old, "new": "5"})).await;
        assert!(told.contains(&format!("\nNote: {path} ")), "{told}");
    }
}

#[tokio::test]
async fn modes_links_and_the_end_of_the_file_are_kept() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let stage = Stage::with(&[("run.sh", "#!/bin/sh\necho one"), ("hard", "one\n"), ("real", "one\n")]);
    std::fs::set_permissions(stage.at("run.sh"), PermissionsExt::from_mode(0o751)).unwrap();
    std::fs::hard_link(stage.at("hard"), stage.at("other")).unwrap();
    symlink("real", stage.at("link")).unwrap();
    for name in ["run.sh", "hard", "link"] {
        stage.read(name).await;
        stage.done("edit", json!({"path": name, "edits": [{"old": "one", "new": "two"}]})).await;
    }
    assert_eq!(stage.get("run.sh"), b"#!/bin/sh\necho two");
    assert_eq!(std::fs::metadata(stage.at("run.sh")).unwrap().mode() & 0o7777, 0o751);
    assert_eq!(stage.get("other"), b"two\n");
    assert_eq!(stage.get("real"), b"two\n");
    assert!(stage.at("link").is_symlink());
}
