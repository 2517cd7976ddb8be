//! Claude Code's rules: `Bash(git log:*)`, `Read(./secrets/**)`,
//! `WebFetch(domain:example.com)`, and the settings they stand in.
//!
//! There, a `deny` comes before an `ask` and that before an `allow`, whatever
//! their order: lists in our settings count in the same way.

use rein_protocol::Mode;

use super::json::Json;
use super::{Found, NotUnderstood, Reading, Understood, command, path, rules};
use crate::rule::{Action, BASH, EDIT, EXTERNAL_DIRECTORY, READ, Rule, WEBFETCH};
use crate::wildcard;

/// The tools that read and do not show what a file holds, or only parts of it.
const SEARCHING: [&str; 4] = ["Grep", "Glob", "LS", "NotebookRead"];

/// Reads one rule.
///
/// # Errors
/// If it says what cannot be said here.
pub fn rule(text: &str, action: Action, origin: &str) -> Reading {
    let (tool, pattern) = split(text.trim())?;
    match tool {
        "Bash" => bash(pattern, action, origin),
        "Read" => file(READ, pattern, action, origin),
        "Edit" | "Write" | "MultiEdit" => file(EDIT, pattern, action, origin),
        "NotebookEdit" => notebook(pattern, action, origin),
        "WebFetch" => fetch(pattern, action, origin),
        searching if SEARCHING.contains(&searching) => match (pattern, action) {
            (Some(pattern), Action::Ask | Action::Deny) if !is_everything(pattern) => {
                let found = file(READ, Some(pattern), action, origin)?;
                let stricter = "reading is meant, too: it is one permission with finding and searching";
                Ok(Understood { stricter: Some(stricter.to_owned()), ..found })
            }
            _ => Err(NotUnderstood::OnlySearch { tool: searching.to_owned() }),
        },
        server if server.starts_with("mcp__") => Err(NotUnderstood::ServerTool { tool: server.to_owned() }),
        other => Err(NotUnderstood::NoSuchTool { tool: other.to_owned() }),
    }
}

/// Everything about permission in a `settings.json`. Rules are of `file`.
#[must_use]
pub fn settings(document: &Json, file: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let Some(permissions) = document.get("permissions") else { return found };
    for (key, value) in permissions.entries() {
        match key {
            "allow" => list(value, Action::Allow, file, &mut found),
            "ask" => list(value, Action::Ask, file, &mut found),
            "deny" => list(value, Action::Deny, file, &mut found),
            "additionalDirectories" => directories(value, file, &mut found),
            "defaultMode" => found.push(Found {
                line: value.line,
                text: format!("defaultMode = {}", value.as_text().unwrap_or("?")),
                action: None,
                reading: Err(NotUnderstood::Mode { nearest: value.as_text().and_then(nearest_mode) }),
            }),
            // Nothing that could be bypassed so is bypassed here.
            _ => {}
        }
    }
    found
}

fn list(value: &Json, action: Action, file: &str, found: &mut Vec<Found>) {
    for item in value.items() {
        let (text, reading) = match item.as_text() {
            Some(text) => (text.to_owned(), rule(text, action, &format!("{file}:{}", item.line))),
            None => ("?".to_owned(), Err(NotUnderstood::Unexpected { expected: "a string" })),
        };
        found.push(Found { line: item.line, text, action: Some(action), reading });
    }
    if !value.is_list() {
        let reading = Err(NotUnderstood::Unexpected { expected: "a list of strings" });
        found.push(Found { line: value.line, text: action.name().to_owned(), action: Some(action), reading });
    }
}

/// Directories in which the agent may work besides the workspace.
fn directories(value: &Json, file: &str, found: &mut Vec<Found>) {
    for item in value.items() {
        let directory = item.as_text().unwrap_or_default();
        let is_usable = (directory.starts_with('/') || directory.starts_with("~/"))
            && wildcard::is_literal(directory)
            && !directory.contains(['\\', '$'])
            && !directory.split('/').any(|part| part == "..")
            && !directory.trim_matches('/').is_empty();
        let reading = if is_usable {
            let pattern = format!("{}/*", directory.trim_end_matches('/'));
            let origin = format!("{file}:{}", item.line);
            Ok(Understood::same(vec![Rule::new(EXTERNAL_DIRECTORY, pattern, Action::Allow, origin)]))
        } else {
            Err(NotUnderstood::RelativeDirectory { directory: directory.to_owned() })
        };
        found.push(Found {
            line: item.line,
            text: format!("additionalDirectories: {directory}"),
            action: Some(Action::Allow),
            reading,
        });
    }
}

fn nearest_mode(word: &str) -> Option<Mode> {
    match word {
        "default" | "manual" => Some(Mode::Tight),
        "acceptEdits" => Some(Mode::Write),
        "plan" => Some(Mode::Plan),
        _ => None,
    }
}

