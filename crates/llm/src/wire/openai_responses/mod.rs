//! OpenAI's responses, and what other servers make of it.
//!
//! Nothing is left with the provider: every request holds the whole
//! conversation, and reasoning comes back as the provider sealed it. Encoding:
//! `encode` writes the request, `conversation` its input. Decoding: `decode`
//! reads events and bodies, `items` what an answer consists of, `plain` the
//! commonest event.

mod conversation;
mod decode;
mod encode;
mod items;
mod plain;

use crate::catalog::Quirks;
use crate::error::ModelError;
use crate::request::ModelRequest;
use crate::wire::{Codec, Decoder, EncodedRequest};

/// The codec.
pub(super) struct OpenAiResponses;

impl Codec for OpenAiResponses {
    fn encode(&self, request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
        encode::encode(request, quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ResponseDecoder::default())
    }
}
