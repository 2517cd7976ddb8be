//! Reading what a model wrote as arguments: the one place where it is checked,
//! and repaired where there is only one thing that it can have meant.
//!
//! A complaint names every field that does not fit, what was wrong with it,
//! and the shape that is wanted, so that the next try can be right.

mod names;
mod repair;

use rein_protocol::ToolSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::contract::Complaint;
use crate::near;
use crate::schema;

/// As much of a wrong value or text as is shown back.
const QUOTED: usize = 120;

/// Reads arguments for a tool.
///
/// Repaired are: other spellings and common other names of fields, numbers and
/// truth values in strings, JSON in strings where an object or a list is wanted,
/// one item where a list is wanted, `file://` paths, null for what is optional.
///
/// # Errors
///
/// A [`Complaint`] that names every field that does not fit.
pub fn parse<T: DeserializeOwned + JsonSchema>(tool: &str, arguments: Value) -> Result<T, Complaint> {
    let schema = schema::of::<T>();
    let Some(given) = as_object(arguments) else {
        return Err(complain(tool, &["the arguments must be one JSON object".to_owned()], &schema));
    };
    let (fields, mut problems) = names::settle(given, &schema);
    let mut repaired = Map::new();
    if let Some(properties) = schema::properties(&schema) {
        let required = schema::required(&schema);
        for (name, property) in properties {
            let value = fields.get(name).filter(|value| !value.is_null());
            match value.map(|value| repair::fit(name, value.clone(), property)) {
                Some(Ok(value)) => {
                    repaired.insert(name.clone(), value);
                }
                Some(Err(problem)) => problems.push(format!("`{name}`: {problem}")),
                None if required.contains(&name.as_str()) => {
                    problems.push(format!("`{name}`: missing, {} is required", kind_with_article(property)));
                }
                None => {}
            }
        }
    }
    if !problems.is_empty() {
        return Err(complain(tool, &problems, &schema));
    }
    serde_path_to_error::deserialize(Value::Object(repaired)).map_err(|error| {
        let problem = format!("`{}`: {}", error.path(), error.inner());
        complain(tool, &[problem], &schema)
    })
}

/// What a model is told whose arguments were no JSON object at all.
#[must_use]
pub fn malformed(text: &str, error: &str, spec: &ToolSpec) -> Complaint {
    let what = if error.contains("EOF") {
        "are cut off (if they were long, make a shorter call, for example write a file in several steps)"
    } else {
        "are not valid JSON (inside strings, write newlines as \\n and quotes as \\\")"
    };
    Complaint(format!(
        "The arguments of `{}` {what}: {error}. They were {} bytes and began with: {}\nCall `{}` again with one JSON object of this shape: {}",
        spec.name,
        text.len(),
        quote(text),
        spec.name,
        shape(&spec.input_schema),
    ))
}

fn as_object(arguments: Value) -> Option<Map<String, Value>> {
    match arguments {
        Value::Object(object) => Some(object),
        Value::Null => Some(Map::new()),
        // Some models encode the whole object once more.
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        },
        _ => None,
    }
}

fn complain(tool: &str, problems: &[String], schema: &Value) -> Complaint {
    Complaint(format!(
        "The arguments of `{tool}` do not fit:\n- {}\nCall `{tool}` again with this shape: {}",
        problems.join("\n- "),
        shape(schema),
    ))
}

