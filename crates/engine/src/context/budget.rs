//! How full the window is, and how much of it may be filled.
//!
//! What the provider counted for the last step is taken as it is; what was
//! added since is estimated with a ruler fitted to that count. A count from
//! before the last prune or compaction says nothing any more.

use rein_llm::Limits;
use rein_protocol::{ContextUse, Entry, EntryBody, Usage};

use super::size::{Ruler, Size};
use super::view::View;

/// Tokens that are kept free for an answer, if the model's limit is not larger.
const RESERVE: u64 = 20_000;

/// How full the window is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Budget {
    /// Tokens that the next request has.
    pub(crate) used: u64,
    /// Of those, instructions and tools.
    pub(crate) base: u64,
    pub(crate) window: Option<u64>,
    pub(crate) usable: Option<u64>,
    pub(crate) ruler: Ruler,
}

impl Budget {
    /// Whether room must be made before the model is asked again.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.usable.is_some_and(|usable| self.used >= usable)
    }

    /// With room made when so many percent of what is usable are used.
    pub(crate) fn at_percent(self, percent: u8) -> Self {
        let part = |usable: u64| usable / 100 * u64::from(percent) + usable % 100 * u64::from(percent) / 100;
        Self { usable: self.usable.map(part), ..self }
    }

    /// As a face shows it.
    pub(crate) fn shown(&self) -> ContextUse {
        ContextUse { used: self.used, base: self.base, window: self.window, usable: self.usable }
    }
}

/// Tokens that a conversation may have in a window: the rest is for the answer. In a small window
/// the reserve is at most a third of it.
pub(crate) fn usable(window: u64, output: Option<u64>) -> u64 {
    window - RESERVE.max(output.unwrap_or_default()).min(window / 3)
}

/// Measures what would be sent now.
pub(crate) fn measure(view: &View<'_>, base: Size, limits: Limits) -> Budget {
    let anchor = Anchor::find(view, base);
    let ruler = anchor.map(|anchor| anchor.ruler).unwrap_or_default();
    let used = match anchor {
        Some(anchor) => anchor.counted.saturating_add(ruler.tokens(added(view, &anchor))),
        None => ruler.tokens(base + view.size()),
    };
    Budget {
        used,
        base: ruler.tokens(base),
        window: limits.context,
        usable: limits.context.map(|window| usable(window, limits.output)),
        ruler,
    }
}

/// The last step of which the provider's count still holds.
#[derive(Clone, Copy)]
struct Anchor {
    /// Everything that was in the window at its end.
    counted: u64,
    ruler: Ruler,
    /// The places of its beginning and its end among the kept entries.
    start: usize,
    end: usize,
}

impl Anchor {
    fn find(view: &View<'_>, base: Size) -> Option<Self> {
        let (end, usage) =
            view.kept.iter().enumerate().rev().find_map(|(place, entry)| match &entry.body {
                EntryBody::StepEnded { usage: Some(usage), .. } if usage.total() > 0 => Some((place, *usage)),
                _ => None,
            })?;
        let start = view.kept.get(..end)?.iter().rposition(is_step_start)?;
        if start < view.settled {
            return None;
        }
        let before = view.kept.get(..start)?;
        let sent = before.iter().fold(base + view.preface(), |size, entry| size + view.size_of(entry));
        let ruler = Ruler::fitted(sent, sent_tokens(&usage))?;
        Some(Self { counted: usage.total(), ruler, start, end })
    }
}

fn is_step_start(entry: &&Entry) -> bool {
    matches!(entry.body, EntryBody::StepStarted { .. })
}

/// Whether a cache served them or not, they are in the window.
fn sent_tokens(usage: &Usage) -> u64 {
    usage.total().saturating_sub(usage.output)
}

/// What is not in the count: results of the step's calls, which can come while it still speaks,
/// and everything after it.
fn added(view: &View<'_>, anchor: &Anchor) -> Size {
    let since = view.kept.iter().enumerate().skip(anchor.start);
    since.fold(Size::default(), |size, (place, entry)| match &entry.body {
        EntryBody::Part { .. } if place < anchor.end => size,
        _ => size + view.size_of(entry),
    })
}

