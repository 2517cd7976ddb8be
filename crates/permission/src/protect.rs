//! Places whose content or change could take over the machine, its accounts or
//! rein itself.
//!
//! The lists of places are `rein_shell`'s, so that a command line and a tool
//! are held to the same ones. This file says what each list means for reading
//! and for changing.

use std::path::{Component, Path, PathBuf};

use rein_shell::paths;

use crate::resource::{Hand, Need, Reach, Target};
use crate::rule::{EDIT, READ};

/// Directories that are protected wherever they are, with what they hold.
const EVERYWHERE: [(&str, &str); 2] =
    [(".git", "git's hooks and settings run commands"), (".rein", "rein takes its settings from there")];

/// Files below `/dev` that hold nothing.
const HARMLESS: [&str; 8] = ["null", "zero", "full", "stdin", "stdout", "stderr", "tty", "random"];

/// How a place is guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nothing allows it.
    Catastrophic(String),
    /// A rule of the user that names exactly it allows it; it is refused otherwise.
    Refused(String),
    /// A rule of the user that names exactly it allows it; a person is asked otherwise.
    Asked(String),
}

/// Why what a need is about is guarded, if it is.
pub(crate) fn guard(need: &Need, workspace: &Path, home: Option<&Path>, listed: &[PathBuf]) -> Option<Guard> {
    let path = need.path()?;
    match need.permission.as_str() {
        READ if need.hand == Hand::Lists => None,
        READ => secret(need, path, workspace, home).or_else(|| own(need, path, listed)),
        EDIT => device(path)
            .or_else(|| change(need, path, listed))
            .or_else(|| named(paths::persistence, need, path, workspace, home).map(|why| changed(need, why)))
            .or_else(|| secret(need, path, workspace, home)),
        _ => None,
    }
}

fn secret(need: &Need, path: &Path, workspace: &Path, home: Option<&Path>) -> Option<Guard> {
    let why = named(paths::secret, need, path, workspace, home)?;
    let reason = format!("protected: `{}` is {why}", need.resource);
    Some(match &need.target {
        Target::Outside { .. } => Guard::Refused(format!("{reason}, and lies outside of the workspace")),
        Target::Inside { .. } | Target::Text => Guard::Asked(reason),
    })
}

/// What rein keeps for itself: settings with keys, and what was said in other sessions.
fn own(need: &Need, path: &Path, listed: &[PathBuf]) -> Option<Guard> {
    let protected = listed.iter().find(|protected| path.starts_with(protected))?;
    let reason = format!("protected: `{}` holds rein's own settings and sessions", protected.display());
    Some(match &need.target {
        Target::Outside { .. } => Guard::Refused(reason),
        Target::Inside { .. } | Target::Text => Guard::Asked(reason),
    })
}

fn changed(need: &Need, why: &str) -> Guard {
    Guard::Asked(format!("protected: `{}` is not changed without a person: {why}", need.resource))
}

/// Looks a path up. A workspace that itself lies in such a place is not
/// protected as a whole: then only what is below it counts.
fn named(
    find: fn(&str, Option<&str>) -> Option<&'static str>,
    need: &Need,
    path: &Path,
    workspace: &Path,
    home: Option<&Path>,
) -> Option<&'static str> {
    let home = home.map(Path::to_string_lossy);
    let home = home.as_deref();
    let text = path.to_string_lossy();
    let why = find(&text, home)?;
    if need.reach == Reach::Glob {
        find(&without_hidden(&text), home)?;
    }
    let inside = matches!(need.target, Target::Inside { .. });
    if inside && find(&workspace.join("anything").to_string_lossy(), home).is_some() {
        return find(&format!("/{}", need.resource), home);
    }
    Some(why)
}

/// A pattern whose directories stand for no hidden ones: `*` does not match `.ssh`.
fn without_hidden(path: &str) -> String {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let plain = directories.split('/').map(|part| if part.starts_with(['*', '?', '[']) { "x" } else { part });
    format!("{}/{name}", plain.collect::<Vec<_>>().join("/"))
}

/// Disks, memory and the kernel.
fn device(path: &Path) -> Option<Guard> {
    let text = paths::comparable(&path.to_string_lossy()).into_owned();
    let harmless = |name: &str| {
        HARMLESS.contains(&name)
            || name == "urandom"
            || ["fd/", "shm/", "pts/"].iter().any(|start| name.starts_with(start))
    };
    let device = text.strip_prefix("/dev/").is_some_and(|name| !harmless(name))
        || text == "/proc/sysrq-trigger"
        || ["/proc/sys/", "/sys/"].iter().any(|start| text.starts_with(start));
    device.then(|| {
        Guard::Catastrophic(format!("refused in every mode: `{}` is a device or the kernel", path.display()))
    })
}

