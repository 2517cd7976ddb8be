//! Rules as people have them already, in the files of other agents, as rules of
//! ours: with the same meaning or a stricter one.
//!
//! What cannot be said exactly is not understood and says why; nothing is ever
//! widened. Everything here is pure: files are read by others.
//!
//! Layout: [`claude`] knows `Bash(git log:*)` and its like, [`opencode`] the
//! nested map, [`codex`] prefix rules; [`json`] reads JSON as people write it;
//! `command` and `path` say which texts mean here what they mean there.

pub mod claude;
pub mod codex;
mod command;
pub mod json;
pub mod opencode;
mod path;
mod starlark;

use rein_protocol::Mode;

use crate::error::PermissionError;
use crate::rule::{Action, KNOWN, Rule};

/// What a form means here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood {
    /// The rules, in the order in which they count.
    pub rules: Vec<Rule>,
    /// How they are stricter than the form, if they are, as a sentence without its end.
    pub stricter: Option<String>,
}

impl Understood {
    fn same(rules: Vec<Rule>) -> Self {
        Self { rules, stricter: None }
    }
}

/// What became of a form.
pub type Reading = Result<Understood, NotUnderstood>;

/// A form in somebody's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its line, from 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
    /// What it says is to be done, where it is a rule.
    pub action: Option<Action>,
    /// What it means here.
    pub reading: Reading,
}

/// Why a form is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotUnderstood {
    /// Not written as a rule is.
    #[error("it is not written as a rule is: TOOL, TOOL(PATTERN) or PERMISSION:PATTERN")]
    NotARule,
    /// A rule in our own spelling that is wrong.
    #[error(transparent)]
    Wrong(#[from] PermissionError),
    /// About a tool that rein has not got.
    #[error("rein has no tool `{tool}`")]
    NoSuchTool {
        /// Its name.
        tool: String,
    },
    /// About a tool of a server.
    #[error("`{tool}` is a tool of an MCP server, and rules for those are not read yet")]
    ServerTool {
        /// Its name.
        tool: String,
    },
    /// Allows everything, in a spelling that meant something else before.
    #[error(
        "it allows everything of its kind, which is too much to guess: write `{permission}` if that is meant"
    )]
    Everything {
        /// The permission that it would allow.
        permission: &'static str,
    },
    /// More than one command.
    #[error(
        "it is more than one plain command (an operator, a redirection or a substitution): a rule is about one \
         command, so write one for each"
    )]
    SeveralCommands,
    /// A piece of a command.
    #[error("it is a piece of a larger command, cut out at `{word}`")]
    Fragment {
        /// The word that gives it away.
        word: String,
    },
    /// A quote that does not end.
    #[error("a quote in it does not end")]
    OpenQuote,
    /// A character that means something else here.
    #[error("`{character}` {meaning}, so that it would allow more")]
    Character {
        /// Which.
        character: char,
        /// What it means here.
        meaning: &'static str,
    },
    /// A `*` that stays within a directory.
    #[error(
        "`*` also stands for directories here, so that it would allow more: write `**` if everything below is meant"
    )]
    SingleLevel,
    /// Syntax of path patterns that there is not here.
    #[error("there is no `{character}` in patterns for paths here")]
    PathSyntax {
        /// The character.
        character: char,
    },
    /// A path that begins with one slash.
    #[error("`{path}` depends on where it is written: write `//…` for the root of the machine, or `./…`")]
    AmbiguousRoot {
        /// The path.
        path: String,
    },
    /// Searching apart from reading.
    #[error("`{tool}` is no permission of its own: finding, searching and reading files are one")]
    OnlySearch {
        /// The tool.
        tool: String,
    },
    /// No host name, or one with wildcards where they cannot be had.
    #[error("`{domain}` is not the name of one host")]
    NotADomain {
        /// What is written.
        domain: String,
    },
    /// A directory that depends on another.
    #[error("`{directory}` is not an absolute path")]
    RelativeDirectory {
        /// What is written.
        directory: String,
    },
    /// How much runs without asking.
    #[error(
        "how much runs without asking is for you to choose{}",
        .nearest.map(|mode| format!(": the nearest is mode = \"{}\"", mode.name())).unwrap_or_default()
    )]
    Mode {
        /// What comes near to it.
        nearest: Option<Mode>,
    },
    /// For one agent only.
    #[error("rules for one agent are not read yet")]
    OneAgent,
    /// Not a plain value.
    #[error("it is not written with plain texts and lists only, at column one, and is not computed")]
    Computed,
    /// Too many combinations.
    #[error("it has more than {limit} alternatives")]
    TooMany {
        /// How many would be taken.
        limit: usize,
    },
    /// Not the value that belongs there.
    #[error("{expected} is expected there")]
    Unexpected {
        /// What would be right.
        expected: &'static str,
    },
}

/// Reads an entry of a list in our own settings, and what `--allow` and `--deny`
/// are given: `PERMISSION:PATTERN`, or as Claude Code has it.
///
/// # Errors
/// If it is neither, or says what cannot be said here.
pub fn read(text: &str, action: Action, origin: &str) -> Reading {
    let head = text.split([':', '(']).next().unwrap_or_default().trim();
    let ours = KNOWN.contains(&head) && !text.trim_start().starts_with(&format!("{head}("));
    if !ours && (head.starts_with(|first: char| first.is_ascii_uppercase()) || head.starts_with("mcp__")) {
        return claude::rule(text, action, origin);
    }
    Ok(Understood::same(vec![Rule::parse(text, action, origin)?]))
}

fn rules(permission: &str, patterns: Vec<String>, action: Action, origin: &str) -> Vec<Rule> {
    patterns.into_iter().map(|pattern| Rule::new(permission, pattern, action, origin)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_spelling_and_claudes_are_both_read() {
        let spelled = |text: &str| {
            read(text, Action::Deny, "here").map(|found| {
                found.rules.iter().map(|rule| format!("{} {rule}", rule.action.name())).collect::<Vec<_>>()
            })
        };
        assert_eq!(spelled("bash:git push *"), Ok(vec!["deny bash:git push *".to_owned()]));
        assert_eq!(spelled("Bash(git push:*)"), Ok(vec!["deny bash:git push *".to_owned()]));
        assert_eq!(spelled("edit"), Ok(vec!["deny edit:*".to_owned()]));
        assert_eq!(spelled("bash:f (x)"), Ok(vec!["deny bash:f (x)".to_owned()]));
        assert_eq!(spelled("*"), Ok(vec!["deny *:*".to_owned()]));
        assert!(matches!(spelled("mcp__x__y"), Err(NotUnderstood::ServerTool { .. })));
        assert!(matches!(spelled("edti:x"), Err(NotUnderstood::Wrong(_))));
        assert!(matches!(spelled("bash(x)"), Err(NotUnderstood::Wrong(_))));
        assert!(spelled("edti:x").unwrap_err().to_string().contains("did you mean `edit:x`?"));
    }
}
