//! A jail as a list of mounts, in the order in which they are made.
//!
//! Reads the file system and changes nothing. Two things follow from how the
//! kernel treats mounts. A directory that contains a mount can be renamed, so
//! every directory between what is writable and what is kept in it becomes a
//! mount too: then it cannot be moved away and made anew. And only what exists
//! can be mounted on, so what is kept while it is missing needs a *ghost*: an
//! empty directory, or inside of a repository an empty file, that is there
//! while the process runs and is taken away afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Jail, TEMPORARY};

/// The mode of a ghost, which nothing else has.
pub(crate) const GHOST_DIRECTORY: u32 = 0o1555;
pub(crate) const GHOST_FILE: u32 = 0o1444;

/// Directories that are another inside: what lies below them outside is not there.
const REPLACED: &[&str] = &["/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/proc"];

/// What of `/run`, which is full of sockets of services, programs need.
const OF_RUN: &[&str] = &[
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/run/resolvconf/resolv.conf",
    "/run/NetworkManager/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf",
];

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// As it is outside, but read-only: it lies where something else was put.
    Keep(PathBuf),
    /// Itself, writable. It cannot be renamed or removed any more.
    Writable(PathBuf),
    /// Itself, read-only.
    ReadOnly(PathBuf),
    /// An empty directory in its place.
    HideDirectory(PathBuf),
    /// An empty file in its place.
    HideFile(PathBuf),
    /// A symbolic link that must not be replaced. Bubblewrap has no word for it.
    PinLink(PathBuf),
}

impl Step {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Keep(path)
            | Self::Writable(path)
            | Self::ReadOnly(path)
            | Self::HideDirectory(path)
            | Self::HideFile(path)
            | Self::PinLink(path) => path,
        }
    }

    fn strictness(&self) -> u8 {
        match self {
            Self::Keep(_) => 0,
            Self::Writable(_) => 1,
            Self::ReadOnly(_) => 2,
            Self::HideDirectory(_) | Self::HideFile(_) => 3,
            Self::PinLink(_) => 4,
        }
    }
}

/// Something that must be there to be mounted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ghost {
    pub(crate) path: PathBuf,
    pub(crate) body: Body,
}

/// What a ghost is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Directory,
    Empty,
    /// Says "here": for the file by which a repository says where the rest of it is.
    Here,
}

/// What is told to the kernel, by whatever means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) ghosts: Vec<Ghost>,
    /// What may be written, for Landlock, which knows no mounts.
    pub(crate) writable: Vec<PathBuf>,
    /// What is hidden, for the same reason.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) temporary: Option<PathBuf>,
    pub(crate) temporary_limit: u64,
}

/// What a jail means for the file system as it is now.
pub(crate) fn plan(jail: &Jail) -> Plan {
    let writable: Vec<PathBuf> = jail.writable.iter().filter(|path| is_itself(path)).cloned().collect();
    let mut steps = Steps::default();
    for path in &writable {
        steps.add(Step::Writable(path.clone()));
    }
    let mut ghosts = Vec::new();
    for path in &jail.read_only {
        protect(path, &writable, &jail.read_only, &mut steps, &mut ghosts);
    }
    let hidden = hidden(jail, &writable);
    for path in &hidden {
        steps.add(if path.is_dir() {
            Step::HideDirectory(path.clone())
        } else {
            Step::HideFile(path.clone())
        });
    }
    for path in OF_RUN.iter().map(PathBuf::from).filter(|path| path.exists()) {
        steps.add(Step::Keep(path));
    }
    for path in sockets(&fs::read("/proc/net/unix").unwrap_or_default(), &writable, &hidden) {
        steps.add(Step::HideFile(path));
    }
    Plan {
        steps: steps.in_order(),
        ghosts,
        writable,
        hidden,
        temporary: jail.temporary.directory.as_ref().and_then(|path| path.canonicalize().ok()),
        temporary_limit: jail.temporary.limit_bytes,
    }
}

