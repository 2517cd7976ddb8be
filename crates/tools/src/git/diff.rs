//! `diff`: what changed, files first and then the lines as far as they fit.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::ask::{Asker, MOST_ANSWER, Stop};
use super::request::{Between, Named, Range, Revision};
use super::{Told, pathspecs, words};
use crate::program::Extent;

/// Files whose numbers are shown.
const SHOWN_FILES: usize = 100;

/// Bytes of changed lines that are shown.
const PATCH_BYTES: usize = 36 * 1024;

/// More files than this that may not be seen cannot be left out by name.
const MOST_LEFT_OUT: usize = 500;

/// How every comparison is made: nothing is run for it, and it looks the same everywhere.
const PLAIN: &[&str] = &[
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--no-relative",
];

/// What the newer side of a comparison is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Something that git has stored.
    Stored,
    /// The files as they are.
    Files,
}

/// A file and how many lines of it changed.
#[derive(Debug, PartialEq, Eq)]
struct Count {
    path: PathBuf,
    before: Option<PathBuf>,
    /// Nothing for binary files.
    lines: Option<(u64, u64)>,
}

pub(super) async fn diff(asker: &Asker<'_>, between: &Between, paths: &[Named]) -> Result<Told, Stop> {
    let mut command = words(&["diff"]);
    match between {
        Between::IndexAndFiles => {}
        Between::HeadAndIndex => command.push("--cached".into()),
        Between::RevisionAndIndex(rev) => {
            command.push("--cached".into());
            command.push(asker.commit(rev).await?.into());
        }
        Between::RevisionAndFiles(rev) => command.push(asker.commit(rev).await?.into()),
        Between::Range(Range::One(rev)) => command.push(asker.commit(rev).await?.into()),
        Between::Range(Range::Two { from, dots, to }) => {
            command.push(range(asker, from, dots, to).await?.into())
        }
    }
    let side = match between {
        Between::IndexAndFiles | Between::RevisionAndFiles(_) => Side::Files,
        Between::HeadAndIndex | Between::RevisionAndIndex(_) | Between::Range(_) => Side::Stored,
    };
    let mut told = compare(asker, &command, paths, side).await?;
    if told.text.is_empty() {
        told.text = match between {
            Between::IndexAndFiles => {
                "no changes that are not staged; staged ones: staged true; new files: status\n".into()
            }
            Between::HeadAndIndex => "nothing is staged\n".into(),
            Between::RevisionAndIndex(_) | Between::RevisionAndFiles(_) | Between::Range(_) => {
                "no differences\n".into()
            }
        };
    }
    Ok(told)
}

/// Two commits as git takes them, by their hashes.
pub(super) async fn range(
    asker: &Asker<'_>,
    from: &Revision,
    dots: &str,
    to: &Revision,
) -> Result<String, Stop> {
    Ok(format!("{}{dots}{}", asker.commit(from).await?, asker.commit(to).await?))
}

/// What a command that prints differences says: the numbers of files, then the lines.
pub(super) async fn compare(
    asker: &Asker<'_>,
    command: &[OsString],
    paths: &[Named],
    side: Side,
) -> Result<Told, Stop> {
    let base: Vec<OsString> = command.iter().cloned().chain(words(PLAIN)).collect();
    let mut arguments = base.clone();
    arguments.extend(words(&["--numstat", "-z", "--"]));
    arguments.extend(pathspecs(asker.repository, paths));
    let answer = asker.ask(&arguments, MOST_ANSWER).await?;
    let may = |path: &PathBuf| (asker.scene.may_read)(&asker.repository.root.join(path));
    let (counts, hidden): (Vec<Count>, Vec<Count>) = counts(&answer.output)
        .into_iter()
        .partition(|count| may(&count.path) && count.before.as_ref().is_none_or(may));
    let mut told = Told { text: numbers(asker, &counts), notes: Vec::new(), summary: totals(&counts) };
    if answer.extent == Extent::Cut {
        told.notes.push("there are more files than can be counted".to_owned());
    }
    if counts.len() > SHOWN_FILES {
        told.notes.push(format!("{SHOWN_FILES} of {} files shown; narrow with paths", counts.len()));
    }
    if !hidden.is_empty() {
        told.notes.push(format!("{} files left out: not permitted", hidden.len()));
    }
    if counts.is_empty() {
        return Ok(told);
    }
    if side == Side::Files {
        told.notes.extend(asker.unfiltered(counts.iter().map(|count| &count.path)).await?);
    }
    if hidden.len() > MOST_LEFT_OUT || answer.extent == Extent::Cut {
        told.notes.push("the lines are not shown; narrow with paths".to_owned());
        return Ok(told);
    }
    let mut arguments = base;
    arguments.extend(words(&["--patch", "--unified=3", "--"]));
    arguments.extend(pathspecs(asker.repository, paths));
    arguments.extend(
        hidden
            .iter()
            .flat_map(|count| [Some(&count.path), count.before.as_ref()])
            .flatten()
            .map(|path| excluded(path)),
    );
    let patch = asker.ask(&arguments, PATCH_BYTES).await?;
    let lines = String::from_utf8_lossy(&patch.output);
    let lines = match patch.extent {
        Extent::Whole => &*lines,
        Extent::Cut => lines.rsplit_once('\n').map_or("", |(whole, _)| whole),
    };
    told.text.push('\n');
    told.text.push_str(lines);
    if patch.extent == Extent::Cut {
        told.text.push('\n');
        let begun = lines.lines().filter(|line| line.starts_with("diff --")).count();
        told.notes.push(format!(
            "the lines of {begun} of {} files are shown, the last one in part; narrow with paths to see the others",
            counts.len()
        ));
    }
    Ok(told)
}

