//! Frames server-sent events, without any I/O.
//!
//! Bytes go in as they arrive, split anywhere; events come out whole. Every
//! byte is looked at a fixed number of times, however small the pieces. Which
//! events there are depends on the bytes alone and not on how they were split.

use std::collections::VecDeque;

use crate::error::HttpError;

/// The largest event that is accepted unless said otherwise.
pub const DEFAULT_LIMIT: usize = 64 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The event's type, if it has one.
    pub event: Option<String>,
    /// Its data lines, joined by line breaks.
    pub data: String,
    /// The id that came with it, if one did.
    pub id: Option<String>,
}

/// Turns bytes into events.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    line: Vec<u8>,
    open: OpenEvent,
    ready: VecDeque<SseEvent>,
    at_start: bool,
    skip_line_feed: bool,
    overflowed: bool,
}

#[derive(Debug, Default)]
struct OpenEvent {
    event: Option<String>,
    id: Option<String>,
    data: String,
    has_data: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }
}

impl Decoder {
    /// A decoder that accepts events of up to `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            open: OpenEvent::default(),
            ready: VecDeque::new(),
            at_start: true,
            skip_line_feed: false,
            overflowed: false,
        }
    }

    /// Takes the next bytes of the stream. After an event that was too large
    /// nothing more is accepted; events before it can still be taken.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), HttpError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.overflowed {
                return Err(HttpError::EventTooLarge { limit: self.limit });
            }
            if self.skip_line_feed {
                self.skip_line_feed = false;
                if let [b'\n', after @ ..] = rest {
                    rest = after;
                    continue;
                }
            }
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let (head, tail) = rest.split_at(end.unwrap_or(rest.len()));
            if self.line.len() + self.open.data.len() + head.len() > self.limit {
                self.overflowed = true;
                continue;
            }
            rest = match tail {
                [terminator, after @ ..] => {
                    self.skip_line_feed = *terminator == b'\r';
                    self.end_line(head);
                    after
                }
                [] => {
                    self.line.extend_from_slice(head);
                    tail
                }
            };
        }
        Ok(())
    }

    /// The next whole event.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    /// The stream is over: what had no blank line after it is an event, too.
    pub fn finish(&mut self) {
        if !self.line.is_empty() {
            self.end_line(&[]);
        }
        self.dispatch();
    }

    /// A line is over. A line that came in one piece is not copied.
    fn end_line(&mut self, rest: &[u8]) {
        if self.line.is_empty() {
            return self.take_line(rest);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(rest);
        self.take_line(&line);
        // Keep the allocation for the next line.
        self.line = line;
        self.line.clear();
    }

    fn take_line(&mut self, line: &[u8]) {
        let content = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(content) if self.at_start => content,
            _ => line,
        };
        self.at_start = false;
        if content.is_empty() {
            self.dispatch();
        } else {
            self.open.take_field(content);
        }
    }

    fn dispatch(&mut self) {
        let open = std::mem::take(&mut self.open);
        if open.has_data {
            self.ready.push_back(SseEvent { event: open.event, data: open.data, id: open.id });
        }
    }
}

impl OpenEvent {
    fn take_field(&mut self, line: &[u8]) {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(at) => (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default()),
            None => (line, &[][..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(&value);
                self.has_data = true;
            }
            b"event" => self.event = Some(value.into_owned()).filter(|name| !name.is_empty()),
            b"id" if !value.contains('\0') => self.id = Some(value.into_owned()),
            // Comments have an empty name; `retry` and unknown fields mean nothing here.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = Decoder::default();
        for piece in pieces {
            decoder.push(piece).unwrap();
        }
        decoder.finish();
        std::iter::from_fn(|| decoder.next_event()).collect()
    }

    fn data(text: &str) -> SseEvent {
        SseEvent { data: text.to_owned(), ..SseEvent::default() }
    }

    #[test]
    fn fields_comments_and_line_ends_of_every_kind() {
        let stream = b"\xEF\xBB\xBF: waiting\r\n\r\nevent: error\r\nid: 7\r\ndata: one\r\ndata:two\r\n\r\ndata:  spaced\n\nretry: 5\rdata\r\rdata: last";
        assert_eq!(
            decode(&[stream]),
            [
                SseEvent { event: Some("error".into()), data: "one\ntwo".into(), id: Some("7".into()) },
                data(" spaced"),
                data(""),
                data("last"),
            ]
        );
    }

    #[test]
    fn an_event_without_data_is_none_and_leaves_no_type_behind() {
        assert_eq!(decode(&[b"event: ping\n\ndata: x\n\n"]), [data("x")]);
        assert_eq!(decode(&[b"", b"\n\n", b": only a comment\n\n"]), []);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(decode(&[b"data: a\xFFb\n\n"]), [data("a\u{FFFD}b")]);
    }

    #[test]
    fn a_character_split_between_pieces_stays_whole() {
        let text = "data: h\u{00E9}llo \u{1F980}\n\n".as_bytes();
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            assert_eq!(decode(&[head, tail]), [data("h\u{00E9}llo \u{1F980}")], "split at {at}");
        }
    }

    #[test]
    fn an_event_beyond_the_limit_is_an_error_and_earlier_ones_are_kept() {
        let mut decoder = Decoder::with_limit(16);
        let error = decoder.push(b"data: ok\n\ndata: 0123456789abcdef\n\n").unwrap_err();
        assert_eq!(error, HttpError::EventTooLarge { limit: 16 });
        assert_eq!(decoder.next_event(), Some(data("ok")));
        assert!(decoder.push(b"data: more\n\n").is_err());
        assert_eq!(decoder.next_event(), None);

        let mut many_lines = Decoder::with_limit(16);
        assert!((0..10).any(|_| many_lines.push(b"data: abc\n").is_err()));
    }

    #[test]
    fn large_data_in_tiny_pieces_is_complete() {
        let text = "x".repeat(2_000_000);
        let stream = format!("data: {text}\n\n");
        let mut decoder = Decoder::default();
        for piece in stream.as_bytes().chunks(3) {
            decoder.push(piece).unwrap();
        }
        assert_eq!(decoder.next_event().map(|event| event.data.len()), Some(2_000_000));
    }

    fn fragment() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            Just(b"data: ".to_vec()),
            Just(b"data".to_vec()),
            Just(b"event: a".to_vec()),
            Just(b"id: 1".to_vec()),
            Just(b": c".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(b"\xEF\xBB\xBF".to_vec()),
            Just("\u{1F980}".as_bytes().to_vec()),
            proptest::collection::vec(any::<u8>(), 0..4),
        ]
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            fragments in proptest::collection::vec(fragment(), 0..40),
            cuts in proptest::collection::vec(1_usize..6, 1..80),
        ) {
            let stream: Vec<u8> = fragments.concat();
            let mut pieces: Vec<&[u8]> = Vec::new();
            let mut rest = stream.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (head, tail) = rest.split_at((*cut).min(rest.len()));
                pieces.push(head);
                rest = tail;
            }
            prop_assert_eq!(decode(&pieces), decode(&[&stream]));
        }
    }
}
