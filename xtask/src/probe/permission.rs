//! Operations of the permission crate.

use std::path::PathBuf;

use rein_permission::{Action, LayerKind, Policy, Rule};
use rein_protocol::{Effect, Intent, Mode};
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Failure, typed};

/// `wildcard.match`.
pub fn wildcard(input: &serde_json::Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        pattern: String,
        text: String,
    }
    let input: Input = typed(input)?;
    Ok(json!({ "match": rein_permission::wildcard::matches(&input.pattern, &input.text) }))
}

/// `permission.evaluate`.
pub fn evaluate(input: &serde_json::Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        permission: String,
        pattern: String,
        rulesets: Vec<Vec<Rule>>,
    }
    let input: Input = typed(input)?;
    let evaluated = rein_permission::evaluate(&input.permission, &input.pattern, &input.rulesets);
    Ok(json!({ "action": evaluated.action }))
}

/// `permission.decide`: a command line, judged by the mode and the user's rules.
///
/// Command lines are not taken apart in this build, so there are no commands
/// and paths to list, and no pattern allows one.
pub fn decide(input: &serde_json::Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        cmd: String,
        #[serde(default)]
        rules: Vec<Rule>,
        #[serde(default)]
        mode: Mode,
        #[serde(default)]
        cwd: Option<PathBuf>,
        #[serde(default)]
        home: Option<PathBuf>,
    }
    let input: Input = typed(input)?;
    let cwd = input.cwd.unwrap_or_else(|| PathBuf::from("/workspace"));
    if !cwd.is_absolute() {
        return Err(Failure::wrong("wrong input: `cwd` is not absolute"));
    }
    let policy = Policy { home: input.home, ..Policy::new(&cwd, input.mode) };
    let policy = policy.with_layer(LayerKind::User, input.rules);
    let effects = vec![Effect::Execute { command: input.cmd, cwd }];
    let judgement = policy.judge(&Intent { effects, ..Intent::default() });
    let decision: Action = judgement.action;
    Ok(json!({ "decision": decision, "reasons": judgement.reasons, "commands": [], "paths": [] }))
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn a_decision_is_honest_about_what_is_not_understood() {
        let decided = |input: serde_json::Value| call("permission.decide", &input).unwrap();
        let rules = json!([{"permission": "bash", "pattern": "git *", "action": "allow"}]);
        let asked = decided(json!({"cmd": "git status", "rules": rules}));
        assert_eq!(asked["decision"], "ask");
        assert!(asked["reasons"][0].as_str().unwrap().contains("not honoured"));
        let denying = json!([{"permission": "bash", "pattern": "rm *", "action": "deny"}]);
        assert_eq!(decided(json!({"cmd": "rm x", "rules": denying, "mode": "free"}))["decision"], "deny");
        assert_eq!(decided(json!({"cmd": "ls", "mode": "free"}))["decision"], "allow");
        assert!(call("permission.decide", &json!({"cmd": "ls", "mode": "yolo"})).is_err());
        assert!(call("permission.decide", &json!({"cmd": "ls", "cwd": "x"})).is_err());
    }

    #[test]
    fn rule_lists_are_evaluated_as_one() {
        let rule =
            |pattern: &str, action: &str| json!({"permission": "edit", "pattern": pattern, "action": action});
        let input = json!({"permission": "edit", "pattern": "a", "rulesets": [[rule("*", "deny")], [rule("a", "allow")]]});
        assert_eq!(call("permission.evaluate", &input), Ok(json!({"action": "allow"})));
    }
}