/// The strictest step of every path.
#[derive(Default)]
struct Steps(BTreeMap<PathBuf, Step>);

impl Steps {
    fn add(&mut self, step: Step) {
        let known = self.0.get(step.path());
        if known.is_none_or(|known| known.strictness() < step.strictness()) {
            self.0.insert(step.path().to_owned(), step);
        }
    }

    /// Outer ones first.
    fn in_order(self) -> Vec<Step> {
        let mut steps: Vec<Step> = self.0.into_values().collect();
        steps.sort_by_key(|step| step.path().components().count());
        steps
    }
}

/// A path that leads to itself: it was canonical when the jail was made, and nobody has put a link into it
/// since. The root itself cannot be the workspace.
fn is_itself(path: &Path) -> bool {
    path.parent().is_some() && path.canonicalize().is_ok_and(|real| real == path)
}

/// Whether this is something that an earlier process left because it was killed.
pub(crate) fn is_ghost(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    match metadata.mode() & 0o7777 {
        GHOST_DIRECTORY if metadata.is_dir() => {
            fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
        }
        GHOST_FILE => metadata.is_file() && metadata.len() <= 2,
        _ => false,
    }
}

fn protect(path: &Path, writable: &[PathBuf], all: &[PathBuf], steps: &mut Steps, ghosts: &mut Vec<Ghost>) {
    // The innermost one decides which directories lie between.
    let Some(root) =
        writable.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len())
    else {
        return;
    };
    let is_inside_another =
        all.iter().any(|other| other != path && path.starts_with(other) && other.starts_with(root));
    if is_inside_another {
        return;
    }
    let Ok(below) = path.strip_prefix(root) else { return };
    let mut current = root.clone();
    for component in below {
        current.push(component);
        let kind = current.symlink_metadata().map(|metadata| metadata.file_type());
        match kind {
            Err(_) => {
                ghost(&current, steps, ghosts);
                return;
            }
            Ok(_) if is_ghost(&current) => {
                ghost(&current, steps, ghosts);
                return;
            }
            Ok(kind) if kind.is_symlink() => {
                steps.add(Step::PinLink(current.clone()));
                if let Ok(real) = path.canonicalize()
                    && real != *path
                {
                    protect(&real, writable, all, steps, ghosts);
                }
                return;
            }
            Ok(_) if current == *path => steps.add(Step::ReadOnly(current.clone())),
            Ok(_) => steps.add(Step::Writable(current.clone())),
        }
    }
    if below.as_os_str().is_empty() {
        steps.add(Step::ReadOnly(path.to_owned()));
    }
}

/// An empty directory is not seen by git. Inside of a repository it would be seen, and a file is not.
fn ghost(path: &Path, steps: &mut Steps, ghosts: &mut Vec<Ghost>) {
    let is_in_repository = path.parent().is_some_and(|parent| {
        parent.join("HEAD").exists() || parent.parent().is_some_and(|parent| parent.join("HEAD").exists())
    });
    let name = path.file_name().unwrap_or_default();
    let body = match is_in_repository && name != "hooks" && name != "info" {
        true if name == "commondir" => Body::Here,
        true => Body::Empty,
        false => Body::Directory,
    };
    let ghost = Ghost { path: path.to_owned(), body };
    if !ghosts.contains(&ghost) {
        ghosts.push(ghost);
    }
    steps.add(Step::ReadOnly(path.to_owned()));
}

/// The hidden paths that are there, without links, and without those that the workspace lies in.
fn hidden(jail: &Jail, writable: &[PathBuf]) -> Vec<PathBuf> {
    let mut hidden: Vec<PathBuf> = Vec::new();
    for path in jail.hidden.iter().filter_map(|path| path.canonicalize().ok()) {
        let holds_work = writable.iter().any(|root| root.starts_with(&path));
        let is_gone_already = !writable.iter().any(|root| path.starts_with(root))
            && REPLACED.iter().any(|replaced| path.starts_with(replaced));
        if !holds_work && !is_gone_already && !hidden.iter().any(|other| path.starts_with(other)) {
            hidden.retain(|other| !other.starts_with(&path));
            hidden.push(path);
        }
    }
    hidden
}

