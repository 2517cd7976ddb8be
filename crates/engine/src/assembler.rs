//! The streaming demultiplexer: what a wire decodes, turned into parts of an
//! answer and deltas of them.
//!
//! Pure. A part gets its id with its first delta and keeps it when it becomes
//! an entry. A part of words is complete when something else begins; a call
//! when the wire says so and every call that began before it is complete too,
//! so that calls are set going in the order in which the model made them. A
//! call whose arguments never became complete is not a call and leaves no entry.

use rein_llm::ModelEvent;
use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallId, EntryBody, EventBody, Finish, PartId, PartKind, ToolCall, ToolInput, TurnId, Usage,
};
use serde_json::Value;

/// What has come of an answer.
pub(crate) struct Assembler {
    turn: TurnId,
    open: Vec<OpenPart>,
    /// Complete calls that wait for one that began before them.
    held: Vec<(u32, PartId, ToolCall)>,
    finish: Option<Finish>,
    usage: Option<Usage>,
    produced: bool,
}

struct OpenPart {
    index: u32,
    id: PartId,
    kind: PartKind,
    text: String,
    opaque: Option<Value>,
}

/// What to do about a decoded event, in order.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Tell the faces.
    Delta(EventBody),
    /// Make it durable.
    Part(EntryBody),
    /// Make it durable, then set it going.
    Call(EntryBody, ToolCall),
}

impl Assembler {
    pub(crate) fn new(turn: TurnId) -> Self {
        Self { turn, open: Vec::new(), held: Vec::new(), finish: None, usage: None, produced: false }
    }

    /// How the wire said that the answer ended.
    pub(crate) fn finish(&self) -> Option<&Finish> {
        self.finish.as_ref()
    }

    /// What the wire said was used.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Whether anything of the answer has come.
    pub(crate) fn produced(&self) -> bool {
        self.produced
    }

    /// Takes one decoded event.
    pub(crate) fn push(&mut self, event: ModelEvent, steps: &mut Vec<Step>) {
        match event {
            ModelEvent::TextDelta { part, delta } => self.grow(part, PartKind::Text, delta, steps),
            ModelEvent::ReasoningDelta { part, delta } => self.grow(part, PartKind::Reasoning, delta, steps),
            ModelEvent::ReasoningOpaque { part, opaque } => {
                if let Some(open) = self.open_part(part, &PartKind::Reasoning, steps) {
                    open.opaque = Some(opaque);
                }
            }
            ModelEvent::CallStarted { part, tool, .. } => {
                self.grow(part, PartKind::Call { tool }, String::new(), steps);
            }
            ModelEvent::CallDelta { part, delta } => {
                if let Some(kind) =
                    self.open.iter().find(|open| open.index == part).map(|open| open.kind.clone())
                {
                    self.grow(part, kind, delta, steps);
                }
            }
            ModelEvent::CallCompleted { part, wire_id, tool, arguments } => {
                self.complete_call(part, wire_id, tool, &arguments, steps);
            }
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::Finished(finish) => self.finish = Some(finish),
        }
    }

    /// Completes the words that are still open. Calls that are still open never came whole.
    pub(crate) fn close(&mut self, steps: &mut Vec<Step>) {
        self.close_words(None, steps);
        self.open.clear();
        self.release_calls(steps);
    }

    fn grow(&mut self, index: u32, kind: PartKind, delta: String, steps: &mut Vec<Step>) {
        let turn = self.turn.clone();
        if let Some(part) = self.open_part(index, &kind, steps) {
            // The arguments of a call are kept by the decoder.
            if !matches!(kind, PartKind::Call { .. }) {
                part.text.push_str(&delta);
            }
            steps.push(Step::Delta(EventBody::PartDelta { turn, part: part.id.clone(), kind, delta }));
        }
    }

    /// The part with an index, which begins if it is not open.
    fn open_part(&mut self, index: u32, kind: &PartKind, steps: &mut Vec<Step>) -> Option<&mut OpenPart> {
        self.produced = true;
        self.close_words(Some(index), steps);
        match self.open.iter().position(|open| open.index == index && open.kind == *kind) {
            Some(place) => self.open.get_mut(place),
            None => {
                self.open.push(OpenPart {
                    index,
                    id: PartId::new(),
                    kind: kind.clone(),
                    text: String::new(),
                    opaque: None,
                });
                self.open.last_mut()
            }
        }
    }

    fn complete_call(
        &mut self,
        index: u32,
        wire_id: String,
        tool: String,
        arguments: &str,
        steps: &mut Vec<Step>,
    ) {
        self.produced = true;
        self.close_words(None, steps);
        let place = self.open.iter().position(|open| open.index == index);
        let part = place.map_or_else(PartId::new, |place| self.open.swap_remove(place).id);
        let call = ToolCall { id: CallId::new(), wire_id, tool, input: ToolInput::parse(arguments) };
        self.held.push((index, part, call));
        self.release_calls(steps);
    }

    /// Lets complete calls go, up to the first that is still open.
    fn release_calls(&mut self, steps: &mut Vec<Step>) {
        let open_calls = self.open.iter().filter(|open| matches!(open.kind, PartKind::Call { .. }));
        let first_open = open_calls.map(|open| open.index).min().unwrap_or(u32::MAX);
        self.held.sort_by_key(|(index, ..)| *index);
        let ready = self.held.partition_point(|(index, ..)| *index < first_open);
        for (_, part, call) in self.held.drain(..ready) {
            let body = AssistantPart::Call(call.clone());
            steps.push(Step::Call(EntryBody::Part { turn: self.turn.clone(), part, body }, call));
        }
    }

    /// Completes open words, except those with the given index.
    fn close_words(&mut self, except: Option<u32>, steps: &mut Vec<Step>) {
        let mut index = 0;
        while let Some(open) = self.open.get(index) {
            let words = !matches!(open.kind, PartKind::Call { .. });
            if !words || Some(open.index) == except {
                index += 1;
                continue;
            }
            let open = self.open.remove(index);
            if open.text.is_empty() && open.opaque.is_none() {
                continue;
            }
            let body = match open.kind {
                PartKind::Reasoning => AssistantPart::Reasoning { text: open.text, opaque: open.opaque },
                PartKind::Text | PartKind::Call { .. } => AssistantPart::Text { text: open.text },
            };
            steps.push(Step::Part(EntryBody::Part { turn: self.turn.clone(), part: open.id, body }));
        }
    }
}

#[cfg(test)]
mod tests;
