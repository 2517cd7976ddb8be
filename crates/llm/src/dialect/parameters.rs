//! Reads calls whose arguments are tags: one for each parameter, with its value
//! between them.
//!
//! Owns the way from tags to JSON: the tool's schema says what a value is. A value
//! may hold the tags themselves: what closes it is a closing tag behind which the
//! call goes on or ends.

use serde_json::Value;

use super::coerce::{Types, from_text};
use super::offered::OfferedTools;
use super::opening::{Body, End, Match, Step, follows};
use super::scanner::DialectEvent;

/// What the tags look like.
pub(super) struct Syntax {
    /// Whether a parameter begins here.
    pub(super) open: fn(&str, End) -> Opened,
    /// Whether a value ends here, and how long what ends it is.
    pub(super) close: fn(&str, End) -> Match,
    /// What ends a call and belongs to it.
    pub(super) ends: &'static [&'static str],
    /// What begins behind a call that was not ended.
    pub(super) stops: &'static [&'static str],
    /// What of a value is not meant.
    pub(super) padding: Padding,
}

/// What of a value is not meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Padding {
    /// Nothing.
    None,
    /// One end of line on either side.
    Lines,
}

/// Whether a parameter begins.
pub(super) enum Opened {
    No,
    More,
    /// Its name, how long its tag is, and whether the tag says that it is a string.
    Parameter(String, usize, Option<Said>),
}

/// What a tag says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    String,
    Other,
}

/// Reads a call.
pub(super) struct Parameters {
    syntax: &'static Syntax,
    written: String,
    tool: Option<String>,
    arguments: String,
    count: usize,
    value: Option<Open>,
    skipped: bool,
}

/// The value that is being read.
struct Open {
    types: Types,
    streamed: bool,
    /// How much of the text has been looked at.
    at: usize,
    /// Whether its first line has begun.
    begun: bool,
}

impl Parameters {
    pub(super) fn new(name: &str, syntax: &'static Syntax) -> Box<Self> {
        Box::new(Self {
            syntax,
            written: name.to_owned(),
            tool: None,
            arguments: String::new(),
            count: 0,
            value: None,
            skipped: false,
        })
    }

    /// Whether something stood between parameters.
    pub(super) fn skipped(&self) -> bool {
        self.skipped
    }

    fn write(&mut self, piece: &str, out: &mut Vec<DialectEvent>) {
        if !piece.is_empty() {
            self.arguments.push_str(piece);
            out.push(DialectEvent::CallDelta(piece.to_owned()));
        }
    }

    fn open(&mut self, key: &str, said: Option<Said>, tools: &OfferedTools, out: &mut Vec<DialectEvent>) {
        let types = match said {
            Some(Said::String) => Types::of(&serde_json::json!({"type": "string"})),
            Some(Said::Other) | None => tools.types(&self.written, key),
        };
        let separator = if self.count == 0 { "{" } else { "," };
        self.count += 1;
        let piece = format!("{separator}{}:", Value::String(key.to_owned()));
        self.write(&piece, out);
        let streamed = types.only_string();
        if streamed {
            self.write("\"", out);
        }
        self.value = Some(Open { types, streamed, at: 0, begun: false });
    }

    /// Follows a value.
    fn follow(&mut self, text: &str, end: End, out: &mut Vec<DialectEvent>) -> Followed {
        let Some(mut open) = self.value.take() else { return Followed::Closed(0) };
        let seen = self.seen(text, &mut open.at, end);
        if let Seen::Closed(at, length) = seen {
            let value = self.unpadded(text.get(..at).unwrap_or_default(), &open);
            // Without a tag of its own, the end of the line is all that ends it.
            let value = if length == 0 { without_last_line_end(value) } else { value };
            let piece = match open.streamed {
                true => format!("{}\"", escaped(value)),
                false => from_text(value, &open.types).to_string(),
            };
            self.write(&piece, out);
            return Followed::Closed(at + length);
        }
        if end != End::More {
            // What it would have become cannot be told; without its quote it is no value.
            self.write(&escaped(text), out);
            return Followed::Broken;
        }
        let mut taken = 0;
        if let (true, Seen::Until(until)) = (open.streamed, seen) {
            let piece = text.get(..until).unwrap_or_default();
            let (value, length) = self.ready(piece, &mut open);
            self.write(&escaped(value), out);
            taken = length;
            open.at -= length;
        }
        self.value = Some(open);
        Followed::More(taken)
    }

    /// Where a value ends, or how far it goes on for sure.
    fn seen(&self, text: &str, at: &mut usize, end: End) -> Seen {
        while let Some(next) = text.get(*at..).and_then(|rest| rest.find('<')) {
            *at += next;
            match (self.syntax.close)(text.get(*at..).unwrap_or_default(), end) {
                Match::Yes(length) => return Seen::Closed(*at, length),
                Match::More if end == End::More => return Seen::Until(*at),
                Match::More | Match::No => *at += 1,
            }
        }
        *at = text.len();
        Seen::Until(*at)
    }

