//! What is repaired, what is not, and what is said about it.

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
Call `test` again with this shape: {"path": string, "limit"?: integer, "replace_all"?: boolean, "tags"?: list}
For example: {"path":"<path>"}"#
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
    let spec =
        ToolSpec { name: "test".into(), description: String::new(), input_schema: schema::of::<Arguments>() };
    let text = format!("{{\"path\": \"{}", "x".repeat(500));
    let error = serde_json::from_str::<Value>(&text).unwrap_err().to_string();
    let complaint = malformed(&text, &error, &spec).0;
    assert!(complaint.contains("are cut off") && complaint.contains("510 bytes"), "{complaint}");
    assert!(complaint.contains("\"path\": string") && complaint.len() < 700, "{complaint}");
    assert!(malformed("[1", "expected value", &spec).0.contains("are not valid JSON"));
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Nested {
    edits: Vec<Edit>,
    mode: Option<Mode>,
    count: Option<u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Edit {
    old: String,
    new: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Files,
    OneByOne,
}

fn nested(value: Value) -> Result<Nested, String> {
    parse("test", value).map_err(|complaint| complaint.0)
}

#[test]
fn what_is_inside_is_repaired_too() {
    let one =
        |mode| Nested { edits: vec![Edit { old: "a".into(), new: Some("b".into()) }], mode, count: None };
    for value in [
        json!({"edits": [{"old": "a", "new": "b"}]}),
        json!({"edits": {"old_string": "a", "newString": "b"}}),
        json!({"edits": "[{\"old\": \"a\", \"new\": \"b\"}]", "count": "", "mode": ""}),
        json!({"edits": ["{'old': 'a', 'new': 'b',}"], "count": "null"}),
        json!({"arguments": {"edits": [{"old": "a", "new": "b"}]}}),
        json!({"name": "test", "parameters": "{\"edits\": [{\"old\": \"a\", \"new\": \"b\"}]}"}),
        json!([{"test": {"input": {"edits": [{"old": "a", "new": "b"}]}}}]),
    ] {
        assert_eq!(nested(value.clone()), Ok(one(None)), "{value}");
    }
    for mode in ["one_by_one", "oneByOne", "One-By-One"] {
        let value = json!({"edits": [{"old": "a", "new": "b"}], "mode": mode});
        assert_eq!(nested(value), Ok(one(Some(Mode::OneByOne))), "{mode}");
    }
}

#[test]
fn a_problem_inside_is_told_with_its_place_and_an_example_that_keeps_what_fits() {
    let complaint = nested(json!({
        "edits": [{"old": "a"}, {"nwe": "x"}, 3], "mode": "all", "count": 7,
    }));
    assert_eq!(
        complaint,
        Err(r#"The arguments of `test` do not fit:
- `edits[1].nwe`: there is no such field; did you mean `new`?
- `edits[1].old`: missing, a string is required
- `edits[2]`: must be an object, not 3
- `mode`: must be one of "files", "one_by_one", not the string "all"
Call `test` again with this shape: {"edits": list, "mode"?: word, "count"?: integer}
For example: {"edits":[{"old":"<old>"}],"count":7}"#
            .to_owned())
    );
}

#[test]
fn nothing_is_made_up_or_thrown_away() {
    assert_eq!(read(json!({"path": "", "limit": 5})), Ok(Arguments { limit: Some(5), ..plain("") }));
    for value in [
        json!({"path": "a", "arguments": {"limit": 5}}),
        json!({"path": "a", "tags": [["x", "z"], ["y"]]}),
        json!({"arguments": 5}),
        json!([{"path": "a"}, {"path": "b"}]),
    ] {
        assert!(read(value.clone()).is_err(), "{value}");
    }
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "object"}},
        "additionalProperties": true,
    });
    let value = json!({"a": null, "b": {"any": [1, "x"]}, "more": "y"});
    assert_eq!(check("test", &schema, value.clone()), Ok(value), "another's schema may leave room");
}

#[test]
fn text_that_is_not_quite_json_is_read_and_other_text_is_complained_about() {
    let spec =
        ToolSpec { name: "test".into(), description: String::new(), input_schema: schema::of::<Arguments>() };
    let input = |text: &str| super::read(&ToolInput::parse(text), &spec).map_err(|complaint| complaint.0);
    assert_eq!(input("{'path': 'a', limit: 5,}"), Ok(json!({"path": "a", "limit": 5})));
    assert_eq!(input("{\"path\": \"a\""), Ok(json!({"path": "a"})));
    assert!(input("{\"path\": \"a").unwrap_err().contains("are cut off"));
    assert!(input("7").unwrap_err().contains("are not valid JSON"));
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer", "minimum": 0, "maximum": 1000},
                "ratio": {"type": "number"},
                "flag": {"type": "boolean"},
                "mode": {"type": "string", "enum": ["files", "lines", "one_by_one"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "edits": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
                    "required": ["old"],
                }},
            },
            "required": ["text"],
        })
    }

    fn optional(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Option<Value>> {
        proptest::option::of(value)
    }

    fn valid() -> impl Strategy<Value = Value> {
        let edit = (".{0,9}", proptest::option::of(".{0,9}")).prop_map(|(old, new)| match new {
            Some(new) => json!({"old": old, "new": new}),
            None => json!({ "old": old }),
        });
        (
            ".{0,30}",
            optional((0..=1000_i64).prop_map(Value::from)),
            optional(any::<i32>().prop_map(|number| Value::from(f64::from(number) / 8.0))),
            optional(any::<bool>().prop_map(Value::from)),
            optional(prop_oneof!["files", "lines", "one_by_one"].prop_map(Value::from)),
            optional(proptest::collection::vec(".{0,9}", 0..4).prop_map(Value::from)),
            optional(proptest::collection::vec(edit, 0..4).prop_map(Value::from)),
        )
            .prop_map(|(text, count, ratio, flag, mode, tags, edits)| {
                let mut value = json!({ "text": text });
                for (name, field) in [
                    ("count", count),
                    ("ratio", ratio),
                    ("flag", flag),
                    ("mode", mode),
                    ("tags", tags),
                    ("edits", edits),
                ] {
                    if let Some(field) = field {
                        value[name] = field;
                    }
                }
                value
            })
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[{}\\[\\]\":,a-z0-9 ]{0,12}".prop_map(Value::from),
        ];
        let key = prop_oneof!["text|count|ratio|flag|mode|tags|edits|old|arguments|input|path", ".{0,6}"];
        leaf.prop_recursive(4, 24, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map(key.clone(), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_fits_is_left_as_it_is(value in valid()) {
            prop_assert_eq!(check("test", &schema(), value.clone()), Ok(value));
        }

        #[test]
        fn no_value_is_too_strange_and_what_was_repaired_fits(value in any_json()) {
            if let Ok(repaired) = check("test", &schema(), value) {
                prop_assert_eq!(check("test", &schema(), repaired.clone()), Ok(repaired));
            }
        }

        #[test]
        fn no_text_is_too_strange(text in ".{0,60}") {
            let _ = recover(&text).map(|value| check("test", &schema(), value));
        }
    }
}
