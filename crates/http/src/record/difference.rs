//! The first place at which two JSON values differ.
//!
//! What was masked when it was recorded matches anything.

use serde_json::Value;

use super::mask::MASK;

/// How much of a value is shown.
const SHOWN: usize = 120;
/// How much is shown before the place at which two texts part.
const BEFORE: usize = 40;

/// A difference between what was recorded and what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, for example `body.messages[3].content`.
    pub place: String,
    /// What was recorded there.
    pub expected: String,
    /// What there is.
    pub got: String,
}

/// The first difference, in the order of what was recorded.
#[must_use]
pub fn first(place: &str, expected: &Value, got: &Value) -> Option<Difference> {
    match (expected, got) {
        (Value::Object(recorded), Value::Object(actual)) => {
            let changed = recorded.iter().find_map(|(name, value)| {
                let place = format!("{place}.{name}");
                match actual.get(name) {
                    Some(other) => first(&place, value, other),
                    None => Some(Difference { place, expected: shown(value), got: NOTHING.to_owned() }),
                }
            });
            changed.or_else(|| {
                let (name, value) = actual.iter().find(|(name, _)| !recorded.contains_key(*name))?;
                let place = format!("{place}.{name}");
                Some(Difference { place, expected: NOTHING.to_owned(), got: shown(value) })
            })
        }
        (Value::Array(recorded), Value::Array(actual)) => {
            let changed = recorded.iter().zip(actual).enumerate();
            let changed = changed
                .into_iter()
                .find_map(|(at, (value, other))| first(&format!("{place}[{at}]"), value, other));
            let at = recorded.len().min(actual.len());
            let length = || {
                (recorded.len() != actual.len()).then(|| Difference {
                    place: format!("{place}[{at}]"),
                    expected: recorded.get(at).map_or_else(|| NOTHING.to_owned(), shown),
                    got: actual.get(at).map_or_else(|| NOTHING.to_owned(), shown),
                })
            };
            changed.or_else(length)
        }
        (Value::String(recorded), Value::String(actual)) => texts(place, recorded, actual),
        (recorded, actual) if recorded == actual => None,
        (recorded, actual) => {
            Some(Difference { place: place.to_owned(), expected: shown(recorded), got: shown(actual) })
        }
    }
}

const NOTHING: &str = "(nothing)";

/// The difference of two texts, if there is one.
pub(super) fn texts(place: &str, expected: &str, got: &str) -> Option<Difference> {
    if matches(expected, got) {
        return None;
    }
    let same = expected.chars().zip(got.chars()).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(BEFORE);
    Some(Difference { place: place.to_owned(), expected: excerpt(expected, from), got: excerpt(got, from) })
}

/// Whether a text is what was recorded, with anything in the places that were masked.
fn matches(recorded: &str, actual: &str) -> bool {
    if !recorded.contains(MASK) {
        return recorded == actual;
    }
    let mut pieces = recorded.split(MASK);
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = actual.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match rest.find(piece).and_then(|at| rest.get(at + piece.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn shown(value: &Value) -> String {
    excerpt(&value.to_string(), 0)
}

fn excerpt(text: &str, from: usize) -> String {
    let mut shown: String = text.chars().skip(from).take(SHOWN).collect();
    if from > 0 {
        shown.insert(0, '…');
    }
    if text.chars().nth(from + SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn difference(place: &str, expected: &str, got: &str) -> Option<Difference> {
        Some(Difference { place: place.to_owned(), expected: expected.to_owned(), got: got.to_owned() })
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let recorded = json!({"a": 1, "m": [{"c": "x"}, {"c": "same"}], "z": null});
        let table = [
            (recorded.clone(), None),
            (json!({"z": null, "m": [{"c": "x"}, {"c": "same"}], "a": 1}), None),
            (json!({"a": 2, "m": [], "z": null}), difference("body.a", "1", "2")),
            (
                json!({"a": 1, "m": [{"c": "x"}, {"c": "other"}], "z": null}),
                difference("body.m[1].c", "same", "other"),
            ),
            (
                json!({"a": 1, "m": [{"c": "x"}], "z": null}),
                difference("body.m[1]", "{\"c\":\"same\"}", "(nothing)"),
            ),
            (json!({"a": 1, "m": [{"c": "x"}, {"c": "same"}]}), difference("body.z", "null", "(nothing)")),
            (
                json!({"a": 1, "m": [{"c": "x"}, {"c": "same"}], "z": null, "n": 7}),
                difference("body.n", "(nothing)", "7"),
            ),
            (json!({"a": "1", "m": [], "z": null}), difference("body.a", "1", "\"1\"")),
        ];
        for (actual, expected) in table {
            assert_eq!(first("body", &recorded, &actual), expected, "{actual}");
        }
    }

    #[test]
    fn what_was_masked_matches_anything() {
        for (recorded, actual, same) in [
            ("***", "anything", true),
            ("key *** end", "key sk-1 end", true),
            ("a *** b *** c", "a 1 b 2 c", true),
            ("a *** b *** c", "a 1 c", false),
            ("key ***", "kei sk-1", false),
            ("*** end", "x ends", false),
        ] {
            assert_eq!(texts("p", recorded, actual).is_none(), same, "{recorded} / {actual}");
        }
    }

    #[test]
    fn long_texts_are_shown_from_where_they_part() {
        let (one, other) = (format!("{}A{}", "x".repeat(100), "y".repeat(200)), "x".repeat(100));
        let difference = texts("p", &one, &other).unwrap();
        assert_eq!(difference.expected, format!("…{}A{}…", "x".repeat(40), "y".repeat(79)));
        assert_eq!(difference.got, format!("…{}", "x".repeat(40)));
    }
}
