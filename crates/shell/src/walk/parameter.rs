//! `$x` and `${…}`: values where they are known, holes where they are not.

use super::expand::{Fields, hole};
use super::{Context, Walker};
use crate::analysis::{Reason, Span};
use crate::glob;
use crate::state::{State, Value};
use crate::syntax::tree::{Operation, Parameter, Part};
use crate::word::{Hole, Piece, Why, Word};

impl Walker<'_> {
    /// `$@` and `$*`, which are several words. False if it is another parameter.
    pub(super) fn positional(
        &mut self,
        parameter: &Parameter,
        quoted: bool,
        state: &State,
        fields: &mut Fields,
    ) -> bool {
        let all = matches!(parameter.name.as_str(), "@" | "*") && parameter.operation == Operation::Plain;
        if !all || (quoted && parameter.name == "*") {
            return false;
        }
        match state.positional.as_deref() {
            Some(words) if quoted || words.iter().all(simple) => {
                for (index, word) in words.iter().enumerate() {
                    if index > 0 {
                        fields.end();
                    }
                    fields.text("");
                    word.pieces().iter().for_each(|piece| fields.piece(piece.clone()));
                }
            }
            _ => fields.piece(Piece::Hole(Hole {
                shown: parameter.shown.clone(),
                why: Why::Positional,
                many: true,
            })),
        }
        true
    }

    /// The value of a parameter, before any splitting.
    pub(super) fn parameter(
        &mut self,
        parameter: &Parameter,
        span: Span,
        state: &mut State,
        context: &Context,
    ) -> Word {
        let whole_array = parameter
            .subscript
            .as_deref()
            .is_some_and(|subscript| matches!(subscript, [Part::Text(text)] if text == "@" || text == "*"));
        if let Some(subscript) = parameter.subscript.as_deref().filter(|_| !whole_array) {
            self.arithmetic(subscript, span, state, context);
        }
        let value = if parameter.subscript.is_some() {
            hole(&parameter.shown, Why::Variable, whole_array)
        } else {
            self.plain(parameter, state)
        };
        let length = value.pieces().len() + value.start().len();
        if !self.spend(length) {
            self.unknown(Reason::Limit("too much text"), "", span);
            return hole(&parameter.shown, Why::Limit, true);
        }
        self.operated(parameter, value, span, state, context)
    }

    fn plain(&self, parameter: &Parameter, state: &State) -> Word {
        let shown = &parameter.shown;
        match parameter.name.as_str() {
            "?" | "#" | "$" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "BASHPID"
            | "EPOCHSECONDS" | "COLUMNS" | "LINES" | "SHLVL" => hole(shown, Why::Number, false),
            "!" => hole(shown, Why::Background, false),
            "@" | "*" => hole(shown, Why::Positional, true),
            "-" | "_" => hole(shown, Why::Variable, false),
            "PWD" => match (state.get("PWD"), state.directory()) {
                (Value::Set(word), _) => word,
                (Value::Environment, Some(directory)) => Word::text(directory),
                (Value::Environment, None) => hole(shown, Why::Variable, false),
            },
            digits if digits.starts_with(|first: char| first.is_ascii_digit()) => {
                let place = digits.parse::<usize>().unwrap_or_default().checked_sub(1);
                let words = state.positional.as_deref();
                match (place, words) {
                    (Some(place), Some(words)) => words.get(place).cloned().unwrap_or_default(),
                    _ => hole(shown, Why::Positional, false),
                }
            }
            name => match state.get(name) {
                Value::Set(word) => word,
                Value::Environment => hole(shown, Why::Variable, false),
            },
        }
    }

    fn operated(
        &mut self,
        parameter: &Parameter,
        value: Word,
        span: Span,
        state: &mut State,
        context: &Context,
    ) -> Word {
        let shown = parameter.shown.as_str();
        let unknown = hole(shown, Why::Variable, value.is_many());
        match &parameter.operation {
            Operation::Plain => value,
            Operation::Length => hole(shown, Why::Number, false),
            Operation::Names => unknown,
            Operation::Indirect => {
                let plain = value.literal().is_some_and(crate::syntax::cursor::is_name);
                if plain {
                    return match state.get(value.literal().unwrap_or_default()) {
                        Value::Set(word) => word,
                        Value::Environment => unknown,
                    };
                }
                self.unknown(
                    Reason::Code("the name of a variable may hold a subscript, which is evaluated"),
                    shown,
                    span,
                );
                unknown
            }
            Operation::Default { colon, word } => {
                let default = self.value(word, span, state, context);
                match value.literal() {
                    Some("") if *colon && splits(word, &default) => unknown,
                    Some("") if *colon => default,
                    Some(_) => value,
                    None => unknown,
                }
            }
            Operation::Assign { word } => {
                self.value(word, span, state, context);
                match value.literal() {
                    Some(text) if !text.is_empty() => value,
                    _ => {
                        self.assigned_name(&parameter.name, span, state);
                        unknown
                    }
                }
            }
            Operation::Alternate { word } => {
                let alternate = self.value(word, span, state, context);
                match value.literal() {
                    Some(_) if splits(word, &alternate) => unknown,
                    Some(text) if !text.is_empty() => alternate,
                    _ => unknown,
                }
            }
            Operation::Require { word } => {
                self.value(word, span, state, context);
                value
            }
            Operation::Trim { suffix, longest, pattern } => {
                let pattern = self.pattern(pattern, span, state, context);
                let trimmed = value
                    .literal()
                    .zip(pattern)
                    .and_then(|(text, pattern)| trimmed(text, &pattern, *suffix, *longest));
                trimmed.map_or(unknown, Word::text)
            }
            Operation::Rewrite { words } => {
                self.value(words, span, state, context);
                unknown
            }
            Operation::Slice { header } => {
                self.arithmetic(header, span, state, context);
                unknown
            }
            Operation::Transform('P') => {
                self.unknown(Reason::Code("a prompt expansion runs the commands in a value"), shown, span);
                unknown
            }
            Operation::Transform(_) => unknown,
        }
    }

    /// A name got a value that is not followed.
    pub(super) fn assigned_name(&mut self, name: &str, span: Span, state: &mut State) {
        self.assigned(name, &crate::state::variable(name), span, state);
    }

    /// A pattern as text, quoted characters escaped; none if part of it is not known.
    fn pattern(
        &mut self,
        parts: &[Part],
        span: Span,
        state: &mut State,
        context: &Context,
    ) -> Option<String> {
        let mut pattern = Some(String::new());
        for part in parts {
            // Every part is walked, also once the pattern is known to be unknown: there may be commands in it.
            let (text, bare) = match part {
                // A tilde is a directory here, and parentheses may be more than they seem.
                Part::Text(text) => (Some(text.clone()).filter(|text| !text.contains(['~', '('])), true),
                other => (self.part(other, span, state, context).literal().map(str::to_owned), false),
            };
            pattern = pattern.zip(text).map(|(mut pattern, text)| {
                for character in text.chars() {
                    if !bare && "*?[]\\".contains(character) {
                        pattern.push('\\');
                    }
                    pattern.push(character);
                }
                pattern
            });
        }
        pattern
    }
}

