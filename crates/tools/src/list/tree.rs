//! The tree: what is near the root comes before what is deep, so that a large
//! directory low down does not hide its neighbours.
//!
//! The invariant: no more entries than fit are kept, and whatever is not shown
//! is counted where it would have been.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::fmt::Write;
use std::fs::{FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::contract::Scene;
use crate::deadline::Stop;
use crate::ignored::Ignored;
use crate::path::printable;
use crate::walk::left_out_note;

/// Entries that are shown in all.
const MOST: usize = 200;

/// Entries that are shown of a directory below the root.
const MOST_BELOW: usize = 40;

/// Entries that are counted in a directory that is not entered.
const COUNTED: usize = 1_000;

/// Bytes from which on the size of a file is worth telling.
const LARGE: u64 = 100_000;

/// In which order entries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Name,
    Newest,
}

/// A directory and what is below it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The first is the root.
    nodes: Vec<Node>,
    ignored: usize,
    left_out: usize,
    closed: usize,
}

#[derive(Debug, Default)]
struct Node {
    /// With its mark.
    name: String,
    remark: String,
    children: Vec<usize>,
    /// Entries that are not shown.
    more: usize,
}

/// Something in a directory.
struct Found {
    name: String,
    path: PathBuf,
    kind: Option<FileType>,
    metadata: Option<Metadata>,
    is_ignored: bool,
}

impl Tree {
    /// Reads directories down to a depth. It fails if the root cannot be read.
    pub(super) fn of(
        root: &Path,
        depth: usize,
        order: Order,
        scene: &Scene,
        stop: &Stop,
    ) -> io::Result<Self> {
        let ignored = Ignored::new(root);
        let mut tree = Self { nodes: vec![Node::default()], ..Self::default() };
        let mut ahead = VecDeque::from([(0, root.to_owned(), 1)]);
        while let Some((node, directory, level)) = ahead.pop_front() {
            if stop.is_set() {
                break;
            }
            let found = match tree.read(&directory, order, &ignored, scene) {
                Ok(found) => found,
                Err(error) if node == 0 => return Err(error),
                Err(_) => {
                    tree.closed += 1;
                    tree.remark(node, " [cannot be opened]");
                    continue;
                }
            };
            let room = (MOST + 1).saturating_sub(tree.nodes.len());
            let room = if node == 0 { room } else { room.min(MOST_BELOW) };
            tree.grow(node, found.len().saturating_sub(room));
            for entry in found.into_iter().take(room) {
                let is_directory = entry.kind.is_some_and(|kind| kind.is_dir());
                let enters =
                    is_directory && !entry.is_ignored && !entry.name.starts_with('.') && level < depth;
                let remark = if enters { String::new() } else { remark(&entry, order) };
                let child = tree.push(node, marked(&entry), remark);
                if enters {
                    ahead.push_back((child, entry.path, level + 1));
                }
            }
        }
        Ok(tree)
    }

