//! What stays as it is inside the workspace, there or not.

use rein_sandbox::jail::Preference;

use super::{Place, WHOLE, in_each, run_in};

fn git(place: &Place, arguments: &[&str]) {
    let done = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(place.work())
        .env("HOME", place.root.join("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Everything below a directory, as paths and contents.
fn snapshot(directory: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let is_directory = entry.file_type().unwrap().is_dir();
        let content = if is_directory { Vec::new() } else { std::fs::read(&path).unwrap_or_default() };
        found.push((path.display().to_string(), content));
        if is_directory {
            found.extend(snapshot(&path));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn what_is_missing_cannot_be_made_and_leaves_no_trace() {
    let place = Place::new();
    let text = "mkdir .rein; mkdir -p .claude/hooks; echo x > .mcp.json; echo x > .envrc; mkdir .vscode; echo x > .vscode/tasks.json
        mkdir other; echo x > other/settings.json; mv other .claude; mv -T other .claude; mv other/settings.json .mcp.json
        ln -s other .codex; ln other/settings.json .envrc; rmdir .rein .claude .mcp.json .envrc; rm -rf .rein .mcp.json .cursor
        mkdir .cursor; cp -r other .gemini; chmod 777 .rein; echo x > .rein/config.toml; rm -r other; echo done";
    for (preference, _, printed) in in_each(&place, text).await {
        assert!(printed.ends_with("done\n"), "{preference:?}: {printed}");
        assert_eq!(snapshot(&place.work()), [], "{preference:?}: {printed}");
    }
}

#[tokio::test]
async fn what_is_there_cannot_be_changed() {
    let place = Place::new();
    let work = place.work();
    std::fs::create_dir_all(work.join(".claude")).unwrap();
    std::fs::write(work.join(".claude/settings.json"), "{}").unwrap();
    std::fs::write(work.join(".mcp.json"), "{}").unwrap();
    std::fs::create_dir_all(work.join(".vscode")).unwrap();
    let before = snapshot(&work);
    let text = "echo x > .claude/settings.json; echo x > .claude/new; rm -rf .claude; mv .claude c; mv .mcp.json m; echo x > .mcp.json
        echo x > t; mv -f t .mcp.json; rm -f t .mcp.json; mv .vscode v; mkdir .vscode; echo x > .vscode/tasks.json; echo done";
    for (preference, _, printed) in in_each(&place, text).await {
        assert!(printed.ends_with("done\n"), "{preference:?}: {printed}");
        assert_eq!(snapshot(&work), before, "{preference:?}: {printed}");
    }
}

#[tokio::test]
async fn a_repository_takes_commits_but_no_hooks_or_settings() {
    for preference in WHOLE {
        let place = Place::new();
        git(&place, &["init", "-q"]);
        git(&place, &["commit", "-q", "--allow-empty", "-m", "first"]);
        std::fs::remove_dir_all(place.work().join(".git/hooks")).unwrap();
        let kept = || {
            let all = snapshot(&place.work().join(".git"));
            let names = ["/hooks", "/config", "/commondir", "/info/attributes"];
            all.into_iter()
                .filter(|(path, _)| names.iter().any(|name| path.contains(name)))
                .collect::<Vec<_>>()
        };
        let before = kept();
        let text = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        git config core.fsmonitor /bin/evil; echo x >> .git/config; mkdir .git/hooks; echo x > .git/hooks/pre-commit
        mv .git/config .git/c; echo /elsewhere > .git/commondir; echo x > .git/config.worktree; echo x > .git/info/attributes
        mv .git away; mv .git/info .git/i; mkdir .git; rm -rf .git/hooks; cp -r .git copy && rm -rf copy
        echo content > file && git add file && git commit -qm second && git branch other && git checkout -q other &&
        git stash list && git status --short && git log --oneline | wc -l && git checkout -q main && git gc -q && git reset -q --hard HEAD~1";
        let Some((exit, printed)) = run_in(place.jail(preference), &place.work(), text).await else {
            continue;
        };
        assert!(super::is_well(&exit), "{preference:?}: {printed}");
        assert!(printed.contains("\n2\n"), "{preference:?}: {printed}");
        assert_eq!(kept(), before, "{preference:?}: {printed}");
        assert!(!printed.contains("warning"), "{preference:?}: {printed}");
    }
}

#[tokio::test]
async fn a_linked_worktree_commits_into_the_main_repository_and_no_further() {
    let place = Place::new();
    git(&place, &["init", "-q", "../main"]);
    git(&place, &["-C", "../main", "commit", "-q", "--allow-empty", "-m", "first"]);
    git(&place, &["-C", "../main", "worktree", "add", "-q", "../work/linked", "-b", "side"]);
    let work = place.work().join("linked");
    let text = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        echo x > ../../main/.git/config; echo x > ../../main/.git/hooks/pre-commit; echo x > ../../main/file
        echo gitdir: /elsewhere > .git; echo /elsewhere > ../../main/.git/worktrees/linked/commondir
        echo y >> file && git add file && git commit -qm next && git status --short && git log --oneline | wc -l";
    let config = std::fs::read(place.root.join("main/.git/config")).unwrap();
    for (count, preference) in WHOLE.into_iter().enumerate() {
        let mut request = place.request();
        request.workspace = work.clone();
        let mut jail = rein_sandbox::jail::Jail::standard(&request);
        jail.preference = preference;
        let Some((exit, printed)) = run_in(jail, &work, text).await else { continue };
        assert!(super::is_well(&exit), "{preference:?}: {printed}");
        assert!(printed.ends_with(&format!("{}\n", count + 2)), "{preference:?}: {printed}");
        assert_eq!(std::fs::read(place.root.join("main/.git/config")).unwrap(), config);
        assert!(!place.root.join("main/file").exists());
    }
}

#[tokio::test]
async fn other_repositories_in_the_workspace_are_left_alone() {
    let place = Place::new();
    git(&place, &["init", "-q"]);
    git(&place, &["init", "-q", "vendored/other"]);
    let before = snapshot(&place.work().join("vendored/other/.git"));
    let text =
        "cd vendored/other; echo x > .git/HEAD; mv .git g; mv ../other ../o; rm -rf .git; echo x > file";
    for (preference, _, printed) in in_each(&place, text).await {
        assert_eq!(snapshot(&place.work().join("vendored/other/.git")), before, "{preference:?}: {printed}");
        assert!(place.work().join("vendored/other/file").exists());
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_a_kept_directory_cannot_be_replaced() {
    let place = Place::new();
    let work = place.work();
    std::fs::create_dir(work.join("dotfiles")).unwrap();
    std::os::unix::fs::symlink("dotfiles", work.join(".claude")).unwrap();
    let text = "rm -f .claude; mkdir .claude; mv .claude c; echo x > dotfiles/settings.json; echo done";
    for preference in [Preference::BuiltIn, Preference::Automatic] {
        let Some((_, printed)) = run_in(place.jail(preference), &work, text).await else { continue };
        assert!(printed.ends_with("done\n"), "{printed}");
        assert!(work.join(".claude").symlink_metadata().unwrap().is_symlink(), "{preference:?}: {printed}");
        assert_eq!(std::fs::read_dir(work.join("dotfiles")).unwrap().count(), 0, "{preference:?}: {printed}");
    }
}
