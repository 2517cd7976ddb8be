//! Google's generateContent, of Gemini and of Vertex.
//!
//! Encoding: `encode` writes the request, `conversation` its contents.
//! Decoding: `decode` reads chunks and bodies, `plain` the commonest chunk,
//! `parts` what they consist of, `partial` arguments that come bit by bit;
//! `sealed` says how signatures are kept, `tally` counts tokens.

mod conversation;
mod decode;
mod encode;
mod partial;
mod parts;
mod plain;
mod sealed;
mod tally;

use crate::catalog::Quirks;
use crate::error::ModelError;
use crate::request::ModelRequest;
use crate::wire::{Codec, Decoder, EncodedRequest};

/// The codec.
pub(super) struct Google;

impl Codec for Google {
    fn encode(&self, request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
        encode::encode(request, quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ContentDecoder::default())
    }

    fn models_path(&self) -> &'static str {
        "/v1beta/models"
    }
}
