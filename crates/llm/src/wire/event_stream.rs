//! Frames Amazon's binary event streams, without any I/O.
//!
//! A message is a prelude of two lengths and a checksum, headers, a payload
//! and a checksum of everything. Bytes go in as they arrive, split anywhere;
//! messages come out whole and checked. Messages that are exceptions come out
//! as the errors that they are, with the provider's words.

use rein_http::sse::SseEvent;
use rein_http::{Headers, HttpError};
use rein_protocol::Timestamp;

use crate::error::{ErrorKind, ModelError, classify};

const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;
/// The largest message that is accepted; Amazon's own limit is smaller.
const LONGEST: usize = 64 * 1024 * 1024;

/// Turns bytes into messages.
#[derive(Debug, Default)]
pub(super) struct Messages {
    held: Vec<u8>,
    /// How much of `held` was read.
    read: usize,
}

impl Messages {
    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        // What was read is dropped when new bytes come, and not for each message.
        self.held.drain(..self.read);
        self.read = 0;
        self.held.extend_from_slice(bytes);
    }

    /// The next whole message: its type and its payload.
    pub(super) fn next(&mut self) -> Result<Option<SseEvent>, ModelError> {
        let rest = self.held.get(self.read..).unwrap_or_default();
        let (Some(total), Some(of_headers), Some(checksum)) =
            (number(rest, 0), number(rest, 4), number(rest, 8))
        else {
            return Ok(None);
        };
        let sound = rest.get(..8).is_some_and(|prelude| crc32fast::hash(prelude) == checksum);
        if !sound {
            return Err(garbled("the lengths of a message do not fit their checksum"));
        }
        let (total, of_headers) = (total as usize, of_headers as usize);
        if total > LONGEST {
            return Err(HttpError::EventTooLarge { limit: LONGEST }.into());
        }
        let Some(payload_end) = total.checked_sub(CHECKSUM).filter(|end| PRELUDE + of_headers <= *end) else {
            return Err(garbled("a message is shorter than its headers"));
        };
        let Some(message) = rest.get(..total) else { return Ok(None) };
        let covered = message.get(..payload_end).unwrap_or_default();
        if Some(crc32fast::hash(covered)) != number(message, payload_end) {
            return Err(garbled("a message does not fit its checksum"));
        }
        let headers = read_headers(covered.get(PRELUDE..PRELUDE + of_headers).unwrap_or_default())
            .ok_or_else(|| garbled("the headers of a message cannot be read"))?;
        let payload = covered.get(PRELUDE + of_headers..).unwrap_or_default();
        let event = read_message(&headers, payload);
        self.read += total;
        event.map(Some)
    }

    /// Whether bytes are left that are no whole message.
    pub(super) fn is_within(&self) -> bool {
        self.held.len() > self.read
    }
}

fn read_message(headers: &Headers, payload: &[u8]) -> Result<SseEvent, ModelError> {
    let text = String::from_utf8_lossy(payload);
    match headers.get(":message-type") {
        Some("exception") => {
            let class = headers.get(":exception-type").unwrap_or("exception");
            Err(reported(class, &text))
        }
        Some("error") => {
            let class = headers.get(":error-code").unwrap_or("error");
            Err(reported(class, headers.get(":error-message").unwrap_or(&text)))
        }
        _ => Ok(SseEvent {
            event: headers.get(":event-type").map(ToOwned::to_owned),
            data: text.into_owned(),
            id: None,
        }),
    }
}

/// An exception inside of the stream. Its name says what kind it is, its words may not.
fn reported(class: &str, text: &str) -> ModelError {
    let headers: Headers = [("x-amzn-errortype", class)].into_iter().collect();
    let mut error = classify(None, &headers, text, Timestamp::now());
    if text.trim().is_empty() || text.trim() == "{}" {
        error.message = format!("the provider broke the answer off ({class})");
    }
    error
}

fn read_headers(mut bytes: &[u8]) -> Option<Headers> {
    let mut headers = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (kind, rest) = rest.split_first()?;
        let (value, rest) = read_value(*kind, rest)?;
        headers.push((String::from_utf8_lossy(name).into_owned(), value));
        bytes = rest;
    }
    Some(headers.into_iter().collect())
}

