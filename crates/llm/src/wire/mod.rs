//! Wires: how a provider wants to be asked and how it answers.
//!
//! A wire is a codec without I/O: a request becomes a path, headers and bytes,
//! events of a stream become [`ModelEvent`]s. It holds no socket and no secret,
//! and which provider it talks to it knows only as [`Quirks`]. A new wire is a
//! module here with a [`Codec`], a variant of [`Wire`] and its line in
//! `Wire::codec`. What wires have in common: `history` makes a conversation
//! valid, `alternating` gives it turns, `blocks` numbers the parts of answers that come as blocks, `json`
//! reads what providers send, `image` finds the bytes of pictures, `schema` says
//! what arguments look like in the words that a provider knows.

mod alternating;
mod anthropic;
mod bedrock;
mod blocks;
mod event_stream;
mod google;
mod history;
mod image;
mod json;
mod opaque;
mod openai_chat;
mod openai_responses;
mod response;
mod schema;
mod stream;

use bytes::Bytes;
use rein_http::sse::SseEvent;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Quirks;
use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::request::ModelRequest;

pub use response::{Decoded, DecodedCall, Shape, decode_response};
pub use stream::AnswerDecoder;

/// A protocol that providers speak. Azure is none of its own: it is OpenAI's
/// under other paths and with another header for the key, which is data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Wire {
    /// OpenAI's chat completions, which most providers speak with an accent.
    #[default]
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI's responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic's messages.
    #[serde(rename = "anthropic-messages")]
    Anthropic,
    /// Google's generateContent, of Gemini and of Vertex.
    #[serde(rename = "google-generate")]
    Google,
    /// Amazon Bedrock's Converse.
    #[serde(rename = "bedrock-converse")]
    Bedrock,
}

impl Wire {
    /// Every wire that is spoken.
    pub const ALL: [Wire; 5] =
        [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic, Wire::Google, Wire::Bedrock];

    /// The word that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic-messages",
            Self::Google => "google-generate",
            Self::Bedrock => "bedrock-converse",
        }
    }

    /// The wire with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }

    /// A request for a streamed answer. The same request gives the same bytes.
    pub fn encode(self, request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
        self.codec().encode(request, quirks)
    }

    /// A decoder for one answer.
    #[must_use]
    pub fn decoder(self) -> Box<dyn Decoder> {
        self.codec().decoder()
    }

    /// How events are told apart in the bytes of a stream.
    #[must_use]
    pub fn framing(self) -> Framing {
        self.codec().framing()
    }

    /// Where a provider lists its models, behind its base address.
    #[must_use]
    pub fn models_path(self) -> &'static str {
        self.codec().models_path()
    }

    /// Headers that go with every request.
    #[must_use]
    pub fn standing_headers(self) -> &'static [(&'static str, &'static str)] {
        self.codec().standing_headers()
    }

    fn codec(self) -> &'static dyn Codec {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::OpenAiResponses => &openai_responses::OpenAiResponses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Google => &google::Google,
            Self::Bedrock => &bedrock::Bedrock,
        }
    }
}

/// What a wire is made of.
trait Codec: Sync {
    /// A request for a streamed answer. The same request gives the same bytes.
    fn encode(&self, request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError>;

    /// A decoder for one answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// How events are told apart in the bytes of a stream.
    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    /// Where a provider lists its models, behind its base address.
    fn models_path(&self) -> &'static str {
        "/models"
    }

    /// Headers that go with every request, also with those that ask no model.
    fn standing_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// How events are told apart in the bytes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Lines of text.
    ServerSentEvents,
    /// Amazon's binary messages, each with a checksum.
    EventStream,
}

/// A request as it goes out, but for the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRequest {
    /// What is appended to the base address of a provider, with a query if there is one.
    pub path: String,
    /// Headers of the wire, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl EncodedRequest {
    /// A body of JSON, with the headers for an answer in server-sent events.
    fn json(path: String, body: &Value) -> Result<Self, ModelError> {
        let body = serde_json::to_vec(body).map(Bytes::from).map_err(|error| {
            ModelError::new(ErrorKind::BadRequest, format!("the request cannot be written: {error}"))
        })?;
        let headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "text/event-stream, application/json".to_owned()),
        ];
        Ok(Self { path, headers, body })
    }

    /// With one more header, or another value for one.
    fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
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
