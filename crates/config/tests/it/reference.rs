//! What is generated from the types.

use rein_config::{reference, schema};
use serde_json::Value;

#[test]
fn the_reference_lists_every_setting() {
    insta::assert_snapshot!("reference", reference());
    assert_eq!(reference(), reference());
}

/// Every table of the schema, by its place.
fn tables<'a>(place: String, schema: &'a Value, found: &mut Vec<(String, &'a Value)>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        found.push((place.clone(), schema));
        for (name, property) in properties {
            tables(format!("{place}.{name}"), property, found);
        }
    }
    if let Some(entry) = schema.get("additionalProperties") {
        tables(format!("{place}.*"), entry, found);
    }
}

#[test]
fn the_schema_is_stable_describes_everything_and_refuses_unknown_keys() {
    let schema = schema();
    assert_eq!(schema.to_string(), rein_config::schema().to_string());
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    assert!(
        !schema.to_string().contains("$ref"),
        "the tree of settings is read without following references"
    );

    let mut found = Vec::new();
    tables(String::new(), &schema, &mut found);
    let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(
        places,
        [
            "",
            ".budget",
            ".budget.day",
            ".verify",
            ".bash",
            ".sandbox",
            ".network",
            ".retry",
            ".store",
            ".web",
            ".web.search",
            ".log",
            ".otlp",
            ".compaction",
            ".provider.*",
            ".provider.*.oauth",
            ".provider.*.models.*",
            ".roles.*",
            ".permission"
        ]
    );
    for (place, table) in found {
        assert_eq!(table["additionalProperties"], false, "{place}");
        for (name, property) in table["properties"].as_object().unwrap() {
            assert!(
                property["description"].as_str().is_some_and(|text| text.ends_with('.')),
                "{place}.{name}"
            );
            let mark = property.get("x-rein-project").and_then(Value::as_str);
            assert!(matches!(mark, None | Some("yes" | "narrower")), "{place}.{name}");
        }
    }
}
