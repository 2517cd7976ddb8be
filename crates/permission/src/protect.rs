//! Places whose change could take over the machine or rein itself later on.
//!
//! Only writes by path are looked at here; what a command line would write is
//! judged where command lines are understood.

use std::path::{Component, Path, PathBuf};

/// Directories that are protected wherever they are, with what they hold.
const EVERYWHERE: [(&str, &str); 2] =
    [(".git", "git's hooks and settings run commands"), (".rein", "rein takes its settings from there")];

/// Why a write to this path is protected, if it is.
///
/// `shown` is the path as seen from the workspace, so that a workspace that
/// itself lies below such a directory is not protected as a whole.
pub(crate) fn reason(path: &Path, shown: &Path, listed: &[PathBuf]) -> Option<String> {
    let by_name = shown.components().find_map(|component| match component {
        Component::Normal(name) => EVERYWHERE
            .iter()
            .find(|(protected, _)| name.to_string_lossy().eq_ignore_ascii_case(protected))
            .map(|(protected, why)| {
                format!("protected: `{protected}` is not changed without a person, because {why}")
            }),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    by_name.or_else(|| {
        listed
            .iter()
            .find(|protected| path.starts_with(protected) || protected.starts_with(path))
            .map(|protected| format!("protected: `{}` holds what rein itself relies on", protected.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_rein_directories_are_protected_at_any_depth_and_in_any_case() {
        for shown in
            [".git/hooks/pre-commit", ".git", "vendor/lib/.git/config", ".GIT/config", ".rein/config.toml"]
        {
            assert!(reason(&Path::new("/w").join(shown), Path::new(shown), &[]).is_some(), "{shown}");
        }
        for shown in [".gitignore", ".github/workflows/ci.yml", "git/config", "src/.reindeer"] {
            assert_eq!(reason(&Path::new("/w").join(shown), Path::new(shown), &[]), None, "{shown}");
        }
    }

    #[test]
    fn a_listed_directory_is_protected_with_all_below_it_and_from_above() {
        let listed = [PathBuf::from("/home/me/.config/rein")];
        for path in ["/home/me/.config/rein/config.toml", "/home/me/.config/rein", "/home/me/.config"] {
            assert!(reason(Path::new(path), Path::new(path), &listed).is_some(), "{path}");
        }
        let other = Path::new("/home/me/.config/rein2");
        assert_eq!(reason(other, other, &listed), None);
    }
}
