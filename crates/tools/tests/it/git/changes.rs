//! What changes something.

use rein_protocol::{Block, Effect};
use serde_json::json;

use super::{git, repository, short, unborn};

#[tokio::test]
async fn a_change_is_the_command_line_that_a_person_would_type() {
    let stage = repository(&[("a.txt", "a\n")]);
    for (arguments, line) in [
        (json!({"action": "add", "paths": ["a.txt", "b c"]}), "git add -- a.txt 'b c'"),
        (json!({"action": "add", "paths": ["-A", "*.rs"]}), "git add -- -A '*.rs'"),
        (json!({"action": "commit", "message": "it's\n\ndone"}), "git commit -m 'it'\\''s\n\ndone'"),
        (json!({"action": "branch", "name": "x"}), "git branch x"),
        (json!({"action": "branch", "name": "x", "rev": "HEAD~1"}), "git branch x 'HEAD~1'"),
        (json!({"action": "branch", "name": "x", "delete": true}), "git branch -d x"),
        (json!({"action": "branch", "name": "x", "delete": true, "force": true}), "git branch -D x"),
        (json!({"action": "checkout", "name": "x"}), "git checkout x --"),
        (json!({"action": "checkout", "name": "x", "rev": "HEAD"}), "git checkout -b x HEAD --"),
        (json!({"action": "checkout", "rev": "v1", "force": true}), "git checkout --force --detach v1 --"),
        (json!({"action": "checkout", "paths": ["a.txt"]}), "git restore -- a.txt"),
        (json!({"action": "checkout", "paths": ["a.txt"], "staged": true}), "git restore --staged -- a.txt"),
        (json!({"action": "checkout", "paths": ["a.txt"], "rev": "v1"}), "git restore --source=v1 -- a.txt"),
        (json!({"action": "worktree", "paths": ["../t"], "name": "x"}), "git worktree add -b x -- ../t"),
        (
            json!({"action": "worktree", "paths": ["../t"], "delete": true, "force": true}),
            "git worktree remove --force -- ../t",
        ),
    ] {
        let intent = stage.intent("git", arguments.clone()).await;
        let effect =
            Effect::Execute { command: line.to_owned(), cwd: stage.root.clone(), prelude: String::new() };
        assert_eq!(intent.effects, [effect], "{arguments}");
        assert_eq!(
            intent.display.blocks.first(),
            Some(&Block::Command { command: line.to_owned(), cwd: stage.root.display().to_string() })
        );
    }
}

#[tokio::test]
async fn what_discards_work_says_so() {
    let stage = repository(&[("a.txt", "a\n")]);
    for (arguments, title) in [
        (
            json!({"action": "checkout", "paths": ["a.txt"]}),
            "git restore -- a.txt (discards the changes in these files that are not staged or committed)",
        ),
        (
            json!({"action": "checkout", "name": "x", "force": true}),
            "git checkout --force x -- (discards every change that is not committed)",
        ),
        (
            json!({"action": "branch", "name": "x", "delete": true, "force": true}),
            "git branch -D x (discards commits that are on no other branch)",
        ),
        (
            json!({"action": "worktree", "paths": ["t"], "delete": true, "force": true}),
            "git worktree remove --force -- t (discards the changes and new files in that worktree)",
        ),
        (json!({"action": "checkout", "paths": ["a.txt"], "staged": true}), "git restore --staged -- a.txt"),
        (json!({"action": "checkout", "name": "x"}), "git checkout x --"),
    ] {
        assert_eq!(stage.intent("git", arguments).await.display.title, title);
    }
}

#[tokio::test]
async fn staging_and_committing() {
    let stage = unborn();
    stage.put("a.txt", "a\n");
    assert_eq!(
        stage.failed("git", json!({"action": "commit", "message": "m"})).await,
        "Nothing is staged, so nothing was committed. Stage with action add and paths first; status shows what there is."
    );
    assert!(
        stage
            .complaint("git", json!({"action": "commit", "message": " \n"}))
            .await
            .contains("a commit needs one")
    );
    assert!(stage.complaint("git", json!({"action": "add"})).await.contains("`paths` is missing"));
    assert_eq!(
        stage.done("git", json!({"action": "add", "paths": ["."]})).await,
        "on main, no commits yet\nstaged:\n  A a.txt\n"
    );
    let text = stage.done("git", json!({"action": "commit", "message": "first: it's\n\nwhy"})).await;
    let hash = short(&stage, "HEAD");
    assert!(text.starts_with(&format!("committed {hash} 20")), "{text}");
    assert!(text.ends_with(" Ada (HEAD -> main) first: it's\n1 file changed, 1 insertion(+)\n"), "{text}");
    assert_eq!(git(&stage.root, &["log", "-1", "--format=%B"]), "first: it's\n\nwhy\n\n");
    assert!(
        stage
            .failed("git", json!({"action": "add", "paths": ["nothing"]}))
            .await
            .contains("did not match any files")
    );
}

