//! Instruction files below the workspace's root: shown to the model once, when
//! it first reads something in their directory or below it.
//!
//! Which those are, and which have been shown, is known here; that they are read
//! only with permission is the business of the call that reads. Those of the root
//! and above it are the engine's. A link that leads out of the workspace is not
//! followed.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::contract::Scene;
use crate::{encoding, files, path};

/// Of the files in one directory the first of these counts.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];

/// Bytes that are shown with one call.
const MOST_BYTES: usize = 32 * 1024;

/// Bytes of a file that are read at all.
const MOST_LOADED: u64 = 1024 * 1024;

/// Directories above what is read that are looked at.
const MOST_DIRECTORIES: usize = 64;

/// Which instruction files a conversation has been shown.
#[derive(Debug, Default)]
pub struct Instructions {
    attached: Mutex<HashSet<PathBuf>>,
}

impl Instructions {
    /// For a conversation that has been shown these already. Paths of other files do no harm.
    #[must_use]
    pub fn attached(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { attached: Mutex::new(paths.into_iter().collect()) }
    }

    /// Has all of them shown again, because the conversation no longer has them.
    pub fn forget(&self) {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Those that belong to what is at a resolved path and have not been shown, the outermost first.
    pub(crate) fn pending(&self, of: &Path, scene: &Scene) -> Vec<PathBuf> {
        let root = path::followed(&scene.workspace);
        let from = if of.is_dir() { Some(of) } else { of.parent() };
        let Some(from) = from.filter(|from| from.starts_with(&root)) else { return Vec::new() };
        let mut found: Vec<PathBuf> = from
            .ancestors()
            .take_while(|directory| *directory != root)
            .take(MOST_DIRECTORIES)
            .filter_map(|directory| instruction_file(directory, &root))
            .filter(|file| file != of && (scene.may_read)(file))
            .collect();
        found.reverse();
        found.dedup();
        let attached = self.attached.lock().unwrap_or_else(PoisonError::into_inner);
        found.retain(|file| !attached.contains(file));
        found
    }

    /// That a file has been shown as such.
    pub(crate) fn note(&self, path: &Path) {
        if path.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known)) {
            self.attached.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        }
    }

    /// What the model is told of these, unless another call has been told in the meantime.
    pub(crate) fn attach(&self, pending: &[PathBuf], scene: &Scene) -> Option<String> {
        let fresh: Vec<&PathBuf> = {
            let mut attached = self.attached.lock().unwrap_or_else(PoisonError::into_inner);
            pending.iter().filter(|file| attached.insert((*file).clone())).collect()
        };
        let mut told = String::new();
        let mut room = MOST_BYTES;
        for file in fresh {
            let Ok(loaded) = files::load(file, MOST_LOADED) else { continue };
            let text = match encoding::decode(&loaded.bytes) {
                Some((text, _)) => text,
                None => String::from_utf8_lossy(&loaded.bytes).into_owned(),
            };
            let text = text.trim();
            if !text.is_empty() {
                fence(&mut told, text, &path::shown(file, &scene.workspace), &mut room);
            }
        }
        (!told.is_empty()).then_some(told)
    }
}

/// A label and a fence around a text, so that it is taken for what it is.
fn fence(told: &mut String, text: &str, shown: &str, room: &mut usize) {
    let cut = text.floor_char_boundary(text.len().min(*room));
    let (kept, rest) = text.split_at(cut);
    *room -= kept.len();
    // The text must not end its fence itself.
    let kept = kept.replace("</instructions", "<\\/instructions");
    let label = "The project's instructions for this directory and what is below it:";
    let _ = write!(told, "{label}\n<instructions from=\"{shown}\">\n{kept}\n</instructions>\n");
    if !rest.is_empty() {
        let _ = writeln!(told, "[{} bytes of {shown} left out; read it if they may matter]", rest.len());
    }
}

fn instruction_file(directory: &Path, root: &Path) -> Option<PathBuf> {
    NAMES.iter().find_map(|name| {
        let file = directory.join(name);
        let metadata = file.symlink_metadata().ok()?;
        let file = if metadata.is_symlink() { path::followed(&file) } else { file };
        let is_file = file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        (is_file && file.starts_with(root)).then_some(file)
    })
}
