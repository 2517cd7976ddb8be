//! Calls of GLM whose tags are out of order, or lack one of a pair: read again as
//! a whole when they end.
//!
//! Only a call in which something stood where nothing should is read this way, so
//! that a value which holds such tags stays what it is. It counts only if there is
//! a value for every key.

use serde_json::{Map, Value};

use super::coerce::from_text;
use super::offered::OfferedTools;
use super::opening::{Body, End, Step};
use super::parameters::Parameters;
use super::scanner::DialectEvent;

const TAGS: [&str; 4] = ["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"];

/// Reads a call as it comes, and again if it was not in order.
pub(super) struct Ordered {
    name: String,
    inner: Box<Parameters>,
    read: String,
}

impl Ordered {
    pub(super) fn new(name: &str, inner: Box<Parameters>) -> Box<Self> {
        Box::new(Self { name: name.to_owned(), inner, read: String::new() })
    }
}

impl Body for Ordered {
    fn step(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Step {
        let before = out.len();
        let step = self.inner.step(text, end, tools, out);
        let (Step::More(done) | Step::Over(done)) = step else { return step };
        self.read.push_str(text.get(..done).unwrap_or_default());
        if !matches!(step, Step::Over(_)) || !self.inner.skipped() {
            return step;
        }
        let Some(pairs) = pairs(&self.read) else { return step };
        let fields: Map<String, Value> = pairs
            .into_iter()
            .map(|(key, value)| {
                let value = from_text(value, &tools.types(&self.name, key));
                (key.to_owned(), value)
            })
            .collect();
        for event in out.iter_mut().skip(before) {
            if let DialectEvent::CallCompleted { arguments, .. } = event {
                *arguments = Value::Object(fields.clone()).to_string();
            }
        }
        step
    }
}

/// The keys of a call and their values, by the tags beside them.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let (mut rest, mut before) = (text, "");
    loop {
        let next = TAGS.iter().filter_map(|tag| rest.find(tag).map(|at| (at, *tag))).min();
        let (at, tag) = next.unwrap_or((rest.find("</tool_call>").unwrap_or(rest.len()), ""));
        let piece = rest.get(..at).unwrap_or_default().trim();
        match (before, tag) {
            ("<arg_value>", "</arg_value>") => values.push(piece),
            _ if piece.is_empty() => {}
            (_, "</arg_key>") => keys.push(piece),
            (_, "</arg_value>") => values.push(piece),
            ("<arg_key>", _) => keys.push(piece),
            ("<arg_value>", _) => values.push(piece),
            _ => return None,
        }
        if tag.is_empty() {
            break;
        }
        rest = rest.get(at + tag.len()..).unwrap_or_default();
        before = tag;
    }
    let is_whole = !keys.is_empty() && keys.len() == values.len();
    is_whole.then(|| keys.into_iter().zip(values).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_find_each_other() {
        for text in [
            "<arg_key>a</arg_key><arg_key>b</arg_key><arg_value>1</arg_value><arg_value>2</arg_value></tool_call>",
            "<arg_value>1</arg_value><arg_value>2</arg_value><arg_key>a</arg_key><arg_key>b</arg_key>",
            " a</arg_key>1</arg_value><arg_key>b<arg_value>2</arg_value>",
            "<arg_key>a</arg_key>\n1</arg_value>\n<arg_key>b</arg_key>\n2</arg_value>\n</tool_call>",
            "<arg_key>a</arg_key><arg_value>1<arg_key>b</arg_key><arg_value>2</tool_call>",
        ] {
            assert_eq!(pairs(text), Some(vec![("a", "1"), ("b", "2")]), "{text}");
        }
    }

    #[test]
    fn what_does_not_pair_is_left() {
        for text in ["", "<arg_key>a</arg_key>", "<arg_key>a</arg_key> words <arg_key>b</arg_key>", "words"] {
            assert_eq!(pairs(text), None, "{text}");
        }
    }
}
