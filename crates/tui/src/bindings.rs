//! Which key does what in the whole face: the editor's keys and those around it.
//!
//! Owns the actions that are not the editor's, where each of them counts, and how
//! settings change the table. Keys of asks, lists and texts are fixed. Invariant:
//! within one place a key has at most one action, and one can always send and leave.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::editor::{Action, Chord, Keymap, KeymapError};

/// Where an action counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Wherever no list or text covers the screen, before an ask.
    Everywhere,
    /// While a text can be written.
    Writing,
    /// While nothing is written.
    Empty,
    /// While a turn is under way.
    Working,
}

macro_rules! deeds {
    ($($variant:ident $place:ident $name:literal $about:literal [$($key:literal)*],)*) => {
        /// What a key can do outside of the editor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Deed { $(#[doc = $about] $variant,)* }

        impl Deed {
            /// Every one.
            pub const ALL: &[Deed] = &[$(Deed::$variant,)*];

            /// The name in a file of settings.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Deed::$variant => $name,)* }
            }

            /// What it does, for a person.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Deed::$variant => $about,)* }
            }

            /// Where it counts.
            #[must_use]
            pub fn place(self) -> Place {
                match self { $(Deed::$variant => Place::$place,)* }
            }

            fn default_keys(self) -> &'static [&'static str] {
                match self { $(Deed::$variant => &[$($key),*],)* }
            }
        }
    };
}

deeds! {
    Interrupt Working "interrupt" "interrupt what is under way" ["esc"],
    Leave Everywhere "leave" "clear what is written; interrupt; twice: quit" ["ctrl-c"],
    Quit Empty "quit" "quit, when nothing is written" ["ctrl-d"],
    NextMode Writing "next_mode" "next mode: tight, write, plan" ["shift-tab"],
    PickModel Writing "pick_model" "choose a model" ["alt-m"],
    PickEffort Writing "pick_effort" "choose how much the model thinks" ["alt-t"],
    Transcript Everywhere "transcript" "the whole session, to read and search" ["ctrl-o"],
    Earlier Empty "earlier" "twice: an earlier message, to edit and go on from" ["esc"],
    TakeBack Empty "take_back" "the last queued message, to edit" ["up"],
    Thoughts Everywhere "thoughts" "thoughts whole, or a line of each" ["ctrl-t"],
    Redraw Everywhere "redraw" "draw again" ["ctrl-l"],
    Suspend Everywhere "suspend" "suspend" ["ctrl-z"],
    Help Empty "help" "this, when nothing is written" ["?"],
}

/// What is wrong with keys in settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// No action is called that.
    #[error("`{name}` is not an action; the nearest is `{nearest}`, and `?` in rein lists all of them")]
    Unknown {
        /// As written.
        name: String,
        /// The one that is most like it.
        nearest: &'static str,
    },
    /// A key cannot be understood.
    #[error("{action}: {error}")]
    Key {
        /// For which action.
        action: String,
        /// What is wrong with it.
        error: KeymapError,
    },
    /// One key would do two things.
    #[error("{action}: `{key}` is given to `{other}` too: a key can do one thing in one place")]
    Taken {
        /// The action that came second.
        action: String,
        /// The key.
        key: String,
        /// The action that has it.
        other: &'static str,
    },
    /// A letter could not be written any more.
    #[error("{action}: `{key}` could not be written any more; add ctrl- or alt-")]
    Letter {
        /// For which action.
        action: String,
        /// The key.
        key: String,
    },
    /// There would be no way to do what must be possible.
    #[error("{action}: it needs a key")]
    Needed {
        /// Which.
        action: &'static str,
    },
}

impl BindingError {
    /// The action whose setting is wrong.
    #[must_use]
    pub fn action(&self) -> &str {
        match self {
            Self::Unknown { name, .. } => name,
            Self::Key { action, .. } | Self::Taken { action, .. } | Self::Letter { action, .. } => action,
            Self::Needed { action } => action,
        }
    }
}

/// The tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bindings {
    editor: Keymap,
    deeds: BTreeMap<(Layer, String), Deed>,
}

/// Tables that lie over each other: in each of them a key means one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Empty,
    Working,
    /// With the editor's own.
    Always,
}

