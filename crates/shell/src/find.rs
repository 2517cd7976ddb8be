//! `find` and `fd`: the commands that they run on what they find.

use crate::word::{Hole, Piece, Why, Word};

/// A command that `find` runs.
pub(crate) struct Action {
    pub name: String,
    pub argv: Vec<Word>,
    /// It has its `;` or `+`.
    pub complete: bool,
}

/// The words without its actions, and the actions.
pub(crate) fn split(program: &str, words: &[Word]) -> (Vec<Word>, Vec<Action>) {
    let names: &[&str] = if program == "find" {
        &["-exec", "-execdir", "-ok", "-okdir"]
    } else {
        &["-x", "-X", "--exec", "--exec-batch"]
    };
    let mut rest = Vec::new();
    let mut actions: Vec<Action> = Vec::new();
    let mut open = false;
    for word in words {
        let literal = word.literal();
        if let (true, Some(action)) = (open, actions.last_mut()) {
            let ends = literal == Some(";")
                || literal == Some("+") && action.argv.last().and_then(Word::literal) == Some("{}");
            if ends {
                action.complete = true;
                open = false;
            } else {
                action.argv.push(word.clone());
            }
        } else if let Some(name) = literal.filter(|name| names.contains(name)) {
            // fd's command may go on to the end of the line.
            actions.push(Action { name: name.to_owned(), argv: Vec::new(), complete: program != "find" });
            open = true;
        } else {
            rest.push(word.clone());
        }
    }
    (rest, actions)
}

/// The places where a search starts.
pub(crate) fn starts(program: &str, words: &[Word]) -> Vec<Word> {
    if program != "find" {
        let operands: Vec<Word> =
            words.iter().filter(|word| !word.start().starts_with('-')).cloned().collect();
        let starts: Vec<Word> = operands.iter().skip(1).cloned().collect();
        return if starts.is_empty() { vec![Word::text(".")] } else { starts };
    }
    let mut starts = Vec::new();
    for word in words {
        match word.start() {
            "-H" | "-L" | "-P" => {}
            start if start.starts_with('-') || matches!(start, "(" | "!" | ",") => break,
            _ => starts.push(word.clone()),
        }
    }
    if starts.is_empty() { vec![Word::text(".")] } else { starts }
}

/// An argument with what was found in the place of `{}`.
pub(crate) fn filled(word: &Word, start: &Word) -> Word {
    let mut filled = Word::default();
    for piece in word.pieces() {
        let Piece::Text(text) = piece else {
            filled.push(piece.clone());
            continue;
        };
        for (index, part) in text.split("{}").enumerate() {
            if index > 0 {
                found(start, &mut filled);
            }
            filled.push(Piece::Text(part.to_owned()));
        }
    }
    filled
}

fn found(start: &Word, filled: &mut Word) {
    start.pieces().iter().for_each(|piece| filled.push(piece.clone()));
    if !start.start().ends_with('/') || start.pieces().len() > 1 {
        filled.push(Piece::Text("/".into()));
    }
    filled.push(Piece::Hole(Hole { shown: "{}".into(), why: Why::Found, many: false }));
}
