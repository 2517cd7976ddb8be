//! Searching files on several threads, with a result that does not depend on
//! which of them is faster: the first matches by path and line.
//!
//! Everything is searched, so that the count is true, but only as much is kept
//! as can be shown.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use tokio_util::sync::CancellationToken;

use super::window::around;
use crate::contract::{Complaint, Scene};
use crate::files;
use crate::walk::{self, Filter, Walked};

/// Matches that are shown.
pub(super) const SHOWN_MATCHES: usize = 100;

/// Memory for one file: a file with a longer line cannot be searched.
const HEAP: usize = 64 * 1024 * 1024;

/// The same for a heavy pattern, whose search of one line cannot be stopped and takes as long as its
/// size times that of the line.
const HEAVY_HEAP: usize = 256 * 1024;

/// Bytes that a pattern may need once it is compiled.
const PATTERN_BYTES: usize = 2 * 1024 * 1024;

/// Bytes beyond which a pattern is heavy, not counting that a letter can be one of many.
const HEAVY_BYTES: usize = 64 * 1024;

/// Memory in which a matcher keeps what it worked out, on each thread.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// What is looked for.
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) weight: Weight,
    pub(super) filter: Option<Filter>,
    pub(super) context: usize,
    pub(super) binary: Binary,
}

/// How much work a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Light,
    Heavy,
}

/// What happens to a file that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Skipped,
    Searched,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The first files with matches.
    pub(super) kept: BTreeMap<PathBuf, Hits>,
    kept_matches: usize,
    /// All matches.
    pub(super) matches: usize,
    /// All files with matches.
    pub(super) files: usize,
    /// Files that could not be searched.
    pub(super) unsearched: usize,
    /// Files that may not be seen.
    pub(super) left_out: usize,
    pub(super) walked: Walked,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) lines: Vec<HitLine>,
    kept_matches: usize,
    matches: usize,
    is_binary: bool,
}

/// A line to show.
#[derive(Debug)]
pub(super) struct HitLine {
    pub(super) text: String,
    pub(super) is_match: bool,
}

/// How a pattern is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Regex,
    Literal,
}

/// Whether capital letters count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Sensitive,
    Insensitive,
}

