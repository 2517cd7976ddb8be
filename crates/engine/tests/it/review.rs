//! What may not happen in the moments in between: two things at once, a store
//! that fails, a tool that misbehaves, a process that dies at any entry.

mod circles;
mod crossing;
mod dying;
mod faulty;
mod storing;
mod telling;

use std::collections::HashSet;

use rein_protocol::message::AssistantPart;
use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{CallId, CallStatus, Delivery, Entry, EntryBody, OpenSession, Prompt, SessionId};
use rein_testkit::{RecordedRequest, Said};

fn again(session: &SessionId) -> OpenSession {
    OpenSession { session: Some(session.clone()), ..OpenSession::default() }
}

fn later(text: &str, delivery: Delivery) -> Prompt {
    Prompt { delivery, ..Prompt::text(text) }
}

/// The statuses of each call's results, for every call that was proposed.
fn results(entries: &[Entry]) -> Vec<Vec<CallStatus>> {
    let mut calls: Vec<(CallId, Vec<CallStatus>)> = Vec::new();
    for entry in entries {
        match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                calls.push((call.id.clone(), Vec::new()))
            }
            EntryBody::CallEnded { call, result } => {
                let known = calls.iter_mut().find(|(id, _)| id == call).expect("a result belongs to a call");
                known.1.push(result.status);
            }
            _ => {}
        }
    }
    calls.into_iter().map(|(_, statuses)| statuses).collect()
}

/// Every call in a request is followed by exactly one result, before anything else is said.
pub fn is_valid_conversation(request: &RecordedRequest) -> Result<(), String> {
    let mut open: HashSet<&str> = HashSet::new();
    for said in &request.said {
        match said {
            Said::Tool { id, .. } => {
                if !open.remove(id.as_str()) {
                    return Err(format!("a result without a call: {id}"));
                }
            }
            other => {
                if !open.is_empty() {
                    return Err(format!("calls without results before {other:?}"));
                }
                if let Said::Assistant { calls, .. } = other {
                    open.extend(calls.iter().map(|call| call.id.as_str()));
                }
            }
        }
    }
    match request.said.last() {
        Some(Said::User(_) | Said::Tool { .. }) if open.is_empty() => Ok(()),
        last => Err(format!("the conversation ends with {last:?}")),
    }
}

fn prints(text: &'static str) -> impl Fn(&Transcript) -> bool {
    move |transcript| {
        transcript.items.iter().any(|item| matches!(item, Item::Call(call) if call.output.contains(text)))
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