/// Whether the value of an operator's word depends on quotes: those in it keep text together that would fall apart
/// without them, and those around it make a tilde a character.
fn splits(parts: &[Part], value: &Word) -> bool {
    let quotes = parts.iter().any(|part| matches!(part, Part::Quoted(_) | Part::Double(_)));
    let tilde = parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains('~')));
    tilde
        || quotes
            && (value
                .literal()
                .is_none_or(|text| text.is_empty() || text.contains([' ', '\t', '\n', '*', '?', '['])))
}

fn simple(word: &Word) -> bool {
    word.literal().is_some_and(|text| !text.is_empty() && !text.contains([' ', '\t', '\n', '*', '?', '[']))
}

/// `${x#pattern}` and its kind on known text.
fn trimmed(text: &str, pattern: &str, suffix: bool, longest: bool) -> Option<String> {
    if text.len() > 1024 || pattern.len() > 256 || pattern.contains('[') {
        return None;
    }
    let mut places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
    places.push(text.len());
    if suffix != longest {
        places.reverse();
    }
    for place in places {
        let (head, tail) = text.split_at(place);
        let (candidate, rest) = if suffix { (tail, head) } else { (head, tail) };
        if glob::matches(pattern, candidate) {
            return Some(rest.to_owned());
        }
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::trimmed;

    #[test]
    fn trims_are_those_of_bash() {
        for (text, pattern, suffix, longest, expected) in [
            ("a/b/c.tar.gz", "*/", false, false, "b/c.tar.gz"),
            ("a/b/c.tar.gz", "*/", false, true, "c.tar.gz"),
            ("a/b/c.tar.gz", ".*", true, false, "a/b/c.tar"),
            ("a/b/c.tar.gz", ".*", true, true, "a/b/c"),
            ("a/b/c.tar.gz", ".zip", true, true, "a/b/c.tar.gz"),
            ("a*b", "\\*b", true, false, "a"),
        ] {
            assert_eq!(
                trimmed(text, pattern, suffix, longest).as_deref(),
                Some(expected),
                "{text} {pattern}"
            );
        }
    }
}
