//! Tags that say what they hold in their names: Qwen's coders, and Llama's older
//! way with JSON between the same tags.

use super::{Form, WrittenCall, WrittenResult, tag_text};
use crate::dialect::json_body::JsonBody;
use crate::dialect::opening::{End, Look, Match, Opening, Place, Verdict, What, follows};
use crate::dialect::parameters::{Opened, Padding, Parameters, Syntax, closes};

pub(super) struct QwenCoder;

static SYNTAX: Syntax = Syntax {
    open,
    close,
    ends: &["</function>"],
    stops: &["</tool_call>", "<tool_call>", "<function="],
    padding: Padding::Lines,
};

impl Form for QwenCoder {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "<tool_call>", place: Place::Anywhere, begins: section },
            Opening { tag: "<function=", place: Place::Anywhere, begins: function },
            Opening {
                tag: "</tool_call>",
                place: Place::Anywhere,
                begins: |_, look| {
                    if look.section { Verdict::Begins(0, What::SectionEnd) } else { Verdict::No }
                },
            },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: Vec<String> = calls.iter().map(call).collect();
        written.join("\n")
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("<tool_response>\n{}\n</tool_response>", result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/qwen-coder.md")
    }
}

fn call(call: &WrittenCall) -> String {
    let parameters: String = call
        .arguments
        .iter()
        .map(|(name, value)| format!("<parameter={name}>\n{}\n</parameter>\n", tag_text(value)))
        .collect();
    format!("<tool_call>\n<function={}>\n{parameters}</function>\n</tool_call>", call.tool)
}

fn section(text: &str, look: &Look) -> Verdict {
    match look.follows(text, &["<function="]) {
        Match::No => Verdict::No,
        Match::More => Verdict::More,
        Match::Yes(length) => match function(text.get(length..).unwrap_or_default(), look) {
            Verdict::Begins(..) | Verdict::BeginsWithTag(_) => Verdict::Begins(0, What::Section),
            Verdict::More => Verdict::More,
            Verdict::No => Verdict::No,
        },
    }
}

fn function(text: &str, look: &Look) -> Verdict {
    let Some((name, behind)) = text.split_once('>') else {
        return match look.end == End::More && look.may_accept(text) {
            true => Verdict::More,
            false => Verdict::No,
        };
    };
    if !look.accepts(name) {
        return Verdict::No;
    }
    let length = name.len() + 1;
    match look.follows(behind, &["{"]) {
        Match::Yes(_) => Verdict::Begins(length, What::Call(JsonBody::named(name, &["</function>"]))),
        Match::More => Verdict::More,
        Match::No => Verdict::Begins(length, What::Call(Parameters::new(name, &SYNTAX))),
    }
}

fn open(text: &str, end: End) -> Opened {
    match follows(text, &["<parameter="], end) {
        Match::No => Opened::No,
        Match::More => Opened::More,
        Match::Yes(length) => match text.get(length..).and_then(|rest| rest.split_once('>')) {
            Some((name, _)) => Opened::Parameter(name.trim().to_owned(), length + name.len() + 1, None),
            None => Opened::More,
        },
    }
}

fn close(text: &str, end: End) -> Match {
    const NEXT: &[&str] = &["<parameter=", "</function>", "</tool_call>"];
    match closes(text, &["</parameter>"], NEXT, end) {
        Match::No => match closes(text, &["</function>"], &["</tool_call>", "<tool_call>"], end) {
            // A value that was not closed ends with its call, which closes itself.
            Match::Yes(_) => Match::Yes(0),
            other => other,
        },
        other => other,
    }
}
