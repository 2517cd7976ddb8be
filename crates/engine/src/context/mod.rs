//! What the model is sent: a pure function of a branch of the journal.
//!
//! The messages of one branch are always a valid conversation: an answer, then
//! the results of its calls in the order of the calls, then what the person
//! said. The same entries give the same messages, byte for byte, and a longer
//! branch only adds to the end, so that a provider's cache holds. Two kinds of
//! entries are the exception, and say so: a prune replaces results by markers,
//! a compaction replaces the beginning by a record of it.
//!
//! `view` is what of a branch is sent; `size` and `budget` say how much that is
//! and how much it may be; `prune`, `plan` and `carry` decide what makes room;
//! `render`, `digest` and `summary` are the words for it; `breakdown` says what
//! it consists of, and `cache` why a provider had to read it anew.

#[cfg(test)]
pub(crate) mod branch;
pub(crate) mod breakdown;
pub(crate) mod budget;
pub(crate) mod cache;
mod carry;
pub(crate) mod digest;
pub(crate) mod plan;
pub(crate) mod prune;
pub(crate) mod rehearse;
mod render;
pub(crate) mod size;
pub(crate) mod summary;
pub(crate) mod view;

use std::collections::HashMap;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallId, CallResult, Content, Delivery, Entry, EntryBody, Finish, Message, ModelRef, ToolCall,
};

use crate::plan_mode::Reminders;
pub(crate) use carry::shortened;
use view::View;

const INTERRUPTED: &str = "[The user interrupted you here.]";
const CUT_OFF: &str = "[Your answer was cut off by a lost connection.]";
const GO_ON: &str = "[Your answer was cut off by a lost connection. Go on from where it stopped.]";
const RAN: &str = "[The user ran this command in the workspace by themselves, with this output:]";
const NO_ROOM: &str =
    "[There was no room for the rest of your answer. There is now: go on from where it stopped.]";
const STEER_BEFORE: &str = "[The user sent this while you were working. Take it into account from now on:]";

/// The conversation of a branch.
pub(crate) fn messages<'a>(branch: impl IntoIterator<Item = &'a Entry>) -> Vec<Message> {
    let branch: Vec<&Entry> = branch.into_iter().collect();
    let View { compaction, kept, pruned, .. } = View::of(&branch);
    let reminders = Reminders::of(&branch);
    let told = reminders.with_compaction().map(Content::text);
    let mut builder = Builder { pruned, reminders, ..Builder::default() };
    if let Some(compaction) = compaction {
        let content = [Content::text(render::preface(compaction))].into_iter().chain(told).collect();
        builder.messages.push(Message::User { content });
    }
    for entry in kept {
        builder.entry(entry);
    }
    builder.finish()
}

#[derive(Default)]
struct Builder<'a> {
    /// Results that are left out, with what is said in their place.
    pruned: HashMap<&'a CallId, &'a str>,
    /// Words of rein that go with the person's.
    reminders: Reminders<'a>,
    messages: Vec<Message>,
    answer: Option<Answer>,
    results: HashMap<CallId, CallResult>,
    /// Words of rein that go before the person's next ones.
    note: Option<Note>,
    /// What the person ran since they last said something.
    ran: Vec<Content>,
}

/// What the model should know about the end of its answer.
#[derive(Clone, Copy)]
enum Note {
    Interrupted,
    CutOff,
    NoRoom,
}

/// The answer whose step or calls are still under way.
struct Answer {
    model: ModelRef,
    parts: Vec<AssistantPart>,
}

impl Answer {
    fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            AssistantPart::Call(call) => Some(call),
            AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
        })
    }
}