/// The sockets of services that lie where they can be reached: a read-only file system does not keep
/// anybody from connecting.
fn sockets(table: &[u8], writable: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(table);
    let mut found: Vec<PathBuf> = text
        .lines()
        .filter_map(|line| line.find(" /").and_then(|at| line.get(at + 1..)))
        .map(PathBuf::from)
        .filter(|path| !REPLACED.iter().any(|replaced| path.starts_with(replaced)))
        .filter(|path| !writable.iter().chain(hidden).any(|root| path.starts_with(root)))
        .filter(|path| path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket()))
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The temporary directories that are there and are not links to one another.
pub(crate) fn temporary_directories() -> Vec<PathBuf> {
    TEMPORARY.iter().map(PathBuf::from).filter(|path| is_itself(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::JailRequest;
    use super::*;

    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        (directory, path)
    }

    #[test]
    fn every_directory_on_the_way_to_a_kept_path_is_held() {
        let (_directory, root) = workspace();
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(root.join(".git/HEAD"), "").unwrap();
        fs::write(root.join(".git/config"), "").unwrap();
        let mut jail = Jail::standard(&JailRequest::new(&root));
        jail.hidden.clear();
        jail.read_only.retain(|path| path.starts_with(root.join(".git")));
        let plan = plan(&jail);
        let own: Vec<&Step> = plan.steps.iter().filter(|step| step.path().starts_with(&root)).collect();
        assert_eq!(
            own,
            [
                &Step::Writable(root.clone()),
                &Step::Writable(root.join(".git")),
                &Step::ReadOnly(root.join(".git/commondir")),
                &Step::ReadOnly(root.join(".git/config")),
                &Step::ReadOnly(root.join(".git/config.worktree")),
                &Step::ReadOnly(root.join(".git/hooks")),
                &Step::ReadOnly(root.join(".git/info")),
            ]
        );
        let bodies: Vec<(&str, Body)> =
            plan.ghosts.iter().map(|g| (g.path.file_name().unwrap().to_str().unwrap(), g.body)).collect();
        assert_eq!(
            bodies,
            [("commondir", Body::Here), ("config.worktree", Body::Empty), ("info", Body::Directory)]
        );
    }

    #[test]
    fn a_workspace_that_became_a_link_is_no_longer_writable() {
        let (_directory, root) = workspace();
        let path = root.join("work");
        fs::create_dir(&path).unwrap();
        let jail = Jail::standard(&JailRequest::new(&path));
        assert_eq!(plan(&jail).writable, std::slice::from_ref(&path));
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("/etc", &path).unwrap();
        assert_eq!(plan(&jail).writable, [] as [PathBuf; 0]);
    }

    #[test]
    fn a_hidden_directory_does_not_swallow_the_workspace() {
        let (_directory, root) = workspace();
        let work = root.join("secret/work");
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(work.join("inner/deep")).unwrap();
        let mut request = JailRequest::new(&work);
        request.extra_hidden = vec![root.join("secret"), work.join("inner/deep"), work.join("inner")];
        let plan = plan(&Jail::standard(&request));
        let own: Vec<&PathBuf> = plan.hidden.iter().filter(|path| path.starts_with(&root)).collect();
        assert_eq!(own, [&work.join("inner")]);
    }

    #[test]
    fn a_ghost_is_known_by_its_mode_and_emptiness() {
        use std::os::unix::fs::PermissionsExt;
        let (_directory, root) = workspace();
        let path = root.join("ghost");
        fs::create_dir(&path).unwrap();
        assert!(!is_ghost(&path));
        fs::set_permissions(&path, fs::Permissions::from_mode(GHOST_DIRECTORY)).unwrap();
        assert!(is_ghost(&path));
        assert!(!is_ghost(&root.join("missing")));
    }
}
