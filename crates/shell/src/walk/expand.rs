//! Words: from what is written to what a program would get.

use super::brace::{self, Braces};
use super::{Context, Walker};
use crate::analysis::{Reason, Span};
use crate::state::{State, Value};
use crate::syntax::cursor::is_name;
use crate::syntax::tree::{Element, Part, RawWord, Script};
use crate::word::{Hole, Piece, Why, Word};

/// Words being built from one raw word.
#[derive(Default)]
pub(super) struct Fields {
    done: Vec<Word>,
    current: Word,
    /// The current word exists even if nothing is in it: there were quotes.
    present: bool,
}

impl Fields {
    pub(super) fn piece(&mut self, piece: Piece) {
        self.present = true;
        self.current.push(piece);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.piece(Piece::Text(text.to_owned()));
    }

    pub(super) fn end(&mut self) {
        if self.present {
            self.done.push(std::mem::take(&mut self.current));
            self.present = false;
        }
    }

    fn finish(mut self) -> Vec<Word> {
        self.end();
        self.done
    }
}

impl Walker<'_> {
    /// The arguments that raw words become.
    pub(super) fn words(&mut self, raw: &[RawWord], state: &mut State, context: &Context) -> Vec<Word> {
        let mut words = Vec::new();
        for word in raw {
            words.extend(self.word(word, state, context));
        }
        words
    }

    /// The arguments that one raw word becomes: none, one or many.
    pub(super) fn word(&mut self, raw: &RawWord, state: &mut State, context: &Context) -> Vec<Word> {
        let span = context.span(raw.span);
        if !self.spend(raw.span.end.saturating_sub(raw.span.start)) {
            self.unknown(Reason::Limit("too much text"), "", span);
            return vec![hole("…", Why::Limit, true)];
        }
        match brace::expand(&raw.parts) {
            Braces::None => self.fields(&raw.parts, span, state, context),
            Braces::Words(all) => {
                all.iter().flat_map(|parts| self.fields(parts, span, state, context)).collect()
            }
            Braces::Numbers => vec![hole("{…}", Why::Number, true)],
            Braces::TooMany => {
                // What the braces hold is still looked at for substitutions.
                self.value(&raw.parts, span, state, context);
                vec![hole("{…}", Why::Limit, true)]
            }
        }
    }

    fn fields(&mut self, parts: &[Part], span: Span, state: &mut State, context: &Context) -> Vec<Word> {
        let mut fields = Fields::default();
        let closes = parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains(']')));
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    let last = parts.len() == index + 1;
                    let rest = if index == 0 { tilde(text, last, state, &mut fields) } else { text };
                    bare_text(rest, closes, &mut fields);
                }
                Part::Quoted(text) => fields.text(text),
                Part::Double(inside) => self.double(inside, span, state, context, &mut fields),
                Part::Parameter(parameter) => {
                    if !self.positional(parameter, false, state, &mut fields) {
                        let value = self.parameter(parameter, span, state, context);
                        split(&value, state, &mut fields);
                    }
                }
                Part::Array(elements) => self.elements(elements, span, state, context),
                Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => {
                    let value = self.part(part, span, state, context);
                    split(&value, state, &mut fields);
                }
            }
        }
        fields.finish()
    }

    fn double(
        &mut self,
        parts: &[Part],
        span: Span,
        state: &mut State,
        context: &Context,
        fields: &mut Fields,
    ) {
        let nothing = state.positional.as_deref().is_some_and(Vec::is_empty);
        if nothing && matches!(parts, [Part::Parameter(parameter)] if parameter.shown == "$@") {
            // The one thing in quotes that can be no word at all.
            return;
        }
        fields.text("");
        for part in parts {
            if let Part::Parameter(parameter) = part
                && self.positional(parameter, true, state, fields)
            {
                continue;
            }
            for piece in self.part(part, span, state, context).pieces() {
                fields.piece(piece.clone());
            }
        }
    }

    /// The value of parts where nothing splits and nothing globs: assignments, redirections, here-documents.
    pub(super) fn value(&mut self, parts: &[Part], span: Span, state: &mut State, context: &Context) -> Word {
        let mut word = Word::default();
        for (index, part) in parts.iter().enumerate() {
            if let Part::Text(text) = part {
                let last = parts.len() == index + 1;
                for (number, segment) in text.split(':').enumerate() {
                    let mut fields = Fields::default();
                    if number > 0 {
                        fields.text(":");
                    }
                    let whole = last || text.matches(':').count() > number;
                    let begins = index == 0 || number > 0;
                    let rest = if begins { tilde(segment, whole, state, &mut fields) } else { segment };
                    fields.text(rest);
                    fields.current.pieces().iter().for_each(|piece| word.push(piece.clone()));
                }
                continue;
            }
            for piece in self.part(part, span, state, context).pieces() {
                word.push(piece.clone());
            }
        }
        word
    }

    /// The value of one part as if it stood in double quotes.
    pub(super) fn part(&mut self, part: &Part, span: Span, state: &mut State, context: &Context) -> Word {
        match part {
            Part::Text(text) | Part::Quoted(text) => Word::text(text.clone()),
            Part::Double(inside) => {
                let mut word = Word::default();
                for part in inside {
                    for piece in self.part(part, span, state, context).pieces() {
                        word.push(piece.clone());
                    }
                }
                word
            }
            Part::Parameter(parameter) => self.parameter(parameter, span, state, context),
            Part::Substitution { script, outer } => {
                let mut inner = context.clone();
                inner.outer = context.outer.or(*outer);
                self.substitution(script, state, &inner)
            }
            Part::Process { script } => {
                let printed = self.substitution(script, state, context);
                hole("<(…)", if printed.is_fetched() { Why::FetchedPipe } else { Why::Pipe }, false)
            }
            Part::Arithmetic(parts) => {
                self.arithmetic(parts, span, state, context);
                hole("$((…))", Why::Number, false)
            }
            Part::Array(elements) => {
                self.elements(elements, span, state, context);
                Word::default()
            }
        }
    }

    pub(super) fn elements(
        &mut self,
        elements: &[Element],
        span: Span,
        state: &mut State,
        context: &Context,
    ) {
        for element in elements {
            if let Some(subscript) = &element.subscript {
                self.arithmetic(subscript, span, state, context);
            }
            self.word(&element.value, state, context);
        }
    }

    /// Walks what `$(…)` runs. The value is known only where the command is: `$(pwd)`.
    fn substitution(&mut self, script: &Script, state: &State, context: &Context) -> Word {
        let mut inside = state.clone();
        let mut inner = context.clone();
        inner.place.substitution = true;
        let produced = self.script(script, &mut inside, &inner);
        match produced.text {
            Some(text) => Word::text(text.trim_end_matches('\n')),
            None if produced.number => hole("$(…)", Why::Number, false),
            None if produced.fetches => hole("$(…)", Why::Fetched, false),
            None => hole("$(…)", Why::Output, false),
        }
    }
}

