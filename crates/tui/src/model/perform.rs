//! What a slash command does.

use std::path::PathBuf;

use rein_protocol::{CompactionReason, Effort, Mode, OpenSession, SessionChange};

use super::command::{self, Command, Parsed};
use super::overlay::Overlay;
use super::request::{Purpose, Request};
use super::{Effect, Model};
use crate::editor::dropped_paths;
use crate::host::ModelChoice;
use crate::view;

impl Model {
    pub(super) fn command(&mut self, text: &str) -> Vec<Effect> {
        let (command, argument) = match command::parse(text) {
            Parsed::Known(command, argument) => (command, argument),
            Parsed::Unknown { name, nearest } => {
                let hint = match nearest {
                    Some(nearest) => format!("did you mean /{nearest}?"),
                    None => "/help shows every command".to_owned(),
                };
                let told = format!("there is no command /{name}");
                let lines = view::note::error(&told, Some(&hint), self.size.columns);
                self.note(lines);
                // To be put right, or to be sent with a space before it.
                self.editor.set_text(&format!("/{text}"));
                return Vec::new();
            }
        };
        self.perform(command, argument)
    }

    fn perform(&mut self, command: Command, argument: String) -> Vec<Effect> {
        let words = Some(argument.clone()).filter(|argument| !argument.is_empty());
        let ask = |request: Request| vec![Effect::Request(request)];
        match command {
            Command::Help => self.cover(Overlay::text("help", view::help::lines(self))),
            Command::Keys => self.cover(Overlay::text("keys", view::help::keys(self))),
            Command::Model => return self.model_command(&argument),
            Command::Effort => return self.effort_command(&argument),
            Command::Mode => return self.mode_command(&argument),
            Command::Plan => return vec![changed_mode(Mode::Plan)],
            Command::Compact => {
                self.remark("making room: what was said so far becomes a summary");
                return ask(Request::Compact { focus: words });
            }
            Command::Handoff => {
                // As long as it takes.
                self.compacting = Some(CompactionReason::Manual);
                return ask(Request::Handoff { focus: words });
            }
            Command::Sessions => return vec![Effect::ListSessions],
            Command::Fork => return ask(Request::Fork { session: None, at: None }),
            Command::Tree => return ask(Request::Tree),
            Command::New => return vec![Effect::Open(self.new_session())],
            Command::Rename => return self.rename_command(words),
            Command::Permissions => return ask(Request::Permissions),
            Command::Context => return ask(Request::Context),
            Command::Cost => {
                let lines = view::note::cost(self);
                self.note(lines);
            }
            Command::Stats => return ask(Request::Look(Purpose::Stats)),
            Command::Diff => return ask(Request::Look(Purpose::Diff)),
            Command::Copy => return ask(Request::Look(Purpose::Copy)),
            Command::Export => return ask(Request::Export { file: words.map(|file| self.place(&file)) }),
            Command::Doctor => {
                self.remark("looking at everything that a run needs");
                return ask(Request::Doctor);
            }
            Command::Config => return ask(Request::Settings),
            Command::Theme => return self.theme_command(words),
            Command::Continue => return vec![Effect::Resume],
            Command::Jobs => self.cover(Overlay::jobs(&self.jobs)),
            Command::Queue => match self.queue.is_empty() {
                true => self.remark("no message waits"),
                false => self.cover(Overlay::queue(&self.queue)),
            },
            Command::Image => match words {
                Some(file) => self.attach(&file),
                None => self.remark("/image FILE attaches a picture: PNG, JPEG, WebP or GIF"),
            },
            Command::Transcript => {
                self.seek = words;
                return vec![Effect::FetchTranscript];
            }
            Command::Quit => return vec![Effect::Quit],
        }
        Vec::new()
    }

    fn new_session(&self) -> OpenSession {
        OpenSession {
            session: None,
            workspace: Some(self.workspace.clone()),
            model: self.model.clone(),
            mode: Some(self.mode),
        }
    }

