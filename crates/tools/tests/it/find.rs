//! `glob`.

use std::time::{Duration, SystemTime};

use rein_protocol::{CallStatus, Effect};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Stage;

/// Files, the later the newer.
fn aged(names: &[&str]) -> Stage {
    let stage = Stage::new();
    for (index, name) in names.iter().enumerate() {
        let path = stage.put(name, "");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + index as u64);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    stage
}

#[tokio::test]
async fn files_are_found_newest_first() {
    let stage = aged(&["src/old.rs", "lib.rs", "src/deep/new.rs", "notes.md", ".github/ci.yml"]);
    let found = async |pattern: &str| stage.done("glob", json!({"pattern": pattern})).await;
    assert_eq!(found("*.rs").await, "src/deep/new.rs\nlib.rs\nsrc/old.rs\n");
    assert_eq!(found("src/*.rs").await, "src/old.rs\n");
    assert_eq!(found("**/*.{md,yml}").await, "notes.md\n");
    assert_eq!(found(".github/*.yml").await, ".github/ci.yml\n", "what is named is not hidden");
    let hidden = stage.done("glob", json!({"pattern": "*.{md,yml}", "hidden": true})).await;
    assert_eq!(hidden, ".github/ci.yml\nnotes.md\n");
    assert_eq!(
        found("*.py").await,
        "[no files match; files that git ignores and 1 hidden entries are not searched; hidden: true searches the latter]"
    );
    let found = stage.done("glob", json!({"pattern": "*.rs", "path": "src"})).await;
    assert_eq!(found, "src/deep/new.rs\nsrc/old.rs\n");
    let absolute = format!("{}/src/**/*.rs", stage.root.display());
    let intent = stage.intent("glob", json!({"pattern": absolute})).await;
    assert_eq!(intent.effects, [Effect::Read { path: stage.at("src") }]);
    assert_eq!(stage.done("glob", json!({"pattern": absolute})).await, "src/deep/new.rs\nsrc/old.rs\n");
}

#[tokio::test]
async fn what_git_ignores_is_left_out_unless_it_is_searched_itself() {
    let stage = aged(&["a.rs", "target/b.rs", "vendor/c.rs", "vendor/keep.rs", ".git/hooks/d.rs"]);
    stage.put(".gitignore", "target/\n");
    stage.put("vendor/.gitignore", "*.rs\n!keep.rs\n");
    assert_eq!(stage.done("glob", json!({"pattern": "*.rs"})).await, "vendor/keep.rs\na.rs\n");
    assert_eq!(stage.done("glob", json!({"pattern": "*.rs", "path": "target"})).await, "target/b.rs\n");
}

#[tokio::test]
async fn too_many_files_are_counted_and_the_newest_shown() {
    let names: Vec<String> = (0..150).map(|number| format!("f{number}.txt")).collect();
    let stage = aged(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let found = stage.done("glob", json!({"pattern": "*.txt"})).await;
    assert_eq!(found.lines().take(2).collect::<Vec<_>>(), ["./", "  f149.txt"]);
    assert_eq!(found.lines().count(), 102);
    assert!(
        found.ends_with("  f50.txt\n[the newest 100 of 150 files; use a narrower pattern or path]"),
        "{found}"
    );
}

#[tokio::test]
async fn many_files_are_grouped_by_directory_and_the_fullest_directories_are_named() {
    let names: Vec<String> = (0..150)
        .map(|number| match number % 5 {
            0 => format!("src/deep/f{number}.txt"),
            1 => format!("tests/f{number}.txt"),
            _ => format!("src/f{number}.txt"),
        })
        .collect();
    let stage = aged(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let found = stage.done("glob", json!({"pattern": "*.txt"})).await;
    let headings: Vec<&str> = found.lines().filter(|line| line.ends_with('/')).collect();
    assert_eq!(headings, ["src/", "tests/", "src/deep/"], "in the order of their newest files");
    assert!(found.starts_with("src/\n  f149.txt\n  f148.txt\n  f147.txt\n  f144.txt\n"), "{found}");
    assert!(found.ends_with("use a narrower pattern or path; most in src (120), tests (30)]"), "{found}");
}

#[tokio::test]
async fn links_are_not_followed_even_in_a_circle() {
    let stage = aged(&["src/a.rs"]);
    std::os::unix::fs::symlink("..", stage.at("src/up")).unwrap();
    std::os::unix::fs::symlink("a.rs", stage.at("src/b.rs")).unwrap();
    assert_eq!(stage.done("glob", json!({"pattern": "*.rs"})).await, "src/a.rs\n");
}

#[tokio::test]
async fn mistakes_are_explained() {
    let stage = aged(&["src/a.rs"]);
    assert_eq!(
        stage.failed("glob", json!({"pattern": "*", "path": "src/a.rs"})).await,
        "src/a.rs is a file. Give a directory as `path`."
    );
    assert_eq!(
        stage.failed("glob", json!({"pattern": "*", "path": "scr"})).await,
        "scr does not exist. Did you mean src?"
    );
    assert!(
        stage
            .complaint("glob", json!({"pattern": "a[b"}))
            .await
            .starts_with("`pattern` is not a valid pattern")
    );
}

#[tokio::test]
async fn it_can_be_interrupted() {
    let stage = aged(&["a.rs"]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let plan = stage.plan("glob", json!({"pattern": "*"})).await.unwrap();
    assert_eq!(stage.run(plan, &cancel).await.status, CallStatus::Interrupted);
}