pub(super) fn hole(shown: &str, why: Why, many: bool) -> Word {
    Word::from_pieces([Piece::Hole(Hole { shown: shown.to_owned(), why, many })])
}

/// Bare text, its patterns as globs.
fn bare_text(text: &str, closes: bool, fields: &mut Fields) {
    for segment in text.split_inclusive(['*', '?', '[']) {
        let glob = match segment.chars().last() {
            Some(last @ ('*' | '?')) => Some(last),
            Some('[') if closes => Some('['),
            _ => None,
        };
        match glob {
            Some(last) => {
                fields.text(segment.strip_suffix(last).unwrap_or(segment));
                fields.piece(Piece::Glob(last.to_string()));
            }
            None => fields.text(segment),
        }
    }
}

/// Takes a tilde off the start of bare text and puts the directory there. `whole` says that nothing else follows the
/// text in its word: what follows a tilde up to a slash must not be quoted.
fn tilde<'t>(text: &'t str, whole: bool, state: &State, fields: &mut Fields) -> &'t str {
    let (before, after) = match text.split_once('=') {
        Some((name, after)) if is_name(name) && after.starts_with('~') => (name.len() + 1, after),
        _ => (0, text),
    };
    let Some(after) = after.strip_prefix('~') else { return text };
    let (user, rest) = match after.find('/') {
        Some(slash) => after.split_at(slash),
        None if whole => (after, ""),
        None => return text,
    };
    let directory = match user {
        "" => match state.get("HOME") {
            Value::Set(home) => home,
            Value::Environment => hole("~", Why::Home, false),
        },
        "+" => match state.directory() {
            Some(directory) => Word::text(directory),
            None => hole("~+", Why::Variable, false),
        },
        "-" => hole("~-", Why::Variable, false),
        name if name.chars().all(|next| next.is_ascii_alphanumeric() || "._-".contains(next)) => {
            hole(&format!("~{name}"), Why::Home, false)
        }
        _ => return text,
    };
    fields.text(text.get(..before).unwrap_or_default());
    directory.pieces().iter().for_each(|piece| fields.piece(piece.clone()));
    rest
}

/// What an expansion outside of quotes becomes: known text splits and globs, a hole may be any number of words.
fn split(value: &Word, state: &State, fields: &mut Fields) {
    for piece in value.pieces() {
        match piece {
            Piece::Text(text) if !state.usual_splitting => {
                fields.piece(Piece::Hole(Hole { shown: text.clone(), why: Why::Variable, many: true }));
            }
            Piece::Text(text) => split_text(text, fields),
            Piece::Glob(glob) => fields.piece(Piece::Glob(glob.clone())),
            Piece::Hole(hole) => {
                let many = hole.many
                    || !matches!(hole.why, Why::Number | Why::Background | Why::Pipe | Why::FetchedPipe);
                fields.piece(Piece::Hole(Hole { many, ..hole.clone() }));
            }
        }
    }
}

fn split_text(text: &str, fields: &mut Fields) {
    let blank = |character: char| matches!(character, ' ' | '\t' | '\n');
    if text.starts_with(blank) {
        fields.end();
    }
    for (index, segment) in text.split(blank).filter(|segment| !segment.is_empty()).enumerate() {
        if index > 0 {
            fields.end();
        }
        bare_text(segment, segment.contains(']'), fields);
    }
    if text.ends_with(blank) {
        fields.end();
    }
}
