//! What a choice in a list leads to, and what comes back from what was asked.

use crossterm::event::KeyEvent;
use rein_protocol::{OpenSession, SessionChange, Snapshot, TreeKind};

use super::overlay::{self, Choice, Extra, Overlay};
use super::request::{Answer, Purpose, Request};
use super::{Effect, Model};
use crate::host::OwnTheme;
use crate::theme::{self, Theme};
use crate::view;

impl Model {
    pub(super) fn cover(&mut self, overlay: Overlay) {
        self.overlay = Some(overlay);
    }

    pub(super) fn overlay_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let height = self.size.rows;
        let Some(overlay) = &mut self.overlay else { return Vec::new() };
        match overlay.key(key, height) {
            overlay::Outcome::Stays => Vec::new(),
            overlay::Outcome::Points(Choice::Theme(name)) => {
                self.theme.preview(&name);
                Vec::new()
            }
            overlay::Outcome::Points(_) => Vec::new(),
            overlay::Outcome::Closes => {
                self.theme.forget_preview();
                self.overlay = None;
                Vec::new()
            }
            overlay::Outcome::Chose(choice) => {
                self.overlay = None;
                self.chose(choice)
            }
            overlay::Outcome::Did(extra, choice, text) => self.did(extra, choice, text),
        }
    }

    fn chose(&mut self, choice: Choice) -> Vec<Effect> {
        let ask = |request: Request| vec![Effect::Request(request)];
        let change = |change: SessionChange| vec![Effect::Change(change)];
        match choice {
            Choice::Session { id, .. } if self.session.as_ref() == Some(&id) => Vec::new(),
            Choice::Session { id, .. } => {
                vec![Effect::Open(OpenSession { session: Some(id), ..OpenSession::default() })]
            }
            Choice::Model(model) => change(SessionChange { model: Some(model), ..SessionChange::default() }),
            Choice::Mode(mode) => change(SessionChange { mode: Some(mode), ..SessionChange::default() }),
            Choice::Effort(effort) => {
                change(SessionChange { effort: Some(effort), ..SessionChange::default() })
            }
            // From one's own words one goes on by saying them differently.
            Choice::Place { entry, kind: TreeKind::User } | Choice::Words { entry } => {
                ask(Request::Revisit(entry))
            }
            Choice::Place { entry, .. } => ask(Request::Travel(entry)),
            Choice::Setting(setting) if setting.choices.is_empty() => {
                let mut overlay = Overlay::settings(vec![setting]);
                if let Overlay::List(list) = &mut overlay {
                    list.begin(Extra::Edit);
                }
                self.cover(overlay);
                Vec::new()
            }
            Choice::Setting(setting) => {
                self.cover(Overlay::values(&setting));
                Vec::new()
            }
            Choice::Value { key, value } => ask(Request::Set { key, value: Some(value) }),
            Choice::Theme(name) => self.take_theme(&name),
            Choice::Queued { entry, text } => ask(Request::TakeBack { queued: entry, text }),
            Choice::Text(text) if !text.is_empty() => {
                let lines = view::overview::plain(&text, self.size.columns);
                self.cover(Overlay::text("command", lines));
                Vec::new()
            }
            Choice::Grant(_) | Choice::Text(_) => Vec::new(),
        }
    }

    fn did(&mut self, extra: Extra, choice: Choice, text: String) -> Vec<Effect> {
        self.overlay = None;
        let request = match (extra, choice) {
            (Extra::Fork, Choice::Session { id, .. }) => Request::Fork { session: Some(id), at: None },
            (Extra::Fork, Choice::Place { entry, .. }) => Request::Fork { session: None, at: Some(entry) },
            (Extra::Rename, Choice::Session { id, .. }) if !text.is_empty() => {
                Request::Rename { session: Some(id), title: text }
            }
            (Extra::Remove, Choice::Grant(grant)) => Request::Revoke(grant),
            (Extra::Remove, Choice::Queued { entry, .. }) => {
                Request::TakeBack { queued: entry, text: String::new() }
            }
            (Extra::Remove, Choice::Setting(setting)) => Request::Set { key: setting.key, value: None },
            (Extra::Edit, Choice::Setting(setting)) => {
                Request::Set { key: setting.key, value: Some(text).filter(|text| !text.is_empty()) }
            }
            (Extra::Fork | Extra::Rename | Extra::Remove | Extra::Edit, _) => return Vec::new(),
        };
        vec![Effect::Request(request)]
    }

    fn take_theme(&mut self, name: &str) -> Vec<Effect> {
        self.theme.take(name);
        match self.has_host {
            true => {
                let (key, value) = ("theme".to_owned(), Some(name.to_owned()));
                vec![Effect::Request(Request::Set { key, value })]
            }
            false => Vec::new(),
        }
    }

    pub(super) fn answered(&mut self, answer: Answer) -> Vec<Effect> {
        let columns = self.size.columns;
        match answer {
            Answer::Models(models) => {
                self.remark = None;
                let overlay = Overlay::models(models, self.model.as_ref());
                self.cover(overlay);
            }
            Answer::Tree(nodes) if nodes.is_empty() => self.remark("nothing was said yet"),
            Answer::Tree(nodes) => self.cover(Overlay::tree(&nodes)),
            Answer::Permissions(grants, rules) => {
                self.cover(Overlay::permissions(self.mode, grants, rules));
            }
            Answer::Context(parts, used) => {
                self.window = used.and_then(|used| used.window).or(self.window);
                self.cover(Overlay::text("context", view::overview::context(&parts, used, columns)));
            }
            Answer::Looked(purpose, snapshot) => return self.looked(purpose, *snapshot),
            Answer::Began(info, how) => {
                self.began = Some(how);
                let id = Some(info.id);
                return vec![Effect::Open(OpenSession { session: id, ..OpenSession::default() })];
            }
            Answer::Renamed(session, title) => {
                self.remark(format!("named: {}", view::one_line(&title, 60)));
                if Some(&session) == self.session.as_ref() {
                    self.title = title;
                }
            }
            Answer::ToEdit(text) => self.begin_editing(&text),
            Answer::Doctor(findings) => {
                self.remark = None;
                self.cover(Overlay::text("doctor", view::overview::doctor(&findings, columns)));
            }
            Answer::Settings(settings) => self.cover(Overlay::settings(settings)),
            Answer::Themes(own) => return self.themes(own),
            Answer::Said(text) => self.remark(view::one_line(&text, 300)),
            Answer::Done => {}
            Answer::Failed(why) => {
                self.remark = None;
                self.compacting = None;
                self.note_error(&why);
            }
        }
        Vec::new()
    }

    /// What is already written stays before it.
    fn begin_editing(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let written = self.editor.text();
        match written.trim().is_empty() {
            true => self.editor.set_text(text),
            false => self.editor.set_text(&format!("{written}\n{text}")),
        }
    }

    fn themes(&mut self, own: Vec<OwnTheme>) -> Vec<Effect> {
        self.theme.learn(own);
        let Some(name) = self.wanted_theme.take() else {
            let overlay = Overlay::themes(&self.theme.own, &self.theme.name);
            self.cover(overlay);
            return Vec::new();
        };
        match self.theme.find(&name) {
            Some(_) => self.take_theme(&name),
            None => {
                let names: Vec<&str> = theme::BUILTIN.iter().map(|(name, _)| *name).collect();
                self.note_error(&format!("there is no theme `{name}`: {}", names.join(", ")));
                Vec::new()
            }
        }
    }

    fn looked(&mut self, purpose: Purpose, snapshot: Snapshot) -> Vec<Effect> {
        let columns = self.size.columns;
        match purpose {
            Purpose::Messages => match Overlay::messages(&snapshot) {
                Some(overlay) => self.cover(overlay),
                None => self.remark("nothing was said yet"),
            },
            Purpose::Diff => {
                self.cover(Overlay::text(
                    "changes of this session",
                    view::overview::changes(&snapshot, columns),
                ));
            }
            Purpose::Stats => {
                self.cover(Overlay::text(
                    "this session in figures",
                    view::overview::stats(&snapshot, columns),
                ));
            }
            Purpose::Copy => match view::overview::last_answer(&snapshot) {
                Some(text) if text.len() <= crate::clipboard::MOST => {
                    let count = text.chars().count();
                    self.remark(format!("copied {count} characters, if the terminal permits it"));
                    return vec![Effect::Copy(text)];
                }
                Some(_) => self.remark("too long for a terminal's clipboard: /export writes a file"),
                None => self.remark("there is no answer to copy yet"),
            },
            Purpose::Window => self.window = snapshot.context.and_then(|used| used.window),
        }
        Vec::new()
    }
}

