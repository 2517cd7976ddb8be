//! A long text in parts. Lines are broken before they are too long to be shown whole, so every part
//! arrives as it is cut, and the parts together are the text.

/// Lines longer than this are broken; what prints them would shorten them.
const LONGEST_LINE: usize = 1_800;

/// Lines of a part.
const MOST_LINES: usize = 1_800;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window<'a> {
    pub(super) text: &'a str,
    /// Where the next part begins, if there is one.
    pub(super) next: Option<usize>,
}

/// The part of a text from a byte on, of at most `limit` bytes; cut after a line where that is near.
pub(super) fn window(text: &str, offset: usize, limit: usize) -> Window<'_> {
    let start = text.floor_char_boundary(offset);
    let rest = text.get(start..).unwrap_or_default();
    let lines =
        memchr::memchr_iter(b'\n', rest.as_bytes()).nth(MOST_LINES - 1).map_or(rest.len(), |at| at + 1);
    let most = lines.min(rest.floor_char_boundary(limit.max(4)));
    if most == rest.len() {
        return Window { text: rest, next: None };
    }
    let full = rest.get(..most).unwrap_or_default();
    let end = match full.rfind('\n') {
        Some(at) if at + 1 >= most / 2 => at + 1,
        _ => most,
    };
    Window { text: rest.get(..end).unwrap_or_default(), next: Some(start + end) }
}

/// A text whose lines are short enough, and whether it was changed for that.
pub(super) fn broken(text: &str) -> (String, Lines) {
    let mut result = String::with_capacity(text.len() + text.len() / LONGEST_LINE);
    let mut lines = Lines::AsTheyWere;
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((at, _)) = rest.char_indices().nth(LONGEST_LINE) {
            lines = Lines::Broken;
            let head = rest.get(..at).unwrap_or_default();
            let cut = head.rfind(' ').filter(|space| *space > at / 2).map_or(at, |space| space + 1);
            result.push_str(rest.get(..cut).unwrap_or_default());
            result.push('\n');
            rest = rest.get(cut..).unwrap_or_default();
        }
        result.push_str(rest);
    }
    (result, lines)
}

/// Whether lines were broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    AsTheyWere,
    Broken,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_parts_are_the_text(text in "(é|x|\n| ){0,400}", limit in 1_usize..60) {
            let mut parts = String::new();
            let mut offset = 0;
            loop {
                let part = window(&text, offset, limit);
                prop_assert!(part.text.len() <= limit.max(4));
                parts.push_str(part.text);
                match part.next {
                    Some(next) => {
                        prop_assert!(next > offset);
                        offset = next;
                    }
                    None => break,
                }
            }
            prop_assert_eq!(parts, text);
        }
    }

    #[test]
    fn a_part_ends_with_a_line_where_it_can() {
        assert_eq!(window("one\ntwo\nthree\n", 0, 10), Window { text: "one\ntwo\n", next: Some(8) });
        assert_eq!(window("one\ntwo\nthree\n", 8, 10), Window { text: "three\n", next: None });
        assert_eq!(window("a\nbbbbbbbbbbbbbbbb", 0, 10), Window { text: "a\nbbbbbbbb", next: Some(10) });
        assert_eq!(window("abc", 99, 10), Window { text: "", next: None });
        let many = "\n".repeat(5_000);
        assert_eq!(window(&many, 0, 24_000).next, Some(MOST_LINES));
    }

    #[test]
    fn long_lines_are_broken_at_spaces() {
        assert_eq!(broken("short\nlines\n"), ("short\nlines\n".to_owned(), Lines::AsTheyWere));
        let (text, lines) = broken(&"word ".repeat(1_000));
        assert_eq!((text.lines().map(str::len).max(), lines), (Some(LONGEST_LINE), Lines::Broken));
        assert_eq!(text.replace('\n', ""), "word ".repeat(1_000));
        let (text, _) = broken(&"é".repeat(4_000));
        assert_eq!(text.lines().map(|line| line.chars().count()).collect::<Vec<_>>(), [1_800, 1_800, 400]);
    }
}
