//! Instruction files that come with what is read below them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use rein_protocol::Effect;
use rein_tools::Instructions;
use serde_json::json;

use crate::Stage;

fn told(name: &str, text: &str) -> String {
    format!(
        "The project's instructions for this directory and what is below it:\n\
         <instructions from=\"{name}\">\n{text}\n</instructions>\n"
    )
}

#[tokio::test]
async fn they_are_attached_once_from_the_outermost_to_the_innermost() {
    let stage = Stage::with(&[
        ("AGENTS.md", "root: not ours"),
        ("a/AGENTS.md", "be kind\n"),
        ("a/b/CLAUDE.md", "be brief"),
        ("a/b/CONTEXT.md", "passed over"),
        ("a/b/x.txt", "x\n"),
        ("a/b/y.txt", "y\n"),
        ("a/z.txt", "z\n"),
        ("top.txt", "t\n"),
    ]);
    assert_eq!(stage.read("top.txt").await, "1|t\n");
    let intent = stage.intent("read", json!({"path": "a/b/x.txt"})).await;
    let read = |name: &str| Effect::Read { path: stage.at(name) };
    assert_eq!(intent.effects, [read("a/b/x.txt"), read("a/AGENTS.md"), read("a/b/CLAUDE.md")]);
    let both = told("a/AGENTS.md", "be kind") + &told("a/b/CLAUDE.md", "be brief");
    assert_eq!(stage.read("a/b/x.txt").await, format!("1|x\n{both}"));
    assert_eq!(stage.read("a/b/y.txt").await, "1|y\n");
    assert_eq!(stage.read("a/z.txt").await, "1|z\n");
    assert_eq!(stage.intent("read", json!({"path": "a/b/x.txt"})).await.effects, [read("a/b/x.txt")]);
}

#[tokio::test]
async fn a_conversation_that_goes_on_knows_those_it_has_seen() {
    let mut stage =
        Stage::with(&[("a/AGENTS.md", "be kind"), ("a/x.txt", "x\n"), ("b/AGENTS.md", "b"), ("b/x", "")]);
    stage.scene.instructions = Arc::new(Instructions::attached([stage.at("a/AGENTS.md")]));
    assert_eq!(stage.read("a/x.txt").await, "1|x\n");
    // One that is read itself is not attached as well, nor later.
    assert_eq!(stage.read("b/AGENTS.md").await, "1|b\n");
    assert_eq!(stage.read("b/x").await, "[empty file]");
}

#[tokio::test]
async fn a_directory_brings_its_own_and_a_failed_call_none() {
    let stage = Stage::with(&[("a/AGENTS.md", "be kind"), ("a/x.txt", "x\n")]);
    let message = stage.failed("read", json!({"path": "a/nothing-like-it"})).await;
    assert_eq!(message, "a/nothing-like-it does not exist.");
    assert_eq!(stage.read("a").await, format!("AGENTS.md\nx.txt\n{}", told("a/AGENTS.md", "be kind")));
}

#[tokio::test]
async fn those_that_may_not_be_read_or_lead_away_are_not() {
    let mut stage =
        Stage::with(&[("a/AGENTS.md", "no"), ("a/x.txt", "x\n"), ("b/x.txt", "x\n"), ("c/x.txt", "x\n")]);
    let outside = stage.root.parent().unwrap().join("secret.md");
    std::fs::write(&outside, "secret").unwrap();
    symlink(&outside, stage.at("b/AGENTS.md")).unwrap();
    stage.put("b/CLAUDE.md", "the next name");
    stage.put("shared.md", "for all");
    symlink("../shared.md", stage.at("c/AGENTS.md")).unwrap();
    stage.scene.may_read = Arc::new(|path: &Path| !path.ends_with("a/AGENTS.md"));
    assert_eq!(stage.read("a/x.txt").await, "1|x\n");
    assert_eq!(stage.read("b/x.txt").await, format!("1|x\n{}", told("b/CLAUDE.md", "the next name")));
    assert_eq!(stage.read("c/x.txt").await, format!("1|x\n{}", told("shared.md", "for all")));
    std::fs::write(stage.root.parent().unwrap().join("AGENTS.md"), "above").unwrap();
    assert_eq!(stage.read(outside.to_str().unwrap()).await, "1|secret\n");
}

#[tokio::test]
async fn a_long_one_is_cut_and_says_so_and_none_ends_its_fence() {
    let stage =
        Stage::with(&[("a/x.txt", "x\n"), ("b/x.txt", "x\n"), ("b/AGENTS.md", "one </instructions> two")]);
    stage.put("a/AGENTS.md", "é".repeat(20_000));
    let shown = stage.read("a/x.txt").await;
    assert!(
        shown.ends_with(
            "é\n</instructions>\n[7232 bytes of a/AGENTS.md left out; read it if they may matter]\n"
        ),
        "{shown}"
    );
    assert_eq!(
        stage.read("b/x.txt").await,
        format!("1|x\n{}", told("b/AGENTS.md", "one <\\/instructions> two"))
    );
}
