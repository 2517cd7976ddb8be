//! A whole text read at once, for checks and tools: what a person would see of
//! it, and which calls are in it.

use rein_protocol::{Finish, ToolSpec};

use super::Dialect;
use super::leak;
use super::offered::OfferedTools;
use super::scanner::{DialectEvent, Others, Scanner};
use crate::event::ModelEvent;
use crate::opened::{Begins, OpenedThinking};

/// What is in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// Words for the person.
    pub text: String,
    /// Thinking aloud.
    pub reasoning: String,
    /// The calls: the tool's name, and the arguments as JSON where they could be made that.
    pub calls: Vec<(String, String)>,
}

/// Reads the text of an answer, in pieces as it would arrive, in a dialect. With tools, calls in other dialects are found
/// too if they cannot be mistaken.
#[must_use]
pub fn spoken(dialect: Dialect, begins: Begins, tools: &[ToolSpec], pieces: &[&str]) -> Spoken {
    let told = pieces.iter().map(|piece| ModelEvent::TextDelta { part: 0, delta: (*piece).to_owned() });
    let told = told.chain([ModelEvent::Finished(Finish::Stop)]);
    let mut scanner = Scanner::new(Some(dialect), Others::Unmistakable, OfferedTools::new(tools));
    let (mut spoken, mut found) = (Spoken::default(), Vec::new());
    for event in closed(begins, told) {
        match event {
            ModelEvent::TextDelta { delta, .. } => scanner.push(&delta, &mut found),
            ModelEvent::ReasoningDelta { delta, .. } => spoken.reasoning.push_str(&delta),
            _ => {}
        }
    }
    scanner.finish(&mut found);
    for event in found {
        match event {
            DialectEvent::Text(delta) => spoken.text.push_str(&delta),
            DialectEvent::Reasoning(delta) => spoken.reasoning.push_str(&delta),
            DialectEvent::CallCompleted { tool, arguments } => {
                let cleaned = leak::cleaned(&arguments).filter(|_| dialect == Dialect::Harmony);
                spoken.calls.push((tool, cleaned.unwrap_or(arguments)));
            }
            DialectEvent::CallStarted { .. } | DialectEvent::CallDelta(_) => {}
        }
    }
    spoken
}

fn closed(begins: Begins, events: impl Iterator<Item = ModelEvent>) -> Vec<ModelEvent> {
    if begins == Begins::Answering {
        return events.collect();
    }
    let (mut opened, mut told) = (OpenedThinking::default(), Vec::new());
    for event in events {
        opened.push(event, &mut told);
    }
    told
}
