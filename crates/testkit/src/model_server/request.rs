//! A request as it came, and the conversation in it.

use serde_json::Value;

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// `POST`, `GET`, …
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// What follows the question mark; empty if there is none.
    pub query: String,
    /// Names in lower case, in the order of the request.
    pub headers: Vec<(String, String)>,
    /// The body as JSON; null if it is not JSON.
    pub body: Value,
    /// The body's bytes, without chunked framing.
    pub body_bytes: Vec<u8>,
    /// Every byte of the request as it came over the socket, head and body.
    pub raw: Vec<u8>,
    /// The conversation in the body, read by the wire that the path belongs to; empty for other paths.
    pub said: Vec<Said>,
    /// The names of the tools that the model is offered.
    pub tools: Vec<String>,
}

/// One message of the conversation in a request, whatever the wire.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Instructions.
    System(String),
    /// The person.
    User(String),
    /// The model.
    Assistant {
        /// Its words.
        text: String,
        /// Its calls.
        calls: Vec<SaidCall>,
    },
    /// The result of a call.
    Tool {
        /// The call's id.
        id: String,
        /// What the model is told.
        text: String,
    },
}

/// A call in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct SaidCall {
    /// Its id.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments as text.
    pub arguments: String,
}

impl RecordedRequest {
    /// A header's value by its name in any case; the first if there are several.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The model asked for; empty if none is named.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// How many messages of the assistant the conversation has.
    #[must_use]
    pub fn assistant_messages(&self) -> usize {
        self.said.iter().filter(|said| matches!(said, Said::Assistant { .. })).count()
    }

    /// The results of calls in the conversation: the call's id and the text.
    #[must_use]
    pub fn tool_results(&self) -> Vec<(&str, &str)> {
        let results = self.said.iter().filter_map(|said| match said {
            Said::Tool { id, text } => Some((id.as_str(), text.as_str())),
            _ => None,
        });
        results.collect()
    }

    /// The person's last words; empty if there are none.
    #[must_use]
    pub fn last_user_text(&self) -> &str {
        let texts = self.said.iter().rev().filter_map(|said| match said {
            Said::User(text) => Some(text.as_str()),
            _ => None,
        });
        texts.into_iter().next().unwrap_or_default()
    }

    /// All instructions of the request, joined by line ends.
    #[must_use]
    pub fn system_text(&self) -> String {
        let texts = self.said.iter().filter_map(|said| match said {
            Said::System(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<&str>>().join("\n")
    }

    /// The bytes of the request contain this text anywhere, head or body.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.raw).contains(text)
    }
}