/// Nothing at all if there is nothing.
fn numbers(asker: &Asker<'_>, counts: &[Count]) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", totals(counts));
    for count in counts.iter().take(SHOWN_FILES) {
        let shown = |path: &PathBuf| asker.repository.shown(path, asker.scene);
        let before = count.before.as_ref().map(|before| format!("{} -> ", shown(before))).unwrap_or_default();
        let lines = match count.lines {
            Some((added, removed)) => format!("+{added} -{removed}"),
            None => "binary".to_owned(),
        };
        text.push_str(&format!("  {before}{} {lines}\n", shown(&count.path)));
    }
    text
}

fn totals(counts: &[Count]) -> String {
    let (added, removed) =
        counts.iter().filter_map(|count| count.lines).fold((0_u64, 0_u64), |(a, r), (added, removed)| {
            (a.saturating_add(added), r.saturating_add(removed))
        });
    let files = if counts.len() == 1 { "file" } else { "files" };
    format!("{} {files}, +{added} -{removed}", counts.len())
}

/// What `--numstat -z` printed: `1\t2\tname\0`, or `1\t2\t\0before\0after\0`.
fn counts(output: &[u8]) -> Vec<Count> {
    let mut found = Vec::new();
    let mut records = output.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        // A commit that is shown may leave an empty line before its files.
        let record = record.trim_ascii_start();
        let mut fields = record.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(removed), Some(name)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
        let lines = number(added).zip(number(removed));
        if name.is_empty() {
            let (Some(before), Some(after)) = (records.next(), records.next()) else { break };
            found.push(Count { path: path(after), before: Some(path(before)), lines });
        } else {
            found.push(Count { path: path(name), before: None, lines });
        }
    }
    // A file with conflicts is there twice, and what it is now comes last.
    found.reverse();
    let mut seen = HashSet::new();
    found.retain(|count: &Count| seen.insert(count.path.clone()));
    found.reverse();
    found
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

fn excluded(path: &Path) -> OsString {
    let mut pathspec = b":(top,exclude,literal)".to_vec();
    pathspec.extend_from_slice(path.as_os_str().as_bytes());
    OsString::from_vec(pathspec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_changed_binary_and_moved_files() {
        let output = b"1\t2\ta b\0-\t-\tpicture\0\n3\t0\t\0old\0new\0";
        let count = |path: &str, before: Option<&str>, lines| Count {
            path: path.into(),
            before: before.map(PathBuf::from),
            lines,
        };
        assert_eq!(
            counts(output),
            [
                count("a b", None, Some((1, 2))),
                count("picture", None, None),
                count("new", Some("old"), Some((3, 0)))
            ]
        );
        assert_eq!(totals(&counts(output)), "3 files, +4 -2");
        assert_eq!(counts(b"0\t0\ttorn\x004\t0\ttorn\0"), [count("torn", None, Some((4, 0)))]);
        for broken in [&b"1"[..], b"1\t2", b"1\t2\t\0", b"1\t2\t\0a"] {
            assert_eq!(counts(broken), []);
        }
    }
}
