//! Beginnings and ends of texts: whole lines where possible, whole characters always.

/// Which part of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// The beginning and the end, with a remark between them.
    Both,
}

/// What is left of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncated {
    /// Within the limits; with [`Keep::Both`] including the remark.
    pub text: String,
    /// Whether anything was removed.
    pub truncated: bool,
    /// Lines that are gone, those of which a part is left not counted.
    pub removed_lines: usize,
    /// Bytes that are gone.
    pub removed_bytes: usize,
}

/// Cuts a text to so many lines and bytes. A line end belongs to the line before
/// it, and the last line that is kept of a beginning loses it.
#[must_use]
pub fn truncate(text: &str, max_lines: usize, max_bytes: usize, keep: Keep) -> Truncated {
    if count_lines(text) <= max_lines && text.len() <= max_bytes {
        return Truncated { text: text.to_owned(), truncated: false, removed_lines: 0, removed_bytes: 0 };
    }
    let (kept, lines, bytes) = match keep {
        Keep::Head => one_end(head(text, max_lines, max_bytes)),
        Keep::Tail => one_end(tail(text, max_lines, max_bytes)),
        Keep::Both => both_ends(text, max_lines, max_bytes),
    };
    Truncated {
        text: kept,
        truncated: true,
        removed_lines: count_lines(text).saturating_sub(lines),
        removed_bytes: text.len().saturating_sub(bytes),
    }
}

/// How many lines a text has; a line end at its end begins no further one.
pub(super) fn count_lines(text: &str) -> usize {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    if text.is_empty() || text.ends_with('\n') { ends } else { ends + 1 }
}

/// The longest beginning within the limits, without the line end where it was cut.
pub(super) fn head(text: &str, max_lines: usize, max_bytes: usize) -> &str {
    if max_lines == 0 {
        return "";
    }
    let line_end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(max_lines - 1);
    // With all its lines, it keeps its last line end too.
    let by_lines = match line_end {
        Some(end) if end + 1 < text.len() => end,
        _ => text.len(),
    };
    if by_lines <= max_bytes {
        return text.get(..by_lines).unwrap_or(text);
    }
    let window = text.get(..floor(text, max_bytes + 1)).unwrap_or(text);
    match memchr::memrchr(b'\n', window.as_bytes()) {
        Some(end) => text.get(..end).unwrap_or_default(),
        None => text.get(..floor(text, max_bytes)).unwrap_or_default(),
    }
}

