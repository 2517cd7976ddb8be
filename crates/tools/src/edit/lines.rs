//! A text as lines that keep their own ends, and putting other lines between
//! them. Pure.
//!
//! What is not replaced keeps its bytes. New lines end as most lines do.

use std::ops::Range;

/// Whether a carriage return alone ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoneReturn {
    /// It does.
    Ends,
    /// It is a character as others are.
    Stays,
}

/// A text as lines, each with its own end.
pub(crate) struct Lines<'a> {
    /// Without their ends.
    pub(crate) bodies: Vec<&'a str>,
    ends: Vec<&'a str>,
    usual_end: &'a str,
}

impl<'a> Lines<'a> {
    /// A text, split.
    pub(crate) fn of(text: &'a str, lone: LoneReturn) -> Self {
        let (mut bodies, mut ends) = (Vec::new(), Vec::new());
        let mut rest = text;
        while !rest.is_empty() {
            let at = match lone {
                LoneReturn::Ends => memchr::memchr2(b'\r', b'\n', rest.as_bytes()),
                LoneReturn::Stays => memchr::memchr(b'\n', rest.as_bytes())
                    .map(|at| at - usize::from(rest.get(..at).is_some_and(|line| line.ends_with('\r')))),
            };
            let (body, tail) = rest.split_at(at.unwrap_or(rest.len()));
            let length = if tail.starts_with("\r\n") { 2 } else { usize::from(!tail.is_empty()) };
            let (end, after) = tail.split_at(length);
            bodies.push(body);
            ends.push(end);
            rest = after;
        }
        let count = |wanted: &str| ends.iter().filter(|end| **end == wanted).count();
        let (lf, crlf, cr) = (count("\n"), count("\r\n"), count("\r"));
        let usual_end = if crlf > lf && crlf >= cr {
            "\r\n"
        } else if cr > lf {
            "\r"
        } else {
            "\n"
        };
        Self { bodies, ends, usual_end }
    }

    /// The text with some lines replaced by others.
    pub(crate) fn changed(&self, mut changes: Vec<(Range<usize>, Vec<String>)>) -> String {
        changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut result = String::new();
        let mut done = 0;
        for (range, new) in changes {
            self.copy(&mut result, done..range.start);
            for line in new {
                if !result.is_empty() && !result.ends_with(['\n', '\r']) {
                    result.push_str(self.usual_end);
                }
                result.push_str(&line);
                result.push_str(self.usual_end);
            }
            done = range.end.max(done);
        }
        self.copy(&mut result, done..self.bodies.len());
        result
    }

    fn copy(&self, result: &mut String, range: Range<usize>) {
        for index in range {
            result.push_str(self.bodies.get(index).copied().unwrap_or_default());
            result.push_str(self.ends.get(index).copied().unwrap_or_default());
        }
    }
}
