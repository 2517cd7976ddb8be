//! Files that no compiled target reaches: they look like code and tests, and
//! are neither.
//!
//! Directories named `fixtures` hold data and are left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::Finding;
use crate::source::{Pulled, Source};
use crate::workspace::Package;

/// Rust files below a member that none of its targets pulls in.
pub fn check(packages: &[Package], sources: &[(PathBuf, String)], root: &Path) -> Vec<Finding> {
    let texts: BTreeMap<&Path, &str> =
        sources.iter().map(|(file, text)| (file.as_path(), text.as_str())).collect();
    let roots: Vec<PathBuf> = packages
        .iter()
        .flat_map(|package| package.targets.iter())
        .filter_map(|target| Some(target.src_path.strip_prefix(root).ok()?.to_path_buf()))
        .collect();
    let reached = reach(roots, &texts);
    let below_a_member = |file: &Path| {
        packages.iter().any(|package| {
            let directory = package.manifest_path.parent().and_then(|parent| parent.strip_prefix(root).ok());
            directory.is_some_and(|directory| file.starts_with(directory))
        })
    };
    texts
        .keys()
        .filter(|file| !reached.contains(**file) && below_a_member(file) && !is_data(file))
        .map(|file| Finding::new(file, 1, "no target reaches this file: declare it with `mod`, or remove it"))
        .collect()
}

fn is_data(file: &Path) -> bool {
    file.components().any(|component| component.as_os_str() == "fixtures")
}

fn reach(roots: Vec<PathBuf>, texts: &BTreeMap<&Path, &str>) -> BTreeSet<PathBuf> {
    let mut reached: BTreeSet<PathBuf> = BTreeSet::new();
    // A root owns the directory it lies in, like a `mod.rs`.
    let mut open: Vec<(PathBuf, PathBuf)> = roots.into_iter().map(|file| (owner(&file), file)).collect();
    while let Some((directory, file)) = open.pop() {
        let Some(text) = texts.get(file.as_path()) else { continue };
        if !reached.insert(file.clone()) {
            continue;
        }
        let pulled = Source::parse(text).map(|source| source.files).unwrap_or_default();
        for one in pulled {
            match one {
                Pulled::Module(module) => {
                    let flat = directory.join(&module).with_extension("rs");
                    let nested = directory.join(&module).join("mod.rs");
                    open.push((directory.join(&module), flat));
                    open.push((directory.join(&module), nested));
                }
                Pulled::Path(path) => {
                    let target = resolved(&owner(&file).join(path));
                    open.push((owner(&target), target));
                }
            }
        }
    }
    reached
}

fn owner(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

fn resolved(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Target;

    fn forgotten(targets: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let package = Package {
            manifest_path: "/r/crates/a/Cargo.toml".into(),
            dependencies: Vec::new(),
            targets: targets.iter().map(|path| Target { src_path: Path::new("/r").join(path) }).collect(),
        };
        let sources: Vec<(PathBuf, String)> =
            files.iter().map(|(file, text)| (file.into(), (*text).to_owned())).collect();
        let findings = check(&[package], &sources, Path::new("/r"));
        findings.iter().map(|finding| finding.file.display().to_string()).collect()
    }

    #[test]
    fn files_reached_by_any_kind_of_declaration_are_not_forgotten() {
        let found = forgotten(
            &["crates/a/src/lib.rs", "crates/a/tests/it/main.rs"],
            &[
                ("crates/a/src/lib.rs", "mod b; mod c; mod d { mod e; } #[path = \"../shared/f.rs\"] mod f;"),
                ("crates/a/src/b.rs", "mod inner;"),
                ("crates/a/src/b/inner.rs", ""),
                ("crates/a/src/c/mod.rs", "mod inner;"),
                ("crates/a/src/c/inner.rs", ""),
                ("crates/a/src/d/e.rs", ""),
                ("crates/a/shared/f.rs", ""),
                ("crates/a/tests/it/main.rs", "mod table;"),
                ("crates/a/tests/it/table.rs", ""),
                ("crates/a/tests/fixtures/broken.rs", "fn ("),
                ("elsewhere/x.rs", ""),
            ],
        );
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn files_that_nothing_declares_are_forgotten() {
        let found = forgotten(
            &["crates/a/src/lib.rs"],
            &[
                ("crates/a/src/lib.rs", "// mod b;\nmod c;"),
                ("crates/a/src/b.rs", ""),
                ("crates/a/src/c.rs", ""),
                ("crates/a/src/mod_c/c.rs", ""),
                ("crates/a/tests/it/table.rs", ""),
            ],
        );
        assert_eq!(found, ["crates/a/src/b.rs", "crates/a/src/mod_c/c.rs", "crates/a/tests/it/table.rs"]);
    }
}
