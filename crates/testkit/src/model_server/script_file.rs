//! A script as a JSON file, for a server that is started from outside.
//!
//! Owns the file's shape only; what it means is [`Script`] and [`Turn`].

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::script::Script;
use super::turn::Turn;

/// A script as written in a file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptFile {
    /// The names that `/models` lists.
    pub models: Vec<String>,
    /// Which turn a request gets.
    pub pick: PickFile,
    /// The answers.
    pub turns: Vec<TurnFile>,
}

/// Which turn a request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PickFile {
    /// The next one; when none is left, a failure.
    #[default]
    Order,
    /// The next one, from the first again after the last.
    Cycle,
    /// The one whose number is the count of assistant messages in the request.
    Conversation,
}

/// An answer as written in a file. Its parts come in the order of these fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TurnFile {
    /// Thinking aloud.
    pub reasoning: Option<String>,
    /// Words.
    pub text: Option<String>,
    /// So many bytes of made-up words in lines, after `text`.
    pub text_bytes: Option<usize>,
    /// Tool calls.
    pub calls: Vec<CallFile>,
    /// A status instead of an answer.
    pub status: Option<u16>,
    /// The body that goes with `status`; a string is sent as text.
    pub body: Option<Value>,
    /// Headers of the response.
    pub headers: BTreeMap<String, String>,
    /// Tokens.
    pub usage: Option<UsageFile>,
    /// The provider's word for how it ended.
    pub finish: Option<String>,
    /// Characters in one delta.
    pub delta_size: Option<usize>,
    /// Bytes in one write.
    pub split_every: Option<usize>,
    /// Milliseconds before the head of the response.
    pub delay_ms: Option<u64>,
    /// How many times; once if absent.
    pub repeat: Option<usize>,
}

/// A tool call as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFile {
    /// The tool's name.
    pub tool: String,
    /// Its arguments; a string is sent as it stands.
    pub arguments: Value,
}

/// Tokens as written in a file; see [`Turn::usage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageFile {
    /// All input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that a cache served.
    #[serde(default)]
    pub cached: u64,
}

impl ScriptFile {
    /// Reads the file's text.
    ///
    /// # Errors
    /// It is not JSON or not of this shape.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The script that it means.
    pub fn into_script(self) -> Script {
        let turns =
            self.turns.iter().flat_map(|turn| std::iter::repeat_n(turn.turn(), turn.repeat.unwrap_or(1)));
        let script = match self.pick {
            PickFile::Order => Script::new().turns(turns),
            PickFile::Cycle => Script::cycle(turns),
            PickFile::Conversation => Script::by_conversation(turns),
        };
        if self.models.is_empty() { script } else { script.models(self.models) }
    }
}

impl TurnFile {
    fn turn(&self) -> Turn {
        let mut turn = match (self.status, &self.body) {
            (Some(status), Some(Value::String(text))) => Turn::status(status, text.as_str()),
            (Some(status), Some(body)) => Turn::status(status, body.clone()),
            (Some(status), None) => Turn::error(status, "as scripted"),
            (None, _) => self.says(),
        };
        if let Some(UsageFile { input, output, cached }) = self.usage {
            turn = turn.usage(input, output, cached);
        }
        if let Some(word) = &self.finish {
            turn = turn.finish(word);
        }
        if let Some(characters) = self.delta_size {
            turn = turn.delta_size(characters);
        }
        if let Some(bytes) = self.split_every {
            turn = turn.split_every(bytes);
        }
        if let Some(milliseconds) = self.delay_ms {
            turn = turn.delay(Duration::from_millis(milliseconds));
        }
        self.headers.iter().fold(turn, |turn, (name, value)| turn.header(name, value))
    }

    fn says(&self) -> Turn {
        let mut turn = Turn::empty();
        if let Some(text) = &self.reasoning {
            turn = turn.and_reasoning(text);
        }
        if let Some(text) = &self.text {
            turn = turn.and_text(text);
        }
        if let Some(bytes) = self.text_bytes {
            turn = turn.and_text(made_up(bytes));
        }
        for CallFile { tool, arguments } in &self.calls {
            turn = match arguments {
                Value::String(text) => turn.and_call_text(tool, text),
                value => turn.and_call(tool, value.clone()),
            };
        }
        turn
    }
}

/// Words in lines of about 80 characters, exactly so many bytes of them.
fn made_up(bytes: usize) -> String {
    const LINE: &str = "The quick brown fox jumps over the lazy dog while the model keeps on streaming.\n";
    LINE.chars().cycle().take(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_text_has_exactly_the_size_asked_for() {
        assert_eq!(made_up(2_000_000).len(), 2_000_000);
        assert_eq!(made_up(3), "The");
    }

    #[test]
    fn an_unknown_field_is_an_error_that_names_it() {
        let error = ScriptFile::parse(r#"{"turns": [{"txt": "hello"}]}"#).unwrap_err();
        assert!(error.to_string().contains("txt"), "{error}");
    }

    #[test]
    fn turns_repeat_as_often_as_told() {
        let file = ScriptFile::parse(r#"{"turns": [{"text": "a", "repeat": 3}, {"status": 429}]}"#).unwrap();
        assert_eq!(file.into_script().turns.len(), 4);
    }
}
