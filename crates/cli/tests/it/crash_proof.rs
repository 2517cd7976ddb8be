//! Killed at any moment, it resumes: nothing is lost, nothing is done twice,
//! nothing was done without a record, and the work comes to the same end.
//!
//! The model of these tests does what a good model does: when it is told that
//! the effects of a call are unknown, it looks before it repeats the call.

use std::collections::{HashMap, HashSet};

use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, CallStatus, Entry, EntryBody, StopReason, ToolCall, ToolInput};
use rein_testkit::{ModelServer, Output, Project, RecordedRequest, Said, Script, Turn};
use serde_json::{Value, json};

use crate::{asking, rein};

/// What the model wants to have done, in two stages of two parallel calls each.
const GOALS: [(&str, usize); 4] = [("write", 0), ("one", 0), ("edit", 1), ("two", 1)];

fn call_for(goal: &str) -> (&'static str, Value) {
    match goal {
        "write" => ("write", json!({"path": "a.txt", "content": "draft\n"})),
        "edit" => ("edit", json!({"path": "a.txt", "old": "draft", "new": "final"})),
        line => ("bash", json!({"command": format!("echo {line} >> log")})),
    }
}

fn goal_of(tool: &str, arguments: &str) -> Option<&'static str> {
    match tool {
        "write" => Some("write"),
        "edit" => Some("edit"),
        "bash" if arguments.contains("echo one") => Some("one"),
        "bash" if arguments.contains("echo two") => Some("two"),
        _ => None,
    }
}

/// What the model knows from the conversation.
#[derive(Default)]
struct Knowledge {
    done: HashSet<&'static str>,
    doubted: HashSet<&'static str>,
}

impl Knowledge {
    fn from(request: &RecordedRequest) -> Self {
        let mut calls = HashMap::new();
        let mut knowledge = Self::default();
        for said in &request.said {
            match said {
                Said::Assistant { calls: made, .. } => {
                    calls.extend(made.iter().map(|call| (call.id.clone(), call.clone())));
                }
                Said::Tool { id, text } => {
                    let call = &calls[id];
                    match goal_of(&call.tool, &call.arguments) {
                        Some(goal) => knowledge.attempted(goal, text),
                        None => knowledge.looked(&call.tool, text),
                    }
                }
                Said::System(_) | Said::User(_) => {}
            }
        }
        knowledge
    }

    fn attempted(&mut self, goal: &'static str, result: &str) {
        if result.contains("effects unknown") || (goal == "edit" && result.contains("ead it first")) {
            self.doubted.insert(goal);
        } else if !result.contains("Not run") {
            self.done.insert(goal);
        }
    }

    fn looked(&mut self, tool: &str, result: &str) {
        if result.contains("effects unknown") || result.contains("Not run") {
            return;
        }
        let subjects = if tool == "read" { ["write", "edit"] } else { ["one", "two"] };
        for goal in subjects {
            let seen = match goal {
                "write" => result.contains("draft") || result.contains("final"),
                "edit" => result.contains("final"),
                line => result.contains(line),
            };
            if self.doubted.remove(goal) && seen {
                self.done.insert(goal);
            }
        }
    }

    fn next_turn(&self) -> Turn {
        let mut calls = Vec::new();
        if self.doubted.contains("write") || self.doubted.contains("edit") {
            calls.push(("read", json!({"path": "a.txt"})));
        }
        if self.doubted.contains("one") || self.doubted.contains("two") {
            calls.push(("bash", json!({"command": "cat log 2>/dev/null; true"})));
        }
        if calls.is_empty() {
            let open = || GOALS.iter().filter(|(goal, _)| !self.done.contains(goal));
            let stage = open().map(|(_, stage)| *stage).min();
            calls = open().filter(|(_, of)| Some(*of) == stage).map(|(goal, _)| call_for(goal)).collect();
        }
        let mut calls = calls.into_iter();
        match calls.next() {
            None => Turn::text("All done."),
            Some((tool, arguments)) => calls
                .fold(Turn::call(tool, arguments), |turn, (tool, arguments)| turn.and_call(tool, arguments)),
        }
    }
}

fn model() -> ModelServer {
    ModelServer::start_blocking(Script::reply_with(|request| Knowledge::from(request).next_turn()))
}

fn start(project: &Project, server: &ModelServer, die_after: Option<usize>) -> Output {
    let run = asking(project, server).args(["-p", "do the four things", "--mode", "free", "--quiet"]);
    with_death(run, die_after).run()
}

fn resume(project: &Project, server: &ModelServer, session: &str, die_after: Option<usize>) -> Output {
    let run = asking(project, server).args(["--resume", session, "--mode", "free", "--quiet"]);
    with_death(run, die_after).run()
}

fn with_death(run: rein_testkit::Rein, die_after: Option<usize>) -> rein_testkit::Rein {
    match die_after {
        Some(entries) => run.env("REIN_TEST_ABORT_AFTER", entries.to_string()),
        None => run,
    }
}

/// The only session of a project: its id, and whether a turn of it broke off.
fn session(project: &Project) -> (String, bool) {
    let listed = rein(project).args(["sessions", "list", "--json"]).run();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let sessions = listed.as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    (sessions[0]["id"].as_str().unwrap().to_owned(), sessions[0]["state"]["type"] == "broken")
}

fn entries(project: &Project, session: &str) -> Vec<Entry> {
    let exported = rein(project).args(["sessions", "export", session]).run();
    exported.assert_success();
    exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn calls(entries: &[Entry]) -> Vec<&ToolCall> {
    let calls = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Part { body: AssistantPart::Call(call), .. } => Some(call),
        _ => None,
    });
    calls.collect()
}

