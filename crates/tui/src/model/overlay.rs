//! What covers the screen for a while: a text to read, or a list to choose from.
//!
//! All lists have the same keys: letters filter, Enter takes, Ctrl with a letter
//! does what the foot says, Esc closes. What a choice leads to is `choose`'s.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rein_protocol::{Effort, EntryId, GivenGrant, Mode, ModelRef, SessionId, TreeKind};

use super::input::Input;
use super::pager::Pager;
use crate::host::Setting;
use crate::line::Line;
use crate::picker::{self, Item, Picker, PickerReaction};

/// Something that covers the screen.
pub(crate) enum Overlay {
    /// To read.
    Pager(Pager),
    /// To choose from.
    List(Box<List>),
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pager(pager) => pager.fmt(f),
            Self::List(list) => f.debug_tuple("List").field(&list.picker.filter()).finish(),
        }
    }
}

/// A list.
pub(crate) struct List {
    pub(crate) picker: Picker<Choice>,
    /// What Enter does.
    pub(crate) enter: &'static str,
    /// What can be done beside it.
    pub(crate) extras: &'static [Extra],
    /// What is being asked about the item that is pointed at.
    pub(crate) asking: Option<Asking>,
}

/// Something beside Enter that can be done with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    /// Go on from here in a new session.
    Fork,
    /// Give it another name.
    Rename,
    /// Take it away; asks once more.
    Remove,
    /// Write another value.
    Edit,
}

impl Extra {
    /// The letter that goes with Ctrl, and what it does in a word.
    pub(crate) fn key(self) -> (char, &'static str) {
        match self {
            Self::Fork => ('f', "forks"),
            Self::Rename => ('r', "renames"),
            Self::Remove => ('d', "removes"),
            Self::Edit => ('e', "edits"),
        }
    }
}

/// What is asked before something is done.
#[derive(Debug)]
pub(crate) enum Asking {
    /// Whether it is meant.
    Sure(Extra),
    /// A line of text.
    Line(Extra, Input),
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Choice {
    Session {
        id: SessionId,
        title: String,
    },
    Model(ModelRef),
    Mode(Mode),
    Effort(Effort),
    /// A place of the tree.
    Place {
        entry: EntryId,
        kind: TreeKind,
    },
    /// An earlier message.
    Words {
        entry: EntryId,
    },
    Grant(GivenGrant),
    Setting(Setting),
    Value {
        key: String,
        value: String,
    },
    Theme(String),
    Queued {
        entry: EntryId,
        text: String,
    },
    /// Something that is only looked at.
    Text(String),
}

/// What a key led to.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Stays,
    Closes,
    Chose(Choice),
    /// Something else than Enter, with what was written about it.
    Did(Extra, Choice, String),
    /// Another item is pointed at.
    Points(Choice),
}

impl Overlay {
    pub(crate) fn pager(title: &str, lines: Vec<Line>, height: u16) -> Self {
        Self::Pager(Pager::at_end(title, lines, height))
    }

    /// A text that can be unfolded.
    pub(crate) fn folding_pager(title: &str, lines: Vec<Line>, other: Vec<Line>, height: u16) -> Self {
        let mut overlay = Self::pager(title, lines, height);
        if let Self::Pager(pager) = &mut overlay {
            pager.other = other;
        }
        overlay
    }

    pub(crate) fn text(title: &str, lines: Vec<Line>) -> Self {
        Self::Pager(Pager::new(title, lines))
    }

    pub(crate) fn key(&mut self, key: KeyEvent, height: u16) -> Outcome {
        match self {
            Self::Pager(pager) => pager.key(key, height),
            Self::List(list) => list.key(key),
        }
    }

    pub(crate) fn paste(&mut self, text: &str) {
        match self {
            Self::Pager(pager) => pager.paste(text),
            Self::List(list) => match &mut list.asking {
                Some(Asking::Line(_, input)) => input.paste(text),
                Some(Asking::Sure(_)) => {}
                None => {
                    let filter = format!("{}{}", list.picker.filter(), text.trim());
                    list.picker.set_filter(&filter);
                }
            },
        }
    }
}

impl List {
    pub(crate) fn new(title: &str, enter: &'static str, items: Vec<Item<Choice>>) -> Self {
        let picker = Picker::new(title, items, picker::Choice::One);
        Self { picker, enter, extras: &[], asking: None }
    }

    pub(crate) fn with(self, extras: &'static [Extra]) -> Self {
        Self { extras, ..self }
    }

