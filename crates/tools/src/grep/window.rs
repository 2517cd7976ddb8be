//! The part of a long line that is worth showing: what matched, and what is around it.

use std::ops::Range;

/// Characters of a line that are shown.
const SHOWN: usize = 768;

/// Characters before the match that are shown of a line that is too long.
const BEFORE: usize = 200;

/// A line, or the part of it around a match, which is given in bytes.
pub(super) fn around(line: &[u8], found: Range<usize>) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Bytes can be cut before they are read as text: a character has at most four.
    let from = found.start.min(line.len()).saturating_sub(BEFORE * 4);
    let to = line.len().min(found.start.saturating_add(SHOWN * 4));
    let text = String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
    let chars = text.chars().count();
    if from == 0 && to == line.len() && chars <= SHOWN {
        return text.into_owned();
    }
    let before = String::from_utf8_lossy(line.get(from..found.start.min(line.len())).unwrap_or_default())
        .chars()
        .count();
    let skipped = if chars <= SHOWN { 0 } else { before.saturating_sub(BEFORE).min(chars - SHOWN) };
    let shown: String = text.chars().skip(skipped).take(SHOWN).collect();
    let begin = if from > 0 || skipped > 0 { "…" } else { "" };
    let end = if to < line.len() || skipped + SHOWN < chars { "…" } else { "" };
    format!("{begin}{shown}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        assert_eq!(around(b"short\r\n", 0..5), "short");
        let line = format!("{}needle{}", "a".repeat(5_000), "b".repeat(5_000));
        let shown = around(line.as_bytes(), 5_000..5_006);
        assert_eq!(shown, format!("…{}needle{}…", "a".repeat(200), "b".repeat(562)));
        let end = around(format!("{}needle", "é".repeat(5_000)).as_bytes(), 10_000..10_006);
        assert!(end.starts_with('…') && end.ends_with("éneedle") && end.chars().count() <= 769, "{end}");
        assert_eq!(around("x".repeat(800).as_bytes(), 0..1), format!("{}…", "x".repeat(768)));
        assert_eq!(around(b"caf\xe9", 0..1), "caf\u{FFFD}");
    }
}
