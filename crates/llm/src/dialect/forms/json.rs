//! JSON in a fence, or by itself: what models write who were shown no better.

use super::{Form, WrittenCall, WrittenResult, json_calls};
use crate::dialect::json_body::JsonBody;
use crate::dialect::json_head;
use crate::dialect::opening::{End, Look, Match, Opening, Place, Verdict, What};

pub(super) struct Json;

/// What a fence with a call in it is called.
const LANGUAGES: [&str; 8] =
    ["json", "", "tool_call", "tool_calls", "tool", "JSON", "json5", "function_call"];

impl Form for Json {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "```", place: Place::LineStart, begins: fenced },
            Opening { tag: "{", place: Place::LineStart, begins: bare },
            Opening { tag: "[", place: Place::LineStart, begins: bare },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        json_calls(calls, "```json\n", "\n```")
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("Result of `{}`:\n{}", result.tool, result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/json.md")
    }
}

fn fenced(text: &str, look: &Look) -> Verdict {
    let Some((language, inside)) = text.split_once('\n') else {
        let begun = LANGUAGES.iter().any(|language| language.starts_with(text.trim()));
        return if begun && look.end == End::More { Verdict::More } else { Verdict::No };
    };
    if !LANGUAGES.contains(&language.trim()) {
        return Verdict::No;
    }
    match json_head::call(inside, look) {
        Match::Yes(_) => Verdict::Begins(language.len() + 1, What::Call(JsonBody::calls(&["```"]))),
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}

fn bare(_: &str, look: &Look) -> Verdict {
    match json_head::call(look.from, look) {
        Match::Yes(_) => Verdict::BeginsWithTag(What::Call(JsonBody::calls(&[]))),
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}