    pub(crate) fn pointing_at(mut self, index: usize) -> Self {
        self.picker.select(index);
        self
    }

    fn pointed(&self) -> Option<Choice> {
        self.picker.selected_item().map(|item| item.value.clone())
    }

    fn key(&mut self, key: KeyEvent) -> Outcome {
        if let Some(asking) = self.asking.take() {
            return self.answer(asking, key);
        }
        if let Some(extra) = self.extra(key) {
            self.begin(extra);
            return match (extra, self.pointed()) {
                (Extra::Fork, Some(choice)) => Outcome::Did(extra, choice, String::new()),
                _ => Outcome::Stays,
            };
        }
        let before = self.picker.selected();
        match self.picker.handle(key) {
            PickerReaction::None | PickerReaction::Changed => match self.pointed() {
                Some(choice) if self.picker.selected() != before => Outcome::Points(choice),
                _ => Outcome::Stays,
            },
            PickerReaction::Cancel => Outcome::Closes,
            PickerReaction::Chosen(places) => {
                let chosen = places.first().and_then(|place| self.picker.items().get(*place));
                chosen.map_or(Outcome::Closes, |item| Outcome::Chose(item.value.clone()))
            }
        }
    }

    fn extra(&self, key: KeyEvent) -> Option<Extra> {
        let KeyCode::Char(letter) = key.code else { return None };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        self.extras.iter().copied().find(|extra| control && extra.key().0 == letter.to_ascii_lowercase())
    }

    /// Asks what has to be known first.
    pub(crate) fn begin(&mut self, extra: Extra) {
        self.asking = match (extra, self.pointed()) {
            (_, None | Some(Choice::Text(_))) | (Extra::Fork, _) => None,
            (Extra::Remove, Some(_)) => Some(Asking::Sure(extra)),
            (Extra::Rename, Some(Choice::Session { title, .. })) => {
                Some(Asking::Line(extra, Input::with(&title)))
            }
            (Extra::Edit, Some(Choice::Setting(setting))) => {
                Some(Asking::Line(extra, Input::with(setting.value.as_deref().unwrap_or_default())))
            }
            (Extra::Rename | Extra::Edit, Some(_)) => None,
        };
    }

    fn answer(&mut self, asking: Asking, key: KeyEvent) -> Outcome {
        let Some(choice) = self.pointed() else { return Outcome::Stays };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (asking, key.code) {
            (_, KeyCode::Esc) => Outcome::Stays,
            (_, KeyCode::Char('c')) if control => Outcome::Stays,
            (Asking::Sure(extra), KeyCode::Char('y')) => Outcome::Did(extra, choice, String::new()),
            (Asking::Sure(_), _) => Outcome::Stays,
            (Asking::Line(extra, input), KeyCode::Enter) => {
                Outcome::Did(extra, choice, input.text().trim().to_owned())
            }
            (Asking::Line(extra, mut input), _) => {
                input.handle(key);
                self.asking = Some(Asking::Line(extra, input));
                Outcome::Stays
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(list: &mut List, code: KeyCode, modifiers: KeyModifiers) -> Outcome {
        list.key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn nothing_is_removed_before_it_was_said_twice() {
        let item = |name: &str| Item::new(name, "", Choice::Theme(name.to_owned()));
        let mut list = List::new("", "takes it", vec![item("one"), item("two")]).with(&[Extra::Remove]);
        assert_eq!(press(&mut list, KeyCode::Char('d'), KeyModifiers::CONTROL), Outcome::Stays);
        assert_eq!(press(&mut list, KeyCode::Char('n'), KeyModifiers::NONE), Outcome::Stays);
        assert!(list.asking.is_none() && list.picker.filter().is_empty());
        press(&mut list, KeyCode::Char('d'), KeyModifiers::CONTROL);
        let done = press(&mut list, KeyCode::Char('y'), KeyModifiers::NONE);
        assert_eq!(done, Outcome::Did(Extra::Remove, Choice::Theme("one".into()), String::new()));
        // A letter alone only filters.
        press(&mut list, KeyCode::Char('d'), KeyModifiers::NONE);
        assert_eq!(list.picker.filter(), "d");
    }

    #[test]
    fn another_item_is_told_of() {
        let item = |name: &str| Item::new(name, "", Choice::Theme(name.to_owned()));
        let mut list = List::new("", "takes it", vec![item("one"), item("two")]);
        let down = press(&mut list, KeyCode::Down, KeyModifiers::NONE);
        assert_eq!(down, Outcome::Points(Choice::Theme("two".into())));
    }
}
