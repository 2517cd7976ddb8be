//! Cases about what a provider is sent: schemas of tools as our encoders write
//! them. What other projects hand to a library of theirs, in its own words, has no
//! counterpart here.

use serde_json::{Value, json};

use super::case::{PeerCase, Verdict};
use super::history_cases;
use super::peers::{ask, not_applicable, same};

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    match case.op.as_str() {
        "schema" => schema(case),
        "message" | "replay-history" => history_cases::run(case),
        "variants" | "reasoningVariants" | "options" | "providerOptions" | "smallOptions" => {
            not_applicable("options in the words of another library")
        }
        "maxOutputTokens" => not_applicable("a limit that the catalog has for each model"),
        "temperature" | "topP" | "topK" => not_applicable("no such field is sent: providers know best"),
        _ => not_applicable("no rule for this kind of case"),
    }
}

/// The schema of a tool as Google is sent it: only what it understands.
fn schema(case: &PeerCase) -> Verdict {
    if case.input["model"]["providerID"] != "google" {
        return not_applicable("a schema for a provider that takes any");
    }
    let tool = json!({"name": "t", "description": "", "input_schema": case.input["schema"]});
    let request = json!({"model": "m", "system": [], "messages": [], "tools": [tool]});
    ask("wire.encode", &json!({"wire": "google-generate", "request": request}), |found| {
        let declared = &found?["body"]["tools"][0]["functionDeclarations"][0];
        let ours = declared.get("parametersJsonSchema").or_else(|| declared.get("parameters"));
        same(&plain(ours.unwrap_or(&Value::Null)), &plain(&case.expect["schema"]))
    })
}

/// A schema with its types in small letters: Google takes both.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let one = |(name, value): (&String, &Value)| match (name.as_str(), value) {
                ("type", Value::String(kind)) => (name.clone(), json!(kind.to_lowercase())),
                _ => (name.clone(), plain(value)),
            };
            Value::Object(fields.iter().map(one).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}
