//! How a call, a section of calls or reasoning begins in text, and what reads
//! it from there.
//!
//! An opening is a tag and a look at what follows it: a text that merely talks
//! about a tag goes on otherwise than a call does. It is decided from the text
//! alone, never from how it was split.

use super::offered::OfferedTools;
use super::scanner::DialectEvent;

/// Something that begins in text.
pub(super) struct Opening {
    pub(super) tag: &'static str,
    pub(super) place: Place,
    pub(super) begins: fn(&str, &Look) -> Verdict,
}

/// Where an opening counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Anywhere but in code and in quotes.
    Anywhere,
    /// Where nothing but blanks is before it on its line.
    LineStart,
    /// Where nothing but blanks is before it in the answer, or since the last call or reasoning.
    Beginning,
}

/// What is known when an opening is looked at.
pub(super) struct Look<'a> {
    /// The text from the tag on.
    pub(super) from: &'a str,
    /// The word right before the tag.
    pub(super) lead: &'a str,
    pub(super) tools: &'a OfferedTools,
    pub(super) trust: Trust,
    /// Whether a section of calls is open.
    pub(super) section: bool,
    pub(super) end: End,
}

/// How much a tag is worth by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// It is of the model's own dialect.
    Chosen,
    /// Only what calls an offered tool counts.
    Unmistakable,
}

/// Whether more text will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It may.
    More,
    /// No: the model has said all that it wanted to.
    Natural,
    /// No: it was cut.
    Cut,
}

/// What a look at an opening says.
pub(super) enum Verdict {
    /// Nothing begins here.
    No,
    /// It takes more text to tell.
    More,
    /// This begins, so many bytes behind the tag.
    Begins(usize, What),
    /// This begins, and the tag is a part of it.
    BeginsWithTag(What),
}

/// What begins.
pub(super) enum What {
    /// A section of calls.
    Section,
    /// What follows a section of calls.
    SectionEnd,
    /// Nothing: a tag that nobody should see.
    Nothing,
    /// Thinking aloud, up to one of these.
    Reasoning(&'static [Closer]),
    /// A call.
    Call(Box<dyn Body>),
    /// What nobody should read: the rest of the text.
    Garbage,
}

/// What ends reasoning.
#[derive(Debug, Clone, Copy)]
pub(super) enum Closer {
    /// A tag that belongs to it.
    Eaten(&'static str),
    /// A tag with which something else begins.
    Kept(&'static str),
}

impl Closer {
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::Eaten(tag) | Self::Kept(tag) => tag,
        }
    }
}

/// Reads a call, or several, from behind an opening.
///
/// Contract for implementers: `text` begins where the body begins, or behind what
/// was consumed of it. What is emitted must not depend on how the text was split.
/// When no more text will come, the answer is not `More`.
pub(super) trait Body: Send {
    /// Reads what it can.
    fn step(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Step;
}

/// How far a body has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// So many bytes are done with, and more text is needed.
    More(usize),
    /// It ends after so many bytes.
    Over(usize),
    /// It was no call, and nothing of it was emitted or consumed.
    NotACall,
}

/// Whether a text begins with one of several tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    No,
    More,
    /// Up to this many bytes.
    Yes(usize),
}

impl Look<'_> {
    /// Whether a name may be that of a call.
    pub(super) fn accepts(&self, name: &str) -> bool {
        self.tools.meant(name).is_some() || (self.trust == Trust::Chosen && is_name(name))
    }

    /// Whether a name of which only the beginning has come may become that of a call.
    pub(super) fn may_accept(&self, begun: &str) -> bool {
        match self.trust {
            Trust::Chosen => begun.is_empty() || is_name(begun),
            Trust::Unmistakable => self.tools.may_become(begun),
        }
    }

    /// A whole name, or one of which more may come.
    pub(super) fn name(&self, text: &str, is_whole: bool) -> Match {
        match is_whole || self.end != End::More {
            true if self.accepts(text) => Match::Yes(text.len()),
            true => Match::No,
            false if self.may_accept(text) => Match::More,
            false => Match::No,
        }
    }

    /// What follows blanks.
    pub(super) fn follows(&self, text: &str, tokens: &[&str]) -> Match {
        follows(text, tokens, self.end)
    }
}

/// Whether something could be a tool's name.
fn is_name(name: &str) -> bool {
    const LONGEST: usize = 100;
    !name.is_empty()
        && name.len() <= LONGEST
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'))
}

/// Whether one of the tokens follows blanks, and where it ends.
pub(super) fn follows(text: &str, tokens: &[&str], end: End) -> Match {
    let rest = text.trim_start();
    let blanks = text.len() - rest.len();
    if let Some(token) = tokens.iter().find(|token| rest.starts_with(**token)) {
        return Match::Yes(blanks + token.len());
    }
    let begun = tokens.iter().any(|token| token.starts_with(rest));
    if begun && end == End::More { Match::More } else { Match::No }
}

/// The earliest of several tags in a text, from a place on: where it is and which; or, if a tag may be about to begin,
/// where.
pub(super) fn find(text: &str, from: usize, tags: &[&'static str], end: End) -> Found {
    let mut at = from;
    while let Some(rest) = text.get(at..) {
        let Some(next) = rest.find(|c: char| tags.iter().any(|tag| tag.starts_with(c))) else { break };
        at += next;
        let Some(rest) = text.get(at..) else { break };
        if let Some(tag) = tags.iter().find(|tag| rest.starts_with(**tag)) {
            return Found::Tag(at, tag);
        }
        if end == End::More && tags.iter().any(|tag| tag.starts_with(rest)) {
            return Found::Half(at);
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    Found::Nothing
}

/// What [`find`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Tag(usize, &'static str),
    Half(usize),
    Nothing,
}
