//! `status`: what is staged, changed, new and in conflict, by the format that git promises not to change.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::ask::{Asker, MOST_ANSWER, Stop};
use super::request::Named;
use super::{Told, words};
use crate::program::Extent;

/// Files that are shown of each kind.
const SHOWN: usize = 100;

/// What git said of a working tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    commit: Option<String>,
    head: Option<String>,
    upstream: Option<String>,
    ahead: u64,
    behind: u64,
    staged: Vec<Entry>,
    changed: Vec<Entry>,
    conflicts: Vec<Entry>,
    untracked: Vec<Entry>,
}

/// A file and what happened to it.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    what: String,
    path: PathBuf,
    before: Option<PathBuf>,
}

pub(super) async fn status(asker: &Asker<'_>, paths: &[Named]) -> Result<Told, Stop> {
    let mut arguments = words(&[
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--ignore-submodules=dirty",
        "--untracked-files=normal",
        "--renames",
        "--",
    ]);
    arguments.extend(super::pathspecs(asker.repository, paths));
    let answer = asker.ask(&arguments, MOST_ANSWER).await?;
    let mut state = State::parse(&answer.output);
    let hidden = state.leave_out(|path| (asker.scene.may_read)(&asker.repository.root.join(path)));
    let mut told = state.tell(asker);
    if hidden > 0 {
        told.notes.push(format!("{hidden} files left out: not permitted"));
    }
    if answer.extent == Extent::Cut {
        told.notes.push("there is more than can be read; narrow with paths".to_owned());
    }
    told.notes.extend(asker.unfiltered(state.changed.iter().map(|entry| &entry.path)).await?);
    told.notes.extend(asker.repository.in_progress().map(str::to_owned));
    Ok(told)
}

impl State {
    pub(super) fn parse(output: &[u8]) -> Self {
        let mut state = Self::default();
        let mut records = output.split(|byte| *byte == 0);
        while let Some(record) = records.next() {
            match record.split_first() {
                Some((b'#', rest)) => state.header(&String::from_utf8_lossy(rest)),
                Some((b'1', _)) => state.file(record, 8, None),
                Some((b'2', _)) => {
                    let before = records.next().map(path);
                    state.file(record, 9, before);
                }
                Some((b'u', _)) => {
                    if let Some((kind, name)) = fields(record, 10) {
                        state.conflicts.push(Entry { what: kind, path: name, before: None });
                    }
                }
                Some((b'?', rest)) => {
                    let name = rest.strip_prefix(b" ").unwrap_or(rest);
                    state.untracked.push(Entry { what: String::new(), path: path(name), before: None });
                }
                _ => {}
            }
        }
        state
    }

