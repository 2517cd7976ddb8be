//! What is behind the text: dark or light, as the environment or the terminal
//! says it.
//!
//! The terminal is asked (OSC 11) before anything else reads from it, together
//! with a question that every terminal answers, so that nobody waits for an
//! answer that does not come. What somebody typed meanwhile is handed back, and
//! an answer that comes too late is swallowed key by key.

use std::io::{self, Write};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use crate::paint::Ink;

/// What is behind the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// Dark, or not known.
    Dark,
    /// Light.
    Light,
}

/// The question for the colour, then the one that is always answered.
pub(crate) const QUESTION: &str = "\u{1b}]11;?\u{1b}\\\u{1b}[c";

impl Background {
    /// As `COLORFGBG` has it.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let value = variable("COLORFGBG")?;
        let number: u8 = value.rsplit(';').next()?.trim().parse().ok()?;
        Some(match number {
            7 | 9..=15 => Self::Light,
            _ => Self::Dark,
        })
    }

    /// The theme that goes with it.
    #[must_use]
    pub fn theme(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }
}

/// What the terminal said.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) background: Option<Background>,
    /// What somebody typed meanwhile.
    pub(crate) typed: String,
    pub(crate) stray: Stray,
}

/// Asks, if the theme depends on the answer and the environment does not have it. The terminal must be in raw
/// mode, and nobody else may read from it.
pub(crate) fn ask(theme: &str, ink: Ink) -> Asked {
    let known = Background::detect(|name| std::env::var(name).ok());
    if theme != super::AUTO || ink == Ink::Plain || known.is_some() {
        return Asked { background: known, typed: String::new(), stray: Stray::never() };
    }
    let mut answers = Answers::default();
    if let Err(error) = listen(&mut answers) {
        tracing::debug!(%error, "the terminal was not asked for its background");
    }
    let Heard { background, complete, typed } = answers.heard();
    let stray = if complete { Stray::never() } else { Stray::expected() };
    Asked { background, typed, stray }
}

/// Asks and reads until everything is answered or nothing has come for two tenths of a second.
fn listen(answers: &mut Answers) -> io::Result<()> {
    let input = io::stdin();
    let before = tcgetattr(&input)?;
    let mut patient = before.clone();
    // A read ends after that many tenths of a second, with or without a byte.
    patient.special_codes[SpecialCodeIndex::VMIN] = 0;
    patient.special_codes[SpecialCodeIndex::VTIME] = PATIENCE;
    tcsetattr(&input, OptionalActions::Now, &patient)?;
    let heard = (|| {
        let mut out = io::stdout();
        out.write_all(QUESTION.as_bytes())?;
        out.flush()?;
        let mut buffer = [0; 256];
        for _ in 0..READS {
            let count = rustix::io::read(&input, &mut buffer)?;
            answers.push(buffer.get(..count).unwrap_or_default());
            if count == 0 || answers.heard().complete {
                break;
            }
        }
        Ok(())
    })();
    tcsetattr(&input, OptionalActions::Now, &before)?;
    heard
}

/// In tenths of a second.
const PATIENCE: u8 = 2;
/// Somebody who types without pause is not waited for.
const READS: usize = 32;

/// What came from the terminal after the question.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    bytes: Vec<u8>,
}

/// What the answers come to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) background: Option<Background>,
    /// Whether the last answer is here.
    pub(crate) complete: bool,
    /// What is no answer: somebody typed.
    pub(crate) typed: String,
}

impl Answers {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn heard(&self) -> Heard {
        let text = String::from_utf8_lossy(&self.bytes);
        let (mut heard, mut rest) =
            (Heard { background: None, complete: false, typed: String::new() }, &*text);
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("\u{1b}]11;") {
                let end = after.find(['\u{7}', '\u{1b}']).unwrap_or(after.len());
                heard.background = after.get(..end).and_then(of_answer).or(heard.background);
                let tail = after.get(end..).unwrap_or_default();
                rest = tail.strip_prefix("\u{1b}\\").or(tail.strip_prefix('\u{7}')).unwrap_or(tail);
                continue;
            }
            let device = rest.strip_prefix("\u{1b}[?").and_then(|after| after.split_once('c'));
            if let Some((body, after)) = device
                && body.chars().all(|letter| letter.is_ascii_digit() || letter == ';')
            {
                heard.complete = true;
                rest = after;
                continue;
            }
            let mut letters = rest.chars();
            heard.typed.extend(letters.next());
            rest = letters.as_str();
        }
        // Keys that are no letters would be gibberish in a text.
        heard.typed = match heard.typed.contains('\u{1b}') {
            true => String::new(),
            false => heard.typed.replace('\r', "\n").trim_end_matches(char::is_control).to_owned(),
        };
        heard
    }
}

