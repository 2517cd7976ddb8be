//! Commands and addresses without the secrets in them, for whatever is kept,
//! exported or shown.
//!
//! Pure and total: text in, text out, in time that grows with the text. What
//! looks like a secret becomes [`MASK`]; everything else stays as it is, byte
//! for byte. A reference such as `$TOKEN` is no secret and stays. Masking what
//! is masked changes nothing.
//!
//! This is a net and no wall: a secret that looks like any other word is not
//! recognised. Too much is rather masked than too little.
//!
//! Layout: [`shape`] knows what tokens look like, [`name`] which names belong
//! to secrets, [`option`] which options of which programs take one.

mod name;
mod option;
mod shape;

use std::borrow::Cow;
use std::ops::Range;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// The text with what looks like a secret replaced by [`MASK`].
#[must_use]
pub fn secrets(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    shape::find(text, &mut found);
    name::find(text, &mut found);
    option::find(text, &mut found);
    replaced(text, found)
}

/// A place in the text whose content is to be hidden.
type Span = Range<usize>;

fn replaced(text: &str, mut spans: Vec<Span>) -> Cow<'_, str> {
    spans.retain(|span| is_secret(text.get(span.clone()).unwrap_or_default()));
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_by_key(|span| (span.start, span.end));
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        if span.end <= done {
            continue;
        }
        if span.start >= done {
            masked.push_str(text.get(done..span.start).unwrap_or_default());
            masked.push_str(MASK);
        }
        done = span.end;
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(masked)
}

/// Whether a value hides something: a reference to a variable or to the output
/// of a command does not.
fn is_secret(value: &str) -> bool {
    !value.is_empty() && value != MASK && !value.starts_with(['$', '`', '<'])
}

/// The value that begins at `at`: within its quotes if it has some, else up to
/// the end of the word.
fn value_at(text: &str, at: usize) -> Span {
    let rest = text.get(at..).unwrap_or_default();
    // A quote may itself be escaped, within a string of another language.
    let escaped = usize::from(rest.starts_with('\\'));
    match rest.get(escaped..).and_then(|rest| rest.chars().next()) {
        Some(quote @ ('"' | '\'')) => {
            let start = at + escaped + 1;
            let inside = text.get(start..).unwrap_or_default();
            let length = match escaped {
                0 => end_of_quote(inside, quote),
                _ => inside.find(&format!("\\{quote}")).unwrap_or(inside.len()),
            };
            start..start + length
        }
        _ => {
            let ends = |character: char| {
                character.is_whitespace()
                    || matches!(character, ';' | '&' | '|' | '"' | '\'' | ',' | ')' | '}' | ']' | '\\')
            };
            at..at + rest.find(ends).unwrap_or(rest.len())
        }
    }
}

/// Where the quote ends that the text is the inside of.
fn end_of_quote(inside: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in inside.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            found if found == quote => return at,
            _ => {}
        }
    }
    inside.len()
}

#[cfg(test)]
mod tests;