/// The theme that holds, the one that is being looked at, and where others come from.
#[derive(Debug, Default)]
pub(crate) struct Themes {
    pub(crate) name: String,
    pub(crate) own: Vec<OwnTheme>,
    now: Theme,
    looked_at: Option<Theme>,
    background: Option<theme::background::Background>,
}

impl Themes {
    pub(crate) fn new(name: &str, now: Theme, background: Option<theme::background::Background>) -> Self {
        Self { name: name.to_owned(), now, background, ..Self::default() }
    }

    pub(crate) fn shown(&self) -> Theme {
        self.looked_at.unwrap_or(self.now)
    }

    fn learn(&mut self, own: Vec<OwnTheme>) {
        self.own = own;
    }

    fn find(&self, name: &str) -> Option<Theme> {
        let own = self.own.iter().find(|own| own.name == name).and_then(|own| own.theme.clone().ok());
        let fitting = self.background.unwrap_or(theme::background::Background::Dark).theme();
        let name = if name == theme::AUTO { fitting } else { name };
        own.or_else(|| theme::builtin(name)).map(|theme| theme.at(self.now.depth()))
    }

    fn preview(&mut self, name: &str) {
        self.looked_at = self.find(name);
    }

    fn forget_preview(&mut self) {
        self.looked_at = None;
    }

    fn take(&mut self, name: &str) {
        self.looked_at = None;
        if let Some(theme) = self.find(name) {
            self.now = theme;
            self.name = name.to_owned();
        }
    }
}
