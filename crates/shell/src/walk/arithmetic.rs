//! Arithmetic can run commands: a variable that holds `a[$(cmd)]` runs `cmd`
//! when a number is made of it. So every operand must be known to be a number.

use super::{Context, Walker};
use crate::analysis::{Reason, Span};
use crate::state::{State, Value, is_number};
use crate::syntax::cursor::{continues_name, starts_name};
use crate::syntax::tree::Part;
use crate::word::Word;

impl Walker<'_> {
    /// Judges arithmetic text and follows what it assigns.
    pub(super) fn arithmetic(&mut self, parts: &[Part], span: Span, state: &mut State, context: &Context) {
        let mut safe = true;
        let mut names = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => safe &= self.arithmetic_text(text, state, &mut names),
                Part::Arithmetic(inside) => self.arithmetic(inside, span, state, context),
                other => {
                    let environment = match other {
                        Part::Parameter(parameter) => {
                            parameter.subscript.is_none() && state.get(&parameter.name) == Value::Environment
                        }
                        _ => false,
                    };
                    let value = self.part(other, span, state, context);
                    let positional = value.holes().any(|hole| hole.why == crate::word::Why::Positional);
                    safe &= is_number(Some(&value)) || (environment && !positional);
                }
            }
        }
        if !safe {
            self.unknown(Reason::Arithmetic, shown(parts), span);
        }
        let assigns = parts.iter().any(|part| matches!(part, Part::Text(text) if assigns(text)));
        if assigns {
            for name in names {
                state.set_number(&name);
            }
        }
    }

    /// Whether bare arithmetic text has only numbers, operators and names that hold numbers.
    fn arithmetic_text(&self, text: &str, state: &State, names: &mut Vec<String>) -> bool {
        let mut characters = text.chars().peekable();
        let mut safe = true;
        while let Some(next) = characters.next() {
            if next.is_ascii_digit() {
                // Hexadecimal digits and bases belong to the number.
                while characters.next_if(|next| continues_name(*next) || *next == '#').is_some() {}
            } else if starts_name(next) {
                let mut name = String::from(next);
                while let Some(more) = characters.next_if(|next| continues_name(*next)) {
                    name.push(more);
                }
                safe &= holds_number(&name, state);
                names.push(name);
            } else {
                safe &= next.is_ascii_whitespace() || "+-*/%<>=!&|^~?:,()[];@".contains(next);
            }
        }
        safe
    }

    /// Judges words that a builtin evaluates as arithmetic, such as those of `let` and of `[[ a -eq b ]]`.
    pub(crate) fn evaluated(&mut self, word: &Word, span: Span, state: &mut State) {
        let mut names = Vec::new();
        let known = match word.literal() {
            Some(text) => self.arithmetic_text(text, state, &mut names),
            None => is_number(Some(word)),
        };
        let environment = word.holes().all(|hole| {
            hole.shown.strip_prefix('$').is_some_and(|name| state.get(name) == Value::Environment)
                && hole.why == crate::word::Why::Variable
        });
        let safe = known || word.has_hole() && environment;
        if !safe {
            self.unknown(Reason::Arithmetic, word.shown(), span);
        }
        for name in names {
            state.set_number(&name);
        }
    }
}

fn holds_number(name: &str, state: &State) -> bool {
    match state.get(name) {
        Value::Environment => true,
        Value::Set(word) => is_number(Some(&word)),
    }
}

fn assigns(text: &str) -> bool {
    text.contains("++")
        || text.contains("--")
        || text.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "").contains('=')
        || text.contains("<<=")
        || text.contains(">>=")
}

fn shown(parts: &[Part]) -> String {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Quoted(text) => text.as_str(),
            Part::Parameter(parameter) => parameter.shown.as_str(),
            _ => "…",
        })
        .collect()
}