/// What rein and git rely on, by the path as seen from the workspace.
fn change(need: &Need, path: &Path, listed: &[PathBuf]) -> Option<Guard> {
    if need.reach == Reach::Tree && need.resource == "." {
        let reason = "protected: the whole workspace goes, with its history";
        return Some(Guard::Asked(reason.to_owned()));
    }
    let shown = match &need.target {
        Target::Inside { .. } => Path::new(&need.resource),
        Target::Outside { .. } | Target::Text => path,
    };
    let by_name = shown.components().find_map(|component| match component {
        Component::Normal(name) => {
            let name = paths::comparable(&name.to_string_lossy()).into_owned();
            EVERYWHERE.iter().find(|(protected, _)| name == *protected)
        }
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    if let Some((protected, why)) = by_name {
        let reason = format!("protected: `{protected}` is not changed without a person, because {why}");
        return Some(Guard::Asked(reason));
    }
    let holds = |protected: &PathBuf| {
        path.starts_with(protected) || (need.reach != Reach::Glob && protected.starts_with(path))
    };
    listed.iter().find(|protected| holds(protected)).map(|protected| {
        Guard::Asked(format!("protected: `{}` holds what rein itself relies on", protected.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Lexical;
    use crate::resource::Places;

    fn guarded(permission: &str, path: &str, workspace: &str) -> Option<Guard> {
        let (workspace, home) = (Path::new(workspace), Some(Path::new("/home/me")));
        let places = Places { workspace, home, paths: &Lexical };
        let listed = [PathBuf::from("/home/me/.state/rein")];
        let needs = Need::of_path(permission, Path::new(path), Reach::One, Hand::Tool, places);
        guard(&needs[0], workspace, home, &listed)
    }

    fn asks(guard: &Option<Guard>) -> bool {
        matches!(guard, Some(Guard::Asked(_)))
    }

    #[test]
    fn git_and_rein_directories_are_protected_at_any_depth_and_in_any_case() {
        for path in [
            ".git/hooks/pre-commit",
            ".git",
            "vendor/lib/.git/config",
            ".GIT/config",
            ".rein/config.toml",
            ".git./x",
        ] {
            assert!(asks(&guarded(EDIT, path, "/w")), "{path}");
        }
        for path in [".gitignore", ".github/workflows/ci.yml", "git/config", "src/.reindeer"] {
            assert_eq!(guarded(EDIT, path, "/w"), None, "{path}");
        }
        assert_eq!(guarded(READ, ".git/config", "/w"), None);
    }

    #[test]
    fn a_listed_directory_is_protected_with_all_below_it_and_from_above() {
        for path in ["/home/me/.state/rein/x", "/home/me/.state/rein", "/home/me/.state"] {
            assert!(asks(&guarded(EDIT, path, "/w")), "{path}");
        }
        assert_eq!(guarded(EDIT, "/home/me/.state/rein2", "/w"), None);
        assert!(matches!(guarded(READ, "/home/me/.state/rein/x", "/w"), Some(Guard::Refused(_))));
        assert_eq!(guarded(READ, "/home/me/.state", "/w"), None);
    }

    #[test]
    fn secrets_are_guarded_for_reading_and_changing_and_refused_outside() {
        for permission in [READ, EDIT] {
            assert!(asks(&guarded(permission, ".env", "/w")), "{permission}");
            assert!(asks(&guarded(permission, "a/.ENV.local", "/w")), "{permission}");
        }
        for path in ["/home/me/.ssh/id_rsa", "/etc/shadow", "/home/me/.aws/credentials", "/home/me/.netrc"] {
            assert!(matches!(guarded(READ, path, "/w"), Some(Guard::Refused(_))), "{path}");
        }
        assert_eq!(guarded(READ, ".env.example", "/w"), None);
        assert_eq!(guarded(READ, "/etc/hosts", "/w"), None);
    }

    #[test]
    fn what_runs_later_is_guarded_for_changing() {
        for path in [
            "/home/me/.bashrc",
            ".vscode/tasks.json",
            ".claude/settings.json",
            "/etc/cron.d/x",
            ".husky/pre-push",
        ] {
            assert!(asks(&guarded(EDIT, path, "/w")), "{path}");
            assert_eq!(guarded(READ, path, "/w"), None, "{path}");
        }
    }

    #[test]
    fn a_workspace_in_such_a_place_can_be_worked_in() {
        let workspace = "/home/me/.claude/worktrees/x";
        assert_eq!(guarded(EDIT, "src/main.rs", workspace), None);
        assert!(asks(&guarded(EDIT, ".claude/settings.json", workspace)));
        assert!(asks(&guarded(EDIT, ".git/config", workspace)));
    }

    #[test]
    fn devices_are_never_written() {
        for path in
            ["/dev/sda", "/dev/nvme0n1", "/proc/sysrq-trigger", "/proc/self/root/dev/sda", "/sys/power/state"]
        {
            assert!(matches!(guarded(EDIT, path, "/w"), Some(Guard::Catastrophic(_))), "{path}");
        }
        for path in ["/dev/null", "/dev/shm/x", "/dev/stdout"] {
            assert_eq!(guarded(EDIT, path, "/w"), None, "{path}");
        }
    }
}
