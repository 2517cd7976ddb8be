//! Reads calls that are Python: `name(argument=value)`, in a list, behind `print`
//! or an assignment.
//!
//! Owns the block: it is kept until it is whole, because only then can it be told
//! what is a call.

use serde_json::{Map, Value};

use super::balance::{Balance, Quotes};
use super::json_body::emit;
use super::literal::{BareWords, Reader};
use super::offered::OfferedTools;
use super::opening::{Body, End, Step};
use super::scanner::DialectEvent;

/// Reads calls.
pub(super) struct PythonBody {
    extent: Extent,
    balance: Balance,
    at: usize,
}

/// How far the block goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// To the bracket that closes its first one.
    Brackets,
    /// To one of these tags, which belong to it, or to the end.
    Tags(&'static [&'static str]),
}

impl PythonBody {
    pub(super) fn new(extent: Extent) -> Box<Self> {
        Box::new(Self { extent, balance: Balance::new(Quotes::Python), at: 0 })
    }

    /// The length of the block, and with what ends it.
    fn extent(&mut self, text: &str, end: End) -> Option<(usize, usize)> {
        while let Some(rest) = text.get(self.at..).filter(|rest| !rest.is_empty()) {
            if let Extent::Tags(tags) = self.extent
                && !self.balance.in_words()
            {
                if let Some(tag) = tags.iter().find(|tag| rest.starts_with(**tag)) {
                    return Some((self.at, self.at + tag.len()));
                }
                if end == End::More && tags.iter().any(|tag| tag.starts_with(rest)) {
                    return None;
                }
            }
            let character = rest.chars().next()?;
            let whole = self.balance.feed(character);
            self.at += character.len_utf8();
            if whole && self.extent == Extent::Brackets {
                return Some((self.at, self.at));
            }
        }
        match (end, self.extent) {
            (End::Natural, _) => Some((text.len(), text.len())),
            (End::Cut, Extent::Tags(_)) if self.balance.depth() == 0 => Some((text.len(), text.len())),
            (End::More | End::Cut, _) => None,
        }
    }
}

impl Body for PythonBody {
    fn step(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Step {
        let Some((length, whole)) = self.extent(text, end) else {
            return if end == End::More { Step::More(0) } else { Step::NotACall };
        };
        let mut block = text.get(..length).unwrap_or_default().to_owned();
        let calls = calls(&block).or_else(|| {
            block.push_str(&self.balance.missing(0).filter(|_| end == End::Natural)?);
            calls(&block)
        });
        match calls {
            Some(calls) if !calls.is_empty() => {
                for (name, arguments) in calls {
                    emit(tools, &name, &Value::Object(arguments).to_string(), out);
                }
                Step::Over(whole)
            }
            _ => Step::NotACall,
        }
    }
}

/// The calls in a block of Python; nothing if it holds anything else.
pub(super) fn calls(block: &str) -> Option<Vec<(String, Map<String, Value>)>> {
    let mut reader = Reader::new(block, BareWords::Refused);
    let mut calls = Vec::new();
    loop {
        separators(&mut reader);
        if reader.rest().is_empty() {
            return Some(calls);
        }
        let name = reader.name()?;
        reader.skip_blank();
        if reader.take("=") {
            // The name of what the result goes to.
            continue;
        }
        reader.take("(").then_some(())?;
        if name == "print" {
            continue;
        }
        let arguments = arguments(&mut reader)?;
        calls.push((name.to_owned(), arguments));
    }
}

/// What may be around calls.
fn separators(reader: &mut Reader) {
    loop {
        reader.skip_blank();
        if !["[", "]", ",", ";", ")"].iter().any(|token| reader.take(token)) {
            return;
        }
    }
}

/// Arguments with names, up to the closing bracket. One without a name has no place in an object.
fn arguments(reader: &mut Reader) -> Option<Map<String, Value>> {
    let mut arguments = Map::new();
    loop {
        reader.skip_blank();
        if reader.take(")") {
            return Some(arguments);
        }
        if reader.take("**") || reader.rest().starts_with('{') {
            let Some(Value::Object(fields)) = reader.value(0) else { return None };
            arguments.extend(fields);
        } else {
            let key = reader.name()?.to_owned();
            reader.skip_blank();
            reader.take("=").then_some(())?;
            arguments.insert(key, reader.value(0)?);
        }
        reader.skip_blank();
        if !reader.take(",") && !reader.rest().starts_with(')') {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(block: &str) -> Option<Vec<(String, Value)>> {
        let calls = calls(block)?;
        Some(calls.into_iter().map(|(name, fields)| (name, Value::Object(fields))).collect())
    }

    #[test]
    fn calls_are_found_in_lists_prints_and_assignments() {
        let call = |name: &str, arguments: Value| (name.to_owned(), arguments);
        assert_eq!(
            read("[read(path='it\\'s', count=2), list_files()]"),
            Some(vec![call("read", json!({"path": "it's", "count": 2})), call("list_files", json!({}))])
        );
        assert_eq!(
            read("# first\nresult = print(default_api.read(path=\"a(b,c\", flag=True))\n"),
            Some(vec![call("default_api.read", json!({"path": "a(b,c", "flag": true}))])
        );
        assert_eq!(
            read("f(o={'k': [1, None]}, **{'x': 1})"),
            Some(vec![call("f", json!({"o": {"k": [1, null]}, "x": 1}))])
        );
    }

    #[test]
    fn other_python_is_no_call() {
        for block in ["for x in y:\n  f(x)", "f(a)", "f(a=b)", "x = 1 + 2", "import os"] {
            assert_eq!(read(block), None, "{block}");
        }
    }
}
