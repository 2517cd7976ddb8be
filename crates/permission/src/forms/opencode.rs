//! opencode's nested map: `"bash": { "*": "ask", "git *": "allow" }`, and the
//! settings it stands in.
//!
//! There as here the last rule that matches counts, so the order is kept: these
//! rules belong into tables and not into lists.

use super::json::{Json, Value};
use super::{Found, NotUnderstood, Reading, Understood, command, rules};
use crate::rule::{Action, BASH, DOOM_LOOP, EDIT, EXTERNAL_DIRECTORY, READ, WEBFETCH};

/// Everything about permission in an `opencode.json`. Rules are of `file`.
#[must_use]
pub fn settings(document: &Json, file: &str) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(tools) = document.get("tools") {
        switched_off(tools, file, &mut found);
    }
    if let Some(permission) = document.get("permission") {
        permissions(permission, file, &mut found);
    }
    for key in ["agent", "mode"] {
        for (name, agent) in document.get(key).into_iter().flat_map(Json::entries) {
            if let Some(permission) = agent.get("permission").or_else(|| agent.get("tools")) {
                found.push(Found {
                    line: permission.line,
                    text: format!("{key}.{name}"),
                    action: None,
                    reading: Err(NotUnderstood::OneAgent),
                });
            }
        }
    }
    found
}

/// Reads one rule: what is to be done about `pattern` for what opencode calls `key`.
///
/// # Errors
/// If it says what cannot be said here.
pub fn rule(key: &str, pattern: &str, action: Action, origin: &str) -> Reading {
    let permission = match key {
        "read" => READ,
        "edit" | "write" | "patch" | "multiedit" | "apply_patch" => EDIT,
        "bash" => BASH,
        "webfetch" => WEBFETCH,
        "external_directory" => EXTERNAL_DIRECTORY,
        "doom_loop" => DOOM_LOOP,
        "*" => "*",
        "list" if action != Action::Allow && pattern != "*" => {
            let stricter = "reading is meant, too: it is one permission with finding and searching";
            let rules = rules(READ, vec![pattern.to_owned()], action, origin);
            return Ok(Understood { rules, stricter: Some(stricter.to_owned()) });
        }
        "list" | "glob" | "grep" => return Err(NotUnderstood::OnlySearch { tool: key.to_owned() }),
        server if server.contains('*') => return Err(NotUnderstood::ServerTool { tool: server.to_owned() }),
        other => return Err(NotUnderstood::NoSuchTool { tool: other.to_owned() }),
    };
    if pattern.trim().is_empty() {
        return Err(NotUnderstood::NotARule);
    }
    if permission == BASH {
        command::plain(pattern)?;
    }
    Ok(Understood::same(rules(permission, vec![pattern.to_owned()], action, origin)))
}

fn permissions(permission: &Json, file: &str, found: &mut Vec<Found>) {
    match &permission.value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match &value.value {
                    Value::Object(patterns) => {
                        for (pattern, action) in patterns {
                            one(key, Some(pattern), action, file, found);
                        }
                    }
                    _ => one(key, None, value, file, found),
                }
            }
        }
        _ => one("*", None, permission, file, found),
    }
}

fn one(key: &str, pattern: Option<&str>, value: &Json, file: &str, found: &mut Vec<Found>) {
    let action = value.as_text().and_then(|word| match word {
        "allow" => Some(Action::Allow),
        "ask" => Some(Action::Ask),
        "deny" => Some(Action::Deny),
        _ => None,
    });
    let reading = match action {
        Some(action) => rule(key, pattern.unwrap_or("*"), action, &format!("{file}:{}", value.line)),
        None => Err(NotUnderstood::Unexpected { expected: "`allow`, `ask` or `deny`" }),
    };
    let text = match pattern {
        Some(pattern) => format!("{key}: {pattern}"),
        None => key.to_owned(),
    };
    found.push(Found { line: value.line, text, action, reading });
}

/// The older way: a tool that is switched off is denied; one that is on is not thereby allowed.
fn switched_off(tools: &Json, file: &str, found: &mut Vec<Found>) {
    for (tool, value) in tools.entries() {
        if value.value == Value::Boolean(false) {
            let reading = rule(tool, "*", Action::Deny, &format!("{file}:{}", value.line));
            let text = format!("tools.{tool} = false");
            found.push(Found { line: value.line, text, action: Some(Action::Deny), reading });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::*;

    fn read(text: &str) -> Vec<String> {
        settings(&json::parse(text).unwrap(), "f")
            .iter()
            .map(|found| match &found.reading {
                Ok(understood) => {
                    let rules = understood
                        .rules
                        .iter()
                        .map(|rule| format!("{} {rule} {}", rule.action.name(), rule.origin));
                    rules.collect::<Vec<_>>().join(", ")
                }
                Err(error) => format!("{}: {error}", found.text),
            })
            .collect()
    }

    #[test]
    fn the_nested_map_keeps_its_order() {
        let text = r#"{
  "permission": {
    "*": "ask",
    "bash": { "*": "ask", "git *": "allow", "git push *": "deny" },
    "edit": "deny",
    "write": { "docs/*": "allow" },
    "external_directory": { "~/x/**": "allow" },
    "doom_loop": "ask",
  }
}"#;
        assert_eq!(
            read(text),
            [
                "ask *:* f:3",
                "ask bash:* f:4",
                "allow bash:git * f:4",
                "deny bash:git push * f:4",
                "deny edit:* f:5",
                "allow edit:docs/* f:6",
                "allow external_directory:~/x/** f:7",
                "ask doom_loop:* f:8",
            ]
        );
        assert_eq!(read(r#"{"permission": "allow"}"#), ["allow *:* f:1"]);
    }

    #[test]
    fn what_there_is_not_here_is_told() {
        let text = r#"{
  "tools": { "bash": false, "edit": true, "skill": false },
  "permission": {
    "glob": "allow", "grep": { "*": "deny" }, "list": { "secrets/*": "deny" },
    "task": "ask", "server_*": "deny", "bash": { "a && b": "allow", "done": "allow" }, "edit": 7
  },
  "agent": { "plan": { "permission": { "edit": "deny" } }, "other": {} }
}"#;
        assert_eq!(
            read(text),
            [
                "deny bash:* f:2",
                "tools.skill = false: rein has no tool `skill`",
                "glob: `glob` is no permission of its own: finding, searching and reading files are one",
                "grep: *: `grep` is no permission of its own: finding, searching and reading files are one",
                "deny read:secrets/* f:4",
                "task: rein has no tool `task`",
                "server_*: `server_*` is a tool of an MCP server, and rules for those are not read yet",
                "bash: a && b: it is more than one plain command (an operator, a redirection or a substitution): a rule \
                 is about one command, so write one for each",
                "bash: done: it is a piece of a larger command, cut out at `done`",
                "edit: `allow`, `ask` or `deny` is expected there",
                "agent.plan: rules for one agent are not read yet",
            ]
        );
    }
}