#[cfg(test)]
mod tests {
    use rein_protocol::{CallStatus, Delivery, Finish};

    use super::*;
    use crate::context::branch::{Branch, call, words};
    use rein_protocol::message::AssistantPart;

    fn limits(context: u64, output: u64) -> Limits {
        Limits { context: Some(context), output: Some(output) }
    }

    #[test]
    fn what_is_usable_leaves_room_for_the_answer() {
        for (window, output, expected) in [
            (200_000, 32_000, 168_000),
            (200_000, 8_000, 180_000),
            (400_000, 128_000, 272_000),
            (100_000, 32_000, 68_000),
            (128_000, 128_000, 85_334),
            (8_000, 4_000, 5_334),
            (0, 0, 0),
        ] {
            assert_eq!(usable(window, Some(output)), expected, "{window} {output}");
        }
    }

    #[test]
    fn a_threshold_is_a_part_of_what_is_usable() {
        let view = View::of(&[]);
        let budget = measure(&view, Size { bytes: 3_500, images: 0 }, limits(200_000, 0));
        for (percent, expected) in [(100, 180_000), (50, 90_000), (1, 1_800)] {
            assert_eq!(budget.at_percent(percent).usable, Some(expected));
        }
        assert!(!budget.is_exceeded());
        let small = measure(&view, Size { bytes: 3_500, images: 0 }, limits(1_999, 0));
        assert!(!small.is_exceeded() && small.at_percent(70).is_exceeded(), "{small:?}");
    }

    #[test]
    fn cached_tokens_count_and_what_came_since_is_added() {
        let mut branch = Branch::new();
        let one = call("1");
        branch.user(&"x".repeat(3_984), Delivery::Prompt).step().part(AssistantPart::Call(one.clone()));
        // The result is there before the step is over, and is not in its count.
        branch.result(&one, &"y".repeat(384), CallStatus::Completed);
        let usage = Usage { input: 100, cache_read: 700, cache_write: 200, output: 50, ..Usage::default() };
        branch.end_with(Finish::ToolCalls, Some(usage));
        let entries = branch.view();
        let budget = measure(&View::of(&entries), Size::default(), limits(1_200, 0));
        assert_eq!((budget.used, budget.usable), (1_050 + 100, Some(800)));
        assert!(budget.is_exceeded());
        branch.user(&"z".repeat(384), Delivery::Prompt);
        assert_eq!(measure(&View::of(&branch.view()), Size::default(), limits(1_200, 0)).used, 1_250);
    }

    #[test]
    fn a_count_that_cannot_be_meant_is_not_believed() {
        let mut branch = Branch::new();
        branch.user(&"x".repeat(35_000), Delivery::Prompt).step().part(words("y"));
        branch.end_with(Finish::Stop, Some(Usage { input: 3, output: 2, ..Usage::default() }));
        let used = measure(&View::of(&branch.view()), Size::default(), Limits::default()).used;
        assert!((10_000..10_100).contains(&used), "{used}");
    }

    #[test]
    fn a_count_from_before_a_prune_does_not_hold() {
        let mut branch = Branch::new();
        let one = call("1");
        branch.user("go", Delivery::Prompt).step().part(AssistantPart::Call(one.clone()));
        branch.end(Finish::ToolCalls).result(&one, &"y".repeat(70_000), CallStatus::Completed);
        branch.step().part(words("seen"));
        branch.end_with(Finish::Stop, Some(Usage { input: 20_000, output: 10, ..Usage::default() }));
        assert_eq!(measure(&View::of(&branch.view()), Size::default(), Limits::default()).used, 20_010);
        branch.prune(&one, "[left out]");
        assert!(measure(&View::of(&branch.view()), Size::default(), Limits::default()).used < 100);
    }
}