/// `Tool` or `Tool(pattern)`.
fn split(text: &str) -> Result<(&str, Option<&str>), NotUnderstood> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-'))
    };
    match text.split_once('(') {
        None if is_name(text) => Ok((text, None)),
        Some((name, rest)) if is_name(name) => {
            let pattern = rest.strip_suffix(')').ok_or(NotUnderstood::NotARule)?;
            Ok((name, Some(pattern.trim())))
        }
        // The names of tools of servers have wildcards and dots at times.
        None if text.starts_with("mcp__") => Ok((text, None)),
        _ => Err(NotUnderstood::NotARule),
    }
}

fn is_everything(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.trim_start_matches([':', '*', ' ']).is_empty()
}

fn bash(pattern: Option<&str>, action: Action, origin: &str) -> Reading {
    let every = |patterns: &str| Ok(Understood::same(rules(BASH, vec![patterns.to_owned()], action, origin)));
    let Some(text) = pattern else { return every("*") };
    if is_everything(text) {
        // What is now every command was no command at all in older versions.
        return match action {
            Action::Allow => Err(NotUnderstood::Everything { permission: BASH }),
            Action::Ask | Action::Deny => every("*"),
        };
    }
    if text.is_empty() {
        return Err(NotUnderstood::NotARule);
    }
    let prefix = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
    let body = prefix.unwrap_or(text);
    let signs = command::plain(body)?;
    if action == Action::Allow {
        signs.check_for_allow()?;
    }
    let pattern = match prefix {
        // With a blank or another wildcard before it, something must stand for the last one.
        Some(body) if action != Action::Allow => format!("{} *", body.trim_end()),
        Some(body) if body.ends_with(' ') && text.ends_with(":*") => format!("{body}?*"),
        Some(body) if body.contains('*') => format!("{body} ?*"),
        Some(body) => format!("{body} *"),
        None => body.to_owned(),
    };
    every(&pattern)
}

fn file(permission: &str, pattern: Option<&str>, action: Action, origin: &str) -> Reading {
    let Some(text) = pattern else {
        return Ok(Understood::same(rules(permission, vec!["*".to_owned()], action, origin)));
    };
    if text.is_empty() {
        return Err(NotUnderstood::NotARule);
    }
    let patterns = path::patterns(text, action)?;
    let elsewhere = patterns.iter().find(|pattern| path::is_elsewhere(pattern));
    let stricter = match (action, elsewhere) {
        (Action::Allow, Some(pattern)) => Some(format!(
            "outside of the workspace it also takes `{EXTERNAL_DIRECTORY}:{pattern}`, which is not added"
        )),
        (Action::Ask | Action::Deny, _) if text.starts_with('/') && !text.starts_with("//") => {
            Some("both places that it can mean are covered".to_owned())
        }
        (Action::Ask | Action::Deny, _) if has_single_level(text) => {
            Some("`*` also stands for directories here".to_owned())
        }
        _ => None,
    };
    Ok(Understood { rules: rules(permission, patterns, action, origin), stricter })
}

/// Whether a star would stay within a directory, and does not here.
fn has_single_level(text: &str) -> bool {
    text.contains('/') && path::patterns(text, Action::Allow) == Err(NotUnderstood::SingleLevel)
}

fn notebook(pattern: Option<&str>, action: Action, origin: &str) -> Reading {
    match (pattern, action) {
        (None, _) => file(EDIT, Some("*.ipynb"), action, origin),
        (Some(text), Action::Allow) if !text.ends_with(".ipynb") => {
            Err(NotUnderstood::Everything { permission: EDIT })
        }
        (Some(text), _) => file(EDIT, Some(text), action, origin),
    }
}

fn fetch(pattern: Option<&str>, action: Action, origin: &str) -> Reading {
    let every = || Ok(Understood::same(rules(WEBFETCH, vec!["*".to_owned()], action, origin)));
    let Some(text) = pattern else { return every() };
    let domain = text.strip_prefix("domain:").unwrap_or(text).trim().to_ascii_lowercase();
    if is_everything(&domain) {
        return match action {
            Action::Allow => Err(NotUnderstood::Everything { permission: WEBFETCH }),
            Action::Ask | Action::Deny => every(),
        };
    }
    let wrong = || NotUnderstood::NotADomain { domain: domain.clone() };
    let name = domain.strip_prefix("*.").unwrap_or(&domain);
    let is_name = |name: &str| {
        name.contains(|one: char| one.is_ascii_alphanumeric())
            && name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '.' | '-' | '_'))
    };
    if !text.starts_with("domain:") || !is_name(name) {
        return Err(wrong());
    }
    match action {
        // A star in the place of a host would also cover `evil.io/?.example.com/`.
        Action::Allow if name.len() != domain.len() => Err(wrong()),
        Action::Allow => Ok(Understood {
            rules: rules(WEBFETCH, vec![format!("https://{domain}/*")], action, origin),
            stricter: Some("only over https, and only at its usual port".to_owned()),
        }),
        Action::Ask | Action::Deny => {
            let patterns = vec![format!("*://{domain}/*"), format!("*://{domain}:*")];
            Ok(Understood::same(rules(WEBFETCH, patterns, action, origin)))
        }
    }
}

#[cfg(test)]
mod tests;
