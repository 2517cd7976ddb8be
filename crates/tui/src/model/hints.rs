//! What can stand where the cursor is: commands, their arguments, files.
//!
//! The editor says what is being written; this has the candidates and which of
//! them is pointed at. Files are looked for by somebody else.

use std::time::Duration;

use rein_protocol::{Effort, Mode};

use super::command;
use super::{Effect, Model};
use crate::editor::{Completion, CompletionKind};
use crate::neutral::is_harmless;
use crate::picker::files::FileIndex;
use crate::theme;

/// Candidates that are kept.
const LIMIT: usize = 50;
/// How old a list of files may be before it is made anew.
const STALE: Duration = Duration::from_secs(20);

/// A candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    /// What would be written.
    pub(crate) text: String,
    /// What follows it, as a reminder.
    pub(crate) argument: &'static str,
    pub(crate) about: String,
}

/// The candidates for what is being written.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    pub(crate) all: Vec<Hint>,
    /// Which one is pointed at.
    pub(crate) at: usize,
    files: Option<FileIndex>,
    /// When files were last looked for.
    looked: Option<Duration>,
    /// The person wants none for what is written now.
    dismissed: bool,
}

impl Model {
    /// After the text changed: other candidates, and files to be looked for.
    pub(super) fn refresh_hints(&mut self) -> Vec<Effect> {
        self.hints.dismissed = false;
        self.hints.at = 0;
        let Some(completion) = self.editor.completion() else {
            self.hints.all.clear();
            return Vec::new();
        };
        self.hints.all = self.candidates(&completion);
        let is_file = completion.kind == CompletionKind::File;
        let stale = self.hints.looked.is_none_or(|looked| looked + STALE < self.now);
        if is_file && stale {
            self.hints.looked = Some(self.now);
            return vec![Effect::FindFiles];
        }
        Vec::new()
    }

    pub(super) fn found_files(&mut self, index: FileIndex) {
        self.hints.files = Some(index);
        if let Some(completion) = self.editor.completion().filter(|found| found.kind == CompletionKind::File)
            && !self.hints.dismissed
        {
            self.hints.all = self.candidates(&completion);
            self.hints.at = self.hints.at.min(self.hints.all.len().saturating_sub(1));
        }
    }

    fn candidates(&mut self, completion: &Completion) -> Vec<Hint> {
        let plain = |text: String| Hint { text, argument: "", about: String::new() };
        match &completion.kind {
            CompletionKind::File => {
                let Some(files) = &mut self.hints.files else { return Vec::new() };
                let hits = files.rank(&completion.prefix, LIMIT);
                hits.into_iter().map(|hit| plain(hit.path.to_owned())).collect()
            }
            CompletionKind::Command => command::completions(&completion.prefix)
                .into_iter()
                .map(|entry| Hint {
                    text: entry.name.to_owned(),
                    argument: entry.argument,
                    about: entry.about.to_owned(),
                })
                .collect(),
            CompletionKind::Argument(name) => {
                let all: Vec<String> = match name.as_str() {
                    "mode" => Mode::ALL.iter().map(|mode| mode.name().to_owned()).collect(),
                    "effort" => Effort::ALL.iter().map(|effort| effort.name().to_owned()).collect(),
                    "theme" => theme::BUILTIN.iter().map(|(name, _)| (*name).to_owned()).collect(),
                    "model" => self.models.iter().map(ToString::to_string).collect(),
                    _ => Vec::new(),
                };
                let fits = |text: &String| text.contains(&completion.prefix) && *text != completion.prefix;
                all.into_iter().filter(fits).take(LIMIT).map(plain).collect()
            }
        }
    }

    pub(super) fn dismiss_hints(&mut self) {
        self.hints.all.clear();
        self.hints.dismissed = true;
    }

    /// Writes what is pointed at.
    pub(super) fn accept_hint(&mut self) -> Vec<Effect> {
        let Some(hint) = self.hints.all.get(self.hints.at) else { return Vec::new() };
        let text: String = hint.text.chars().filter(|letter| is_harmless(*letter)).collect();
        self.editor.accept_completion(&text);
        self.refresh_hints()
    }

    /// Whether what is pointed at is written already.
    pub(super) fn hint_is_written(&self) -> bool {
        let written = self.editor.completion().map(|completion| completion.prefix);
        written.is_some() && self.hints.all.iter().any(|hint| Some(&hint.text) == written.as_ref())
    }
}