#[tokio::test]
async fn hooks_run_with_a_commit_and_their_word_counts() {
    let stage = repository(&[("a.txt", "a\n")]);
    let hook = stage.put(".git/hooks/pre-commit", "#!/bin/sh\necho checking >&2\ntest ! -e bad.txt\n");
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(hook, PermissionsExt::from_mode(0o755)).unwrap();
    stage.put("bad.txt", "");
    git(&stage.root, &["add", "."]);
    let message = stage.failed("git", json!({"action": "commit", "message": "m"})).await;
    assert_eq!(message, "checking");
    std::fs::remove_file(stage.at("bad.txt")).unwrap();
    let text = stage.done("git", json!({"action": "commit", "message": "m"})).await;
    assert!(text.ends_with("\nchecking\n"), "{text}");
    let intent = stage.intent("git", json!({"action": "commit", "message": "m"})).await;
    assert!(format!("{:?}", intent.display.blocks).contains("runs the repository's commit hooks"));
}

#[tokio::test]
async fn nobody_and_a_held_lock_are_said_with_what_to_do() {
    let stage = unborn();
    git(&stage.root, &["config", "user.name", ""]);
    git(&stage.root, &["config", "user.email", ""]);
    stage.put("a.txt", "");
    git(&stage.root, &["add", "."]);
    let message = stage.failed("git", json!({"action": "commit", "message": "m"})).await;
    assert!(message.starts_with("Nothing was committed: git does not know who commits."), "{message}");
    stage.put(".git/index.lock", "");
    let message = stage.failed("git", json!({"action": "add", "paths": ["a.txt"]})).await;
    assert!(message.starts_with("Another git process holds the lock of this repository."), "{message}");
    assert!(message.contains("index.lock"));
    assert!(
        stage.done("git", json!({"action": "status"})).await.contains("A a.txt"),
        "reading needs no lock"
    );
}

#[tokio::test]
async fn branches_are_made_switched_and_deleted() {
    let stage = repository(&[("a.txt", "a\n")]);
    let done = async |arguments| stage.done("git", arguments).await;
    assert_eq!(
        done(json!({"action": "checkout", "name": "topic", "rev": "HEAD"})).await,
        "on topic\nnothing to commit\n"
    );
    stage.put("a.txt", "topic\n");
    git(&stage.root, &["commit", "-qam", "topic"]);
    stage.put("a.txt", "not committed\n");
    let message = stage.failed("git", json!({"action": "checkout", "name": "main"})).await;
    assert!(message.starts_with("Nothing was switched: these files have changes"), "{message}");
    assert_eq!(stage.get("a.txt"), b"not committed\n");
    assert_eq!(
        done(json!({"action": "checkout", "paths": ["a.txt"]})).await,
        "on topic\nnothing to commit\n"
    );
    assert_eq!(done(json!({"action": "checkout", "name": "main"})).await, "on main\nnothing to commit\n");
    let message = stage.failed("git", json!({"action": "branch", "name": "topic", "delete": true})).await;
    assert!(message.starts_with("The branch has commits that are on no other."), "{message}");
    let text = done(json!({"action": "branch", "name": "topic", "delete": true, "force": true})).await;
    assert!(text.starts_with("branch topic deleted\nDeleted branch topic (was "), "{text}");
    assert!(stage.failed("git", json!({"action": "checkout", "name": "gone"})).await.contains("gone"));
}

#[tokio::test]
async fn worktrees_are_added_and_removed() {
    let stage = repository(&[("a.txt", "a\n")]);
    let text = stage.done("git", json!({"action": "worktree", "paths": ["../tree"], "name": "x"})).await;
    assert_eq!(text.lines().count(), 2);
    let tree = stage.root.with_file_name("tree");
    assert!(tree.join("a.txt").exists());
    std::fs::write(tree.join("new.txt"), "").unwrap();
    let remove = json!({"action": "worktree", "paths": ["../tree"], "delete": true});
    let message = stage.failed("git", remove).await;
    assert!(message.starts_with("The worktree has changes or new files."), "{message}");
    let remove = json!({"action": "worktree", "paths": ["../tree"], "delete": true, "force": true});
    assert_eq!(stage.done("git", remove).await.lines().count(), 1);
    assert!(!tree.exists());
}

#[tokio::test]
async fn names_that_are_options_or_magic_are_refused() {
    let stage = repository(&[("a.txt", "a\n")]);
    for arguments in [
        json!({"action": "log", "rev": "--output=x"}),
        json!({"action": "diff", "rev": "-p"}),
        json!({"action": "diff", "rev": "HEAD..--output=x"}),
        json!({"action": "show", "rev": "--textconv:a.txt"}),
        json!({"action": "show", "rev": "HEAD:../x"}),
        json!({"action": "show", "rev": ":/first"}),
        json!({"action": "log", "rev": "HEAD --output=x"}),
        json!({"action": "checkout", "name": "-f"}),
        json!({"action": "checkout", "name": "a..b"}),
        json!({"action": "branch", "name": "a b"}),
        json!({"action": "branch", "name": "x", "rev": "-D"}),
        json!({"action": "add", "paths": [":(exclude)x"]}),
        json!({"action": "diff", "paths": ["a*/../../x"]}),
        json!({"action": "status", "paths": ["/tmp/../x"]}),
        json!({"action": "push"}),
        json!({"action": "checkout"}),
    ] {
        let complaint = stage.complaint("git", arguments.clone()).await;
        assert!(complaint.contains('`'), "{arguments}: {complaint}");
    }
    assert!(!stage.at("x").exists());
}
