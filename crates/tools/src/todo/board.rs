//! Where the list is between calls, and how a call changes it: all of the
//! change or none.
//!
//! The invariant: ids count from 1 in the order of the list when it is replaced
//! and are never given anew otherwise; at most one item is active.

use std::sync::{Mutex, PoisonError};

use rein_protocol::{TodoId, TodoItem, TodoList, TodoState};

/// Items that a list may have.
const MOST_ITEMS: usize = 100;

/// Characters of an item or of the name of a phase.
const MOST_CHARS: usize = 300;

/// The list of one conversation.
#[derive(Debug, Default)]
pub struct TodoBoard {
    list: Mutex<TodoList>,
}

impl TodoBoard {
    /// The board as it was when a conversation was left. The list is in the display of the last
    /// completed `todo` call: [`TodoList::in_display`].
    #[must_use]
    pub fn restore(list: TodoList) -> Self {
        Self { list: Mutex::new(list) }
    }

    /// The list as it is.
    #[must_use]
    pub fn current(&self) -> TodoList {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the list, and returns it as it is then.
    pub(super) fn apply(&self, change: &Change) -> Result<TodoList, String> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change.applied(&list)?;
        list.clone_from(&changed);
        Ok(changed)
    }
}

/// What a call wants: the steps are done in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Change {
    /// A whole new list.
    pub(super) items: Option<Vec<NewItem>>,
    /// More items, after the others.
    pub(super) add: Vec<String>,
    pub(super) done: Vec<TodoId>,
    pub(super) drop: Vec<TodoId>,
    /// The one to work on next; what was active before and is not done waits again.
    pub(super) start: Option<TodoId>,
}

/// An item as a model writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewItem {
    pub(super) text: String,
    /// As it was for an item of the same words, else pending.
    pub(super) state: Option<TodoState>,
    pub(super) phase: Option<String>,
}

impl Change {
    /// Whether it changes anything at all.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The list after it, or what is wrong with it.
    pub(super) fn applied(&self, list: &TodoList) -> Result<TodoList, String> {
        let mut list = match &self.items {
            Some(items) => replaced(list, items)?,
            None => list.clone(),
        };
        for text in &self.add {
            let next = list.items.iter().map(|item| item.id.0).max().unwrap_or(0).saturating_add(1);
            let phase = list.items.last().and_then(|item| item.phase.clone());
            let text = line("add", text)?;
            list.items.push(TodoItem { id: TodoId(next), text, state: TodoState::Pending, phase });
        }
        if list.items.len() > MOST_ITEMS {
            return Err(format!(
                "The list would have {} items, and {MOST_ITEMS} is the most. Put several into one.",
                list.items.len()
            ));
        }
        self.check_ids(&list)?;
        for item in &mut list.items {
            if self.done.contains(&item.id) {
                item.state = TodoState::Done;
            } else if self.drop.contains(&item.id) {
                item.state = TodoState::Dropped;
            }
        }
        if let Some(start) = self.start {
            for item in &mut list.items {
                if item.id == start {
                    item.state = TodoState::Active;
                } else if item.state == TodoState::Active {
                    item.state = TodoState::Pending;
                }
            }
        }
        Ok(list)
    }

    fn check_ids(&self, list: &TodoList) -> Result<(), String> {
        let is_known = |id: &TodoId| list.items.iter().any(|item| item.id == *id);
        let named = || self.done.iter().chain(&self.drop).chain(&self.start);
        let unknown: Vec<String> = named().filter(|id| !is_known(id)).map(TodoId::to_string).collect();
        if !unknown.is_empty() {
            let there = match list.items.as_slice() {
                [] => "the list is empty; give `items` first".to_owned(),
                items => {
                    let ids: Vec<String> = items.iter().map(|item| item.id.to_string()).collect();
                    format!("there are {}", ids.join(", "))
                }
            };
            return Err(format!("There is no item {}: {there}.", unknown.join(", ")));
        }
        let twice = named().find(|id| named().filter(|other| other == id).count() > 1);
        match twice {
            Some(id) => Err(format!("Item {id} is named twice. Name it in one of start, done and drop.")),
            None => Ok(()),
        }
    }
}

