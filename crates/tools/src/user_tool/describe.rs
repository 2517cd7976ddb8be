//! What a program says of itself, and whether that makes a tool.

use std::time::Duration;

use rein_protocol::Tier;
use serde_json::{Map, Value, json};

/// Every word is sent with every request.
const MOST_TEXT: usize = 4 * 1024;
const MOST_SCHEMA: usize = 16 * 1024;
const MOST_NAME: usize = 64;
const MOST_DEPTH: usize = 16;
const MOST_SECONDS: u64 = 3_600;

/// Keys under which other programs know the schema.
const SCHEMA_NAMES: &[&str] = &["schema", "input_schema", "inputSchema", "parameters"];

/// A program that said what it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Description {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) schema: Value,
    pub(super) tier: Tier,
    pub(super) timeout: Option<Duration>,
}

impl Description {
    /// Reads the answer to `describe`: what is wrong with it otherwise.
    pub(super) fn parse(output: &[u8]) -> Result<Self, String> {
        let text = String::from_utf8_lossy(output);
        let Some(object) = object(&text) else {
            let begin: String = text.trim().chars().take(80).collect();
            return Err(match begin.is_empty() {
                true => "its answer to `describe` is empty".to_owned(),
                false => format!("its answer to `describe` is no JSON object; it begins with {begin:?}"),
            });
        };
        let name = word(&object, "name")?;
        if !is_name(name) {
            return Err(format!(
                "its name {:?} does not fit: a small letter, then up to {} small letters, digits or _",
                name.chars().take(80).collect::<String>(),
                MOST_NAME - 1
            ));
        }
        let description = word(&object, "description")?.trim();
        if description.is_empty() || description.len() > MOST_TEXT {
            return Err(format!(
                "its description must have 1 to {MOST_TEXT} bytes, not {}",
                description.len()
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            text: description.to_owned(),
            schema: schema(&object)?,
            tier: tier(object.get("tier"))?,
            timeout: timeout(object.get("timeout"))?,
        })
    }
}

/// The whole output, or its last line if something was printed before.
fn object(text: &str) -> Option<Map<String, Value>> {
    let whole = serde_json::from_str(text.trim()).ok();
    let last = || serde_json::from_str(text.trim().lines().next_back()?).ok();
    match whole.or_else(last)? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn word<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    match object.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("its `{key}` is no string")),
        None => Err(format!("its answer to `describe` has no `{key}`")),
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= MOST_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn tier(value: Option<&Value>) -> Result<Tier, String> {
    match value {
        None | Some(Value::Null) => Ok(Tier::Exec),
        Some(Value::String(tier)) => match tier.as_str() {
            "read" => Ok(Tier::Read),
            "write" => Ok(Tier::Write),
            "net" => Ok(Tier::Net),
            "exec" => Ok(Tier::Exec),
            _ => Err(format!("its tier {tier:?} is none of read, write, net, exec")),
        },
        Some(_) => Err("its `tier` is no string".to_owned()),
    }
}

fn timeout(value: Option<&Value>) -> Result<Option<Duration>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(seconds @ 1..=MOST_SECONDS) => Ok(Some(Duration::from_secs(seconds))),
            _ => Err(format!("its timeout must be 1 to {MOST_SECONDS} seconds, not {value}")),
        },
    }
}

fn schema(object: &Map<String, Value>) -> Result<Value, String> {
    let given = SCHEMA_NAMES.iter().find_map(|name| object.get(*name));
    let mut schema = match given {
        None | Some(Value::Null) => json!({}),
        Some(schema @ Value::Object(_)) => schema.clone(),
        Some(_) => return Err("its schema is no object".to_owned()),
    };
    if let Some(root) = schema.as_object_mut() {
        root.remove("$schema");
        root.entry("type").or_insert_with(|| "object".into());
        root.entry("properties").or_insert_with(|| json!({}));
        if root.get("type") != Some(&Value::from("object")) {
            return Err("its schema must have the type object, because arguments have names".to_owned());
        }
    }
    let bytes = schema.to_string().len();
    if bytes > MOST_SCHEMA {
        return Err(format!(
            "its schema has {bytes} bytes; at most {MOST_SCHEMA} are sent with every request"
        ));
    }
    sound(&schema, "schema", MOST_DEPTH)?;
    Ok(schema)
}

