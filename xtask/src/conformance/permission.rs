//! Command lines that must be judged at least so strictly, or must run.

use serde_json::{Value, json};

use super::case::{CommandCase, Verdict};
use crate::probe::{self, Failure};

/// Judges a command line by the rules that come with it.
pub fn run(case: &CommandCase) -> Verdict {
    if !case.kind.is_empty() && !case.kind.starts_with("shell/") {
        return Verdict::NotApplicable(format!("{} is not a command line", case.kind));
    }
    let Some(needed) = strictness(&case.must) else {
        return Verdict::NotApplicable(format!("`{}` is no decision", case.must));
    };
    let rules = case.rules.clone().unwrap_or_else(|| json!([]));
    match probe::call("permission.decide", &json!({ "cmd": case.cmd, "rules": rules })) {
        Err(Failure::Unavailable(op)) => Verdict::NoSubject(op),
        Err(Failure::Wrong(message)) => Verdict::Differ(format!("error: {message}")),
        Ok(decided) => {
            let decision = decided.get("decision").and_then(Value::as_str).unwrap_or_default();
            let exact = case.must == "allow";
            let right = strictness(decision)
                .is_some_and(|found| if exact { found == needed } else { found >= needed });
            if right {
                Verdict::Agree
            } else {
                Verdict::Differ(format!(
                    "{}\nmust be {}, is {decision}: {}",
                    case.cmd, case.must, decided["reasons"]
                ))
            }
        }
    }
}

fn strictness(decision: &str) -> Option<u8> {
    match decision {
        "allow" => Some(0),
        "ask" | "never-auto-allow" => Some(1),
        "deny" => Some(2),
        _ => None,
    }
}
