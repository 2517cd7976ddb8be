//! Snapshots: ones whose test is gone, and ones that nobody has looked at yet.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::error::XtaskError;
use crate::workspace::Workspace;

/// Directories that are never looked into.
const SKIPPED: [&str; 3] = ["target", ".git", "node_modules"];

/// Every snapshot that no test makes, and every one that waits for a decision.
pub fn check(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<Finding>, XtaskError> {
    let mut findings = pending(workspace.root(), workspace.root());
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "snap")) {
        let text = workspace.read(file)?;
        let source = source_of(&text).map(|source| (source, workspace.read(Path::new(source)).ok()));
        findings.extend(orphan(file, source).map(|message| Finding::new(file, 1, message)));
    }
    Ok(findings)
}

/// The file whose test makes a snapshot, as its header says.
fn source_of(text: &str) -> Option<&str> {
    let header = text.strip_prefix("---\n")?;
    let header = header.split("\n---").next()?;
    header
        .lines()
        .find_map(|line| line.strip_prefix("source: "))
        .map(|source| source.trim().trim_matches('"'))
}

/// Why a snapshot has no test, if it has none.
fn orphan(file: &Path, source: Option<(&str, Option<String>)>) -> Option<String> {
    let Some((source, text)) = source else {
        return Some("has no header that says which test makes it".to_owned());
    };
    let Some(text) = text else { return Some(format!("was made by {source}, which is gone: remove it")) };
    let name = name_of(file);
    let mentions = |word: &str| {
        text.contains(&format!("fn {word}("))
            || text.contains(&format!("fn test_{word}("))
            || text.contains(&format!("\"{word}\""))
    };
    // A name that the test computes cannot be looked up.
    let computed = text.lines().any(|line| {
        let argument = line.split_once("_snapshot!(").map(|(_, argument)| argument.trim_start());
        argument.is_some_and(|argument| argument.starts_with("format!") || argument.starts_with("name"))
    });
    (!mentions(&name) && !computed).then(|| format!("no test `{name}` is left in {source}: remove it"))
}

/// The test or snapshot name in `crate__module__name@suffix-2.snap`.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = stem.split('@').next().unwrap_or_default();
    let name = stem.rsplit("__").next().unwrap_or_default();
    match name.rsplit_once('-') {
        Some((name, count)) if count.chars().all(|digit| digit.is_ascii_digit()) => name.to_owned(),
        _ => name.to_owned(),
    }
}

fn pending(root: &Path, directory: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Ok(entries) = std::fs::read_dir(directory) else { return findings };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && !SKIPPED.contains(&name.as_str()) {
            findings.extend(pending(root, &path));
        } else if name.ends_with(".snap.new") || name.ends_with(".pending-snap") {
            let message = "waits for a decision: take it over as the snapshot, or remove it";
            findings.push(Finding::new(path.strip_prefix(root).unwrap_or(&path), 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_the_source() {
        let text = "---\nsource: crates/a/src/b.rs\nexpression: x\n---\nsource: not this\n";
        assert_eq!(source_of(text), Some("crates/a/src/b.rs"));
        assert_eq!(source_of("text"), None);
    }

    #[test]
    fn a_snapshot_without_its_test_is_an_orphan() {
        let file = Path::new("crates/a/src/snapshots/a__b__tests__the_name-2.snap");
        let why = |text: Option<&str>| orphan(file, Some(("b.rs", text.map(str::to_owned))));
        assert_eq!(why(Some("fn the_name() { insta::assert_snapshot!(x); }")), None);
        assert_eq!(why(Some("assert_snapshot!(\"the_name\", x)")), None);
        assert_eq!(why(Some("assert_snapshot!(name, x)")), None);
        assert_eq!(
            why(Some("fn other() {}")).as_deref(),
            Some("no test `the_name` is left in b.rs: remove it")
        );
        assert_eq!(why(None).as_deref(), Some("was made by b.rs, which is gone: remove it"));
        assert!(orphan(file, None).is_some());
    }

    #[test]
    fn snapshots_that_wait_are_found_outside_of_build_directories() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for name in ["src/snapshots/a.snap.new", "src/.b.rs.pending-snap", "target/c.snap.new", "src/d.snap"]
        {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let mut found: Vec<PathBuf> = pending(root, root).into_iter().map(|finding| finding.file).collect();
        found.sort();
        assert_eq!(
            found,
            [PathBuf::from("src/.b.rs.pending-snap"), PathBuf::from("src/snapshots/a.snap.new")]
        );
    }
}
