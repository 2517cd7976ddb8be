//! Codex's prefix rules, `prefix_rule(pattern = ["git", ["log", "show"]])`, and
//! the two settings that say how much runs without asking.
//!
//! There the strictest of all rules that match counts, whatever their order:
//! lists in our settings count in the same way.

use rein_protocol::Mode;

use super::starlark::{self, Call, Plain, Statement};
use super::{Found, NotUnderstood, Reading, Understood, command, rules};
use crate::rule::{Action, BASH};

/// How many rules one may become by its alternatives.
const MOST: usize = 64;

/// Every rule in a `.rules` file. Rules are of `file`.
#[must_use]
pub fn rule_file(text: &str, file: &str) -> Vec<Found> {
    starlark::statements(text)
        .into_iter()
        .filter_map(|statement| match statement {
            Statement::Call(call) if call.function == "prefix_rule" => Some(prefix_rule(&call, file)),
            // Says where a program is, and allows nothing.
            Statement::Call(call) if call.function == "host_executable" => None,
            Statement::Call(call) => {
                let reading = Err(NotUnderstood::NoSuchTool { tool: call.function.clone() });
                Some(Found {
                    line: call.line, text: format!("{}(…)", call.function), action: None, reading
                })
            }
            Statement::Other { line, word } => {
                let text = format!("{word} …").trim_start().to_owned();
                Some(Found { line, text, action: None, reading: Err(NotUnderstood::Computed) })
            }
        })
        .collect()
}

/// What `approval_policy` or `sandbox_mode` come near to. Neither is taken over.
#[must_use]
pub fn setting(key: &str, value: &str, line: usize) -> Found {
    let nearest = match (key, value) {
        ("approval_policy", "untrusted") | ("sandbox_mode", "read-only") => Some(Mode::Tight),
        ("sandbox_mode", "workspace-write") => Some(Mode::Write),
        _ => None,
    };
    Found {
        line,
        text: format!("{key} = {value}"),
        action: None,
        reading: Err(NotUnderstood::Mode { nearest }),
    }
}

fn prefix_rule(call: &Call, file: &str) -> Found {
    let argument = |name: &str| {
        let arguments = call.arguments.iter().flatten();
        arguments.rev().find(|(found, _)| found == name).map(|(_, value)| value)
    };
    let action = match argument("decision") {
        None if call.arguments.is_some() => Some(Action::Allow),
        Some(Plain::Text(word)) => match word.as_str() {
            "allow" => Some(Action::Allow),
            "prompt" => Some(Action::Ask),
            "forbidden" => Some(Action::Deny),
            _ => None,
        },
        None | Some(Plain::List(_)) => None,
    };
    let pattern = argument("pattern");
    let reading = match (&call.arguments, action, pattern) {
        (None, ..) => Err(NotUnderstood::Computed),
        (_, None, _) => Err(NotUnderstood::Unexpected { expected: "`allow`, `prompt` or `forbidden`" }),
        (_, _, None) => Err(NotUnderstood::Unexpected { expected: "a pattern" }),
        (_, Some(action), Some(pattern)) => prefix(pattern, action, &format!("{file}:{}", call.line)),
    };
    let text = format!("prefix_rule({})", pattern.map(shown).unwrap_or_else(|| "…".to_owned()));
    Found { line: call.line, text, action, reading }
}

fn prefix(pattern: &Plain, action: Action, origin: &str) -> Reading {
    let Plain::List(tokens) = pattern else {
        return Err(NotUnderstood::Unexpected { expected: "a list of words" });
    };
    let mut commands: Vec<String> = vec![String::new()];
    for token in tokens {
        let alternatives: Vec<&str> = match token {
            Plain::Text(word) => vec![word],
            Plain::List(words) => {
                words.iter().map(text).collect::<Option<_>>().ok_or(NotUnderstood::Computed)?
            }
        };
        let mut longer = Vec::new();
        for command in &commands {
            for word in &alternatives {
                check_word(word)?;
                let blank = if command.is_empty() { "" } else { " " };
                longer.push(format!("{command}{blank}{word}"));
            }
        }
        if longer.len() > MOST {
            return Err(NotUnderstood::TooMany { limit: MOST });
        }
        commands = longer;
    }
    commands.retain(|command| !command.is_empty());
    if commands.is_empty() {
        return Err(NotUnderstood::Unexpected { expected: "a list of words" });
    }
    for one in &commands {
        command::plain(one)?;
    }
    let patterns = commands.into_iter().map(|command| format!("{command} *")).collect();
    Ok(Understood::same(rules(BASH, patterns, action, origin)))
}

