//! A control token before a list, or before names: Mistral.

use super::{Form, WrittenCall, WrittenResult};
use crate::dialect::json_body::JsonBody;
use crate::dialect::json_head;
use crate::dialect::opening::{Closer, End, Look, Match, Opening, Place, Trust, Verdict, What};

pub(super) struct Mistral;

impl Form for Mistral {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "[TOOL_CALLS]", place: Place::Anywhere, begins: call },
            Opening {
                tag: "[THINK]",
                place: Place::Anywhere,
                begins: |_, look| match look.trust {
                    Trust::Chosen => Verdict::Begins(0, What::Reasoning(&[Closer::Eaten("[/THINK]")])),
                    Trust::Unmistakable => Verdict::No,
                },
            },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        calls
            .iter()
            .map(|call| format!("[TOOL_CALLS]{}[ARGS]{}", call.tool, serde_json::json!(call.arguments)))
            .collect()
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("[TOOL_RESULTS]{}[/TOOL_RESULTS]", result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/mistral.md")
    }
}

fn call(text: &str, look: &Look) -> Verdict {
    match look.follows(text, &["[", "{"]) {
        Match::More => return Verdict::More,
        Match::Yes(_) => {
            return match (look.trust, json_head::call(text, look)) {
                (Trust::Chosen, _) | (_, Match::Yes(_)) => {
                    Verdict::Begins(0, What::Call(JsonBody::calls(&[])))
                }
                (_, Match::More) => Verdict::More,
                (_, Match::No) => Verdict::No,
            };
        }
        Match::No => {}
    }
    named(text, look)
}

/// A name, perhaps an id, and the arguments.
fn named(text: &str, look: &Look) -> Verdict {
    let rest = text.trim_start();
    let end = rest.find(['[', '{']);
    let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    match look.name(name.trim_end(), end.is_some()) {
        Match::No => return Verdict::No,
        Match::More => return Verdict::More,
        Match::Yes(_) => {}
    }
    let behind = rest.get(name.len()..).unwrap_or_default();
    let head = match behind.starts_with('{') {
        true => 0,
        false => match behind.split_once("[ARGS]") {
            Some((id, _)) => id.len() + "[ARGS]".len(),
            None if look.end == End::More => return Verdict::More,
            None => return Verdict::No,
        },
    };
    let length = text.len() - rest.len() + name.len() + head;
    Verdict::Begins(length, What::Call(JsonBody::named(name.trim(), &[])))
}