/// The value of a header, and what follows it. Only texts mean anything to us.
fn read_value(kind: u8, bytes: &[u8]) -> Option<(String, &[u8])> {
    let fixed = |length: usize| Some((String::new(), bytes.get(length..)?));
    match kind {
        0 | 1 => fixed(0),
        2 => fixed(1),
        3 => fixed(2),
        4 => fixed(4),
        5 | 8 => fixed(8),
        9 => fixed(16),
        6 | 7 => {
            let (length, rest) = bytes.split_at_checked(2)?;
            let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            let (value, rest) = rest.split_at_checked(length)?;
            Some((String::from_utf8_lossy(value).into_owned(), rest))
        }
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

fn garbled(what: &str) -> ModelError {
    ModelError::new(ErrorKind::Protocol, format!("the provider's stream is garbled: {what}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A message as a provider sends it.
    pub(in crate::wire) fn message(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut head = Vec::new();
        for (name, value) in headers {
            head.push(u8::try_from(name.len()).unwrap());
            head.extend_from_slice(name.as_bytes());
            head.push(7);
            head.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
            head.extend_from_slice(value.as_bytes());
        }
        let total = u32::try_from(PRELUDE + head.len() + payload.len() + CHECKSUM).unwrap();
        let mut bytes = total.to_be_bytes().to_vec();
        bytes.extend_from_slice(&u32::try_from(head.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(payload.as_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes
    }

    pub(in crate::wire) fn event(kind: &str, payload: &str) -> Vec<u8> {
        let headers =
            [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
        message(&headers, payload)
    }

    fn read(bytes: &[u8], split: usize) -> (Vec<(Option<String>, String)>, Option<ModelError>) {
        let mut messages = Messages::default();
        let mut read = Vec::new();
        for piece in bytes.chunks(split) {
            messages.push(piece);
            loop {
                match messages.next() {
                    Ok(Some(event)) => read.push((event.event, event.data)),
                    Ok(None) => break,
                    Err(error) => return (read, Some(error)),
                }
            }
        }
        (read, None)
    }

    #[test]
    fn messages_are_whole_however_they_are_split() {
        let bytes = [event("a", "{\"x\":1}"), event("b", ""), event("c", "\u{e9}")].concat();
        let expected = [("a", "{\"x\":1}"), ("b", ""), ("c", "\u{e9}")]
            .map(|(kind, data)| (Some(kind.to_owned()), data.to_owned()));
        for split in 1..=bytes.len() {
            assert_eq!(read(&bytes, split), (expected.to_vec(), None), "{split}");
        }
    }

    #[test]
    fn headers_of_every_type_are_passed_over() {
        let mut head = Vec::new();
        for (kind, length) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (5, 8), (8, 8), (9, 16)] {
            head.extend_from_slice(&[1, b'h', kind]);
            head.resize(head.len() + length, 7_u8);
        }
        head.extend_from_slice(&[1, b'b', 6, 0, 1, 9, 1, b's', 7, 0, 2, b'o', b'k']);
        assert_eq!(read_headers(&head).unwrap().get("s"), Some("ok"));
        assert_eq!(read_headers(&[1, b'h', 10]).map(|_| ()), None);
        assert_eq!(read_headers(&[1, b'h', 7, 0, 9, b'x']).map(|_| ()), None);
    }

    #[test]
    fn a_flipped_bit_anywhere_is_noticed() {
        let whole = event("a", "{}");
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            let (events, error) = read(&bytes, bytes.len());
            assert_eq!(events, [], "{place}");
            assert_eq!(error.map(|error| error.kind), Some(ErrorKind::Protocol), "{place}");
        }
    }

    #[test]
    fn exceptions_are_errors_with_the_words_of_the_provider() {
        for (class, words, kind) in [
            (
                "throttlingException",
                "Too many requests, please wait before trying again.",
                ErrorKind::RateLimit,
            ),
            ("validationException", "Input is too long for requested model.", ErrorKind::Overflow),
            ("validationException", "The value at messages.0 is wrong.", ErrorKind::BadRequest),
            ("modelStreamErrorException", "The model stopped.", ErrorKind::Overloaded),
            ("internalServerException", "Oh.", ErrorKind::Overloaded),
            ("serviceUnavailableException", "Oh.", ErrorKind::Overloaded),
            ("modelTimeoutException", "It took too long.", ErrorKind::Network),
        ] {
            let headers = [(":exception-type", class), (":message-type", "exception")];
            let bytes = message(&headers, &format!("{{\"message\":\"{words}\"}}"));
            let error = read(&bytes, bytes.len()).1.unwrap();
            assert_eq!((error.kind, error.message.as_str()), (kind, words), "{class}");
        }
        let headers =
            [(":error-code", "InternalError"), (":error-message", "boom"), (":message-type", "error")];
        let bytes = message(&headers, "");
        assert_eq!(read(&bytes, bytes.len()).1.unwrap().message, "boom");
    }
}