fn layer(place: Place) -> Layer {
    match place {
        Place::Everywhere | Place::Writing => Layer::Always,
        Place::Empty => Layer::Empty,
        Place::Working => Layer::Working,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Any {
    Edit(Action),
    Deed(Deed),
}

impl Any {
    fn named(name: &str) -> Result<Self, BindingError> {
        if let Some(deed) = Deed::ALL.iter().copied().find(|deed| deed.name() == name) {
            return Ok(Self::Deed(deed));
        }
        if let Some(action) = Action::ALL.iter().copied().find(|action| action.name() == name) {
            return Ok(Self::Edit(action));
        }
        let names =
            Deed::ALL.iter().map(|deed| deed.name()).chain(Action::ALL.iter().map(|action| action.name()));
        let near = |known: &&str| strsim::jaro_winkler(known, name);
        let nearest = names.max_by(|one, other| near(one).total_cmp(&near(other))).unwrap_or("submit");
        Err(BindingError::Unknown { name: name.to_owned(), nearest })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Edit(action) => action.name(),
            Self::Deed(deed) => deed.name(),
        }
    }

    fn layer(self) -> Layer {
        match self {
            Self::Edit(_) => Layer::Always,
            Self::Deed(deed) => layer(deed.place()),
        }
    }
}

impl Default for Bindings {
    fn default() -> Self {
        let mut deeds = BTreeMap::new();
        for deed in Deed::ALL {
            for key in deed.default_keys() {
                if let Ok(chord) = key.parse::<Chord>() {
                    deeds.insert((layer(deed.place()), chord.to_string()), *deed);
                }
            }
        }
        Self { editor: Keymap::default(), deeds }
    }
}

impl Bindings {
    /// The defaults with some actions on other keys. A key that an action gets is taken from the one that has it
    /// by default.
    ///
    /// # Errors
    /// With the first setting that makes no sense.
    pub fn read<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a [String])>,
    ) -> Result<Self, BindingError> {
        let mut bindings = Self::default();
        let mut given: BTreeMap<(Layer, String), &'static str> = BTreeMap::new();
        for (name, keys) in settings {
            let any = Any::named(name)?;
            bindings.release_all(any);
            for key in keys {
                let chord: Chord =
                    key.parse().map_err(|error| BindingError::Key { action: name.to_owned(), error })?;
                let text = chord.to_string();
                if chord.is_letter() && any.layer() == Layer::Always {
                    return Err(BindingError::Letter { action: name.to_owned(), key: text });
                }
                if let Some(other) = given.insert((any.layer(), text.clone()), any.name()) {
                    let action = name.to_owned();
                    return Err(BindingError::Taken { action, key: text, other });
                }
                bindings.give(any, &chord);
            }
        }
        for (action, has) in [
            ("submit", !bindings.keys_of(Any::Edit(Action::Submit)).is_empty()),
            ("leave", !bindings.keys_of(Any::Deed(Deed::Leave)).is_empty()),
        ] {
            if !has {
                return Err(BindingError::Needed { action });
            }
        }
        Ok(bindings)
    }

    /// The editor's keys.
    #[must_use]
    pub fn editor(&self) -> &Keymap {
        &self.editor
    }

    /// What a key does in a place, if it is none of the editor's.
    #[must_use]
    pub fn deed(&self, place: Place, key: KeyEvent) -> Option<Deed> {
        let found = self.deeds.get(&(layer(place), Chord::from(key).to_string())).copied();
        found.filter(|deed| deed.place() == place)
    }

    /// Every action outside of the editor with its keys, for help.
    #[must_use]
    pub fn list(&self) -> Vec<(Deed, Vec<String>)> {
        Deed::ALL.iter().map(|deed| (*deed, self.keys_of(Any::Deed(*deed)))).collect()
    }

    /// The first key of an action, as people write it; nothing if it has none.
    #[must_use]
    pub fn shown(&self, deed: Deed) -> Option<String> {
        self.keys_of(Any::Deed(deed)).first().map(|key| spoken(key))
    }

    fn keys_of(&self, any: Any) -> Vec<String> {
        match any {
            Any::Deed(deed) => self
                .deeds
                .iter()
                .filter(|(_, bound)| **bound == deed)
                .map(|((_, key), _)| key.clone())
                .collect(),
            Any::Edit(action) => {
                let all = self.editor.list();
                all.into_iter()
                    .find(|bound| bound.action == action)
                    .map(|bound| bound.keys)
                    .unwrap_or_default()
            }
        }
    }

    fn release_all(&mut self, any: Any) {
        match any {
            Any::Deed(deed) => self.deeds.retain(|_, bound| *bound != deed),
            Any::Edit(action) => self.editor.release_all(action),
        }
    }

    fn give(&mut self, any: Any, chord: &Chord) {
        if any.layer() == Layer::Always {
            self.editor.release(chord);
        }
        let place = (any.layer(), chord.to_string());
        self.deeds.remove(&place);
        match any {
            Any::Deed(deed) => {
                self.deeds.insert(place, deed);
            }
            Any::Edit(action) => self.editor.give(chord, action),
        }
    }
}

