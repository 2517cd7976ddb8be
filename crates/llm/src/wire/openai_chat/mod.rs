//! OpenAI's chat completions, and what other servers make of it.
//!
//! Encoding: [`encode`](encode::encode) writes the request. Decoding: `decode` reads chunks and bodies, `plain` the commonest chunk,
//! `calls` keeps tool calls apart, `think` finds reasoning inside of text,
//! `tally` counts tokens.

mod calls;
mod decode;
mod encode;
mod plain;
mod scan;
pub(super) mod tally;
mod think;

use crate::catalog::Quirks;
use crate::error::ModelError;
use crate::request::ModelRequest;
use crate::wire::{Codec, Decoder, EncodedRequest};

/// The codec.
pub(super) struct OpenAiChat;

impl Codec for OpenAiChat {
    fn encode(&self, request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
        encode::encode(request, quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ChatDecoder::default())
    }
}
