//! A conversation in which persons and models take turns, for providers that
//! insist on it: it begins with a person, neighbours of one role are one
//! message, and nothing is empty.

use serde_json::{Value, json};

/// What a conversation begins with whose first words are the model's, or are gone.
pub(super) const CONTINUED: &str = "(The conversation goes on.)";

/// Messages as they are added.
pub(super) struct Alternating {
    messages: Vec<(Role, Vec<Value>)>,
    /// Words as a block of the wire.
    text: fn(&str) -> Value,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Alternating {
    /// No messages yet.
    pub(super) fn new(text: fn(&str) -> Value) -> Self {
        Self { messages: Vec::new(), text }
    }

    /// Adds blocks, to the last message if it is of the same role.
    pub(super) fn add(&mut self, role: Role, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        if self.messages.is_empty() && role == Role::Assistant {
            self.messages.push((Role::User, vec![(self.text)(CONTINUED)]));
        }
        match self.messages.last_mut() {
            Some((same, content)) if *same == role => content.extend(blocks),
            _ => self.messages.push((role, blocks)),
        }
    }

    /// The messages.
    pub(super) fn finish(mut self) -> Vec<Value> {
        match self.messages.last_mut() {
            None => self.messages.push((Role::User, vec![(self.text)(CONTINUED)])),
            // Words that the model shall go on with must not end in a blank.
            Some((Role::Assistant, content)) => trim_end(content),
            Some((Role::User, _)) => {}
        }
        let message = |(role, content): (Role, Vec<Value>)| json!({"role": role.name(), "content": content});
        self.messages.into_iter().map(message).collect()
    }
}

fn trim_end(content: &mut [Value]) {
    if let Some(Value::String(text)) = content.last_mut().and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
}
