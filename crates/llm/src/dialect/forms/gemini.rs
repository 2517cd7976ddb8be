//! Python in a fence of its own: Gemini, and the Gemmas before the fourth.

use super::{Form, WrittenCall, WrittenResult, python_arguments};
use crate::dialect::opening::{Closer, End, Look, Opening, Place, Trust, Verdict, What};
use crate::dialect::python_body::{Extent, PythonBody};

pub(super) struct Gemini;

impl Form for Gemini {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "```tool_code", place: Place::LineStart, begins: fence },
            Opening { tag: "```thinking\n", place: Place::LineStart, begins: thinking },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: Vec<String> = calls
            .iter()
            .map(|call| format!("print(default_api.{}({}))", call.tool, python_arguments(call.arguments)))
            .collect();
        format!("```tool_code\n{}\n```", written.join("\n"))
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!("```tool_outputs\n{}\n```", result.text)
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/gemini.md")
    }
}

fn fence(text: &str, look: &Look) -> Verdict {
    match text.split_once('\n') {
        Some((rest, _)) if rest.trim().is_empty() => {
            Verdict::Begins(rest.len() + 1, What::Call(PythonBody::new(Extent::Tags(&["```"]))))
        }
        None if text.trim().is_empty() && look.end == End::More => Verdict::More,
        Some(_) | None => Verdict::No,
    }
}

fn thinking(_: &str, look: &Look) -> Verdict {
    match look.trust {
        Trust::Chosen => Verdict::Begins(0, What::Reasoning(&[Closer::Eaten("```")])),
        Trust::Unmistakable => Verdict::No,
    }
}
