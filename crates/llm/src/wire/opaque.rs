//! What a provider wants to see again verbatim, marked with the wire it came
//! from: a signature of one provider must never reach another.

use rein_protocol::ModelRef;
use rein_protocol::message::AssistantPart;
use serde_json::{Value, json};

use super::Wire;
use crate::request::ModelRequest;

/// A value to be kept with a part of reasoning.
pub(super) fn seal(wire: Wire, block: Value) -> Value {
    json!({"wire": wire.name(), "block": block})
}

/// The reasoning of a part and what was sealed with it, if it may go back: it came over the same wire from the same
/// model.
pub(super) fn unseal<'a>(
    wire: Wire,
    request: &ModelRequest,
    model: &ModelRef,
    part: &'a AssistantPart,
) -> Option<(&'a str, &'a Value)> {
    let AssistantPart::Reasoning { text, opaque: Some(opaque) } = part else { return None };
    let same =
        opaque.get("wire").and_then(Value::as_str) == Some(wire.name()) && model.model == request.model;
    opaque.get("block").filter(|_| same).map(|block| (text.as_str(), block))
}
