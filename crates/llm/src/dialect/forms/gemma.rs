//! Marks instead of quotes: Gemma from the fourth on.

use serde_json::Value;

use super::{Form, WrittenCall, WrittenResult};
use crate::dialect::json_body::{emit, unfinished};
use crate::dialect::literal::{BareWords, MARK, read};
use crate::dialect::offered::OfferedTools;
use crate::dialect::opening::{
    Body, Closer, End, Found, Look, Match, Opening, Place, Step, Trust, Verdict, What, find,
};
use crate::dialect::scanner::DialectEvent;

pub(super) struct Gemma;

const CALL_END: &str = "<tool_call|>";

impl Form for Gemma {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "<|tool_call>", place: Place::Anywhere, begins: call },
            Opening { tag: "<|channel>", place: Place::Anywhere, begins: channel },
            Opening { tag: CALL_END, place: Place::Anywhere, begins: stray },
            Opening { tag: "<|tool_response>", place: Place::Anywhere, begins: stray },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        calls
            .iter()
            .map(|call| {
                let arguments = marked(&Value::Object(call.arguments.clone()));
                format!("<|tool_call>call:{}{arguments}{CALL_END}", call.tool)
            })
            .collect()
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!(
            "<|tool_response>response:{}{{output:{MARK}{}{MARK}}}<tool_response|>",
            result.tool, result.text
        )
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/gemma.md")
    }
}

/// A value with marks.
fn marked(value: &Value) -> String {
    let joined = |pieces: Vec<String>| pieces.join(",");
    match value {
        Value::String(text) => format!("{MARK}{text}{MARK}"),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(marked).collect())),
        Value::Object(fields) => {
            let written = fields.iter().map(|(name, value)| format!("{name}:{}", marked(value))).collect();
            format!("{{{}}}", joined(written))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Reasoning, with its name or without.
fn channel(text: &str, look: &Look) -> Verdict {
    const NAME: &str = "thought\n";
    let reasoning = What::Reasoning(&[Closer::Eaten("<channel|>")]);
    match (look.trust, text.starts_with(NAME)) {
        (_, true) => Verdict::Begins(NAME.len(), reasoning),
        _ if NAME.starts_with(text) && look.end == End::More => Verdict::More,
        (Trust::Chosen, false) => Verdict::Begins(0, reasoning),
        (Trust::Unmistakable, false) => Verdict::No,
    }
}

/// A tag that has lost its partner.
fn stray(_: &str, look: &Look) -> Verdict {
    if look.trust == Trust::Chosen { Verdict::Begins(0, What::Nothing) } else { Verdict::No }
}

fn call(text: &str, look: &Look) -> Verdict {
    match look.follows(text, &["call:"]) {
        Match::No => Verdict::No,
        Match::More => Verdict::More,
        Match::Yes(length) => {
            let rest = text.get(length..).unwrap_or_default();
            let end = rest.find(['{', '<', ' ', '\n']);
            let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            match look.name(name, end.is_some()) {
                Match::No => Verdict::No,
                Match::More => Verdict::More,
                Match::Yes(_) => {
                    let body = Marked { name: name.to_owned(), at: 0, quoted: false };
                    Verdict::Begins(length + name.len(), What::Call(Box::new(body)))
                }
            }
        }
    }
}

/// A call whose only string has a mark at its end and quotes around the rest.
fn half_marked(written: &str) -> Option<Value> {
    let mut marks = written.matches(MARK);
    let quoted = written.replacen(&format!("'{MARK}"), "'", 1).replacen(&format!("\"{MARK}"), "\"", 1);
    (marks.next().is_some() && marks.next().is_none() && quoted.len() < written.len())
        .then(|| read(&quoted, BareWords::Strings))
        .flatten()
}

/// Reads a call up to its end, which counts only outside of marks.
struct Marked {
    name: String,
    at: usize,
    quoted: bool,
}

impl Body for Marked {
    fn step(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Step {
        let (length, whole) = loop {
            match find(text, self.at, &[MARK, CALL_END], end) {
                Found::Tag(at, CALL_END) if !self.quoted => break (at, at + CALL_END.len()),
                Found::Tag(at, tag) => {
                    self.quoted ^= tag == MARK;
                    self.at = at + tag.len();
                }
                Found::Half(at) => {
                    self.at = at;
                    return Step::More(0);
                }
                Found::Nothing if end == End::More => {
                    self.at = text.len();
                    return Step::More(0);
                }
                // Of a mark without a partner the end of the call is behind it all the same.
                Found::Nothing => match text.trim_end().strip_suffix(CALL_END) {
                    Some(before) => break (before.len(), text.len()),
                    None => break (text.len(), text.len()),
                },
            }
        };
        let written = text.get(..length).unwrap_or_default().trim();
        match read(written, BareWords::Strings).or_else(|| half_marked(written)) {
            Some(value) => emit(tools, &self.name, &value.to_string(), out),
            None if written.is_empty() && whole > length => emit(tools, &self.name, "{}", out),
            None => emit(tools, &self.name, &unfinished(written), out),
        }
        Step::Over(whole)
    }
}
