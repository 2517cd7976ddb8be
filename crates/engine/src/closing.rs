//! What lies between a model that is done and the end of its turn: a plan that
//! a person may approve, and a command that proves the work.
//!
//! Both put or run something that has a call's entries but was proposed by no
//! model. What they found is durable before the turn goes on or ends; a process
//! that dies in between finds the turn open and closes it again.

use std::collections::HashSet;
use std::sync::Arc;

use rein_permission::Presence;
use rein_protocol::message::AssistantPart;
use rein_protocol::transcript::Transcript;
use rein_protocol::{
    Author, CallId, CallResult, CallStatus, Content, Delivery, Entry, EntryBody, Mode, StopReason, TurnId,
};

use crate::options::EngineOptions;
use crate::plan_mode::{self, Wanted};
use crate::session::link::{Gate, GateRequest, Stopped, Survey};
use crate::turn::{Next, Turn};
use crate::verify;

const UNKNOWN: &str = "rein's process ended before this was over.";

/// Decides how a turn goes on whose model is done.
pub(crate) async fn close(turn: &Turn, message: Option<String>) -> Result<Next, Stopped> {
    if turn.cancel.is_cancelled() {
        return Ok(Next::End(StopReason::Interrupted, None));
    }
    let survey = turn.link.survey(&turn.id).await?;
    // What was said meanwhile comes first.
    if survey.steered {
        return Ok(Next::End(StopReason::EndTurn, message));
    }
    if survey.mode == Mode::Plan
        && let Some(next) = approve(turn, &survey).await?
    {
        return Ok(next);
    }
    if let Some(next) = verify::at_the_end(turn, &survey).await? {
        return Ok(next);
    }
    Ok(Next::End(StopReason::EndTurn, message))
}

/// Whether something remains to be done in a turn whose model was done when its process died.
pub(crate) fn is_due(options: &EngineOptions, mode: Mode, branch: &[Arc<Entry>]) -> bool {
    let planned = mode == Mode::Plan && options.presence == Presence::Person;
    planned || options.settings.verify.is_some() && verify::is_due(branch)
}

/// Ends what a process that died had begun here, and no model had proposed.
pub(crate) fn close_begun(branch: &[Arc<Entry>]) -> Vec<EntryBody> {
    let (mut proposed, mut ended) = (HashSet::new(), HashSet::new());
    for entry in branch {
        match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => drop(proposed.insert(&call.id)),
            EntryBody::CallEnded { call, .. } => drop(ended.insert(call)),
            _ => {}
        }
    }
    let begun = branch.iter().filter_map(|entry| match &entry.body {
        EntryBody::CallStarted { call, intent } => Some((call, intent)),
        _ => None,
    });
    let open = begun.filter(|(call, _)| !proposed.contains(call) && !ended.contains(call));
    open.map(|(call, intent)| {
        let display = intent.display.clone().with_summary("interrupted");
        ended_call(call, CallStatus::Unknown, UNKNOWN.to_owned(), display)
    })
    .collect()
}

/// Asks whether the plan may be carried out. Nothing if there is none.
async fn approve(turn: &Turn, survey: &Survey) -> Result<Option<Next>, Stopped> {
    let branch = || survey.history.iter().map(AsRef::as_ref);
    let withheld = plan_mode::withheld(branch());
    let plan = Transcript::of(branch()).answer();
    if plan.trim().is_empty() && withheld.is_empty() {
        return Ok(None);
    }
    if survey.presence == Presence::Nobody {
        return Ok(Some(Next::End(StopReason::EndTurn, plan_mode::left_undone(&withheld))));
    }
    let intent = plan_mode::question(&plan, &withheld, &survey.modes);
    let (call, display) = (CallId::new(), intent.display.clone());
    let request = GateRequest {
        turn: turn.id.clone(),
        call: call.clone(),
        tool: "plan".to_owned(),
        intent,
        doom: None,
        span: tracing::info_span!("gate", call = %call, tool = "plan"),
    };
    let over = |stop| Ok(Some(Next::End(stop, None)));
    let (wanted, begun) = match turn.link.gate(request).await? {
        Gate::Go { permit } => {
            let words = permit.said.as_ref().and_then(|said| said.text.clone());
            (plan_mode::wanted(permit.said.as_ref()), Some(words))
        }
        Gate::Rejected { message: Some(words) } => (Wanted::Changed(words), None),
        Gate::Withdrawn => return over(broken_off(turn)),
        Gate::Rejected { message: None } | Gate::Refused { .. } | Gate::Withheld | Gate::DoomLoop { .. } => {
            return over(StopReason::EndTurn);
        }
    };
    let answered = |summary: &str| {
        let display = display.clone().with_summary(summary);
        ended_call(&call, CallStatus::Completed, summary.to_owned(), display)
    };
    let mut bodies: Vec<EntryBody> = Vec::new();
    match wanted {
        Wanted::Approved(mode) => {
            let words = begun.flatten();
            let text = plan_mode::approval(mode, &plan, &withheld, words.as_deref());
            bodies.push(answered("approved"));
            bodies.push(EntryBody::ModeChanged { mode });
            bodies.push(said(&turn.id, text, Author::ApprovedPlan));
            turn.link.change_mode(mode, bodies).await?;
            Ok(Some(Next::Again))
        }
        Wanted::Changed(words) => {
            bodies.extend(begun.map(|_| answered("to be changed")));
            bodies.push(said(&turn.id, words, Author::Person));
            turn.link.record(bodies).await?;
            Ok(Some(Next::Again))
        }
        Wanted::Nothing => {
            bodies.extend(begun.map(|_| answered("kept")));
            turn.link.record(bodies).await?;
            over(StopReason::EndTurn)
        }
    }
}

/// How a turn ends in which something was broken off here: with an interrupt, or, for something that was said and
/// could not wait, like any other that goes on with what was said.
pub(crate) fn broken_off(turn: &Turn) -> StopReason {
    match turn.cancel.is_cancelled() {
        true => StopReason::Interrupted,
        false => StopReason::EndTurn,
    }
}

/// Something that the model goes on with in the same turn.
pub(crate) fn said(turn: &TurnId, text: String, author: Author) -> EntryBody {
    let (turn, content) = (turn.clone(), vec![Content::text(text)]);
    EntryBody::User { turn, content, delivery: Delivery::Prompt, queued: None, author }
}

/// The end of something that no model had proposed.
pub(crate) fn ended_call(
    call: &CallId,
    status: CallStatus,
    text: String,
    display: rein_protocol::Display,
) -> EntryBody {
    let content = vec![Content::text(text)];
    let result = CallResult { status, content, display, artifact: None, duration_ms: 0 };
    EntryBody::CallEnded { call: call.clone(), result }
}
