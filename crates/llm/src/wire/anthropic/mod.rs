//! Anthropic's messages.
//!
//! Encoding: `encode` writes the request, `conversation` its messages, `marks`
//! says what is to be cached. Decoding: `decode` reads events and bodies,
//! `plain` the commonest event, `kept` holds blocks that only the provider
//! understands, `tally` counts tokens.

mod conversation;
mod decode;
mod encode;
mod kept;
mod marks;
mod plain;
mod tally;

use crate::catalog::Quirks;
use crate::error::ModelError;
use crate::request::ModelRequest;
use crate::wire::{Codec, Decoder, EncodedRequest};

/// The codec.
pub(super) struct Anthropic;

impl Codec for Anthropic {
    fn encode(&self, request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
        encode::encode(request, quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::MessageDecoder::default())
    }

    fn models_path(&self) -> &'static str {
        "/v1/models"
    }

    fn standing_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }
}
