//! A text with what does not matter taken out, and the way back. Pure.
//!
//! One pass over the text and one search in what is left, whatever is ignored.
//! A place that would begin or end inside of a word or a character is none.

use std::ops::Range;

use memchr::memmem;

use super::rung::unicode;

/// What is left in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// White space at the begin of lines.
    pub(super) lead: Lead,
    /// White space inside of lines.
    pub(super) inner: Inner,
    /// Characters that look like others.
    pub(super) letters: Letters,
}

/// White space at the begin of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// Stays.
    Kept,
    /// Does not count.
    Dropped,
}

/// White space inside of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inner {
    /// Stays.
    Kept,
    /// Counts only between two words, and there only that it is.
    Collapsed,
}

/// Characters that look like others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    /// Stay.
    Kept,
    /// Become the plain ones.
    Plain,
}

/// A text with something taken out.
pub(super) struct Stream {
    text: String,
    /// From which place in `text` on which place of the original follows, byte by byte.
    steps: Vec<(usize, usize)>,
}

impl Stream {
    /// A text in a manner. White space at the end of lines never counts.
    pub(super) fn of(original: &str, manner: Manner) -> Self {
        let mut stream = Self { text: String::with_capacity(original.len()), steps: Vec::new() };
        let mut at = 0;
        for line in original.split_inclusive('\n') {
            let body = line.strip_suffix('\n').unwrap_or(line).trim_end();
            let lead = match manner.lead {
                Lead::Kept => 0,
                Lead::Dropped => body.len() - body.trim_start().len(),
            };
            stream.push_line(body.get(lead..).unwrap_or_default(), at + lead, manner);
            if line.ends_with('\n') {
                stream.push("\n", at + line.len() - 1);
            }
            at += line.len();
        }
        stream
    }

    fn push_line(&mut self, body: &str, at: usize, manner: Manner) {
        if manner.inner == Inner::Kept && manner.letters == Letters::Kept {
            self.push(body, at);
            return;
        }
        let mut buffer = [0; 4];
        let mut gap = false;
        for (offset, character) in body.char_indices() {
            let plain = match manner.letters {
                Letters::Kept => &*character.encode_utf8(&mut buffer),
                Letters::Plain => unicode::plain(character, &mut buffer),
            };
            if manner.inner == Inner::Collapsed && plain.chars().all(char::is_whitespace) {
                gap |= !plain.is_empty();
                continue;
            }
            if gap && self.text.ends_with(is_word) && plain.starts_with(is_word) {
                self.push(" ", at + offset);
            }
            gap = false;
            self.push(plain, at + offset);
        }
    }

    fn push(&mut self, piece: &str, at: usize) {
        let follows =
            self.steps.last().is_some_and(|(norm, original)| self.text.len() - norm + original == at);
        if !follows {
            self.steps.push((self.text.len(), at));
        }
        self.text.push_str(piece);
    }

    fn original(&self, at: usize) -> usize {
        let step = self.steps.partition_point(|(norm, _)| *norm <= at).saturating_sub(1);
        self.steps.get(step).map_or(at, |(norm, original)| original + at.saturating_sub(*norm))
    }

    /// What is left.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Every place of a text in the same manner, as places in the original; overlapping ones too if there
    /// are few.
    fn places(&self, original: &str, needle: &str) -> Vec<Range<usize>> {
        let spot = |at: usize| {
            let end = at + needle.len();
            let start = self.original(at);
            // Of what one character became, the last piece is that character.
            let last = original.floor_char_boundary(self.original(end.saturating_sub(1)));
            let stop =
                original.get(last..)?.chars().next().map_or(last, |character| last + character.len_utf8());
            // Inside of what one character became, there is no place.
            let whole = end >= self.text.len() || self.original(end) >= stop;
            (whole && !cuts_a_word(original, start, stop)).then_some(start..stop)
        };
        all_places(self.text.as_bytes(), needle.as_bytes()).into_iter().filter_map(spot).collect()
    }
}

/// Looks for `old` in a text, both in a manner. What is found are whole lines where the rest of the
/// line is blank; it ends behind the line end where `old` does.
pub(super) fn find(text: &str, old: &str, manner: Manner) -> Vec<Range<usize>> {
    let needle = Stream::of(old, manner);
    let needle = needle.text();
    let needle = needle.strip_suffix('\n').unwrap_or(needle);
    if needle.trim().is_empty() {
        return Vec::new();
    }
    // Words stay what they are, so what has not even the longest one need not be looked at further.
    let longest =
        needle.split(|character| !is_word(character)).max_by_key(|word| word.len()).unwrap_or_default();
    if manner.letters == Letters::Kept && memmem::find(text.as_bytes(), longest.as_bytes()).is_none() {
        return Vec::new();
    }
    let stream = Stream::of(text, manner);
    let found = stream.places(text, needle);
    found.into_iter().filter_map(|place| widened(text, old, place, manner.lead)).collect()
}

/// A place with the blanks around it.
pub(super) fn widened(text: &str, old: &str, place: Range<usize>, lead: Lead) -> Option<Range<usize>> {
    let mut range = place;
    if lead == Lead::Dropped {
        let before = text.get(..range.start)?;
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        if before.get(line..)?.trim().is_empty() {
            range.start = line;
        }
    }
    let after = text.get(range.end..)?;
    let rest = after.find('\n').unwrap_or(after.len());
    let is_line_end = after.get(..rest)?.trim().is_empty();
    if is_line_end {
        range.end += rest;
    }
    if old.ends_with('\n') {
        if !is_line_end {
            return None;
        }
        range.end += usize::from(rest < after.len());
    }
    Some(range)
}

/// Every place of a needle, up to some number also those that overlap.
pub(super) fn all_places(content: &[u8], needle: &[u8]) -> Vec<usize> {
    const OVERLAPPING: usize = 21;
    let finder = memmem::Finder::new(needle);
    let mut places = Vec::new();
    let mut from = 0;
    while places.len() < OVERLAPPING
        && let Some(at) = content.get(from..).and_then(|rest| finder.find(rest))
    {
        places.push(from + at);
        from += at + 1;
    }
    if places.len() == OVERLAPPING {
        places.extend(memmem::find_iter(content.get(from..).unwrap_or_default(), needle).map(|at| from + at));
    }
    places
}

pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether a word goes on over one of the two ends.
fn cuts_a_word(text: &str, start: usize, end: usize) -> bool {
    let (Some(before), Some(inside), Some(after)) =
        (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return true;
    };
    before.ends_with(is_word) && inside.starts_with(is_word)
        || inside.ends_with(is_word) && after.starts_with(is_word)
}
