//! JSON between tags: Hermes, Qwen, and the many that do it likewise with a tag
//! of their own.

use super::{Form, WrittenCall, WrittenResult, json_calls};
use crate::dialect::json_body::JsonBody;
use crate::dialect::json_head;
use crate::dialect::opening::{Look, Match, Opening, Place, Trust, Verdict, What};

pub(super) struct Hermes;

impl Form for Hermes {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening {
                tag: "<tool_call>",
                place: Place::Anywhere,
                begins: |t, l| tagged(t, l, &["</tool_call>"]),
            },
            Opening {
                tag: "<tool_calls>",
                place: Place::Anywhere,
                begins: |t, l| tagged(t, l, &["</tool_calls>"]),
            },
            Opening { tag: "<tools>", place: Place::Anywhere, begins: |t, l| tagged(t, l, &["</tools>"]) },
            Opening {
                tag: "<TOOLCALL>",
                place: Place::Anywhere,
                begins: |t, l| tagged(t, l, &["</TOOLCALL>"]),
            },
            Opening {
                tag: "<functioncall>",
                place: Place::Anywhere,
                begins: |t, l| tagged(t, l, &["</functioncall>"]),
            },
            Opening {
                tag: "<function_call>",
                place: Place::Anywhere,
                begins: |t, l| tagged(t, l, &["</function_call>"]),
            },
            Opening {
                tag: "<|tool_call|>",
                place: Place::Anywhere,
                begins: |t, l| tagged(t, l, &["<|/tool_call|>"]),
            },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        json_calls(calls, "<tool_call>\n", "\n</tool_call>")
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("<tool_response>\n{}\n</tool_response>", result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/hermes.md")
    }
}

/// JSON behind a tag. In the model's own dialect, whatever begins like an object was meant to be a call.
fn tagged(text: &str, look: &Look, closers: &'static [&'static str]) -> Verdict {
    let heard = match (look.trust, look.follows(text, &["{", "[{", "```json", "```"])) {
        (Trust::Chosen, Match::Yes(_)) => Match::Yes(0),
        (_, Match::Yes(_)) => json_head::call(unfenced(text), look),
        (_, other) => other,
    };
    match heard {
        Match::Yes(_) => Verdict::Begins(0, What::Call(JsonBody::calls(closers))),
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}

/// A text without the fence that it begins with.
fn unfenced(text: &str) -> &str {
    match text.trim_start().strip_prefix("```") {
        Some(fence) => fence.split_once('\n').map_or("", |(_, inside)| inside),
        None => text,
    }
}