/// `rgb:1e1e/1e1e/1e1e`, with one to four digits a part.
fn of_answer(answer: &str) -> Option<Background> {
    let parts = answer.strip_prefix("rgb:").or(answer.strip_prefix("rgba:"))?;
    let mut levels = parts.split('/').map(|part| {
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1)?;
        u32::from_str_radix(part, 16).ok()?.checked_mul(1000)?.checked_div(most)
    });
    let (red, green, blue) = (levels.next()??, levels.next()??, levels.next()??);
    // How bright it seems to an eye, in thousandths.
    let seen = (red * 299 + green * 587 + blue * 114) / 1000;
    Some(if seen > 500 { Background::Light } else { Background::Dark })
}

/// Swallows an answer that arrives as keys, after nobody waited for it any more.
#[derive(Debug)]
pub(crate) struct Stray {
    state: StrayState,
}

#[derive(Debug, PartialEq, Eq)]
enum StrayState {
    /// An answer may still come.
    Expected,
    /// In the middle of one, after so many keys.
    Inside(usize),
    /// None comes any more.
    Over,
}

/// More keys than an answer has.
const LONGEST: usize = 48;

impl Stray {
    pub(crate) fn expected() -> Self {
        Self { state: StrayState::Expected }
    }

    pub(crate) fn never() -> Self {
        Self { state: StrayState::Over }
    }

    /// Whether the key is a piece of an answer.
    pub(crate) fn swallows(&mut self, key: KeyEvent) -> bool {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (&mut self.state, key.code) {
            (StrayState::Over, _) => return false,
            (StrayState::Expected, KeyCode::Char(']')) if alt => self.state = StrayState::Inside(0),
            (StrayState::Expected, _) => return false,
            (StrayState::Inside(_), KeyCode::Char('\\')) if alt => self.state = StrayState::Over,
            (StrayState::Inside(_), KeyCode::Char('g')) if control => self.state = StrayState::Over,
            (StrayState::Inside(count), KeyCode::Char(letter))
                if *count < LONGEST && (letter.is_ascii_hexdigit() || ";:/rgb".contains(letter)) =>
            {
                *count += 1;
            }
            (StrayState::Inside(_), _) => {
                self.state = StrayState::Over;
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&str]) -> Heard {
        let mut answers = Answers::default();
        for piece in pieces {
            answers.push(piece.as_bytes());
        }
        answers.heard()
    }

    #[test]
    fn answers_are_told_from_what_was_typed() {
        let whole = heard(&["\u{1b}]11;rgb:1e1e/1e1e/2e2e\u{1b}\\\u{1b}[?62;22c"]);
        let dark = Some(Background::Dark);
        assert_eq!(whole, Heard { background: dark, complete: true, typed: String::new() });
        let split = heard(&["fix\u{1b}]11;rgb:ff", "ff/ffff/f0f0\u{7}", " it\u{1b}[?1;2c"]);
        let light = Some(Background::Light);
        assert_eq!(split, Heard { background: light, complete: true, typed: "fix it".into() });
        let silent = heard(&["\u{1b}[?6c"]);
        assert_eq!(silent, Heard { background: None, complete: true, typed: String::new() });
        let arrow = heard(&["\u{1b}[A\u{1b}[?6c"]);
        assert_eq!(arrow, Heard { background: None, complete: true, typed: String::new() });
        assert!(!heard(&["\u{1b}]11;rgb:ffff/ff"]).complete);
    }

    #[test]
    fn a_late_answer_reaches_no_text() {
        let mut stray = Stray::expected();
        let key = |code, modifiers| KeyEvent::new(code, modifiers);
        assert!(!stray.swallows(key(KeyCode::Char('a'), KeyModifiers::NONE)));
        assert!(stray.swallows(key(KeyCode::Char(']'), KeyModifiers::ALT)));
        for letter in "11;rgb:1e1e/1e1e/1e1e".chars() {
            assert!(stray.swallows(key(KeyCode::Char(letter), KeyModifiers::NONE)), "{letter}");
        }
        assert!(stray.swallows(key(KeyCode::Char('\\'), KeyModifiers::ALT)));
        assert!(!stray.swallows(key(KeyCode::Char('1'), KeyModifiers::NONE)));
        assert!(!stray.swallows(key(KeyCode::Char(']'), KeyModifiers::ALT)));
    }

    #[test]
    fn the_environment_may_say_it() {
        let of = |value: &'static str| Background::detect(|_| Some(value.to_owned()));
        assert_eq!(of("15;0"), Some(Background::Dark));
        assert_eq!(of("0;default;15"), Some(Background::Light));
        assert_eq!(of("nonsense"), None);
    }
}
