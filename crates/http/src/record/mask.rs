//! What must not be in a recording, and taking it out.
//!
//! Three nets: secrets that are known, in every way in which they may be
//! written; names of headers, parameters and fields that hold secrets; and
//! texts that look like a key, whoever's they are. Rather too much is masked
//! than too little.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Url;
use serde_json::Value;

use crate::request::host_of;

/// What stands for a secret.
pub(super) const MASK: &str = "***";
/// Shorter values are placeholders, and masking them would garble texts.
const SHORTEST: usize = 8;
/// How long a word may be that could still turn out to be a key.
const LONGEST_KEY: usize = 512;
/// How keys begin, and how long they are at least.
const KEYS: [(&str, usize); 20] = [
    ("sk-", 20),
    ("sk_live_", 20),
    ("rk_live_", 20),
    ("gsk_", 24),
    ("xai-", 24),
    ("pplx-", 24),
    ("hf_", 24),
    ("nvapi-", 24),
    ("AIza", 35),
    ("ya29.", 24),
    ("AKIA", 20),
    ("ASIA", 20),
    ("ABSK", 40),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xoxb-", 24),
    ("eyJhbGciOi", 60),
];
/// Fields of JSON and of forms that hold secrets.
const FIELDS: [&str; 17] = [
    "api_key",
    "apikey",
    "x_api_key",
    "authorization",
    "password",
    "passwd",
    "secret",
    "client_secret",
    "assertion",
    "access_token",
    "refresh_token",
    "id_token",
    "session_token",
    "private_key",
    "secret_access_key",
    "cookie",
    "set_cookie",
];

/// The secrets of a recording.
#[derive(Default)]
pub(super) struct Mask {
    /// Longest first: a secret may hold another one.
    secrets: Vec<String>,
}

impl Mask {
    /// Knows one more secret, however it is written.
    pub(super) fn learn(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < SHORTEST {
            return;
        }
        let escaped = Value::from(secret).to_string();
        let escaped = escaped.trim_matches('"').to_owned();
        let slashes = escaped.replace('/', "\\/");
        let forms = [
            secret.to_owned(),
            escaped,
            slashes,
            percent(secret),
            STANDARD.encode(secret),
            URL_SAFE_NO_PAD.encode(secret),
        ];
        for form in forms {
            if !self.secrets.contains(&form) {
                self.secrets.push(form);
            }
        }
        self.secrets.sort_by_key(|form| std::cmp::Reverse(form.len()));
    }

    /// Whether nothing more is to be learned from a value.
    pub(super) fn knows(&self, secret: &str) -> bool {
        secret.len() < SHORTEST || self.secrets.iter().any(|known| known == secret)
    }

    /// A text without secrets.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), MASK));
            }
        }
        without_keys(&without_private_keys(&text)).into_owned()
    }

    /// Bytes without secrets. What is no text keeps its length: it may be counted elsewhere.
    pub(super) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        match String::from_utf8(bytes) {
            Ok(text) => self.text(&text).into_bytes(),
            Err(error) => {
                let mut bytes = error.into_bytes();
                for secret in &self.secrets {
                    blank(&mut bytes, secret.as_bytes());
                }
                bytes
            }
        }
    }

    /// JSON without secrets.
    pub(super) fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                let masked = fields.into_iter().map(|(name, value)| match value {
                    Value::String(text) if is_secret_field(&name) && !text.is_empty() => (name, MASK.into()),
                    value => (self.text(&name), self.value(value)),
                });
                Value::Object(masked.collect())
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }

    /// The value of a header without secrets.
    pub(super) fn header(&self, name: &str, value: &str) -> String {
        if is_secret_header(name) { MASK.to_owned() } else { self.text(value) }
    }

    /// An address without a user, a password, and parameters that hold secrets.
    pub(super) fn url(&self, url: &Url) -> String {
        let mut text = format!("{}://{}{}", url.scheme(), host_of(url), url.path());
        for (number, pair) in
            url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).enumerate()
        {
            let name = pair.split('=').next().unwrap_or_default();
            text.push(if number == 0 { '?' } else { '&' });
            text.push_str(name);
            if let Some((_, value)) = pair.split_once('=') {
                text.push('=');
                text.push_str(if is_secret_header(name) || is_secret_field(name) { MASK } else { value });
            }
        }
        self.text(&text)
    }

    /// How many bytes at the end of a text may be the beginning of a secret.
    pub(super) fn open_end(&self, bytes: &[u8]) -> usize {
        let word = bytes.iter().rev().take(LONGEST_KEY + 1).take_while(|byte| is_key_byte(**byte)).count();
        let word = if word > LONGEST_KEY { 0 } else { word };
        let known = self.secrets.iter().filter_map(|secret| longest_begun(bytes, secret.as_bytes())).max();
        word.max(known.unwrap_or(0)).max(open_character(bytes))
    }
}

