//! Which key does what in the editor.
//!
//! Owns the names of keys and actions and the table between them. What an action does is the editor's.
//! Invariant: a key has at most one action; every action has a name that parses back to it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Why a key binding was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    /// The key has no such name.
    #[error(
        "`{0}` is not a key; write modifiers and a key joined by `-`, such as `ctrl-k`, `alt-enter` or `f5`"
    )]
    Key(String),
    /// There is no such action.
    #[error("`{0}` is not an editor action; the nearest is `{1}`, and `none` unbinds a key")]
    Action(String, &'static str),
}

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

impl Chord {
    /// The key and its modifiers.
    pub(crate) fn parts(&self) -> (KeyCode, KeyModifiers) {
        (self.code, self.modifiers)
    }
}

impl From<KeyEvent> for Chord {
    fn from(key: KeyEvent) -> Self {
        let relevant = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT | KeyModifiers::SUPER;
        let mut modifiers = key.modifiers & relevant;
        // A terminal says "shift" along with a capital or not at all; the character says enough.
        let code = match key.code {
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
                KeyCode::Char(c.to_ascii_lowercase())
            }
            KeyCode::Char(c) => {
                modifiers.remove(KeyModifiers::SHIFT);
                KeyCode::Char(c)
            }
            KeyCode::BackTab => {
                modifiers.insert(KeyModifiers::SHIFT);
                KeyCode::Tab
            }
            code => code,
        };
        Self { code, modifiers }
    }
}

const NAMED: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("minus", KeyCode::Char('-')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

const MODIFIERS: &[(&str, KeyModifiers)] = &[
    ("ctrl", KeyModifiers::CONTROL),
    ("alt", KeyModifiers::ALT),
    ("shift", KeyModifiers::SHIFT),
    ("super", KeyModifiers::SUPER),
];

impl FromStr for Chord {
    type Err = KeymapError;

    fn from_str(text: &str) -> Result<Self, KeymapError> {
        let unknown = || KeymapError::Key(text.to_owned());
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text.trim();
        while let Some((name, tail)) =
            rest.split_once('-').filter(|(name, tail)| !name.is_empty() && !tail.is_empty())
        {
            let lower = name.to_ascii_lowercase();
            let (_, modifier) = MODIFIERS.iter().find(|(known, _)| *known == lower).ok_or_else(unknown)?;
            modifiers.insert(*modifier);
            rest = tail;
        }
        let lower = rest.to_ascii_lowercase();
        let mut characters = rest.chars();
        let code = match (NAMED.iter().find(|(name, _)| *name == lower), characters.next(), characters.next())
        {
            (Some((_, code)), ..) => *code,
            (None, Some(c), None) if !c.is_control() => KeyCode::Char(c),
            (None, Some('f' | 'F'), Some(_)) => {
                let number = lower.get(1..).and_then(|digits| digits.parse().ok()).ok_or_else(unknown)?;
                KeyCode::F(number)
            }
            _ => return Err(unknown()),
        };
        Ok(Self::from(KeyEvent::new(code, modifiers)))
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, modifier) in MODIFIERS {
            if self.modifiers.contains(*modifier) {
                write!(f, "{name}-")?;
            }
        }
        match (NAMED.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::Char(c)) => write!(f, "{c}"),
            (None, KeyCode::F(number)) => write!(f, "f{number}"),
            (None, other) => write!(f, "{other}"),
        }
    }
}

macro_rules! actions {
    ($($variant:ident $name:literal $about:literal [$($key:literal)*],)*) => {
        /// What a key can do in the editor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action { $(#[doc = $about] $variant,)* }

        impl Action {
            /// Every action.
            pub const ALL: &[Action] = &[$(Action::$variant,)*];

            /// The name in a configuration file.
            pub fn name(self) -> &'static str {
                match self { $(Action::$variant => $name,)* }
            }

            /// What it does, for a person.
            pub fn about(self) -> &'static str {
                match self { $(Action::$variant => $about,)* }
            }

            fn default_keys(self) -> &'static [&'static str] {
                match self { $(Action::$variant => &[$($key),*],)* }
            }
        }
    };
}

