//! Secrets that are recognised by what they look like: tokens with a
//! well-known beginning, private keys, and the user information of a URL.

use super::Span;

/// Which characters a token goes on with.
#[derive(Clone, Copy)]
enum Alphabet {
    /// Letters, digits, `_` and `-`.
    Word,
    /// Capitals and digits.
    Capitals,
    /// As `Word`, with dots.
    Dotted,
}

/// How well-known tokens begin, how many characters follow at least, and which.
const TOKENS: [(&str, usize, Alphabet); 27] = [
    ("sk-", 16, Alphabet::Word),
    ("sk_live_", 8, Alphabet::Word),
    ("sk_test_", 8, Alphabet::Word),
    ("rk_live_", 8, Alphabet::Word),
    ("whsec_", 16, Alphabet::Word),
    ("ghp_", 16, Alphabet::Word),
    ("gho_", 16, Alphabet::Word),
    ("ghu_", 16, Alphabet::Word),
    ("ghs_", 16, Alphabet::Word),
    ("ghr_", 16, Alphabet::Word),
    ("github_pat_", 16, Alphabet::Word),
    ("glpat-", 16, Alphabet::Word),
    ("xoxb-", 10, Alphabet::Word),
    ("xoxp-", 10, Alphabet::Word),
    ("xoxa-", 10, Alphabet::Word),
    ("xapp-", 10, Alphabet::Word),
    ("npm_", 30, Alphabet::Word),
    ("pypi-", 16, Alphabet::Word),
    ("hf_", 20, Alphabet::Word),
    ("gsk_", 20, Alphabet::Word),
    ("AIza", 30, Alphabet::Word),
    ("ya29.", 20, Alphabet::Dotted),
    ("hvs.", 20, Alphabet::Dotted),
    ("SG.", 30, Alphabet::Dotted),
    ("dop_v1_", 30, Alphabet::Word),
    ("AKIA", 16, Alphabet::Capitals),
    ("ASIA", 16, Alphabet::Capitals),
];

pub(super) fn find(text: &str, found: &mut Vec<Span>) {
    let mut before = None;
    for (at, character) in text.char_indices() {
        let begins = !before.is_some_and(is_word);
        before = Some(character);
        if begins && character.is_ascii_alphabetic() {
            found.extend(token_at(text, at));
            found.extend(web_token_at(text, at));
        } else if begins && character == '-' {
            found.extend(private_key_at(text, at));
        } else if character == ':' {
            found.extend(user_information_at(text, at));
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

impl Alphabet {
    fn has(self, character: char) -> bool {
        match self {
            Self::Word => is_word(character),
            Self::Capitals => character.is_ascii_uppercase() || character.is_ascii_digit(),
            Self::Dotted => is_word(character) || character == '.',
        }
    }
}

fn token_at(text: &str, at: usize) -> Option<Span> {
    let rest = text.get(at..)?;
    TOKENS.iter().find_map(|(beginning, least, alphabet)| {
        let body = rest.strip_prefix(beginning)?;
        let length = body.find(|character| !alphabet.has(character)).unwrap_or(body.len());
        (length >= *least).then(|| at..at + beginning.len() + length)
    })
}

/// A JSON web token: three parts, of which the first is an object.
fn web_token_at(text: &str, at: usize) -> Option<Span> {
    let rest = text.get(at..).filter(|rest| rest.starts_with("eyJ"))?;
    let length = rest.find(|character| !Alphabet::Dotted.has(character)).unwrap_or(rest.len());
    let token = rest.get(..length)?;
    let parts: Vec<&str> = token.split('.').collect();
    let long =
        parts.first().is_some_and(|part| part.len() > 8) && parts.get(1).is_some_and(|part| part.len() > 8);
    (parts.len() >= 3 && long).then(|| at..at + length)
}

fn private_key_at(text: &str, at: usize) -> Option<Span> {
    let rest = text.get(at..).filter(|rest| rest.starts_with("-----BEGIN "))?;
    // A heading is short, and a text may have many that are none.
    let line = rest.get(..rest.floor_char_boundary(80))?;
    let heading = line.get(5..)?.find("-----").and_then(|end| line.get(..end + 10))?;
    if !heading.ends_with("PRIVATE KEY-----") {
        return None;
    }
    let start = at + heading.len();
    let inside = text.get(start..)?;
    Some(start..start + inside.find("-----END").unwrap_or(inside.len()))
}

/// The password of `scheme://user:password@host`, and a user that is itself a token.
fn user_information_at(text: &str, colon: usize) -> Option<Span> {
    /// Longer names of users than this are keys.
    const LONGEST_USER: usize = 24;
    let start = colon + 3;
    let rest = text.get(colon..)?.strip_prefix("://")?;
    let ends = |character: char| {
        character.is_whitespace() || matches!(character, '/' | '?' | '#' | '"' | '\'' | '`')
    };
    let authority = rest.get(..rest.find(ends).unwrap_or(rest.len()))?;
    let (information, _) = authority.rsplit_once('@')?;
    match information.split_once(':') {
        Some((user, _)) => Some(start + user.len() + 1..start + information.len()),
        None => (information.len() > LONGEST_USER).then(|| start..start + information.len()),
    }
}