fn goal(call: &ToolCall) -> Option<&'static str> {
    match &call.input {
        ToolInput::Json { value } => goal_of(&call.tool, &value.to_string()),
        ToolInput::Malformed { .. } => None,
    }
}

fn begun(entries: &[Entry]) -> HashSet<&CallId> {
    let begun = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::CallStarted { call, .. } => Some(call),
        _ => None,
    });
    begun.collect()
}

/// Whatever has happened to the project, the journal announced it.
fn assert_no_effect_without_record(project: &Project, entries: &[Entry]) {
    let begun = begun(entries);
    let announced = |wanted: &str| {
        calls(entries).iter().any(|call| goal(call) == Some(wanted) && begun.contains(&call.id))
    };
    let log = if project.exists("log") { project.read("log") } else { String::new() };
    for line in log.lines() {
        assert!(announced(line), "`{line}` was logged without a record");
    }
    if project.exists("a.txt") {
        assert!(announced("write"));
        assert!(!project.read("a.txt").contains("final") || announced("edit"));
    }
}

/// The journal is a whole: one chain, every call with exactly one result.
fn assert_whole(entries: &[Entry]) {
    let mut ids = HashSet::new();
    for (index, entry) in entries.iter().enumerate() {
        assert!(ids.insert(&entry.id), "an entry is doubled");
        assert_eq!(
            entry.parent.as_ref(),
            index.checked_sub(1).map(|before| &entries[before].id),
            "the chain is broken"
        );
        assert!(index == 0 || entries[index - 1].seq < entry.seq);
    }
    let mut results: HashMap<&CallId, Vec<CallStatus>> = HashMap::new();
    for entry in entries {
        if let EntryBody::CallEnded { call, result } = &entry.body {
            results.entry(call).or_default().push(result.status);
        }
    }
    let begun = begun(entries);
    for call in calls(entries) {
        let statuses = results.remove(&call.id).unwrap_or_default();
        assert_eq!(statuses.len(), 1, "{} has {statuses:?}", call.tool);
        let ran = matches!(statuses[0], CallStatus::Completed | CallStatus::Unknown);
        assert!(!ran || begun.contains(&call.id), "{} ran without having begun", call.tool);
    }
    assert!(results.is_empty(), "results without calls");
    let ends = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::TurnEnded { stop, .. } => Some(*stop),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [StopReason::EndTurn]);
}

fn assert_same_end(project: &Project, last: &Output) {
    assert_eq!((last.code, last.stdout.as_str()), (Some(0), "All done.\n"), "{last}");
    assert_eq!(project.read("a.txt"), "final\n");
    assert_eq!(project.read("log"), "one\ntwo\n");
}

#[test]
fn killed_after_each_durable_entry_in_turn() {
    for die_after in 1.. {
        let (project, server) = (Project::new(), model());
        let killed = start(&project, &server, Some(die_after));
        if killed.code == Some(0) {
            assert!(die_after > 20, "the run has only {die_after} entries");
            return;
        }
        assert_eq!(killed.signal, Some(9), "{killed}");
        let (session, broken) = session(&project);
        let before = entries(&project, &session);
        assert!(before.len() >= die_after, "an entry that was durable is lost");
        assert_no_effect_without_record(&project, &before);
        if broken {
            let resumed = resume(&project, &server, &session, None);
            assert_same_end(&project, &resumed);
        }
        let after = entries(&project, &session);
        assert_eq!(after[..before.len()], before[..], "what was durable is changed");
        assert_whole(&after);
        assert_eq!(server.failures(), Vec::<String>::new());
    }
}

#[test]
fn killed_again_and_again_until_it_is_done() {
    for die_after in [8, 9, 11] {
        let (project, server) = (Project::new(), model());
        let mut last = start(&project, &server, Some(die_after));
        let (session, _) = session(&project);
        let mut before = entries(&project, &session);
        for deaths in 1.. {
            assert!(deaths < 60, "no progress");
            if last.code == Some(0) {
                break;
            }
            last = resume(&project, &server, &session, Some(die_after));
            let now = entries(&project, &session);
            assert_eq!(now[..before.len()], before[..]);
            assert_no_effect_without_record(&project, &now);
            before = now;
        }
        assert_same_end(&project, &last);
        assert_whole(&before);
    }
}

#[test]
fn killed_after_an_effect_and_before_its_result_is_recorded() {
    // The command does its work and then kills rein, whose child its helper is.
    let command = "echo one >> log; [ -e killed ] || \
                   { touch killed; kill -9 $(ps -o ppid= -p $PPID); sleep 1000; }";
    let script = Script::reply_with(move |request| {
        let results = request.tool_results();
        match results.last() {
            None => Turn::call("bash", json!({ "command": command })),
            Some((_, text)) if text.contains("effects unknown") => {
                Turn::call("bash", json!({"command": "cat log"}))
            }
            Some((_, text)) if text.contains("one") => Turn::text("It had worked."),
            Some((_, text)) => Turn::text(format!("unexpected: {text}")),
        }
    });
    let (project, server) = (Project::new(), ModelServer::start_blocking(script));
    let killed = asking(&project, &server)
        .args(["-p", "log it", "--mode", "free", "--config", "sandbox.confine=off"])
        .run();
    assert_eq!(killed.signal, Some(9), "{killed}");
    let (session, broken) = session(&project);
    assert!(broken);
    assert_no_effect_without_record(&project, &entries(&project, &session));
    let resumed = resume(&project, &server, &session, None);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "It had worked.\n"), "{resumed}");
    assert_eq!(project.read("log"), "one\n", "the effect happened once");
    let after = entries(&project, &session);
    assert_whole(&after);
    let unknown = after.iter().filter(|entry| {
        matches!(&entry.body, EntryBody::CallEnded { result, .. } if result.status == CallStatus::Unknown)
    });
    assert_eq!(unknown.count(), 1);
}
