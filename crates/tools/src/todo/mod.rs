//! `todo`: the list of what the agent means to do.
//!
//! What a conversation needs to go on later is recorded with the call: its
//! display has the whole list in a [`Block::Todo`], and [`TodoBoard::restore`]
//! takes it back.

mod board;

use async_trait::async_trait;
use rein_protocol::{Block, Display, Intent, TodoId, TodoList, TodoState, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::schema;
pub use board::TodoBoard;
use board::{Change, NewItem};

/// Keeps the list.
pub(crate) struct Todo;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The whole new list.
    items: Option<Vec<Item>>,
    /// More items, at the end.
    add: Option<Vec<String>>,
    /// Id to work on now.
    start: Option<u32>,
    /// Ids that are done.
    done: Option<Vec<u32>>,
    /// Ids that are given up.
    drop: Option<Vec<u32>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    text: String,
    state: Option<State>,
    phase: Option<String>,
}

/// Like [`TodoState`], with less to say to a model.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Pending,
    Active,
    Done,
    Dropped,
}

impl From<State> for TodoState {
    fn from(state: State) -> Self {
        match state {
            State::Pending => Self::Pending,
            State::Active => Self::Active,
            State::Done => Self::Done,
            State::Dropped => Self::Dropped,
        }
    }
}

#[async_trait]
impl Tool for Todo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "todo".to_owned(),
            description: include_str!("todo.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("todo", arguments)?;
        let change = change(arguments);
        change.applied(&scene.todos.current()).map_err(Complaint)?;
        let intent = Intent { effects: Vec::new(), display: Display::titled("todo") };
        Ok(Box::new(Changing { intent, change }))
    }
}

fn change(arguments: Arguments) -> Change {
    let ids = |ids: Option<Vec<u32>>| ids.unwrap_or_default().into_iter().map(TodoId).collect();
    let item =
        |item: Item| NewItem { text: item.text, state: item.state.map(TodoState::from), phase: item.phase };
    Change {
        items: arguments.items.map(|items| items.into_iter().map(item).collect()),
        add: arguments.add.unwrap_or_default(),
        done: ids(arguments.done),
        drop: ids(arguments.drop),
        start: arguments.start.map(TodoId),
    }
}

struct Changing {
    intent: Intent,
    change: Change,
}

#[async_trait]
impl Plan for Changing {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        _cancel: &CancellationToken,
    ) -> Outcome {
        let display = self.intent.display;
        // Another call of the same step may have changed the list since this one was planned.
        let list =
            if self.change.is_empty() { Ok(scene.todos.current()) } else { scene.todos.apply(&self.change) };
        let list = match list {
            Ok(list) => list,
            Err(message) => return Outcome::failed(display, message),
        };
        output.write(list.to_string().as_bytes());
        let counts = counts(&list);
        let display = display.with_summary(counts.clone()).with_block(Block::Todo { items: list.items });
        Outcome::completed(display).with_trailer(Some(format!("[{counts}]")))
    }
}

/// `2 of 5 done, 1 active, 1 dropped`.
fn counts(list: &TodoList) -> String {
    if list.items.is_empty() {
        return "the list is empty".to_owned();
    }
    let mut counts = format!("{} of {} done", list.count(TodoState::Done), list.items.len());
    for (state, word) in [(TodoState::Active, "active"), (TodoState::Dropped, "dropped")] {
        match list.count(state) {
            0 => {}
            count => counts.push_str(&format!(", {count} {word}")),
        }
    }
    counts
}