/// `ctrl-o` as people write it: `Ctrl-O`.
fn spoken(key: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    };
    key.split('-').map(capital).collect::<Vec<_>>().join("-")
}

impl Chord {
    /// Whether it writes something.
    fn is_letter(&self) -> bool {
        let (code, modifiers) = self.parts();
        matches!(code, KeyCode::Char(_))
            && !modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &[&str])]) -> Result<Bindings, BindingError> {
        let owned: Vec<(&str, Vec<String>)> = settings
            .iter()
            .map(|(name, keys)| (*name, keys.iter().map(|key| (*key).to_owned()).collect()))
            .collect();
        Bindings::read(owned.iter().map(|(name, keys)| (*name, keys.as_slice())))
    }

    fn key(text: &str) -> KeyEvent {
        let chord: Chord = text.parse().unwrap();
        let (code, modifiers) = chord.parts();
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn names_are_unique_and_defaults_clash_with_nothing() {
        let mut names: Vec<&str> = Deed::ALL.iter().map(|deed| deed.name()).collect();
        names.extend(Action::ALL.iter().map(|action| action.name()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let bindings = Bindings::default();
        for deed in Deed::ALL {
            assert!(!bindings.keys_of(Any::Deed(*deed)).is_empty(), "{deed:?}");
            for text in deed.default_keys() {
                if layer(deed.place()) == Layer::Always && *text != "ctrl-c" {
                    assert_eq!(bindings.editor.action(key(text)), None, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_setting_moves_an_action_and_takes_the_key_from_its_default() {
        let bindings = read(&[("undo", &["ctrl-z"]), ("transcript", &["f2", "ctrl-t"])]).unwrap();
        assert_eq!(bindings.editor.action(key("ctrl-z")), Some(Action::Undo));
        assert_eq!(bindings.deed(Place::Everywhere, key("ctrl-z")), None);
        assert_eq!(bindings.deed(Place::Everywhere, key("ctrl-o")), None);
        assert_eq!(bindings.deed(Place::Everywhere, key("f2")), Some(Deed::Transcript));
        assert_eq!(bindings.shown(Deed::Transcript).as_deref(), Some("Ctrl-T"));
        assert_eq!(bindings.shown(Deed::Suspend), None);
        // The same key may mean something else where nothing is written.
        assert_eq!(bindings.deed(Place::Empty, key("ctrl-d")), Some(Deed::Quit));
        assert_eq!(bindings.editor.action(key("ctrl-d")), Some(Action::DeleteRight));
    }

    #[test]
    fn mistakes_say_what_and_where() {
        let unknown = read(&[("transcrpt", &["f2"])]).unwrap_err();
        assert_eq!(unknown, BindingError::Unknown { name: "transcrpt".into(), nearest: "transcript" });
        let taken = read(&[("redraw", &["f2"]), ("undo", &["f2"])]).unwrap_err();
        assert_eq!(
            taken.to_string(),
            "undo: `f2` is given to `redraw` too: a key can do one thing in one place"
        );
        assert_eq!(taken.action(), "undo");
        let letter = read(&[("undo", &["u"])]).unwrap_err();
        assert_eq!(letter, BindingError::Letter { action: "undo".into(), key: "u".into() });
        assert_eq!(read(&[("leave", &[])]).unwrap_err(), BindingError::Needed { action: "leave" });
        assert_eq!(read(&[("undo", &["enter"])]).unwrap_err(), BindingError::Needed { action: "submit" });
        assert!(matches!(read(&[("undo", &["hyper-x"])]), Err(BindingError::Key { .. })));
        // Where nothing is written, a letter writes nothing.
        assert!(read(&[("help", &["h"])]).is_ok());
    }
}
