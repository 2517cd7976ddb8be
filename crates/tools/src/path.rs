//! Where a path that a model wrote leads.
//!
//! Relative paths are relative to the workspace, `~` is the home directory, and
//! `..` and symbolic links are resolved as the system would, as far as they
//! exist; a link to something that does not exist leads there. What comes out
//! has no link in it, so a link that appears in it later is an attack or an
//! accident, and is refused both by comparing and by how files are opened.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use rein_protocol::ArtifactId;

use crate::contract::{Complaint, Scene};

/// As the kernel has it.
const MOST_LINKS: usize = 40;

/// What stands before the name of an artifact.
const ARTIFACT: &str = "artifact:";

/// A file or directory that a model named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    given: String,
    /// Absolute, without links.
    pub(crate) path: PathBuf,
    /// As it is shown: relative to the workspace where it is inside.
    pub(crate) shown: String,
}

/// What can be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// In the file system.
    Place(Place),
    /// An output that was kept.
    Artifact(ArtifactId),
}

impl Place {
    /// Resolves what a model wrote.
    pub(crate) fn find(given: &str, scene: &Scene) -> Result<Self, Complaint> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        Self::find_from(given, scene, home)
    }

    fn find_from(given: &str, scene: &Scene, home: Option<OsString>) -> Result<Self, Complaint> {
        let path = resolve(given, &scene.workspace, home)?;
        let shown = shown(&path, &scene.workspace);
        Ok(Self { given: given.to_owned(), path, shown })
    }

    /// Whether the path still leads where it led when the call was planned.
    pub(crate) fn still_leads_here(&self, scene: &Scene) -> Result<(), String> {
        match Self::find(&self.given, scene) {
            Ok(now) if now.path == self.path => Ok(()),
            Ok(now) => Err(format!(
                "Nothing was done: {} led to {} when the call was checked and leads to {} now. Look at the path, then call again.",
                self.given,
                self.path.display(),
                now.path.display()
            )),
            Err(complaint) => Err(format!("Nothing was done. {complaint}")),
        }
    }

    /// That a link inside the workspace leads out of it, and where to, if so.
    pub(crate) fn departure(&self, scene: &Scene) -> Option<String> {
        let named = lexical(&scene.workspace.join(&self.given));
        let is_named_inside = !self.given.starts_with('~') && named.starts_with(&scene.workspace);
        (is_named_inside && !self.is_inside(scene))
            .then(|| format!("{} leads to {}, outside of the workspace", printable(&self.given), self.shown))
    }

    /// Whether it is inside the workspace.
    pub(crate) fn is_inside(&self, scene: &Scene) -> bool {
        self.path.starts_with(followed(&scene.workspace))
    }
}

impl Source {
    /// Resolves what a model wrote, which may name an artifact.
    pub(crate) fn find(given: &str, scene: &Scene) -> Result<Self, Complaint> {
        match given.trim().strip_prefix(ARTIFACT) {
            Some(id) => match id.trim().parse() {
                Ok(id) => Ok(Self::Artifact(id)),
                Err(error) => {
                    Err(Complaint(format!("{error}. Copy the name from the output that mentions it.")))
                }
            },
            None => Place::find(given, scene).map(Self::Place),
        }
    }

    /// As it is shown.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Place(place) => place.shown.clone(),
            Self::Artifact(id) => format!("{ARTIFACT}{id}"),
        }
    }

    /// The file that it is by now.
    pub(crate) async fn open(&self, scene: &Scene) -> Result<PathBuf, String> {
        match self {
            Self::Place(place) => place.still_leads_here(scene).map(|()| place.path.clone()),
            Self::Artifact(id) => match scene.artifacts.path(id).await {
                // It is opened without following links, and where rein keeps it there may be some.
                Some(path) => Ok(followed(&path)),
                None => Err(format!("There is no {ARTIFACT}{id} in this conversation.")),
            },
        }
    }
}

