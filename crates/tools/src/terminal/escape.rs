//! Recognises control sequences in text, however it is cut into pieces.
//!
//! Nothing of a sequence is kept but a few numbers. A sequence that does not
//! end is given up after a while, so that it cannot swallow an output.

/// Numbers of a sequence that are kept.
const PARAMETERS: usize = 4;

/// Characters that a title or a link may have.
const LONGEST_STRING: usize = 64 * 1024;

/// Characters that a picture may have.
const LONGEST_DATA: usize = 4 * 1024 * 1024;

/// Characters that a control sequence may have.
const LONGEST_SEQUENCE: usize = 256;

/// With this byte begin the control characters that are not ASCII, and some others.
const C1: u8 = 0xc2;

/// What comes next in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A character to be shown.
    Text(&'a str),
    /// A character that does something.
    Control(char),
    /// A sequence that does something.
    Sequence(Sequence),
    /// Something that has no effect, or is not complete.
    Nothing,
}

/// A control sequence: its last character and the numbers before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence {
    /// The character after the introducer if it marks a private one, such as `?`.
    pub(super) private: Option<char>,
    /// What it does.
    pub(super) last: char,
    numbers: [u16; PARAMETERS],
}

impl Sequence {
    /// A number of it, or 0 where there is none.
    pub(super) fn number(&self, index: usize) -> usize {
        usize::from(self.numbers.get(index).copied().unwrap_or_default())
    }
}

#[derive(Debug, Default)]
pub(super) struct Escape {
    state: State,
    length: usize,
    private: Option<char>,
    numbers: [u16; PARAMETERS],
    index: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Begun,
    /// After ESC and a character that wants one more.
    OneMore,
    /// After ESC `[`.
    Sequence,
    /// After ESC `]`: ends with BEL or ESC `\`.
    Words,
    /// After ESC `P`, `X`, `^` or `_`: ends with ESC `\`.
    Data,
    /// After ESC in one of these two.
    Ending,
}

impl Escape {
    /// As much of a text as nothing happens in but line ends, and what is left after it.
    pub(super) fn split_plain<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        if self.state != State::Text {
            return ("", text);
        }
        let happens = |byte: u8| (is_control(byte) && byte != b'\n') || byte == C1;
        text.split_at(text.bytes().position(happens).unwrap_or(text.len()))
    }

    /// What comes next, and what is left after it.
    pub(super) fn next<'a>(&mut self, text: &'a str) -> (Token<'a>, &'a str) {
        let mut characters = text.chars();
        let Some(character) = characters.next() else { return (Token::Nothing, "") };
        let rest = characters.as_str();
        let token = match self.state {
            State::Text => self.text(character, text, rest),
            State::Begun => self.begun(character),
            State::OneMore => self.over(),
            State::Sequence => self.sequence(character),
            State::Words | State::Data | State::Ending => self.inside(character),
        };
        (token, rest)
    }

    fn text<'a>(&mut self, character: char, text: &'a str, rest: &str) -> Token<'a> {
        match character {
            '\u{1b}' => {
                self.state = State::Begun;
                Token::Nothing
            }
            // The same as ESC `[` and so on, in one character; nobody sends them on purpose.
            '\u{80}'..='\u{9f}' | '\u{7f}' => Token::Nothing,
            control if control.is_ascii_control() => Token::Control(control),
            _ => Token::Text(text.get(..text.len() - rest.len()).unwrap_or_default()),
        }
    }

    fn begun<'a>(&mut self, character: char) -> Token<'a> {
        self.length = 0;
        match character {
            '[' => {
                (self.private, self.numbers, self.index) = (None, [0; PARAMETERS], 0);
                self.state = State::Sequence;
            }
            ']' => self.state = State::Words,
            'P' | 'X' | '^' | '_' => self.state = State::Data,
            '(' | ')' | '*' | '+' | '#' | '%' | ' ' => self.state = State::OneMore,
            '\u{1b}' => {}
            control if control.is_ascii_control() => {
                self.state = State::Text;
                return Token::Control(control);
            }
            last => {
                self.state = State::Text;
                let numbers = [0; PARAMETERS];
                return Token::Sequence(Sequence { private: Some('\u{1b}'), last, numbers });
            }
        }
        Token::Nothing
    }

    fn sequence<'a>(&mut self, character: char) -> Token<'a> {
        self.length += 1;
        match character {
            '0'..='9' => {
                if let Some(number) = self.numbers.get_mut(self.index) {
                    let digit = u16::try_from(u32::from(character) - u32::from('0')).unwrap_or_default();
                    *number = number.saturating_mul(10).saturating_add(digit);
                }
            }
            ';' | ':' => self.index += 1,
            '<'..='?' => self.private = Some(character),
            ' '..='/' => {}
            '@'..='~' => {
                self.state = State::Text;
                let (private, numbers) = (self.private, self.numbers);
                return Token::Sequence(Sequence { private, last: character, numbers });
            }
            '\u{1b}' => self.state = State::Begun,
            control if control.is_ascii_control() => return Token::Control(control),
            _ => self.state = State::Text,
        }
        if self.length > LONGEST_SEQUENCE {
            self.state = State::Text;
        }
        Token::Nothing
    }

    /// Inside of something whose content is of no interest.
    fn inside<'a>(&mut self, character: char) -> Token<'a> {
        self.length += 1;
        match (self.state, character) {
            (State::Ending, '\\') | (State::Words, '\u{7}') | (_, '\u{18}' | '\u{1a}' | '\u{9c}') => {
                return self.over();
            }
            (State::Ending, other) => {
                // Another sequence begins before this one has ended.
                self.state = State::Begun;
                return self.begun(other);
            }
            (_, '\u{1b}') => self.state = State::Ending,
            // A title has one line: this one was never ended.
            (State::Words, '\n') => {
                self.state = State::Text;
                return Token::Control('\n');
            }
            (State::Words, _) if self.length > LONGEST_STRING => return self.over(),
            _ if self.length > LONGEST_DATA => return self.over(),
            _ => {}
        }
        Token::Nothing
    }

    fn over<'a>(&mut self) -> Token<'a> {
        self.state = State::Text;
        Token::Nothing
    }
}

/// Whether a byte is a control character other than a tab.
fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f
}
