//! Keys and values in tags of their own: GLM.

use super::{Form, WrittenCall, WrittenResult, tag_text};
use crate::dialect::disorder::Ordered;
use crate::dialect::opening::{End, Look, Match, Opening, Place, Verdict, What, follows};
use crate::dialect::parameters::{Opened, Padding, Parameters, Syntax, closes};

pub(super) struct Glm;

static SYNTAX: Syntax =
    Syntax { open, close, ends: &["</tool_call>"], stops: &["<tool_call>"], padding: Padding::None };

impl Form for Glm {
    fn openings(&self) -> &'static [Opening] {
        &[Opening { tag: "<tool_call>", place: Place::Anywhere, begins: call }]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: Vec<String> = calls
            .iter()
            .map(|call| {
                let arguments: String = call
                    .arguments
                    .iter()
                    .map(|(name, value)| {
                        format!("<arg_key>{name}</arg_key>\n<arg_value>{}</arg_value>\n", tag_text(value))
                    })
                    .collect();
                format!("<tool_call>{}\n{arguments}</tool_call>", call.tool)
            })
            .collect();
        written.join("\n")
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("<tool_response>\n{}\n</tool_response>", result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/glm.md")
    }
}

fn call(text: &str, look: &Look) -> Verdict {
    let rest = text.trim_start();
    let blanks = text.len() - rest.len();
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '<' | '{' | '[' | '`'));
    let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    match look.name(name, end.is_some()) {
        Match::No => return Verdict::No,
        Match::More => return Verdict::More,
        Match::Yes(_) => {}
    }
    let length = blanks + name.len();
    let behind = text.get(length..).unwrap_or_default();
    let begun = match look.follows(behind, &["<arg_key>", "<arg_value>", "</tool_call>"]) {
        Match::No => untagged_key(behind, look.end),
        other => other,
    };
    match begun {
        Match::Yes(_) => {
            Verdict::Begins(length, What::Call(Ordered::new(name, Parameters::new(name, &SYNTAX))))
        }
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}

/// A key that has lost the tag that begins it.
fn untagged_key(text: &str, end: End) -> Match {
    const LONGEST: usize = 100;
    let rest = text.trim_start();
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let length = rest.find(|c: char| !is_key(c)).unwrap_or(rest.len());
    if length == 0 || length > LONGEST || rest.len() == text.len() {
        return Match::No;
    }
    match rest.get(length..).unwrap_or_default() {
        "" if end == End::More => Match::More,
        behind => follows(behind, &["</arg_key>"], end),
    }
}

fn open(text: &str, end: End) -> Opened {
    match key(text, end) {
        Match::No => Opened::No,
        Match::More => Opened::More,
        Match::Yes(length) => {
            let name =
                text.get(..length).and_then(|tags| tags.split("</arg_key>").next()).unwrap_or_default();
            let name = name.trim_start().strip_prefix("<arg_key>").unwrap_or_default().trim();
            Opened::Parameter(name.to_owned(), length, None)
        }
    }
}

/// A key and the tag that begins its value, which some forget.
fn key(text: &str, end: End) -> Match {
    const LONGEST: usize = 200;
    let Match::Yes(opened) = follows(text, &["<arg_key>"], end) else {
        return follows(text, &["<arg_key>"], end);
    };
    let rest = text.get(opened..).unwrap_or_default();
    let Some(length) = rest.find("</arg_key>") else {
        let may_come = end == End::More && rest.len() < LONGEST;
        return if may_come { Match::More } else { Match::No };
    };
    let key_end = opened + length + "</arg_key>".len();
    let behind = text.get(key_end..).unwrap_or_default();
    match follows(behind, &["<arg_value>"], end) {
        Match::Yes(value) if length < LONGEST => Match::Yes(key_end + value),
        Match::More => Match::More,
        _ => Match::No,
    }
}

/// A value ends with its tag, with the wrong tag, or without one where the next key or the end of the call is.
fn close(text: &str, end: End) -> Match {
    const NEXT: &[&str] = &["<arg_key>", "</tool_call>"];
    let doubled = closes(text, &["</arg_key></arg_value>", "</arg_value></arg_value>"], NEXT, end);
    let proper = closes(text, &["</arg_value>", "</arg_key>"], NEXT, end);
    let missing = match key(text, end) {
        Match::Yes(_) => Match::Yes(0),
        other => other,
    };
    let ended = match closes(text, &["</tool_call>"], &["<tool_call>"], end) {
        Match::Yes(_) => Match::Yes(0),
        other => other,
    };
    let found = [doubled, proper, missing, ended];
    let sure = found.iter().copied().find(|found| matches!(found, Match::Yes(_)));
    sure.unwrap_or(if found.contains(&Match::More) { Match::More } else { Match::No })
}
