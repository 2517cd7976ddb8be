//! Amazon Bedrock's Converse.
//!
//! Encoding: `encode` writes the request, `conversation` its messages.
//! Decoding: `decode` reads messages of the stream and whole bodies. Framing
//! is the business of `event_stream`, signing of whoever sends the request.

mod conversation;
mod decode;
mod encode;

use crate::catalog::Quirks;
use crate::error::ModelError;
use crate::request::ModelRequest;
use crate::wire::{Codec, Decoder, EncodedRequest, Framing};

/// The codec.
pub(super) struct Bedrock;

impl Codec for Bedrock {
    fn encode(&self, request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
        encode::encode(request, quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ConverseDecoder::default())
    }

    fn framing(&self) -> Framing {
        Framing::EventStream
    }
}
