//! Calls as elements: Anthropic's older way, which DeepSeek's newest resembles.

use super::{Form, WrittenCall, WrittenResult, tag_text};
use crate::dialect::opening::{End, Look, Match, Opening, Place, Verdict, What, follows};
use crate::dialect::parameters::{Opened, Padding, Parameters, Said, Syntax, closes, quoted_name};

pub(super) struct AnthropicXml;

const CALLS: &[&str] = &["<invoke name=", "<antml:invoke name="];

static SYNTAX: Syntax = Syntax {
    open,
    close,
    ends: &["</invoke>", "</antml:invoke>"],
    stops: &[
        "</minimax:tool_call>",
        "</tool_call>",
        "</function_calls>",
        "</antml:function_calls>",
        "<invoke name=",
        "<antml:invoke name=",
    ],
    padding: Padding::None,
};

impl Form for AnthropicXml {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "<function_calls>", place: Place::Anywhere, begins: section },
            Opening { tag: "<antml:function_calls>", place: Place::Anywhere, begins: section },
            Opening { tag: "</function_calls>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "</antml:function_calls>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "<minimax:tool_call>", place: Place::Anywhere, begins: section },
            Opening { tag: "</minimax:tool_call>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "<tool_call>", place: Place::Anywhere, begins: section },
            Opening { tag: "</tool_call>", place: Place::Anywhere, begins: section_end },
            Opening { tag: "<invoke name=", place: Place::Anywhere, begins: |t, l| invoked(t, l, &SYNTAX) },
            Opening {
                tag: "<antml:invoke name=",
                place: Place::Anywhere,
                begins: |t, l| invoked(t, l, &SYNTAX),
            },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: String = calls
            .iter()
            .map(|call| {
                let parameters: String = call
                    .arguments
                    .iter()
                    .map(|(name, value)| {
                        format!("<parameter name=\"{name}\">{}</parameter>\n", tag_text(value))
                    })
                    .collect();
                format!("<invoke name=\"{}\">\n{parameters}</invoke>\n", call.tool)
            })
            .collect();
        format!("<function_calls>\n{written}</function_calls>")
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!(
            "<function_results>\n<result>\n<tool_name>{}</tool_name>\n<stdout>{}</stdout>\n</result>\n</function_results>",
            result.tool, result.text
        )
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/anthropic-xml.md")
    }
}

fn section(text: &str, look: &Look) -> Verdict {
    match look.follows(text, CALLS) {
        Match::Yes(length) => match invoked(text.get(length..).unwrap_or_default(), look, &SYNTAX) {
            Verdict::Begins(..) | Verdict::BeginsWithTag(_) => Verdict::Begins(0, What::Section),
            Verdict::More => Verdict::More,
            Verdict::No => Verdict::No,
        },
        Match::More => Verdict::More,
        Match::No => Verdict::No,
    }
}

fn section_end(_: &str, look: &Look) -> Verdict {
    if look.section { Verdict::Begins(0, What::SectionEnd) } else { Verdict::No }
}

/// A call from its name on.
pub(super) fn invoked(text: &str, look: &Look, syntax: &'static Syntax) -> Verdict {
    match quoted_name(text) {
        Some((name, length)) if look.accepts(name) => {
            Verdict::Begins(length, What::Call(Parameters::new(name, syntax)))
        }
        Some(_) => Verdict::No,
        None => {
            let begun = text.trim_start_matches(['"', '\'']).split(['"', '\'']).next().unwrap_or_default();
            let begins = text.is_empty() || text.starts_with(['"', '\'']);
            if begins && look.end == End::More && look.may_accept(begun) {
                Verdict::More
            } else {
                Verdict::No
            }
        }
    }
}

fn open(text: &str, end: End) -> Opened {
    named_parameter(text, &["<parameter name=", "<antml:parameter name="], end)
}

/// A parameter whose tag names it, and perhaps says whether it is a string.
pub(super) fn named_parameter(text: &str, tags: &[&str], end: End) -> Opened {
    match follows(text, tags, end) {
        Match::No => Opened::No,
        Match::More => Opened::More,
        Match::Yes(length) => match text.get(length..).and_then(quoted_name) {
            Some((name, tag)) => {
                let attributes = text.get(length + name.len()..length + tag).unwrap_or_default();
                let said =
                    match (attributes.contains("string=\"true\""), attributes.contains("string=\"false\"")) {
                        (true, _) => Some(Said::String),
                        (false, true) => Some(Said::Other),
                        (false, false) => None,
                    };
                Opened::Parameter(name.to_owned(), length + tag, said)
            }
            None => Opened::More,
        },
    }
}

fn close(text: &str, end: End) -> Match {
    const NEXT: &[&str] = &[
        "<parameter name=",
        "<antml:parameter name=",
        "</invoke>",
        "</minimax:tool_call>",
        "</tool_call>",
        "</antml:invoke>",
        "</function_calls>",
        "</antml:function_calls>",
    ];
    closes(text, &["</parameter>", "</antml:parameter>"], NEXT, end)
}