    fn read(
        &mut self,
        directory: &Path,
        order: Order,
        ignored: &Ignored,
        scene: &Scene,
    ) -> io::Result<Vec<Found>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            let path = entry.path();
            if !(scene.may_read)(&path) {
                self.left_out += 1;
                continue;
            }
            let kind = entry.file_type().ok();
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_ignored = name != ".git" && kind.is_some_and(|kind| ignored.covers(&path, kind));
            // What is ignored and no directory is rarely wanted, and there can be much of it.
            if is_ignored && !kind.is_some_and(|kind| kind.is_dir()) {
                self.ignored += 1;
                continue;
            }
            let metadata = match order {
                Order::Newest => entry.metadata().ok(),
                Order::Name => None,
            };
            found.push(Found { name, path, kind, metadata, is_ignored });
        }
        match order {
            Order::Name => found.sort_unstable_by(|a, b| a.name.cmp(&b.name)),
            Order::Newest => found.sort_unstable_by(|a, b| {
                (Reverse(modified(a)), &a.name).cmp(&(Reverse(modified(b)), &b.name))
            }),
        }
        Ok(found)
    }

    fn push(&mut self, parent: usize, name: String, remark: String) -> usize {
        let index = self.nodes.len();
        self.nodes.push(Node { name, remark, ..Node::default() });
        if let Some(parent) = self.nodes.get_mut(parent) {
            parent.children.push(index);
        }
        index
    }

    fn remark(&mut self, node: usize, remark: &str) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.remark.push_str(remark);
        }
    }

    fn grow(&mut self, node: usize, more: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.more = more;
        }
    }

    /// How many entries are shown.
    pub(super) fn shown(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    /// Line by line.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.write(0, 0, &mut text);
        text
    }

    /// What is below a node. As deep as the tree, which is not deep.
    fn write(&self, index: usize, indent: usize, text: &mut String) {
        let Some(node) = self.nodes.get(index) else { return };
        for child in &node.children {
            if let Some(entry) = self.nodes.get(*child) {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{:indent$}{}{}", "", entry.name, entry.remark);
            }
            self.write(*child, indent + 2, text);
        }
        if node.more > 0 {
            let _ = writeln!(text, "{:indent$}… {} more", "", node.more);
        }
    }

    /// What the model should know besides.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let more: usize = self.nodes.iter().map(|node| node.more).sum();
        if self.shown() == 0 && more == 0 && self.left_out == 0 && self.ignored == 0 {
            notes.push("empty directory".to_owned());
        }
        if more > 0 {
            let crowded: Vec<String> = self.crowded().collect();
            notes.push(format!("{more} entries not shown: {}; list those or use glob", crowded.join(", ")));
        }
        if self.ignored > 0 {
            notes.push(format!("{} ignored files left out", self.ignored));
        }
        if self.closed > 0 {
            notes.push(format!("{} directories could not be opened", self.closed));
        }
        notes.extend(left_out_note(self.left_out));
        notes
    }

    /// The directories with most that is not shown.
    fn crowded(&self) -> impl Iterator<Item = String> {
        let mut crowded: Vec<(usize, &str)> = self
            .nodes
            .iter()
            .filter(|node| node.more > 0)
            .map(|node| (node.more, if node.name.is_empty() { "this directory" } else { &node.name }))
            .collect();
        crowded.sort_unstable_by(|a, b| b.cmp(a));
        crowded.into_iter().take(3).map(|(more, name)| format!("{more} in {name}"))
    }
}

fn modified(entry: &Found) -> SystemTime {
    entry.metadata.as_ref().and_then(|metadata| metadata.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Directories with `/`, links with where they lead.
fn marked(entry: &Found) -> String {
    let name = printable(&entry.name);
    match entry.kind {
        Some(kind) if kind.is_dir() => format!("{name}/"),
        Some(kind) if kind.is_symlink() => match std::fs::read_link(&entry.path) {
            Ok(target) => format!("{name} -> {}", printable(&target.to_string_lossy())),
            Err(_) => format!("{name} -> ?"),
        },
        _ => name,
    }
}

/// What is worth knowing of an entry that is not entered.
fn remark(entry: &Found, order: Order) -> String {
    let mut remark = String::new();
    let is_directory = entry.kind.is_some_and(|kind| kind.is_dir());
    if entry.is_ignored {
        remark.push_str(" [ignored]");
    } else if is_directory && entry.name != ".git" {
        remark.push_str(&match std::fs::read_dir(&entry.path) {
            Ok(entries) => match entries.take(COUNTED).count() {
                COUNTED => format!(" ({COUNTED}+)"),
                count => format!(" ({count})"),
            },
            Err(_) => " [cannot be opened]".to_owned(),
        });
    } else if entry.kind.is_some_and(|kind| kind.is_file())
        && let Ok(metadata) = entry.path.symlink_metadata()
        && metadata.len() >= LARGE
    {
        remark.push_str(&format!(" ({})", size(metadata.len())));
    }
    if order == Order::Newest {
        remark.push_str(&age(modified(entry)));
    }
    remark
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// ` 5 min ago`, in the unit that says enough.
fn age(modified: SystemTime) -> String {
    let seconds = modified.elapsed().unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!(" {seconds} s ago"),
        60..3_600 => format!(" {} min ago", seconds / 60),
        3_600..172_800 => format!(" {} h ago", seconds / 3_600),
        _ => format!(" {} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn sizes_and_ages_are_in_the_unit_that_says_enough() {
        assert_eq!([size(123_456), size(1_250_000), size(3_000_000_000)], ["123 kB", "1.2 MB", "3.0 GB"]);
        let ago = |seconds| age(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!([ago(120), ago(7_300), ago(864_000)], [" 2 min ago", " 2 h ago", " 10 days ago"]);
        assert_eq!(age(SystemTime::now() + Duration::from_secs(60)), " 0 s ago");
    }
}
