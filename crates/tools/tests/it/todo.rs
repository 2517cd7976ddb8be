//! `todo`.

use std::sync::Arc;

use rein_protocol::{Block, CallStatus, TodoId, TodoItem, TodoList, TodoState};
use rein_tools::TodoBoard;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Stage;

#[tokio::test]
async fn a_list_is_given_whole_and_then_kept_by_small_changes() {
    let stage = Stage::new();
    let items = json!({"items": [
        {"text": "Read the code", "phase": "Look", "state": "active"},
        {"text": "Find the\n bug", "phase": "Look"},
        {"text": "Mend it", "phase": "Do"},
    ]});
    assert_eq!(
        stage.done("todo", items).await,
        "# Look\n1 [>] Read the code\n2 [ ] Find the bug\n# Do\n3 [ ] Mend it\n[0 of 3 done, 1 active]"
    );
    assert_eq!(stage.intent("todo", json!({})).await.effects, []);
    let called =
        stage.call("todo", json!({"done": [1], "start": "2", "drop": 3, "add": ["Tell the user"]})).await;
    assert_eq!(
        called.text,
        "# Look\n1 [x] Read the code\n2 [>] Find the bug\n# Do\n3 [-] Mend it\n4 [ ] Tell the user\n\
         [1 of 4 done, 1 active, 1 dropped]"
    );
    assert_eq!(called.display.summary.as_deref(), Some("1 of 4 done, 1 active, 1 dropped"));
    assert_eq!(stage.done("todo", json!({})).await, called.text, "nothing is changed by looking");
}

#[tokio::test]
async fn the_list_survives_in_what_is_recorded_of_the_call() {
    let stage = Stage::new();
    let called =
        stage.call("todo", json!({"items": [{"text": "one"}, {"text": "two", "state": "done"}]})).await;
    let item = |id, text: &str, state| TodoItem { id: TodoId(id), text: text.into(), state, phase: None };
    let items = vec![item(1, "one", TodoState::Pending), item(2, "two", TodoState::Done)];
    assert_eq!(called.display.blocks, [Block::Todo { items }]);
    let mut later = Stage::new();
    let list = TodoList::in_display(&called.display).unwrap();
    later.scene.todos = Arc::new(TodoBoard::restore(list));
    assert_eq!(
        later.done("todo", json!({"start": 1})).await,
        "1 [>] one\n2 [x] two\n[1 of 2 done, 1 active]"
    );
}

#[tokio::test]
async fn words_of_other_programs_are_understood() {
    let stage = Stage::new();
    let shown = stage
        .done(
            "todo",
            json!({"todos": [
                {"content": "one", "status": "completed"},
                {"content": "two", "status": "in_progress"},
                {"content": "three", "status": "cancelled"},
            ]}),
        )
        .await;
    assert_eq!(shown, "1 [x] one\n2 [>] two\n3 [-] three\n[1 of 3 done, 1 active, 1 dropped]");
}

#[tokio::test]
async fn mistakes_are_explained_and_change_nothing() {
    let stage = Stage::new();
    assert_eq!(
        stage.complaint("todo", json!({"done": [3]})).await,
        "There is no item 3: the list is empty; give `items` first."
    );
    stage.done("todo", json!({"items": [{"text": "one"}]})).await;
    let complaint =
        stage.complaint("todo", json!({"items": [{"text": "a", "state": "soon"}, {"phase": "b"}]})).await;
    assert!(
        complaint.contains(
            "- `items[0].state`: must be one of \"pending\", \"active\", \"done\", \"dropped\", not the string \"soon\"\n\
             - `items[1].text`: missing, a string is required\n"
        ),
        "{complaint}"
    );
    assert_eq!(stage.scene.todos.current().to_string(), "1 [ ] one\n");
}

#[tokio::test]
async fn two_calls_of_one_step_do_not_undo_each_other() {
    let stage = Stage::new();
    stage.done("todo", json!({"items": [{"text": "one"}, {"text": "two"}]})).await;
    let first = stage.plan("todo", json!({"done": [1]})).await.unwrap();
    let second = stage.plan("todo", json!({"done": [2]})).await.unwrap();
    let replacing = stage.plan("todo", json!({"items": [{"text": "other"}]})).await.unwrap();
    let late = stage.plan("todo", json!({"drop": [2]})).await.unwrap();
    let cancel = CancellationToken::new();
    stage.run(first, &cancel).await;
    assert_eq!(stage.run(second, &cancel).await.text, "1 [x] one\n2 [x] two\n[2 of 2 done]");
    stage.run(replacing, &cancel).await;
    let called = stage.run(late, &cancel).await;
    assert_eq!(
        (called.status, called.text.as_str()),
        (CallStatus::Failed, "There is no item 2: there are 1.")
    );
}
