//! What grows while a model speaks: words, thoughts, calls that are written.
//!
//! What is complete is committed as soon as nothing incomplete stands before it.

use rein_protocol::PartId;
use rein_protocol::event::PartKind;
use rein_protocol::message::AssistantPart;

use super::live::{Card, Live, Look, Thought, Words};
use super::{Kind, Model, Thoughts};
use crate::markdown::Stream;
use crate::neutral::{Sequences, neutral};
use crate::view;

impl Model {
    pub(super) fn grew(&mut self, part: PartId, kind: &PartKind, delta: &str) {
        self.retry = None;
        if !self.live.iter().any(|live| live.part() == Some(&part)) {
            self.begin(part.clone(), kind);
        }
        let place = self.live.iter_mut().find(|live| live.part() == Some(&part));
        match place {
            Some(Live::Words(words)) => {
                words.stream.push(&disarmed(delta));
                words.received += delta.len();
            }
            Some(Live::Thought(thought)) => thought.text.push_str(delta),
            Some(Live::Call(card)) => card.arguments += delta.len(),
            None => {}
        }
    }

    fn begin(&mut self, part: PartId, kind: &PartKind) {
        self.live.push_back(match kind {
            PartKind::Text => Live::Words(Words {
                part,
                stream: Stream::new(),
                received: 0,
                ready: Vec::new(),
                begun: false,
                done: false,
            }),
            PartKind::Reasoning => {
                Live::Thought(Thought { part, text: String::new(), since: self.now, took: None })
            }
            PartKind::Call { tool } => {
                let mut card = Card::proposed(tool);
                card.part = Some(part);
                Live::Call(Box::new(card))
            }
        });
    }

    pub(super) fn completed(&mut self, part: &PartId, body: &AssistantPart) {
        let known = self.live.iter().any(|live| live.part() == Some(part));
        if !known {
            let kind = match body {
                AssistantPart::Text { .. } => PartKind::Text,
                AssistantPart::Reasoning { .. } => PartKind::Reasoning,
                AssistantPart::Call(call) => PartKind::Call { tool: call.tool.clone() },
            };
            self.begin(part.clone(), &kind);
        }
        let now = self.now;
        let place = self.live.iter_mut().find(|live| live.part() == Some(part));
        match (place, body) {
            (Some(Live::Words(words)), AssistantPart::Text { text }) => {
                // Deltas may have been left out.
                words.stream.push(&disarmed(text.get(words.received..).unwrap_or_default()));
                words.stream.finish();
                words.done = true;
            }
            (Some(Live::Thought(thought)), AssistantPart::Reasoning { text, .. }) => {
                thought.text.clone_from(text);
                thought.took = Some(now.saturating_sub(thought.since));
            }
            (Some(Live::Call(card)), AssistantPart::Call(call)) => {
                card.part = None;
                card.id = Some(call.id.clone());
                card.tool.clone_from(&call.tool);
            }
            _ => {}
        }
    }

    /// What was said so far is all that comes.
    pub(super) fn finish_words(&mut self) {
        let now = self.now;
        for live in &mut self.live {
            match live {
                Live::Words(words) => {
                    words.stream.finish();
                    words.done = true;
                }
                Live::Thought(thought) => {
                    let since = thought.since;
                    thought.took.get_or_insert(now.saturating_sub(since));
                }
                Live::Call(_) => {}
            }
        }
        // A call whose arguments never became complete was never made.
        self.live.retain(|live| !matches!(live, Live::Call(card) if card.id.is_none()));
    }

    pub(super) fn finish_all(&mut self) {
        self.finish_words();
        self.settle();
        // Without a result by now there is none to come.
        self.live.retain(|live| matches!(live, Live::Call(card) if card.result.is_some()));
        self.settle();
        self.flush_fold();
    }

    /// Something came between: what is said from here on stands apart from what was said before.
    pub(super) fn split_words(&mut self) {
        if let Some(Live::Words(words)) = self.live.front_mut() {
            words.begun = false;
        }
    }

    /// Whether there is something to interrupt.
    pub(super) fn is_busy(&self) -> bool {
        self.turn.is_some() || !self.runs.is_empty() || self.compacting.is_some()
    }

    /// Commits what is finished, as far as nothing unfinished is before it.
    pub(super) fn settle(&mut self) {
        let columns = self.size.columns;
        while let Some(mut front) = self.live.pop_front() {
            match &mut front {
                Live::Words(words) => {
                    let mut lines = std::mem::take(&mut words.ready);
                    lines.extend(words.stream.settled(columns));
                    let (begun, done) = (words.begun, words.done);
                    words.begun |= !lines.is_empty();
                    match begun {
                        true => self.commit_more(lines),
                        false => self.commit(Kind::Words, lines),
                    }
                    if !done {
                        self.live.push_front(front);
                        break;
                    }
                }
                Live::Thought(thought) if thought.took.is_some() => {
                    let lines = match self.thoughts {
                        Thoughts::Gist => view::note::thought(thought, columns),
                        Thoughts::Whole => view::note::whole_thought(&thought.text, columns),
                        Thoughts::Hidden => Vec::new(),
                    };
                    self.commit(Kind::Card, lines);
                }
                Live::Call(card) if card.result.is_some() => match (Look::of(card), card.result.take()) {
                    (Some(look), Some(result)) => self.fold.looks.push((look, result)),
                    (None, Some(result)) => {
                        let lines = view::card::finished(&card.tool, &result, columns);
                        self.commit(Kind::Card, lines);
                    }
                    (_, None) => {}
                },
                Live::Thought(_) | Live::Call(_) => {
                    self.live.push_front(front);
                    break;
                }
            }
        }
    }
}

/// Words that a terminal would not obey, whatever piece of them this is.
fn disarmed(text: &str) -> String {
    neutral(&text.replace('\r', ""), Sequences::Shown).into_owned()
}
