//! Going through the files below a directory as a developer sees them: hidden
//! ones too, those that git ignores not, and never `.git` itself.
//!
//! What the user's own git configuration ignores is not asked for, so that a
//! search finds the same on every machine. Links are not followed.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use crate::contract::Complaint;
use crate::ignored::Ignored;

/// What is done with every file, on one of several threads.
pub(crate) type Visitor<'a> = Box<dyn FnMut(&DirEntry) + Send + 'a>;

/// What a walk could not do.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Directories that could not be opened.
    pub(crate) closed: usize,
    /// Ignore files that were not obeyed.
    pub(crate) unheeded: usize,
}

impl Walked {
    /// What the model should know of it, and of how many files it may not see.
    pub(crate) fn notes(self, left_out: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if self.closed > 0 {
            notes.push(format!("{} directories could not be opened", self.closed));
        }
        if self.unheeded > 0 {
            notes.push(format!("{} ignore files not obeyed: too large or no regular file", self.unheeded));
        }
        notes.extend(left_out_note(left_out));
        notes
    }
}

/// That there are files which may not be seen, if there are.
pub(crate) fn left_out_note(left_out: usize) -> Option<String> {
    (left_out > 0).then(|| format!("{left_out} files left out: not permitted"))
}

/// Visits every file at or below `root`, in no order, until cancelled. `make` makes a visitor for each thread.
/// It fails if `root` is a directory that cannot be opened.
pub(crate) fn files<'a>(
    root: &Path,
    cancel: &'a CancellationToken,
    make: impl Fn() -> Visitor<'a>,
) -> io::Result<Walked> {
    if root.is_dir() {
        std::fs::read_dir(root)?;
    }
    let ignored = Arc::new(Ignored::new(root));
    let rules = Arc::clone(&ignored);
    let closed = AtomicUsize::new(0);
    let mut builder = WalkBuilder::new(root);
    // The walker would open whatever has the name of an ignore file, so it is not let near them.
    builder.standard_filters(false).filter_entry(move |entry| {
        entry.depth() == 0
            || (entry.file_name() != ".git"
                && entry.file_type().is_some_and(|kind| !rules.covers(entry.path(), kind)))
    });
    builder.build_parallel().run(|| {
        let mut visit = make();
        let closed = &closed;
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => visit(&entry),
                Ok(_) => {}
                Err(error) if is_missing(&error) => {}
                Err(_) => {
                    closed.fetch_add(1, Ordering::Relaxed);
                }
            }
            WalkState::Continue
        })
    });
    Ok(Walked { closed: closed.into_inner(), unheeded: ignored.refused() })
}

/// What vanishes during a walk might as well have done so before.
fn is_missing(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Which files are meant, by patterns: `*.rs` in any directory, `src/**/*.rs` from the root, `!` for
/// what is not meant, commas between several.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    wanted: Vec<Pattern>,
    unwanted: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    matcher: GlobMatcher,
    /// Without a slash, only the name counts.
    by_name: bool,
}

impl Filter {
    /// Reads what a model wrote into a field.
    pub(crate) fn new(field: &str, text: &str) -> Result<Self, Complaint> {
        let mut filter = Self { wanted: Vec::new(), unwanted: Vec::new() };
        for part in split(text) {
            match part.strip_prefix('!') {
                Some(rest) => filter.unwanted.push(Pattern::new(field, rest)?),
                None => filter.wanted.push(Pattern::new(field, part)?),
            }
        }
        if filter.wanted.is_empty() && filter.unwanted.is_empty() {
            return Err(Complaint(format!("`{field}` is empty. Give a pattern like *.rs or src/**/*.ts.")));
        }
        Ok(filter)
    }

    /// Whether a path relative to the root is meant.
    pub(crate) fn accepts(&self, relative: &Path) -> bool {
        (self.wanted.is_empty() || self.wanted.iter().any(|pattern| pattern.fits(relative)))
            && !self.unwanted.iter().any(|pattern| pattern.fits(relative))
    }
}

impl Pattern {
    fn new(field: &str, text: &str) -> Result<Self, Complaint> {
        let text = text.trim_start_matches("./");
        let by_name = !text.contains('/');
        let text = text.strip_prefix('/').unwrap_or(text);
        // What names a directory means all that is in it.
        let whole = if text.ends_with('/') { format!("{text}**") } else { text.to_owned() };
        let glob = GlobBuilder::new(&whole).literal_separator(true).backslash_escape(true).build();
        match glob {
            Ok(glob) => Ok(Self { matcher: glob.compile_matcher(), by_name }),
            Err(error) => Err(Complaint(format!(
                "`{field}` is not a valid pattern: {error}. Write it like *.rs or src/**/*.{{ts,tsx}}."
            ))),
        }
    }

    fn fits(&self, relative: &Path) -> bool {
        if self.by_name {
            relative.file_name().is_some_and(|name| self.matcher.is_match(name))
        } else {
            self.matcher.is_match(relative)
        }
    }
}

/// Parts between commas that are not inside braces or brackets.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(move |character| {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        character == ',' && depth <= 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_developers_mean() {
        let accepts =
            |pattern: &str, path: &str| Filter::new("glob", pattern).unwrap().accepts(Path::new(path));
        for (pattern, path) in [
            ("*.rs", "lib.rs"),
            ("*.rs", "src/deep/lib.rs"),
            ("src/*.rs", "src/lib.rs"),
            ("/src/*.rs", "src/lib.rs"),
            ("./src/**/*.rs", "src/a/b/lib.rs"),
            ("**/*.rs", "lib.rs"),
            ("src/**", "src/a/b"),
            ("src/", "src/a/b"),
            ("*.{ts,tsx}", "a/b.tsx"),
            ("*.ts, *.tsx", "a/b.tsx"),
            ("!*.md", "a.rs"),
            ("*.rs,!*_test.rs", "a.rs"),
            (".github/**/*.yml", ".github/workflows/ci.yml"),
        ] {
            assert!(accepts(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.rs", "lib.rs.bak"),
            ("src/*.rs", "src/a/lib.rs"),
            ("src/*.rs", "other/src/lib.rs"),
            ("*.rs,!*_test.rs", "a_test.rs"),
            ("!*.md", "a.md"),
        ] {
            assert!(!accepts(pattern, path), "{pattern} {path}");
        }
        assert!(Filter::new("glob", "a{b").unwrap_err().0.starts_with("`glob` is not a valid pattern"));
        assert!(Filter::new("glob", " , ").is_err());
    }
}