actions! {
    Submit "submit" "send, or steer what is running" ["enter"],
    FollowUp "follow_up" "send once the turn is over" ["alt-enter"],
    Now "now" "send at once: the call under way is stopped for it" ["alt-s"],
    Newline "newline" "begin a new line" ["shift-enter" "ctrl-j"],
    Cancel "cancel" "interrupt or leave" ["esc" "ctrl-c"],
    Complete "complete" "complete a file or command" ["tab"],
    MoveLeft "move_left" "one character left" ["left" "ctrl-b"],
    MoveRight "move_right" "one character right" ["right" "ctrl-f"],
    MoveUp "move_up" "one row up, then into history" ["up"],
    MoveDown "move_down" "one row down, then out of history" ["down"],
    WordLeft "word_left" "one word left" ["alt-b" "ctrl-left" "alt-left"],
    WordRight "word_right" "one word right" ["alt-f" "ctrl-right" "alt-right"],
    LineStart "line_start" "to the start of the line" ["home" "ctrl-a"],
    LineEnd "line_end" "to the end of the line" ["end" "ctrl-e"],
    TextStart "text_start" "to the start of the text" ["ctrl-home" "alt-<"],
    TextEnd "text_end" "to the end of the text" ["ctrl-end" "alt->"],
    DeleteLeft "delete_left" "delete the character before" ["backspace" "shift-backspace" "ctrl-h"],
    DeleteRight "delete_right" "delete the character after" ["delete" "ctrl-d"],
    DeleteWordLeft "delete_word_left" "kill the word before" ["alt-backspace" "ctrl-backspace"],
    DeleteWordRight "delete_word_right" "kill the word after" ["alt-d" "ctrl-delete"],
    KillLine "kill_line" "kill to the end of the line" ["ctrl-k"],
    KillToStart "kill_to_start" "kill to the start of the line" ["ctrl-u"],
    KillBlankLeft "kill_blank_left" "kill back to white space" ["ctrl-w"],
    Yank "yank" "insert what was killed last" ["ctrl-y"],
    YankPop "yank_pop" "replace a yank by what was killed before" ["alt-y"],
    Undo "undo" "take an edit back" ["ctrl-_" "ctrl-/" "ctrl-7"],
    Redo "redo" "make it again" ["alt-_" "alt-/"],
    HistoryPrevious "history_previous" "the previous entry with this beginning" ["ctrl-p"],
    HistoryNext "history_next" "the next entry with this beginning" ["ctrl-n"],
    HistorySearch "history_search" "search the history" ["ctrl-r"],
    External "external_editor" "go on in the editor of your choice: $VISUAL or $EDITOR" ["ctrl-g"],
}

impl FromStr for Action {
    type Err = KeymapError;

    fn from_str(name: &str) -> Result<Self, KeymapError> {
        let found = Self::ALL.iter().copied().find(|action| action.name() == name);
        found.ok_or_else(|| {
            let near = |action: &Action| strsim::jaro_winkler(action.name(), name);
            let nearest = Self::ALL.iter().max_by(|one, other| near(one).total_cmp(&near(other)));
            let nearest = nearest.map_or("submit", |action| action.name());
            KeymapError::Action(name.to_owned(), nearest)
        })
    }
}

/// One line of the help on keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// What is done.
    pub action: Action,
    /// The keys that do it, as they are written in a configuration file.
    pub keys: Vec<String>,
}

/// The table from keys to actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    actions: BTreeMap<String, Action>,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut actions = BTreeMap::new();
        for action in Action::ALL {
            for key in action.default_keys() {
                if let Ok(chord) = key.parse::<Chord>() {
                    actions.insert(chord.to_string(), *action);
                }
            }
        }
        Self { actions }
    }
}

impl Keymap {
    /// The defaults with the given keys bound anew; the action `none` unbinds.
    pub fn parse<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, KeymapError> {
        let mut keymap = Self::default();
        for (key, action) in pairs {
            let chord = key.parse::<Chord>()?.to_string();
            match action.trim() {
                "none" => keymap.actions.remove(&chord),
                action => keymap.actions.insert(chord, action.parse()?),
            };
        }
        Ok(keymap)
    }

    /// Takes all keys from an action.
    pub(crate) fn release_all(&mut self, action: Action) {
        self.actions.retain(|_, bound| *bound != action);
    }

    /// Takes a key from whatever has it.
    pub(crate) fn release(&mut self, chord: &Chord) {
        self.actions.remove(&chord.to_string());
    }

    /// Gives a key to an action.
    pub(crate) fn give(&mut self, chord: &Chord, action: Action) {
        self.actions.insert(chord.to_string(), action);
    }

    /// What the key does.
    pub fn action(&self, key: KeyEvent) -> Option<Action> {
        self.actions.get(&Chord::from(key).to_string()).copied()
    }

    /// Every action with its keys, for help.
    pub fn list(&self) -> Vec<Binding> {
        let keys = |action: Action| {
            self.actions.iter().filter(|(_, bound)| **bound == action).map(|(key, _)| key.clone()).collect()
        };
        Action::ALL.iter().map(|action| Binding { action: *action, keys: keys(*action) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back_and_every_default_key_is_bound_once() {
        let mut seen = std::collections::HashMap::new();
        for action in Action::ALL {
            assert_eq!(action.name().parse::<Action>(), Ok(*action));
            for key in action.default_keys() {
                let chord: Chord = key.parse().unwrap();
                assert_eq!(chord.to_string().parse::<Chord>(), Ok(chord), "{key}");
                assert_eq!(seen.insert(chord, action), None, "{key} is bound twice");
            }
        }
    }

    #[test]
    fn a_configuration_binds_and_unbinds() {
        let keymap =
            Keymap::parse([("Ctrl-X", "undo"), ("enter", "newline"), ("ctrl-k", "none"), ("f5", "submit")]);
        let keymap = keymap.unwrap();
        let action = |code, modifiers| keymap.action(KeyEvent::new(code, modifiers));
        assert_eq!(action(KeyCode::Char('x'), KeyModifiers::CONTROL), Some(Action::Undo));
        assert_eq!(action(KeyCode::Enter, KeyModifiers::NONE), Some(Action::Newline));
        assert_eq!(action(KeyCode::Char('k'), KeyModifiers::CONTROL), None);
        assert_eq!(action(KeyCode::F(5), KeyModifiers::NONE), Some(Action::Submit));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!("hyper-k".parse::<Chord>(), Err(KeymapError::Key("hyper-k".to_owned())));
        let error = Keymap::parse([("ctrl-k", "kill_lines")]).unwrap_err();
        assert_eq!(error, KeymapError::Action("kill_lines".to_owned(), "kill_line"));
    }
}
