//! What a search for names tells the model: files newest first, and what to do
//! when there are too many or none.

use std::path::Path;

use super::Found;
use crate::contract::{Output, Scene};
use crate::deadline::Ended;
use crate::listing;
use crate::walk::Met;

/// Writes the files.
pub(super) fn write(found: &Found, scene: &Scene, output: &mut dyn Output) {
    let files: Vec<&Path> = found.files.iter().map(|(_, file)| file.as_path()).collect();
    listing::write(&files, scene, output);
}

/// What the model should know besides.
pub(super) fn trailer(found: &Found, met: &Met, root: &str, ended: &Ended, scene: &Scene) -> Option<String> {
    let mut notes: Vec<String> = ended.note().into_iter().collect();
    if found.total == 0 {
        notes.push(format!("no files match; {}", met.unseen()));
    } else if found.total > found.files.len() {
        let (newest, total) = (found.files.len(), found.total);
        notes.push(format!("the newest {newest} of {total} files; use a narrower pattern or path"));
        notes.extend(found.crowd.hint(root));
    }
    notes.extend(met.notes(scene));
    (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
}
