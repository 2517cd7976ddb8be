//! Arguments that come bit by bit: each piece says where in the object it
//! belongs, and texts grow. Told only when they are whole, because what is not
//! written in order cannot be shown as it is written.

use serde_json::{Map, Value};

/// No list is longer, and no path deeper: both come from the other side.
const LONGEST: usize = 10_000;
const DEEPEST: usize = 32;

/// One step on the way to a value.
#[derive(Debug, PartialEq)]
enum Step<'a> {
    Name(&'a str),
    Place(usize),
}

/// Puts a piece into arguments. What makes no sense is left out.
pub(super) fn add(arguments: &mut Value, piece: &Value) {
    let Some(steps) = piece.get("jsonPath").and_then(Value::as_str).and_then(steps) else { return };
    let Some(place) = reach(arguments, &steps) else { return };
    let value = ["stringValue", "numberValue", "boolValue", "nullValue"].iter().find_map(|name| {
        let value = piece.get(*name)?;
        Some(if *name == "nullValue" { Value::Null } else { value.clone() })
    });
    match (place, value) {
        (Value::String(text), Some(Value::String(more))) => text.push_str(&more),
        (place, Some(value)) => *place = value,
        (_, None) => {}
    }
}

/// `$.a[0]['b c']` as steps.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() >= DEEPEST {
            return None;
        }
        if let Some(named) = rest.strip_prefix('.') {
            let end = named.find(['.', '[']).unwrap_or(named.len());
            let (name, after) = named.split_at_checked(end)?;
            steps.push(Step::Name(name));
            rest = after;
        } else {
            let inside = rest.strip_prefix('[')?;
            let quote = inside.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let close = quote.map_or("]".to_owned(), |quote| format!("{quote}]"));
            let inside = inside.strip_prefix(['\'', '"']).unwrap_or(inside);
            let (key, after) = inside.split_once(&close)?;
            steps.push(match quote {
                Some(_) => Step::Name(key),
                None => Step::Place(key.parse().ok().filter(|place| *place < LONGEST)?),
            });
            rest = after;
        }
    }
    Some(steps)
}

/// The value at the end of a way, made where there is none.
fn reach<'a>(root: &'a mut Value, steps: &[Step]) -> Option<&'a mut Value> {
    let mut place = root;
    for step in steps {
        place = match step {
            Step::Name(name) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(*name).or_insert(Value::Null)
            }
            Step::Place(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let list = place.as_array_mut()?;
                if list.len() <= *index {
                    list.resize(index + 1, Value::Null);
                }
                list.get_mut(*index)?
            }
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_come_together() {
        let mut arguments = json!({});
        for piece in [
            json!({"jsonPath": "$.list[0].name", "stringValue": "ap", "willContinue": true}),
            json!({"jsonPath": "$.list[0].name", "stringValue": "ple"}),
            json!({"jsonPath": "$.list[1].price", "numberValue": 0.5}),
            json!({"jsonPath": "$['odd key']", "boolValue": true}),
            json!({"jsonPath": "$.none", "nullValue": "NULL_VALUE"}),
            json!({"jsonPath": "$.list[99999999].x", "boolValue": true}),
            json!({"jsonPath": "$.list.name", "boolValue": true}),
            json!({"jsonPath": "nowhere", "boolValue": true}),
            json!({"jsonPath": "$.list[", "boolValue": true}),
            json!(7),
        ] {
            add(&mut arguments, &piece);
        }
        let expected = json!({"list": [{"name": "apple"}, {"price": 0.5}], "odd key": true, "none": null});
        assert_eq!(arguments, expected);
    }
}