fn text(plain: &Plain) -> Option<&str> {
    match plain {
        Plain::Text(text) => Some(text),
        Plain::List(_) => None,
    }
}

/// A word of a command that would be typed as it is.
fn check_word(word: &str) -> Result<(), NotUnderstood> {
    let is_typed = |one: char| one.is_ascii_alphanumeric() || "_-./:=@%+,~".contains(one);
    match word.chars().find(|one| !is_typed(*one)) {
        None if word.is_empty() => Err(NotUnderstood::NotARule),
        None => Ok(()),
        Some(character) if character.is_whitespace() => Err(NotUnderstood::SeveralCommands),
        Some(character) => {
            Err(NotUnderstood::Character { character, meaning: "is not simply a part of a word" })
        }
    }
}

fn shown(pattern: &Plain) -> String {
    match pattern {
        Plain::Text(text) => text.clone(),
        Plain::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        rule_file(text, "f")
            .iter()
            .map(|found| match &found.reading {
                Ok(understood) => {
                    let rules = understood
                        .rules
                        .iter()
                        .map(|rule| format!("{} {rule} {}", rule.action.name(), rule.origin));
                    rules.collect::<Vec<_>>().join(", ")
                }
                Err(error) => format!("{} {}: {error}", found.line, found.text),
            })
            .collect()
    }

    #[test]
    fn prefixes_become_one_rule_for_each_alternative() {
        let file = r#"# mine
prefix_rule(pattern=["git", "status"])
prefix_rule(
    pattern = ["gh", "pr", ["view", "list"]],
    decision = "prompt",
    justification = "why, indeed",
    match = ["gh pr view 1", ["gh", "pr", "list"]],
)
prefix_rule(pattern=['rm'], decision='forbidden')
host_executable(name="git", paths=["/usr/bin/git"])
"#;
        assert_eq!(
            read(file),
            [
                "allow bash:git status * f:2",
                "ask bash:gh pr view * f:3, ask bash:gh pr list * f:3",
                "deny bash:rm * f:9",
            ]
        );
    }

    #[test]
    fn what_is_not_plain_is_told_and_never_widened() {
        let many = format!("prefix_rule(pattern=[{0}, {0}, {0}])", "[\"a\",\"b\",\"c\",\"d\",\"e\"]");
        let file = format!(
            "prefix_rule(pattern=[\"bash\", \"-lc\", \"rm -rf x\"])\n\
             prefix_rule(pattern=[\"a*\"])\n\
             prefix_rule(pattern=[])\n\
             prefix_rule(pattern=COMMON)\n\
             prefix_rule(pattern=[\"a\"], decision=\"maybe\")\n\
             prefix_rule(decision=\"allow\")\n\
             network_rule(host=\"x\")\n\
             COMMON = []\n\
             def f():\n  prefix_rule(pattern=[\"x\"])\n\
             prefix_rule(pattern=[\"do\", \"x\"])\n\
             {many}\n"
        );
        assert_eq!(
            read(&file),
            [
                "1 prefix_rule([bash, -lc, rm -rf x]): it is more than one plain command (an operator, a redirection \
                 or a substitution): a rule is about one command, so write one for each",
                "2 prefix_rule([a*]): `*` is not simply a part of a word, so that it would allow more",
                "3 prefix_rule([]): a list of words is expected there",
                "4 prefix_rule(…): it is not written with plain texts and lists only, at column one, and is not \
                 computed",
                "5 prefix_rule([a]): `allow`, `prompt` or `forbidden` is expected there",
                "6 prefix_rule(…): a pattern is expected there",
                "7 network_rule(…): rein has no tool `network_rule`",
                "8 COMMON …: it is not written with plain texts and lists only, at column one, and is not computed",
                "9 def …: it is not written with plain texts and lists only, at column one, and is not computed",
                "11 prefix_rule([do, x]): it is a piece of a larger command, cut out at `do`",
                "12 prefix_rule([[a, b, c, d, e], [a, b, c, d, e], [a, b, c, d, e]]): it has more than 64 alternatives",
            ]
        );
    }

    #[test]
    fn modes_are_named_and_not_taken_over() {
        for (key, value, nearest) in [
            ("approval_policy", "untrusted", Some(Mode::Tight)),
            ("approval_policy", "never", None),
            ("sandbox_mode", "read-only", Some(Mode::Tight)),
            ("sandbox_mode", "workspace-write", Some(Mode::Write)),
            ("sandbox_mode", "danger-full-access", None),
        ] {
            assert_eq!(setting(key, value, 1).reading, Err(NotUnderstood::Mode { nearest }), "{key} {value}");
        }
    }
}
