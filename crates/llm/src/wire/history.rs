//! Makes a conversation valid for providers that insist on order. Shared by
//! all wires: each writes the turns in its own words.
//!
//! They want the results of calls right behind the message that made them, one
//! for each, under ids that are unique. A conversation that was interrupted,
//! cut short or continued from another provider is not like that.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Content, Message, ModelRef, ToolCall, ToolSpec};
use serde_json::json;

use crate::catalog::ToolIdShape;
use crate::request::ModelRequest;

/// What a call is answered with if its result is nowhere.
const NO_RESULT: &str = "error: there is no result; the call was not run, or its result was lost";
/// Longer ids are refused by some.
const LONGEST_ID: usize = 40;
/// The length of ids for those who want exactly that.
const SHORT_ID: usize = 9;
/// The longest id made of letters, digits, `_` and `-`.
const LONGEST_WORD: usize = 64;

/// A message in the order and form that a provider accepts.
#[derive(Debug, PartialEq)]
pub(in crate::wire) enum Turn<'a> {
    User(&'a [Content]),
    Assistant {
        model: &'a ModelRef,
        parts: &'a [AssistantPart],
        calls: Vec<OutgoingCall<'a>>,
    },
    Result {
        id: String,
        content: ResultContent<'a>,
    },
    /// A result whose call is no longer in the conversation.
    Stray {
        tool: &'a str,
        content: &'a [Content],
    },
}

/// A call with the id that it has on its way out.
#[derive(Debug, PartialEq)]
pub(in crate::wire) struct OutgoingCall<'a> {
    pub id: String,
    pub call: &'a ToolCall,
}

/// What a call is answered with.
#[derive(Debug, PartialEq)]
pub(in crate::wire) enum ResultContent<'a> {
    Given { content: &'a [Content], is_error: bool },
    Missing(&'static str),
}

/// The conversation in valid order.
pub(in crate::wire) fn arrange(messages: &[Message], shape: ToolIdShape) -> Vec<Turn<'_>> {
    let results = results_by_call(messages);
    let called: HashSet<&CallId> = calls_of(messages).map(|call| &call.id).collect();
    let mut ids = OutgoingIds { shape, used: HashSet::new() };
    let mut turns = Vec::new();
    for message in messages {
        match message {
            Message::User { content } => turns.push(Turn::User(content)),
            Message::Assistant { model, parts } => {
                let calls: Vec<OutgoingCall> = calls_in(parts)
                    .map(|call| OutgoingCall { id: ids.unique(&call.wire_id), call })
                    .collect();
                let answers: Vec<Turn> = calls
                    .iter()
                    .map(|call| Turn::Result {
                        id: call.id.clone(),
                        content: results
                            .get(&call.call.id)
                            .map_or(ResultContent::Missing(NO_RESULT), |message| content_of(message)),
                    })
                    .collect();
                turns.push(Turn::Assistant { model, parts, calls });
                turns.extend(answers);
            }
            Message::Tool { call, tool, content, .. } if !called.contains(call) => {
                turns.push(Turn::Stray { tool, content });
            }
            Message::Tool { .. } => {}
        }
    }
    turns
}

fn results_by_call(messages: &[Message]) -> HashMap<&CallId, &Message> {
    let mut results = HashMap::new();
    for message in messages {
        if let Message::Tool { call, .. } = message {
            results.entry(call).or_insert(message);
        }
    }
    results
}

fn content_of(message: &Message) -> ResultContent<'_> {
    match message {
        Message::Tool { content, is_error, .. } => ResultContent::Given { content, is_error: *is_error },
        Message::User { .. } | Message::Assistant { .. } => ResultContent::Missing(NO_RESULT),
    }
}

fn calls_of(messages: &[Message]) -> impl Iterator<Item = &ToolCall> {
    messages.iter().flat_map(|message| match message {
        Message::Assistant { parts, .. } => calls_in(parts).collect(),
        Message::User { .. } | Message::Tool { .. } => Vec::new(),
    })
}

fn calls_in(parts: &[AssistantPart]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| match part {
        AssistantPart::Call(call) => Some(call),
        AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
    })
}

/// Gives out ids that no other call of the request has.
struct OutgoingIds {
    shape: ToolIdShape,
    used: HashSet<String>,
}

