//! Tells from the first words of a JSON value whether it is a call.
//!
//! Ordinary JSON in an answer is told to the person as it comes; so this looks no
//! further than it must. A value that does not say early what it calls is looked
//! at whole.

use serde_json::{Map, Value};

use super::balance::{Balance, Quotes};
use super::literal::{BareWords, read};
use super::opening::{End, Look, Match, Trust};

/// Under what a tool's name is written.
const NAME_KEYS: [&str; 6] = ["name", "tool", "tool_name", "function_name", "recipient_name", "function"];
/// Under what arguments are written.
const ARGUMENT_KEYS: [&str; 6] = ["arguments", "parameters", "args", "input", "tool_input", "params"];
/// What a call may be wrapped in.
const WRAPPERS: [&str; 3] = ["function", "tool_call", "function_call"];

/// Whether a call begins here, behind blanks. What matches is nothing: the value is read by its body.
pub(super) fn call(text: &str, look: &Look) -> Match {
    match words(text, look) {
        Heard::Call => Match::Yes(0),
        Heard::Other => Match::No,
        Heard::Unclear if look.end == End::More => Match::More,
        Heard::Unclear => whole(text, look),
        Heard::Late => whole(text, look),
    }
}

enum Heard {
    Call,
    Other,
    /// More has to come.
    Unclear,
    /// The name comes late.
    Late,
}

fn words(text: &str, look: &Look) -> Heard {
    let mut rest = text.trim_start();
    if let Some(list) = rest.strip_prefix('[') {
        rest = list.trim_start();
    }
    let Some(mut rest) = rest.strip_prefix('{') else {
        return if rest.is_empty() { Heard::Unclear } else { Heard::Other };
    };
    rest = rest.trim_start();
    // Some prompts show two braces, and models take that at its word.
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner.trim_start();
    }
    let (key, behind) = match key(rest) {
        Ok(found) => found,
        Err(heard) => return heard,
    };
    let value = behind.trim_start();
    let is_string = value.starts_with(['"', '\'']);
    match key {
        _ if value.is_empty() => Heard::Unclear,
        "type" if value.starts_with("\"function\"") => Heard::Late,
        "type" if "\"function\"".starts_with(value) => Heard::Unclear,
        _ if NAME_KEYS.contains(&key) && is_string => name(value, look),
        _ if ARGUMENT_KEYS.contains(&key) || WRAPPERS.contains(&key) => Heard::Late,
        _ if look.tools.meant(key).is_some() && value.starts_with('{') => Heard::Call,
        _ => Heard::Other,
    }
}

/// A key and what is behind its colon.
fn key(rest: &str) -> Result<(&str, &str), Heard> {
    const LONGEST: usize = 100;
    let Some((key, behind)) = string(rest) else {
        let begun = rest.is_empty() || (rest.starts_with(['"', '\'']) && rest.len() < LONGEST);
        return Err(if begun { Heard::Unclear } else { Heard::Other });
    };
    let behind = behind.trim_start();
    match behind.strip_prefix(':') {
        Some(behind) => Ok((key, behind)),
        None if behind.is_empty() => Err(Heard::Unclear),
        None => Err(Heard::Other),
    }
}

fn name(value: &str, look: &Look) -> Heard {
    let Some((name, behind)) = string(value) else {
        let begun = value.get(1..).unwrap_or_default();
        return if look.may_accept(begun) { Heard::Unclear } else { Heard::Other };
    };
    if look.tools.meant(name).is_some() {
        return Heard::Call;
    }
    if look.trust == Trust::Unmistakable || !look.accepts(name) {
        return Heard::Other;
    }
    // A name that nobody knows is a call's only if arguments follow: much that is no call has a name.
    let behind = behind.trim_start();
    match behind.strip_prefix(',').map(str::trim_start) {
        Some(next) => match key(next) {
            Ok((key, _)) if ARGUMENT_KEYS.contains(&key) => Heard::Call,
            Ok(_) => Heard::Other,
            Err(heard) => heard,
        },
        None if behind.is_empty() => Heard::Unclear,
        None => Heard::Other,
    }
}

/// A quoted text without escapes, and what is behind it.
fn string(rest: &str) -> Option<(&str, &str)> {
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    rest.get(1..)?.split_once(quote).filter(|(text, _)| !text.contains('\\'))
}

/// Looks at the whole value, once it is there.
fn whole(text: &str, look: &Look) -> Match {
    let mut balance = Balance::new(Quotes::Json);
    let end = text.char_indices().find(|(_, character)| balance.feed(*character)).map(|(at, _)| at + 1);
    let Some(value) = end.and_then(|end| text.get(..end)) else {
        return if look.end == End::More { Match::More } else { Match::No };
    };
    let first = match parsed(value) {
        Some(Value::Array(items)) => items.into_iter().next(),
        value => value,
    };
    let called = first.and_then(|value| extracted(&value));
    match called {
        Some((name, _)) if look.accepts(&name) => Match::Yes(0),
        _ => Match::No,
    }
}

/// A JSON text, with the slips of models.
pub(super) fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| read(text.trim(), BareWords::Refused))
}

/// The name and the arguments in an object that is a call.
pub(super) fn extracted(value: &Value) -> Option<(String, Value)> {
    let fields = value.as_object()?;
    if let Some(inner) = WRAPPERS.iter().find_map(|key| fields.get(*key).filter(|value| value.is_object())) {
        return extracted(inner);
    }
    let named = NAME_KEYS.iter().find_map(|key| Some((*key, fields.get(*key)?.as_str()?)));
    let Some((name_key, name)) = named else {
        // The name as the only key.
        let (name, arguments) = fields.iter().next().filter(|_| fields.len() == 1)?;
        return arguments.is_object().then(|| (name.clone(), arguments.clone()));
    };
    let arguments = ARGUMENT_KEYS.iter().find_map(|key| fields.get(*key)).cloned();
    let flat = || -> Map<String, Value> {
        let others = fields.iter().filter(|(key, _)| *key != name_key && *key != "type" && *key != "id");
        others.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    Some((name.to_owned(), arguments.unwrap_or_else(|| Value::Object(flat()))))
}

/// Whether an object says which of it are the arguments.
pub(super) fn has_arguments(value: &Value) -> bool {
    ARGUMENT_KEYS.iter().chain(&WRAPPERS).any(|key| value.get(key).is_some())
}

/// If the object begins as most do, the name and where the arguments begin.
pub(super) fn early(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('{')?.trim_start();
    let (first, behind) = key(rest).ok().filter(|(first, _)| NAME_KEYS.contains(first))?;
    let _ = first;
    let (name, behind) = string(behind.trim_start())?;
    let next = behind.trim_start().strip_prefix(',')?.trim_start();
    let (_, value) = key(next).ok().filter(|(second, _)| ARGUMENT_KEYS.contains(second))?;
    let value = value.trim_start();
    value.starts_with('{').then(|| (name, text.len() - value.len()))
}

/// The name in a value that cannot be read.
pub(super) fn guessed_name(text: &str) -> Option<&str> {
    let behind = text.split_once("\"name\"")?.1.trim_start().strip_prefix(':')?.trim_start();
    string(behind).map(|(name, _)| name).filter(|name| !name.is_empty())
}
