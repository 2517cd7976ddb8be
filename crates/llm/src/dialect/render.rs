//! Writes tools, calls and results into a request, for a model that is to find
//! them in its text.
//!
//! Owns the rewriting and nothing of how it is sent: what comes out is a request
//! without tools that any wire can encode. Every call has its result right behind
//! it, and persons and models take turns: what insists on order gets it.

use std::collections::HashSet;

use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Content, Message, ToolCall, ToolInput, ToolSpec};
use serde_json::{Map, Value, json};

use super::Dialect;
use super::forms::{self, Form, WrittenCall, WrittenResult};
use crate::request::{ModelRequest, ToolChoice};

/// What a call is answered with if its result is nowhere.
const NO_RESULT: &str = "error: there is no result; the call was not run, or its result was lost";

/// The request with everything about tools in its text.
pub(crate) fn rendered(request: &ModelRequest, dialect: Dialect) -> ModelRequest {
    let form = forms::form(dialect);
    let mut system = request.system.clone();
    if !request.tools.is_empty() && request.tool_choice != ToolChoice::None {
        system.push(teaching(form, &request.tools));
    }
    ModelRequest {
        system,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        messages: Writer { form, messages: &request.messages, number: 0, written: Vec::new() }.write(),
        ..request.clone()
    }
}

fn teaching(form: &dyn Form, tools: &[ToolSpec]) -> String {
    let described: Vec<String> = tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema})
                .to_string()
        })
        .collect();
    format!("# Tools\n\n{}\n\n{}", described.join("\n"), form.teaching().trim_end())
}

struct Writer<'a> {
    form: &'static dyn Form,
    messages: &'a [Message],
    number: usize,
    written: Vec<Message>,
}

impl<'a> Writer<'a> {
    fn write(mut self) -> Vec<Message> {
        let mut called: HashSet<&CallId> = HashSet::new();
        for message in self.messages {
            match message {
                Message::User { content } => self.say(content.clone()),
                Message::Assistant { model, parts } => {
                    let calls: Vec<&'a ToolCall> = parts.iter().filter_map(as_call).collect();
                    called.extend(calls.iter().map(|call| &call.id));
                    let first = self.number;
                    let parts = self.parts(parts);
                    self.written.push(Message::Assistant { model: model.clone(), parts });
                    for (place, call) in calls.iter().enumerate() {
                        let content = self.result(call, first + place);
                        self.say(content);
                    }
                }
                Message::Tool { call, tool, content, .. } if !called.contains(call) => {
                    self.say(vec![Content::text(format!("The result of an earlier call of `{tool}`:"))]);
                    self.say(content.clone());
                }
                Message::Tool { .. } => {}
            }
        }
        self.written
    }

    /// What a person says, joined to what they said before.
    fn say(&mut self, more: Vec<Content>) {
        match self.written.last_mut() {
            Some(Message::User { content }) => content.extend(more),
            _ => self.written.push(Message::User { content: more }),
        }
    }

    /// What a model said, with its calls as it would write them.
    fn parts(&mut self, parts: &[AssistantPart]) -> Vec<AssistantPart> {
        let mut written = Vec::new();
        let mut calls: Vec<(&str, Map<String, Value>, usize)> = Vec::new();
        for part in parts {
            match part {
                AssistantPart::Call(call) => {
                    calls.push((&call.tool, arguments(&call.input), self.number));
                    self.number += 1;
                }
                AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => {
                    self.flush(&mut calls, &mut written);
                    written.push(part.clone());
                }
            }
        }
        self.flush(&mut calls, &mut written);
        written
    }

    fn flush(&self, calls: &mut Vec<(&str, Map<String, Value>, usize)>, written: &mut Vec<AssistantPart>) {
        if calls.is_empty() {
            return;
        }
        let as_written: Vec<WrittenCall> = calls
            .iter()
            .map(|(tool, arguments, number)| WrittenCall { tool, arguments, number: *number })
            .collect();
        written.push(AssistantPart::Text { text: self.form.calls(&as_written) });
        calls.clear();
    }

    fn result(&self, call: &ToolCall, number: usize) -> Vec<Content> {
        let given = self.messages.iter().find_map(|message| match message {
            Message::Tool { call: answered, content, is_error, .. } if *answered == call.id => {
                Some((content, *is_error))
            }
            Message::Tool { .. } | Message::User { .. } | Message::Assistant { .. } => None,
        });
        let (content, is_error) =
            given.map_or((&[][..], false), |(content, error)| (content.as_slice(), error));
        let texts: Vec<&str> = content
            .iter()
            .filter_map(|piece| match piece {
                Content::Text { text } => Some(text.as_str()),
                Content::Image { .. } => None,
            })
            .collect();
        let text = match (given.is_some(), is_error, texts.join("\n\n")) {
            (false, _, _) => NO_RESULT.to_owned(),
            (true, true, text) if !text.starts_with("error") => format!("error: {text}"),
            (true, _, text) if text.is_empty() => "(no output)".to_owned(),
            (true, _, text) => text,
        };
        let result = WrittenResult { tool: &call.tool, text: &text, number };
        let images = content.iter().filter(|piece| matches!(piece, Content::Image { .. })).cloned();
        std::iter::once(Content::text(self.form.result(&result))).chain(images).collect()
    }
}

fn as_call(part: &AssistantPart) -> Option<&ToolCall> {
    match part {
        AssistantPart::Call(call) => Some(call),
        AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
    }
}

/// Arguments as an object. What could not be read is not shown again as if it were right.
fn arguments(input: &ToolInput) -> Map<String, Value> {
    match input {
        ToolInput::Json { value: Value::Object(fields) } => fields.clone(),
        ToolInput::Json { .. } | ToolInput::Malformed { .. } => Map::new(),
    }
}
