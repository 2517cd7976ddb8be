//! Wires: how a provider wants to be asked and how it answers.
//!
//! A wire is a codec without I/O: a request becomes bytes, events of a stream
//! become [`ModelEvent`]s. It holds no socket and no secret, and which
//! provider it talks to it knows only as [`Quirks`]. A new wire is a module
//! here and a variant of [`Wire`].

mod openai_chat;
mod response;
mod stream;

use bytes::Bytes;
use rein_http::sse::SseEvent;
use serde::{Deserialize, Serialize};

use crate::catalog::Quirks;
use crate::error::ModelError;
use crate::event::ModelEvent;
use crate::request::ModelRequest;

pub use response::{Decoded, DecodedCall, Shape, decode_response};
pub use stream::AnswerDecoder;

/// A protocol that providers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Wire {
    /// OpenAI's chat completions, which most providers speak with an accent.
    #[default]
    #[serde(rename = "openai-chat")]
    OpenAiChat,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Wire; 1] = [Wire::OpenAiChat];

    /// The word that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
        }
    }

    /// The wire with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }

    /// What is appended to the base address of a provider to ask a model.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenAiChat => "/chat/completions",
        }
    }

    /// A request for a streamed answer. The same request gives the same bytes.
    pub fn encode(self, request: &ModelRequest, quirks: &Quirks) -> Result<Bytes, ModelError> {
        match self {
            Self::OpenAiChat => openai_chat::encode(request, quirks),
        }
    }

    /// A decoder for one answer.
    #[must_use]
    pub fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Self::OpenAiChat => Box::new(openai_chat::ChatDecoder::default()),
        }
    }
}

/// Turns one answer into events.
///
/// Contract for implementers: what is decoded is appended to `out`, also if an
/// error follows it; nothing that arrived is lost. `Finished` is emitted once,
/// after everything else. After an error or `Finished` nothing more is decoded.
pub trait Decoder: Send {
    /// Takes the next event of a stream.
    fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError>;

    /// The stream is over. An answer that was not complete is an error.
    fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError>;

    /// Takes a whole answer that was not streamed.
    fn body(&mut self, body: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelError>;

    /// Whether the answer is complete and only trifles may follow, such as
    /// usage. A stream that breaks off from here on is not an error.
    fn settled(&self) -> bool;

    /// Whether `Finished` was emitted: nothing that follows matters.
    fn ended(&self) -> bool;
}
