//! Cases as their files hold them.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::XtaskError;

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same result.
    Agree,
    /// Another result: ours and theirs, in words.
    Differ(String),
    /// It asks for something that the project does in another way, or not at all.
    NotApplicable(String),
    /// The function for it has not been built; its name.
    NoSubject(String),
}

/// What a file holds.
#[derive(Debug)]
pub enum Found {
    /// A case from another project's tests.
    Peer(PeerCase),
    /// A command line to be judged.
    Command(CommandCase),
    /// A command line that an agent really ran.
    Agent(AgentCase),
    /// A rule that somebody wrote by hand for another agent.
    HandRule(HandRule),
    /// A recorded exchange with a provider.
    Exchange(Box<Exchange>),
    /// A line that is not a case.
    Unreadable {
        /// The area of the file.
        area: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        error: String,
    },
}

/// A case from another project's tests.
#[derive(Debug, Clone, Deserialize)]
pub struct PeerCase {
    /// Its name.
    pub id: String,
    /// The file it is in.
    #[serde(skip)]
    pub area: String,
    /// The project.
    #[serde(default)]
    pub peer: String,
    /// What was called, in that project's word.
    pub op: String,
    /// With what.
    #[serde(default)]
    pub input: Value,
    /// What came out.
    #[serde(default)]
    pub expect: Value,
}

/// A command line to be judged.
#[derive(Debug, Clone, Deserialize)]
pub struct CommandCase {
    /// File and line, since these have no name.
    #[serde(skip)]
    pub id: String,
    /// The file it is in.
    #[serde(skip)]
    pub area: String,
    /// The command line.
    pub cmd: String,
    /// The mildest decision that is right.
    pub must: String,
    /// The user's rules.
    #[serde(default)]
    pub rules: Option<Value>,
    /// What kind of thing it is; not everything here is a command line.
    #[serde(default)]
    pub kind: String,
}

/// A command line that an agent really ran, and what mode `write` should do.
#[derive(Debug, Clone, Deserialize)]
pub struct AgentCase {
    /// File and line.
    #[serde(skip)]
    pub id: String,
    /// The command line.
    pub cmd: String,
    /// What mode `write` should do, confined.
    pub expect_in_write_mode: String,
    /// Why, if it is not to run.
    #[serde(default)]
    pub why: String,
}

/// A rule that somebody wrote by hand for another agent.
#[derive(Debug, Clone, Deserialize)]
pub struct HandRule {
    /// File and line.
    #[serde(skip)]
    pub id: String,
    /// As written.
    pub rule: String,
    /// Allow, ask or deny.
    #[serde(default)]
    pub effect: String,
    /// What it is about.
    #[serde(default)]
    pub kind: String,
    /// The words that the command begins with.
    #[serde(default)]
    pub prefix: Option<String>,
}

/// A recorded exchange with a provider.
#[derive(Debug, Clone, Deserialize)]
pub struct Exchange {
    /// Its name.
    pub id: String,
    /// The protocol.
    pub wire: String,
    /// A form of the protocol.
    #[serde(default)]
    pub variant: Option<String>,
    /// Who answered.
    #[serde(default)]
    pub provider: String,
    /// Whether the body is a stream.
    #[serde(default)]
    pub streamed: bool,
    /// How the body is cut into pieces.
    #[serde(default)]
    pub framing: String,
    /// The answer.
    pub response: Response,
    /// What the exchange exercises.
    #[serde(default)]
    pub features: Vec<String>,
}

/// The answer of a provider.
#[derive(Debug, Clone, Deserialize)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers.
    #[serde(default)]
    pub headers: Value,
    /// The body, perhaps encoded.
    #[serde(default)]
    pub body: String,
    /// `utf-8` or `base64`.
    #[serde(default)]
    pub body_encoding: String,
}

/// The cases of one file.
///
/// # Errors
/// If the file cannot be read, is not text, or is a single JSON value that is
/// no exchange.
pub fn load(path: &Path) -> Result<Vec<Found>, XtaskError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| XtaskError::Read { path: path.to_path_buf(), error })?;
    let area = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if path.extension().is_some_and(|extension| extension == "json") {
        let exchange = serde_json::from_str(&text).map_err(|error| XtaskError::Strange {
            what: path.display().to_string(),
            detail: error.to_string(),
        })?;
        return Ok(vec![Found::Exchange(exchange)]);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    Ok(lines.filter_map(|(index, line)| line_case(&area, index + 1, line)).collect())
}

/// The case on one line; nothing for a line of another kind of file.
fn line_case(area: &str, line: usize, text: &str) -> Option<Found> {
    let unreadable = |error: serde_json::Error| Found::Unreadable {
        area: area.to_owned(),
        line,
        error: error.to_string(),
    };
    let value: Value = match serde_json::from_str(text).or_else(|_| serde_json::from_str(&whole(text))) {
        Ok(value) => value,
        Err(error) => return Some(unreadable(error)),
    };
    let has = |name: &str| value.get(name).is_some();
    if has("op") && has("id") {
        return Some(
            PeerCase::deserialize(&value)
                .map_or_else(unreadable, |case| Found::Peer(PeerCase { area: area.to_owned(), ..case })),
        );
    }
    if has("cmd") && has("must") {
        return Some(CommandCase::deserialize(&value).map_or_else(unreadable, |case| {
            Found::Command(CommandCase { area: area.to_owned(), id: format!("{area}:{line}"), ..case })
        }));
    }
    if has("cmd") && has("expect_in_write_mode") {
        return Some(AgentCase::deserialize(&value).map_or_else(unreadable, |case| {
            Found::Agent(AgentCase { id: format!("{area}:{line}"), ..case })
        }));
    }
    if has("rule") && has("dialect") {
        return Some(HandRule::deserialize(&value).map_or_else(unreadable, |case| {
            Found::HandRule(HandRule { id: format!("{area}:{line}"), ..case })
        }));
    }
    None
}

/// JSON without halves of characters, which other languages let stand in a text.
fn whole(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\ud") {
        let (before, escape) = rest.split_at(at);
        let is = |at: usize, halves: &str| {
            escape.get(at..at + 3) == Some("\\ud")
                && escape.get(at + 3..at + 4).is_some_and(|one| halves.contains(one))
        };
        result.push_str(before);
        let (taken, kept) = match (is(0, "89abAB"), is(6, "cdefCDEF")) {
            (true, true) => (12, escape.get(..12)),
            (true, false) => (6, Some("\\ufffd")),
            _ if is(0, "cdefCDEF") => (6, Some("\\ufffd")),
            _ => (3, escape.get(..3)),
        };
        result.push_str(kept.unwrap_or_default());
        rest = escape.get(taken..).unwrap_or_default();
    }
    result.push_str(rest);
    result
}
