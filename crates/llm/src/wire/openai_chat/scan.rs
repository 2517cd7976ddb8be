//! Tells when the arguments of a call are a whole JSON object, without parsing
//! them again for each piece.

/// Follows a text as it grows.
#[derive(Debug, Default)]
pub(super) struct ObjectScan {
    state: State,
    depth: u32,
    in_string: bool,
    escaped: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing but blanks.
    #[default]
    Before,
    Inside,
    /// The object was closed, and only blanks came after it.
    Whole,
    /// Not an object, or something after it.
    Other,
}

impl ObjectScan {
    /// Takes the next piece.
    pub(super) fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match self.state {
                State::Before | State::Whole if byte.is_ascii_whitespace() => {}
                State::Before if byte == b'{' => {
                    self.state = State::Inside;
                    self.depth = 1;
                }
                State::Before | State::Whole => self.state = State::Other,
                State::Inside => self.inside(byte),
                State::Other => return,
            }
        }
    }

    /// Whether all that came is one whole object.
    pub(super) fn is_whole(&self) -> bool {
        self.state == State::Whole
    }

    fn inside(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.state = State::Whole;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_whole_exactly_at_its_end() {
        for text in [r#"{}"#, r#" {"a":{"b":[1,{}]},"c":"}\"{"} "#, "{\"é\\\\\":\"\\u00e9\"}\n"] {
            let mut scan = ObjectScan::default();
            let end = text.trim_end().len();
            for (at, c) in text.char_indices() {
                assert_eq!(scan.is_whole(), at >= end, "{text} at {at}");
                scan.feed(c.encode_utf8(&mut [0; 4]));
            }
            assert!(scan.is_whole(), "{text}");
        }
        for text in ["", "  ", "null", "[]", "\"x\"", "{", "{}{", "{} x"] {
            let mut scan = ObjectScan::default();
            scan.feed(text);
            assert!(!scan.is_whole(), "{text}");
        }
    }
}
