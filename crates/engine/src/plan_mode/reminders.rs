//! What the model is told of plan mode, by the entry that it goes with.
//!
//! The same for the same branch, and a longer branch only adds: what a message
//! was sent with stays.

use std::collections::HashMap;

use rein_protocol::{Entry, EntryBody, EntryId, Mode};

const PLANNING: &str = "[Plan mode: look, and change nothing. Reading runs. Every call that would write, run a command or \
     use the network is withheld and listed for the user, and is carried out only when they approve. Find out what you \
     need, then answer with the plan: what changes, in which files, in which order, and how it will be proved.]";

/// Words of rein that go with messages.
#[derive(Default)]
pub(crate) struct Reminders<'a> {
    messages: HashMap<&'a EntryId, String>,
    compaction: Option<&'static str>,
}

impl<'a> Reminders<'a> {
    /// Those of a branch.
    pub(crate) fn of(branch: &[&'a Entry]) -> Self {
        let mut reminders = Self::default();
        let (mut mode, mut planned) = (None, false);
        for entry in branch {
            match &entry.body {
                EntryBody::ModeChanged { mode: changed } => mode = Some(*changed),
                EntryBody::User { .. } if mode == Some(Mode::Plan) => {
                    planned = true;
                    reminders.messages.insert(&entry.id, PLANNING.to_owned());
                }
                EntryBody::User { .. } => {
                    if let (true, Some(mode)) = (std::mem::take(&mut planned), mode) {
                        reminders.messages.insert(&entry.id, over(mode));
                    }
                }
                EntryBody::Compacted { .. } => {
                    reminders.compaction = (mode == Some(Mode::Plan)).then_some(PLANNING);
                }
                _ => {}
            }
        }
        reminders
    }

    /// What goes with a message.
    pub(crate) fn with(&self, message: &EntryId) -> Option<&str> {
        self.messages.get(message).map(String::as_str)
    }

    /// What goes with the record of what was compacted.
    pub(crate) fn with_compaction(&self) -> Option<&'static str> {
        self.compaction
    }
}

fn over(mode: Mode) -> String {
    format!(
        "[Plan mode is over: mode `{}` holds, and calls run as it says. What was withheld has not been done.]",
        mode.name()
    )
}
