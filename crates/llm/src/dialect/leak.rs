//! Finds what Harmony spills: the header of a call without its brackets, in the
//! middle of ordinary text or of arguments, followed by garbage.
//!
//! A mere mention of a recipient is none: a channel or a role stands before it,
//! and the word for its kind of content, or a script that has no business there,
//! behind it.

use super::opening::{End, Look, Verdict, What};

const MARKER: &str = "to=functions.";
/// What stands right before the marker.
const LEADS: [&str; 6] = ["analysis", "commentary", "assistant", "user", "changedFiles", "Japgolly"];
/// What stands behind the name.
const KINDS: [&str; 3] = [" code", " json", " <|"];

/// Whether the rest of a text is spilled, from the name of the recipient on. The word before it has been told by then:
/// to hold every letter with which it may begin would make all text stutter.
pub(super) fn begins(text: &str, look: &Look) -> Verdict {
    if !LEADS.contains(&look.lead) {
        return Verdict::No;
    }
    match spilled(text, look.end) {
        Some(true) => Verdict::Begins(0, What::Garbage),
        Some(false) => Verdict::No,
        None => Verdict::More,
    }
}

/// Whether what is behind a marker is spilled; nothing if it takes more text to tell.
fn spilled(text: &str, end: End) -> Option<bool> {
    let name_end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
    let Some(behind) = name_end.filter(|end| *end > 0).and_then(|end| text.get(end..)) else {
        return if end == End::More && name_end.is_none() { None } else { Some(false) };
    };
    let foreign = behind.trim_start().chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_ascii());
    if foreign || KINDS.iter().any(|kind| behind.starts_with(kind)) {
        return Some(true);
    }
    let begun = behind.trim_start().is_empty() || KINDS.iter().any(|kind| kind.starts_with(behind));
    if begun && end == End::More { None } else { Some(false) }
}

/// Arguments of a call without what was spilled into them; nothing if that is nothing. What is cut out of the middle of
/// a value leaves it unreadable, so that the model is told instead of a file getting garbage.
pub(super) fn cleaned(arguments: &str) -> Option<String> {
    let mut from = 0;
    while let Some(found) = arguments.get(from..).and_then(|rest| rest.find(MARKER)) {
        let at = from + found;
        let before = arguments.get(..at).unwrap_or_default().trim_end();
        let behind = arguments.get(at + MARKER.len()..).unwrap_or_default();
        let foreign = before.chars().next_back().is_some_and(|c| c.is_alphabetic() && !c.is_ascii());
        let lead = LEADS.iter().find_map(|lead| before.strip_suffix(lead)).or(foreign.then_some(before));
        if let (Some(before), Some(true)) = (lead, spilled(behind, End::Natural)) {
            let kept =
                before.trim_end_matches(|c: char| c.is_whitespace() || (c.is_alphabetic() && !c.is_ascii()));
            return Some(kept.to_owned());
        }
        from = at + MARKER.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spilled_behind_arguments_is_cut() {
        let spilled = "{\"path\":\"a\"} \tchangedFiles to=functions.read code \u{5929}\u{5929}";
        assert_eq!(cleaned(spilled).as_deref(), Some("{\"path\":\"a\"}"));
        let inside = "{\"text\":\"x }\u{564}\u{56a}analysis to=functions.edit code \u{5929}\"}";
        assert_eq!(cleaned(inside).as_deref(), Some("{\"text\":\"x }"));
    }

    #[test]
    fn a_mention_is_left_alone() {
        for text in [
            "{\"text\":\"expect(out).toContain('to=functions.edit');\"}",
            "{\"text\":\"analysis to=functions.edit is a header\"}",
            "{}",
        ] {
            assert_eq!(cleaned(text), None, "{text}");
        }
    }
}
