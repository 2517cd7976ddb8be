//! Answers that begin in the middle of thinking: the template of the server has
//! written the tag that opens it, so that only the one that closes it comes.
//!
//! Which families do that is data. Where a server takes the thinking out by
//! itself, nothing is done. If the tag never comes, what was told as thinking
//! was the answer, and is told as that: nothing said is lost.

use crate::event::ModelEvent;

const CLOSES: [&str; 2] = ["</think>", "[/THINK]"];

/// Where an answer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Begins {
    /// With the answer, or with a tag that opens thinking.
    #[default]
    Answering,
    /// In the middle of thinking.
    Thinking,
}

/// Finds where the thinking of one answer ends.
#[derive(Debug, Default)]
pub(crate) struct OpenedThinking {
    state: State,
    /// What may be half of the tag.
    half: String,
    /// All thinking so far, in case it was none.
    said: String,
    part: u32,
    /// By how much the parts behind the thinking move.
    shift: u32,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Thinking,
    /// Behind the tag, where blanks are dropped.
    Closed,
    Over,
}

impl OpenedThinking {
    /// Takes an event of the decoder.
    pub(crate) fn push(&mut self, event: ModelEvent, out: &mut Vec<ModelEvent>) {
        match (&self.state, event) {
            (State::Thinking, ModelEvent::TextDelta { part, delta }) => self.think(part, &delta, out),
            (State::Closed, ModelEvent::TextDelta { part, delta }) => {
                let delta = delta.trim_start();
                if !delta.is_empty() {
                    self.state = State::Over;
                    out.push(ModelEvent::TextDelta { part: part + self.shift, delta: delta.to_owned() });
                }
            }
            (_, ModelEvent::Usage(usage)) => out.push(ModelEvent::Usage(usage)),
            (_, event) => {
                self.give_up(out);
                out.push(moved(event, self.shift));
            }
        }
    }

    /// The answer broke off: what was held back is handed over.
    pub(crate) fn fail(&mut self, out: &mut Vec<ModelEvent>) {
        let half = std::mem::take(&mut self.half);
        self.tell(half, out);
    }

    fn think(&mut self, part: u32, delta: &str, out: &mut Vec<ModelEvent>) {
        self.part = part;
        self.half.push_str(delta);
        let text = std::mem::take(&mut self.half);
        let first =
            CLOSES.iter().filter_map(|close| text.split_once(close)).min_by_key(|(thought, _)| thought.len());
        match first {
            Some((thought, rest)) => {
                self.tell(thought.to_owned(), out);
                self.said.clear();
                self.state = State::Closed;
                let rest = ModelEvent::TextDelta { part, delta: rest.to_owned() };
                self.push(rest, out);
            }
            None => {
                let half_of = |close: &str| {
                    let mut lengths = (1..close.len()).rev();
                    lengths.find(|length| close.get(..*length).is_some_and(|half| text.ends_with(half)))
                };
                let held = CLOSES.iter().filter_map(|close| half_of(close)).max();
                let (thought, half) = text.split_at(text.len() - held.unwrap_or(0));
                self.half = half.to_owned();
                self.tell(thought.to_owned(), out);
            }
        }
    }

    fn tell(&mut self, delta: String, out: &mut Vec<ModelEvent>) {
        if !delta.is_empty() {
            self.said.push_str(&delta);
            self.shift = 1;
            out.push(ModelEvent::ReasoningDelta { part: self.part, delta });
        }
    }

    /// Something else than text comes, or nothing more: what was said without the tag was no thinking.
    fn give_up(&mut self, out: &mut Vec<ModelEvent>) {
        if self.state == State::Thinking {
            let half = std::mem::take(&mut self.half);
            self.said.push_str(&half);
            let delta = std::mem::take(&mut self.said);
            if !delta.trim().is_empty() {
                out.push(ModelEvent::TextDelta { part: self.part + self.shift, delta });
            }
        }
        self.state = State::Over;
    }
}

fn moved(event: ModelEvent, shift: u32) -> ModelEvent {
    match event {
        ModelEvent::TextDelta { part, delta } => ModelEvent::TextDelta { part: part + shift, delta },
        ModelEvent::ReasoningDelta { part, delta } => {
            ModelEvent::ReasoningDelta { part: part + shift, delta }
        }
        ModelEvent::ReasoningOpaque { part, opaque } => {
            ModelEvent::ReasoningOpaque { part: part + shift, opaque }
        }
        ModelEvent::CallStarted { part, wire_id, tool } => {
            ModelEvent::CallStarted { part: part + shift, wire_id, tool }
        }
        ModelEvent::CallDelta { part, delta } => ModelEvent::CallDelta { part: part + shift, delta },
        ModelEvent::CallCompleted { part, wire_id, tool, arguments } => {
            ModelEvent::CallCompleted { part: part + shift, wire_id, tool, arguments }
        }
        ModelEvent::Usage(usage) => ModelEvent::Usage(usage),
        ModelEvent::Finished(finish) => ModelEvent::Finished(finish),
    }
}

#[cfg(test)]
mod tests {
    use rein_protocol::Finish;

    use super::*;
    use crate::event::condense;

    fn text(part: u32, delta: &str) -> ModelEvent {
        ModelEvent::TextDelta { part, delta: delta.to_owned() }
    }

    fn thought(part: u32, delta: &str) -> ModelEvent {
        ModelEvent::ReasoningDelta { part, delta: delta.to_owned() }
    }

    fn read(events: impl IntoIterator<Item = ModelEvent>) -> Vec<ModelEvent> {
        let (mut opened, mut out) = (OpenedThinking::default(), Vec::new());
        for event in events {
            opened.push(event, &mut out);
        }
        condense(out)
    }

    const STOP: ModelEvent = ModelEvent::Finished(Finish::Stop);

    #[test]
    fn what_comes_before_the_tag_is_thinking_however_it_is_split() {
        let whole = "a < b </thin\u{e9}</think>\n\nSo </think> it is";
        let expected = vec![thought(0, "a < b </thin\u{e9}"), text(1, "So </think> it is"), STOP];
        assert_eq!(read([text(0, whole), STOP]), expected);
        let characters = whole.chars().map(|character| text(0, &character.to_string()));
        assert_eq!(read(characters.chain([STOP])), expected);
    }

    #[test]
    fn parts_move_only_if_there_was_thinking() {
        let call = |part| ModelEvent::CallStarted { part, wire_id: "1".to_owned(), tool: "t".to_owned() };
        assert_eq!(read([text(0, "</think>x"), call(1)]), [text(0, "x"), call(1)]);
        assert_eq!(read([text(0, "a</think>"), call(1)]), [thought(0, "a"), call(2)]);
        let server = [thought(0, "a"), text(1, "b </think>"), STOP];
        assert_eq!(read(server.clone()), server);
    }

    #[test]
    fn without_the_tag_nothing_said_is_lost() {
        assert_eq!(read([text(0, "42</th"), STOP]), [thought(0, "42"), text(1, "42</th"), STOP]);
        let (mut opened, mut out) = (OpenedThinking::default(), Vec::new());
        opened.push(text(0, "42</th"), &mut out);
        opened.fail(&mut out);
        assert_eq!(condense(out), [thought(0, "42</th")]);
    }
}