/// The longest end within the limits.
pub(super) fn tail(text: &str, max_lines: usize, max_bytes: usize) -> &str {
    if max_lines == 0 {
        return "";
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let by_lines = memchr::memrchr_iter(b'\n', body.as_bytes()).nth(max_lines - 1).map_or(0, |end| end + 1);
    if text.len() - by_lines <= max_bytes {
        return text.get(by_lines..).unwrap_or(text);
    }
    let least = ceil(text, text.len() - max_bytes);
    if least > 0 && text.as_bytes().get(least - 1) == Some(&b'\n') {
        return text.get(least..).unwrap_or_default();
    }
    match memchr::memchr(b'\n', text.as_bytes().get(least..).unwrap_or_default()) {
        Some(end) if least + end + 1 < text.len() => text.get(least + end + 1..).unwrap_or_default(),
        _ => text.get(least..).unwrap_or_default(),
    }
}

fn one_end(kept: &str) -> (String, usize, usize) {
    (kept.to_owned(), count_lines(kept), kept.len())
}

fn both_ends(text: &str, max_lines: usize, max_bytes: usize) -> (String, usize, usize) {
    // As long as any remark about this text can be.
    let room = remark(text.len(), text.len()).len() + 2;
    if max_lines < 3 || max_bytes < 3 * room {
        return squeezed(text, max_lines, max_bytes);
    }
    let (lines, bytes) = (max_lines - 1, max_bytes - room);
    let begin = head(text, lines.div_ceil(2), bytes.div_ceil(2));
    let end = tail(text, lines / 2, bytes / 2);
    let (kept_lines, kept_bytes) = (count_lines(begin) + count_lines(end), begin.len() + end.len());
    let remark = remark(count_lines(text).saturating_sub(kept_lines), text.len() - kept_bytes);
    (format!("{begin}\n{remark}\n{end}"), kept_lines, kept_bytes)
}

/// Too little room for a remark: a sign has to do.
fn squeezed(text: &str, max_lines: usize, max_bytes: usize) -> (String, usize, usize) {
    const SIGN: &str = "…";
    if max_lines == 0 || max_bytes < 3 * SIGN.len() {
        return one_end(head(text, max_lines, max_bytes));
    }
    let (lines, bytes) = (max_lines.div_ceil(2), max_bytes - SIGN.len());
    let begin = head(text, lines, bytes.div_ceil(2));
    // The sign makes one line of the last of these and the first of those.
    let end = tail(text, max_lines + 1 - lines, bytes / 2);
    (format!("{begin}{SIGN}{end}"), count_lines(begin) + count_lines(end), begin.len() + end.len())
}

fn remark(lines: usize, bytes: usize) -> String {
    format!("[… {lines} lines, {bytes} bytes omitted]")
}

/// The last character boundary at or before `index`.
pub(super) fn floor(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first character boundary at or after `index`.
pub(super) fn ceil(text: &str, index: usize) -> usize {
    (index..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str, lines: usize, bytes: usize, keep: Keep) -> (String, usize, usize) {
        let cut = truncate(text, lines, bytes, keep);
        assert_eq!(cut.truncated, cut.text != text);
        (cut.text, cut.removed_lines, cut.removed_bytes)
    }

    #[test]
    fn whole_lines_are_kept_where_possible_and_whole_characters_always() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(cut(text, 9, 99, Keep::Head), (text.into(), 0, 0));
        assert_eq!(cut(text, 3, 14, Keep::Tail), (text.into(), 0, 0));
        assert_eq!(cut(text, 2, 99, Keep::Head), ("one\ntwo".into(), 1, 7));
        assert_eq!(cut(text, 2, 99, Keep::Tail), ("two\nthree\n".into(), 1, 4));
        assert_eq!(cut(text, 9, 7, Keep::Head), ("one\ntwo".into(), 1, 7));
        assert_eq!(cut(text, 9, 6, Keep::Head), ("one".into(), 2, 11));
        assert_eq!(cut(text, 9, 9, Keep::Tail), ("three\n".into(), 2, 8));
        assert_eq!(cut("ééé", 9, 3, Keep::Head), ("é".into(), 0, 4));
        assert_eq!(cut("ééé", 9, 3, Keep::Tail), ("é".into(), 0, 4));
        assert_eq!(cut("abc", 0, 9, Keep::Head), (String::new(), 1, 3));
    }

    #[test]
    fn both_ends_are_kept_with_a_remark_between_them() {
        let text: String = (0..100).map(|number| format!("line{number}\n")).collect();
        assert_eq!(
            cut(&text, 5, 10_000, Keep::Both),
            ("line0\nline1\n[… 96 lines, 665 bytes omitted]\nline98\nline99\n".into(), 96, 665)
        );
        assert_eq!(cut("an example of a long text", 9, 13, Keep::Both), ("an ex… text".into(), 0, 15));
    }

    fn texts() -> impl Strategy<Value = String> {
        proptest::collection::vec("[a-zé\u{1F600}]{0,12}", 0..40).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn limits_are_never_exceeded(text in texts(), lines in 0_usize..30, bytes in 0_usize..300) {
            for keep in [Keep::Head, Keep::Tail, Keep::Both] {
                let cut = truncate(&text, lines, bytes, keep);
                prop_assert!(cut.text.len() <= bytes || !cut.truncated, "{keep:?} {cut:?}");
                prop_assert!(count_lines(&cut.text) <= lines || !cut.truncated, "{keep:?} {cut:?}");
                prop_assert_eq!(cut.truncated, count_lines(&text) > lines || text.len() > bytes);
            }
        }

        #[test]
        fn beginnings_and_ends_are_true_ones(text in texts(), lines in 0_usize..30, bytes in 0_usize..300) {
            let begin = truncate(&text, lines, bytes, Keep::Head);
            prop_assert!(text.starts_with(&begin.text));
            prop_assert_eq!(begin.text.len() + begin.removed_bytes, text.len());
            let end = truncate(&text, lines, bytes, Keep::Tail);
            prop_assert!(text.ends_with(&end.text));
            prop_assert_eq!(end.text.len() + end.removed_bytes, text.len());
        }
    }
}