/// The longest end of `bytes` that `secret` begins with and goes on after.
fn longest_begun(bytes: &[u8], secret: &[u8]) -> Option<usize> {
    let most = secret.len().saturating_sub(1).min(bytes.len());
    (1..=most).rev().find(|length| {
        let end = bytes.get(bytes.len() - length..).unwrap_or_default();
        secret.starts_with(end)
    })
}

/// How many bytes at the end belong to a character that is not whole.
fn open_character(bytes: &[u8]) -> usize {
    let tail = bytes.get(bytes.len().saturating_sub(3)..).unwrap_or_default();
    let begun = tail.iter().rposition(|byte| *byte >= 0xC0);
    match begun.map(|at| (tail.len() - at, tail.get(at).copied().unwrap_or_default())) {
        Some((length, first)) if length < character_length(first) => length,
        _ => 0,
    }
}

fn character_length(first: u8) -> usize {
    match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    }
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.~+/=".contains(&byte)
}

/// A text in which words that look like keys are masked.
fn without_keys(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut masked = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| is_key_byte(*byte))) {
        let begin = at + found;
        let rest = bytes.get(begin..).unwrap_or_default();
        let length = rest.iter().position(|byte| !is_key_byte(*byte)).unwrap_or(rest.len());
        let word = text.get(begin..begin + length).unwrap_or_default();
        if let Some(inside) = key_in(word) {
            masked.push_str(text.get(copied..begin + inside).unwrap_or_default());
            masked.push_str(MASK);
            copied = begin + length;
        }
        at = begin + length;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(masked)
}

/// Where in a word a key begins: at its beginning, or behind `=` or `/`.
fn key_in(word: &str) -> Option<usize> {
    let starts = std::iter::once(0).chain(word.match_indices(['=', '/']).map(|(at, _)| at + 1));
    starts.take(64).find(|at| {
        let rest = word.get(*at..).unwrap_or_default();
        KEYS.iter().any(|(prefix, least)| rest.len() >= *least && rest.starts_with(prefix))
    })
}

fn without_private_keys(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = "PRIVATE KEY-----";
    const END: &str = "-----END";
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let (head, tail) = rest.split_at(at + BEGIN.len());
        masked.push_str(head);
        masked.push_str(MASK);
        rest = tail.find(END).and_then(|end| tail.get(end..)).unwrap_or_default();
        // What ends one key must not begin another.
        let skip = rest.find(BEGIN).map_or(0, |at| at + BEGIN.len());
        if rest.starts_with(END) && skip > 0 && skip < 64 {
            masked.push_str(rest.get(..skip).unwrap_or_default());
            rest = rest.get(skip..).unwrap_or_default();
        }
    }
    masked.push_str(rest);
    Cow::Owned(masked)
}

fn blank(bytes: &mut [u8], secret: &[u8]) {
    let mut at = 0;
    while at + secret.len() <= bytes.len() {
        match bytes.get_mut(at..at + secret.len()) {
            Some(window) if *window == *secret => {
                window.fill(b'*');
                at += secret.len();
            }
            _ => at += 1,
        }
    }
}

