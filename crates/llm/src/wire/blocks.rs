//! The parts of an answer that comes as numbered blocks, each of which begins,
//! grows and ends.
//!
//! Blocks may grow at the same time. Text blocks that follow each other are one
//! part: providers cut text wherever they have something to say about it. What
//! is kept for the provider is told when its block ends. The arguments of a
//! call are added up here, once.

use serde_json::Value;

use crate::event::ModelEvent;

/// The blocks of one answer.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: Vec<Block>,
    next_part: u32,
    /// The text that may go on.
    text: Option<u32>,
    called: bool,
}

#[derive(Debug)]
struct Block {
    index: u64,
    part: u32,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Text,
    Reasoning { opaque: Option<Value> },
    Call { id: String, tool: String, arguments: String },
}

impl Blocks {
    /// Whether there was a call.
    pub(super) fn called(&self) -> bool {
        self.called
    }

    /// Words for the person.
    pub(super) fn text(&mut self, index: u64, delta: String, out: &mut Vec<ModelEvent>) {
        if delta.is_empty() {
            return;
        }
        let part = match self.place(index, |body| matches!(body, Body::Text)) {
            Some(block) => block.part,
            None => match self.text {
                Some(part) => self.begin_as(index, part, Body::Text),
                None => self.begin(index, Body::Text),
            },
        };
        self.text = Some(part);
        out.push(ModelEvent::TextDelta { part, delta });
    }

    /// Thinking aloud.
    pub(super) fn reasoning(&mut self, index: u64, delta: String, out: &mut Vec<ModelEvent>) {
        if !delta.is_empty() {
            let part = self.reasoning_part(index);
            out.push(ModelEvent::ReasoningDelta { part, delta });
        }
    }

    /// What the provider wants to see again with a block of reasoning; `change` sees what there was before.
    pub(super) fn keep(&mut self, index: u64, change: impl FnOnce(Option<Value>) -> Value) {
        self.reasoning_part(index);
        if let Some(Block { body: Body::Reasoning { opaque }, .. }) =
            self.place(index, |body| matches!(body, Body::Reasoning { .. }))
        {
            *opaque = Some(change(opaque.take()));
        }
    }

    /// A call begins.
    pub(super) fn call(&mut self, index: u64, id: &str, tool: &str, out: &mut Vec<ModelEvent>) {
        let (id, tool) = (id.to_owned(), tool.to_owned());
        let id = if id.is_empty() { format!("call_{}", self.next_part) } else { id };
        let body = Body::Call { id: id.clone(), tool: tool.clone(), arguments: String::new() };
        let part = self.begin(index, body);
        self.called = true;
        out.push(ModelEvent::CallStarted { part, wire_id: id, tool });
    }

    /// The arguments of a call grow.
    pub(super) fn arguments(&mut self, index: u64, delta: String, out: &mut Vec<ModelEvent>) {
        let call = self.place(index, |body| matches!(body, Body::Call { .. }));
        if let Some(Block { part, body: Body::Call { arguments, .. }, .. }) = call
            && !delta.is_empty()
        {
            arguments.push_str(&delta);
            out.push(ModelEvent::CallDelta { part: *part, delta });
        }
    }

    /// A block ends.
    pub(super) fn end(&mut self, index: u64, out: &mut Vec<ModelEvent>) {
        while let Some(place) = self.open.iter().position(|block| block.index == index) {
            self.open.remove(place).end(out);
        }
    }

    /// Every block ends.
    pub(super) fn end_all(&mut self, out: &mut Vec<ModelEvent>) {
        for block in self.open.drain(..) {
            block.end(out);
        }
    }

    fn reasoning_part(&mut self, index: u64) -> u32 {
        match self.place(index, |body| matches!(body, Body::Reasoning { .. })) {
            Some(block) => block.part,
            None => self.begin(index, Body::Reasoning { opaque: None }),
        }
    }

    fn place(&mut self, index: u64, fits: impl Fn(&Body) -> bool) -> Option<&mut Block> {
        self.open.iter_mut().find(|block| block.index == index && fits(&block.body))
    }

    fn begin(&mut self, index: u64, body: Body) -> u32 {
        let part = self.next_part;
        self.next_part += 1;
        self.text = None;
        self.begin_as(index, part, body)
    }

    fn begin_as(&mut self, index: u64, part: u32, body: Body) -> u32 {
        self.open.push(Block { index, part, body });
        part
    }
}

impl Block {
    fn end(self, out: &mut Vec<ModelEvent>) {
        let part = self.part;
        match self.body {
            Body::Text | Body::Reasoning { opaque: None } => {}
            Body::Reasoning { opaque: Some(opaque) } => {
                out.push(ModelEvent::ReasoningOpaque { part, opaque });
            }
            Body::Call { id, tool, arguments } => {
                let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
                out.push(ModelEvent::CallCompleted { part, wire_id: id, tool, arguments });
            }
        }
    }
}
