//! What a model says, while it says it.
//!
//! Parts are numbered in the order in which they begin. A part that is over
//! does not begin again, and calls that a provider sends interleaved keep
//! their own part. `Finished` comes once, last, and only if the answer is
//! complete.

use rein_protocol::{Finish, Usage};
use serde_json::Value;

/// Something a model said.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// Words for the person.
    TextDelta {
        /// Which part of the answer.
        part: u32,
        /// What was added.
        delta: String,
    },
    /// Thinking aloud.
    ReasoningDelta {
        /// Which part of the answer.
        part: u32,
        /// What was added.
        delta: String,
    },
    /// What the provider wants to see again with its reasoning, verbatim. A part of which nothing may be read consists
    /// of it alone.
    ReasoningOpaque {
        /// Which part of the answer.
        part: u32,
        /// For the wire that it came from, and nobody else.
        opaque: Value,
    },
    /// A call begins.
    CallStarted {
        /// Which part of the answer.
        part: u32,
        /// The provider's id of the call; not necessarily unique.
        wire_id: String,
        /// The tool's name as the model wrote it.
        tool: String,
    },
    /// The arguments of a call grew.
    CallDelta {
        /// Which part of the answer.
        part: u32,
        /// What was added.
        delta: String,
    },
    /// The arguments of a call are complete, or cut by the output limit. Said as soon as it is known.
    CallCompleted {
        /// Which part of the answer.
        part: u32,
        /// The provider's id of the call; not necessarily unique.
        wire_id: String,
        /// The tool's name as the model wrote it.
        tool: String,
        /// All arguments, as the model wrote them; `{}` if it wrote none.
        arguments: String,
    },
    /// What was used so far. The last one counts.
    Usage(Usage),
    /// The answer is complete. Comes once and last.
    Finished(Finish),
}

/// Joins deltas of the same part that follow each other, and keeps only the last usage.
pub(crate) fn condense(events: Vec<ModelEvent>) -> Vec<ModelEvent> {
    let last_usage = events.iter().rposition(|event| matches!(event, ModelEvent::Usage(_)));
    let mut condensed: Vec<ModelEvent> = Vec::new();
    for (index, event) in events.into_iter().enumerate() {
        if matches!(event, ModelEvent::Usage(_)) && Some(index) != last_usage {
            continue;
        }
        match (condensed.last_mut(), &event) {
            (
                Some(ModelEvent::TextDelta { part, delta }),
                ModelEvent::TextDelta { part: same, delta: more },
            )
            | (
                Some(ModelEvent::ReasoningDelta { part, delta }),
                ModelEvent::ReasoningDelta { part: same, delta: more },
            )
            | (
                Some(ModelEvent::CallDelta { part, delta }),
                ModelEvent::CallDelta { part: same, delta: more },
            ) if part == same => {
                delta.push_str(more);
            }
            _ => condensed.push(event),
        }
    }
    condensed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(part: u32, delta: &str) -> ModelEvent {
        ModelEvent::TextDelta { part, delta: delta.to_owned() }
    }

    fn usage(output: u64) -> ModelEvent {
        ModelEvent::Usage(Usage { output, ..Usage::default() })
    }

    #[test]
    fn deltas_of_one_part_are_joined_and_others_kept_apart() {
        let events = vec![text(0, "a"), usage(1), text(0, "b"), text(1, "c"), usage(2), text(1, "d")];
        assert_eq!(condense(events), [text(0, "ab"), text(1, "c"), usage(2), text(1, "d")]);
    }
}
