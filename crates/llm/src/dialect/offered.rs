//! The tools that a model was offered: which name is meant, and what a call's
//! arguments come to.

use rein_protocol::ToolSpec;
use serde_json::{Map, Value};

use super::coerce::{self, Types};
use super::literal::{BareWords, read};

/// What models put before a tool's name.
const PREFIXES: [&str; 6] = ["functions.", "default_api.", "tools.", "api.", "functions/", "tool."];

/// The tools of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfferedTools {
    tools: Vec<ToolSpec>,
}

impl OfferedTools {
    /// These tools.
    pub(crate) fn new(tools: &[ToolSpec]) -> Self {
        Self { tools: tools.to_vec() }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The offered tool that a written name means.
    pub(super) fn meant(&self, written: &str) -> Option<&str> {
        self.tool(written).map(|tool| tool.name.as_str())
    }

    /// Whether a name may become that of an offered tool when more of it has come.
    pub(super) fn may_become(&self, begun: &str) -> bool {
        let begun = plain(begun);
        PREFIXES.iter().any(|prefix| prefix.starts_with(begun))
            || self.tools.iter().any(|tool| {
                tool.name.len() >= begun.len() && alike(tool.name.get(..begun.len()).unwrap_or(""), begun)
            })
    }

    /// The name for a call: the offered one, or what the model wrote.
    pub(super) fn name(&self, written: &str) -> String {
        self.meant(written).unwrap_or_else(|| plain(written)).to_owned()
    }

    /// What a parameter of a tool may be.
    pub(super) fn types(&self, tool: &str, parameter: &str) -> Types {
        let schema = self.tool(tool).map(|tool| &tool.input_schema);
        let property = schema.and_then(|schema| schema.get("properties")).and_then(|all| all.get(parameter));
        property.map(Types::of).unwrap_or_default()
    }

    /// The argument text of a call from what the model wrote: as it is if that will do, mended and fitted to the schema
    /// if that can be done in one way, and otherwise as it is, for the model to be told.
    pub(super) fn arguments(&self, tool: &str, written: &str) -> String {
        let strict: Option<Value> = serde_json::from_str(written).ok();
        let (value, whole) = match strict {
            Some(Value::String(inner)) => (readable(&inner), false),
            Some(value) => (Some(value), true),
            None => (readable(written), false),
        };
        match value {
            Some(Value::Null) => "{}".to_owned(),
            None if written.trim().is_empty() => "{}".to_owned(),
            Some(Value::Object(fields)) => {
                let fitted = self.fitted(tool, fields.clone());
                if whole && fitted == fields { written.to_owned() } else { Value::Object(fitted).to_string() }
            }
            Some(_) | None => written.to_owned(),
        }
    }

    /// Arguments that fit the tool's schema as well as they can.
    pub(super) fn fitted(&self, tool: &str, fields: Map<String, Value>) -> Map<String, Value> {
        match self.tool(tool) {
            Some(tool) => coerce::arguments(fields, &tool.input_schema),
            None => fields,
        }
    }

    fn tool(&self, written: &str) -> Option<&ToolSpec> {
        let name = plain(written);
        self.tools.iter().find(|tool| tool.name == name || tool.name == written).or_else(|| {
            let mut like = self.tools.iter().filter(|tool| alike(&tool.name, name));
            like.next().filter(|_| like.next().is_none())
        })
    }
}

fn readable(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| read(text.trim(), BareWords::Refused))
}

/// A name without what models put around it.
fn plain(written: &str) -> &str {
    let name = written.trim().trim_matches(['"', '\'', '`']);
    let name = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    match name.rsplit_once(':') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name
        }
        _ => name,
    }
}

/// Whether names differ only in capitals and in how words are joined.
fn alike(one: &str, other: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| !matches!(c, '_' | '-' | '.')).flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Tools for the tests of dialects.
    pub(in crate::dialect) fn offered() -> OfferedTools {
        let tool = |name: &str, schema: Value| ToolSpec {
            name: name.to_owned(),
            description: format!("What {name} does."),
            input_schema: schema,
        };
        OfferedTools::new(&[
            tool("read", json!({"properties": {"path": {"type": "string"}, "count": {"type": "integer"}}})),
            tool(
                "write",
                json!({"properties": {"path": {"type": "string"}, "content": {"type": "string"}, "tags": {"type": "array"}}}),
            ),
            tool("list_files", json!({"properties": {}})),
        ])
    }

    #[test]
    fn names_are_matched_to_those_that_were_offered() {
        let offered = offered();
        for (written, expected) in [
            ("read", "read"),
            ("functions.read:0", "read"),
            ("default_api.Read", "read"),
            ("ListFiles", "list_files"),
            ("list-files", "list_files"),
            ("unheard_of", "unheard_of"),
        ] {
            assert_eq!(offered.name(written), expected);
        }
        assert!(offered.may_become("list_f") && offered.may_become("functions.r"));
        assert!(!offered.may_become("readme"));
    }

    #[test]
    fn arguments_are_mended_only_if_they_need_it() {
        let offered = offered();
        for (written, expected) in [
            (r#"{ "path": "a" }"#, r#"{ "path": "a" }"#),
            (r#"{"path": "a", "count": "2"}"#, r#"{"path":"a","count":2}"#),
            (r#""{\"path\": \"a\"}""#, r#"{"path":"a"}"#),
            ("{'path': 'a',}", r#"{"path":"a"}"#),
            ("", "{}"),
            ("null", "{}"),
            ("[1]", "[1]"),
            ("{\"path\": \"a", "{\"path\": \"a"),
        ] {
            assert_eq!(offered.arguments("read", written), expected, "{written}");
        }
    }
}
