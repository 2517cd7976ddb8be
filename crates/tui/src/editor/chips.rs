//! What stands in the text for something larger: a long paste, an image.
//!
//! A chip is one private character in the buffer, so that motions, deletion and undo treat it as one thing; the table
//! here says what it shows and what it becomes. Invariant: text from outside never holds such a character.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Supplementary private use area B; icon fonts live in area A and below.
const FIRST: u32 = 0x10_0000;
const LAST: u32 = 0x10_FFFD;

/// A paste with more lines than this becomes a chip.
const PASTE_LINES: usize = 10;
/// A paste with more characters than this becomes a chip.
const PASTE_CHARACTERS: usize = 2_000;

/// An image that goes along with a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What stands for it in the text.
    pub label: String,
    /// Where it is.
    pub path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Chip {
    Paste {
        label: String,
        #[serde(with = "shared_text")]
        content: Arc<str>,
    },
    Image(Attachment),
}

impl Chip {
    fn label(&self) -> &str {
        match self {
            Self::Paste { label, .. } | Self::Image(Attachment { label, .. }) => label,
        }
    }
}

/// A draft is compared and copied with every key, and a paste may have megabytes.
mod shared_text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}

/// The chips of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Chips(Vec<Chip>);

impl Chips {
    /// The character for a long paste, or none if the paste is short enough to stand in the text.
    pub(crate) fn paste(&mut self, content: &str) -> Option<char> {
        let lines = content.lines().count();
        let characters = content.chars().count();
        if lines <= PASTE_LINES && characters <= PASTE_CHARACTERS {
            return None;
        }
        let label = match lines {
            0 | 1 => format!("[pasted {} characters]", grouped(characters)),
            _ => format!("[pasted {} lines]", grouped(lines)),
        };
        let label = self.unique(label);
        self.add(Chip::Paste { label, content: content.into() })
    }

    /// The character for an image, of which there are some facts to tell.
    pub(crate) fn image(&mut self, path: &Path, facts: &str) -> Option<char> {
        let number = self.0.iter().filter(|chip| matches!(chip, Chip::Image(_))).count() + 1;
        let label = format!("[image {number} {}]", clean(facts).replace('\n', " "));
        self.add(Chip::Image(Attachment { label, path: path.to_owned() }))
    }

    /// The character for an image that had one before.
    pub(crate) fn again(&mut self, image: Attachment) -> Option<char> {
        let chip = Chip::Image(image);
        match self.0.iter().position(|known| *known == chip) {
            Some(place) => char::from_u32(FIRST + u32::try_from(place).ok()?),
            None => self.add(chip),
        }
    }

    fn add(&mut self, chip: Chip) -> Option<char> {
        let sentinel =
            char::from_u32(FIRST + u32::try_from(self.0.len()).ok()?).filter(|c| is_sentinel(*c))?;
        self.0.push(chip);
        Some(sentinel)
    }

    fn unique(&self, label: String) -> String {
        let bare = label.trim_end_matches(']');
        let like = |other: &&Chip| {
            other.label() == label
                || other.label().strip_prefix(bare).is_some_and(|rest| rest.starts_with(" #"))
        };
        match self.0.iter().filter(like).count() {
            0 => label,
            others => format!("{bare} #{}]", others + 1),
        }
    }

    fn chip(&self, c: char) -> Option<&Chip> {
        is_sentinel(c).then(|| self.0.get((c as u32 - FIRST) as usize)).flatten()
    }

    /// What a character of the buffer shows, if it is a chip.
    pub(crate) fn label(&self, c: char) -> Option<&str> {
        self.chip(c).map(Chip::label)
    }

    /// The buffer's text as it is submitted: pastes in full, images by their label.
    pub(crate) fn expand(&self, raw: &str) -> String {
        self.resolve(raw, |chip| match chip {
            Chip::Paste { content, .. } => content,
            Chip::Image(image) => &image.label,
        })
    }

    /// The buffer's text as it is shown.
    pub(crate) fn shown(&self, raw: &str) -> String {
        self.resolve(raw, Chip::label)
    }

