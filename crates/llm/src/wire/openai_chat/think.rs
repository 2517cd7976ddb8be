//! Finds reasoning that a model wrote into its text: `<think>…</think>` at the
//! very beginning of an answer. Further on the tags are just text.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Text,
    Reasoning,
}

/// Splits text into voices, holding back only what may be half a tag.
#[derive(Debug, Default)]
pub(super) struct ThinkSplitter {
    state: State,
    held: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing but blanks or the beginning of a tag.
    #[default]
    Start,
    Thinking,
    /// After the closing tag, blanks are dropped.
    Closed,
    Plain,
}

impl ThinkSplitter {
    /// From here on everything is text: the provider sends reasoning by itself.
    pub(super) fn give_up(&mut self) {
        if self.state == State::Start && self.held.is_empty() {
            self.state = State::Plain;
        }
    }

    /// Takes a piece of text.
    pub(super) fn push(&mut self, piece: &str, mut emit: impl FnMut(Voice, &str)) {
        if self.state == State::Plain {
            emit(Voice::Text, piece);
            return;
        }
        self.held.push_str(piece);
        if self.state == State::Start {
            self.begin(&mut emit);
        }
        if self.state == State::Thinking {
            self.think(&mut emit);
        }
        if self.state == State::Closed {
            let rest = self.held.trim_start();
            if !rest.is_empty() {
                emit(Voice::Text, rest);
                self.state = State::Plain;
            }
            self.held.clear();
        }
    }

    /// There is no more: what was held back is what it looks like.
    pub(super) fn flush(&mut self, mut emit: impl FnMut(Voice, &str)) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            emit(if self.state == State::Thinking { Voice::Reasoning } else { Voice::Text }, &held);
        }
    }

    fn begin(&mut self, emit: &mut impl FnMut(Voice, &str)) {
        let visible = self.held.trim_start();
        if let Some(rest) = visible.strip_prefix(OPEN) {
            self.held = rest.to_owned();
            self.state = State::Thinking;
        } else if !OPEN.starts_with(visible) {
            emit(Voice::Text, &self.held);
            self.held.clear();
            self.state = State::Plain;
        }
    }

    fn think(&mut self, emit: &mut impl FnMut(Voice, &str)) {
        let (said, rest, state) = match self.held.split_once(CLOSE) {
            Some((said, rest)) => (said, rest, State::Closed),
            None => {
                let (said, half) = self.held.split_at(self.held.len() - half_tag(&self.held));
                (said, half, State::Thinking)
            }
        };
        if !said.is_empty() {
            emit(Voice::Reasoning, said);
        }
        self.held = rest.to_owned();
        self.state = state;
    }
}

/// How many bytes at the end of a text may be the beginning of the closing tag.
fn half_tag(text: &str) -> usize {
    (1..CLOSE.len())
        .rev()
        .find(|length| CLOSE.get(..*length).is_some_and(|half| text.ends_with(half)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        let mut splitter = ThinkSplitter::default();
        let mut emit = |voice, piece: &str| match voice {
            Voice::Text => text.push_str(piece),
            Voice::Reasoning => reasoning.push_str(piece),
        };
        for piece in pieces {
            splitter.push(piece, &mut emit);
        }
        splitter.flush(&mut emit);
        (text, reasoning)
    }

    #[test]
    fn tags_are_found_however_the_text_is_split() {
        let whole = "\n<think>a < b </thin\u{e9} c</think>\n\nThe <think> tag";
        let expected = ("The <think> tag".to_owned(), "a < b </thin\u{e9} c".to_owned());
        assert_eq!(split(&[whole]), expected);
        let characters: Vec<String> = whole.chars().map(String::from).collect();
        let pieces: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(split(&pieces), expected);
    }

    #[test]
    fn text_without_a_tag_at_its_beginning_is_untouched() {
        for text in ["", "  ", "<thin", "plain", "x <think>y</think>", "<b>bold</b>"] {
            assert_eq!(split(&[text]), (text.to_owned(), String::new()), "{text}");
        }
    }

    #[test]
    fn thinking_that_never_ends_is_all_reasoning() {
        assert_eq!(split(&["<think>on and", " on </th"]), (String::new(), "on and on </th".to_owned()));
    }
}
