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
    body: Body,
}

#[derive(Debug)]
enum Body {
    Text {
        part: u32,
    },
    /// It has a part only once something of it is told.
    Reasoning {
        part: Option<u32>,
        opaque: Option<Value>,
    },
    Call {
        part: u32,
        id: String,
        tool: String,
        arguments: String,
    },
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
        let open = self.open.iter().find_map(|block| match block.body {
            Body::Text { part } if block.index == index => Some(part),
            _ => None,
        });
        let part = open.unwrap_or_else(|| {
            let part = self.text.unwrap_or_else(|| self.begin());
            self.open.push(Block { index, body: Body::Text { part } });
            part
        });
        self.text = Some(part);
        out.push(ModelEvent::TextDelta { part, delta });
    }

    /// Text that follows is another part, although nothing came between.
    pub(super) fn part_text(&mut self) {
        self.text = None;
    }

    /// Thinking aloud.
    pub(super) fn reasoning(&mut self, index: u64, delta: String, out: &mut Vec<ModelEvent>) {
        if delta.is_empty() {
            return;
        }
        let told = self.reasoning_of(index).and_then(|(part, _)| *part);
        let part = told.unwrap_or_else(|| self.begin());
        if let Some((told, _)) = self.reasoning_of(index) {
            *told = Some(part);
        }
        out.push(ModelEvent::ReasoningDelta { part, delta });
    }

    /// What the provider wants to see again with a block of reasoning; `change` sees what there was before.
    pub(super) fn keep(&mut self, index: u64, change: impl FnOnce(Option<Value>) -> Value) {
        if let Some((_, opaque)) = self.reasoning_of(index) {
            *opaque = Some(change(opaque.take()));
        }
    }

    /// A call begins.
    pub(super) fn call(&mut self, index: u64, id: &str, tool: &str, out: &mut Vec<ModelEvent>) {
        let part = self.begin();
        let id = if id.is_empty() { format!("call_{part}") } else { id.to_owned() };
        let tool = tool.to_owned();
        self.called = true;
        out.push(ModelEvent::CallStarted { part, wire_id: id.clone(), tool: tool.clone() });
        self.open.push(Block { index, body: Body::Call { part, id, tool, arguments: String::new() } });
    }

    /// The arguments of a call grow.
    pub(super) fn arguments(&mut self, index: u64, delta: String, out: &mut Vec<ModelEvent>) {
        let call = self.open.iter_mut().find_map(|block| match &mut block.body {
            Body::Call { part, arguments, .. } if block.index == index => Some((*part, arguments)),
            _ => None,
        });
        if let Some((part, arguments)) = call
            && !delta.is_empty()
        {
            arguments.push_str(&delta);
            out.push(ModelEvent::CallDelta { part, delta });
        }
    }

    /// All arguments of a call, as the provider sums them up: what was not told is, and where they differ they count.
    pub(super) fn whole_arguments(&mut self, index: u64, whole: &str, out: &mut Vec<ModelEvent>) {
        let told = self.open.iter_mut().find_map(|block| match &mut block.body {
            Body::Call { arguments, .. } if block.index == index => Some(arguments),
            _ => None,
        });
        let Some(told) = told else { return };
        match whole.strip_prefix(told.as_str()).map(ToOwned::to_owned) {
            Some(rest) => self.arguments(index, rest, out),
            None => *told = whole.to_owned(),
        }
    }

    /// A block ends.
    pub(super) fn end(&mut self, index: u64, out: &mut Vec<ModelEvent>) {
        while let Some(place) = self.open.iter().position(|block| block.index == index) {
            let block = self.open.remove(place);
            self.close(block, out);
        }
    }

    /// Every block ends.
    pub(super) fn end_all(&mut self, out: &mut Vec<ModelEvent>) {
        for block in std::mem::take(&mut self.open) {
            self.close(block, out);
        }
    }

    fn close(&mut self, block: Block, out: &mut Vec<ModelEvent>) {
        match block.body {
            Body::Text { .. } | Body::Reasoning { opaque: None, .. } => {}
            Body::Reasoning { part, opaque: Some(opaque) } => {
                let part = part.unwrap_or_else(|| self.begin());
                out.push(ModelEvent::ReasoningOpaque { part, opaque });
            }
            Body::Call { part, id, tool, arguments } => {
                let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
                out.push(ModelEvent::CallCompleted { part, wire_id: id, tool, arguments });
            }
        }
    }

    /// The reasoning of a block, which begins if it is not open.
    fn reasoning_of(&mut self, index: u64) -> Option<(&mut Option<u32>, &mut Option<Value>)> {
        let known = |block: &Block| block.index == index && matches!(block.body, Body::Reasoning { .. });
        let place = self.open.iter().position(known).unwrap_or(self.open.len());
        if place == self.open.len() {
            self.open.push(Block { index, body: Body::Reasoning { part: None, opaque: None } });
        }
        match &mut self.open.get_mut(place)?.body {
            Body::Reasoning { part, opaque } => Some((part, opaque)),
            Body::Text { .. } | Body::Call { .. } => None,
        }
    }

    fn begin(&mut self) -> u32 {
        let part = self.next_part;
        self.next_part += 1;
        self.text = None;
        part
    }
}
