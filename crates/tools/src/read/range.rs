//! Which lines, pages, cells or entries are asked for.
//!
//! The invariant of a [`Selection`]: its spans are in order, at least one apart,
//! and counted from 1.

use std::fmt::Write;

use crate::contract::Complaint;

/// How many are shown when no end is named.
pub(super) const USUAL: u64 = 300;

/// Spans that one call may name.
const MOST_SPANS: usize = 100;

/// Some that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    /// Counted from 1.
    pub(super) first: u64,
    /// With this one; without an end as many as is usual.
    pub(super) last: Option<u64>,
}

impl Span {
    /// The last that is shown.
    pub(super) fn end(self) -> u64 {
        self.last.unwrap_or(self.first.saturating_add(USUAL - 1))
    }
}

/// By which arguments it was asked, which is how the way on is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// None: from the beginning, as much as is usual.
    Nothing,
    /// `offset` or `limit`.
    Offset,
    /// `ranges`.
    Ranges,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) asked: Asked,
    pub(super) spans: Vec<Span>,
    /// So many from the end.
    pub(super) tail: Option<u64>,
}

impl Selection {
    /// Reads the arguments. What says nothing, like an empty text or a tail of 0, counts as not there.
    pub(super) fn new(
        offset: Option<u64>,
        limit: Option<u64>,
        ranges: Option<&str>,
        tail: Option<u64>,
    ) -> Result<Self, Complaint> {
        let ranges = ranges.map(str::trim).filter(|ranges| !ranges.is_empty());
        let tail = tail.filter(|tail| *tail > 0);
        if ranges.is_none() && tail.is_none() {
            let asked = if offset.is_none() && limit.is_none() { Asked::Nothing } else { Asked::Offset };
            let first = offset.unwrap_or(1).max(1);
            let last = limit.map(|limit| first.saturating_add(limit.max(1) - 1));
            return Ok(Self { asked, spans: vec![Span { first, last }], tail: None });
        }
        let mut this = Self { asked: Asked::Ranges, spans: Vec::new(), tail };
        for part in ranges.unwrap_or_default().split([',', ';', ' ']).filter(|part| !part.is_empty()) {
            match parse(part) {
                Some(Part::Span(span)) => this.spans.push(span),
                Some(Part::Tail(count)) => this.tail = this.tail.max(Some(count)),
                None => {
                    let part: String = part.chars().take(40).collect();
                    return Err(Complaint(format!(
                        "`ranges`: {part} is no range. Write them like 10-40,80-95 or 200-."
                    )));
                }
            }
        }
        if this.spans.len() > MOST_SPANS {
            return Err(Complaint(format!("`ranges` has more than {MOST_SPANS} ranges. Name fewer.")));
        }
        this.spans = merged(this.spans);
        Ok(this)
    }

    /// With the end counted from the beginning, now that it is known how many there are.
    pub(super) fn resolved(mut self, total: u64) -> Self {
        if let Some(tail) = self.tail.take() {
            let span = Span { first: (total + 1).saturating_sub(tail).max(1), last: Some(total.max(1)) };
            self.spans.push(span);
            self.spans = merged(self.spans);
        }
        self
    }

    /// For the title of a call.
    pub(super) fn title(&self) -> String {
        let spans = match self.asked {
            Asked::Nothing => String::new(),
            Asked::Offset => {
                self.spans.first().map(|span| written(span.first, Some(span.end()))).unwrap_or_default()
            }
            Asked::Ranges => written_all(&self.spans),
        };
        let tail = self.tail.map(|tail| format!("-{tail}"));
        let parts: Vec<String> = [spans].into_iter().filter(|spans| !spans.is_empty()).chain(tail).collect();
        if parts.is_empty() { String::new() } else { format!(":{}", parts.join(",")) }
    }

    /// The call that shows what is left, from this one on; nothing if nothing is.
    pub(super) fn way_on(&self, next: u64) -> Option<String> {
        if self.asked != Asked::Ranges {
            return Some(format!("continue with offset={next}"));
        }
        let left: Vec<Span> = self
            .spans
            .iter()
            .filter(|span| span.last.is_none_or(|last| last >= next))
            .map(|span| Span { first: span.first.max(next), last: span.last })
            .collect();
        (!left.is_empty()).then(|| format!("continue with ranges=\"{}\"", written_all(&left)))
    }
}

