//! The list of what an agent means to do, as it was told to a person.
//!
//! Owns the shape of the list and what can be counted in it; how a call changes
//! it is the `todo` tool's. A list is recorded in the display of the call that
//! made it, so whoever folds a session finds it there: see [`TodoList::in_display`].

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::display::{Block, Display};

/// The number of an item in its list, from 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TodoId(pub u32);

impl fmt::Display for TodoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    #[default]
    Pending,
    /// What is worked on; at most one item is.
    Active,
    /// Finished.
    Done,
    /// Given up.
    Dropped,
}

impl TodoState {
    /// The mark in a list of text.
    #[must_use]
    pub fn mark(self) -> char {
        match self {
            Self::Pending => ' ',
            Self::Active => '>',
            Self::Done => 'x',
            Self::Dropped => '-',
        }
    }

    /// Whether there is still something to do.
    #[must_use]
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Active => true,
            Self::Done | Self::Dropped => false,
        }
    }
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    /// What a change names.
    pub id: TodoId,
    /// One line.
    pub text: String,
    /// How far it is.
    #[serde(default)]
    pub state: TodoState,
    /// The part of the work that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

/// Everything to do, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TodoList {
    /// The items; those of one phase are together.
    pub items: Vec<TodoItem>,
}

impl TodoList {
    /// The list that a call left behind: the last one in what was recorded of it. The list of a
    /// session is that of the last completed call which has one.
    #[must_use]
    pub fn in_display(display: &Display) -> Option<Self> {
        display.blocks.iter().rev().find_map(|block| {
            let Block::Todo { items } = block else { return None };
            Some(Self { items: items.clone() })
        })
    }

    /// How many items are in a state.
    #[must_use]
    pub fn count(&self, state: TodoState) -> usize {
        self.items.iter().filter(|item| item.state == state).count()
    }

    /// What is worked on.
    #[must_use]
    pub fn active(&self) -> Option<&TodoItem> {
        self.items.iter().find(|item| item.state == TodoState::Active)
    }
}

impl fmt::Display for TodoList {
    /// A line for each phase and each item.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut phase: Option<&str> = None;
        for item in &self.items {
            if item.phase.as_deref() != phase {
                phase = item.phase.as_deref();
                writeln!(f, "# {}", phase.unwrap_or("other"))?;
            }
            writeln!(f, "{} [{}] {}", item.id, item.state.mark(), item.text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: u32, state: TodoState, phase: Option<&str>) -> TodoItem {
        TodoItem { id: TodoId(id), text: format!("item {id}"), state, phase: phase.map(str::to_owned) }
    }

    #[test]
    fn a_list_is_a_line_for_each_phase_and_item() {
        let list = TodoList {
            items: vec![
                item(1, TodoState::Done, None),
                item(2, TodoState::Active, Some("Build")),
                item(3, TodoState::Pending, Some("Build")),
                item(4, TodoState::Dropped, Some("Test")),
            ],
        };
        assert_eq!(
            list.to_string(),
            "1 [x] item 1\n# Build\n2 [>] item 2\n3 [ ] item 3\n# Test\n4 [-] item 4\n"
        );
        assert_eq!(list.active().map(|item| item.id), Some(TodoId(2)));
        assert_eq!(list.count(TodoState::Pending), 1);
    }

    #[test]
    fn the_list_comes_back_from_what_was_recorded() {
        let items = vec![item(1, TodoState::Active, Some("Build")), item(2, TodoState::Pending, None)];
        let display = Display::titled("todo").with_block(Block::Todo { items: items.clone() });
        let json = serde_json::to_string(&display).unwrap();
        let recorded: Display = serde_json::from_str(&json).unwrap();
        assert_eq!(TodoList::in_display(&recorded), Some(TodoList { items }));
        assert_eq!(TodoList::in_display(&Display::titled("read")), None);
    }
}
