//! `@path` in an instruction file: the text of another one, put after the line.
//!
//! A path counts from the file that names it. What does not exist, lies outside,
//! is not to be read by models, or has been imported already stays a word: not
//! every `@` is an import. Code is left alone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{MayRead, read, regular_file};

/// How deep imports may lie.
const MOST_DEPTH: usize = 5;
/// Files that one file may bring along.
const MOST_IMPORTS: usize = 64;

/// Reads a file with everything that it imports.
pub(super) struct Importer<'a> {
    within: &'a Path,
    may_read: MayRead<'a>,
    seen: HashSet<PathBuf>,
    imported: Vec<PathBuf>,
}

impl<'a> Importer<'a> {
    /// For files inside of a directory, which must be resolved.
    pub(super) fn new(within: &'a Path, may_read: MayRead<'a>) -> Self {
        Self { within, may_read, seen: HashSet::new(), imported: Vec::new() }
    }

    /// The text of a resolved file.
    pub(super) fn expanded(&mut self, path: &Path) -> Option<String> {
        self.seen.insert(path.to_owned());
        self.text_of(path, 0)
    }

    /// What was imported, in order.
    pub(super) fn imported(self) -> Vec<PathBuf> {
        self.imported
    }

    fn text_of(&mut self, path: &Path, depth: usize) -> Option<String> {
        // A text cannot end the fence that it is put into.
        let text = read(path)?.replace("</import", "<\\/import");
        let directory = path.parent()?;
        let mut expanded = String::with_capacity(text.len());
        let mut fence: Option<String> = None;
        for line in text.lines() {
            expanded.push_str(line);
            expanded.push('\n');
            let start = line.trim_start();
            let marks: String = start.chars().take_while(|mark| *mark == '`' || *mark == '~').collect();
            match &fence {
                Some(open) if start.trim_end() == marks && marks.starts_with(open.as_str()) => fence = None,
                Some(_) => {}
                None if marks.len() >= 3 => fence = Some(marks),
                None => {
                    for name in names_in(line) {
                        self.import(&directory.join(name), name, depth, &mut expanded);
                    }
                }
            }
        }
        Some(expanded)
    }

    fn import(&mut self, path: &Path, name: &str, depth: usize, expanded: &mut String) {
        if depth >= MOST_DEPTH || self.imported.len() >= MOST_IMPORTS {
            return;
        }
        let Some(file) = regular_file(path, self.within).filter(|file| (self.may_read)(file)) else { return };
        if !self.seen.insert(file.clone()) {
            return;
        }
        self.imported.push(file.clone());
        if let Some(text) = self.text_of(&file, depth + 1) {
            expanded.push_str(&format!("<import from=\"{name}\">\n{}\n</import>\n", text.trim()));
        }
    }
}

/// The paths that a line imports: words that begin with `@`, outside of inline code.
fn names_in(line: &str) -> Vec<&str> {
    let outside = line.split('`').step_by(2);
    let words = outside.flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix('@'));
    let names =
        words.map(|name| name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'']));
    names.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_begin_with_an_at_sign_are_imports_and_code_is_not() {
        assert_eq!(names_in("see @docs/a.md, and @b.md."), ["docs/a.md", "b.md"]);
        assert_eq!(names_in("mail a@b.c or git@host:x, `@code.md` @ (x@y)"), Vec::<&str>::new());
        assert_eq!(names_in("@a.md `@b.md` @c.md"), ["a.md", "c.md"]);
    }
}
