//! `cargo xtask probe`: the project's pure functions, driven with data from
//! outside. One JSON line in, one out, flushed; no input ends the program.
//!
//! Each file below holds the operations of one crate. An operation takes its
//! input apart itself and says in words what is wrong with it.

mod engine;
mod hashline;
mod llm;
mod permission;
mod shell;
mod stage;
mod tools;

pub use llm::dialect_of;

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::XtaskError;

/// What an operation answers: a value, or what is wrong in words.
pub type Answer = Result<Value, Failure>;

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The operation has no subject in this build.
    Unavailable(String),
    /// The input makes no sense, or the subject declined it.
    Wrong(String),
}

impl Failure {
    /// What is wrong, from anything that can say it.
    pub fn wrong(error: impl std::fmt::Display) -> Self {
        Self::Wrong(error.to_string())
    }

    /// In words.
    pub fn message(&self) -> String {
        match self {
            Self::Unavailable(op) => format!("op `{op}` is not available in this build"),
            Self::Wrong(message) => message.clone(),
        }
    }
}

/// Answers every line of the input.
pub fn run(input: &mut dyn BufRead, out: &mut dyn Write) -> Result<(), XtaskError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| XtaskError::Read { path: "stdin".into(), error })? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answered = match answer(&line) {
            Ok(value) => json!({ "ok": value }),
            Err(failure) => json!({ "error": failure.message() }),
        };
        writeln!(out, "{answered}").and_then(|()| out.flush()).map_err(XtaskError::output)?;
    }
}

fn answer(line: &[u8]) -> Answer {
    #[derive(Deserialize)]
    struct Line {
        op: String,
        #[serde(default)]
        input: Value,
    }
    let line: Line = serde_json::from_slice(line)
        .map_err(|error| Failure::Wrong(format!("not a line for the probe: {error}")))?;
    call(&line.op, &line.input)
}

/// Runs one operation. A panic of its subject is an error like any other.
pub fn call(op: &str, input: &Value) -> Answer {
    catch_unwind(AssertUnwindSafe(|| dispatch(op, input)))
        .unwrap_or_else(|_| Err(Failure::Wrong(format!("op `{op}` panicked; this is a bug"))))
}

fn dispatch(op: &str, input: &Value) -> Answer {
    match op {
        "wildcard.match" => permission::wildcard(input),
        "permission.evaluate" => permission::evaluate(input),
        "permission.decide" => permission::decide(input),
        "arity.prefix" => shell::prefix(input),
        "shell.analyze" => shell::analysis(input),
        "truncate" => tools::truncate(input),
        "edit.replace" => tools::replace(input),
        "hashline.apply" => hashline::apply(input),
        "patch.apply" => tools::patch(input),
        "tool.run" => stage::run(input),
        "instructions.discover" => engine::instructions(input),
        "context.usable" => engine::usable(input),
        "context.overflow" => engine::overflow(input),
        "error.classify" => llm::classify(input),
        "retry.delay" => llm::delay(input),
        "wire.encode" => llm::encode(input),
        "wire.decode" => llm::decode(input),
        "dialect.parse" => llm::dialect(input),
        _ => Err(Failure::Unavailable(op.to_owned())),
    }
}

/// The input of an operation in its type.
fn typed<T: DeserializeOwned>(input: &Value) -> Result<T, Failure> {
    T::deserialize(input).map_err(|error| Failure::Wrong(format!("wrong input: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(input: &[u8]) -> Vec<Value> {
        let mut out = Vec::new();
        run(&mut &input[..], &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn every_line_gets_one_answer_whatever_it_is() {
        let answers = probe(
            b"{\"op\":\"wildcard.match\",\"input\":{\"pattern\":\"a*\",\"text\":\"ab\"}}\n\
              not json\n\xff\xfe\n[]\n{\"op\":1}\n{\"op\":\"nope\"}\n\n\
              {\"op\":\"wildcard.match\"}\n{\"op\":\"wildcard.match\",\"input\":{\"pattern\":1,\"text\":\"\"}}\n\
              {\"op\":\"wildcard.match\",\"input\":{\"pattern\":\"b\",\"text\":\"a\"}}",
        );
        assert_eq!(answers.len(), 9);
        assert_eq!(answers[0], json!({"ok": {"match": true}}));
        for wrong in &answers[1..8] {
            assert!(wrong["error"].is_string(), "{wrong}");
        }
        assert_eq!(answers[5]["error"], "op `nope` is not available in this build");
        assert_eq!(answers[8], json!({"ok": {"match": false}}));
    }

    #[test]
    fn nesting_without_end_is_an_error() {
        let deep = format!("{{\"op\":\"wildcard.match\",\"input\":{}", "[".repeat(100_000));
        assert!(probe(deep.as_bytes())[0]["error"].is_string());
    }
}
