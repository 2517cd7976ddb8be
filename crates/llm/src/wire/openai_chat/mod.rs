//! OpenAI's chat completions, and what other servers make of it.
//!
//! Encoding: [`encode`](encode::encode) writes the request, `history` makes a
//! conversation valid for it. Decoding: `decode` reads chunks and bodies, `plain` the commonest chunk,
//! `calls` keeps tool calls apart, `think` finds reasoning inside of text,
//! `tally` counts tokens.

mod calls;
mod decode;
mod encode;
mod history;
mod plain;
mod scan;
mod tally;
mod think;

pub(super) use decode::ChatDecoder;
pub(super) use encode::encode;
