//! Names of fields: another spelling, or what other programs call them.

use serde_json::{Map, Value};

use super::unknown_field;
use crate::schema;

/// What models that were taught other tools write, and the field that they mean. A name whose unit
/// or meaning differs does not belong here.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    (
        "path",
        &[
            "absolute_path",
            "dir",
            "dir_path",
            "directory",
            "file",
            "file_path",
            "filename",
            "filepath",
            "folder",
            "target_directory",
            "target_file",
        ],
    ),
    ("content", &["contents", "file_content", "file_text", "text"]),
    ("text", &["content", "task", "title"]),
    ("items", &["list", "plan", "tasks", "todos"]),
    ("state", &["status"]),
    ("type", &["file_type"]),
    ("mode", &["output_mode"]),
    ("multiline", &["multi_line"]),
    ("hidden", &["include_hidden"]),
    ("depth", &["max_depth"]),
    ("old", &["find", "old_str", "old_string", "old_text", "search"]),
    ("new", &["new_str", "new_string", "new_text", "replace", "replacement"]),
    ("replace_all", &["all", "global"]),
    ("command", &["cmd", "script", "shell_command"]),
    ("timeout", &["timeout_seconds", "timeout_secs", "timeout_s"]),
    ("pattern", &["glob_pattern", "query", "regex", "search_pattern"]),
    ("query", &["keywords", "names", "q", "search_query", "words"]),
    ("glob", &["file_pattern", "include", "include_pattern"]),
    ("case_insensitive", &["_i", "i", "ignore_case"]),
    ("context", &["_c", "context_lines"]),
    ("literal", &["fixed_string", "fixed_strings", "literal_text"]),
    ("offset", &["from_line", "line_start", "start", "start_line"]),
    ("url", &["address", "href", "link", "uri"]),
    ("count", &["max_results", "num_results", "results"]),
    ("limit", &["line_count", "max_lines", "num_lines"]),
];

/// Words about the call that change nothing about it, which models add by habit.
const REMARKS: &[&str] = &["comment", "description", "explanation", "reason", "thought"];

/// What models write for the value of an enumeration, and what they mean.
const OTHER_VALUES: &[(&str, &[&str])] = &[
    ("lines", &["content", "matches"]),
    ("files", &["files_only", "files_with_matches", "filenames"]),
    ("counts", &["count"]),
    ("pending", &["not_started", "open", "todo"]),
    ("active", &["in_progress", "started"]),
    ("done", &["complete", "completed", "finished"]),
    ("dropped", &["abandoned", "canceled", "cancelled", "deleted"]),
];

/// Brings every field under its own name, and says what is left over. `at` is where the object is.
pub(super) fn settle(
    at: &str,
    given: Map<String, Value>,
    schema: &Value,
    problems: &mut Vec<String>,
) -> Map<String, Value> {
    let (known, other): (Vec<_>, Vec<_>) = given
        .into_iter()
        .partition(|(name, _)| schema::properties(schema).is_some_and(|all| all.contains_key(name)));
    let mut fields: Map<String, Value> = known.into_iter().collect();
    let is_open = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    for (name, value) in other {
        match meant(&name, schema) {
            Some(meant) if fields.get(meant).is_none_or(Value::is_null) => {
                fields.insert(meant.to_owned(), value);
            }
            Some(meant) if fields.get(meant) == Some(&value) => {}
            Some(meant) => {
                problems.push(format!("`{at}{name}`: is another name of `{at}{meant}`, which is given too"));
            }
            None if is_open => {
                fields.insert(name, value);
            }
            None if value.is_null() || REMARKS.contains(&snake_case(&name).as_str()) => {}
            None => problems.push(unknown_field(at, &name, schema)),
        }
    }
    fields
}

/// The value of an enumeration that a word stands for.
pub(super) fn meant_value<'a>(word: &str, values: &'a [Value]) -> Option<&'a Value> {
    let plain = snake_case(word);
    let canonical =
        OTHER_VALUES.iter().find(|(_, others)| others.contains(&plain.as_str())).map(|(value, _)| *value);
    let spelled = |value: &&Value| value.as_str().is_some_and(|value| snake_case(value) == plain);
    let named = |value: &&Value| canonical.is_some() && value.as_str() == canonical;
    values.iter().find(spelled).or_else(|| values.iter().find(named))
}

/// The field that a name stands for, if the tool has it.
fn meant<'a>(name: &str, schema: &'a Value) -> Option<&'a str> {
    let properties = schema::properties(schema)?;
    let plain = snake_case(name);
    let canonical =
        OTHER_NAMES.iter().find(|(_, others)| others.contains(&plain.as_str())).map(|(field, _)| *field);
    let fits = |field: &&String| **field == plain || Some(field.as_str()) == canonical;
    properties
        .keys()
        .find(|field| **field == plain)
        .or_else(|| properties.keys().find(fits))
        .map(String::as_str)
}

fn snake_case(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 4);
    let mut previous_is_lower = false;
    for character in name.trim().chars() {
        if character.is_uppercase() && previous_is_lower {
            plain.push('_');
        }
        previous_is_lower = character.is_lowercase() || character.is_ascii_digit();
        match character {
            '-' | ' ' => plain.push('_'),
            _ => plain.extend(character.to_lowercase()),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_become_one() {
        for name in ["replaceAll", "ReplaceAll", "replace-all", "replace_all", "REPLACE_ALL"] {
            assert_eq!(snake_case(name), "replace_all", "{name}");
        }
    }

    #[test]
    fn no_name_stands_for_two_fields() {
        let mut all: Vec<&str> = OTHER_NAMES.iter().flat_map(|(_, others)| others.iter().copied()).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
