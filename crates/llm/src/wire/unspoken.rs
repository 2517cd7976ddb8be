//! A wire that has its name and is not spoken: whoever asks for it is told so.

use rein_http::sse::SseEvent;

use super::{Codec, Decoder, EncodedRequest};
use crate::catalog::Quirks;
use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::request::ModelRequest;

/// The wire of this name.
pub(super) struct Unspoken(pub(super) &'static str);

impl Codec for Unspoken {
    fn encode(&self, _: &ModelRequest, _: &Quirks) -> Result<EncodedRequest, ModelError> {
        Err(refusal(self.0))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Deaf(self.0))
    }
}

struct Deaf(&'static str);

impl Decoder for Deaf {
    fn push(&mut self, _: &SseEvent, _: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        Err(refusal(self.0))
    }

    fn finish(&mut self, _: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        Err(refusal(self.0))
    }

    fn body(&mut self, _: &[u8], _: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        Err(refusal(self.0))
    }

    fn settled(&self) -> bool {
        false
    }

    fn ended(&self) -> bool {
        false
    }
}

fn refusal(name: &str) -> ModelError {
    ModelError::new(ErrorKind::BadRequest, format!("this version of rein does not speak `{name}`"))
        .with_hint("choose a provider that speaks another protocol")
}
