//! Protocols that the server speaks, one file each. A new one is a file with
//! a [`Wire`] and its name in [`WIRES`].

mod anthropic;
mod google;
mod openai_chat;
mod openai_responses;

use serde_json::Value;

use super::delta::Delta;
use super::request::{RecordedRequest, Said};
use super::sse::SseWriter;
use super::turn::{FinishWord, Piece, TokenCounts, Turn, UsagePlace};

static WIRES: [&dyn Wire; 4] =
    [&openai_chat::OpenAiChat, &anthropic::Anthropic, &openai_responses::OpenAiResponses, &google::Google];

/// The wire that a request belongs to, if it asks for an answer.
pub(crate) fn of(request: &RecordedRequest) -> Option<&'static dyn Wire> {
    WIRES.into_iter().find(|wire| wire.serves(&request.method, &request.path))
}

/// A protocol: how its requests are read and how a turn is said in it.
pub(crate) trait Wire: Send + Sync {
    /// Whether such a request asks for an answer on this wire.
    fn serves(&self, method: &str, path: &str) -> bool;

    /// Whether the answer is to be streamed.
    fn delivery(&self, request: &RecordedRequest) -> Delivery;

    /// Whether the request asks for a stream's usage.
    fn asks_for_usage(&self, body: &Value) -> bool;

    /// The conversation in a request. What it does not understand it leaves out.
    fn conversation(&self, body: &Value) -> Vec<Said>;

    /// The names of the tools in a request.
    fn tools(&self, body: &Value) -> Vec<String>;

    /// What renders one answer as events.
    fn encoder<'a>(&self, reply: &'a Reply<'a>) -> Box<dyn Encoder + Send + 'a>;

    /// An answer that is not streamed.
    fn whole(&self, reply: &Reply<'_>) -> Value;

    /// An error.
    fn error(&self, status: u16, message: &str) -> Value;
}

/// Renders one answer as events.
pub(crate) trait Encoder {
    /// What comes before the first delta.
    fn open(&mut self, sse: &mut SseWriter);
    /// One delta; never data, raw bytes or a gate.
    fn delta(&mut self, delta: &Delta<'_>, sse: &mut SseWriter);
    /// What comes after the last.
    fn close(&mut self, sse: &mut SseWriter);
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Delivery {
    Stream,
    Whole,
}

/// What a wire knows of the answer it renders.
pub(crate) struct Reply<'a> {
    pub(crate) turn: &'a Turn,
    /// Which answer of the server it is.
    pub(crate) number: usize,
    /// The model that was asked for.
    pub(crate) model: String,
    /// One for each call.
    pub(crate) call_ids: Vec<String>,
    pub(crate) usage_asked: bool,
}

impl Reply<'_> {
    /// The word for how it ended.
    pub(crate) fn finish<'b>(&'b self, with_calls: &'b str, without: &'b str) -> Option<&'b str> {
        match &self.turn.finish {
            FinishWord::Usual if self.turn.calls() > 0 => Some(with_calls),
            FinishWord::Usual => Some(without),
            FinishWord::Word(word) => Some(word),
            FinishWord::Absent => None,
        }
    }

    /// The usage to send with the finish word.
    pub(crate) fn usage_with_finish(&self) -> Option<TokenCounts> {
        self.turn.usage.filter(|_| self.turn.usage_place == UsagePlace::WithFinish)
    }

    /// The usage to send on its own.
    pub(crate) fn usage_alone(&self) -> Option<TokenCounts> {
        self.turn.usage.filter(|_| match self.turn.usage_place {
            UsagePlace::IfAsked => self.usage_asked,
            UsagePlace::Always => true,
            UsagePlace::WithFinish => false,
        })
    }

    /// All text of the answer, and all reasoning.
    pub(crate) fn words(&self) -> (String, String) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        for piece in self.turn.pieces() {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Reasoning(words) => reasoning.push_str(words),
                Piece::Call { .. } | Piece::Data(_) | Piece::Raw(_) | Piece::Gate(_) => {}
            }
        }
        (text, reasoning)
    }

    /// The calls of the answer: id, tool, arguments.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let calls = self.turn.pieces().iter().filter_map(|piece| match piece {
            Piece::Call { tool, arguments, .. } => Some((tool.as_str(), arguments.as_str())),
            _ => None,
        });
        self.call_ids.iter().zip(calls).map(|(id, (tool, arguments))| (id.as_str(), tool, arguments))
    }
}
