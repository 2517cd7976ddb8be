//! One line of a rule list, how people write it on a command line, and the
//! evaluation of concatenated lists where the last match wins.
//!
//! Layers, modes and what a rule may not do are left to [`crate::policy`].

use std::fmt;

use rein_protocol::ask::Grant;
use serde::{Deserialize, Serialize};

use crate::error::PermissionError;
use crate::wildcard;

/// Reading files.
pub const READ: &str = "read";
/// Creating and changing files.
pub const EDIT: &str = "edit";
/// Running command lines.
pub const BASH: &str = "bash";
/// Talking to hosts.
pub const WEBFETCH: &str = "webfetch";
/// Touching anything outside of the workspace.
pub const EXTERNAL_DIRECTORY: &str = "external_directory";
/// Going on although the same call was just made several times.
pub const DOOM_LOOP: &str = "doom_loop";

/// Giving a command more rights than its sandbox leaves it.
pub const SANDBOX: &str = "sandbox";
/// Putting a question to the person.
pub const QUESTION: &str = "question";

/// Every permission that a rule can name, and `*` for all of them.
pub const KNOWN: [&str; 9] =
    [READ, EDIT, BASH, WEBFETCH, EXTERNAL_DIRECTORY, DOOM_LOOP, SANDBOX, QUESTION, "*"];

/// Words that people try, and the permission they mean.
const MEANT: [(&str, &str); 8] = [
    ("write", EDIT),
    ("patch", EDIT),
    ("shell", BASH),
    ("exec", BASH),
    ("execute", BASH),
    ("fetch", WEBFETCH),
    ("web", WEBFETCH),
    ("external", EXTERNAL_DIRECTORY),
];

/// What is to be done about something, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is done.
    Allow,
    /// A person is asked.
    Ask,
    /// It is not done.
    Deny,
}

impl Action {
    /// The word that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What is to be done about the resources that a pattern covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// The permission, with wildcards.
    pub permission: String,
    /// The resources, with wildcards.
    pub pattern: String,
    /// What is to be done.
    pub action: Action,
    /// Who says so, for reasons: a file, a flag, a person.
    #[serde(default)]
    pub origin: String,
}

impl fmt::Display for Rule {
    /// As `--allow` and `--deny` take it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.permission, self.pattern)
    }
}

impl Rule {
    /// A rule from its parts.
    pub fn new(
        permission: impl Into<String>,
        pattern: impl Into<String>,
        action: Action,
        origin: impl Into<String>,
    ) -> Self {
        Self { permission: permission.into(), pattern: pattern.into(), action, origin: origin.into() }
    }

    /// Reads `PERMISSION` or `PERMISSION:PATTERN`.
    ///
    /// # Errors
    /// If the permission is not one of [`KNOWN`] or the pattern is empty.
    pub fn parse(spec: &str, action: Action, origin: impl Into<String>) -> Result<Self, PermissionError> {
        let (permission, pattern) = match spec.split_once(':') {
            Some((permission, pattern)) => (permission.trim(), pattern),
            None => (spec.trim(), "*"),
        };
        if !KNOWN.contains(&permission) {
            return Err(PermissionError::UnknownPermission {
                spec: spec.to_owned(),
                permission: permission.to_owned(),
                known: KNOWN.join(", "),
                nearest: meant(spec, permission),
            });
        }
        if pattern.trim().is_empty() {
            return Err(PermissionError::EmptyPattern {
                spec: spec.to_owned(),
                permission: permission.to_owned(),
            });
        }
        Ok(Self::new(permission, pattern, action, origin))
    }

    /// What a person allowed for the rest of a session.
    #[must_use]
    pub fn granted(grant: &Grant) -> Self {
        Self::new(&grant.permission, &grant.pattern, Action::Allow, "allowed for this session")
    }

    /// Whether the rule speaks about this permission at all.
    #[must_use]
    pub fn concerns(&self, permission: &str) -> bool {
        wildcard::matches(&self.permission, permission)
    }
}

