//! The chunk that nearly all of a stream consists of: some words and nothing
//! else. Read without a tree of values, because an answer has tens of thousands.
//!
//! Whatever is not exactly that is left to the decoder, so nothing can be
//! missed here: every field that means something is named, and one that says
//! anything makes the chunk not plain.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: [Choice<'a>; 1],
    error: Option<IgnoredAny>,
    usage: Option<IgnoredAny>,
    x_groq: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
    finish_reason: Option<IgnoredAny>,
    usage: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
    reasoning_content: Option<IgnoredAny>,
    reasoning: Option<IgnoredAny>,
    reasoning_details: Option<IgnoredAny>,
    refusal: Option<IgnoredAny>,
    tool_calls: Option<IgnoredAny>,
    function_call: Option<IgnoredAny>,
}

/// The words of a chunk that holds nothing else, and the choice that they belong to.
pub(super) fn words(data: &str) -> Option<(u64, Cow<'_, str>)> {
    let Chunk { choices: [choice], error, usage, x_groq } = serde_json::from_str(data).ok()?;
    let Choice { index, delta, finish_reason, usage: own_usage } = choice;
    let around = [error, usage, x_groq, finish_reason, own_usage];
    let beside = [
        delta.reasoning_content,
        delta.reasoning,
        delta.reasoning_details,
        delta.refusal,
        delta.tool_calls,
        delta.function_call,
    ];
    let says_more = around.iter().chain(&beside).any(Option::is_some);
    (!says_more).then_some((index, delta.content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_are_plain() {
        let plain = r#"{"id":"x","model":"m","choices":[{"index":2,"delta":{"role":"assistant","content":"a\"b"},"logprobs":null,"finish_reason":null}],"usage":null}"#;
        assert_eq!(words(plain), Some((2, "a\"b".into())));
        let others = [
            r#"{"choices":[]}"#,
            r#"{"choices":[{"delta":{"content":null}}]}"#,
            r#"{"choices":[{"delta":{"content":["a"]}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"","tool_calls":[{}]}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"error":{"message":"no"}}"#,
            r#"{"choices":[{"delta":{"content":"a","content":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}"#,
            "[1]",
        ];
        for other in others {
            assert_eq!(words(other), None, "{other}");
        }
    }
}
