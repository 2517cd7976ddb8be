//! Token counts as providers send them, made disjoint.
//!
//! Providers agree on names and not on meaning: some count reasoning or cached
//! tokens within the totals, some beside them. Where the numbers themselves
//! show which, they are believed.

use rein_protocol::Usage;
use serde_json::Value;

/// What a `usage` object says; nothing if it is none.
pub(in crate::wire) fn read(value: &Value) -> Option<Usage> {
    let fields = value.as_object()?;
    let count = |path: &[&str]| {
        let mut place = value;
        for name in path {
            place = place.get(name)?;
        }
        place.as_u64().or_else(|| place.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
    };
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| count(path)).unwrap_or(0);
    if !["prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"]
        .iter()
        .any(|name| fields.get(*name).is_some_and(Value::is_number))
    {
        return None;
    }
    let prompt = first(&[&["prompt_tokens"], &["input_tokens"]]);
    let completion = first(&[&["completion_tokens"], &["output_tokens"]]);
    let reasoning = first(&[
        &["completion_tokens_details", "reasoning_tokens"],
        &["output_tokens_details", "reasoning_tokens"],
        &["reasoning_tokens"],
    ]);
    let cache_read = first(&[
        &["prompt_tokens_details", "cached_tokens"],
        &["input_tokens_details", "cached_tokens"],
        &["prompt_cache_hit_tokens"],
        &["cache_read_input_tokens"],
        &["cached_tokens"],
    ]);
    let cache_write = first(&[
        &["prompt_tokens_details", "cache_write_tokens"],
        &["prompt_tokens_details", "cache_creation_tokens"],
        &["cache_creation_input_tokens"],
    ]);
    let total = first(&[&["total_tokens"]]);
    let beside = reasoning > completion || (reasoning > 0 && total == prompt + completion + reasoning);
    Some(Usage {
        input: prompt.checked_sub(cache_read + cache_write).unwrap_or(prompt),
        output: if beside { completion + reasoning } else { completion },
        reasoning,
        cache_read,
        cache_write,
        cache_write_hour: 0,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(input: u64, output: u64, reasoning: u64, cache_read: u64, cache_write: u64) -> Option<Usage> {
        Some(Usage { input, output, reasoning, cache_read, cache_write, ..Usage::default() })
    }

    #[test]
    fn counts_are_disjoint_whatever_the_provider_includes() {
        let table = [
            (json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}), usage(10, 5, 0, 0, 0)),
            (
                json!({"prompt_tokens": 154, "completion_tokens": 131, "total_tokens": 285,
                       "prompt_tokens_details": {"cached_tokens": 128, "cache_write_tokens": 6},
                       "completion_tokens_details": {"reasoning_tokens": 87}}),
                usage(20, 131, 87, 128, 6),
            ),
            // Reasoning beside the completion, as the total or the counts show.
            (
                json!({"prompt_tokens": 526, "completion_tokens": 27, "total_tokens": 625,
                       "prompt_tokens_details": {"cached_tokens": 512},
                       "completion_tokens_details": {"reasoning_tokens": 72}}),
                usage(14, 99, 72, 512, 0),
            ),
            (
                json!({"prompt_tokens": 10, "completion_tokens": 100, "total_tokens": 150,
                       "completion_tokens_details": {"reasoning_tokens": 40}}),
                usage(10, 140, 40, 0, 0),
            ),
            (
                json!({"prompt_tokens": 501, "completion_tokens": null, "cache_read_input_tokens": 0}),
                usage(501, 0, 0, 0, 0),
            ),
            (
                json!({"prompt_tokens": 7, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}),
                usage(3, 1, 0, 4, 0),
            ),
            // Cached tokens beside the prompt.
            (
                json!({"prompt_tokens": 3, "completion_tokens": 1, "cache_read_input_tokens": 90}),
                usage(3, 1, 0, 90, 0),
            ),
            (json!({"total_tokens": 3}), None),
            (json!({}), None),
            (json!(null), None),
        ];
        for (value, expected) in table {
            assert_eq!(read(&value), expected, "{value}");
        }
    }
}