impl OutgoingIds {
    fn unique(&mut self, wire_id: &str) -> String {
        let limit = match self.shape {
            ToolIdShape::Any => LONGEST_ID,
            ToolIdShape::Alphanumeric9 => SHORT_ID,
            ToolIdShape::Word64 => LONGEST_WORD,
        };
        let base = self.shaped(wire_id, limit);
        let mut id = base.clone();
        let mut number = 2_usize;
        while !self.used.insert(id.clone()) {
            let suffix = match self.shape {
                ToolIdShape::Any | ToolIdShape::Word64 => format!("_{number}"),
                ToolIdShape::Alphanumeric9 => number.to_string(),
            };
            id = base.chars().take(limit.saturating_sub(suffix.len())).collect::<String>() + &suffix;
            number += 1;
        }
        id
    }

    fn shaped(&self, wire_id: &str, limit: usize) -> String {
        match self.shape {
            ToolIdShape::Any | ToolIdShape::Word64 if wire_id.is_empty() => "call".to_owned(),
            ToolIdShape::Any => wire_id.chars().take(limit).collect(),
            ToolIdShape::Word64 => wire_id.chars().take(limit).map(word_character).collect(),
            // What tells ids apart is usually at their end.
            ToolIdShape::Alphanumeric9 => {
                let kept: Vec<char> = wire_id.chars().filter(char::is_ascii_alphanumeric).collect();
                let tail: String = kept.iter().skip(kept.len().saturating_sub(limit)).collect();
                format!("{tail:0>limit$}")
            }
        }
    }
}

/// The tools of a request. A conversation with calls in it is refused by some if no tools are offered: then those that
/// were called stand in for themselves.
pub(in crate::wire) fn tools_for(request: &ModelRequest) -> Cow<'_, [ToolSpec]> {
    if !request.tools.is_empty() {
        return Cow::Borrowed(&request.tools);
    }
    let names: BTreeSet<String> =
        calls_of(&request.messages).map(|call| acceptable_name(&call.tool)).collect();
    let stand_in = |name| ToolSpec {
        name,
        description: "No longer available.".to_owned(),
        input_schema: json!({"type": "object"}),
    };
    Cow::Owned(names.into_iter().map(stand_in).collect())
}

/// A name of a tool that every provider takes back: models make up others, and one that is refused would spoil the
/// conversation for good.
pub(in crate::wire) fn acceptable_name(name: &str) -> String {
    let name: String = name.chars().take(LONGEST_WORD).map(word_character).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

fn word_character(character: char) -> char {
    if character.is_ascii_alphanumeric() || character == '-' { character } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(shape: ToolIdShape, wire_ids: &[&str]) -> Vec<String> {
        let mut ids = OutgoingIds { shape, used: HashSet::new() };
        wire_ids.iter().map(|id| ids.unique(id)).collect()
    }

    #[test]
    fn ids_are_unique_and_no_longer_than_accepted() {
        let long = "x".repeat(50);
        let given = ids(ToolIdShape::Any, &["a", "a", "", "", &long, &long, "functions.add:0"]);
        let shortened = "x".repeat(40);
        let numbered = "x".repeat(38) + "_2";
        assert_eq!(given, ["a", "a_2", "call", "call_2", &shortened, &numbered, "functions.add:0"]);
    }

    #[test]
    fn ids_of_nine_letters_and_digits_for_those_who_want_them() {
        let given =
            ids(ToolIdShape::Alphanumeric9, &["toolu_01CBhTTz95qkd9LJM", "c1", "c1", "", "abcdefghi"]);
        assert_eq!(given, ["95qkd9LJM", "0000000c1", "0000000c2", "000000000", "abcdefghi"]);
    }

    #[test]
    fn ids_of_word_characters_for_those_who_accept_no_others() {
        let long = "y".repeat(80);
        let given = ids(
            ToolIdShape::Word64,
            &["toolu_01-A", "functions.add:0", "functions.add.0", "", "\u{e9}", &long],
        );
        let shortened = "y".repeat(64);
        assert_eq!(given, ["toolu_01-A", "functions_add_0", "functions_add_0_2", "call", "_", &shortened]);
    }
}