enum Part {
    Span(Span),
    Tail(u64),
}

/// `10-40`, `10..40`, `10+31`, `10:40`, `80-`, `80`, `-20`; with or without an L before a number.
fn parse(part: &str) -> Option<Part> {
    let number = |text: &str| {
        let text = text.trim();
        text.strip_prefix(['L', 'l', '#']).unwrap_or(text).parse::<u64>().ok()
    };
    if let Some(count) = part.strip_prefix('-').and_then(number) {
        return Some(Part::Tail(count.max(1)));
    }
    if let Some((first, count)) = part.split_once('+') {
        let (first, count) = (number(first)?.max(1), number(count)?.max(1));
        return Some(Part::Span(Span { first, last: Some(first.saturating_add(count - 1)) }));
    }
    let (first, last) =
        ["..", "-", "–", ":"].iter().find_map(|between| part.split_once(between)).unwrap_or((part, part));
    let first = number(first)?.max(1);
    match last.trim() {
        "" | "$" | "end" => Some(Part::Span(Span { first, last: None })),
        last => {
            let last = number(last)?.max(1);
            Some(Part::Span(Span { first: first.min(last), last: Some(first.max(last)) }))
        }
    }
}

fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.first);
    let mut result: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match result.last_mut() {
            Some(before) if span.first <= before.end().saturating_add(1) => {
                // An open end reaches as far as a page does, unless a named one goes further.
                let end = before.end().max(span.end());
                before.last = match (before.last, span.last) {
                    (None, None) => None,
                    (None, Some(last)) if last <= before.end() => None,
                    _ => Some(end),
                };
            }
            _ => result.push(span),
        }
    }
    result
}

fn written_all(spans: &[Span]) -> String {
    let mut text = String::new();
    for span in spans {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{}", written(span.first, span.last));
    }
    text
}

fn written(first: u64, last: Option<u64>) -> String {
    match last {
        Some(last) if last == first => first.to_string(),
        Some(last) => format!("{first}-{last}"),
        None => format!("{first}-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(text: &str) -> (Vec<(u64, Option<u64>)>, Option<u64>) {
        let selection = Selection::new(None, None, Some(text), None).unwrap();
        (selection.spans.iter().map(|span| (span.first, span.last)).collect(), selection.tail)
    }

    #[test]
    fn ranges_are_read_as_people_write_them() {
        for text in ["10-40", "40-10", "10..40", "10:40", "L10-L40", "10+31", " 10-20 , 15-40;21 "] {
            assert_eq!(ranges(text), (vec![(10, Some(40))], None), "{text}");
        }
        assert_eq!(ranges("80-,1-5,-20"), (vec![(1, Some(5)), (80, None)], Some(20)));
        assert_eq!(ranges("0"), (vec![(1, Some(1))], None));
        assert_eq!(ranges("10-,20-30"), (vec![(10, None)], None));
        assert_eq!(ranges("10-,20-3000"), (vec![(10, Some(3000))], None));
        for text in ["a", "10-b", "--3", "1e3", "99999999999999999999"] {
            let complaint = Selection::new(None, None, Some(text), None).unwrap_err().0;
            assert!(complaint.contains("is no range. Write them like"), "{complaint}");
        }
    }

    #[test]
    fn the_way_on_names_what_is_left() {
        let selection = Selection::new(None, None, Some("10-40,80-90,200-"), None).unwrap();
        assert_eq!(selection.way_on(31).unwrap(), "continue with ranges=\"31-40,80-90,200-\"");
        assert_eq!(selection.way_on(95).unwrap(), "continue with ranges=\"200-\"");
        let selection = Selection::new(Some(5), Some(2), None, None).unwrap();
        assert_eq!(
            (selection.title(), selection.way_on(7).unwrap()),
            (":5-6".into(), "continue with offset=7".into())
        );
        let selection = Selection::new(None, None, Some("1-3"), Some(4)).unwrap();
        assert_eq!(selection.title(), ":1-3,-4");
        assert_eq!(selection.resolved(5).spans, [Span { first: 1, last: Some(5) }]);
    }

    #[test]
    fn what_says_nothing_counts_as_not_there() {
        let plain = Selection::new(None, None, None, None).unwrap();
        assert_eq!(Selection::new(None, None, Some(" "), Some(0)).unwrap(), plain);
        assert_eq!(plain.title(), "");
    }
}
