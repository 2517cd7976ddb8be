//! Hostile commands and harmless ones, from files: what the analysis must say
//! so that a decision can be strict enough, or quiet enough.

use crate::support::{HOME, analysis};
use rein_shell::{Analysis, Danger, Effect, Usage, paths};
use serde_json::Value;

fn cases(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A command line that is not confined runs without a question only if all of it is understood, it only reads, and
/// what it reads is in the workspace and no secret.
fn runs_unasked(found: &Analysis) -> bool {
    let inside =
        |path: &str| paths::comparable(path).starts_with("/work/") || paths::comparable(path) == "/work";
    let open = |path: &rein_shell::PathUse| {
        matches!(path.usage, Usage::Read | Usage::List)
            && path
                .path
                .as_deref()
                .is_some_and(|path| inside(path) && paths::secret(path, Some(HOME)).is_none())
    };
    found.is_understood()
        && found.hazards.is_empty()
        && found.loudest() <= Effect::Read
        && found.paths.iter().all(open)
}

#[test]
fn no_hostile_command_looks_like_reading_only() {
    let mut tried = 0;
    for case in cases(include_str!("fixtures/permission-adversarial.jsonl")) {
        let kind = case["kind"].as_str().unwrap();
        if !kind.starts_with("shell") && kind != "ui/prompt" {
            continue;
        }
        tried += 1;
        let command = case["cmd"].as_str().unwrap();
        // A write that a rule of the person denies is only found by its path.
        assert!(!runs_unasked(&analysis(command)), "{command}: {}", case["why"]);
    }
    assert!(tried > 80, "{tried}");
}

#[test]
fn what_must_be_refused_in_every_mode_is_catastrophic() {
    for command in ["rm -rfv --no-preserve-root /", "rm -rf ~", "rmdir /s /q C:\\"] {
        let fatal = analysis(command).hazards.iter().any(|hazard| hazard.class == Danger::Catastrophic);
        assert!(fatal, "{command}");
    }
    for command in ["cat ~/.ssh/id_rsa", "head -c 400 < ~/.netrc"] {
        let found = analysis(command);
        let secret = found
            .paths
            .iter()
            .any(|path| path.path.as_deref().is_some_and(|path| paths::secret(path, Some(HOME)).is_some()));
        assert!(secret, "{command}");
    }
}

#[test]
fn harmless_commands_have_nothing_that_a_rule_could_not_allow() {
    for case in cases(include_str!("fixtures/permission-controls.jsonl")) {
        let command = case["cmd"].as_str().unwrap();
        let found = analysis(command);
        assert!(found.is_understood() && found.hazards.is_empty(), "{command}: {found:#?}");
        let rules: Vec<&str> =
            case["rules"].as_array().unwrap().iter().map(|rule| rule["pattern"].as_str().unwrap()).collect();
        for command in &found.commands {
            let text = command.text();
            let covered = rules.iter().any(|rule| {
                let head = rule.strip_suffix(" *").unwrap();
                text == head || text.starts_with(&format!("{head} "))
            });
            assert!(covered, "{text} is not covered by {rules:?}");
        }
    }
}
