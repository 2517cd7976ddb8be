//! What the first character of a submission leads to: `!` runs a command of the
//! person, `#` writes a line into the instructions.
//!
//! A command of the person is no part of a turn: it is shown beside what goes
//! on, and becomes history when it is over. Where a line is to be remembered is
//! asked with two choices in the place of the editor.

use crossterm::event::{KeyCode, KeyEvent};
use rein_protocol::{CallId, CallResult, Display, MemoryPlace};

use super::live::Card;
use super::{Effect, Kind, Model};
use crate::view;

/// A line that is to be remembered somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Noting {
    pub(crate) note: String,
    pub(crate) place: MemoryPlace,
}

impl Model {
    /// Runs a command of the person.
    pub(super) fn run_command(&mut self, command: String) -> Vec<Effect> {
        if self.session.is_none() {
            self.editor.set_text(&format!("!{command}"));
            self.remark("the session is not open yet");
            return Vec::new();
        }
        vec![Effect::Remember(format!("!{command}")), Effect::Shell(command)]
    }

    /// Asks where a line is to be remembered.
    pub(super) fn begin_note(&mut self, note: String) -> Vec<Effect> {
        self.noting = Some(Noting { note, place: MemoryPlace::Project });
        Vec::new()
    }

    /// Nothing if no line is to be remembered.
    pub(super) fn noting_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let noting = self.noting.as_mut()?;
        match key.code {
            KeyCode::Char('1' | 'p') => noting.place = MemoryPlace::Project,
            KeyCode::Char('2' | 'u') => noting.place = MemoryPlace::User,
            KeyCode::Enter => {}
            KeyCode::Up | KeyCode::Down | KeyCode::Tab | KeyCode::BackTab => {
                noting.place = match noting.place {
                    MemoryPlace::Project => MemoryPlace::User,
                    MemoryPlace::User => MemoryPlace::Project,
                };
                return Some(Vec::new());
            }
            KeyCode::Esc => {
                self.cancel_note();
                return Some(Vec::new());
            }
            _ => return Some(Vec::new()),
        }
        let Noting { note, place } = self.noting.take()?;
        Some(vec![Effect::Remember(format!("#{note}")), Effect::Note { note, place }])
    }

    /// Whether a line was to be remembered; it is in the editor again.
    pub(super) fn cancel_note(&mut self) -> bool {
        let Some(Noting { note, .. }) = self.noting.take() else { return false };
        if self.editor.is_empty() {
            self.editor.set_text(&format!("#{note}"));
        }
        true
    }

    /// A line was remembered.
    pub(super) fn noted(&mut self, note: &str, file: &std::path::Path) {
        let lines = view::note::noted(note, file, self.size.columns);
        self.note(lines);
    }

    /// A command of the person runs.
    pub(super) fn person_runs(&mut self, call: CallId, command: &str) {
        if self.runs.iter().any(|card| card.id.as_ref() == Some(&call)) {
            return;
        }
        let mut card = Card::proposed("shell");
        card.id = Some(call);
        card.since = Some(self.now);
        card.display = Some(Display::titled(format!("! {command}")));
        self.runs.push(card);
    }

    /// A command of the person is over.
    pub(super) fn person_ran(&mut self, call: &CallId, command: &str, result: &CallResult) {
        self.runs.retain(|card| card.id.as_ref() != Some(call));
        self.spoken = true;
        // What the model says at the moment goes on below it.
        self.settle();
        let lines = view::card::person_ran(command, result, self.size.columns);
        self.commit(Kind::Run, lines);
        self.split_words();
    }
}
