//! Where a path really leads: every link on the way followed, also dangling
//! ones and those of `/proc`, so that a rule judges what would be touched.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use rein_permission::Paths;

/// More links than this are a loop.
const LINKS: usize = 40;

/// Paths as this machine's file system has them.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystemPaths;

impl Paths for FileSystemPaths {
    fn resolve(&self, path: &Path) -> PathBuf {
        let (mut resolved, mut rest, mut links) = (PathBuf::from("/"), parts(path), 0);
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                resolved.pop();
                continue;
            }
            let next = resolved.join(&part);
            match std::fs::read_link(&next) {
                Ok(target) if links < LINKS => {
                    links += 1;
                    if target.is_absolute() {
                        resolved = PathBuf::from("/");
                    }
                    for part in parts(&target).into_iter().rev() {
                        rest.push_front(part);
                    }
                }
                _ => resolved = next,
            }
        }
        resolved
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_wherever_they_lead() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        symlink("real/deep", root.join("link")).unwrap();
        symlink("/etc/missing", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let resolve = |path: &str| FileSystemPaths.resolve(&root.join(path));
        assert_eq!(resolve("link/new"), root.join("real/deep/new"));
        assert_eq!(resolve("link/../x"), root.join("real/x"));
        assert_eq!(resolve("dangling"), PathBuf::from("/etc/missing"));
        assert_eq!(resolve("./a/../b"), root.join("b"));
        assert!(resolve("loop").starts_with(&root));
        assert_eq!(FileSystemPaths.resolve(Path::new("/proc/self/root/etc")), PathBuf::from("/etc"));
    }
}