impl Builder<'_> {
    fn entry(&mut self, entry: &Entry) {
        match &entry.body {
            EntryBody::User { content, delivery, .. } => {
                let told = self.reminders.with(&entry.id).map(Content::text);
                self.user(content.iter().cloned().chain(told), *delivery);
            }
            EntryBody::StepStarted { model, .. } => {
                self.close_answer();
                self.say_note();
                self.answer = Some(Answer { model: model.clone(), parts: Vec::new() });
            }
            EntryBody::Part { body, .. } => {
                if let Some(answer) = &mut self.answer {
                    answer.parts.push(body.clone());
                }
            }
            EntryBody::StepEnded { finish, .. } => self.end_step(finish),
            EntryBody::CallEnded { call, result } => {
                self.results.insert(call.clone(), result.clone());
            }
            EntryBody::PersonRan { command, result, .. } => self.ran.push(person_ran(command, result)),
            EntryBody::Queued { .. }
            | EntryBody::Asked { .. }
            | EntryBody::Decided { .. }
            | EntryBody::CallStarted { .. }
            | EntryBody::TurnEnded { .. }
            | EntryBody::ModelChanged { .. }
            | EntryBody::ModeChanged { .. }
            | EntryBody::Recovered { .. }
            | EntryBody::QueueChanged { .. }
            | EntryBody::Pruned { .. }
            | EntryBody::Compacted { .. }
            | EntryBody::Travelled { .. }
            | EntryBody::Titled { .. }
            | EntryBody::EffortChanged { .. } => {}
        }
    }

    fn end_step(&mut self, finish: &Finish) {
        let Some(answer) = &self.answer else { return };
        let has_words = answer.parts.iter().any(|part| matches!(part, AssistantPart::Text { .. }));
        let has_calls = answer.calls().next().is_some();
        self.note = match finish {
            Finish::Interrupted => Some(Note::Interrupted),
            // With calls, their results are what the model goes on from.
            Finish::Error { .. } | Finish::Died if has_words && !has_calls => Some(Note::CutOff),
            Finish::Error { .. } | Finish::Died => None,
            Finish::Length if !has_calls => Some(Note::NoRoom),
            Finish::Stop | Finish::ToolCalls | Finish::Length | Finish::Refusal | Finish::Other { .. } => {
                None
            }
        };
    }

    fn user(&mut self, content: impl Iterator<Item = Content>, delivery: Delivery) {
        self.close_answer();
        let mut words = Vec::new();
        // Whether to go on is for the person to say.
        words.extend(self.note.take().and_then(|note| match note {
            Note::Interrupted => Some(Content::text(INTERRUPTED)),
            Note::CutOff => Some(Content::text(CUT_OFF)),
            Note::NoRoom => None,
        }));
        words.append(&mut self.ran);
        if delivery.joins_turn() {
            words.push(Content::text(STEER_BEFORE));
        }
        words.extend(content);
        self.messages.push(Message::User { content: words });
    }

    /// Moves the answer and the results of its calls to the conversation.
    fn close_answer(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        if answer.parts.is_empty() {
            return;
        }
        let results: Vec<Message> = answer.calls().filter_map(|call| self.result_of(call)).collect();
        self.messages.push(Message::Assistant { model: answer.model, parts: answer.parts });
        self.messages.extend(results);
    }

    fn result_of(&self, call: &ToolCall) -> Option<Message> {
        let result = self.results.get(&call.id)?;
        Some(Message::Tool {
            call: call.id.clone(),
            wire_id: call.wire_id.clone(),
            tool: call.tool.clone(),
            content: match self.pruned.get(&call.id) {
                Some(marker) => vec![Content::text(*marker)],
                None => result.content.clone(),
            },
            is_error: result.status.is_error(),
        })
    }

    /// Says the note by itself, where nothing of the person's follows that it could go with.
    fn say_note(&mut self) {
        if let Some(note) = self.note.take() {
            let text = match note {
                Note::Interrupted => INTERRUPTED,
                Note::CutOff => GO_ON,
                Note::NoRoom => NO_ROOM,
            };
            self.messages.push(Message::User { content: vec![Content::text(text)] });
        }
    }

    fn finish(mut self) -> Vec<Message> {
        self.close_answer();
        self.say_note();
        self.messages
    }
}

/// A command of the person, as the model reads of it.
fn person_ran(command: &str, result: &CallResult) -> Content {
    let printed = result.content.iter().filter_map(|piece| match piece {
        Content::Text { text } => Some(text.as_str()),
        Content::Image { .. } => None,
    });
    let printed = printed.collect::<Vec<_>>().join("\n");
    Content::text(format!("{RAN}\n$ {command}\n{}", printed.trim_end()))
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
