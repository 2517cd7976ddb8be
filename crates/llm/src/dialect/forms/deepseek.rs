//! Special tokens with full-width bars: DeepSeek, from the third version on, and
//! the elements of its newest.

use super::anthropic_xml::{invoked, named_parameter};
use super::{Form, WrittenCall, WrittenResult};
use crate::dialect::json_body::JsonBody;
use crate::dialect::opening::{End, Look, Match, Opening, Place, Verdict, What};
use crate::dialect::parameters::{Opened, Padding, Syntax, closes};

pub(super) struct DeepSeek;

const CALL_ENDS: &[&str] = &["<｜tool▁call▁end｜>", "<|tool▁call▁end|>"];
const SEPARATORS: [&str; 2] = ["<｜tool▁sep｜>", "<|tool▁sep|>"];

static ELEMENTS: Syntax = Syntax {
    open: element,
    close: element_end,
    ends: &["</｜DSML｜invoke>"],
    stops: &["</｜DSML｜function_calls>", "</｜DSML｜tool_calls>", "<｜DSML｜invoke name="],
    padding: Padding::None,
};

impl Form for DeepSeek {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "<｜tool▁calls▁begin｜>", place: Place::Anywhere, begins: section },
            Opening { tag: "<|tool▁calls▁begin|>", place: Place::Anywhere, begins: section },
            Opening { tag: "<｜tool▁calls▁end｜>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "<|tool▁calls▁end|>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "<｜tool▁call▁begin｜>", place: Place::Anywhere, begins: call },
            Opening { tag: "<|tool▁call▁begin|>", place: Place::Anywhere, begins: call },
            Opening {
                tag: "<｜end▁of▁sentence｜>",
                place: Place::Anywhere,
                begins: |_, _| Verdict::Begins(0, What::Nothing),
            },
            Opening { tag: "<｜DSML｜function_calls>", place: Place::Anywhere, begins: section },
            Opening { tag: "<｜DSML｜tool_calls>", place: Place::Anywhere, begins: section },
            Opening { tag: "</｜DSML｜function_calls>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "</｜DSML｜tool_calls>", place: Place::Anywhere, begins: section_end },
            Opening {
                tag: "<｜DSML｜invoke name=",
                place: Place::Anywhere,
                begins: |text, look| invoked(text, look, &ELEMENTS),
            },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: String = calls
            .iter()
            .map(|call| {
                let arguments = serde_json::json!(call.arguments);
                format!("<｜tool▁call▁begin｜>{}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>", call.tool)
            })
            .collect();
        format!("<｜tool▁calls▁begin｜>{written}<｜tool▁calls▁end｜>")
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("<｜tool▁output▁begin｜>{}<｜tool▁output▁end｜>", result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/deepseek.md")
    }
}

fn section(_: &str, _: &Look) -> Verdict {
    Verdict::Begins(0, What::Section)
}

fn section_end(_: &str, look: &Look) -> Verdict {
    if look.section { Verdict::Begins(0, What::SectionEnd) } else { Verdict::No }
}

/// The name behind the separator if a kind is before it, and otherwise before it.
fn call(text: &str, look: &Look) -> Verdict {
    const LONGEST: usize = 200;
    let more = || if look.end == End::More && text.len() < LONGEST { Verdict::More } else { Verdict::No };
    let found = SEPARATORS.iter().find_map(|tag| text.find(tag).map(|at| (at, tag.len())));
    let Some((at, length)) = found else { return more() };
    let head = text.get(..at).unwrap_or_default().trim();
    if head != "function" {
        return named(head, at + length, look);
    }
    let behind = text.get(at + length..).unwrap_or_default();
    let Some(end) = behind.trim_start().find(['\n', '{', '`', '<']) else { return more() };
    let blanks = behind.len() - behind.trim_start().len();
    let name = behind.trim_start().get(..end).unwrap_or_default().trim();
    named(name, at + length + blanks + end, look)
}

fn named(name: &str, length: usize, look: &Look) -> Verdict {
    match look.accepts(name) {
        true => Verdict::Begins(length, What::Call(JsonBody::named(name, CALL_ENDS))),
        false => Verdict::No,
    }
}

fn element(text: &str, end: End) -> Opened {
    named_parameter(text, &["<｜DSML｜parameter name="], end)
}

fn element_end(text: &str, end: End) -> Match {
    const NEXT: &[&str] =
        &["<｜DSML｜parameter", "</｜DSML｜invoke>", "</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"];
    closes(text, &["</｜DSML｜parameter>"], NEXT, end)
}
