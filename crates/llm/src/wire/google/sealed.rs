//! How signatures are kept until they go back: each says what kind of part it
//! came on, because it has to be there again.

use serde_json::{Map, Value, json};

use crate::wire::Wire;
use crate::wire::opaque::seal;

/// What was kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kept<'a> {
    /// Of a thought.
    Thought(&'a Value),
    /// Of the text before it.
    Text(&'a Value),
    /// Of a text that was empty.
    Nothing(&'a Value),
    /// Of the call behind it: a signature, an id, or both.
    Call { signature: Option<&'a Value>, id: Option<&'a Value> },
    /// A whole part that only the provider understands.
    Part(&'a Value),
}

impl<'a> Kept<'a> {
    /// What was kept as a block.
    pub(super) fn read(block: &'a Value) -> Option<Self> {
        let signature = block.get("signature");
        match block.get("on").and_then(Value::as_str)? {
            "thought" => signature.map(Self::Thought),
            "text" => signature.map(Self::Text),
            "nothing" => signature.map(Self::Nothing),
            "call" => Some(Self::Call { signature, id: block.get("id") }),
            "part" => block.get("part").map(Self::Part),
            _ => None,
        }
    }
}

/// A signature that came on a thought, a text, or nothing.
pub(super) fn signature(on: &str, signature: &str) -> Value {
    seal(Wire::Google, json!({"on": on, "signature": signature}))
}

/// What goes back with a call; nothing if there is nothing.
pub(super) fn call(signature: Option<&str>, id: Option<&str>) -> Option<Value> {
    let fields = [("signature", signature), ("id", id)];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    let mut block: Map<String, Value> = fields.collect();
    if block.is_empty() {
        return None;
    }
    block.insert("on".to_owned(), "call".into());
    Some(seal(Wire::Google, Value::Object(block)))
}

/// A whole part.
pub(super) fn part(part: &Value) -> Value {
    seal(Wire::Google, json!({"on": "part", "part": part}))
}
