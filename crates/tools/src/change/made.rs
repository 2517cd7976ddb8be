//! Making a change of files: all of them or none.
//!
//! Everything is looked at again before anything is touched. Then files are
//! written, and those that go are given another name beside them; only when all
//! of that is done are they gone. If something fails in between, what was done
//! is undone: a name is given back, an old content is written again, a new file
//! and its new directories are removed.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{MOST_BYTES, Part, readable, unprotected};
use crate::contract::Scene;
use crate::files::{self, LoadError};
use crate::memory::Seen;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Makes a change, or says why nothing was done.
pub(super) fn make(parts: &[Part], scene: &Scene) -> Result<(), String> {
    for part in parts {
        check(part, scene)?;
    }
    let mut done: Vec<Done<'_>> = Vec::new();
    // What goes goes last: a file that is moved is still needed until it is where it belongs.
    let (written, gone): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|part| part.after.is_some());
    for part in written.into_iter().chain(gone) {
        match step(part) {
            Ok(step) => done.push(step),
            Err(error) => return Err(undone(&done, part, &error)),
        }
    }
    for step in done {
        step.settle(scene);
    }
    Ok(())
}

/// Whether a file is still what it was when the change was planned.
fn check(part: &Part, scene: &Scene) -> Result<(), String> {
    part.place.still_leads_here(scene)?;
    let shown = &part.place.shown;
    let now = match files::load(&part.place.path, MOST_BYTES) {
        Ok(loaded) => Some(loaded.bytes),
        Err(LoadError::Missing) => None,
        Err(_) => return Err(format!("Nothing was done: {shown} is no longer a file that can be read.")),
    };
    if now != part.before {
        return Err(format!(
            "Nothing was done: {shown} changed while the call waited. Read it again, then change it."
        ));
    }
    unprotected(&part.place)
}

/// What has been done for a part.
struct Done<'a> {
    part: &'a Part,
    kind: Kind,
}

enum Kind {
    /// Written; with the uppermost directory that was made for it.
    Written(Seen, Option<PathBuf>),
    /// Given this other name.
    Aside(PathBuf),
    /// There was nothing and there is nothing.
    Nothing,
}

fn step(part: &Part) -> io::Result<Done<'_>> {
    let path = &part.place.path;
    let kind = match (&part.after, &part.before) {
        (Some(bytes), _) => write(part, path, bytes)?,
        (None, Some(_)) => Kind::Aside(put_aside(path)?),
        (None, None) => Kind::Nothing,
    };
    Ok(Done { part, kind })
}

fn write(part: &Part, path: &Path, bytes: &[u8]) -> io::Result<Kind> {
    let missing = path.ancestors().skip(1).take_while(|parent| !parent.exists()).last().map(Path::to_owned);
    let written = files::replace(path, bytes).and_then(|seen| match &part.mode_of {
        Some(source) if part.before.is_none() => {
            let mode = std::fs::symlink_metadata(source)?.permissions().mode();
            std::fs::set_permissions(path, Permissions::from_mode(mode & 0o7777))?;
            Ok(seen)
        }
        _ => Ok(seen),
    });
    written.map(|seen| Kind::Written(seen, missing.clone())).inspect_err(|_| {
        if part.before.is_none() {
            let _ = std::fs::remove_file(path);
        }
        remove_directories(path, missing.as_deref());
    })
}

/// Another name for a file, in its directory, so that it can be given back without a copy.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!(".rein-{}-{number}.gone.tmp", std::process::id());
    let aside = path.with_file_name(name);
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

impl Done<'_> {
    /// It stays.
    fn settle(self, scene: &Scene) {
        let path = &self.part.place.path;
        match self.kind {
            Kind::Written(seen, _) => match self.part.after.as_deref().and_then(readable) {
                Some(text) => scene.files.remember_text(path, seen, &text),
                None => scene.files.remember(path, seen),
            },
            Kind::Aside(aside) => {
                // A file that could not be removed is only litter, and it is no longer where it was.
                let _ = std::fs::remove_file(aside);
                scene.files.forget(path);
            }
            Kind::Nothing => {}
        }
        if let Some((key, text)) = &self.part.snapshot {
            scene.snapshots.keep(key, text);
        }
    }

    /// It is undone.
    fn undo(&self) -> io::Result<()> {
        let path = &self.part.place.path;
        match (&self.kind, &self.part.before) {
            (Kind::Written(..), Some(before)) => files::replace(path, before).map(|_| ()),
            (Kind::Written(_, made), None) => {
                std::fs::remove_file(path)?;
                remove_directories(path, made.as_deref());
                Ok(())
            }
            (Kind::Aside(aside), _) => std::fs::rename(aside, path),
            (Kind::Nothing, _) => Ok(()),
        }
    }
}

/// Removes the empty directories above a file, up to one that was made for it.
fn remove_directories(path: &Path, uppermost: Option<&Path>) {
    let Some(uppermost) = uppermost else { return };
    for parent in path.ancestors().skip(1).take_while(|parent| parent.starts_with(uppermost)) {
        let _ = std::fs::remove_dir(parent);
    }
}

/// Undoes what was done, and says so.
fn undone(done: &[Done<'_>], failed: &Part, error: &io::Error) -> String {
    let stuck: Vec<&str> = done
        .iter()
        .rev()
        .filter(|step| step.undo().is_err())
        .map(|step| step.part.place.shown.as_str())
        .collect();
    let shown = &failed.place.shown;
    let action = if failed.after.is_some() { "written" } else { "removed" };
    match (done.is_empty(), stuck.as_slice()) {
        (true, _) => format!("{shown} could not be {action}: {error}."),
        (false, []) => {
            format!("{shown} could not be {action}: {error}. Nothing was changed in the other files.")
        }
        (false, stuck) => format!(
            "{shown} could not be {action}: {error}. These files had been changed already and could not be set back: {}. Read them.",
            stuck.join(", ")
        ),
    }
}
