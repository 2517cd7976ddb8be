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

/// What is around the words of a plain chunk. Mostly the next one is the same but for its words, and then it need not
/// be parsed: other words without anything to escape make the same chunk with other words.
#[derive(Debug, Default)]
pub(super) struct Frame {
    before: String,
    after: String,
    index: u64,
}

impl Frame {
    /// The words of a chunk that holds nothing else, and the choice that they belong to.
    pub(super) fn words<'a>(&mut self, data: &'a str) -> Option<(u64, Cow<'a, str>)> {
        if let Some(words) = self.same(data) {
            return Some((self.index, Cow::Borrowed(words)));
        }
        let (index, words) = words(data)?;
        if let Cow::Borrowed(words) = words {
            self.learn(data, words, index);
        }
        Some((index, words))
    }

    fn same<'a>(&self, data: &'a str) -> Option<&'a str> {
        let words = data.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        let unescaped = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        let known = !self.after.is_empty() && words.bytes().fold(true, |all, byte| all & unescaped(byte));
        known.then_some(words)
    }

    fn learn(&mut self, data: &str, words: &str, index: u64) {
        let start = (words.as_ptr() as usize).wrapping_sub(data.as_ptr() as usize);
        let around = data.get(..start).zip(start.checked_add(words.len()).and_then(|end| data.get(end..)));
        self.before.clear();
        self.after.clear();
        if let Some((before, after)) = around {
            self.before.push_str(before);
            self.after.push_str(after);
        }
        self.index = index;
    }
}

/// The words of a chunk that holds nothing else, and the choice that they belong to.
fn words(data: &str) -> Option<(u64, Cow<'_, str>)> {
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
    fn a_chunk_like_the_last_one_is_read_the_same_and_others_as_ever() {
        let chunk = |words: &str, id: &str| {
            format!(r#"{{"id":"{id}","choices":[{{"delta":{{"content":"{words}"}},"index":3}}]}}"#)
        };
        let mut frame = Frame::default();
        let pieces = ["a", "", "b\u{e9} \u{1F980}", r"c\n", "d", r#"e\"f"#, "g"];
        for (words, id) in pieces.iter().flat_map(|words| [(words, "1"), (words, "1"), (words, "22")]) {
            let data = chunk(words, id);
            let expected: String = serde_json::from_str(&format!("\"{words}\"")).unwrap();
            assert_eq!(frame.words(&data), Some((3, expected.into())), "{data}");
        }
        // Words that end the text and say more, and what only begins like the last one.
        let more = chunk(r#"g","tool_calls":[{}],"x":""#, "22");
        assert_eq!(frame.words(&more), None);
        let known = chunk("g", "22");
        for end in 0..known.len() {
            assert_eq!(frame.words(&known[..end]), None, "{end}");
        }
        assert_eq!(frame.words(&chunk("a\u{1}b", "22")), None);
    }

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
