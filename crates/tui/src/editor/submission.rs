//! From written text to what is sent.

use super::completion::is_command;
use super::{Attachment, Editor, Reaction};
use crate::editor::buffer::Buffer;
use crate::editor::chips::{Chips, is_sentinel};

/// What the first character makes of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmissionKind {
    /// Words for the agent.
    Prompt,
    /// `/`: a command of the face.
    Command,
    /// `!`: a command for the shell.
    Shell,
    /// `#`: something to remember.
    Remember,
}

/// What was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The text with pastes in full, without the sigil of its kind.
    pub text: String,
    /// The images that the text mentions.
    pub attachments: Vec<Attachment>,
    /// What it is.
    pub kind: SubmissionKind,
}

/// A paste larger than this is remembered in the history by its label.
const HISTORY_BYTES: usize = 32 * 1024;

impl Editor {
    /// Takes the text out as a submission; none if it is blank.
    pub(super) fn submit(&mut self, reaction: impl FnOnce(Submission) -> Reaction) -> Reaction {
        let raw = self.buffer.text().trim_end().trim_start_matches('\n').to_owned();
        if raw.trim().is_empty() {
            return Reaction::None;
        }
        let (kind, body) = kind_of(&raw);
        let text = self.chips.expand(body).trim_end().to_owned();
        if text.trim().is_empty() {
            return Reaction::None;
        }
        let attachments = self.chips.attachments(&raw);
        let whole = self.chips.expand(&raw);
        self.history.push(&if whole.len() <= HISTORY_BYTES { whole } else { self.chips.shown(&raw) });
        self.kills.rewrite(|text| text.chars().filter(|c| !is_sentinel(*c)).collect());
        if let Some(vim) = &mut self.vim {
            vim.after_submit();
        }
        self.chips = Chips::default();
        self.buffer = Buffer::default();
        self.settle();
        reaction(Submission { text, attachments, kind })
    }
}

/// What the text is and what is left of it without its sigil. White space in front makes anything a prompt.
pub(super) fn kind_of(raw: &str) -> (SubmissionKind, &str) {
    let body = raw.get(1..).unwrap_or_default();
    let first_word = body.split(char::is_whitespace).next().unwrap_or_default();
    match raw.as_bytes().first() {
        Some(b'/') if !first_word.is_empty() && is_command(first_word) => (SubmissionKind::Command, body),
        Some(b'!') => (SubmissionKind::Shell, body.trim_start()),
        // Several lines that begin with a heading are Markdown, not a note.
        Some(b'#') if !body.starts_with('#') && !body.contains('\n') => {
            (SubmissionKind::Remember, body.trim_start())
        }
        _ => (SubmissionKind::Prompt, raw),
    }
}
