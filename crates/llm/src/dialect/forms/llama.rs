//! Python in a list, by itself or behind a tag, or JSON behind the tag: Llama, and
//! with tags of their own Liquid and Olmo.

use super::{Form, WrittenCall, WrittenResult, python_arguments};
use crate::dialect::json_body::JsonBody;
use crate::dialect::json_head;
use crate::dialect::opening::{End, Look, Match, Opening, Place, Verdict, What};
use crate::dialect::python_body::{Extent, PythonBody};

pub(super) struct Llama;

const TAG_ENDS: &[&str] =
    &["<|eom_id|>", "<|eot_id|>", "<|python_end|>", "<|tool_call_end|>", "</function_calls>"];

impl Form for Llama {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "<|python_tag|>", place: Place::Anywhere, begins: tagged },
            Opening { tag: "<|python_start|>", place: Place::Anywhere, begins: tagged },
            Opening { tag: "<|tool_call_start|>", place: Place::Anywhere, begins: tagged },
            Opening { tag: "<function_calls>", place: Place::Anywhere, begins: tagged },
            Opening { tag: "[", place: Place::LineStart, begins: listed },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: Vec<String> =
            calls.iter().map(|call| format!("{}({})", call.tool, python_arguments(call.arguments))).collect();
        format!("[{}]", written.join(", "))
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("Result of {}:\n{}", result.tool, result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/llama.md")
    }
}

fn tagged(text: &str, look: &Look) -> Verdict {
    let rest = text.trim_start();
    if rest.starts_with('{') {
        return match json_head::call(rest, look) {
            Match::Yes(_) => Verdict::Begins(0, What::Call(JsonBody::calls(TAG_ENDS))),
            Match::More => Verdict::More,
            Match::No => Verdict::No,
        };
    }
    let calls = rest.strip_prefix('[').unwrap_or(rest);
    match called(calls, look) {
        Match::Yes(_) => Verdict::Begins(0, What::Call(PythonBody::new(Extent::Tags(TAG_ENDS)))),
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}

fn listed(text: &str, look: &Look) -> Verdict {
    match called(text, look) {
        Match::Yes(_) => Verdict::BeginsWithTag(What::Call(PythonBody::new(Extent::Brackets))),
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}

/// A name and a bracket.
fn called(text: &str, look: &Look) -> Match {
    let rest = text.trim_start();
    if rest.is_empty() {
        return if look.end == End::More { Match::More } else { Match::No };
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')));
    let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    match look.name(name, end.is_some()) {
        Match::Yes(length) if rest.get(length..).is_some_and(|behind| behind.starts_with('(')) => {
            Match::Yes(0)
        }
        Match::More => Match::More,
        Match::Yes(_) | Match::No => Match::No,
    }
}
