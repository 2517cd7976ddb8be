//! Where the person is in the guided choice, and what keys do. Pure.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rein_protocol::ModelRef;

use super::{Chosen, ProviderOffer};
use crate::picker::{Choice, Item, Picker, PickerReaction};

/// More than this is no key.
const LONGEST: usize = 64 * 1024;

/// The guided choice.
pub struct Welcome {
    providers: Vec<ProviderOffer>,
    pub(super) servers: Vec<ModelRef>,
    pub(super) stage: Stage,
    pub(super) remark: String,
}

/// Where the person is.
pub(super) enum Stage {
    /// How to begin; the way that is pointed at.
    Ways(usize),
    /// Whose key.
    Providers(Box<Picker<usize>>),
    /// The key itself.
    Key { provider: ProviderOffer, secret: String },
}

/// A way to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    Server(ModelRef),
    Key,
    Look,
    Demo,
    Leave,
}

/// What a key led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing but what is shown.
    Stays,
    /// Servers on this machine are to be looked for.
    Looks,
    /// The key that was pasted is to be stored.
    Stores {
        /// Whose it is.
        provider: String,
    },
    /// The person chose.
    Ends(Chosen),
}

impl fmt::Debug for Welcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Welcome").field("servers", &self.servers).finish_non_exhaustive()
    }
}

impl Welcome {
    /// With the providers whose key can be pasted.
    #[must_use]
    pub fn new(providers: Vec<ProviderOffer>) -> Self {
        Self { providers, servers: Vec::new(), stage: Stage::Ways(0), remark: String::new() }
    }

    /// What was pasted, for whoever stores it.
    #[must_use]
    pub fn secret(&self) -> &str {
        match &self.stage {
            Stage::Key { secret, .. } => secret.trim(),
            Stage::Ways(_) | Stage::Providers(_) => "",
        }
    }

    /// Servers that were found.
    pub fn found(&mut self, servers: Vec<ModelRef>) {
        self.remark = match servers.is_empty() {
            true => "no server was found on this machine: start one and look again".to_owned(),
            false => String::new(),
        };
        self.servers = servers;
        self.stage = Stage::Ways(0);
    }

    /// Whether a key was stored; then that is what was chosen.
    pub fn stored(&mut self, provider: String, stored: Result<(), String>) -> Option<Chosen> {
        match stored {
            Ok(()) => Some(Chosen::Provider(provider)),
            Err(error) => {
                self.remark = error;
                None
            }
        }
    }

    pub(super) fn ways(&self) -> Vec<Way> {
        let servers = self.servers.iter().cloned().map(Way::Server);
        servers.chain([Way::Key, Way::Look, Way::Demo, Way::Leave]).collect()
    }

    /// Takes pasted text: only a key or a filter is waited for.
    pub fn paste(&mut self, text: &str) {
        match &mut self.stage {
            Stage::Key { secret, .. } if secret.len() + text.len() <= LONGEST => {
                secret.extend(text.chars().filter(|letter| !letter.is_control()));
            }
            Stage::Providers(list) => {
                let filter = format!("{}{}", list.filter(), text.trim());
                list.set_filter(&filter);
            }
            Stage::Key { .. } | Stage::Ways(_) => {}
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Step {
        if key.kind == KeyEventKind::Release {
            return Step::Stays;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Step::Ends(Chosen::Nothing);
        }
        self.remark.clear();
        match self.stage {
            Stage::Ways(at) => self.way_key(key.code, at),
            Stage::Providers(_) => self.provider_key(key),
            Stage::Key { .. } => self.secret_key(key, control),
        }
    }

    fn way_key(&mut self, code: KeyCode, at: usize) -> Step {
        let ways = self.ways();
        let last = ways.len().saturating_sub(1);
        match code {
            KeyCode::Up | KeyCode::Char('k') => self.stage = Stage::Ways(at.checked_sub(1).unwrap_or(last)),
            KeyCode::Down | KeyCode::Tab | KeyCode::Char('j') => {
                self.stage = Stage::Ways(if at >= last { 0 } else { at + 1 });
            }
            KeyCode::Esc | KeyCode::Char('q') => return Step::Ends(Chosen::Nothing),
            KeyCode::Enter => return ways.get(at).map_or(Step::Stays, |way| self.take(way)),
            KeyCode::Char(digit @ '1'..='9') => {
                let way = ways.get(usize::from(digit as u8 - b'1'));
                return way.map_or(Step::Stays, |way| self.take(way));
            }
            _ => {}
        }
        Step::Stays
    }

    fn take(&mut self, way: &Way) -> Step {
        match way {
            Way::Server(model) => return Step::Ends(Chosen::Model(model.clone())),
            Way::Demo => return Step::Ends(Chosen::Demo),
            Way::Leave => return Step::Ends(Chosen::Nothing),
            Way::Look => {
                self.remark = "looking for servers …".to_owned();
                return Step::Looks;
            }
            Way::Key => {
                let item = |(place, offer): (usize, &ProviderOffer)| {
                    Item::new(offer.title.clone(), offer.name.clone(), place)
                };
                let items = self.providers.iter().enumerate().map(item).collect();
                self.stage = Stage::Providers(Box::new(Picker::new("Whose key?", items, Choice::One)));
            }
        }
        Step::Stays
    }

    fn provider_key(&mut self, key: KeyEvent) -> Step {
        let Stage::Providers(list) = &mut self.stage else { return Step::Stays };
        match list.handle(key) {
            PickerReaction::None | PickerReaction::Changed => {}
            PickerReaction::Cancel => self.stage = Stage::Ways(self.servers.len()),
            PickerReaction::Chosen(places) => {
                let place = places.first().and_then(|place| list.items().get(*place)).map(|item| item.value);
                if let Some(provider) = place.and_then(|place| self.providers.get(place)).cloned() {
                    self.stage = Stage::Key { provider, secret: String::new() };
                }
            }
        }
        Step::Stays
    }

    fn secret_key(&mut self, key: KeyEvent, control: bool) -> Step {
        let Stage::Key { provider, secret } = &mut self.stage else { return Step::Stays };
        match key.code {
            KeyCode::Esc => {
                let way = Way::Key;
                self.take(&way);
            }
            KeyCode::Enter if secret.trim().is_empty() => {
                self.remark = "paste the key first, or go back with Esc".to_owned();
            }
            KeyCode::Enter => return Step::Stores { provider: provider.name.clone() },
            KeyCode::Backspace => {
                secret.pop();
            }
            KeyCode::Char('u') if control => secret.clear(),
            KeyCode::Char(letter) if !control && secret.len() < LONGEST => secret.push(letter),
            _ => {}
        }
        Step::Stays
    }
}
