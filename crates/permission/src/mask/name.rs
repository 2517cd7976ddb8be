//! Secrets that are recognised by the name before them: `API_KEY=…`,
//! `"password": "…"`, `Authorization: Bearer …`, `?token=…`.

use super::{Span, is_secret, value_at};

/// A word that means a secret when it ends a part of a name.
const WORDS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "credential",
    "credentials",
];

/// Two parts of a name that mean a secret together.
const PAIRS: [(&str, &str); 10] = [
    ("api", "key"),
    ("access", "key"),
    ("account", "key"),
    ("private", "key"),
    ("secret", "key"),
    ("auth", "key"),
    ("signing", "key"),
    ("encryption", "key"),
    ("master", "key"),
    ("storage", "key"),
];

/// What a name ends with that is about a secret and does not hold it.
const ABOUT: [&str; 22] = [
    "file", "path", "name", "id", "url", "uri", "type", "dir", "length", "count", "expiry", "ttl", "env",
    "var", "store", "manager", "stdin", "policy", "limit", "field", "ref", "hash",
];

const LONGEST_SCHEME: usize = 12;

/// How authorisation is announced before the secret itself.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];

pub(super) fn find(text: &str, found: &mut Vec<Span>) {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(begins) = rest.find(is_name) else { return };
        let start = at + begins;
        let name = text.get(start..).unwrap_or_default();
        let name =
            name.get(..name.find(|character| !is_name(character)).unwrap_or(name.len())).unwrap_or_default();
        at = start + name.len();
        if means_secret(name)
            && let Some(value) = value_after(text, name, at)
        {
            // What is hidden as a whole need not be searched.
            at = at.max(value.end);
            found.push(value);
        }
    }
}

/// Whether a variable, a key, a header or an option with this name holds a secret.
pub(super) fn means_secret(name: &str) -> bool {
    let parts = parts(name);
    let Some(last) = parts.last().map(String::as_str) else { return false };
    if ABOUT.contains(&last) {
        return false;
    }
    let alone = parts.len() == 1;
    match last {
        "authorization" | "cookie" | "pass" | "pat" => return last != "pat" || !alone,
        // `PWD` is the working directory.
        "pwd" | "auth" | "psk" if !alone => return true,
        _ => {}
    }
    parts.iter().any(|part| WORDS.iter().any(|word| part.ends_with(word)))
        || parts.windows(2).any(|pair| PAIRS.iter().any(|(one, other)| pair == [*one, *other]))
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// The parts of a name in any spelling, in lower case: `dbPassword`, `DB_PASSWORD`, `db-password`.
fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut lower_before = false;
    for character in name.chars() {
        let is_separator = matches!(character, '_' | '-' | '.');
        if is_separator || (character.is_ascii_uppercase() && lower_before) || parts.is_empty() {
            parts.push(String::new());
        }
        if !is_separator && let Some(last) = parts.last_mut() {
            last.push(character.to_ascii_lowercase());
        }
        lower_before = character.is_ascii_lowercase() || character.is_ascii_digit();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The value of a name that ends at `at`, if a sign of assignment follows.
fn value_after(text: &str, name: &str, at: usize) -> Option<Span> {
    let rest = text.get(at..)?;
    // The quote that the name itself stands in.
    let sign = rest.trim_start_matches(['"', '\'', '\\']).trim_start_matches([' ', '\t']);
    let value = sign.strip_prefix([':', '='])?.trim_start_matches(['=', '>']);
    // `a::b` is a path of a program, `x:/y` a place.
    if value.starts_with([':', '/']) {
        return None;
    }
    let value = value.trim_start_matches([' ', '\t']);
    let start = text.len() - value.len();
    if name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("set-cookie") {
        let length = value.find(['"', '\'', '\n']).unwrap_or(value.len());
        return Some(start..start + length);
    }
    let quoted = value.trim_start_matches(['"', '\'', '\\']);
    if !is_secret(quoted) {
        return None;
    }
    let beginning = quoted.get(..quoted.floor_char_boundary(LONGEST_SCHEME))?;
    let scheme = beginning.get(..beginning.find(char::is_whitespace).unwrap_or(0))?;
    if SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        let secret = quoted.get(scheme.len()..)?.trim_start_matches([' ', '\t']);
        let start = text.len() - secret.len();
        let length = secret.find(['"', '\'', '\n', ' ', '\\']).unwrap_or(secret.len());
        return Some(start..start + length);
    }
    Some(value_at(text, start))
}
