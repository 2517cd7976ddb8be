//! Operations of the permission crate.

use std::path::PathBuf;

use rein_permission::{Confinement, Explanation, LayerKind, Policy, Rule};
use rein_protocol::Mode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Failure, typed};

/// `wildcard.match`.
pub fn wildcard(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        pattern: String,
        text: String,
    }
    let input: Input = typed(input)?;
    Ok(json!({ "match": rein_permission::wildcard::matches(&input.pattern, &input.text) }))
}

/// `permission.evaluate`.
pub fn evaluate(input: &Value) -> Answer {
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
pub fn decide(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        cmd: String,
        #[serde(default)]
        rules: Vec<Rule>,
        #[serde(default)]
        mode: Mode,
        #[serde(default)]
        sandboxed: bool,
        #[serde(default)]
        cwd: Option<PathBuf>,
        #[serde(default)]
        workspace: Option<PathBuf>,
        #[serde(default)]
        home: Option<PathBuf>,
    }
    let input: Input = typed(input)?;
    let home = input.home.unwrap_or_else(|| PathBuf::from("/home/user"));
    let cwd = input.cwd.unwrap_or_else(|| home.join("workspace"));
    let workspace = input.workspace.unwrap_or_else(|| cwd.clone());
    if !cwd.is_absolute() || !workspace.is_absolute() {
        return Err(Failure::wrong("wrong input: `cwd` is not absolute"));
    }
    let confinement = if input.sandboxed { Confinement::Confined } else { Confinement::Unconfined };
    let policy = Policy { home: Some(home), confinement, ..Policy::new(workspace, input.mode) };
    let policy = policy.with_layer(LayerKind::User, input.rules);
    Ok(explained(&policy.explain(&input.cmd, &cwd)))
}

fn explained(explanation: &Explanation) -> Value {
    let commands = explanation.analysis.commands.iter().map(|command| {
        let argv: Vec<_> = command.argv.iter().map(|word| word.shown().into_owned()).collect();
        json!({ "argv": argv, "prefix": command.prefix(), "always": command.always() })
    });
    let paths = explanation.analysis.paths.iter().map(|used| {
        json!({ "path": used.path, "shown": used.shown, "usage": format!("{:?}", used.usage).to_lowercase() })
    });
    let details = explanation.judgement.details.iter().map(|detail| {
        json!({
            "permission": detail.permission,
            "resource": detail.resource,
            "action": detail.action,
            "reason": detail.reason,
            "span": detail.span.map(|span| [span.start, span.end]),
        })
    });
    json!({
        "decision": explanation.judgement.action,
        "reasons": explanation.judgement.reasons,
        "commands": commands.collect::<Vec<_>>(),
        "paths": paths.collect::<Vec<_>>(),
        "always": explanation.judgement.always,
        "details": details.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn a_decision_says_what_it_rests_on() {
        let decided = |input: Value| call("permission.decide", &input).unwrap();
        let rules = json!([{"permission": "bash", "pattern": "git push *", "action": "allow"}]);
        let allowed = decided(json!({"cmd": "git push", "rules": rules}));
        assert_eq!(allowed["decision"], "allow");
        assert_eq!(allowed["commands"][0]["prefix"], json!(["git", "push"]));
        let both = decided(json!({"cmd": "git push && make", "rules": rules}));
        assert_eq!(both["decision"], "ask");
        assert_eq!(both["always"], json!([{"permission": "bash", "pattern": "make *"}]));
        let denying = json!([{"permission": "bash", "pattern": "rm *", "action": "deny"}]);
        assert_eq!(decided(json!({"cmd": "rm x", "rules": denying, "mode": "free"}))["decision"], "deny");
        assert_eq!(decided(json!({"cmd": "make", "mode": "write"}))["decision"], "ask");
        assert_eq!(decided(json!({"cmd": "make", "mode": "write", "sandboxed": true}))["decision"], "allow");
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
