//! JSON between tags: Hermes, Qwen, and the many that do it likewise with a tag
//! of their own.

use super::anthropic_xml::named_parameter;
use super::{Form, WrittenCall, WrittenResult, json_calls};
use crate::dialect::json_body::JsonBody;
use crate::dialect::json_head;
use crate::dialect::opening::{End, Look, Match, Opening, Place, Trust, Verdict, What};
use crate::dialect::parameters::{Opened, Padding, Parameters, Syntax, closes};

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
            Opening { tag: "<function name=", place: Place::Anywhere, begins: element },
            Opening { tag: "</tools>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "</tool_call>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "</tool_calls>", place: Place::Anywhere, begins: section_end },
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

/// What ends arguments that were put into an attribute.
const ATTRIBUTE_ENDS: &[&str] =
    &["'/>", "\"/>", "' />", "\" />", "'></function>", "\"></function>", "'>", "\">", "/>"];

static ELEMENTS: Syntax = Syntax {
    open: |text, end| -> Opened { named_parameter(text, &["<parameter name="], end) },
    close: |text, end| -> Match {
        closes(text, &["</parameter>"], &["<parameter name=", "</function>", "</tool_call>", "</tools>"], end)
    },
    ends: &["</function>"],
    stops: &["</tool_call>", "</tools>", "<function name=", "<tool_call>"],
    padding: Padding::None,
};

fn section_end(_: &str, look: &Look) -> Verdict {
    if look.section { Verdict::Begins(0, What::SectionEnd) } else { Verdict::No }
}

/// Elements that small models make up: the arguments in an attribute, as JSON, or as parameters.
fn element(text: &str, look: &Look) -> Verdict {
    let more = || if look.end == End::More { Verdict::More } else { Verdict::No };
    let Some(quote) = text.chars().next() else { return more() };
    if !matches!(quote, '"' | '\'') {
        return Verdict::No;
    }
    let inside = text.get(1..).unwrap_or_default();
    let Some((name, behind)) = inside.split_once(quote) else {
        return if look.may_accept(inside) { more() } else { Verdict::No };
    };
    if !look.accepts(name) {
        return Verdict::No;
    }
    let length = name.len() + 2;
    let call = |length, what| Verdict::Begins(length, What::Call(what));
    match look.follows(behind, &["arguments='", "arguments=\"", "parameters='", "parameters=\"", "args='"]) {
        Match::Yes(attribute) => return call(length + attribute, JsonBody::named(name, ATTRIBUTE_ENDS)),
        Match::More => return Verdict::More,
        Match::No => {}
    }
    match look.follows(behind, &["/>", ">"]) {
        Match::Yes(_) if behind.trim_start().starts_with('/') => call(length, JsonBody::named(name, &["/>"])),
        Match::Yes(tag) => match look.follows(behind.get(tag..).unwrap_or_default(), &["{"]) {
            Match::Yes(_) => call(length + tag, JsonBody::named(name, &["</function>"])),
            Match::More => Verdict::More,
            Match::No => Verdict::Begins(length + tag, What::Call(Parameters::new(name, &ELEMENTS))),
        },
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}

/// JSON behind a tag. In the model's own dialect, whatever begins like an object was meant to be a call.
fn tagged(text: &str, look: &Look, closers: &'static [&'static str]) -> Verdict {
    match look.follows(text, &["<function name="]) {
        Match::Yes(length) => {
            return match element(text.get(length..).unwrap_or_default(), look) {
                Verdict::Begins(..) | Verdict::BeginsWithTag(_) => Verdict::Begins(0, What::Section),
                other => other,
            };
        }
        Match::More => return Verdict::More,
        Match::No => {}
    }
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
