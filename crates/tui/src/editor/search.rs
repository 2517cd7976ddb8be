//! Searching the history while typing.
//!
//! Owns the query and what it found. Leaving the search, with or without what was found, is the editor's.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::keymap::Action;
use super::{Editor, Reaction, chips};

/// A search under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    pub(super) query: String,
    pub(super) found: Option<usize>,
}

/// What a search has come to, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchState<'a> {
    /// What is looked for.
    pub query: &'a str,
    /// What was found.
    pub found: Option<&'a str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Older,
    Newer,
}

impl Editor {
    /// The search under way.
    pub fn search(&self) -> Option<SearchState<'_>> {
        let search = self.search.as_ref()?;
        let found = search.found.and_then(|index| self.history.entries().get(index));
        Some(SearchState { query: &search.query, found: found.map(String::as_str) })
    }

    pub(super) fn begin_search(&mut self) -> Reaction {
        self.search = Some(Search::default());
        Reaction::HistorySearch
    }

    pub(super) fn search_text(&mut self, text: &str) -> Reaction {
        if let Some(search) = &mut self.search {
            search.query.push_str(chips::clean(text).lines().next().unwrap_or_default());
        }
        self.find(Direction::Older, 0)
    }

    pub(super) fn handle_search(&mut self, key: KeyEvent) -> Reaction {
        match self.keymap.action(key) {
            Some(Action::HistorySearch | Action::MoveUp | Action::HistoryPrevious) => {
                self.find(Direction::Older, 1)
            }
            Some(Action::MoveDown | Action::HistoryNext) => self.find(Direction::Newer, 1),
            Some(Action::Cancel) => {
                self.search = None;
                Reaction::Changed
            }
            Some(Action::DeleteLeft) => {
                if let Some(search) = &mut self.search {
                    search.query.pop();
                    search.found = None;
                }
                self.find(Direction::Older, 0)
            }
            Some(Action::Submit | Action::Complete) => self.take_found(),
            Some(Action::Yank | Action::YankPop | Action::Newline) => Reaction::HistorySearch,
            Some(_) => {
                self.take_found();
                self.handle(key)
            }
            None => match key.code {
                KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                    self.search_text(&c.to_string())
                }
                KeyCode::Char('s') => self.find(Direction::Newer, 1),
                _ => Reaction::HistorySearch,
            },
        }
    }

    fn take_found(&mut self) -> Reaction {
        let found = self.search.take().and_then(|search| search.found);
        if let Some(entry) = found.and_then(|index| self.history.entries().get(index)).cloned() {
            self.set_text(&entry);
        }
        Reaction::Changed
    }

    fn find(&mut self, direction: Direction, step: usize) -> Reaction {
        if let Some(search) = &mut self.search {
            let newest = self.history.entries().len();
            let found = match (direction, search.found) {
                _ if search.query.is_empty() => None,
                (Direction::Older, None) => self.history.search_older(newest, &search.query),
                (Direction::Older, Some(at)) => {
                    at.checked_sub(step).and_then(|from| self.history.search_older(from, &search.query))
                }
                (Direction::Newer, at) => {
                    self.history.search_newer(at.map_or(0, |at| at + step), &search.query)
                }
            };
            // A step beyond the last match stays there; a query that matches nothing shows nothing.
            match found {
                Some((index, _)) => search.found = Some(index),
                None if step == 0 => search.found = None,
                None => {}
            }
        }
        Reaction::HistorySearch
    }
}
