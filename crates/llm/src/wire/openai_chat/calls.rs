//! Keeps the tool calls of an answer apart.
//!
//! Providers leave out the index of a call, count it from anywhere, repeat ids
//! and names or empty them in continuations, use one id or one index for
//! several calls, interleave calls, or send one whole. A call is announced
//! when its name is known, and complete as soon as its arguments are a whole
//! object and something else begins; what never became whole is complete only
//! when the answer is.

use std::collections::HashMap;

use serde_json::Value;

use super::scan::ObjectScan;
use crate::event::ModelEvent;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    by_index: HashMap<u64, usize>,
    last: Option<usize>,
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    tool: String,
    arguments: String,
    scan: ObjectScan,
    stage: Stage,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not announced: its name is not known.
    #[default]
    Nameless,
    /// Announced as this part.
    Open(u32),
    Complete,
}

/// One delta of a call, in its own terms.
#[derive(Debug)]
pub(super) struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    tool: Option<String>,
    arguments: String,
    /// Whether another delta without an index precedes it in the same chunk.
    follows: bool,
}

/// Whether arguments that stop short were cut by the output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Natural,
    Cut,
}

impl CallDelta {
    /// One entry of `tool_calls`, with its place in the list.
    pub(super) fn read(value: &Value, place: usize) -> Self {
        let function = value.get("function").or_else(|| value.get("custom")).unwrap_or(value);
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: filled(value.get("id")),
            tool: filled(function.get("name")),
            arguments: arguments(function.get("arguments").or_else(|| function.get("input"))),
            follows: place > 0,
        }
    }

    /// The older `function_call`, of which there is only one in an answer.
    pub(super) fn read_legacy(value: &Value) -> Self {
        Self { index: Some(u64::MAX), id: None, ..Self::read(value, 0) }
    }

    fn is_empty(&self) -> bool {
        self.id.is_none() && self.tool.is_none() && self.arguments.is_empty()
    }
}

impl Calls {
    /// Whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes a delta. `next_part` numbers the part if a call is announced.
    pub(super) fn push(
        &mut self,
        delta: CallDelta,
        next_part: &mut dyn FnMut() -> u32,
        out: &mut Vec<ModelEvent>,
    ) {
        let place = match self.locate(&delta) {
            Some(place) => place,
            None if delta.is_empty() => return,
            None => {
                self.complete_whole(out);
                self.begin(delta.index)
            }
        };
        self.last = Some(place);
        if let Some(call) = self.calls.get_mut(place) {
            call.grow(delta, next_part, out);
        }
    }

    /// Something else began: calls whose arguments are whole are complete.
    pub(super) fn complete_whole(&mut self, out: &mut Vec<ModelEvent>) {
        for call in self.calls.iter_mut().filter(|call| call.scan.is_whole()) {
            call.complete(Ending::Cut, out);
        }
    }

    /// The answer is over: every call is as complete as it will be.
    pub(super) fn complete_all(
        &mut self,
        ending: Ending,
        next_part: &mut dyn FnMut() -> u32,
        out: &mut Vec<ModelEvent>,
    ) {
        for call in &mut self.calls {
            call.announce(next_part, out);
            call.complete(ending, out);
        }
    }

    /// The call that a delta continues, if it does not begin one.
    fn locate(&self, delta: &CallDelta) -> Option<usize> {
        let place = match (delta.index, &delta.id) {
            (Some(index), _) => self.by_index.get(&index).copied(),
            (None, Some(id)) => {
                let same = self.calls.iter().rposition(|call| call.id == *id);
                same.or(if delta.tool.is_none() { self.last } else { None })
            }
            (None, None) if delta.follows && delta.tool.is_some() => None,
            (None, None) => self.last,
        }?;
        let call = self.calls.get(place)?;
        if call.continued_by(delta) { Some(place) } else { None }
    }

    fn begin(&mut self, index: Option<u64>) -> usize {
        self.calls.push(Call::default());
        let place = self.calls.len() - 1;
        if let Some(index) = index {
            self.by_index.insert(index, place);
        }
        place
    }
}

impl Call {
    /// A delta without a name always continues: a call without a name cannot be run.
    fn continued_by(&self, delta: &CallDelta) -> bool {
        let Some(tool) = &delta.tool else { return true };
        let other_id = delta.id.as_ref().is_some_and(|id| !self.id.is_empty() && *id != self.id);
        let other_tool = !self.tool.is_empty() && *tool != self.tool;
        let beyond_its_end = self.scan.is_whole() && !delta.arguments.trim().is_empty();
        !(other_id || other_tool || beyond_its_end || self.stage == Stage::Complete)
    }

    fn grow(&mut self, delta: CallDelta, next_part: &mut dyn FnMut() -> u32, out: &mut Vec<ModelEvent>) {
        if self.stage == Stage::Complete {
            return;
        }
        if let (true, Some(id)) = (self.id.is_empty(), delta.id) {
            self.id = id;
        }
        if let (true, Some(tool)) = (self.tool.is_empty(), delta.tool) {
            self.tool = tool;
        }
        self.scan.feed(&delta.arguments);
        self.arguments.push_str(&delta.arguments);
        match self.stage {
            Stage::Nameless if !self.tool.is_empty() => self.announce(next_part, out),
            Stage::Open(part) if !delta.arguments.is_empty() => {
                out.push(ModelEvent::CallDelta { part, delta: delta.arguments });
            }
            Stage::Nameless | Stage::Open(_) | Stage::Complete => {}
        }
    }

    fn announce(&mut self, next_part: &mut dyn FnMut() -> u32, out: &mut Vec<ModelEvent>) {
        if self.stage != Stage::Nameless {
            return;
        }
        let part = next_part();
        if self.id.is_empty() {
            self.id = format!("call_{part}");
        }
        self.stage = Stage::Open(part);
        out.push(ModelEvent::CallStarted { part, wire_id: self.id.clone(), tool: self.tool.clone() });
        if !self.arguments.is_empty() {
            out.push(ModelEvent::CallDelta { part, delta: self.arguments.clone() });
        }
    }

    fn complete(&mut self, ending: Ending, out: &mut Vec<ModelEvent>) {
        let Stage::Open(part) = self.stage else { return };
        self.stage = Stage::Complete;
        let arguments = std::mem::take(&mut self.arguments);
        let none = ending == Ending::Natural && arguments.trim().is_empty();
        out.push(ModelEvent::CallCompleted {
            part,
            wire_id: self.id.clone(),
            tool: self.tool.clone(),
            arguments: if none { "{}".to_owned() } else { arguments },
        });
    }
}

fn filled(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(ToOwned::to_owned)
}

/// Arguments as text; some send the object itself.
fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
