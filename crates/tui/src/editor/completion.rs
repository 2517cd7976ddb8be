//! What around the cursor can be completed.
//!
//! Only finds the place and puts an accepted text there; candidates are for others.

use std::ops::Range;

use super::buffer::{Buffer, EditKind};

/// What kind of thing is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompletionKind {
    /// A path after `@`.
    File,
    /// The name of a command after `/`.
    Command,
    /// An argument of the command with this name.
    Argument(String),
}

/// A place where a completion would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What is being written.
    pub kind: CompletionKind,
    /// What is there already, without its sigil.
    pub prefix: String,
    /// Where it is in the editor's own text, with its sigil.
    pub range: Range<usize>,
}

/// The place at the cursor, if something can be completed there.
pub(super) fn at_cursor(buffer: &Buffer) -> Option<Completion> {
    let before = buffer.before();
    let place = |kind, prefix: &str, start| {
        Some(Completion { kind, prefix: prefix.to_owned(), range: start..before.len() })
    };
    if let Some(line) = before.strip_prefix('/').filter(|line| !line.contains('\n')) {
        match line.split_once(char::is_whitespace) {
            None if is_command(line) => return place(CompletionKind::Command, line, 0),
            Some((command, _)) if is_command(command) && !command.is_empty() => {
                let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
                if !word.starts_with('@') {
                    let kind = CompletionKind::Argument(command.to_owned());
                    return place(kind, word, before.len() - word.len());
                }
            }
            _ => {}
        }
    }
    let quoted =
        before.rfind("@\"").filter(|at| !before.get(at + 2..).unwrap_or_default().contains(['"', '\n']));
    let bare =
        before.rfind(char::is_whitespace).map_or(0, |at| at + before.get(at..).map_or(0, first_length));
    let start = quoted.unwrap_or(bare);
    let preceded = before.get(..start).unwrap_or_default();
    let token = before.get(start..)?.strip_prefix('@')?;
    if !preceded.is_empty() && !preceded.ends_with(|c: char| c.is_whitespace() || "([{".contains(c)) {
        return None;
    }
    place(CompletionKind::File, token.strip_prefix('"').unwrap_or(token), start)
}

fn first_length(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Puts an accepted completion in its place.
pub(super) fn accept(buffer: &mut Buffer, completion: &Completion, text: &str) {
    let more = text.ends_with('/');
    let mut inserted = match completion.kind {
        CompletionKind::File if text.contains(char::is_whitespace) && more => format!("@\"{text}"),
        CompletionKind::File if text.contains(char::is_whitespace) => format!("@\"{text}\""),
        CompletionKind::File => format!("@{text}"),
        CompletionKind::Command => format!("/{}", text.strip_prefix('/').unwrap_or(text)),
        CompletionKind::Argument(_) => text.to_owned(),
    };
    if !more && !buffer.tail(completion.range.end).starts_with(char::is_whitespace) {
        inserted.push(' ');
    }
    buffer.replace(EditKind::Alone, completion.range.clone(), &inserted);
}

/// Whether the word after a `/` could be a command and not a path.
pub(super) fn is_command(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || "_-:?".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(before: &str) -> Option<(CompletionKind, String, Range<usize>)> {
        let buffer = Buffer::with(before.to_owned(), before.len());
        at_cursor(&buffer).map(|completion| (completion.kind, completion.prefix, completion.range))
    }

    #[test]
    fn places_are_found_where_a_word_begins_with_a_sigil() {
        use CompletionKind::{Argument, Command, File};
        let cases = [
            ("/", Some((Command, "", 0..1))),
            ("/mo", Some((Command, "mo", 0..3))),
            ("/model son", Some((Argument("model".into()), "son", 7..10))),
            ("/usr/bin", None),
            ("/usr/bin @s", Some((File, "s", 9..11))),
            (" /mo", None),
            ("see @src/ma", Some((File, "src/ma", 4..11))),
            ("see\n@", Some((File, "", 4..5))),
            ("see @\"my fi", Some((File, "my fi", 4..11))),
            ("name@host", None),
            ("/export @out", Some((File, "out", 8..12))),
            ("plain", None),
        ];
        for (before, expected) in cases {
            let expected = expected.map(|(kind, prefix, range)| (kind, prefix.to_owned(), range));
            assert_eq!(found(before), expected, "{before}");
        }
    }

    #[test]
    fn accepting_closes_files_and_leaves_directories_open() {
        let accepted = |before: &str, text| {
            let mut buffer = Buffer::with(before.to_owned(), before.len());
            let completion = at_cursor(&buffer).unwrap();
            accept(&mut buffer, &completion, text);
            buffer.text().to_owned()
        };
        assert_eq!(accepted("see @ma", "src/main.rs"), "see @src/main.rs ");
        assert_eq!(accepted("see @sr", "src/"), "see @src/");
        assert_eq!(accepted("see @my", "my file.txt"), "see @\"my file.txt\" ");
        assert_eq!(accepted("see @\"my d", "my dir/"), "see @\"my dir/");
        assert_eq!(accepted("/mo", "/model"), "/model ");
        assert_eq!(accepted("/model so", "sonnet"), "/model sonnet ");
    }
}