fn replaced(old: &TodoList, items: &[NewItem]) -> Result<TodoList, String> {
    let mut list = TodoList::default();
    for (item, id) in items.iter().zip(1..) {
        let text = line("text", &item.text)?;
        let phase = match item.phase.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(phase) => Some(line("phase", phase)?),
        };
        let before = || old.items.iter().find(|known| known.text == text).map(|known| known.state);
        let state = item.state.or_else(before).unwrap_or_default();
        list.items.push(TodoItem { id: TodoId(id), text, state, phase });
    }
    let active: Vec<String> = list
        .items
        .iter()
        .filter(|item| item.state == TodoState::Active)
        .map(|item| format!("{:?}", item.text))
        .collect();
    if active.len() > 1 {
        return Err(format!("At most one item can be active, not {}.", active.join(" and ")));
    }
    Ok(list)
}

/// Words on one line, if there are some and not too many.
fn line(field: &str, text: &str) -> Result<String, String> {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    match line.chars().count() {
        0 => Err(format!("`{field}` has an empty item. Say what is to be done.")),
        1..=MOST_CHARS => Ok(line),
        count => Err(format!(
            "`{field}` has an item of {count} characters, and {MOST_CHARS} is the most. Say it in one line."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(text: &str, state: Option<TodoState>) -> NewItem {
        NewItem { text: text.to_owned(), state, phase: None }
    }

    fn board() -> TodoBoard {
        let board = TodoBoard::default();
        let items = Some(vec![new("one", None), new("two", None), new("three", None)]);
        board.apply(&Change { items, start: Some(TodoId(1)), ..Change::default() }).unwrap();
        board
    }

    fn states(list: &TodoList) -> String {
        list.items.iter().map(|item| item.state.mark()).collect()
    }

    #[test]
    fn one_item_is_active_and_the_next_takes_its_place() {
        let board = board();
        assert_eq!(states(&board.current()), ">  ");
        let next = Change { start: Some(TodoId(3)), ..Change::default() };
        assert_eq!(states(&board.apply(&next).unwrap()), "  >");
        let next = Change { done: vec![TodoId(3)], start: Some(TodoId(2)), ..Change::default() };
        assert_eq!(states(&board.apply(&next).unwrap()), " >x");
    }

    #[test]
    fn a_new_list_keeps_the_state_of_items_that_stay() {
        let board = board();
        board.apply(&Change { done: vec![TodoId(2)], ..Change::default() }).unwrap();
        let items = vec![new("two", None), new("four", None), new("one", Some(TodoState::Dropped))];
        let list = board.apply(&Change { items: Some(items), ..Change::default() }).unwrap();
        assert_eq!(list.to_string(), "1 [x] two\n2 [ ] four\n3 [-] one\n");
    }

    #[test]
    fn what_is_wrong_changes_nothing() {
        let board = board();
        let before = board.current();
        let both = vec![new("a", Some(TodoState::Active)), new("b", Some(TodoState::Active))];
        for (change, message) in [
            (
                Change { done: vec![TodoId(1), TodoId(9)], ..Change::default() },
                "There is no item 9: there are 1, 2, 3.",
            ),
            (
                Change { items: Some(both), ..Change::default() },
                "At most one item can be active, not \"a\" and \"b\".",
            ),
            (
                Change { done: vec![TodoId(1)], start: Some(TodoId(1)), ..Change::default() },
                "Item 1 is named twice. Name it in one of start, done and drop.",
            ),
            (
                Change { add: vec![" ".into()], ..Change::default() },
                "`add` has an empty item. Say what is to be done.",
            ),
        ] {
            assert_eq!(board.apply(&change).unwrap_err(), message);
            assert_eq!(board.current(), before);
        }
        let many = Change { add: vec!["x".into(); 98], ..Change::default() };
        assert!(board.apply(&many).unwrap_err().starts_with("The list would have 101 items"));
        assert_eq!(
            Change { drop: vec![TodoId(1)], ..Change::default() }.applied(&TodoList::default()).unwrap_err(),
            "There is no item 1: the list is empty; give `items` first."
        );
    }
}
