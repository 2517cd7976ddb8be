//! A temporary project with a home of its own.
//!
//! Everything is below one temporary directory that goes away with the
//! [`Project`]: the workspace, a HOME, and a REIN_HOME that does not exist yet,
//! as at a first start. No real home or global git configuration is read.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A temporary project.
pub struct Project {
    _root: TempDir,
    workspace: PathBuf,
    home: PathBuf,
    rein_home: PathBuf,
}

impl Project {
    /// An empty workspace and an empty home.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("rein-").tempdir().expect("a temporary directory");
        // Resolved, because what the program under test prints is.
        let real = root.path().canonicalize().expect("the temporary directory's real path");
        let (workspace, home, rein_home) = (real.join("project"), real.join("home"), real.join("rein-home"));
        for directory in [&workspace, &home] {
            fs::create_dir(directory).expect("a directory in the temporary directory");
        }
        Self { _root: root, workspace, home, rein_home }
    }

    /// With a file; directories on the way are made.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Self {
        self.write(path, contents);
        self
    }

    /// With a file that can be executed.
    #[must_use]
    pub fn executable(self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Self {
        self.write(&path, contents);
        let path = self.join(path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("permissions of a file just written");
        self
    }

    /// With an empty directory.
    #[must_use]
    pub fn directory(self, path: impl AsRef<Path>) -> Self {
        fs::create_dir_all(self.join(path)).expect("a directory in the project");
        self
    }

    /// With a symbolic link; a relative target is relative to the link.
    #[must_use]
    pub fn symlink(self, link: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        symlink(target, self.join(link)).expect("a symbolic link in the project");
        self
    }

    /// With a file in the home directory.
    #[must_use]
    pub fn home_file(self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Self {
        write_file(&self.home.join(path), contents.as_ref());
        self
    }

    /// With a file in REIN_HOME.
    #[must_use]
    pub fn rein_file(self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Self {
        write_file(&self.rein_home.join(path), contents.as_ref());
        self
    }

    /// As a git repository on branch `main`, with everything so far committed.
    #[must_use]
    pub fn git(self) -> Self {
        self.run_git(["init", "--quiet", "--initial-branch=main"]);
        self.commit("first");
        self
    }

    /// Commits everything, also if there is nothing.
    pub fn commit(&self, message: &str) {
        self.run_git(["add", "--all"]);
        self.run_git(["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// Runs git in the workspace without any configuration of the machine's; returns its stdout.
    #[track_caller]
    pub fn run_git<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> String {
        let arguments: Vec<&str> = arguments.into_iter().collect();
        let mut git = Command::new("git");
        git.args(&arguments).current_dir(&self.workspace).env_clear();
        git.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &self.home);
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), "Test").env(format!("GIT_{role}_EMAIL"), "test@example.com");
            git.env(format!("GIT_{role}_DATE"), "2024-01-01T00:00:00Z");
        }
        let output = git.output().expect("git is installed");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {}: {complaint}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The workspace: absolute, with symbolic links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.workspace
    }

    /// A path in the workspace.
    #[must_use]
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.workspace.join(path)
    }

    /// The home directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Where the program under test keeps its own files. Not there before the first of them.
    #[must_use]
    pub fn rein_home(&self) -> &Path {
        &self.rein_home
    }

    /// Writes a file of the workspace; directories on the way are made.
    pub fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
        write_file(&self.join(path), contents.as_ref());
    }

    /// A file of the workspace as text.
    #[must_use]
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        String::from_utf8(self.read_bytes(path)).expect("the file is UTF-8")
    }

    /// A file of the workspace.
    #[must_use]
    #[track_caller]
    pub fn read_bytes(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let path = self.join(path);
        match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => panic!("{} cannot be read: {error}", path.display()),
        }
    }

    /// Whether there is something at that path of the workspace, be it a link to nowhere.
    #[must_use]
    #[track_caller]
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        let path = self.join(path);
        match fs::symlink_metadata(&path) {
            Ok(_) => true,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => false,
            Err(error) => panic!("{} cannot be looked at: {error}", path.display()),
        }
    }

    /// Every file of the workspace, sorted, with `/` between names; `.git` is left out.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(&self.workspace, "", &mut files);
        files.sort();
        files
    }
}

fn write_file(path: &Path, contents: &[u8]) {
    let parent = path.parent().expect("a path in the project");
    fs::create_dir_all(parent).expect("directories in the project");
    fs::write(path, contents).expect("a file in the project");
}

fn collect(directory: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory of the project") {
        let entry = entry.expect("an entry of the project");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        match entry.file_type().expect("the type of an entry").is_dir() {
            true if prefix.is_empty() && name == ".git" => {}
            true => collect(&entry.path(), &format!("{path}/"), files),
            false => files.push(path),
        }
    }
}
