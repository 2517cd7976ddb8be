//! Plan mode: what is withheld, how it is approved, and what survives.

use rein_config::{ModeLimit, Origin};
use rein_protocol::message::AssistantPart;
use rein_protocol::{
    Answer, Ask, Author, Block, CallId, CallStatus, Content, Delivery, EntryBody, Finish, Mode, PartId, Said,
    SessionChange, SessionState, StopReason, TurnId,
};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, kinds, statuses};

const APPROVE: &str = "Approve (mode write)";

fn write() -> Turn {
    Turn::call("write", json!({"path": "a.txt", "content": "x\n"}))
}

fn planning() -> Setup {
    Setup::interactive().in_mode(Mode::Plan)
}

fn chosen(label: &str) -> Answer {
    Answer::Said { said: Said { chosen: vec![label.to_owned()], text: None } }
}

fn labels(ask: &Ask) -> Vec<&str> {
    ask.question.iter().flat_map(|question| &question.choices).map(|choice| choice.label.as_str()).collect()
}

fn shown(ask: &Ask) -> String {
    let text = |block: &Block| match block {
        Block::Text { text } => text.clone(),
        _ => String::new(),
    };
    ask.display.blocks.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn an_approved_plan_is_carried_out_in_the_same_turn_and_context() {
    let script = Script::new()
        .turn(write().and_call("read", json!({"path": "b.txt"})))
        .turn(Turn::text("The plan: write a.txt."))
        .turn(write())
        .turn(Turn::text("done"));
    let stage = Stage::with(Project::new().file("b.txt", "b\n"), script, planning()).await;
    let mut run = stage.start("plan it").await;
    let ask = run.ask().await;
    assert_eq!(statuses(&run.transcript), [CallStatus::Withheld, CallStatus::Completed]);
    assert!(!stage.project.exists("a.txt"));
    assert_eq!(labels(&ask), ["Approve (mode tight)", APPROVE, "Keep planning"]);
    assert_eq!(shown(&ask), "The plan: write a.txt.\nWithheld until then:\n- write a.txt");

    stage.reply(&ask, chosen(APPROVE)).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!((transcript.answer(), transcript.mode), ("done".to_owned(), Some(Mode::Write)));
    assert!(stage.project.exists("a.txt"));
    let requests = stage.server.requests();
    assert!(requests[0].contains("Plan mode: look, and change nothing"));
    assert!(requests[1].tool_results()[0].1.contains("Withheld: this is plan mode."));
    let last = requests[2].last_user_text().to_owned();
    assert!(last.contains("The user approved the plan: mode `write` holds"), "{last}");
    assert!(
        last.contains("<plan>\nThe plan: write a.txt.\n</plan>") && last.contains("- write a.txt"),
        "{last}"
    );
    assert_eq!(requests[0].system_text(), requests[3].system_text(), "the head does not know of the mode");
}

#[tokio::test]
async fn a_plan_that_is_kept_ends_the_turn_and_words_change_it() {
    let script = Script::new()
        .turn(Turn::text("first plan"))
        .turn(Turn::text("second plan"))
        .turn(Turn::text("third plan"));
    let stage = Stage::with(Project::new(), script, planning()).await;
    let mut run = stage.start("plan it").await;
    let ask = run.ask().await;
    let said = Said { chosen: Vec::new(), text: Some("use b.txt".to_owned()) };
    stage.reply(&ask, Answer::Said { said }).await.unwrap();
    run.until(|transcript| transcript.asks.first().is_some_and(|other| other.id != ask.id)).await;
    assert!(stage.server.requests()[1].contains("use b.txt"));
    let ask = run.ask().await;
    assert!(shown(&ask).contains("second plan"), "{}", shown(&ask));
    stage.reply(&ask, Answer::Reject { message: Some("no, c.txt".to_owned()) }).await.unwrap();
    run.until(|transcript| transcript.asks.first().is_some_and(|other| other.id != ask.id)).await;
    let ask = run.ask().await;
    assert!(stage.server.requests()[2].contains("no, c.txt"));
    stage.reply(&ask, chosen("Keep planning")).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.stop.unwrap().0, StopReason::EndTurn);
    assert_eq!(stage.service.get(&stage.session).await.unwrap().info.mode, Mode::Plan);
}

#[tokio::test]
async fn an_interrupt_leaves_plan_mode_and_the_list_as_they_are() {
    let script = Script::new().turn(write()).turn(Turn::text("plan")).turn(Turn::text("plan again"));
    let stage = Stage::with(Project::new(), script, planning()).await;
    let mut run = stage.start("plan it").await;
    run.ask().await;
    stage.service.interrupt(&stage.session).await.unwrap();
    assert_eq!(run.finish().await.stop.unwrap().0, StopReason::Interrupted);
    let mut run = stage.start("and now?").await;
    run.until(|transcript| transcript.asks.iter().any(|ask| shown(ask).contains("plan again"))).await;
    assert!(shown(&run.transcript.asks[0]).contains("- write a.txt"));
}

#[tokio::test]
async fn the_administrators_limit_holds_for_approvals_too() {
    let mode_limit = Some(ModeLimit { mode: Mode::Tight, origin: Origin::default_value() });
    let script = Script::new().turn(Turn::text("plan"));
    let stage = Stage::with(Project::new(), script, Setup { mode_limit, ..planning() }).await;
    let mut run = stage.start("plan it").await;
    assert_eq!(labels(&run.ask().await), ["Approve (mode tight)", "Keep planning"]);
}

