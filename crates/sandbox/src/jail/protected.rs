//! What stays as it is even inside the workspace, because somebody runs it outside without being asked.
//!
//! The line is drawn at what is *executed by opening, entering or committing*:
//! an agent's or an editor's configuration that starts commands, a directory's
//! environment file. What a person starts knowingly (a makefile, the scripts
//! of a package, a test) is the work itself and stays writable; it is seen in
//! the diff. Hooks are executed by a commit: `.git/hooks`, and the directory
//! that `core.hooksPath` names, are kept. `.husky` and the like are therefore
//! kept when they are there; when they are missing nothing would run them,
//! since the setting that would is in `.git/config`, which is kept.

use std::path::{Path, PathBuf};

/// Kept as it is, and not to be made where it is missing.
const ALWAYS: &[&str] = &[
    ".rein",
    ".claude",
    ".codex",
    ".opencode",
    ".cursor",
    ".gemini",
    ".mcp.json",
    ".envrc",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
];

/// Kept as it is where it is there.
const PRESENT: &[&str] = &[
    ".husky",
    ".githooks",
    ".lefthook",
    ".idea",
    ".devcontainer",
    ".zed",
    ".continue",
    ".windsurf",
    ".roo",
    ".kiro",
    ".amazonq",
    ".qwen",
    ".opencode.json",
    "opencode.json",
    "opencode.jsonc",
    ".aider.conf.yml",
    ".direnv",
    ".mise.toml",
    "mise.toml",
    ".mise",
];

/// What a login or a shell runs, for a workspace that is or contains the home directory.
const HOME: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".config/git",
    ".config/rein",
    ".gitconfig",
    ".xprofile",
    ".xinitrc",
    ".pam_environment",
    ".local/bin",
    "bin",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    "go/bin",
    ".vimrc",
    ".config/nvim",
    ".emacs.d",
    ".emacs",
    "Library/LaunchAgents",
];

/// What is kept in a workspace, besides what belongs to git.
pub(super) fn in_workspace(workspace: &Path) -> Vec<PathBuf> {
    let always = ALWAYS.iter().map(|name| first_missing(workspace, name));
    let present = PRESENT.iter().map(|name| workspace.join(name)).filter(|path| exists(path));
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in always.chain(present) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// What is kept of a home directory.
pub(super) fn in_home(home: &Path) -> Vec<PathBuf> {
    HOME.iter().map(|name| home.join(name)).filter(|path| exists(path)).collect()
}

/// Where the directory of a file is missing, it is the directory that must not be made.
fn first_missing(root: &Path, name: &str) -> PathBuf {
    let mut path = root.to_owned();
    for component in Path::new(name) {
        path.push(component);
        if !exists(&path) || super::plan::is_ghost(&path) {
            break;
        }
    }
    path
}

/// A symbolic link that leads nowhere is there.
pub(super) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_directory_stands_for_the_file_in_it() {
        let workspace = tempfile::tempdir().unwrap();
        let paths = in_workspace(workspace.path());
        assert!(paths.contains(&workspace.path().join(".vscode")));
        assert_eq!(paths.len(), 9, "{paths:?}");
        std::fs::create_dir(workspace.path().join(".vscode")).unwrap();
        std::fs::create_dir(workspace.path().join(".husky")).unwrap();
        let paths = in_workspace(workspace.path());
        assert!(paths.contains(&workspace.path().join(".vscode/tasks.json")));
        assert!(!paths.contains(&workspace.path().join(".vscode")));
        assert!(paths.contains(&workspace.path().join(".husky")));
    }
}
