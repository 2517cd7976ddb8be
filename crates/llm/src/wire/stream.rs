//! From the bytes of an answer to events, whatever form the answer has.
//!
//! A stream was asked for, but a plain JSON body or a web page may come. The
//! first byte that is not blank tells them apart; content types lie. What else
//! begins is framed as the wire says.

use rein_http::HttpError;
use rein_http::sse;

use super::event_stream::Messages;
use super::{Decoder, Framing, Wire, json};
use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;

/// The largest body that is read whole.
const LONGEST_BODY: usize = 64 * 1024 * 1024;
/// How much of what is no stream is kept to be shown.
const LONGEST_HEAD: usize = 200;
/// How much of a web page is kept to be shown.
const LONGEST_PAGE: usize = 4 * 1024;

/// Decodes one answer from its bytes.
pub struct AnswerDecoder {
    decoder: Box<dyn Decoder>,
    framing: Framing,
    form: Form,
}

enum Form {
    /// Only blank bytes so far.
    Unknown,
    Events(Events),
    Messages(Messages),
    Body(Vec<u8>),
    Page(Vec<u8>),
}

/// A stream of events, or what looked like one.
#[derive(Default)]
struct Events {
    framing: sse::Decoder,
    /// The first bytes, to be shown if no event ever comes.
    head: Vec<u8>,
    any: bool,
}

impl AnswerDecoder {
    /// A decoder for one answer.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        Self { decoder: wire.decoder(), framing: wire.framing(), form: Form::Unknown }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if let Form::Unknown = self.form {
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return Ok(()),
                Some(b'{' | b'[') => self.form = Form::Body(Vec::new()),
                Some(b'<') => self.form = Form::Page(Vec::new()),
                Some(_) => {
                    self.form = match self.framing {
                        Framing::ServerSentEvents => Form::Events(Events::default()),
                        Framing::EventStream => Form::Messages(Messages::default()),
                    }
                }
            }
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Body(body) if body.len() + bytes.len() > LONGEST_BODY => {
                Err(HttpError::EventTooLarge { limit: LONGEST_BODY }.into())
            }
            Form::Body(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Messages(messages) => {
                messages.push(bytes);
                drain(messages, &mut *self.decoder, out)
            }
            Form::Page(page) => {
                page.extend(bytes.iter().take(LONGEST_PAGE.saturating_sub(page.len())));
                Ok(())
            }
            Form::Events(events) => {
                events.head.extend(bytes.iter().take(LONGEST_HEAD.saturating_sub(events.head.len())));
                let pushed = events.framing.push(bytes);
                events.drain(&mut *self.decoder, out)?;
                Ok(pushed?)
            }
        }
    }

    /// There are no more bytes.
    pub fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        match &mut self.form {
            Form::Unknown => Err(ModelError::new(ErrorKind::Cut, "the provider sent an empty answer")),
            Form::Body(body) => self.decoder.body(body, out),
            Form::Messages(messages) if messages.is_within() && !self.decoder.settled() => Err(json::cut()),
            Form::Messages(_) => self.decoder.finish(out),
            Form::Page(page) => Err(not_an_api(&String::from_utf8_lossy(page))),
            Form::Events(events) => {
                events.framing.finish();
                // The last event may have lost its end; then the stream was cut and not garbled.
                match events.drain(&mut *self.decoder, out) {
                    Err(error) if error.kind != ErrorKind::Protocol => Err(error),
                    Ok(()) if events.are_none() => Err(not_events(&events.head)),
                    Err(_) | Ok(()) => self.decoder.finish(out),
                }
            }
        }
    }

    /// Whether the answer is complete, but for trifles.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.decoder.settled()
    }

    /// Whether nothing that follows matters.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.decoder.ended()
    }
}

fn drain(
    messages: &mut Messages,
    decoder: &mut dyn Decoder,
    out: &mut Vec<ModelEvent>,
) -> Result<(), ModelError> {
    while !decoder.ended() {
        let Some(message) = messages.next()? else { break };
        decoder.push(&message, out)?;
    }
    Ok(())
}

impl Events {
    fn drain(&mut self, decoder: &mut dyn Decoder, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        while !decoder.ended() {
            let Some(event) = self.framing.next_event() else { break };
            self.any = true;
            decoder.push(&event, out)?;
        }
        Ok(())
    }

    /// Whether what came does not even begin like a stream of events.
    fn are_none(&self) -> bool {
        let head = String::from_utf8_lossy(&self.head);
        let head = head.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
        !self.any
            && ![":", "data", "event", "id", "retry"]
                .iter()
                .any(|field| head.starts_with(field) || field.starts_with(head))
    }
}

fn not_events(head: &[u8]) -> ModelError {
    let shown = String::from_utf8_lossy(head);
    let message =
        format!("the server answered with something that is not a model's answer: {}", shown.trim());
    ModelError::new(ErrorKind::Protocol, message)
}

fn not_an_api(page: &str) -> ModelError {
    let shown =
        crate::error::classify(None, &rein_http::Headers::default(), page, rein_protocol::Timestamp(0))
            .message;
    let shown: String = shown.chars().take(200).collect();
    ModelError::new(
        ErrorKind::Protocol,
        format!("the server answered with a web page instead of a model's answer: {shown}"),
    )
}