#[tokio::test]
async fn a_process_that_died_at_the_question_puts_it_again() {
    let stage =
        Stage::with(Project::new(), Script::new().turn(write()).turn(Turn::text("done")), planning()).await;
    let turn = TurnId::new();
    let user = EntryBody::User {
        turn: turn.clone(),
        content: vec![Content::text("plan it")],
        delivery: Delivery::Prompt,
        queued: None,
        author: Author::Person,
    };
    let part = EntryBody::Part {
        turn: turn.clone(),
        part: PartId::new(),
        body: AssistantPart::Text { text: "the plan".to_owned() },
    };
    let model = "test/model".parse().unwrap();
    let ended = EntryBody::StepEnded {
        turn: turn.clone(),
        step: 1,
        finish: Finish::Stop,
        usage: None,
        cost: rein_protocol::Cost::ZERO,
        cache: None,
    };
    let mode = EntryBody::ModeChanged { mode: Mode::Plan };
    let step = EntryBody::StepStarted { turn: turn.clone(), step: 1, model };
    let stage = stage.with_journal([mode, user, step, part, ended]).await;
    let state = stage.service.get(&stage.session).await.unwrap().info.state;
    assert_eq!(state, SessionState::Broken { turn: turn.clone() });
    let mut run = stage.watch(&turn).await;
    stage.service.resume(&stage.session).await.unwrap();
    let ask = run.ask().await;
    assert_eq!(shown(&ask), "the plan");
    stage.reply(&ask, chosen(APPROVE)).await.unwrap();
    assert_eq!(run.finish().await.answer(), "done");
    assert!(stage.project.exists("a.txt"));
}

#[tokio::test]
async fn a_plan_that_was_being_asked_about_when_the_process_died_has_its_end() {
    let stage = Stage::with(Project::new(), Script::new(), planning()).await;
    let turn = TurnId::new();
    let call = CallId::new();
    let bodies = [
        EntryBody::User {
            turn: turn.clone(),
            content: vec![Content::text("plan it")],
            delivery: Delivery::Prompt,
            queued: None,
            author: Author::Person,
        },
        EntryBody::CallStarted { call: call.clone(), intent: rein_protocol::Intent::default() },
    ];
    let stage = stage.with_journal(bodies).await;
    let entries = stage.entries().await;
    let ended = entries.iter().find_map(|entry| match &entry.body {
        EntryBody::CallEnded { call: ended, result } if *ended == call => Some(result.status),
        _ => None,
    });
    assert_eq!(ended, Some(CallStatus::Unknown), "{:?}", kinds(&entries));
}

#[tokio::test]
async fn nobody_there_means_a_list_and_a_good_end_and_the_next_turn_knows_that_planning_is_over() {
    let script = Script::new().turn(write()).turn(Turn::text("plan")).turn(write()).turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Plan)).await;
    let transcript = stage.run("plan it").await;
    let (stop, message) = transcript.stop.unwrap();
    assert_eq!(stop, StopReason::EndTurn);
    assert_eq!(
        message.unwrap(),
        "1 call was withheld, and nothing was changed:\n- write a.txt\nhint: to carry the plan out: rein -p \
         --continue --mode write 'go'"
    );
    let change = SessionChange { mode: Some(Mode::Write), ..SessionChange::default() };
    stage.service.change(&stage.session, change).await.unwrap();
    stage.run("go").await;
    assert!(stage.project.exists("a.txt"));
    let requests = stage.server.requests();
    assert!(requests[2].contains("Plan mode is over: mode `write` holds"));
    assert!(!requests[3].contains("approved the plan"));
}

#[tokio::test]
async fn a_plan_and_what_was_withheld_survive_a_compaction() {
    let summary = "## Goal\nx\n## Instructions\nnone\n## Discoveries\nnone\n## Accomplished\nnone\n## Relevant \
                   files\nnone\n## Next\ngo on";
    let read = |path: &str| Turn::call("read", json!({"path": path}));
    let script = Script::new()
        .turn(write())
        .turn(read("b"))
        .turn(read("c"))
        .turn(read("d"))
        .turn(read("e"))
        .turn(Turn::text("the first plan"))
        .turn(Turn::text(summary))
        .turn(Turn::text("the same plan"))
        .turn(Turn::text("done"));
    let project = ["b", "c", "d", "e"].into_iter().fold(Project::new(), |project, name| {
        project.file(name, format!("{name} of a long file\n").repeat(1_500))
    });
    let stage = Stage::with(project, script, planning()).await;
    let mut run = stage.start("plan it").await;
    let ask = run.ask().await;
    stage.reply(&ask, chosen("Keep planning")).await.unwrap();
    run.finish().await;
    stage.service.compact(&stage.session, None).await.unwrap();
    let mut run = stage.start("and now?").await;
    run.until(|transcript| transcript.asks.iter().any(|ask| shown(ask).contains("the same plan"))).await;
    let ask = run.transcript.asks[0].clone();
    assert!(kinds(&stage.entries().await).contains(&"compacted"));
    assert!(shown(&ask).contains("- write a.txt"), "{}", shown(&ask));
    let requests = stage.server.requests();
    assert!(requests[7].contains("Plan mode: look, and change nothing"));
    stage.reply(&ask, chosen(APPROVE)).await.unwrap();
    run.finish().await;
    let last = stage.server.requests()[8].last_user_text().to_owned();
    assert!(last.contains("<plan>\nthe same plan\n</plan>") && last.contains("- write a.txt"), "{last}");
}
