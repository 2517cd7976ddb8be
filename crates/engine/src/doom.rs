//! The guard against a model that repeats itself.
//!
//! Pure: it is told of calls in their order and says when one should not go
//! through without a person's word. Three forms of going in circles count: the
//! same call three times in a row; nearly the same call three times when the
//! results were the same words; any call of a tool that failed three times in a row
//! with the same words, if it failed with words: commands that fail silently,
//! such as searches that find nothing, have only their silence in common.

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

impl Outcome {
    /// Whether there is more to it than one remark of rein's own, which is in brackets.
    fn has_words(&self) -> bool {
        let remark = self.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        remark.is_none_or(|remark| remark.contains('\n'))
    }
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
        let has_words = last.outcome.as_ref().is_some_and(Outcome::has_words);
        if same_result && has_words && recent.iter().all(|call| call.near == near) {
            return Some(format!(
                "the model called `{tool}` {LIMIT} times in a row with nearly the same arguments and got the same result"
            ));
        }
        let third = before.get(2)?;
        let failed = |outcome: &Outcome| outcome.failed && outcome.has_words();
        let failing =
            same_result && last.outcome == third.outcome && last.outcome.as_ref().is_some_and(failed);
        failing.then(|| format!("`{tool}` failed {LIMIT} times in a row with the same words"))
    }
}

/// The arguments in a form that ignores the order of keys, and in one that also
/// ignores spacing, case and numbers. Digits in a name are no number: `part1` and
/// `part2` are different things.
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
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let end = rest.find(|next: char| !is_of_a_name(next)).unwrap_or(rest.len()).max(character.len_utf8());
        let (word, after) = rest.split_at(end);
        rest = after;
        if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            loose.push('#');
        } else if !character.is_whitespace() {
            loose.push_str(&word.to_ascii_lowercase());
        } else if !loose.ends_with(' ') {
            loose.push(' ');
        }
    }
    loose
}

fn is_of_a_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '/')
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
    fn names_that_differ_in_a_digit_are_different() {
        let mut run = Run::new();
        for number in 1..9 {
            assert!(!run.call(
                "bash",
                json!({"command": format!("mkdir part{number}")}),
                "[no output]",
                false
            ));
            assert!(!run.call("read", json!({"path": format!("test/{number}.txt")}), "", false));
        }
        let mut run = Run::new();
        for number in 1..9 {
            assert!(!run.call("read", json!({"path": format!("test/{number}.txt")}), "", false));
        }
    }

    #[test]
    fn different_questions_with_no_answer_are_not_a_loop() {
        let mut run = Run::new();
        for port in [3000, 8080, 5432, 6379] {
            let command = format!("ss -ltn | grep :{port}");
            assert!(!run.call("bash", json!({ "command": command }), "[exit code 1; no output]", true));
        }
    }

    #[test]
    fn failing_without_words_is_no_loop_unless_the_call_is_the_same() {
        let mut run = Run::new();
        for word in ["one", "two", "three", "four", "five"] {
            let command = format!("grep -r {word} .");
            assert!(!run.call("bash", json!({ "command": command }), "[exit code 1; no output]", true));
        }
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
