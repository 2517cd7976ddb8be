//! Stands between a wire's decoder and whoever reads its events, and turns calls
//! that were written into text into calls.
//!
//! Owns the numbers of parts: text that becomes several parts moves those behind
//! it. Calls that a provider sends by itself pass through.

use std::collections::HashMap;

use rein_protocol::Finish;

use super::offered::OfferedTools;
use super::scanner::{DialectEvent, Others, Scanner};
use super::{Dialect, leak};
use crate::event::ModelEvent;

/// The stage for one answer.
pub(crate) struct Stage {
    scanner: Scanner,
    leaks: Leaks,
    /// The provider's parts that are calls or reasoning, by their numbers.
    parts: HashMap<u32, u32>,
    next: u32,
    /// The words that may still grow.
    words: Option<(Voice, u32)>,
    /// The call that is being written into text.
    call: Option<u32>,
    called: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Text,
    Reasoning,
}

/// Whether arguments that a provider sends are looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaks {
    Cut,
    Left,
}

impl Stage {
    /// A stage that understands the chosen dialect, and perhaps others.
    pub(crate) fn new(chosen: Option<Dialect>, others: Others, tools: OfferedTools) -> Self {
        let leaks = if chosen == Some(Dialect::Harmony) { Leaks::Cut } else { Leaks::Left };
        Self {
            scanner: Scanner::new(chosen, others, tools),
            leaks,
            parts: HashMap::new(),
            next: 0,
            words: None,
            call: None,
            called: false,
        }
    }

    /// Takes an event of the decoder.
    pub(crate) fn push(&mut self, event: ModelEvent, out: &mut Vec<ModelEvent>) {
        match event {
            ModelEvent::TextDelta { delta, .. } => {
                let mut found = Vec::new();
                self.scanner.push(&delta, &mut found);
                self.tell(found, out);
            }
            ModelEvent::ReasoningDelta { part, delta } => {
                self.interrupt(out);
                let part = self.renumbered(part);
                out.push(ModelEvent::ReasoningDelta { part, delta });
            }
            ModelEvent::ReasoningOpaque { part, opaque } => {
                self.interrupt(out);
                let part = self.renumbered(part);
                out.push(ModelEvent::ReasoningOpaque { part, opaque });
            }
            ModelEvent::CallStarted { part, wire_id, tool } => {
                self.interrupt(out);
                let part = self.renumbered(part);
                out.push(ModelEvent::CallStarted { part, wire_id, tool });
            }
            ModelEvent::CallDelta { part, delta } => {
                let part = self.renumbered(part);
                out.push(ModelEvent::CallDelta { part, delta });
            }
            ModelEvent::CallCompleted { part, wire_id, tool, arguments } => {
                let part = self.renumbered(part);
                let arguments = self.cleaned(arguments);
                out.push(ModelEvent::CallCompleted { part, wire_id, tool, arguments });
            }
            ModelEvent::Usage(usage) => out.push(ModelEvent::Usage(usage)),
            ModelEvent::Finished(finish) => self.finish(finish, out),
        }
    }

    /// The answer broke off: what was held back is handed over.
    pub(crate) fn fail(&mut self, out: &mut Vec<ModelEvent>) {
        let mut found = Vec::new();
        self.scanner.cut(&mut found);
        // A call that never became whole stays open, as one of a provider does.
        found.retain(|event| !matches!(event, DialectEvent::CallCompleted { .. }));
        self.tell(found, out);
    }

    fn finish(&mut self, finish: Finish, out: &mut Vec<ModelEvent>) {
        let mut found = Vec::new();
        match finish {
            Finish::Length => self.scanner.cut(&mut found),
            _ => self.scanner.finish(&mut found),
        }
        self.tell(found, out);
        let finish = match finish {
            Finish::Stop if self.called => Finish::ToolCalls,
            other => other,
        };
        out.push(ModelEvent::Finished(finish));
    }

    /// Something else than text comes: the text before it is over.
    fn interrupt(&mut self, out: &mut Vec<ModelEvent>) {
        let mut found = Vec::new();
        self.scanner.finish(&mut found);
        self.tell(found, out);
    }

    fn cleaned(&self, arguments: String) -> String {
        match self.leaks {
            Leaks::Left => arguments,
            Leaks::Cut => leak::cleaned(&arguments).unwrap_or(arguments),
        }
    }

    fn tell(&mut self, found: Vec<DialectEvent>, out: &mut Vec<ModelEvent>) {
        for event in found {
            match event {
                DialectEvent::Text(delta) => {
                    let part = self.words(Voice::Text);
                    out.push(ModelEvent::TextDelta { part, delta });
                }
                DialectEvent::Reasoning(delta) => {
                    let part = self.words(Voice::Reasoning);
                    out.push(ModelEvent::ReasoningDelta { part, delta });
                }
                DialectEvent::CallStarted { tool } => {
                    let part = self.begin();
                    self.call = Some(part);
                    self.called = true;
                    out.push(ModelEvent::CallStarted { part, wire_id: wire_id(part), tool });
                }
                DialectEvent::CallDelta(delta) => {
                    if let Some(part) = self.call {
                        out.push(ModelEvent::CallDelta { part, delta });
                    }
                }
                DialectEvent::CallCompleted { tool, arguments } => {
                    if let Some(part) = self.call.take() {
                        let wire_id = wire_id(part);
                        let arguments = self.cleaned(arguments);
                        out.push(ModelEvent::CallCompleted { part, wire_id, tool, arguments });
                    }
                }
            }
        }
    }

    fn words(&mut self, voice: Voice) -> u32 {
        match self.words {
            Some((same, part)) if same == voice => part,
            _ => {
                let part = self.begin();
                self.words = Some((voice, part));
                part
            }
        }
    }

    fn renumbered(&mut self, part: u32) -> u32 {
        match self.parts.get(&part) {
            Some(known) => *known,
            None => {
                let number = self.begin();
                self.parts.insert(part, number);
                number
            }
        }
    }

    fn begin(&mut self) -> u32 {
        let part = self.next;
        self.next += 1;
        self.words = None;
        part
    }
}

/// The id of a call that has none.
fn wire_id(part: u32) -> String {
    format!("written_{part}")
}
