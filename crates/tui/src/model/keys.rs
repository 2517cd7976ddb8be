//! What the person does: keys, pasted text, commands.
//!
//! A key goes to the first of these that is there: the overlay, the keys that
//! hold everywhere, an ask, the hints of a command, the editor. Which key does
//! what is `bindings`'.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rein_protocol::{Delivery, SessionInfo, Timestamp};

use super::dialog;
use super::overlay::Overlay;
use super::request::{Purpose, Request};
use super::{Effect, Model, SECOND_KEY};
use crate::bindings::{Deed, Place};
use crate::editor::{Reaction, Submission, SubmissionKind, VimMode};
use crate::view;

impl Model {
    pub(super) fn arm_dialog(&mut self) {
        let (now, typed) = (self.now, self.typed);
        if let Some(dialog) = self.dialogs.front_mut() {
            dialog.arm(now, typed);
        }
    }

    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        match (&mut self.overlay, self.dialogs.front_mut()) {
            (Some(overlay), _) => overlay.paste(text),
            (None, Some(dialog)) if dialog.is_armed() => dialog.paste(text),
            (None, _) => {
                self.typed = Some(self.now);
                let reaction = self.editor.paste(text);
                return self.react(reaction);
            }
        }
        Vec::new()
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        if self.overlay.is_some() {
            return self.overlay_key(key);
        }
        if let Some(deed) = self.bindings.deed(Place::Everywhere, key) {
            return self.deed(deed);
        }
        if let Some(effects) = self.dialog_key(key) {
            return effects;
        }
        if let Some(effects) = self.noting_key(key) {
            return effects;
        }
        self.editor_key(key)
    }

    /// Does what a key is for outside of the editor.
    fn deed(&mut self, deed: Deed) -> Vec<Effect> {
        match deed {
            Deed::Leave => self.leave(),
            Deed::Interrupt => self.interrupt(),
            Deed::Suspend => vec![Effect::Suspend],
            Deed::Redraw => vec![Effect::Redraw],
            Deed::Transcript => vec![Effect::FetchTranscript],
            Deed::Thoughts => {
                self.toggle_thoughts();
                Vec::new()
            }
            Deed::Quit => vec![Effect::Quit],
            Deed::NextMode => self.next_mode(),
            Deed::PickModel => self.model_command(""),
            Deed::PickEffort => self.effort_command(""),
            Deed::Help => {
                self.overlay = Some(Overlay::text("help", view::help::lines(self)));
                Vec::new()
            }
            Deed::Earlier => self.earlier(),
            Deed::TakeBack => self.take_back(),
        }
    }

    /// The second time: an earlier message to go back to.
    fn earlier(&mut self) -> Vec<Effect> {
        if self.earlier_by.take().is_some_and(|by| self.now <= by) {
            self.remark = None;
            return vec![Effect::Request(Request::Look(Purpose::Messages))];
        }
        let by = self.now + SECOND_KEY;
        self.earlier_by = Some(by);
        let key = self.bindings.shown(Deed::Earlier).unwrap_or_default();
        self.remark = Some((format!("{key} again: an earlier message, to edit and go on from"), by));
        Vec::new()
    }

    fn take_back(&mut self) -> Vec<Effect> {
        let Some(last) = self.queue.last() else { return Vec::new() };
        vec![Effect::Request(Request::TakeBack { queued: last.entry.clone(), text: last.text.clone() })]
    }

    fn leave(&mut self) -> Vec<Effect> {
        if self.quit_by.is_some_and(|by| self.now <= by) {
            return vec![Effect::Quit];
        }
        if self.cancel_note() {
            return Vec::new();
        }
        self.quit_by = Some(self.now + SECOND_KEY);
        let key = self.bindings.shown(Deed::Leave).unwrap_or_default();
        if self.editor.search().is_some() {
            self.editor.handle(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        }
        if !self.editor.is_empty() {
            self.editor.set_text("");
            self.dismiss_hints();
            self.remark = Some((format!("cleared · {key} again quits"), self.now + SECOND_KEY));
            return Vec::new();
        }
        self.remark = Some((format!("{key} again quits"), self.now + SECOND_KEY));
        self.interrupt()
    }

    fn interrupt(&mut self) -> Vec<Effect> {
        if self.turn.is_none() && self.is_busy() {
            return vec![Effect::Interrupt];
        }
        match &mut self.turn {
            Some(turn) => {
                turn.interrupting = true;
                vec![Effect::Interrupt]
            }
            None => Vec::new(),
        }
    }

    /// Nothing if the key is not the ask's.
    fn dialog_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let dialog = self.dialogs.front_mut()?;
        if !dialog.is_armed() {
            return dialog.drops_early_keys().then(Vec::new);
        }
        match dialog.key(key) {
            dialog::Outcome::Stays => {
                // Beyond the end, the way back would begin with keys that do nothing.
                let limit = view::ask_scroll_limit(self);
                if let Some(dialog) = self.dialogs.front_mut() {
                    dialog.scroll = dialog.scroll.min(limit);
                }
                Some(Vec::new())
            }
            dialog::Outcome::Interrupt => Some(self.interrupt()),
            dialog::Outcome::Answered(reply) => {
                self.dialogs.pop_front();
                let now = self.now;
                if let Some(next) = self.dialogs.front_mut() {
                    next.appears(now);
                }
                Some(vec![Effect::Reply(reply)])
            }
        }
    }

    /// What a key is for outside of the editor, as things are now.
    fn deed_now(&self, key: KeyEvent) -> Option<Deed> {
        let inserting = self.editor.vim_mode() == Some(VimMode::Insert);
        if self.is_busy()
            && let Some(deed) = self.bindings.deed(Place::Working, key).filter(|_| !inserting)
        {
            return Some(deed);
        }
        if self.editor.is_empty()
            && let Some(deed) = self.bindings.deed(Place::Empty, key)
        {
            let counts = match deed {
                Deed::TakeBack => !self.queue.is_empty(),
                Deed::Earlier => self.turn.is_none() && self.spoken && !inserting,
                _ => true,
            };
            if counts {
                return Some(deed);
            }
        }
        self.bindings.deed(Place::Writing, key)
    }

    fn editor_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if self.editor.search().is_none() {
            if key.code == KeyCode::Esc && !self.hints.all.is_empty() {
                self.dismiss_hints();
                return Vec::new();
            }
            if let Some(deed) = self.deed_now(key) {
                return self.deed(deed);
            }
            if let Some(effects) = self.hint_key(key) {
                return effects;
            }
        }
        self.typed = Some(self.now);
        let reaction = self.editor.handle(key);
        self.react(reaction)
    }

    fn react(&mut self, reaction: Reaction) -> Vec<Effect> {
        match reaction {
            Reaction::None | Reaction::Cancel => Vec::new(),
            Reaction::Changed | Reaction::HistorySearch => {
                self.dismiss_hints();
                Vec::new()
            }
            Reaction::Complete(_) => self.refresh_hints(),
            Reaction::Submit(submission) => self.submit(submission, Delivery::Steer),
            Reaction::FollowUp(submission) => self.submit(submission, Delivery::FollowUp),
            Reaction::Now(submission) => self.submit(submission, Delivery::Now),
            Reaction::External => vec![Effect::EditOutside(self.editor.text())],
        }
    }

    /// Nothing if the key is not for the hints.
    fn hint_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let last = self.hints.all.len().checked_sub(1)?;
        match key.code {
            KeyCode::Up => self.hints.at = self.hints.at.checked_sub(1).unwrap_or(last),
            KeyCode::Down => self.hints.at = if self.hints.at == last { 0 } else { self.hints.at + 1 },
            KeyCode::Tab => return Some(self.accept_hint()),
            // A beginning is completed; what is written already is sent.
            KeyCode::Enter if key.modifiers.is_empty() && !self.hint_is_written() => {
                let hint = self.hints.all.get(self.hints.at)?;
                let whole = hint.argument.is_empty() && !hint.about.is_empty();
                let effects = self.accept_hint();
                // A command without arguments is done.
                return if whole { None } else { Some(effects) };
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    fn submit(&mut self, submission: Submission, delivery: Delivery) -> Vec<Effect> {
        self.dismiss_hints();
        let Submission { text, kind, attachments } = submission;
        let text = match kind {
            SubmissionKind::Prompt => text,
            SubmissionKind::Command => {
                let mut effects = vec![Effect::Remember(format!("/{text}"))];
                effects.extend(self.command(&text));
                return effects;
            }
            SubmissionKind::Shell => return self.run_command(text),
            SubmissionKind::Remember => return self.begin_note(text),
        };
        let mut effects = vec![Effect::Remember(text.clone())];
        let delivery = if self.turn.is_some() { delivery } else { Delivery::Prompt };
        let prompt = Effect::Prompt { text, attachments, delivery };
        match self.session {
            Some(_) => effects.push(prompt),
            None => self.unsent.push(prompt),
        }
        effects
    }

    pub(super) fn list_sessions(&mut self, sessions: &[SessionInfo], at: Timestamp) {
        match sessions.is_empty() {
            true => self.remark("there are no sessions of this directory"),
            false => self.overlay = Some(Overlay::sessions(sessions, at, self.session.as_ref())),
        }
    }
}
