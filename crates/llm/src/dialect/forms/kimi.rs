//! Special tokens in sections: Kimi K2.

use super::{Form, WrittenCall, WrittenResult};
use crate::dialect::json_body::JsonBody;
use crate::dialect::opening::{End, Look, Opening, Place, Verdict, What};

pub(super) struct Kimi;

impl Form for Kimi {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "<|tool_calls_section_begin|>", place: Place::Anywhere, begins: section },
            Opening { tag: "<|tool_call_section_begin|>", place: Place::Anywhere, begins: section },
            Opening { tag: "<|tool_calls_section_end|>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "<|tool_call_section_end|>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "<|tool_call_begin|>", place: Place::Anywhere, begins: call },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: String = calls
            .iter()
            .map(|call| {
                let (tool, number) = (call.tool, call.number);
                let arguments = serde_json::json!(call.arguments);
                format!("<|tool_call_begin|>functions.{tool}:{number}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>")
            })
            .collect();
        format!("<|tool_calls_section_begin|>{written}<|tool_calls_section_end|>")
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("## Return of functions.{}:{}\n{}", result.tool, result.number, result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/kimi.md")
    }
}

fn section(_: &str, _: &Look) -> Verdict {
    Verdict::Begins(0, What::Section)
}

fn section_end(_: &str, look: &Look) -> Verdict {
    if look.section { Verdict::Begins(0, What::SectionEnd) } else { Verdict::No }
}

fn call(text: &str, look: &Look) -> Verdict {
    const LONGEST: usize = 200;
    const ARGUMENTS: &str = "<|tool_call_argument_begin|>";
    match text.split_once(ARGUMENTS) {
        Some((name, _)) if look.accepts(name.trim()) => {
            let body = JsonBody::named(name.trim(), &["<|tool_call_end|>"]);
            Verdict::Begins(name.len() + ARGUMENTS.len(), What::Call(body))
        }
        Some(_) => Verdict::No,
        None if look.end == End::More && text.len() < LONGEST => Verdict::More,
        None => Verdict::No,
    }
}
