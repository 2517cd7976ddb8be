//! Going through the files below a directory as a developer sees them: those
//! that git ignores not, hidden ones if they are asked for, and never `.git`.
//!
//! What the user's own git configuration ignores is not asked for, so that a
//! search finds the same on every machine. Links are not followed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, WalkBuilder, WalkState};
#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::change::near_files;
use crate::contract::{Complaint, Scene};
use crate::deadline::Stop;
use crate::files::{self, LoadError, refusal};
use crate::ignored::Ignored;
use crate::path::{Place, shown};

/// Directories that could not be opened and are named.
const NAMED: usize = 3;

/// What is done with every file, on one of several threads.
pub(crate) type Visitor<'a> = Box<dyn FnMut(&DirEntry) + Send + 'a>;

/// Whether what has a name that begins with a dot is visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// It is not.
    Skipped,
    /// It is, but for `.git`.
    Visited,
}

impl Hidden {
    /// As asked for, or as a pattern implies that names something hidden.
    pub(crate) fn asked(hidden: Option<bool>, filter: Option<&Filter>) -> Self {
        let implied = || filter.is_some_and(Filter::names_hidden);
        if hidden.unwrap_or_else(implied) { Self::Visited } else { Self::Skipped }
    }
}

/// How a walk is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) hidden: Hidden,
    /// On how many threads; 0 for as many as are of use.
    pub(crate) threads: usize,
}

/// What a walk met, which can be looked at while it is under way.
#[derive(Debug, Default)]
pub(crate) struct Met {
    files: AtomicUsize,
    hidden: AtomicUsize,
    left_out: AtomicUsize,
    unheeded: AtomicUsize,
    closed: AtomicUsize,
    closed_names: Mutex<Vec<PathBuf>>,
}

impl Met {
    /// How many files were visited.
    pub(crate) fn files(&self) -> usize {
        self.files.load(Ordering::Relaxed)
    }

    /// A file may not be seen.
    pub(crate) fn leave_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
    }

    /// What was not searched and could be, for a search that found nothing.
    pub(crate) fn unseen(&self) -> String {
        match self.hidden.load(Ordering::Relaxed) {
            0 => "files that git ignores are not searched".to_owned(),
            count => format!(
                "files that git ignores and {count} hidden entries are not searched; hidden: true searches the latter"
            ),
        }
    }

    /// What the model should know of what could not be done.
    pub(crate) fn notes(&self, scene: &Scene) -> Vec<String> {
        let mut notes = Vec::new();
        let closed = self.closed.load(Ordering::Relaxed);
        if closed > 0 {
            let names = self.closed_names.lock().unwrap_or_else(PoisonError::into_inner);
            let named: Vec<String> = names.iter().map(|path| shown(path, &scene.workspace)).collect();
            let colon = if named.is_empty() { "" } else { ": " };
            notes.push(format!("{closed} directories could not be opened{colon}{}", named.join(", ")));
        }
        let unheeded = self.unheeded.load(Ordering::Relaxed);
        if unheeded > 0 {
            notes.push(format!("{unheeded} ignore files not obeyed: too large or no regular file"));
        }
        notes.extend(left_out_note(self.left_out.load(Ordering::Relaxed)));
        notes
    }

    fn close(&self, error: &ignore::Error) {
        self.closed.fetch_add(1, Ordering::Relaxed);
        let Some(path) = path_of(error) else { return };
        let mut names = self.closed_names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() < NAMED {
            names.push(path.to_owned());
        }
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// That there are files which may not be seen, if there are.
pub(crate) fn left_out_note(left_out: usize) -> Option<String> {
    (left_out > 0).then(|| format!("{left_out} files left out: not permitted"))
}

/// Visits every file at or below `root`, in no order, until stopped. `make` makes a visitor for each thread.
/// It fails if `root` is a directory that cannot be opened.
pub(crate) fn visit<'a>(
    root: &Path,
    manner: Manner,
    met: &'a Arc<Met>,
    stop: &'a Stop,
    make: impl Fn() -> Visitor<'a>,
) -> io::Result<()> {
    if root.is_dir() {
        std::fs::read_dir(root)?;
    }
    let ignored = Arc::new(Ignored::new(root));
    let (rules, seen) = (Arc::clone(&ignored), Arc::clone(met));
    let mut builder = WalkBuilder::new(root);
    // The walker would open whatever has the name of an ignore file, so it is not let near them.
    builder.standard_filters(false).threads(manner.threads).filter_entry(move |entry| {
        if entry.depth() == 0 {
            return true;
        }
        if is_hidden(entry) {
            if entry.file_name() == ".git" {
                return false;
            }
            if manner.hidden == Hidden::Skipped {
                seen.hidden.fetch_add(1, Ordering::Relaxed);
                return false;
            }
        }
        entry.file_type().is_some_and(|kind| !rules.covers(entry.path(), kind))
    });
    builder.build_parallel().run(|| {
        let mut visit = make();
        Box::new(move |entry| {
            if stop.is_set() {
                return WalkState::Quit;
            }
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    met.files.fetch_add(1, Ordering::Relaxed);
                    visit(&entry);
                }
                Ok(_) => {}
                Err(error) if is_missing(&error) => {}
                Err(error) => met.close(&error),
            }
            WalkState::Continue
        })
    });
    met.unheeded.store(ignored.refused(), Ordering::Relaxed);
    Ok(())
}

/// Opens a file that a walk has just met, without following a link that has appeared since. It was a
/// regular file then, so it is not looked at twice; should it be a pipe by now, nothing waits for it.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Older kernels do not have it, and some containers forbid it.
        Err(Errno::NOSYS | Errno::PERM) => {}
        opened => return Ok(File::from(opened?)),
    }
    Ok(File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
}

/// Whether a place is a directory; if not, why, and what to do if it is a file.
pub(crate) fn must_be_directory(place: &Place, advice: &str, scene: &Scene) -> Result<(), String> {
    let shown = &place.shown;
    match files::open(&place.path) {
        Err(LoadError::Directory) => Ok(()),
        Err(LoadError::Missing) => Err(format!("{shown} does not exist.{}", near_files(&place.path, scene))),
        Err(LoadError::Io(error)) => Err(refusal(shown, &error)),
        Ok(_) | Err(LoadError::Special(_) | LoadError::TooLarge(_)) => {
            Err(format!("{shown} is a file. {advice}"))
        }
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().first() == Some(&b'.')
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
    text: String,
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

    /// Whether something is meant whose name begins with a dot.
    pub(crate) fn names_hidden(&self) -> bool {
        let is_hidden = |part: &str| match part.strip_prefix('{') {
            Some(choice) => choice.split(',').any(|part| part.starts_with('.')),
            None => part.starts_with('.') && !matches!(part, "." | ".."),
        };
        self.wanted.iter().any(|pattern| pattern.text.split('/').any(is_hidden))
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
            Ok(glob) => Ok(Self { text: whole, matcher: glob.compile_matcher(), by_name }),
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

    #[test]
    fn a_pattern_that_names_something_hidden_means_it() {
        let names_hidden = |pattern: &str| Filter::new("glob", pattern).unwrap().names_hidden();
        for pattern in [".env", ".github/**/*.yml", "**/.eslintrc.*", "a/{.env,env}"] {
            assert!(names_hidden(pattern), "{pattern}");
        }
        for pattern in ["*.rs", "./src/*.rs", "**/*", "*.{ts,tsx}", "*{.ts,.tsx}", "!.env"] {
            assert!(!names_hidden(pattern), "{pattern}");
        }
    }
}
