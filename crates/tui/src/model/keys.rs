//! What the person does: keys, pasted text, commands.
//!
//! A key goes to the first of these that is there: the overlay, the keys that
//! hold everywhere, an ask, the hints of a command, the editor.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rein_protocol::{Delivery, Mode, OpenSession, SessionChange, SessionInfo, Timestamp};

use super::command::{self, Command, Parsed};
use super::dialog;
use super::overlay::{self, Choice, Overlay, session_items};
use super::{Effect, Model, SECOND_KEY};
use crate::editor::{Reaction, Submission, SubmissionKind, VimMode};
use crate::picker::Item;
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
            (Some(Overlay::List(list)), _) => {
                let filter = format!("{}{}", list.filter(), text.trim());
                list.set_filter(&filter);
            }
            (Some(Overlay::Pager(_)), _) => {}
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
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return self.control_c(),
            KeyCode::Char('z') if control => return vec![Effect::Suspend],
            KeyCode::Char('l') if control => return vec![Effect::Redraw],
            KeyCode::Char('o') if control => return vec![Effect::FetchTranscript],
            KeyCode::Char('t') if control => {
                self.toggle_thoughts();
                return Vec::new();
            }
            _ => {}
        }
        if let Some(effects) = self.dialog_key(key) {
            return effects;
        }
        if let Some(effects) = self.noting_key(key) {
            return effects;
        }
        self.editor_key(key)
    }

    fn overlay_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let height = self.size.rows;
        let Some(overlay) = &mut self.overlay else { return Vec::new() };
        match overlay.key(key, height) {
            overlay::Outcome::Stays => Vec::new(),
            overlay::Outcome::Closes => {
                self.overlay = None;
                Vec::new()
            }
            overlay::Outcome::Chose(choice) => {
                self.overlay = None;
                self.chose(choice)
            }
        }
    }

    fn chose(&mut self, choice: Choice) -> Vec<Effect> {
        match choice {
            Choice::Session(id) if self.session.as_ref() == Some(&id) => Vec::new(),
            Choice::Session(id) => {
                vec![Effect::Open(OpenSession { session: Some(id), ..OpenSession::default() })]
            }
            Choice::Model(model) => {
                vec![Effect::Change(SessionChange { model: Some(model), ..SessionChange::default() })]
            }
            Choice::Mode(mode) => {
                vec![Effect::Change(SessionChange { mode: Some(mode), ..SessionChange::default() })]
            }
        }
    }

    fn control_c(&mut self) -> Vec<Effect> {
        if self.quit_by.is_some_and(|by| self.now <= by) {
            return vec![Effect::Quit];
        }
        if self.cancel_note() {
            return Vec::new();
        }
        self.quit_by = Some(self.now + SECOND_KEY);
        if self.editor.search().is_some() {
            self.editor.handle(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        }
        if !self.editor.is_empty() {
            self.editor.set_text("");
            self.dismiss_hints();
            self.remark = Some(("cleared · Ctrl-C again quits".to_owned(), self.now + SECOND_KEY));
            return Vec::new();
        }
        self.remark = Some(("Ctrl-C again quits".to_owned(), self.now + SECOND_KEY));
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
            dialog::Outcome::Stays => Some(Vec::new()),
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

    fn editor_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let searching = self.editor.search().is_some();
        let inserting = self.editor.vim_mode() == Some(VimMode::Insert);
        if !searching {
            match key.code {
                KeyCode::Esc if !self.hints.all.is_empty() => {
                    self.dismiss_hints();
                    return Vec::new();
                }
                KeyCode::Esc if self.is_busy() && !inserting => return self.interrupt(),
                KeyCode::BackTab => return self.next_mode(),
                KeyCode::Char('?') if self.editor.is_empty() => {
                    self.overlay = Some(Overlay::text("help", view::help::lines(self)));
                    return Vec::new();
                }
                KeyCode::Char('d') if control && self.editor.is_empty() => return vec![Effect::Quit],
                _ => {}
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
                effects.extend(self.command(command::parse(&text)));
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

    fn command(&mut self, parsed: Parsed) -> Vec<Effect> {
        let columns = self.size.columns;
        let (command, argument) = match parsed {
            Parsed::Known(command, argument) => (command, argument),
            Parsed::Unknown { name, nearest } => {
                let hint = match nearest {
                    Some(nearest) => format!("did you mean /{nearest}?"),
                    None => "/help shows every command".to_owned(),
                };
                let lines = view::note::error(&format!("there is no command /{name}"), Some(&hint), columns);
                self.note(lines);
                return Vec::new();
            }
        };
        match command {
            Command::Help => self.overlay = Some(Overlay::text("help", view::help::lines(self))),
            Command::Model => return self.model_command(&argument),
            Command::Mode => return self.mode_command(&argument),
            Command::Plan => {
                return vec![Effect::Change(SessionChange {
                    mode: Some(Mode::Plan),
                    ..SessionChange::default()
                })];
            }
            Command::Sessions => return vec![Effect::ListSessions],
            Command::New => {
                let open = OpenSession {
                    session: None,
                    workspace: Some(self.workspace.clone()),
                    model: self.model.clone(),
                    mode: Some(self.mode),
                };
                return vec![Effect::Open(open)];
            }
            Command::Continue => return vec![Effect::Resume],
            Command::Jobs => {
                self.overlay = Some(Overlay::text("jobs", view::help::jobs(&self.jobs, columns)))
            }
            Command::Transcript => return vec![Effect::FetchTranscript],
            Command::Cost => {
                let lines = view::note::cost(self);
                self.note(lines);
            }
            Command::Quit => return vec![Effect::Quit],
        }
        Vec::new()
    }

    fn model_command(&mut self, argument: &str) -> Vec<Effect> {
        if !argument.is_empty() {
            return match argument.parse() {
                Ok(model) => {
                    vec![Effect::Change(SessionChange { model: Some(model), ..SessionChange::default() })]
                }
                Err(error) => {
                    self.note_error(&error.to_string());
                    Vec::new()
                }
            };
        }
        if self.models.is_empty() {
            let name = self.model.as_ref().map_or("none".to_owned(), ToString::to_string);
            self.remark(format!("model: {name} · /model provider/name changes it"));
            return Vec::new();
        }
        let item = |model: &rein_protocol::ModelRef| {
            let now = if Some(model) == self.model.as_ref() { "now" } else { "" };
            Item::new(model.to_string(), now, Choice::Model(model.clone()))
        };
        self.overlay = Some(Overlay::list("model", self.models.iter().map(item).collect()));
        Vec::new()
    }

    fn mode_command(&mut self, argument: &str) -> Vec<Effect> {
        if let Some(mode) = Mode::ALL.into_iter().find(|mode| mode.name() == argument) {
            return vec![Effect::Change(SessionChange { mode: Some(mode), ..SessionChange::default() })];
        }
        if !argument.is_empty() {
            self.note_error(&format!("there is no mode `{argument}`: tight, write, free or plan"));
            return Vec::new();
        }
        let item = |mode: Mode| Item::new(mode.name(), view::mode_about(mode), Choice::Mode(mode));
        self.overlay = Some(Overlay::list("mode", Mode::ALL.into_iter().map(item).collect()));
        Vec::new()
    }

    /// The next mode; never into the one that does not ask, which has to be named.
    fn next_mode(&mut self) -> Vec<Effect> {
        let mode = match self.mode {
            Mode::Tight => Mode::Write,
            Mode::Write => Mode::Plan,
            Mode::Plan | Mode::Free => Mode::Tight,
        };
        vec![Effect::Change(SessionChange { mode: Some(mode), ..SessionChange::default() })]
    }

    pub(super) fn list_sessions(&mut self, sessions: &[SessionInfo], at: Timestamp) {
        match sessions.is_empty() {
            true => self.remark("there are no sessions of this directory"),
            false => self.overlay = Some(Overlay::list("sessions", session_items(sessions, at))),
        }
    }
}
