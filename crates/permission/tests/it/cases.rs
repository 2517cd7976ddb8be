//! Hostile and harmless command lines that others have collected, as tables.
//!
//! Hostile ones must be judged at least as strictly as they say, in every mode
//! that asks at all; harmless ones must run under the rules that come with them.

use rein_permission::{Action, Judgement, LayerKind, Policy, Rule};
use rein_protocol::{Effect, Intent, Mode};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    cmd: String,
    must: String,
    #[serde(default)]
    given: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    rules: Vec<Rule>,
}

fn load(text: &str) -> Vec<Case> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn adversarial() -> Vec<Case> {
    load(include_str!("../cases/permission-adversarial.jsonl"))
}

fn policy(mode: Mode, rules: &[Rule]) -> Policy {
    Policy { home: Some("/home/u".into()), ..Policy::new("/home/u/proj", mode) }
        .with_layer(LayerKind::User, rules.to_vec())
}

fn judge(policy: &Policy, command: &str) -> Judgement {
    let effect = Effect::Execute {
        command: command.to_owned(),
        cwd: policy.workspace.clone(),
        prelude: String::new(),
    };
    policy.judge(&Intent { effects: vec![effect], ..Intent::default() })
}

fn least(must: &str) -> Action {
    match must {
        "allow" => Action::Allow,
        "ask" | "never-auto-allow" => Action::Ask,
        "deny" => Action::Deny,
        other => panic!("{other}"),
    }
}

/// Rules in force that the case tells in words only.
fn told(case: &Case) -> Vec<Rule> {
    let allow = |pattern: &str| Rule::new("bash", pattern, Action::Allow, "told");
    match case.given.as_str() {
        "allow: cat * inside workspace" => vec![allow("cat *")],
        "allow: eval? never" => vec![allow("eval *"), allow("*")],
        _ => case.rules.clone(),
    }
}

#[test]
fn hostile_command_lines_are_judged_at_least_as_strictly_as_they_must_be() {
    let mut wrong = Vec::new();
    for case in
        adversarial().iter().filter(|case| case.kind.starts_with("shell/") || case.kind == "ui/prompt")
    {
        let judgement = judge(&policy(Mode::Tight, &told(case)), &case.cmd);
        if judgement.action < least(&case.must) {
            wrong.push(format!("{:?} must {}: {:?}", case.cmd, case.must, judgement.reasons));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_must_not_be_allowed_is_not_allowed_by_a_rule_for_everything_either() {
    let all = [Rule::new("bash", "*", Action::Allow, "told")];
    let mut wrong = Vec::new();
    for case in adversarial() {
        // What is only a matter of confinement is a matter of the person's rule, too.
        let hatch = matches!(case.kind.as_str(), "shell/gadget" | "shell/expansion" | "shell/persistence");
        // The command that it runs is judged by itself.
        let peeled = case.cmd.starts_with("git rebase -x");
        if peeled
            || !hatch
            || case.must == "never-auto-allow"
            || !case.given.is_empty() && case.kind != "shell/expansion"
        {
            continue;
        }
        let rules: Vec<Rule> = all.iter().cloned().chain(case.rules.iter().cloned()).collect();
        let judgement = judge(&policy(Mode::Tight, &rules), &case.cmd);
        if judgement.action == Action::Allow {
            wrong.push(format!("{:?}: {:?}", case.cmd, judgement.reasons));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn harmless_command_lines_run_under_their_rules() {
    let mut wrong = Vec::new();
    for case in load(include_str!("../cases/permission-controls.jsonl")) {
        let judgement = judge(&policy(Mode::Tight, &case.rules), &case.cmd);
        if judgement.action != least(&case.must) {
            wrong.push(format!("{:?} must {}: {:?}", case.cmd, case.must, judgement.reasons));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
