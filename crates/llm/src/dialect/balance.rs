//! Tells where a value with brackets ends, while it arrives.
//!
//! Owns quotes and brackets, and nothing of what a value means. Every character
//! is looked at once, so that a long argument is not read again for each piece.

/// Whose quotes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// `"`, and `'` where a value may begin: models write both.
    Json,
    /// Those, three of them, and comments.
    Python,
}

/// Follows a value as it grows.
#[derive(Debug)]
pub(super) struct Balance {
    quotes: Quotes,
    open: Vec<char>,
    begun: bool,
    string: StringState,
    comment: bool,
    /// The last character outside of strings that is not blank.
    last: char,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringState {
    Outside,
    /// This many of the opening quotes have come: one may be the first of three, two may be an empty string.
    Opening(char, u8),
    Inside {
        quote: char,
        triple: bool,
        escaped: bool,
        closing: u8,
    },
}

impl Balance {
    /// Nothing has come yet.
    pub(super) fn new(quotes: Quotes) -> Self {
        let string = StringState::Outside;
        Self { quotes, open: Vec::new(), begun: false, string, comment: false, last: '\0' }
    }

    /// Takes a character. Whether it is the one that makes the value whole.
    pub(super) fn feed(&mut self, character: char) -> bool {
        match self.string {
            StringState::Outside => self.outside(character),
            StringState::Opening(quote, count) => self.opening(quote, count, character),
            StringState::Inside { quote, triple, escaped, closing } => {
                self.inside(quote, triple, escaped, closing, character);
                false
            }
        }
    }

    /// How many brackets are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether a string is open.
    pub(super) fn in_string(&self) -> bool {
        match self.string {
            StringState::Outside => false,
            StringState::Opening(_, count) => count < 2,
            StringState::Inside { .. } => true,
        }
    }

    /// Whether what follows belongs to a string or a comment.
    pub(super) fn in_words(&self) -> bool {
        self.comment || self.string != StringState::Outside
    }

    /// The brackets that are missing, down to a depth; nothing if it cannot be told how the value goes on.
    pub(super) fn missing(&self, depth: usize) -> Option<String> {
        let unfinished = self.in_string() || matches!(self.last, ':' | ',' | '=' | '\0');
        if unfinished {
            return None;
        }
        Some(self.open.iter().skip(depth).rev().map(|open| closing(*open)).collect())
    }

    fn outside(&mut self, character: char) -> bool {
        if self.comment {
            self.comment = character != '\n';
            return false;
        }
        match character {
            '#' if self.quotes == Quotes::Python => self.comment = true,
            '"' => self.quote(character),
            '\'' if self.quotes == Quotes::Python || self.value_may_begin() => self.quote(character),
            '{' | '[' | '(' => {
                self.begun = true;
                self.open.push(character);
            }
            '}' | ']' | ')' => {
                // A bracket of another kind is a slip, and closes what is open.
                self.open.pop();
                self.last = character;
                return self.begun && self.open.is_empty();
            }
            _ => {}
        }
        if !character.is_whitespace() {
            self.last = character;
        }
        false
    }

    fn value_may_begin(&self) -> bool {
        matches!(self.last, '{' | '[' | ',' | ':' | '(' | '=')
    }

    fn quote(&mut self, quote: char) {
        self.string = match self.quotes {
            Quotes::Python => StringState::Opening(quote, 1),
            Quotes::Json => StringState::Inside { quote, triple: false, escaped: false, closing: 0 },
        };
    }

    fn opening(&mut self, quote: char, count: u8, character: char) -> bool {
        match (character == quote, count) {
            (true, 1) => self.string = StringState::Opening(quote, 2),
            (true, _) => {
                self.string = StringState::Inside { quote, triple: true, escaped: false, closing: 0 };
            }
            (false, 1) => {
                self.string = StringState::Inside { quote, triple: false, escaped: false, closing: 0 };
                self.inside(quote, false, false, 0, character);
            }
            (false, _) => {
                self.string = StringState::Outside;
                self.last = quote;
                return self.outside(character);
            }
        }
        false
    }

    fn inside(&mut self, quote: char, triple: bool, escaped: bool, closing: u8, character: char) {
        let closing = if character == quote && !escaped { closing + 1 } else { 0 };
        if closing == if triple { 3 } else { 1 } {
            self.string = StringState::Outside;
            self.last = quote;
            return;
        }
        let escaped = character == '\\' && !escaped;
        self.string = StringState::Inside { quote, triple, escaped, closing };
    }
}

fn closing(open: char) -> char {
    match open {
        '{' => '}',
        '[' => ']',
        _ => ')',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(quotes: Quotes, text: &str) -> Option<usize> {
        let mut balance = Balance::new(quotes);
        text.char_indices().find(|(_, character)| balance.feed(*character)).map(|(place, _)| place)
    }

    #[test]
    fn a_value_ends_with_its_last_bracket() {
        for (text, expected) in [
            (r#"{"a": {"b": 2}} x"#, Some(14)),
            (r#"[{"a": "]}"}]"#, Some(12)),
            (r#"{"p": "C:\\"}"#, Some(12)),
            (r#"{"p": "it's"}"#, Some(12)),
            ("{'p': 'a}'}", Some(10)),
            ("{", None),
            ("", None),
            (r#"{"a": "}"#, None),
        ] {
            assert_eq!(end(Quotes::Json, text), expected, "{text}");
        }
        for (text, expected) in [
            (r#"f(a="""x")""", b='')"#, Some(19)),
            ("f(a='') g", Some(6)),
            ("f( # )\n)", Some(7)),
            ("f(a=\"\\\")\")", Some(9)),
        ] {
            assert_eq!(end(Quotes::Python, text), expected, "{text}");
        }
    }

    #[test]
    fn only_brackets_are_ever_added() {
        let missing = |text: &str| {
            let mut balance = Balance::new(Quotes::Json);
            text.chars().for_each(|character| assert!(!balance.feed(character)));
            balance.missing(0)
        };
        assert_eq!(missing(r#"{"a": [1"#), Some("]}".to_owned()));
        assert_eq!(missing(r#"{"a": "b""#), Some("}".to_owned()));
        for cut in [r#"{"a": "b"#, r#"{"a":"#, r#"{"a": 1,"#] {
            assert_eq!(missing(cut), None, "{cut}");
        }
    }
}