    /// What of a piece can be told, and how much of the text that is.
    fn ready<'a>(&self, piece: &'a str, open: &mut Open) -> (&'a str, usize) {
        if self.syntax.padding == Padding::None {
            // The tag that ends it may be missing, and then an end of line is not meant.
            let kept = without_last_line_end(piece);
            let kept = kept.strip_suffix('\r').unwrap_or(kept);
            return (kept, kept.len());
        }
        let mut value = piece;
        if !open.begun {
            if piece.is_empty() || piece == "\r" {
                return ("", 0);
            }
            value = without_first_line_end(piece);
            open.begun = true;
        }
        // An end of line may be the last.
        let kept = without_last_line_end(value);
        let kept = kept.strip_suffix('\r').unwrap_or(kept);
        (kept, piece.len() - (value.len() - kept.len()))
    }

    fn unpadded<'a>(&self, text: &'a str, open: &Open) -> &'a str {
        match (self.syntax.padding, open.begun) {
            (Padding::None, _) => text,
            (Padding::Lines, true) => without_last_line_end(text),
            (Padding::Lines, false) => without_last_line_end(without_first_line_end(text)),
        }
    }

    /// What is between values.
    fn between(&mut self, text: &str, end: End) -> Between {
        let rest = text.trim_start();
        let blanks = text.len() - rest.len();
        if rest.is_empty() {
            return if end == End::More { Between::More } else { Between::Over(text.len(), Ended::Without) };
        }
        match (self.syntax.open)(rest, end) {
            Opened::Parameter(key, length, said) => return Between::Parameter(key, blanks + length, said),
            Opened::More if end == End::More => return Between::More,
            Opened::More | Opened::No => {}
        }
        match (follows(rest, self.syntax.ends, end), follows(rest, self.syntax.stops, end)) {
            (Match::Yes(length), _) => Between::Over(blanks + length, Ended::Properly),
            (_, Match::Yes(_)) => Between::Over(0, Ended::Properly),
            (Match::More, _) | (_, Match::More) => Between::More,
            (Match::No, Match::No) => Between::Skip(blanks + rest.chars().next().map_or(0, char::len_utf8)),
        }
    }

    fn complete(&mut self, ended: Ended, end: End, out: &mut Vec<DialectEvent>) {
        // More parameters may have been to come.
        if ended == Ended::Properly || end == End::Natural {
            self.write(if self.count == 0 { "{}" } else { "}" }, out);
        } else if self.count == 0 {
            self.write("{", out);
        }
        self.tell(out);
    }

    fn tell(&mut self, out: &mut Vec<DialectEvent>) {
        let tool = self.tool.take().unwrap_or_default();
        out.push(DialectEvent::CallCompleted { tool, arguments: std::mem::take(&mut self.arguments) });
    }
}

impl Body for Parameters {
    fn step(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Step {
        if self.tool.is_none() {
            let tool = tools.name(&self.written);
            out.push(DialectEvent::CallStarted { tool: tool.clone() });
            self.tool = Some(tool);
        }
        let mut done = 0;
        loop {
            let rest = text.get(done..).unwrap_or_default();
            if self.value.is_some() {
                match self.follow(rest, end, out) {
                    Followed::Closed(length) => done += length,
                    Followed::More(length) => return Step::More(done + length),
                    Followed::Broken => {
                        self.tell(out);
                        return Step::Over(text.len());
                    }
                }
                continue;
            }
            match self.between(rest, end) {
                Between::More => return Step::More(done),
                Between::Skip(length) => {
                    self.skipped = true;
                    done += length;
                }
                Between::Parameter(key, length, said) => {
                    self.open(&key, said, tools, out);
                    done += length;
                }
                Between::Over(length, ended) => {
                    self.complete(ended, end, out);
                    return Step::Over(done + length);
                }
            }
        }
    }
}

enum Seen {
    /// Here, and this long is what ends it.
    Closed(usize, usize),
    Until(usize),
}

enum Followed {
    Closed(usize),
    More(usize),
    Broken,
}

enum Between {
    More,
    Skip(usize),
    Parameter(String, usize, Option<Said>),
    Over(usize, Ended),
}

#[derive(PartialEq, Eq)]
enum Ended {
    Properly,
    Without,
}

/// Whether a value ends with one of the closing tags: only if the call goes on or ends behind it.
pub(super) fn closes(text: &str, closers: &[&str], next: &[&str], end: End) -> Match {
    let Match::Yes(length) = follows(text, closers, end) else { return follows(text, closers, end) };
    let behind = text.get(length..).unwrap_or_default();
    match follows(behind, next, end) {
        Match::Yes(_) => Match::Yes(length),
        Match::No if behind.trim().is_empty() => Match::Yes(length),
        other => other,
    }
}

/// The name in quotes with which a tag goes on, and where the tag ends.
pub(super) fn quoted_name(text: &str) -> Option<(&str, usize)> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let (name, behind) = text.get(1..)?.split_once(quote)?;
    let end = behind.find('>')?;
    Some((name, text.len() - behind.len() + end + 1))
}

fn without_first_line_end(text: &str) -> &str {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text)
}

fn without_last_line_end(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |rest| rest.strip_suffix('\r').unwrap_or(rest))
}

/// A text as a piece of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}
