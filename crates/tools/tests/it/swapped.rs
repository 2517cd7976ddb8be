//! A path that leads elsewhere after the call was judged.

use std::os::unix::fs::symlink;

use rein_protocol::CallStatus;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::Stage;

/// Plans, puts a link in place of `directory`, and runs.
async fn swapped(stage: &Stage, tool: &str, arguments: Value) -> String {
    let plan = stage.plan(tool, arguments).await.map_err(|complaint| complaint.0).unwrap();
    let elsewhere = stage.root.parent().unwrap().join("elsewhere");
    std::fs::rename(stage.at("directory"), stage.at("moved")).unwrap();
    symlink(&elsewhere, stage.at("directory")).unwrap();
    let called = stage.run(plan, &CancellationToken::new()).await;
    assert_eq!(called.status, CallStatus::Failed, "{tool}: {}", called.text);
    assert_eq!(std::fs::read(elsewhere.join("file")).unwrap(), b"precious secret", "{tool}");
    std::fs::remove_file(stage.at("directory")).unwrap();
    std::fs::rename(stage.at("moved"), stage.at("directory")).unwrap();
    called.text
}

#[tokio::test]
async fn no_tool_follows_a_link_that_appeared_after_the_plan() {
    let stage = Stage::with(&[("directory/file", "precious nothing")]);
    let elsewhere = stage.root.parent().unwrap().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("file"), "precious secret").unwrap();
    stage.read("directory/file").await;
    for (tool, arguments) in [
        ("read", json!({"path": "directory/file"})),
        ("write", json!({"path": "directory/file", "content": "x"})),
        ("write", json!({"path": "directory/new", "content": "x"})),
        ("edit", json!({"path": "directory/file", "old": "nothing", "new": "something"})),
        ("glob", json!({"pattern": "*", "path": "directory"})),
        ("grep", json!({"pattern": "precious", "path": "directory"})),
    ] {
        let message = swapped(&stage, tool, arguments).await;
        assert!(
            message.starts_with("Nothing was done: ") && !message.contains("secret"),
            "{tool}: {message}"
        );
    }
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
}
