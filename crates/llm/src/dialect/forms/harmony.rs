//! Messages with channels and recipients: Harmony, which OpenAI's models think
//! in, as it is and as it spills into text without its brackets.

use super::{Form, WrittenCall, WrittenResult};
use crate::dialect::json_body::JsonBody;
use crate::dialect::leak;
use crate::dialect::opening::{Closer, End, Look, Opening, Place, Trust, Verdict, What};

pub(super) struct Harmony;

const CHANNELS: [&str; 3] = ["analysis", "commentary", "final"];
const CALL_ENDS: &[&str] = &["<|call|>", "<|end|>", "<|return|>"];
const REASONING_ENDS: &[Closer] = &[
    Closer::Eaten("<|end|>"),
    Closer::Eaten("<|return|>"),
    Closer::Kept("<|start|>"),
    Closer::Kept("<|channel|>"),
];

impl Form for Harmony {
    fn openings(&self) -> &'static [Opening] {
        &[
            Opening { tag: "<|start|>", place: Place::Anywhere, begins: header },
            Opening { tag: "<|channel|>", place: Place::Anywhere, begins: header },
            Opening { tag: "<|end|>", place: Place::Anywhere, begins: message_end },
            Opening { tag: "<|return|>", place: Place::Anywhere, begins: message_end },
            Opening { tag: "<|call|>", place: Place::Anywhere, begins: message_end },
            Opening { tag: " to=functions.", place: Place::Anywhere, begins: leak::begins },
        ]
    }

    fn calls(&self, calls: &[WrittenCall]) -> String {
        let written: Vec<String> = calls
            .iter()
            .map(|call| {
                let arguments = serde_json::json!(call.arguments);
                format!(
                    "<|start|>assistant<|channel|>commentary to=functions.{} <|constrain|>json<|message|>{arguments}<|call|>",
                    call.tool
                )
            })
            .collect();
        written.concat()
    }

    fn result(&self, result: &WrittenResult) -> String {
        format!(
            "<|start|>functions.{} to=assistant<|channel|>commentary<|message|>{}<|end|>",
            result.tool, result.text
        )
    }

    fn teaching(&self) -> &'static str {
        include_str!("../teach/harmony.md")
    }
}

/// What a message is, from its header.
fn header(text: &str, look: &Look) -> Verdict {
    const LONGEST: usize = 300;
    const MESSAGE: &str = "<|message|>";
    let Some((head, _)) = text.split_once(MESSAGE) else {
        let may_come = look.end == End::More && text.len() < LONGEST;
        return if may_come { Verdict::More } else { Verdict::No };
    };
    if head.len() > LONGEST {
        return Verdict::No;
    }
    let length = head.len() + MESSAGE.len();
    let words: Vec<&str> = head
        .split(|c: char| c.is_whitespace() || c == '<' || c == '>' || c == '|')
        .filter(|word| !word.is_empty())
        .collect();
    let channel = words.iter().find(|word| CHANNELS.contains(word));
    if look.trust == Trust::Unmistakable && channel.is_none() {
        return Verdict::No;
    }
    let recipient = words.iter().find_map(|word| word.strip_prefix("to=")).filter(|to| *to != "assistant");
    match (recipient, channel) {
        (Some(name), _) if look.accepts(name) => {
            Verdict::Begins(length, What::Call(JsonBody::named(name, CALL_ENDS)))
        }
        (_, Some(&"analysis")) => Verdict::Begins(length, What::Reasoning(REASONING_ENDS)),
        _ => Verdict::Begins(length, What::Section),
    }
}

fn message_end(_: &str, look: &Look) -> Verdict {
    match (look.section, look.trust) {
        (true, _) => Verdict::Begins(0, What::SectionEnd),
        (false, Trust::Chosen) => Verdict::Begins(0, What::Nothing),
        (false, Trust::Unmistakable) => Verdict::No,
    }
}