    fn resolve<'a>(&'a self, raw: &str, text: impl Fn(&'a Chip) -> &'a str) -> String {
        let mut resolved = String::with_capacity(raw.len());
        for c in raw.chars() {
            match (self.chip(c), is_sentinel(c)) {
                (Some(chip), _) => resolved.push_str(text(chip)),
                (None, true) => {}
                (None, false) => resolved.push(c),
            }
        }
        resolved
    }

    /// The images that the text mentions, in its order, each once.
    pub(crate) fn attachments(&self, raw: &str) -> Vec<Attachment> {
        let mut found: Vec<Attachment> = Vec::new();
        for c in raw.chars() {
            if let Some(Chip::Image(image)) = self.chip(c)
                && !found.contains(image)
            {
                found.push(image.clone());
            }
        }
        found
    }

    /// The text without characters that stand for nothing in this table.
    pub(crate) fn known(&self, raw: &str) -> String {
        raw.chars().filter(|c| !is_sentinel(*c) || self.chip(*c).is_some()).collect()
    }
}

/// Whether the character can only be a chip.
pub(crate) fn is_sentinel(c: char) -> bool {
    (FIRST..=LAST).contains(&(c as u32))
}

/// Text from outside as the buffer may hold it: newlines unified, no control characters, no chips.
pub(crate) fn clean(text: &str) -> String {
    let unified = text.replace("\r\n", "\n");
    unified
        .chars()
        .filter_map(|c| match c {
            '\r' => Some('\n'),
            '\n' | '\t' => Some(c),
            c if c.is_control() => None,
            c if is_sentinel(c) => Some(char::REPLACEMENT_CHARACTER),
            c => Some(c),
        })
        .collect()
}

/// The paths that a terminal pastes when files are dropped on it; none if the text is anything else.
pub(crate) fn dropped_paths(text: &str) -> Vec<PathBuf> {
    let text = text.trim();
    if text.is_empty() || text.contains('\n') || text.len() > 64 * 1024 {
        return Vec::new();
    }
    let mut paths = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None) => word.extend(characters.next()),
            ('\'' | '"', None) => quote = Some(c),
            (' ', None) => {
                paths.push(std::mem::take(&mut word));
            }
            (c, _) => word.push(c),
        }
    }
    paths.push(word);
    paths.retain(|path| !path.is_empty());
    paths.into_iter().map(|path| local_path(&path)).collect()
}

fn local_path(path: &str) -> PathBuf {
    match path.strip_prefix("file://") {
        Some(url) => {
            let bytes = percent_decoded(url.strip_prefix("localhost").unwrap_or(url));
            PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
        }
        None => PathBuf::from(path),
    }
}

fn percent_decoded(url: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = (first == b'%').then(|| tail.get(..2)).flatten();
        let byte = hex
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    bytes
}

/// Digits in groups of three.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_paste_is_one_character_that_expands() {
        let mut chips = Chips::default();
        let content = "line\n".repeat(1_234);
        let first = chips.paste(&content).unwrap();
        let second = chips.paste(&content).unwrap();
        let raw = format!("see {first} and {second}");
        assert_eq!(chips.shown(&raw), "see [pasted 1 234 lines] and [pasted 1 234 lines #2]");
        assert_eq!(chips.expand(&raw), format!("see {content} and {content}"));
        assert_eq!(chips.paste("short"), None);
        let long = chips.paste(&"x".repeat(1_234_567)).unwrap();
        assert_eq!(chips.label(long), Some("[pasted 1 234 567 characters]"));
    }

    #[test]
    fn dropped_files_are_read_in_every_quoting() {
        let cases = [
            ("/a/b.png", vec!["/a/b.png"]),
            ("'/a b/c.png' ", vec!["/a b/c.png"]),
            ("/a\\ b/c.png", vec!["/a b/c.png"]),
            ("file:///a%20b/c.png", vec!["/a b/c.png"]),
            ("/a.png \"/b c.png\"", vec!["/a.png", "/b c.png"]),
            ("two\nlines", vec![]),
        ];
        for (pasted, expected) in cases {
            let expected: Vec<PathBuf> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(dropped_paths(pasted), expected, "{pasted}");
        }
    }

    #[test]
    fn nothing_from_outside_can_pose_as_a_chip_or_an_escape() {
        assert_eq!(clean("a\u{100000}b\r\nc\rd\u{1b}[31m\te"), "a\u{fffd}b\nc\nd[31m\te");
    }
}
