//! A session of more than fifty steps in which everything changes that can:
//! what is sent changes only where that is documented.

use std::sync::Arc;

use rein_llm::ModelInfo;
use rein_protocol::{CacheReport, Delivery, EntryBody, Mode, Prompt, SessionChange, SessionId, Timestamp};
use rein_store::NewSession;
use rein_testkit::{Project, RecordedRequest, Script, Turn};
use rein_tools::Registry;
use serde_json::{Value, json};

use crate::stage::{Setup, Stage};

const DAY: i64 = 24 * 60 * 60 * 1_000;

fn work(request: &RecordedRequest) -> Turn {
    let said = request.assistant_messages();
    let turn = match said % 6 {
        5 => Turn::text(format!("done with {said}")),
        1 => Turn::call("write", json!({"path": format!("f{said}.txt"), "content": format!("{said}\n")})),
        3 => Turn::text("look").and_call("read", json!({"path": "a.txt", "offset": said})),
        _ => Turn::call("read", json!({"path": "a.txt", "offset": said + 1})),
    };
    turn.usage(request.body_bytes.len() as u64 / 4, 20, 0)
}

fn some_tools(names: &[&str]) -> Registry {
    let all = Registry::builtin();
    Registry::of(names.iter().map(|name| Arc::clone(all.get(name).unwrap())))
}

/// The parts of a request, in the order in which providers keep them.
fn parts(request: &RecordedRequest) -> (Value, String, Vec<Value>) {
    let messages = request.body["messages"].as_array().unwrap();
    let said = messages.iter().filter(|message| message["role"] != "system");
    (request.body["tools"].clone(), request.system_text(), said.cloned().collect())
}

/// Which parts of a request are not as they were in the one before.
fn changed(before: &RecordedRequest, now: &RecordedRequest) -> Vec<&'static str> {
    let ((tools, system, said), (next_tools, next_system, next_said)) = (parts(before), parts(now));
    let mut changed = Vec::new();
    if before.model() != now.model() {
        changed.push("model");
    }
    if tools != next_tools {
        changed.push("tools");
    }
    if system != next_system {
        changed.push("system");
    }
    if !(next_said.len() > said.len() && next_said[..said.len()] == said[..]) {
        changed.push("conversation");
    }
    changed
}

/// A session that began three days ago.
async fn old_session(stage: &mut Stage) {
    stage.service.close(&stage.session).await.unwrap();
    let at = Timestamp(Timestamp::now().0 - 3 * DAY);
    let new = NewSession {
        id: SessionId::new(),
        workspace: stage.project.path().to_owned(),
        model: Some("test/model".parse().unwrap()),
        mode: Mode::Write,
        at,
    };
    stage.session = new.id.clone();
    stage.store.create_session(new).await.unwrap();
}

/// A round of six steps, with words in between.
async fn round(stage: &Stage, index: usize) {
    let mut run = stage.start(&format!("round {index}")).await;
    let steer = Prompt { delivery: Delivery::Steer, ..Prompt::text("and be quick") };
    stage.service.prompt(&stage.session, steer).await.unwrap();
    run.finish().await;
}

async fn reports(stage: &Stage) -> Vec<CacheReport> {
    let entries = stage.entries().await;
    let reports = entries.into_iter().filter_map(|entry| match entry.body {
        EntryBody::StepEnded { cache, .. } => cache,
        _ => None,
    });
    reports.collect()
}

#[tokio::test]
async fn what_is_sent_changes_only_where_it_is_documented() {
    let project = Project::new().file("a.txt", "line\n".repeat(300)).file("AGENTS.md", "Be kind.");
    let known = |id: &str| ModelInfo { id: id.to_owned(), context: Some(1_000_000), ..ModelInfo::default() };
    // The second is of a family with a head and a form of edits of its own.
    let models = vec![known("model"), known("gpt-5")];
    let tools = some_tools(&["read", "write", "edit"]);
    let setup = Setup { models, tools, ..Setup::mode(Mode::Write) };
    let mut stage = Stage::with(project, Script::reply_with(work), setup).await;
    old_session(&mut stage).await;
    stage = stage.reopened().await;
    let (mut points, mut expected) = (Vec::new(), Vec::new());
    for index in 0..10 {
        let requests = stage.server.requests().len();
        match index {
            // Modes are no matter of the model's.
            1 | 2 => {
                let mode = Some(if index == 1 { Mode::Free } else { Mode::Write });
                let change = SessionChange { mode, ..SessionChange::default() };
                stage.service.change(&stage.session, change).await.unwrap();
            }
            // Opened again with nothing changed.
            3 => stage = stage.reopened().await,
            4 => {
                let model = Some("test/gpt-5".parse().unwrap());
                let change = SessionChange { model, ..SessionChange::default() };
                stage.service.change(&stage.session, change).await.unwrap();
                points.push((requests, vec!["model", "tools", "system"]));
                expected.push("model");
            }
            // A server of tools has been connected.
            6 => {
                stage = stage.equipped(some_tools(&["read", "write", "edit", "grep"])).reopened().await;
                points.push((requests, vec!["tools"]));
            }
            // Changed while the session is open: it does not notice.
            7 => std::fs::write(stage.project.join("AGENTS.md"), "Be strict.").unwrap(),
            8 => {
                stage = stage.reopened().await;
                points.push((requests, vec!["system"]));
            }
            _ => {}
        }
        round(&stage, index).await;
    }
    let requests = stage.server.requests();
    assert!(requests.len() >= 50, "{}", requests.len());
    let mut found = Vec::new();
    for (place, pair) in requests.windows(2).enumerate() {
        let changed = changed(&pair[0], &pair[1]);
        if !changed.is_empty() {
            found.push((place + 1, changed));
        }
    }
    assert_eq!(found, points);
    // However many days a session lasts, it says when it began.
    let began = jiff::Timestamp::from_millisecond(Timestamp::now().0 - 3 * DAY).unwrap();
    let day = began.to_zoned(jiff::tz::TimeZone::system()).strftime("date: %Y-%m-%d").to_string();
    assert!(requests.iter().all(|request| request.system_text().contains(&day)), "{day}");
    // What the journal says of the cache is the same story. A process remembers its own requests only.
    let reports = reports(&stage).await;
    assert_eq!(reports.len(), requests.len());
    let named: Vec<&str> = reports.iter().filter_map(|report| report.first_changed.as_deref()).collect();
    assert_eq!(named, expected);
    assert_eq!(reports.iter().filter(|report| report.before.is_none()).count(), 4, "one a process");
}

#[tokio::test]
async fn a_step_records_how_much_the_cache_served() {
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).usage(1_000, 10, 0))
        .turn(Turn::text("ok").usage(1_200, 10, 900))
        .turn(Turn::text("ok").no_usage());
    let stage = Stage::with(Project::new().file("a.txt", "x"), script, Setup::default()).await;
    stage.run("one").await;
    stage.run("two").await;
    let told = |hit, before| CacheReport { hit, before, first_changed: None };
    assert_eq!(reports(&stage).await, [told(0, None), told(75, Some(0))]);
}