/// Makes a matcher of what a model wrote.
pub(super) fn matcher(
    pattern: &str,
    syntax: Syntax,
    case: Case,
) -> Result<(RegexMatcher, Weight), Complaint> {
    if pattern.is_empty() {
        return Err(Complaint("`pattern` is empty. Give what to search for.".to_owned()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(case == Case::Insensitive)
        .dfa_size_limit(CACHE_BYTES)
        .fixed_strings(syntax == Syntax::Literal);
    // Without line ends in it a match is in one line, and large files need not be held in memory.
    if !spans_lines(pattern, syntax) {
        builder.line_terminator(Some(b'\n'));
    }
    builder.size_limit(HEAVY_BYTES);
    let is_light =
        builder.unicode(false).build(pattern).is_ok() || builder.unicode(true).build(pattern).is_ok();
    let weight = if is_light { Weight::Light } else { Weight::Heavy };
    match builder.unicode(true).size_limit(PATTERN_BYTES).build(pattern) {
        Ok(matcher) => Ok((matcher, weight)),
        Err(error) if error.to_string().contains("size limit") => Err(Complaint(format!(
            "`pattern` needs more than {PATTERN_BYTES} bytes when compiled, which is the limit. \
             Use smaller counts in {{}}, or a shorter pattern."
        ))),
        Err(error) => Err(Complaint(format!(
            "`pattern` is not a valid regular expression: {error}\nEscape special characters like \\( or set literal to true."
        ))),
    }
}

fn spans_lines(pattern: &str, syntax: Syntax) -> bool {
    pattern.contains('\n') || (syntax == Syntax::Regex && pattern.contains("\\n"))
}

/// Searches a file, or all files below a directory.
pub(super) fn search(
    root: &Path,
    query: &Query,
    scene: &Scene,
    cancel: &CancellationToken,
) -> io::Result<Found> {
    let found = Mutex::new(Found::default());
    let walked = walk::files(root, cancel, || {
        let mut searcher = searcher(query);
        let found = &found;
        Box::new(move |entry| {
            let path = entry.path();
            let relative = path.strip_prefix(root).unwrap_or(path);
            // A file that was named itself is searched whatever its name.
            let is_root = relative.as_os_str().is_empty();
            if !is_root && query.filter.as_ref().is_some_and(|filter| !filter.accepts(relative)) {
                return;
            }
            if !is_root && !(scene.may_read)(path) {
                found.lock().unwrap_or_else(PoisonError::into_inner).left_out += 1;
                return;
            }
            let searched = search_file(&mut searcher, path, query, cancel);
            found.lock().unwrap_or_else(PoisonError::into_inner).add(path, searched);
        })
    })?;
    Ok(Found { walked, ..found.into_inner().unwrap_or_else(PoisonError::into_inner) })
}

fn searcher(query: &Query) -> Searcher {
    let binary = match query.binary {
        Binary::Skipped => BinaryDetection::quit(0),
        Binary::Searched => BinaryDetection::none(),
    };
    let heap = match query.weight {
        Weight::Light => HEAP,
        Weight::Heavy => HEAVY_HEAP,
    };
    SearcherBuilder::new()
        .binary_detection(binary)
        .line_number(true)
        .multi_line(query.matcher.line_terminator().is_none())
        .before_context(query.context)
        .after_context(query.context)
        .heap_limit(Some(heap))
        .build()
}

fn search_file(
    searcher: &mut Searcher,
    path: &Path,
    query: &Query,
    cancel: &CancellationToken,
) -> io::Result<Hits> {
    let (file, _) = files::open(path).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
    search_stream(searcher, file, query, cancel)
}

fn search_stream(
    searcher: &mut Searcher,
    source: impl Read,
    query: &Query,
    cancel: &CancellationToken,
) -> io::Result<Hits> {
    let mut collector = Collector { matcher: &query.matcher, cancel, hits: Hits::default() };
    searcher.search_reader(&query.matcher, Cancellable { source, cancel }, &mut collector)?;
    Ok(collector.hits)
}

impl Found {
    fn add(&mut self, path: &Path, searched: io::Result<Hits>) {
        let hits = match searched {
            Ok(hits) if hits.is_binary || hits.matches == 0 => return,
            Ok(hits) => hits,
            Err(_) => {
                self.unsearched += 1;
                return;
            }
        };
        self.matches += hits.matches;
        self.files += 1;
        self.kept_matches += hits.kept_matches;
        self.kept.insert(path.to_owned(), hits);
        // The last file goes when there are enough matches before it.
        while let Some((_, last)) = self.kept.last_key_value()
            && self.kept_matches - last.kept_matches >= SHOWN_MATCHES
        {
            self.kept_matches -= last.kept_matches;
            self.kept.pop_last();
        }
    }
}

/// Takes what the searcher finds in one file.
struct Collector<'a> {
    matcher: &'a RegexMatcher,
    cancel: &'a CancellationToken,
    hits: Hits,
}

impl Collector<'_> {
    fn is_full(&self) -> bool {
        self.hits.kept_matches >= SHOWN_MATCHES
    }

    fn push(&mut self, text: String, is_match: bool) {
        self.hits.lines.push(HitLine { text, is_match });
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        self.hits.matches += 1;
        if self.is_full() {
            return Ok(true);
        }
        self.hits.kept_matches += 1;
        let first = found.line_number().unwrap_or(1);
        for (line, number) in found.lines().zip(first..) {
            let at = self.matcher.find(line).ok().flatten().map_or(0..0, |found| found.start()..found.end());
            // Of a match over several lines, the first is the match.
            self.push(format!("{number}:{}", around(line, at)), number == first);
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        if !self.is_full() {
            let number = context.line_number().unwrap_or(1);
            self.push(format!("{number}-{}", around(context.bytes(), 0..0)), false);
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        if !self.is_full() {
            self.push("--".to_owned(), false);
        }
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.hits.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

fn cancelled() -> io::Error {
    io::Error::other("cancelled")
}

/// A file whose reading fails once it is cancelled, so that a large one does not hold up the end.
struct Cancellable<'a, R> {
    source: R,
    cancel: &'a CancellationToken,
}

impl<R: Read> Read for Cancellable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        self.source.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream without end that is cancelled while it is read, and must not be read much longer.
    struct Endless<'a> {
        reads: usize,
        cancel: &'a CancellationToken,
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.cancel.is_cancelled(), "it is read after it was cancelled");
            self.reads += 1;
            if self.reads == 100 {
                self.cancel.cancel();
            }
            buffer.fill(b'\n');
            Ok(buffer.len())
        }
    }

    fn query(pattern: &str) -> Query {
        let (matcher, weight) = matcher(pattern, Syntax::Regex, Case::Sensitive).unwrap();
        Query { matcher, weight, filter: None, context: 0, binary: Binary::Skipped }
    }

    #[test]
    fn matches_are_not_taken_after_the_search_was_cancelled() {
        let cancel = CancellationToken::new();
        let query = query("needle");
        let source = io::Cursor::new("needle\n".repeat(10));
        let mut collector = Collector { matcher: &query.matcher, cancel: &cancel, hits: Hits::default() };
        cancel.cancel();
        // Without the reader that is cancelled too, only the collector can stop it.
        let searched = searcher(&query).search_reader(&query.matcher, source, &mut collector);
        assert_eq!(searched.unwrap_err().to_string(), "cancelled");
        assert_eq!(collector.hits.matches, 0);
    }

    #[test]
    fn a_heavy_pattern_is_not_tried_on_a_line_on_which_it_would_take_forever() {
        let cancel = CancellationToken::new();
        let (light, heavy) = (query(r"x{3}y"), query(r"x{5000}y"));
        assert_eq!((light.weight, heavy.weight), (Weight::Light, Weight::Heavy));
        let search = |query: &Query, line: &str| {
            search_stream(&mut searcher(query), io::Cursor::new(line.to_owned()), query, &cancel)
                .map(|hits| hits.matches)
        };
        let line = "x".repeat(512 * 1024);
        assert_eq!(search(&light, &line).unwrap(), 0);
        assert!(search(&heavy, &line).is_err());
        assert_eq!(search(&heavy, &format!("{}y\n", "x".repeat(5001))).unwrap(), 1);
        // What developers write is light.
        for pattern in [
            r"fn \w+\(",
            r"(?i)error|warning|failed",
            r"^\s*(pub )?struct \w{1,8}",
            r"[A-Z_]{3,40}",
            r"\w{3,40}",
            "[é-ü]+",
        ] {
            assert_eq!(self::query(pattern).weight, Weight::Light, "{pattern}");
        }
    }

    #[test]
    fn a_search_is_stopped_in_the_middle_of_a_file() {
        let cancel = CancellationToken::new();
        let query = query("needle");
        let searched =
            search_stream(&mut searcher(&query), Endless { reads: 0, cancel: &cancel }, &query, &cancel);
        assert_eq!(searched.unwrap_err().to_string(), "cancelled");
    }

    #[test]
    fn a_line_that_does_not_fit_into_memory_is_an_error_and_no_trouble() {
        let cancel = CancellationToken::new();
        let query = query("needle");
        assert!(search_stream(&mut searcher(&query), io::repeat(b'x'), &query, &cancel).is_err());
    }
}
