//! Errors as a person reads them: what went wrong, why, and what to do next.
//!
//! Every error of every crate ends here; nothing else in the program turns an
//! error into text for a person.

use std::error::Error;
use std::io::Write;

use rein_protocol::ServiceError;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::terminal::{Ink, neutralise};

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandError {
    exit: Exit,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
    /// No model can be used: a person at a terminal can be helped.
    no_model: bool,
}

impl CommandError {
    /// The arguments or the settings are wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Something failed that is not a matter of arguments.
    pub fn failure(message: impl Into<String>) -> Self {
        Self::new(Exit::Failure, message)
    }

    /// The same, said to be for want of a model.
    pub fn for_want_of_a_model(self) -> Self {
        Self { no_model: true, ..self }
    }

    /// Whether it is for want of a model.
    pub fn is_for_want_of_a_model(&self) -> bool {
        self.no_model
    }

    /// What was wrong and why, in one sentence for another place than the end of the program.
    pub fn sentence(&self) -> String {
        std::iter::once(&self.message).chain(&self.causes).map(String::as_str).collect::<Vec<_>>().join(": ")
    }

    fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), causes: Vec::new(), hints: Vec::new(), no_model: false }
    }

    /// With the error that led to it, and what led to that.
    #[must_use]
    pub fn caused_by(mut self, error: impl Error) -> Self {
        self.causes.push(error.to_string());
        self.push_sources(&error);
        self
    }

    /// With what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What the shell is told.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Writes it for a person.
    pub fn print(&self, to: &mut dyn Write, ink: Ink) -> std::io::Result<()> {
        writeln!(to, "{} {}", ink.red("error:"), indented(&self.message))?;
        for cause in &self.causes {
            writeln!(to, "  caused by: {}", indented(cause))?;
        }
        for hint in &self.hints {
            writeln!(to, "{} {}", ink.cyan("hint:"), indented(hint))?;
        }
        Ok(())
    }

    /// What went wrong and why, on one line.
    pub fn told(&self) -> String {
        let all: Vec<&str> = [&self.message].into_iter().chain(&self.causes).map(String::as_str).collect();
        all.join(": ").replace('\n', "; ")
    }

    /// What to do next, if that is known.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The line that machine formats print instead of a result.
    pub fn to_json(&self) -> Value {
        json!({
            "type": "error",
            "message": self.message,
            "causes": self.causes,
            "hints": self.hints,
            "exit_code": self.exit,
        })
    }

    fn push_sources(&mut self, error: &dyn Error) {
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Errors that repeat their cause in their own words say it once.
            if self.causes.last() != Some(&text) {
                self.causes.push(text);
            }
            source = error.source();
        }
    }
}

impl From<ServiceError> for CommandError {
    fn from(error: ServiceError) -> Self {
        let text = error.to_string();
        match error {
            ServiceError::UnknownSession { .. } => {
                Self::usage(text).hint("`rein sessions list --all` shows every session")
            }
            ServiceError::InUse { .. } => {
                Self::failure(text).hint("wait until that process is done, or end it, and try again")
            }
            ServiceError::Invalid { .. } => Self::usage(text),
            ServiceError::NotOpen { .. }
            | ServiceError::UnknownAsk { .. }
            | ServiceError::NotQueued { .. }
            | ServiceError::Model { .. }
            | ServiceError::Store { .. }
            | ServiceError::Unreachable { .. } => Self::failure(text),
        }
    }
}

/// Untrusted text with its further lines aligned below the first.
fn indented(text: &str) -> String {
    neutralise(text.trim_end()).replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::io::Error);

    fn printed(error: &CommandError) -> String {
        let mut text = Vec::new();
        error.print(&mut text, Ink::Plain).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn an_error_shows_its_causes_and_what_to_do() {
        let error = CommandError::failure("it broke\nbadly")
            .caused_by(Outer(std::io::Error::other("inner \u{1b}[31mred")))
            .hint("mend it");
        assert_eq!(
            printed(&error),
            "error: it broke\n  badly\n  caused by: outer\n  caused by: inner \\u{1b}[31mred\nhint: mend it\n"
        );
        assert_eq!(
            error.to_json(),
            json!({
                "type": "error", "message": "it broke\nbadly", "causes": ["outer", "inner \u{1b}[31mred"],
                "hints": ["mend it"], "exit_code": 1
            })
        );
    }

    #[test]
    fn an_unknown_session_is_a_wrong_argument() {
        let error =
            CommandError::from(ServiceError::UnknownSession { session: rein_protocol::SessionId::new() });
        assert_eq!(error.exit(), Exit::Usage);
        assert!(printed(&error).contains("rein sessions list"));
    }
}