    /// A file that was named here. What `~` stands for is not known here.
    fn place(&self, file: &str) -> PathBuf {
        let file = file.trim_matches(['"', '\'']);
        if file.starts_with("~/") { PathBuf::from(file) } else { self.workspace.join(file) }
    }

    /// Attaches a picture, named as it is or as a shell would have it.
    fn attach(&mut self, named: &str) {
        let mut places = vec![self.place(named)];
        if let [unquoted] = dropped_paths(named).as_slice() {
            places.push(self.workspace.join(unquoted));
        }
        let home = std::env::home_dir();
        let at_home = |place: &PathBuf| {
            let below = place.strip_prefix("~").or_else(|_| place.strip_prefix(self.workspace.join("~")));
            Some(home.as_ref()?.join(below.ok()?))
        };
        places.extend(places.iter().filter_map(at_home).collect::<Vec<_>>());
        if !places.iter().any(|place| self.editor.attach(place)) {
            let named = view::one_line(named, 200);
            self.note_error(&format!("`{named}` is no picture that can be read: PNG, JPEG, WebP or GIF"));
            self.editor.set_text(&format!("/image {named}"));
        }
    }

    pub(super) fn model_command(&mut self, argument: &str) -> Vec<Effect> {
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
        if self.has_host {
            self.remark("looking which models can be used");
            return vec![Effect::Request(Request::Models)];
        }
        if self.models.is_empty() {
            let name = self.model.as_ref().map_or("none".to_owned(), ToString::to_string);
            self.remark(format!("model: {name} · /model provider/name changes it"));
            return Vec::new();
        }
        let choice = |model: &rein_protocol::ModelRef| ModelChoice {
            model: model.clone(),
            detail: String::new(),
            unusable: None,
        };
        let overlay = Overlay::models(self.models.iter().map(choice).collect(), self.model.as_ref());
        self.cover(overlay);
        Vec::new()
    }

    pub(super) fn effort_command(&mut self, argument: &str) -> Vec<Effect> {
        match (argument, Effort::from_name(argument)) {
            ("", _) => self.cover(Overlay::efforts(self.effort)),
            (_, Some(effort)) => {
                return vec![Effect::Change(SessionChange {
                    effort: Some(effort),
                    ..SessionChange::default()
                })];
            }
            (word, None) => {
                let names = Effort::ALL.map(Effort::name).join(", ");
                self.note_error(&format!("there is no effort `{word}`: {names}"));
            }
        }
        Vec::new()
    }

    fn mode_command(&mut self, argument: &str) -> Vec<Effect> {
        if let Some(mode) = Mode::ALL.into_iter().find(|mode| mode.name() == argument) {
            return vec![changed_mode(mode)];
        }
        if argument.is_empty() {
            self.cover(Overlay::modes(self.mode));
        } else {
            self.note_error(&format!("there is no mode `{argument}`: tight, write, free or plan"));
        }
        Vec::new()
    }

    /// The next mode; never into the one that does not ask, which has to be named.
    pub(super) fn next_mode(&mut self) -> Vec<Effect> {
        vec![changed_mode(match self.mode {
            Mode::Tight => Mode::Write,
            Mode::Write => Mode::Plan,
            Mode::Plan | Mode::Free => Mode::Tight,
        })]
    }

    fn rename_command(&mut self, words: Option<String>) -> Vec<Effect> {
        match words {
            Some(title) => vec![Effect::Request(Request::Rename { session: None, title })],
            None => {
                let text = format!("/rename {}", view::one_line(&self.title, 200));
                self.editor.set_text(&text);
                Vec::new()
            }
        }
    }

    fn theme_command(&mut self, words: Option<String>) -> Vec<Effect> {
        self.wanted_theme = words;
        vec![Effect::Request(Request::Themes)]
    }
}

fn changed_mode(mode: Mode) -> Effect {
    Effect::Change(SessionChange { mode: Some(mode), ..SessionChange::default() })
}
