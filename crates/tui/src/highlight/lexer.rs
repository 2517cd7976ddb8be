//! Cuts a line of code into tokens by the table of its language.

use super::Token;
use super::languages::{Extra, Family, Language, Quote};

/// What was open at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Comment {
        close: &'static str,
    },
    Text(&'static Quote),
    /// The inside of a tag of markup.
    Tag,
}

struct Lexer<'a> {
    line: &'a str,
    at: usize,
    tokens: Vec<(Token, &'a str)>,
}

pub(super) fn tokens<'a>(
    language: &'static Language,
    inside: &mut Option<Inside>,
    line: &'a str,
) -> Vec<(Token, &'a str)> {
    let mut lexer = Lexer { line, at: 0, tokens: Vec::new() };
    match language.family {
        Family::Diff => lexer.whole(diff_token(line)),
        Family::Markup => lexer.markup(language, inside),
        Family::Code => lexer.code(language, inside),
    }
    match language.extra {
        Extra::KeysBeforeColon => lexer.name_keys(':'),
        Extra::KeysBeforeEquals => lexer.name_keys('='),
        Extra::None | Extra::Capitals => {}
    }
    lexer.tokens
}

fn diff_token(line: &str) -> Token {
    let starts = |prefix: &str| line.starts_with(prefix);
    match line.as_bytes().first() {
        Some(b'@') => Token::Place,
        _ if starts("+++") || starts("---") || starts("diff ") || starts("index ") => Token::Place,
        Some(b'+') => Token::Added,
        Some(b'-') => Token::Removed,
        _ => Token::Plain,
    }
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn before(&self) -> Option<char> {
        self.line.get(..self.at)?.chars().next_back()
    }

    /// Takes the next bytes as a token; neighbours of one kind become one.
    fn take(&mut self, token: Token, length: usize) {
        let end = self.line.floor_char_boundary(self.at + length);
        let Some(text) = self.line.get(self.at..end).filter(|text| !text.is_empty()) else { return };
        self.at = end;
        if let Some((last, joined)) = self.tokens.last_mut()
            && *last == token
            && token == Token::Plain
        {
            let start = end - text.len() - joined.len();
            *joined = self.line.get(start..end).unwrap_or(text);
            return;
        }
        self.tokens.push((token, text));
    }

    fn whole(&mut self, token: Token) {
        self.take(token, self.line.len());
    }

    /// Goes on in what was open, up to its end or the end of the line.
    fn finish(&mut self, open: Inside, inside: &mut Option<Inside>) {
        let (token, end) = match open {
            Inside::Comment { close } => (Token::Comment, self.rest().find(close).map(|at| at + close.len())),
            Inside::Text(quote) => (Token::Text, text_end(self.rest(), quote)),
            Inside::Tag => return,
        };
        let spans_lines = match open {
            Inside::Text(quote) => quote.lines,
            Inside::Comment { .. } | Inside::Tag => true,
        };
        *inside = (end.is_none() && spans_lines).then_some(open);
        self.take(token, end.unwrap_or(self.rest().len()));
    }

    fn code(&mut self, language: &'static Language, inside: &mut Option<Inside>) {
        if let Some(open) = inside.take() {
            self.finish(open, inside);
        }
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            let fresh = !self.before().is_some_and(is_word);
            if let Some((open, close)) = language.comments.iter().find(|(open, _)| rest.starts_with(open)) {
                self.open(Token::Comment, open.len(), Inside::Comment { close }, inside);
            } else if language
                .line_comments
                .iter()
                .any(|mark| rest.starts_with(mark) && self.may_comment(mark))
            {
                self.take(Token::Comment, rest.len());
            } else if let Some(quote) = language
                .quotes
                .iter()
                .find(|quote| fresh_enough(quote, fresh) && rest.starts_with(quote.open))
            {
                self.quoted(quote, inside);
            } else if first.is_ascii_digit() && fresh {
                self.take(Token::Number, number_length(rest));
            } else if first.is_alphabetic() || first == '_' || language.sigils.contains(first) {
                self.word(language);
            } else {
                self.take(Token::Plain, first.len_utf8());
            }
        }
    }

    /// `#` begins a comment only where a word could begin: not in `$#`, `a#b`, `{#`.
    fn may_comment(&self, mark: &str) -> bool {
        !mark.starts_with('#') || self.before().is_none_or(|c| c.is_whitespace() || ";)]}".contains(c))
    }

    fn open(&mut self, token: Token, length: usize, open: Inside, inside: &mut Option<Inside>) {
        let start = self.at;
        self.take(token, length);
        let count = self.tokens.len();
        self.finish(open, inside);
        // The opening and what follows are one token.
        if self.tokens.len() > count {
            self.tokens.truncate(count - 1);
            self.tokens.push((token, self.line.get(start..self.at).unwrap_or_default()));
        }
    }

    fn quoted(&mut self, quote: &'static Quote, inside: &mut Option<Inside>) {
        if quote.character {
            let body = self.rest().get(1..).unwrap_or_default();
            let length = match body.chars().next() {
                Some('\\') => text_end(body, quote),
                Some(c) => {
                    body.get(c.len_utf8()..).filter(|rest| rest.starts_with('\'')).map(|_| c.len_utf8() + 1)
                }
                None => None,
            };
            // Without its end it is a lifetime or an apostrophe.
            return match length {
                Some(length) => self.take(Token::Text, 1 + length),
                None => self.take(Token::Plain, 1),
            };
        }
        self.open(Token::Text, quote.open.len(), Inside::Text(quote), inside);
    }

    fn word(&mut self, language: &Language) {
        let rest = self.rest();
        let sigil = rest.chars().next().filter(|c| language.sigils.contains(*c));
        let skip = sigil.map_or(0, char::len_utf8);
        let body = rest.get(skip..).unwrap_or_default();
        let dashed = language.dashes;
        let length = body.find(|c| !(is_word(c) || (dashed && c == '-'))).unwrap_or(body.len());
        let word = body.get(..length).unwrap_or_default();
        if sigil.is_some() {
            return self.take(if word.is_empty() { Token::Plain } else { Token::Name }, skip + length);
        }
        let after = body.get(length..).unwrap_or_default();
        let calls = after.starts_with('(') || after.starts_with("!(") || after.starts_with("![");
        let capital = language.extra == Extra::Capitals && word.starts_with(char::is_uppercase);
        let token = match () {
            () if language.has(language.keywords, word) => Token::Keyword,
            () if language.has(language.constants, word) => Token::Constant,
            () if language.has(language.types, word) => Token::Type,
            () if capital && word.len() > 1 && word.chars().all(|c| !c.is_lowercase()) => Token::Constant,
            () if capital => Token::Type,
            () if calls => Token::Function,
            () => Token::Plain,
        };
        self.take(token, length);
    }

    fn markup(&mut self, language: &'static Language, inside: &mut Option<Inside>) {
        let mut in_tag = *inside == Some(Inside::Tag);
        match inside.take() {
            Some(open) if open != Inside::Tag => self.finish(open, inside),
            _ => {}
        }
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            if let Some((open, close)) = language.comments.iter().find(|(open, _)| rest.starts_with(open)) {
                self.open(Token::Comment, open.len(), Inside::Comment { close }, inside);
            } else if first == '<' {
                let length = rest
                    .find(|c: char| !(c.is_alphanumeric() || "</!?:-_.".contains(c)))
                    .unwrap_or(rest.len());
                self.take(Token::Keyword, length.max(1));
                in_tag = length > 1;
            } else if in_tag && (first == '>' || rest.starts_with("/>") || rest.starts_with("?>")) {
                self.take(Token::Keyword, if first == '>' { 1 } else { 2 });
                in_tag = false;
            } else if in_tag && matches!(first, '"' | '\'') {
                let end = rest.get(1..).and_then(|rest| rest.find(first)).map_or(rest.len(), |at| at + 2);
                self.take(Token::Text, end);
            } else if in_tag && (first.is_alphabetic() || first == '_') {
                let length =
                    rest.find(|c: char| !(c.is_alphanumeric() || ":-_.@".contains(c))).unwrap_or(rest.len());
                self.take(Token::Name, length);
            } else {
                self.take(Token::Plain, first.len_utf8());
            }
        }
        if in_tag && inside.is_none() {
            *inside = Some(Inside::Tag);
        }
    }

    /// Makes names of what stands before a sign: `"key":`, `key =`.
    fn name_keys(&mut self, sign: char) {
        let line = self.line;
        let header = sign == '=' && line.trim_start().starts_with('[') && line.trim_end().ends_with(']');
        if header {
            self.tokens = vec![(Token::Type, line)];
            return;
        }
        let mut end = 0;
        let mut renamed: Vec<(Token, &'a str)> = Vec::with_capacity(self.tokens.len());
        let mut named = false;
        for (token, text) in std::mem::take(&mut self.tokens) {
            end += text.len();
            let after = line.get(end..).unwrap_or_default().trim_start();
            if token == Token::Plain && sign == ':' && text.contains([';', ',', '{']) {
                named = false;
            }
            match token {
                Token::Text if after.starts_with(sign) && !named => renamed.push((Token::Name, text)),
                Token::Plain if !named => match bare_key(text, sign) {
                    Some((space, key, rest)) => {
                        let parts = [(Token::Plain, space), (Token::Name, key), (Token::Plain, rest)];
                        renamed.extend(parts.into_iter().filter(|(_, text)| !text.is_empty()));
                        named = true;
                    }
                    None => renamed.push((token, text)),
                },
                _ => renamed.push((token, text)),
            }
        }
        self.tokens = renamed;
    }
}