/// A path relative to the workspace if it is inside, else as it is, on one line. Never empty.
pub(crate) fn shown(path: &Path, workspace: &Path) -> String {
    let workspace = followed(workspace);
    match path.strip_prefix(&workspace) {
        Ok(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
        Ok(relative) => printable(&relative.to_string_lossy()),
        Err(_) => printable(&path.to_string_lossy()),
    }
}

/// A name may contain anything: line ends, and what a terminal would obey.
pub(crate) fn printable(name: &str) -> String {
    if name.chars().any(char::is_control) { name.escape_debug().to_string() } else { name.to_owned() }
}

fn resolve(given: &str, workspace: &Path, home: Option<OsString>) -> Result<PathBuf, Complaint> {
    if given.trim().is_empty() {
        return Err(Complaint("`path` is empty. Give the path of a file or directory.".to_owned()));
    }
    if given.contains('\0') {
        return Err(Complaint(
            "`path` contains a NUL character, which no path can. Write it without.".to_owned(),
        ));
    }
    let path = match given.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => match home {
            Some(home) => Path::new(&home).join(rest.trim_start_matches('/')),
            None => {
                return Err(Complaint(
                    "`~` has no meaning here, because HOME is not set. Give a full path.".into(),
                ));
            }
        },
        _ => PathBuf::from(given),
    };
    follow(&workspace.join(path)).map_err(|TooManyLinks| {
        Complaint(format!("{given} goes through too many symbolic links. Name the file itself."))
    })
}

/// An absolute path with its links followed; as it is if they go in a circle.
pub(crate) fn followed(path: &Path) -> PathBuf {
    follow(path).unwrap_or_else(|TooManyLinks| path.to_owned())
}

/// Without `.` and `..`, by what is written alone.
fn lexical(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

#[derive(Debug)]
struct TooManyLinks;

/// Follows every link of an absolute path.
fn follow(path: &Path) -> Result<PathBuf, TooManyLinks> {
    let mut here = PathBuf::from("/");
    let mut ahead: VecDeque<OsString> = parts(path);
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        if part == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        match std::fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(TooManyLinks);
                }
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    ahead.push_front(part);
                }
            }
            // It is no link, it does not exist, or it may not be looked at: then it is what it says.
            Err(_) => here = next,
        }
    }
    Ok(here)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(part) => Some(part.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        (directory, path)
    }

    fn found(given: &str, workspace: &Path) -> PathBuf {
        resolve(given, workspace, Some("/home/somebody".into())).unwrap()
    }

    #[test]
    fn plain_paths_and_the_home_directory() {
        let (_guard, at) = directory();
        assert_eq!(found("a/b", &at), at.join("a/b"));
        assert_eq!(found("./a//b/../c/.", &at), at.join("a/c"));
        assert_eq!(found("/../x", &at), Path::new("/x"));
        assert_eq!(found("~", &at), Path::new("/home/somebody"));
        assert_eq!(found("~/x", &at), Path::new("/home/somebody/x"));
        assert_eq!(found("~x", &at), at.join("~x"));
        assert!(resolve("~/x", &at, None).unwrap_err().0.contains("HOME"));
        assert!(resolve(" ", &at, None).is_err() && resolve("a\0b", &at, None).is_err());
    }

    #[test]
    fn links_are_followed_to_where_they_lead_even_if_nothing_is_there() {
        let (_guard, at) = directory();
        std::fs::create_dir(at.join("real")).unwrap();
        symlink("real", at.join("link")).unwrap();
        symlink("/nowhere/else", at.join("dangling")).unwrap();
        symlink("../outside", at.join("real/up")).unwrap();
        assert_eq!(found("link/file", &at), at.join("real/file"));
        assert_eq!(found("link/../file", &at), at.join("file"));
        assert_eq!(found("dangling/file", &at), Path::new("/nowhere/else/file"));
        assert_eq!(found("link/up/x", &at), at.join("outside/x"));
    }

    #[test]
    fn a_circle_of_links_is_refused() {
        let (_guard, at) = directory();
        symlink("two", at.join("one")).unwrap();
        symlink("one", at.join("two")).unwrap();
        assert!(resolve("one", &at, None).unwrap_err().0.contains("too many symbolic links"));
    }

    #[test]
    fn what_is_inside_is_shown_relative() {
        let (_guard, at) = directory();
        symlink(&at, at.join("itself")).unwrap();
        assert_eq!(shown(&at.join("a/b"), &at.join("itself")), "a/b");
        assert_eq!(shown(&at, &at), ".");
        assert_eq!(shown(Path::new("/etc/hosts"), &at), "/etc/hosts");
        assert_eq!(shown(&at.join("a\nb\u{1b}[0m"), &at), "a\\nb\\u{1b}[0m");
    }
}