/// The rule that was probably meant, in full.
fn meant(spec: &str, permission: &str) -> Option<String> {
    let lower = permission.to_ascii_lowercase();
    let pattern = spec.split_once(':').map(|(_, pattern)| pattern);
    let with_pattern = |name: &str| match pattern {
        Some(pattern) => format!("{name}:{pattern}"),
        None => name.to_owned(),
    };
    if let Some((_, name)) = MEANT.iter().find(|(word, _)| *word == lower) {
        return Some(with_pattern(name));
    }
    if pattern.is_none() && permission.contains(['/', '.', '*']) {
        return Some(format!("{EDIT}:{permission}"));
    }
    KNOWN
        .into_iter()
        .map(|name| (strsim::jaro_winkler(name, &lower), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| with_pattern(name))
}

/// What a list of rules says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// What is to be done.
    pub action: Action,
    /// The rule that says so; none if no rule matched.
    pub rule: Option<Rule>,
}

/// Evaluates rule lists one after the other as one list: the last rule that
/// matches wins, and if none does, a person is asked.
#[must_use]
pub fn evaluate(permission: &str, pattern: &str, rulesets: &[Vec<Rule>]) -> Evaluated {
    let last = rulesets
        .iter()
        .rev()
        .flat_map(|rules| rules.iter().rev())
        .find(|rule| rule.concerns(permission) && wildcard::matches(&rule.pattern, pattern));
    Evaluated { action: last.map_or(Action::Ask, |rule| rule.action), rule: last.cloned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(spec: &str, action: Action) -> Rule {
        Rule::parse(spec, action, "test").unwrap()
    }

    #[test]
    fn a_spec_is_a_permission_and_perhaps_a_pattern() {
        let expected =
            |permission: &str, pattern: &str| Rule::new(permission, pattern, Action::Allow, "test");
        assert_eq!(rule("edit", Action::Allow), expected("edit", "*"));
        assert_eq!(rule("edit:src/**", Action::Allow), expected("edit", "src/**"));
        assert_eq!(rule("*", Action::Allow), expected("*", "*"));
        assert_eq!(
            rule("webfetch:https://example.com/*", Action::Allow),
            expected("webfetch", "https://example.com/*")
        );
        assert_eq!(rule(" edit :a b ", Action::Allow), expected("edit", "a b "));
    }

    #[test]
    fn a_wrong_spec_is_told_what_it_should_be() {
        let message = |spec: &str| Rule::parse(spec, Action::Allow, "test").unwrap_err().to_string();
        assert_eq!(
            message("edti:src/*"),
            "`edti:src/*` names no known permission: `edti` is not one of read, edit, bash, webfetch, \
             external_directory, doom_loop, sandbox, question, *; did you mean `edit:src/*`?"
        );
        assert!(message("write:src/*").ends_with("did you mean `edit:src/*`?"));
        assert!(message("src/**").ends_with("did you mean `edit:src/**`?"));
        assert!(message("Bash").ends_with("did you mean `bash`?"));
        assert!(!message("zzz").contains("did you mean"));
        assert_eq!(
            message("edit:"),
            "`edit:` has no pattern after the colon: write `edit` for everything, or `edit:PATTERN`"
        );
    }

    #[test]
    fn the_last_match_over_all_lists_wins_and_no_match_asks() {
        let lists = [
            vec![rule("edit:*", Action::Deny), rule("edit:src/*", Action::Allow)],
            vec![rule("*:src/secret", Action::Ask)],
        ];
        let action = |permission: &str, pattern: &str| evaluate(permission, pattern, &lists).action;
        assert_eq!(action("edit", "a"), Action::Deny);
        assert_eq!(action("edit", "src/a"), Action::Allow);
        assert_eq!(action("edit", "src/secret"), Action::Ask);
        assert_eq!(evaluate("read", "a", &lists), Evaluated { action: Action::Ask, rule: None });
        assert_eq!(evaluate("edit", "src/a", &lists).rule, Some(rule("edit:src/*", Action::Allow)));
    }
}