/// A key without quotes at the beginning of a plain piece: what is before it, the key, what is after it.
fn bare_key(text: &str, sign: char) -> Option<(&str, &str, &str)> {
    let at = text.find(sign)?;
    let (head, rest) = text.split_at_checked(at)?;
    if sign == ':' && !(rest.len() == 1 || rest.get(1..)?.starts_with([' ', '\t'])) {
        return None;
    }
    let head = head.trim_end();
    let start = head.rfind(|c: char| !(is_word(c) || "-.".contains(c))).map_or(0, |before| {
        before + head.get(before..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    let key = head.get(start..).filter(|key| !key.is_empty())?;
    Some((text.get(..start)?, key, text.get(start + key.len()..)?))
}

fn fresh_enough(quote: &Quote, fresh: bool) -> bool {
    fresh || !quote.open.starts_with(char::is_alphabetic)
}

/// Where a text ends, its closing quote included.
fn text_end(text: &str, quote: &Quote) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if quote.escapes && rest.starts_with('\\') {
            at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
        } else if rest.starts_with(quote.close) {
            return Some(at + quote.close.len());
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

fn number_length(rest: &str) -> usize {
    let mut length = 0;
    let mut characters = rest.chars().peekable();
    while let Some(c) = characters.next() {
        let point = c == '.' && characters.peek().is_some_and(char::is_ascii_digit);
        if !(is_word(c) || point) {
            break;
        }
        length += c.len_utf8();
    }
    length
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
