//! Which of the names there are somebody may have meant. Bounded in cost.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use crate::contract::Scene;
use crate::deadline::Stop;
use crate::walk::{Hidden, Manner, Met};
use crate::{path, walk};

/// As many as are worth showing.
const SHOWN: usize = 3;

/// Names beyond these are not compared.
const COMPARED: usize = 10_000;

/// Files beyond these are not looked through for one of a name.
const SEARCHED: usize = 20_000;

/// How alike two names must be, from 0 to 1.
const ALIKE: f64 = 0.8;

/// Those of the names that are most like `name`, the likeliest first.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut found: Vec<(f64, &str)> = names
        .into_iter()
        .take(COMPARED)
        .map(|candidate| (likeness(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    found.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    found.into_iter().take(SHOWN).map(|(_, candidate)| candidate).collect()
}

fn likeness(wanted: &str, candidate: &str) -> f64 {
    let (short, long) = (wanted.len().min(candidate.len()), wanted.len().max(candidate.len()));
    // Beyond this length the comparison costs more than it says.
    if long > 200 {
        return 0.0;
    }
    // One slip in a short name changes much of it.
    let slip = short >= 3 && strsim::osa_distance(wanted, candidate) == 1;
    let alike = strsim::jaro_winkler(wanted, candidate);
    if slip || has_other_end(wanted, candidate) { alike.max(ALIKE) } else { alike }
}

/// Whether two names of files differ in nothing but what is after the last dot.
fn has_other_end(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one), Path::new(other));
    one.extension().is_some() && one.file_stem() == other.file_stem()
}

/// What a missing file may have been meant to be, for the end of a complaint: names like its own beside
/// it, else files of its name elsewhere in the workspace. Only what may be read is named.
pub(crate) fn hint(missing: &Path, scene: &Scene, cancel: &CancellationToken) -> String {
    let beside = beside(missing, scene);
    let found = if beside.is_empty() { elsewhere(missing, scene, cancel) } else { beside };
    if !found.is_empty() {
        let shown: Vec<String> = found.iter().map(|file| path::shown(file, &scene.workspace)).collect();
        return format!(" Did you mean {}?", shown.join(" or "));
    }
    match missing.parent() {
        Some(parent) if !parent.exists() => {
            format!(" There is no directory {} either.", path::shown(parent, &scene.workspace))
        }
        _ => String::new(),
    }
}

fn beside(missing: &Path, scene: &Scene) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (missing.parent(), missing.file_name()) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    let names: Vec<String> = entries
        .filter_map(Result::ok)
        .take(COMPARED)
        .filter(|entry| (scene.may_read)(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let found = nearest(&name.to_string_lossy(), names.iter().map(String::as_str));
    found.into_iter().map(|name| parent.join(name)).collect()
}

/// Files of the same name, those first whose directories are most like the ones that were named.
fn elsewhere(missing: &Path, scene: &Scene, cancel: &CancellationToken) -> Vec<PathBuf> {
    let Some(name) = missing.file_name() else { return Vec::new() };
    let (stop, met) = (Stop::default(), Arc::new(Met::default()));
    let manner = Manner { hidden: Hidden::Visited, threads: 0 };
    let seen = AtomicUsize::new(0);
    let found: Mutex<Vec<PathBuf>> = Mutex::default();
    let walked = walk::visit(&path::followed(&scene.workspace), manner, &met, &stop, || {
        Box::new(|entry| {
            if seen.fetch_add(1, Ordering::Relaxed) >= SEARCHED || cancel.is_cancelled() {
                stop.set();
            } else if entry.file_name().eq_ignore_ascii_case(name) && (scene.may_read)(entry.path()) {
                found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(entry.path().to_owned());
            }
        })
    });
    if walked.is_err() {
        return Vec::new();
    }
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found
        .sort_by(|one, other| shared_end(other, missing).cmp(&shared_end(one, missing)).then(one.cmp(other)));
    found.truncate(SHOWN);
    found
}

/// How many of the names at the end of two paths are the same.
fn shared_end(one: &Path, other: &Path) -> usize {
    let names = |path: &Path| path.iter().rev().map(OsStr::to_owned).collect::<Vec<_>>();
    names(one)
        .iter()
        .zip(names(other).iter())
        .take_while(|(one, other)| one.eq_ignore_ascii_case(other))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_comes_first_and_the_unlike_not_at_all() {
        assert_eq!(nearest("mian.rs", ["lib.rs", "main.rs", "Main.rs", "README.md"]), ["Main.rs", "main.rs"]);
        assert_eq!(nearest("scr", ["src", "doc"]), ["src"]);
        assert_eq!(nearest("x.js", ["x.config", "y.css"]), ["x.config"]);
        assert_eq!(nearest("x", ["lib.rs", "y"]), Vec::<&str>::new());
    }
}
