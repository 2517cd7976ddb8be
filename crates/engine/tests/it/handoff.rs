//! A session that begins with the record of another.

use rein_protocol::transcript::Item;
use rein_protocol::{
    CompactionReason, Entry, EntryBody, Mode, OpenSession, Prompt, Seq, ServiceError, SessionId,
    SummarySource, TodoList,
};
use rein_testkit::{Project, RecordedRequest, Script, Turn};
use rein_tools::Registry;
use serde_json::json;

use crate::compaction::{compactions, is_for_a_summary, summary};
use crate::stage::{Setup, Stage, kinds};

/// Writes a list and a file, then says so.
fn work(request: &RecordedRequest) -> Turn {
    if is_for_a_summary(request) {
        return summary(request);
    }
    match request.tool_results().len() {
        0 if request.contains("Your list of things to do") => Turn::text("they are known"),
        0 => Turn::call("todo", json!({"add": ["paint the door", "oil it"]}))
            .and_call("write", json!({"path": "door.txt", "content": "red\n"})),
        _ => Turn::text("painted"),
    }
}

fn setup() -> Setup {
    let all = Registry::builtin();
    let tools = ["read", "write", "todo"].map(|name| std::sync::Arc::clone(all.get(name).unwrap()));
    Setup { tools: Registry::of(tools), window: Some(100_000), ..Setup::mode(Mode::Write) }
}

async fn entries(stage: &Stage, session: &SessionId) -> Vec<Entry> {
    stage.service.get(session).await.unwrap().entries
}

async fn open(stage: &Stage, session: &SessionId) {
    let request = OpenSession { session: Some(session.clone()), ..OpenSession::default() };
    stage.service.open(request).await.unwrap();
}

/// Prompts in a session and waits for the end of the turn.
async fn run(stage: &Stage, session: &SessionId, prompt: &str) {
    use futures_util::StreamExt;
    let mut events = stage.service.subscribe(session, Seq::START).await.unwrap();
    let turn = stage.service.prompt(session, Prompt::text(prompt)).await.unwrap();
    let mut transcript = rein_protocol::transcript::Transcript::default();
    loop {
        let event = events.next().await.unwrap();
        transcript.apply(&event);
        let ended = matches!(&event.body, rein_protocol::EventBody::Entry { entry }
            if matches!(&entry.body, EntryBody::TurnEnded { turn: ended, .. } if *ended == turn));
        if ended {
            break;
        }
    }
}

#[tokio::test]
async fn the_new_one_knows_the_words_the_list_the_files_and_the_summary() {
    let stage = Stage::with(Project::new(), Script::reply_with(work), setup()).await;
    stage.run("The door must be red.").await;
    stage.run("Never use blue.").await;
    let before = stage.entries().await;
    let made = stage.service.handoff(&stage.session, Some("the colour".to_owned())).await.unwrap();
    assert_ne!(made.id, stage.session);
    assert_eq!((made.title.as_str(), made.mode), ("The door must be red.", Mode::Write));
    assert_eq!(stage.entries().await, before, "the old one stays as it is");

    let begun = entries(&stage, &made.id).await;
    assert_eq!(kinds(&begun), ["compacted", "titled"]);
    let record = compactions(&begun).remove(0);
    assert_eq!((record.reason, record.first_kept), (CompactionReason::Manual, None));
    assert_eq!(record.source, SummarySource::Model { model: "test/model".parse().unwrap() });
    let words: Vec<&str> = record.carried.words.iter().map(|words| words.text.as_str()).collect();
    assert_eq!(words, ["The door must be red.", "Never use blue."]);
    assert_eq!(record.carried.files.len(), 1);
    let asked = stage.server.requests().into_iter().find(is_for_a_summary).unwrap();
    assert!(asked.contains("the colour"));

    open(&stage, &made.id).await;
    run(&stage, &made.id, "go on").await;
    let request = stage.server.requests().pop().unwrap();
    for part in
        ["The door must be red.", "Never use blue.", "paint the door", "door.txt (Write)", "twelve files"]
    {
        assert!(request.contains(part), "{part}");
    }
    assert_eq!(request.last_user_text(), "go on");
}

#[tokio::test]
async fn what_was_handed_over_does_not_fade_with_the_next_compaction() {
    let stage = Stage::with(Project::new(), Script::reply_with(work), setup()).await;
    stage.run("The door must be red.").await;
    let made = stage.service.handoff(&stage.session, None).await.unwrap();
    // And once more, from the new one, after something was said there.
    open(&stage, &made.id).await;
    run(&stage, &made.id, "Never use blue.").await;
    let next = stage.service.handoff(&made.id, None).await.unwrap();
    let record = compactions(&entries(&stage, &next.id).await).remove(0);
    let words: Vec<&str> = record.carried.words.iter().map(|words| words.text.as_str()).collect();
    assert_eq!(words, ["The door must be red.", "Never use blue."]);
    let list: TodoList = record.carried.todo.unwrap();
    assert_eq!(list.items.len(), 2);
    assert!(record.carried.files.iter().any(|file| file.path.ends_with("door.txt")));
}

#[tokio::test]
async fn it_works_when_no_model_answers_and_needs_something_to_hand_over() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => Turn::error(500, "down"),
        false => work(request),
    });
    let stage = Stage::with(Project::new(), script, setup()).await;
    let empty = stage.service.handoff(&stage.session, None).await;
    assert!(matches!(empty, Err(ServiceError::Invalid { .. })), "{empty:?}");
    stage.run("The door must be red.").await;
    stage.service.close(&stage.session).await.unwrap();
    let made = stage.service.handoff(&stage.session, None).await.unwrap();
    let record = compactions(&entries(&stage, &made.id).await).remove(0);
    assert!(matches!(record.source, SummarySource::Digest { .. }), "{:?}", record.source);
    assert!(record.summary.contains("painted"), "{}", record.summary);
    open(&stage, &made.id).await;
    let transcript = rein_protocol::transcript::Transcript::of(&entries(&stage, &made.id).await);
    assert!(matches!(transcript.items[..], [Item::Compacted(_)]));
}
