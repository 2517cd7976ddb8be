//! The two machine formats. Standard output holds lines of JSON and nothing else.

use rein_protocol::{Event, SessionInfo, TurnId};
use serde::Serialize;
use serde_json::json;

use super::face::{Face, STOPPING};
use super::tally::RunResult;
use super::text::closing_words;
use crate::machine;
use crate::streams::Printed;
use crate::terminal::Ink;

/// `json`: one object at the end.
pub struct Json {
    /// Of standard error.
    pub ink: Ink,
}

/// `stream-json`: the session, every event as it is, and the object.
pub struct StreamJson {
    /// Of standard error.
    pub ink: Ink,
}

impl Face for Json {
    fn begin(&mut self, _: &SessionInfo, _: &TurnId, _: &mut Printed) {}

    fn event(&mut self, _: &Event, _: &mut Printed) {}

    fn stopping(&mut self, to: &mut Printed) {
        to.note(STOPPING);
    }

    fn end(&mut self, result: &RunResult, to: &mut Printed) {
        line(result, to);
        closing_words(result, self.ink, to);
    }
}

impl Face for StreamJson {
    fn begin(&mut self, session: &SessionInfo, turn: &TurnId, to: &mut Printed) {
        let begun = json!({
            "type": "session",
            "session": session.id,
            "turn": turn,
            "workspace": session.workspace.to_string_lossy(),
            "model": session.model,
            "mode": session.mode,
        });
        line(&begun, to);
    }

    fn event(&mut self, event: &Event, to: &mut Printed) {
        line(event, to);
    }

    fn stopping(&mut self, to: &mut Printed) {
        to.note(STOPPING);
    }

    fn end(&mut self, result: &RunResult, to: &mut Printed) {
        line(result, to);
        closing_words(result, self.ink, to);
    }
}

fn line(value: &impl Serialize, to: &mut Printed) {
    // Everything that is printed here has string keys and finite numbers.
    if let Ok(mut text) = machine::line(value) {
        text.push('\n');
        to.out(&text);
    }
}