pub(super) fn is_secret_field(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    FIELDS.contains(&name.as_str())
}

fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let inside = ["authorization", "cookie", "api-key", "apikey", "secret", "password", "credential"];
    let last = ["token", "key", "signature", "sig"];
    inside.iter().any(|word| name.contains(word)) || last.iter().any(|word| name.ends_with(word))
}

fn percent(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mask() -> Mask {
        let mut mask = Mask::default();
        mask.learn("canary/\"value\"");
        mask.learn("short");
        mask
    }

    #[test]
    fn a_known_secret_is_masked_however_it_is_written() {
        let written = [
            "canary/\"value\"".to_owned(),
            json!("canary/\"value\"").to_string(),
            json!("canary/\"value\"").to_string().replace('/', "\\/"),
            "canary%2F%22value%22".to_owned(),
            STANDARD.encode("canary/\"value\""),
        ];
        for text in written {
            let masked = mask().text(&format!("a {text} b short"));
            assert!(masked.contains("***") && masked.ends_with(" b short"), "{masked}");
            assert!(!masked.contains("canary") && !masked.contains(&text), "{masked}");
        }
    }

    #[test]
    fn what_looks_like_a_key_is_masked_and_what_does_not_is_kept() {
        let table = [
            ("key=sk-abcdefghijklmnopqrstuvwx.", "key=***"),
            ("AKIAIOSFODNN7EXAMPLE and more", "*** and more"),
            ("https://host/sk-abcdefghijklmnopqrstuvwx", "https://host/***"),
            ("a task-list of sk- things, sk-short", "a task-list of sk- things, sk-short"),
            ("xsk-abcdefghijklmnopqrstuvwx", "xsk-abcdefghijklmnopqrstuvwx"),
            ("\u{e9}ghp_abcdefghijklmnopqrstuvwxyz0123\u{e9}", "\u{e9}***\u{e9}"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest",
                "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nrest",
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----***"),
        ];
        for (text, expected) in table {
            assert_eq!(mask().text(text), expected, "{text}");
        }
    }

    #[test]
    fn names_tell_secrets_too() {
        let value = json!({"api_key": "a", "n": [{"Client-Secret": "b"}], "max_tokens": 5, "password": {"type": "string"}});
        let expected = json!({"api_key": "***", "n": [{"Client-Secret": "***"}], "max_tokens": 5, "password": {"type": "string"}});
        assert_eq!(mask().value(value), expected);
        for (name, secret) in [
            ("Authorization", true),
            ("x-api-key", true),
            ("x-goog-api-key", true),
            ("x-amz-security-token", true),
            ("set-cookie", true),
            ("x-ratelimit-remaining-tokens", false),
            ("anthropic-version", false),
            ("retry-after", false),
        ] {
            assert_eq!(mask().header(name, "value") == MASK, secret, "{name}");
        }
        let url = Url::parse("https://user:pass@host:8/v1/x?alt=sse&key=abc&b").unwrap();
        assert_eq!(mask().url(&url), "https://host:8/v1/x?alt=sse&key=***&b");
    }

    #[test]
    fn the_end_of_a_text_is_open_as_long_as_a_secret_may_go_on() {
        let table: [(&[u8], usize); 6] = [
            (b"", 0),
            (b"done. ", 0),
            (b"so canary", 6),
            (b"so canary/\"val", 11),
            ("caf\u{e9} ".as_bytes(), 0),
            (b" \xF0\x9F\x98", 3),
        ];
        for (text, expected) in table {
            assert_eq!(mask().open_end(text), expected, "{text:?}");
        }
        assert_eq!(mask().open_end(&[b'x'; 600]), 0);
    }

    #[test]
    fn bytes_that_are_no_text_keep_their_length() {
        let mut mask = Mask::default();
        mask.learn("canaryvalue");
        assert_eq!(mask.bytes(b"\xFFcanaryvalue\xFF".to_vec()), b"\xFF***********\xFF");
    }
}
