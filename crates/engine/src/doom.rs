//! The guard against a model that repeats itself.
//!
//! Pure: it is told of calls in their order and says when one should not go
//! through without a person's word. Three forms of going in circles count: the
//! same call three times in a row; nearly the same call three times when the
//! results were the same; any call of a tool that failed three times in a row
//! with the same words.

use std::collections::VecDeque;

use rein_protocol::{CallId, ToolInput};
use serde_json::Value;

/// How many in a row are too many.
const LIMIT: usize = 3;
const REMEMBERED: usize = LIMIT;

/// What the guard knows of the calls of a turn.
#[derive(Debug, Default)]
pub(crate) struct DoomGuard {
    calls: VecDeque<Remembered>,
}

#[derive(Debug)]
struct Remembered {
    call: CallId,
    tool: String,
    exact: String,
    near: String,
    outcome: Option<Outcome>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    text: String,
    failed: bool,
}

impl DoomGuard {
    /// Takes note of a call that is about to be judged. `Some` says how the model repeats itself.
    pub(crate) fn propose(&mut self, call: &CallId, tool: &str, input: &ToolInput) -> Option<String> {
        let (exact, near) = fingerprints(input);
        let finding = self.finding(tool, &exact, &near);
        if finding.is_some() {
            // Whatever the person says, the count begins anew.
            self.calls.clear();
        }
        let tool = tool.to_owned();
        self.calls.push_back(Remembered { call: call.clone(), tool, exact, near, outcome: None });
        while self.calls.len() > REMEMBERED {
            self.calls.pop_front();
        }
        finding
    }

    /// Takes note of a call's result.
    pub(crate) fn ended(&mut self, call: &CallId, text: &str, failed: bool) {
        if let Some(remembered) = self.calls.iter_mut().find(|remembered| remembered.call == *call) {
            remembered.outcome = Some(Outcome { text: text.to_owned(), failed });
        }
    }

    fn finding(&self, tool: &str, exact: &str, near: &str) -> Option<String> {
        let before: Vec<&Remembered> = self.calls.iter().rev().take_while(|call| call.tool == tool).collect();
        let (Some(last), Some(second)) = (before.first(), before.get(1)) else { return None };
        let recent = [last, second];
        if recent.iter().all(|call| call.exact == exact) {
            return Some(format!("the model called `{tool}` {LIMIT} times in a row with the same arguments"));
        }
        let same_result = last.outcome.is_some() && last.outcome == second.outcome;
        if same_result && recent.iter().all(|call| call.near == near) {
            return Some(format!(
                "the model called `{tool}` {LIMIT} times in a row with nearly the same arguments and got the same result"
            ));
        }
        let third = before.get(2)?;
        let failing =
            same_result && last.outcome == third.outcome && last.outcome.as_ref().is_some_and(|it| it.failed);
        failing.then(|| format!("`{tool}` failed {LIMIT} times in a row with the same words"))
    }
}

/// The arguments in a form that ignores the order of keys, and in one that also
/// ignores spacing, case and digits.
fn fingerprints(input: &ToolInput) -> (String, String) {
    match input {
        ToolInput::Json { value } => {
            let exact = sorted(value).to_string();
            let near = loosen(&exact);
            (exact, near)
        }
        ToolInput::Malformed { text, .. } => (text.clone(), loosen(text)),
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by(|one, other| one.0.cmp(other.0));
            Value::Object(pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn loosen(text: &str) -> String {
    let mut loose = String::with_capacity(text.len());
    for character in text.chars() {
        let replacement = match character {
            '0'..='9' => '#',
            space if space.is_whitespace() => ' ',
            other => other.to_ascii_lowercase(),
        };
        let repeats = matches!(replacement, '#' | ' ') && loose.ends_with(replacement);
        if !repeats {
            loose.push(replacement);
        }
    }
    loose
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Run(DoomGuard);

    impl Run {
        fn new() -> Self {
            Self(DoomGuard::default())
        }
        fn call(&mut self, tool: &str, input: Value, result: &str, failed: bool) -> bool {
            let id = CallId::new();
            let found = self.0.propose(&id, tool, &ToolInput::Json { value: input }).is_some();
            self.0.ended(&id, result, failed);
            found
        }
    }

    #[test]
    fn the_third_identical_call_is_found_whatever_its_key_order() {
        let mut run = Run::new();
        assert!(!run.call("read", json!({"path": "a", "limit": 5}), "x", false));
        assert!(!run.call("read", json!({"limit": 5, "path": "a"}), "y", false));
        assert!(run.call("read", json!({"path": "a", "limit": 5}), "z", false));
    }

    #[test]
    fn after_a_finding_the_count_begins_anew() {
        let mut run = Run::new();
        let found: Vec<bool> = (0..6).map(|_| run.call("read", json!({"path": "a"}), "x", false)).collect();
        assert_eq!(found, [false, false, true, false, true, false]);
    }

    #[test]
    fn a_call_of_another_kind_in_between_breaks_the_row() {
        let mut run = Run::new();
        for _ in 0..4 {
            assert!(!run.call("bash", json!({"command": "make test"}), "fail", true));
            assert!(!run.call("edit", json!({"path": "a", "old": "x", "new": "y"}), "ok", false));
        }
    }

    #[test]
    fn paging_through_a_file_is_not_a_loop() {
        let mut run = Run::new();
        for page in 0..9 {
            assert!(!run.call(
                "read",
                json!({"path": "a", "offset": page * 300}),
                &format!("page {page}"),
                false
            ));
        }
    }

    #[test]
    fn nearly_the_same_call_with_the_same_result_is_found() {
        let mut run = Run::new();
        assert!(!run.call("bash", json!({"command": "sleep 1; cat log"}), "empty", false));
        assert!(!run.call("bash", json!({"command": "sleep 2; cat  log"}), "empty", false));
        assert!(run.call("bash", json!({"command": "sleep 30; cat log"}), "empty", false));
    }

    #[test]
    fn failing_in_the_same_way_is_found_whatever_the_arguments() {
        let mut run = Run::new();
        for path in ["a", "b", "c"] {
            assert!(!run.call("write", json!({"path": path, "content": path}), "disk full", true));
        }
        assert!(run.call("write", json!({"path": "d", "content": "d"}), "disk full", true));
    }

    #[test]
    fn different_calls_that_succeed_silently_are_not_a_loop() {
        let mut run = Run::new();
        for command in ["mkdir x", "touch y", "rm z", "git add ."] {
            assert!(!run.call("bash", json!({"command": command}), "[no output]", false));
        }
    }
}
