//! Takes the text of an answer in pieces and tells words, reasoning and calls
//! apart.
//!
//! Owns what is held back: nothing that may still become a tag is told, and
//! everything else is told at once. What each dialect looks like, its file says.
//! Invariant: however the text is split, the events are the same, but for how
//! deltas are cut.

use super::offered::OfferedTools;
use super::opening::{Body, Closer, End, Found, Look, Opening, Place, Step, Trust, Verdict, What, find};
use super::position::Position;
use super::{Dialect, forms};

/// Something that was found in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DialectEvent {
    /// Words for the person.
    Text(String),
    /// Thinking aloud.
    Reasoning(String),
    /// A call begins.
    CallStarted {
        /// The tool's name: the offered one if it can be told, otherwise as written.
        tool: String,
    },
    /// The arguments of the call grew, as the model writes them.
    CallDelta(String),
    /// The call is complete.
    CallCompleted {
        /// The tool's name.
        tool: String,
        /// The arguments, mended and fitted to the schema where they can be. What counts, also where the deltas differ.
        arguments: String,
    },
}

/// Which openings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Only those of the chosen dialect.
    Ignored,
    /// Also those of other dialects, if they call an offered tool.
    Unmistakable,
}

/// Reads one answer.
pub(crate) struct Scanner {
    openings: Vec<(&'static Opening, Trust)>,
    tools: OfferedTools,
    /// What has come and is not told.
    buffer: String,
    /// How much of the buffer is known to be words: blanks are held, because a call swallows those before it.
    scanned: usize,
    state: State,
    position: Position,
    /// Nothing begins at the front of what is not scanned: that was tried.
    denied: bool,
    /// A call or reasoning was just over: blanks are dropped.
    after_break: bool,
    section: bool,
}

enum State {
    Text,
    Reasoning(&'static [Closer]),
    /// A body, which begins so many bytes into the buffer.
    Call(Box<dyn Body>, usize),
    Garbage,
}

/// Whether there is something to do before more text comes.
#[derive(PartialEq, Eq)]
enum Flow {
    Again,
    Wait,
}

impl Scanner {
    /// A scanner for one answer.
    pub(crate) fn new(chosen: Option<Dialect>, others: Others, tools: OfferedTools) -> Self {
        let mut openings: Vec<(&'static Opening, Trust)> = Vec::new();
        for dialect in Dialect::ALL {
            let trust = match (chosen == Some(dialect), others) {
                (true, _) => Trust::Chosen,
                (false, Others::Unmistakable) if !tools.is_empty() => Trust::Unmistakable,
                (false, _) => continue,
            };
            openings.extend(forms::form(dialect).openings().iter().map(|opening| (opening, trust)));
        }
        openings.extend(forms::THINKING.iter().map(|opening| (opening, Trust::Chosen)));
        openings.sort_by_key(|(_, trust)| *trust == Trust::Unmistakable);
        Self {
            openings,
            tools,
            buffer: String::new(),
            scanned: 0,
            state: State::Text,
            position: Position::default(),
            denied: false,
            after_break: false,
            section: false,
        }
    }

    /// Takes a piece of text.
    pub(crate) fn push(&mut self, piece: &str, out: &mut Vec<DialectEvent>) {
        self.buffer.push_str(piece);
        self.drive(End::More, out);
    }

    /// The text is over, as far as the model is concerned: what was held back is what it looks like.
    pub(crate) fn finish(&mut self, out: &mut Vec<DialectEvent>) {
        self.end(End::Natural, out);
    }

    /// The text was cut: a call that is not whole stays so.
    pub(crate) fn cut(&mut self, out: &mut Vec<DialectEvent>) {
        self.end(End::Cut, out);
    }

    fn end(&mut self, end: End, out: &mut Vec<DialectEvent>) {
        self.drive(end, out);
        self.buffer.clear();
        self.scanned = 0;
        self.state = State::Text;
        self.denied = false;
        self.section = false;
        self.position = Position::default();
    }

    fn drive(&mut self, end: End, out: &mut Vec<DialectEvent>) {
        loop {
            let flow = match &mut self.state {
                State::Text => self.text(end, out),
                State::Reasoning(closers) => {
                    let closers = *closers;
                    self.reasoning(closers, end, out)
                }
                State::Call(..) => self.call(end, out),
                State::Garbage => {
                    self.buffer.clear();
                    Flow::Wait
                }
            };
            if flow == Flow::Wait {
                return;
            }
        }
    }

    fn text(&mut self, end: End, out: &mut Vec<DialectEvent>) -> Flow {
        while let Some(character) = self.rest(self.scanned).chars().next() {
            if !std::mem::take(&mut self.denied) && !self.position.in_code() {
                match self.look(character, end) {
                    Verdict::No => {}
                    Verdict::More => break,
                    Verdict::Begins(length, what) => {
                        self.begin(length, what, out);
                        return Flow::Again;
                    }
                    Verdict::BeginsWithTag(what) => {
                        self.begin(0, what, out);
                        return Flow::Again;
                    }
                }
            }
            if character == '`' {
                let run = self.rest(self.scanned).bytes().take_while(|byte| *byte == b'`').count();
                if self.scanned + run == self.buffer.len() && end == End::More {
                    break;
                }
                self.position.ticks(run);
                self.scanned += run;
            } else {
                self.position.step(character);
                self.scanned += character.len_utf8();
            }
        }
        self.tell(end, out);
        Flow::Wait
    }

    /// Whether something begins at what is scanned next.
    fn look(&self, character: char, end: End) -> Verdict {
        let rest = self.rest(self.scanned);
        let mut more = false;
        for (opening, trust) in &self.openings {
            if !opening.tag.starts_with(character) || !self.counts(opening.place) {
                continue;
            }
            if let Some(behind) = rest.strip_prefix(opening.tag) {
                let look = Look {
                    from: rest,
                    lead: self.position.lead(),
                    tools: &self.tools,
                    trust: *trust,
                    section: self.section,
                    end,
                };
                match (opening.begins)(behind, &look) {
                    Verdict::No => {}
                    Verdict::More => more = true,
                    Verdict::Begins(length, what) => {
                        return Verdict::Begins(opening.tag.len() + length, what);
                    }
                    Verdict::BeginsWithTag(what) => return Verdict::Begins(0, what),
                }
            } else if opening.tag.starts_with(rest) {
                more = true;
            }
        }
        if more && end == End::More { Verdict::More } else { Verdict::No }
    }

    fn counts(&self, place: Place) -> bool {
        let placed = match place {
            Place::Anywhere => true,
            Place::LineStart => self.position.at_line_start(),
            Place::Beginning => self.position.is_fresh(),
        };
        placed && !self.position.after_quote()
    }

    fn begin(&mut self, length: usize, what: What, out: &mut Vec<DialectEvent>) {
        let words = self.buffer.get(..self.scanned).unwrap_or_default().trim_end().to_owned();
        self.say(&words, out);
        self.consume(words.len());
        self.scanned -= words.len();
        let length = self.scanned + length;
        match what {
            // Its opening and the blanks before it stay in the buffer until it is sure that it is one.
            What::Call(body) => {
                self.state = State::Call(body, length);
                return;
            }
            What::Section => self.section = true,
            What::SectionEnd => self.section = false,
            What::Nothing => {}
            What::Reasoning(closers) => self.state = State::Reasoning(closers),
            What::Garbage => self.state = State::Garbage,
        }
        self.leave_behind(length);
    }

    /// Something that is no words is over, so far into the buffer.
    fn leave_behind(&mut self, length: usize) {
        self.consume(length);
        self.scanned = 0;
        self.after_break = true;
        self.position.interrupt();
    }

    fn reasoning(&mut self, closers: &'static [Closer], end: End, out: &mut Vec<DialectEvent>) -> Flow {
        let tags: Vec<&'static str> = closers.iter().map(|closer| closer.tag()).collect();
        let (told, length, flow) = match find(&self.buffer, 0, &tags, end) {
            Found::Tag(at, tag) => {
                let eaten =
                    closers.iter().any(|closer| matches!(closer, Closer::Eaten(eaten) if *eaten == tag));
                (at, if eaten { at + tag.len() } else { at }, Flow::Again)
            }
            Found::Half(at) => (at, at, Flow::Wait),
            Found::Nothing => (self.buffer.len(), self.buffer.len(), Flow::Wait),
        };
        if told > 0 {
            out.push(DialectEvent::Reasoning(self.buffer.get(..told).unwrap_or_default().to_owned()));
        }
        if flow == Flow::Again {
            self.state = State::Text;
        }
        self.leave_behind(length);
        flow
    }

    fn call(&mut self, end: End, out: &mut Vec<DialectEvent>) -> Flow {
        let State::Call(body, offset) = &mut self.state else { return Flow::Wait };
        let text = self.buffer.get(*offset..).unwrap_or_default();
        let begins_at = *offset;
        let step = body.step(text, end, &self.tools, out);
        match step {
            Step::More(length) if end == End::More => {
                if length > 0 {
                    *offset = 0;
                    self.leave_behind(begins_at + length);
                }
                Flow::Wait
            }
            Step::More(length) | Step::Over(length) => {
                self.state = State::Text;
                self.leave_behind(begins_at + length);
                Flow::Again
            }
            Step::NotACall => {
                self.state = State::Text;
                self.denied = true;
                Flow::Again
            }
        }
    }

    /// Tells the words that were scanned, but for blanks at their end.
    fn tell(&mut self, end: End, out: &mut Vec<DialectEvent>) {
        let scanned = self.buffer.get(..self.scanned).unwrap_or_default();
        let words = if end == End::More { scanned.trim_end() } else { scanned }.to_owned();
        self.say(&words, out);
        self.buffer.drain(..words.len());
        self.scanned -= words.len();
    }

    fn say(&mut self, words: &str, out: &mut Vec<DialectEvent>) {
        let words = if self.after_break { words.trim_start() } else { words };
        if !words.is_empty() {
            self.after_break = false;
            out.push(DialectEvent::Text(words.to_owned()));
        }
    }

    fn rest(&self, at: usize) -> &str {
        self.buffer.get(at..).unwrap_or_default()
    }

    fn consume(&mut self, length: usize) {
        let length = length.min(self.buffer.len());
        self.buffer.drain(..length);
    }
}
