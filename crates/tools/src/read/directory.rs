//! The names in a directory.

use std::io;
use std::path::Path;

use super::{Range, View};
use crate::contract::Scene;
use crate::path::printable;
use crate::walk::left_out_note;

/// Names in order, directories with `/` and links with `@`.
pub(super) fn view(path: &Path, range: Range, scene: &Scene) -> io::Result<View> {
    let mut names = Vec::new();
    let mut left_out = 0;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if !(scene.may_read)(&entry.path()) {
            left_out += 1;
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let mark = match entry.file_type() {
            Ok(kind) if kind.is_dir() => "/",
            Ok(kind) if kind.is_symlink() => "@",
            _ => "",
        };
        names.push(format!("{}{mark}", printable(&name)));
    }
    names.sort_unstable();
    let total = names.len() as u64;
    let skipped = usize::try_from(range.first - 1).unwrap_or(usize::MAX);
    let shown: Vec<String> =
        names.into_iter().skip(skipped).take(usize::try_from(range.count).unwrap_or(usize::MAX)).collect();
    let last = range.first - 1 + shown.len() as u64;
    let mut notes = Vec::new();
    if total == 0 && left_out == 0 {
        notes.push("empty directory".to_owned());
    } else if shown.is_empty() && total > 0 {
        notes.push(format!("offset {} is past the end: the directory has {total} entries", range.first));
    } else if last < total {
        notes.push(format!("entries {}-{last} of {total}: continue with offset {}", range.first, last + 1));
    }
    notes.extend(left_out_note(left_out));
    let text = shown.iter().map(|name| format!("{name}\n")).collect();
    Ok(View { text, notes, summary: format!("{total} entries"), seen: None })
}
