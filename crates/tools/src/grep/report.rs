//! What a search of contents tells the model: as much as fits, how much there
//! was, and how to see the rest.

use std::path::Path;

use super::collect::{SHOWN_MATCHES, Show};
use super::search::Found;
use crate::bound::OUTPUT_BYTES;
use crate::contract::{Output, Scene};
use crate::deadline::Ended;
use crate::listing;
use crate::walk::Met;

/// Writes what was found as far as it fits; returns how many matches or files that were.
pub(super) fn write(
    found: &Found,
    show: Show,
    name: impl Fn(&Path) -> String,
    scene: &Scene,
    output: &mut dyn Output,
) -> usize {
    match show {
        Show::Lines => write_lines(found, name, output),
        Show::Files => {
            let files: Vec<&Path> = found.first().map(|(path, _)| path).take(SHOWN_MATCHES).collect();
            listing::write(&files, scene, output);
            files.len()
        }
        Show::Counts => {
            let mut count = 0;
            for (path, hits) in found.first().take(SHOWN_MATCHES) {
                output.write(format!("{}: {}\n", name(path), hits.matches).as_bytes());
                count += 1;
            }
            count
        }
    }
}

fn write_lines(found: &Found, name: impl Fn(&Path) -> String, output: &mut dyn Output) -> usize {
    let mut room = OUTPUT_BYTES;
    let mut matches = 0;
    for (index, (path, hits)) in found.first().enumerate() {
        let separator = if index == 0 { "" } else { "\n" };
        let mut text = format!("{separator}{}\n", name(path));
        let mut shown = 0;
        for line in &hits.lines {
            // A rough bound is good enough to decide what not to show any more.
            if matches + shown >= SHOWN_MATCHES || text.len() + line.text.len() > room {
                break;
            }
            text.push_str(&line.text);
            text.push('\n');
            shown += usize::from(line.is_match);
        }
        if shown == 0 {
            break;
        }
        matches += shown;
        room = room.saturating_sub(text.len());
        output.write(text.as_bytes());
    }
    matches
}

/// A few words for a person.
pub(super) fn summary(found: &Found, show: Show) -> String {
    match show {
        Show::Files => format!("{} files", found.files),
        Show::Lines | Show::Counts => format!("{} matches in {} files", found.matches, found.files),
    }
}

/// What the model should know besides.
pub(super) fn trailer(
    (found, show, written): (&Found, Show, usize),
    met: &Met,
    root: &str,
    ended: &Ended,
    scene: &Scene,
) -> Option<String> {
    let mut notes: Vec<String> = ended.note().into_iter().collect();
    if let Ended::Late(_) = ended {
        notes.push(format!("{} files were searched", met.files()));
    }
    let all = if show == Show::Lines { found.matches } else { found.files };
    if found.matches == 0 {
        notes.push(format!("no matches; {}", met.unseen()));
        notes.extend((found.binary > 0).then(|| format!("{} binary files not searched", found.binary)));
    } else if written < all {
        notes.push(match show {
            Show::Lines => format!(
                "{written} of {} matches in {} files; narrow pattern, path or glob to see the others",
                found.matches, found.files
            ),
            Show::Files | Show::Counts => {
                format!("{written} of {} files; narrow pattern, path or glob to see the others", found.files)
            }
        });
        notes.extend(found.crowd.hint(root));
    }
    if found.matches > 0 && found.binary_matching > 0 {
        notes.push(format!("matches in {} binary files not shown", found.binary_matching));
    }
    if found.unsearched > 0 {
        notes.push(format!("{} files could not be searched", found.unsearched));
    }
    notes.extend(met.notes(scene));
    (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
}
