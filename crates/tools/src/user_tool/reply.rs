//! What a program prints while it runs: plain text, or lines of JSON that say
//! how far it is (`{"progress": "…"}`) and at the end what came of it
//! (`{"result": …}`, `{"error": "…"}`). Everything is passed on as it comes, so
//! that memory does not grow with the amount.

use serde_json::Value;

use crate::contract::Output;

/// A longer line is text, whatever it begins with.
const MOST_LINE: usize = 4 * 1024 * 1024;

/// Takes what a program prints.
pub(super) struct Reply<'a> {
    output: &'a mut dyn Output,
    /// A line that may become JSON.
    line: Vec<u8>,
    state: State,
    printed: Printed,
    result: Option<Value>,
    error: Option<String>,
}

/// Where in a line the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At its beginning.
    Begin,
    /// In one that is kept until it ends.
    Kept,
    /// In one that is passed on.
    Passed,
}

/// Whether there was any output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Printed {
    Nothing,
    Something,
}

/// What a program said, besides what has been passed on.
pub(super) struct Said {
    pub(super) error: Option<String>,
    pub(super) printed: Printed,
}

impl<'a> Reply<'a> {
    pub(super) fn new(output: &'a mut dyn Output) -> Self {
        Self {
            output,
            line: Vec::new(),
            state: State::Begin,
            printed: Printed::Nothing,
            result: None,
            error: None,
        }
    }

    /// Takes bytes that need not be whole lines.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.state == State::Begin {
                self.state = if part.starts_with(b"{") { State::Kept } else { State::Passed };
            }
            match self.state {
                State::Kept => self.line.extend_from_slice(part),
                State::Begin | State::Passed => self.pass(part),
            }
            if part.ends_with(b"\n") {
                self.end_line();
            } else if self.line.len() > MOST_LINE {
                let line = std::mem::take(&mut self.line);
                self.pass(&line);
                self.state = State::Passed;
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.state == State::Kept && !self.understand(&line) {
            self.pass(&line);
        }
        self.state = State::Begin;
    }

    /// Whether a line was meant for rein.
    fn understand(&mut self, line: &[u8]) -> bool {
        let Ok(Value::Object(mut object)) = serde_json::from_slice(line) else { return false };
        if let Some(Value::String(progress)) = object.get("progress") {
            let progress = format!("{progress}\n");
            self.pass(progress.as_bytes());
            return true;
        }
        let result = object.remove("result");
        let error = object.remove("error").filter(|error| !error.is_null());
        if result.is_none() && error.is_none() {
            return false;
        }
        self.result = result.or(self.result.take());
        self.error = error.map(|error| text(&error));
        true
    }

    fn pass(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.printed = Printed::Something;
            self.output.write(bytes);
        }
    }

    /// Passes on what is left, the result last.
    pub(super) fn finish(mut self) -> Said {
        self.end_line();
        if let Some(result) = self.result.take().filter(|result| !result.is_null()) {
            let mut result = text(&result);
            if !result.is_empty() && !result.ends_with('\n') {
                result.push('\n');
            }
            self.pass(result.as_bytes());
        }
        Said { error: self.error, printed: self.printed }
    }
}

/// A string as it is, anything else as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Taken(Vec<u8>);

    impl Output for Taken {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }

    fn said(parts: &[&[u8]]) -> (String, Option<String>) {
        let mut taken = Taken::default();
        let mut reply = Reply::new(&mut taken);
        for part in parts {
            reply.take(part);
        }
        let error = reply.finish().error;
        (String::from_utf8_lossy(&taken.0).into_owned(), error)
    }

    #[test]
    fn progress_comes_first_and_the_result_last() {
        let lines = b"plain\n{\"result\": \"done\"}\n{\"progress\": \"half\"}\n{\"other\": 1}\n";
        assert_eq!(said(&[lines]), ("plain\nhalf\n{\"other\": 1}\ndone\n".into(), None));
        assert_eq!(said(&[b"{\"result\": {\"a\": [1]}}"]), ("{\"a\":[1]}\n".into(), None));
        assert_eq!(said(&[b"{\"error\": \"no\"}"]), (String::new(), Some("no".into())));
        assert_eq!(
            said(&[b"{\"result\": \"part\", \"error\": \"no\"}\n"]),
            ("part\n".into(), Some("no".into()))
        );
        assert_eq!(said(&[b"{ no json\nx"]), ("{ no json\nx".into(), None));
        assert_eq!(said(&[b"{\"result\": null, \"error\": null}\n"]), (String::new(), None));
    }

    #[test]
    fn a_line_without_end_is_passed_on() {
        let long = [b"{".as_slice(), &vec![b'x'; MOST_LINE + 10]].concat();
        assert_eq!(said(&[&long]).0.len(), long.len());
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_changes_nothing(
            lines in proptest::collection::vec("(\\{\"progress\":\"a\"\\}|\\{\"result\":\"b\"\\}|\\{x|plain| ?)", 0..6),
            cut in 0_usize..60,
        ) {
            let text = lines.join("\n");
            let at = cut.min(text.len());
            let (left, right) = text.as_bytes().split_at(at);
            prop_assert_eq!(said(&[left, right]), said(&[text.as_bytes()]));
        }
    }
}
