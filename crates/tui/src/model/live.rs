//! What is not finished yet: words that stream, calls that run, and looks that
//! are folded into one line.

use std::time::Duration;

use rein_protocol::{CallId, CallResult, CallStatus, Display, PartId};

use crate::line::Line;
use crate::markdown::Stream;
use crate::neutral::{Sequences, neutral};

/// Something unfinished, or finished behind something unfinished.
#[derive(Debug)]
pub(crate) enum Live {
    /// Words for the person.
    Words(Words),
    /// Thinking aloud.
    Thought(Thought),
    /// A call.
    Call(Box<Card>),
}

/// Words as they come.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) part: PartId,
    pub(crate) stream: Stream,
    /// Bytes that have come.
    pub(crate) received: usize,
    /// Lines that are settled and wait for what is before them.
    pub(crate) ready: Vec<Line>,
    /// Whether some lines of it are committed.
    pub(crate) begun: bool,
    pub(crate) done: bool,
}

/// Thinking as it comes.
#[derive(Debug)]
pub(crate) struct Thought {
    pub(crate) part: PartId,
    pub(crate) text: String,
    pub(crate) since: Duration,
    pub(crate) took: Option<Duration>,
}

/// A call from its proposal to its result.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) part: Option<PartId>,
    pub(crate) id: Option<CallId>,
    pub(crate) tool: String,
    /// Bytes of arguments that have come.
    pub(crate) arguments: usize,
    pub(crate) display: Option<Display>,
    pub(crate) since: Option<Duration>,
    pub(crate) tail: Tail,
    pub(crate) result: Option<CallResult>,
}

impl Card {
    pub(crate) fn proposed(tool: &str) -> Self {
        Self {
            part: None,
            id: None,
            tool: tool.to_owned(),
            arguments: 0,
            display: None,
            since: None,
            tail: Tail::default(),
            result: None,
        }
    }
}

impl Live {
    pub(crate) fn part(&self) -> Option<&PartId> {
        match self {
            Self::Words(words) => Some(&words.part),
            Self::Thought(thought) => Some(&thought.part),
            Self::Call(card) => card.part.as_ref(),
        }
    }
}

/// The end of what a command printed.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    text: String,
}

/// More than any terminal shows of it.
const TAIL: usize = 16 * 1024;

impl Tail {
    pub(crate) fn push(&mut self, delta: &str) {
        self.text.push_str(delta);
        if self.text.len() > 2 * TAIL {
            let mut start = self.text.len() - TAIL;
            while !self.text.is_char_boundary(start) {
                start += 1;
            }
            self.text.drain(..start);
        }
    }

    /// The last lines that have something in them.
    pub(crate) fn lines(&self, count: usize) -> Vec<String> {
        let text = neutral(&self.text, Sequences::Dropped);
        let mut lines: Vec<String> = text
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(count)
            .map(str::to_owned)
            .collect();
        lines.reverse();
        lines
    }
}

/// Looks that become one line.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    pub(crate) looks: Vec<(Look, CallResult)>,
}

/// A kind of look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Read,
    Search,
    List,
}

impl Look {
    /// What a finished call was, if it only looked and found.
    pub(crate) fn of(card: &Card) -> Option<Self> {
        if card.result.as_ref()?.status != CallStatus::Completed {
            return None;
        }
        match card.tool.as_str() {
            "read" => Some(Self::Read),
            "grep" | "glob" | "codesearch" | "tool_search" => Some(Self::Search),
            "list" | "ls" => Some(Self::List),
            _ => None,
        }
    }

    pub(crate) fn counted(self, count: usize) -> String {
        let (verb, one, many) = match self {
            Self::Read => ("read", "file", "files"),
            Self::Search => ("searched", "time", "times"),
            Self::List => ("listed", "directory", "directories"),
        };
        format!("{verb} {count} {}", if count == 1 { one } else { many })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines_however_much_came() {
        let mut tail = Tail::default();
        for number in 0..100_000 {
            tail.push(&format!("\u{1b}[32mline é {number}\u{1b}[0m\n\n"));
        }
        assert_eq!(tail.lines(2), ["line é 99998", "line é 99999"]);
        assert!(tail.text.len() <= 2 * TAIL);
    }
}
