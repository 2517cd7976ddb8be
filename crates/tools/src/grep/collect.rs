//! What is kept of the matches in one file.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::window::around;
use crate::deadline::Stop;

/// Matches that are shown.
pub(super) const SHOWN_MATCHES: usize = 100;

/// What is shown of files with matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// The lines that match.
    Lines,
    /// Only which files they are.
    Files,
    /// How many lines match in each.
    Counts,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) lines: Vec<HitLine>,
    /// As many of the matches as are shown; one if only the file is.
    pub(super) kept: usize,
    pub(super) matches: usize,
    pub(super) is_binary: bool,
}

/// A line to show.
#[derive(Debug)]
pub(super) struct HitLine {
    pub(super) text: String,
    pub(super) is_match: bool,
}

/// Takes what the searcher finds in one file.
pub(super) struct Collector<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) show: Show,
    pub(super) stop: &'a Stop,
    pub(super) hits: Hits,
}

impl<'a> Collector<'a> {
    pub(super) fn new(matcher: &'a RegexMatcher, show: Show, stop: &'a Stop) -> Self {
        Self { matcher, show, stop, hits: Hits::default() }
    }

    fn takes_lines(&self) -> bool {
        self.show == Show::Lines && self.hits.kept < SHOWN_MATCHES
    }

    fn push(&mut self, text: String, is_match: bool) {
        self.hits.lines.push(HitLine { text, is_match });
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.stop.is_set() {
            return Err(stopped());
        }
        self.hits.matches += 1;
        match self.show {
            Show::Files => {
                self.hits.kept = 1;
                return Ok(false);
            }
            Show::Counts => {
                self.hits.kept = 1;
                return Ok(true);
            }
            Show::Lines => {}
        }
        if !self.takes_lines() {
            return Ok(true);
        }
        self.hits.kept += 1;
        let first = found.line_number().unwrap_or(1);
        for (line, number) in found.lines().zip(first..) {
            let at = self.matcher.find(line).ok().flatten().map_or(0..0, |found| found.start()..found.end());
            // Of a match over several lines, the first is the match.
            self.push(format!("{number}:{}", around(line, at)), number == first);
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.stop.is_set() {
            return Err(stopped());
        }
        if self.takes_lines() {
            let number = context.line_number().unwrap_or(1);
            self.push(format!("{number}-{}", around(context.bytes(), 0..0)), false);
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        if self.takes_lines() {
            self.push("--".to_owned(), false);
        }
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.hits.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Why a search ended before its end.
pub(super) fn stopped() -> io::Error {
    io::Error::other("stopped")
}