/// Whether a schema is one that a provider accepts.
fn sound(schema: &Value, place: &str, depth: usize) -> Result<(), String> {
    let Some(object) = schema.as_object() else {
        return if schema.is_boolean() { Ok(()) } else { Err(format!("its {place} is no object")) };
    };
    if depth == 0 {
        return Err(format!("its {place} is nested too deeply"));
    }
    if object.contains_key("$ref") {
        return Err(format!("its {place} uses $ref; write out what it refers to"));
    }
    match object.get("type") {
        None => {}
        Some(Value::String(kind)) if KINDS.contains(&kind.as_str()) => {}
        Some(Value::Array(kinds))
            if kinds.iter().all(|kind| kind.as_str().is_some_and(|k| KINDS.contains(&k))) => {}
        Some(other) => return Err(format!("its {place} has the unknown type {other}")),
    }
    let properties = match object.get("properties") {
        None => None,
        Some(Value::Object(properties)) => Some(properties),
        Some(_) => return Err(format!("the properties of its {place} are no object")),
    };
    for (name, property) in properties.into_iter().flatten() {
        sound(property, &format!("{place}.{name}"), depth - 1)?;
    }
    match object.get("required") {
        None => {}
        Some(Value::Array(names)) => {
            let known = |name: &Value| {
                name.as_str().is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)))
            };
            if let Some(name) = names.iter().find(|name| !known(name)) {
                return Err(format!("its {place} requires {name}, which is none of its properties"));
            }
        }
        Some(_) => return Err(format!("`required` of its {place} is no list")),
    }
    match object.get("items") {
        Some(items) => sound(items, &format!("{place}[]"), depth - 1),
        None => Ok(()),
    }
}

const KINDS: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read() {
        let output = json!({
            "name": "count_words", "description": " Counts. ", "tier": "read", "timeout": 9,
            "schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        });
        let expected = Description {
            name: "count_words".into(),
            text: "Counts.".into(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
            tier: Tier::Read,
            timeout: Some(Duration::from_secs(9)),
        };
        assert_eq!(Description::parse(output.to_string().as_bytes()), Ok(expected.clone()));
        assert_eq!(Description::parse(format!("loading…\n{output}\n").as_bytes()), Ok(expected));
        let least = Description::parse(br#"{"name":"a","description":"b"}"#).unwrap();
        assert_eq!((least.tier, least.schema), (Tier::Exec, json!({"type": "object", "properties": {}})));
    }

    #[test]
    fn what_makes_no_tool_is_said() {
        for (output, problem) in [
            ("", "is empty"),
            ("hello", "is no JSON object; it begins with \"hello\""),
            ("[]", "is no JSON object"),
            (r#"{"description":"b"}"#, "has no `name`"),
            (r#"{"name":1,"description":"b"}"#, "`name` is no string"),
            (r#"{"name":"Big","description":"b"}"#, "does not fit"),
            (r#"{"name":"a-b","description":"b"}"#, "does not fit"),
            (r#"{"name":"1a","description":"b"}"#, "does not fit"),
            (r#"{"name":"a","description":" "}"#, "1 to 4096 bytes"),
            (r#"{"name":"a","description":"b","tier":"safe"}"#, "none of read, write, net, exec"),
            (r#"{"name":"a","description":"b","timeout":0}"#, "1 to 3600 seconds"),
            (r#"{"name":"a","description":"b","schema":[]}"#, "schema is no object"),
            (r#"{"name":"a","description":"b","schema":{"type":"string"}}"#, "must have the type object"),
            (r#"{"name":"a","description":"b","schema":{"properties":[]}}"#, "are no object"),
            (r#"{"name":"a","description":"b","schema":{"properties":{"x":1}}}"#, "schema.x is no object"),
            (
                r#"{"name":"a","description":"b","schema":{"properties":{"x":{"type":"int"}}}}"#,
                "unknown type \"int\"",
            ),
            (r#"{"name":"a","description":"b","schema":{"required":["x"]}}"#, "requires \"x\""),
            (r##"{"name":"a","description":"b","schema":{"properties":{"x":{"$ref":"#/y"}}}}"##, "uses $ref"),
        ] {
            let error = Description::parse(output.as_bytes()).unwrap_err();
            assert!(error.contains(problem), "{output}: {error}");
        }
    }

    #[test]
    fn deep_and_large_schemas_are_refused() {
        let mut schema = json!({"type": "string"});
        for _ in 0..20 {
            schema = json!({"type": "object", "properties": {"x": schema}});
        }
        let describe = |schema| json!({"name": "a", "description": "b", "schema": schema}).to_string();
        assert!(Description::parse(describe(schema).as_bytes()).unwrap_err().contains("too deeply"));
        let large = json!({"type": "object", "description": "x".repeat(20_000)});
        assert!(Description::parse(describe(large).as_bytes()).unwrap_err().contains("at most 16384"));
    }
}
