//! Whether a text from somebody's rule is one plain command.
//!
//! Not a parser: it only has to find reasons to say no. What it lets through
//! has no operator, no substitution and no open quote.

use super::NotUnderstood;

/// Words that begin or end a construct and are no commands.
const FRAGMENTS: [&str; 19] = [
    "for", "while", "until", "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "select",
    "function", "in", "{", "}", "[[", "!",
];

/// What stands in a command that has a meaning of its own in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Signs {
    /// A `*` within quotes: not a wildcard of the rule but an argument.
    pub quoted_star: bool,
    /// A `?`.
    pub question: bool,
    /// A backslash.
    pub backslash: bool,
}

/// What stands in a text that is one plain command.
pub(super) fn plain(text: &str) -> Result<Signs, NotUnderstood> {
    let first = text.split_whitespace().next().unwrap_or_default();
    if FRAGMENTS.contains(&first) || first.starts_with(['-', '#']) {
        return Err(NotUnderstood::Fragment { word: first.to_owned() });
    }
    let mut signs = Signs::default();
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character.is_control() && character != '\t' {
            return Err(NotUnderstood::SeveralCommands);
        }
        signs.question |= character == '?';
        signs.backslash |= character == '\\';
        signs.quoted_star |= character == '*' && quote.is_some();
        match (quote, character) {
            (Some(open), found) if found == open => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None | Some('"'), '\\') => {
                characters.next();
            }
            (None | Some('"'), '`') => return Err(NotUnderstood::SeveralCommands),
            (None | Some('"'), '$') if characters.peek() == Some(&'(') => {
                return Err(NotUnderstood::SeveralCommands);
            }
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')') => return Err(NotUnderstood::SeveralCommands),
            _ => {}
        }
    }
    if quote.is_some() {
        return Err(NotUnderstood::OpenQuote);
    }
    Ok(signs)
}

impl Signs {
    /// Whether the text covers no more as a pattern of ours than it did where it comes from, given that `*`
    /// is a wildcard there and nothing else is.
    pub fn check_for_allow(self) -> Result<(), NotUnderstood> {
        if self.question {
            return Err(NotUnderstood::Character {
                character: '?',
                meaning: "stands for any character here",
            });
        }
        if self.backslash {
            return Err(NotUnderstood::Character {
                character: '\\',
                meaning: "also stands for a slash here",
            });
        }
        if self.quoted_star {
            return Err(NotUnderstood::Character {
                character: '*',
                meaning: "is a wildcard within quotes, too",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plain_command_is_let_through() {
        for text in [
            "git log",
            "npm run test:unit",
            "git commit -m 'a; b && c'",
            "echo \"a|b\"",
            "A=1 make",
            "curl https://x.io/a#b",
            "docker ps --filter name=x",
            "echo $HOME",
        ] {
            assert_eq!(plain(text), Ok(Signs::default()), "{text}");
        }
        assert!(
            plain("rg '*.rs' a?b \\x")
                .is_ok_and(|signs| { signs == Signs { quoted_star: true, question: true, backslash: true } })
        );
    }

    #[test]
    fn more_than_one_command_and_pieces_of_one_are_not() {
        for text in [
            "a && b",
            "a | b",
            "a; b",
            "a & b",
            "a\nb",
            "a > b",
            "a 2>&1",
            "a $(b)",
            "a \"$(b)\"",
            "a `b`",
            "a \"`b`\"",
            "(a)",
            "a <(b)",
            "a\u{0}b",
        ] {
            assert_eq!(plain(text), Err(NotUnderstood::SeveralCommands), "{text}");
        }
        for text in ["done", "do echo x", "for f in a", "then make", "--body x", "# note", "! a", "{ a"] {
            assert!(matches!(plain(text), Err(NotUnderstood::Fragment { .. })), "{text}");
        }
        assert_eq!(plain("git commit -m \"a"), Err(NotUnderstood::OpenQuote));
        assert_eq!(plain("a 'b\\'c"), Ok(Signs { backslash: true, ..Signs::default() }));
    }
}
