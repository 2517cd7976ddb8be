//! The chunk that nearly all of a stream consists of: a piece of text or of a
//! thought. Read without a tree of values, because an answer has thousands.
//! Whatever is not exactly that is left to the decoder.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::parts::Voice;
use super::tally::Counts;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: [Candidate<'a>; 1],
    #[serde(default)]
    usage_metadata: Option<Counts>,
    #[serde(default)]
    prompt_feedback: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(default)]
    index: u64,
    #[serde(default)]
    finish_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: [Part<'a>; 1],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(default)]
    thought: bool,
}

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub text: String,
    pub voice: Voice,
    pub counts: Option<Counts>,
}

/// The piece that a chunk adds.
pub(super) fn piece(data: &str) -> Option<Piece> {
    let chunk: Chunk = serde_json::from_str(data).ok()?;
    let [Candidate { content: Content { parts: [part] }, index, finish_reason }] = chunk.candidates;
    if index != 0 || finish_reason.is_some() || chunk.prompt_feedback.is_some() || chunk.error.is_some() {
        return None;
    }
    let voice = if part.thought { Voice::Thought } else { Voice::Text };
    Some(Piece { text: part.text.into_owned(), voice, counts: chunk.usage_metadata })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pieces_are_plain() {
        let text = r#"{"candidates":[{"content":{"parts":[{"text":"a\"b"}],"role":"model"},"index":0}],
            "usageMetadata":{"promptTokenCount":3,"trafficType":1},"modelVersion":"g"}"#;
        let counts = Some(Counts { prompt: Some(3), ..Counts::default() });
        assert_eq!(piece(text), Some(Piece { text: "a\"b".to_owned(), voice: Voice::Text, counts }));
        let others = [
            r#"{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"s"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":1}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"promptFeedback":{}}"#,
            "x",
        ];
        for other in others {
            assert_eq!(piece(other), None, "{other}");
        }
    }
}