    fn header(&mut self, line: &str) {
        let mut parts = line.trim().splitn(2, ' ');
        let (key, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        match (key, value) {
            ("branch.oid", "(initial)") | ("branch.head", "(detached)") => {}
            ("branch.oid", commit) => self.commit = Some(commit.chars().take(10).collect()),
            ("branch.head", head) => self.head = Some(head.to_owned()),
            ("branch.upstream", upstream) => self.upstream = Some(upstream.to_owned()),
            ("branch.ab", counts) => {
                let mut counts =
                    counts.split(' ').map(|count| count.get(1..).unwrap_or_default().parse().unwrap_or(0));
                self.ahead = counts.next().unwrap_or(0);
                self.behind = counts.next().unwrap_or(0);
            }
            _ => {}
        }
    }

    /// A file that is staged, changed or both.
    fn file(&mut self, record: &[u8], before_name: usize, before: Option<PathBuf>) {
        let Some((kinds, name)) = fields(record, before_name) else { return };
        let mut kinds = kinds.chars();
        let (index, files) = (kinds.next().unwrap_or('.'), kinds.next().unwrap_or('.'));
        // A name of before belongs to the side on which it changed.
        let moved = |kind: char| matches!(kind, 'R' | 'C').then(|| before.clone()).flatten();
        if index != '.' {
            self.staged.push(Entry { what: index.to_string(), path: name.clone(), before: moved(index) });
        }
        if files != '.' {
            self.changed.push(Entry { what: files.to_string(), path: name, before: moved(files) });
        }
    }

    /// Removes what may not be seen, and says how much that was.
    fn leave_out(&mut self, may: impl Fn(&PathBuf) -> bool) -> usize {
        let mut hidden = 0;
        for entries in [&mut self.staged, &mut self.changed, &mut self.conflicts, &mut self.untracked] {
            let all = entries.len();
            entries.retain(|entry| may(&entry.path) && entry.before.as_ref().is_none_or(&may));
            hidden += all - entries.len();
        }
        hidden
    }

    fn tell(&self, asker: &Asker<'_>) -> Told {
        let mut text = self.place();
        let mut notes = Vec::new();
        let groups = [
            ("conflicts", &self.conflicts),
            ("staged", &self.staged),
            ("changed", &self.changed),
            ("untracked", &self.untracked),
        ];
        let mut counts = Vec::new();
        for (title, entries) in groups {
            if entries.is_empty() {
                continue;
            }
            counts.push(format!("{} {title}", entries.len()));
            text.push_str(&format!("{title}:\n"));
            for entry in entries.iter().take(SHOWN) {
                let shown = |path: &PathBuf| asker.repository.shown(path, asker.scene);
                let before =
                    entry.before.as_ref().map(|before| format!("{} -> ", shown(before))).unwrap_or_default();
                let directory = if entry.path.as_os_str().as_bytes().ends_with(b"/") { "/" } else { "" };
                let what = if entry.what.is_empty() { String::new() } else { format!("{} ", entry.what) };
                text.push_str(&format!(
                    "  {what}{before}{}{directory}\n",
                    shown(&entry.path).trim_end_matches('/')
                ));
            }
            if entries.len() > SHOWN {
                notes.push(format!("{SHOWN} of {} {title} files shown; narrow with paths", entries.len()));
            }
        }
        if counts.is_empty() {
            counts.push("clean".to_owned());
            text.push_str("nothing to commit\n");
        }
        Told { text, notes, summary: counts.join(", ") }
    }

    /// Where the head is.
    fn place(&self) -> String {
        let mut text = match (&self.head, &self.commit) {
            (Some(head), Some(_)) => format!("on {head}"),
            (Some(head), None) => format!("on {head}, no commits yet"),
            (None, Some(commit)) => format!("detached at {commit}"),
            (None, None) => "no branch".to_owned(),
        };
        if let Some(upstream) = &self.upstream {
            let distance = match (self.ahead, self.behind) {
                (0, 0) => "up to date with".to_owned(),
                (ahead, 0) => format!("{ahead} ahead of"),
                (0, behind) => format!("{behind} behind"),
                (ahead, behind) => format!("{ahead} ahead of and {behind} behind"),
            };
            text.push_str(&format!(", {distance} {upstream}"));
        }
        text.push('\n');
        text
    }
}

/// The two letters of a record, and the name after so many fields.
fn fields(record: &[u8], before_name: usize) -> Option<(String, PathBuf)> {
    let mut parts = record.splitn(before_name + 1, |byte| *byte == b' ');
    let kinds = parts.nth(1)?;
    let name = parts.nth(before_name - 2)?;
    Some((String::from_utf8_lossy(kinds).into_owned(), path(name)))
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(what: &str, path: &str, before: Option<&str>) -> Entry {
        Entry { what: what.into(), path: path.into(), before: before.map(PathBuf::from) }
    }

    #[test]
    fn every_kind_of_record_is_understood() {
        let output = b"# branch.oid 0123456789abcdef\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -1\0\
            1 MM N... 100644 100644 100644 aaa bbb a b.txt\0\
            2 R. N... 100644 100644 100644 aaa bbb R100 new.txt\0old.txt\0\
            u UU N... 100644 100644 100644 100644 aaa bbb ccc torn.txt\0\
            ? dir/\0! ignored\0x\0";
        assert_eq!(
            State::parse(output),
            State {
                commit: Some("0123456789".into()),
                head: Some("main".into()),
                upstream: Some("origin/main".into()),
                ahead: 2,
                behind: 1,
                staged: vec![entry("M", "a b.txt", None), entry("R", "new.txt", Some("old.txt"))],
                changed: vec![entry("M", "a b.txt", None)],
                conflicts: vec![entry("UU", "torn.txt", None)],
                untracked: vec![entry("", "dir/", None)],
            }
        );
    }

    #[test]
    fn what_is_cut_off_or_nonsense_is_passed_over() {
        for output in [&b""[..], b"\0\0", b"1", b"1 MM", b"2 R. N... 1 1 1 a b R1 x", b"u", b"?", b"#"] {
            let _ = State::parse(output);
        }
    }
}