/// `{"path": string, "limit"?: integer}`.
fn shape(schema: &Value) -> String {
    let required = schema::required(schema);
    let fields: Vec<String> = schema::properties(schema)
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("\"{name}\"{optional}: {}", kind(property))
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn kind(property: &Value) -> &str {
    match property.get("type").and_then(Value::as_str) {
        Some("array") => "list",
        Some(kind) => kind,
        None => "value",
    }
}

fn kind_with_article(property: &Value) -> String {
    let kind = kind(property);
    let article = if kind.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// The beginning of a text, as a JSON string.
fn quote(text: &str) -> String {
    let begin: String = text.chars().take(QUOTED).collect();
    let more = if begin.len() < text.len() { "…" } else { "" };
    format!("{}{more}", Value::String(begin))
}

/// A field that the tool does not have.
fn unknown_field(name: &str, schema: &Value) -> String {
    let known: Vec<&str> =
        schema::properties(schema).into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let name: String = name.chars().take(QUOTED).collect();
    match near::nearest(&name, known.iter().copied()).first() {
        Some(meant) => format!("`{name}`: there is no such field; did you mean `{meant}`?"),
        None => format!("`{name}`: there is no such field"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Arguments {
        path: String,
        #[schemars(range(min = 1, max = 100))]
        limit: Option<u32>,
        replace_all: Option<bool>,
        tags: Option<Vec<String>>,
    }

    fn read(value: Value) -> Result<Arguments, String> {
        parse("test", value).map_err(|complaint| complaint.0)
    }

    fn plain(path: &str) -> Arguments {
        Arguments { path: path.to_owned(), limit: None, replace_all: None, tags: None }
    }

    #[test]
    fn what_has_one_meaning_is_repaired() {
        let all = Arguments {
            path: "a b.rs".into(),
            limit: Some(5),
            replace_all: Some(true),
            tags: Some(vec!["x".into()]),
        };
        for value in [
            json!({"path": "a b.rs", "limit": 5, "replace_all": true, "tags": ["x"]}),
            json!({"path": "a b.rs", "limit": "5", "replace_all": "True", "tags": "x"}),
            json!({"filePath": "a b.rs", "limit": 5.0, "replaceAll": true, "tags": "[\"x\"]"}),
            json!({"file_path": "file://a%20b.rs\n", "limit": " 5 ", "ReplaceAll": "true", "tags": ["x"]}),
            json!("{\"path\": \"a b.rs\", \"limit\": 5, \"replace-all\": true, \"tags\": [\"x\"]}"),
        ] {
            assert_eq!(read(value.clone()).as_ref(), Ok(&all), "{value}");
        }
        assert_eq!(read(json!({"path": "a", "limit": null, "tags": null, "other": null})), Ok(plain("a")));
        assert_eq!(read(json!({"path": 42})), Ok(plain("42")));
        assert_eq!(read(json!({"path": "a", "description": "says why"})), Ok(plain("a")));
    }

    #[test]
    fn every_field_that_does_not_fit_is_named() {
        let complaint = read(json!({
            "limit": "many", "replace_all": "perhaps", "tags": {"a": 1}, "repalce_all": true, "color": 1,
        }));
        assert_eq!(
            complaint,
            Err(r#"The arguments of `test` do not fit:
- `repalce_all`: there is no such field; did you mean `replace_all`?
- `color`: there is no such field
- `path`: missing, a string is required
- `limit`: must be an integer, not the string "many"
- `replace_all`: must be a boolean, not the string "perhaps"
- `tags`: must be a list, not an object
Call `test` again with this shape: {"path": string, "limit"?: integer, "replace_all"?: boolean, "tags"?: list}"#
                .to_owned())
        );
    }

    #[test]
    fn numbers_out_of_range_are_named_with_the_range() {
        for (value, problem) in [
            (json!({"path": "a", "limit": 0}), "`limit`: must be from 1 to 100, not 0"),
            (json!({"path": "a", "limit": 101}), "`limit`: must be from 1 to 100, not 101"),
            (json!({"path": "a", "limit": 1.5}), "`limit`: must be an integer, not 1.5"),
            (json!({"path": "a", "limit": -3}), "`limit`: must be from 1 to 100, not -3"),
            (json!({"path": ["a", "b"]}), "`path`: must be a string, not a list"),
            (json!({"path": {"a": "b"}}), "`path`: must be a string, not an object"),
            (
                json!({"path": "a", "file_path": "b"}),
                "`file_path`: is another name of `path`, which is given too",
            ),
            (json!([1]), "the arguments must be one JSON object"),
            (json!({"path": "a", "tags": ["x", 1.5]}), "`tags`: must be a list of strings, item 2 is 1.5"),
        ] {
            let complaint = read(value.clone()).unwrap_err();
            assert!(complaint.contains(&format!("- {problem}\n")), "{value}: {complaint}");
        }
    }

    #[test]
    fn a_list_or_an_object_is_never_made_of_the_content_of_a_string_field() {
        assert_eq!(read(json!({"path": "{\"a\": 1}"})), Ok(plain("{\"a\": 1}")));
        assert_eq!(read(json!({"path": "[1]"})), Ok(plain("[1]")));
    }

    #[test]
    fn malformed_arguments_are_quoted_in_part_and_the_shape_is_shown() {
        let spec = ToolSpec {
            name: "test".into(),
            description: String::new(),
            input_schema: schema::of::<Arguments>(),
        };
        let text = format!("{{\"path\": \"{}", "x".repeat(500));
        let error = serde_json::from_str::<Value>(&text).unwrap_err().to_string();
        let complaint = malformed(&text, &error, &spec).0;
        assert!(complaint.contains("are cut off") && complaint.contains("510 bytes"), "{complaint}");
        assert!(complaint.contains("\"path\": string") && complaint.len() < 700, "{complaint}");
        assert!(malformed("[1", "expected value", &spec).0.contains("are not valid JSON"));
    }
}
