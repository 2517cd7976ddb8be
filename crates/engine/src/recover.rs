//! What to append when a session is opened whose process had died in the
//! middle of something. Pure: the folded branch in, entries out.
//!
//! Nothing is run here and nothing is guessed: a call that had begun may have
//! had its effect, so it is closed as unknown and the model is told; one that
//! had not begun stays open and can still be run or withdrawn.

use std::sync::Arc;

use rein_protocol::message::AssistantPart;
use rein_protocol::transcript::{Item, Transcript, TurnState};
use rein_protocol::{
    CallResult, CallStatus, Content, Cost, Delivery, Display, Entry, EntryBody, Finish, StopReason, TurnId,
};

const UNKNOWN: &str = "Interrupted, effects unknown: rein's process ended while this call was running. It may have \
     done all, part or nothing of its work. Look at the current state before you repeat it.";
const NOT_RUN: &str = "Not run: rein's process ended before this call began.";

/// Whether anything is left to do in a turn once its model is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    Due,
    Over,
}

/// Closes what had begun, and the turn if nothing was left of it but its end.
/// Empty if the session was left in good order, or has been recovered since.
pub(crate) fn on_opening(transcript: &Transcript, branch: &[Arc<Entry>], closing: Closing) -> Vec<EntryBody> {
    let Some(turn) = &transcript.turn else { return Vec::new() };
    let mut bodies = crate::closing::close_begun(branch);
    bodies.extend(close_begun(transcript, turn));
    let end = missing_end(branch).filter(|(stop, _)| match stop {
        // What was said for the turn and not heard yet is what it goes on with.
        StopReason::EndTurn => closing == Closing::Over && !waits(transcript, turn, Delivery::joins_turn),
        // For this the step was ended, and not the turn.
        StopReason::Interrupted => !waits(transcript, turn, |delivery| delivery == Delivery::Now),
        _ => true,
    });
    // What was said could not wait for these calls: they are not begun any more.
    if end.is_some() || waits(transcript, turn, |delivery| delivery == Delivery::Now) {
        let unbegun = transcript.open_calls().filter(|(_, begun)| !begun);
        bodies.extend(unbegun.map(|(call, _)| closed(transcript, call, CallStatus::NotRun, NOT_RUN)));
    }
    if let Some((stop, message)) = end {
        bodies.push(EntryBody::TurnEnded { turn: turn.id.clone(), stop, message });
    }
    bodies
}

/// Whether a message waits for a turn that is to be delivered like this.
fn waits(transcript: &Transcript, turn: &TurnState, like: impl Fn(Delivery) -> bool) -> bool {
    transcript.queue.iter().any(|message| message.turn == turn.id && like(message.delivery))
}

/// How the turn would have ended, if its last step was over and nothing remained to be done: an
/// answer that is complete is not asked for again.
pub(crate) fn missing_end(branch: &[Arc<Entry>]) -> Option<(StopReason, Option<String>)> {
    let mut finish = None;
    for entry in branch.iter().rev() {
        match &entry.body {
            // What failed can be tried again.
            EntryBody::StepEnded { finish: Finish::Died | Finish::Error { .. }, .. }
            | EntryBody::User { .. }
            | EntryBody::TurnEnded { .. } => return None,
            EntryBody::StepEnded { finish: ended, .. } => finish = Some(ended),
            // The model goes on with the results of its calls, unless it was interrupted.
            EntryBody::Part { body: AssistantPart::Call(_), .. } if finish != Some(&Finish::Interrupted) => {
                return None;
            }
            EntryBody::StepStarted { .. } => return finish.map(crate::turn::end_after),
            _ => {}
        }
    }
    None
}

fn close_begun(transcript: &Transcript, turn: &TurnState) -> Vec<EntryBody> {
    let mut bodies = Vec::new();
    if turn.step_open {
        bodies.push(EntryBody::StepEnded {
            turn: turn.id.clone(),
            step: turn.steps,
            finish: Finish::Died,
            usage: None,
            cost: Cost::Unknown,
            cache: None,
        });
    }
    let mut unknown = 0;
    for (call, begun) in transcript.open_calls() {
        if begun {
            unknown += 1;
            bodies.push(closed(transcript, call, CallStatus::Unknown, UNKNOWN));
        }
    }
    // Whatever a process does is an item, a question or something that it has begun.
    let untouched =
        matches!(transcript.items.last(), Some(Item::Recovered { .. })) && transcript.asks.is_empty();
    if !untouched || !bodies.is_empty() {
        bodies.push(EntryBody::Recovered { message: summary(unknown) });
    }
    bodies
}

/// Ends a turn that is not going to be continued: calls that had not begun are withdrawn.
pub(crate) fn abandon(transcript: &Transcript, turn: &TurnId) -> Vec<EntryBody> {
    let mut bodies: Vec<EntryBody> = transcript
        .open_calls()
        .map(|(call, _)| closed(transcript, call, CallStatus::NotRun, NOT_RUN))
        .collect();
    bodies.push(EntryBody::TurnEnded {
        turn: turn.clone(),
        stop: StopReason::Interrupted,
        message: Some("rein's process ended during this turn".to_owned()),
    });
    bodies
}

/// Ends a turn whose task failed inside of rein.
pub(crate) fn after_failure(transcript: &Transcript, turn: &TurnId) -> Vec<EntryBody> {
    let mut bodies = Vec::new();
    if let Some(state) = transcript.turn.as_ref().filter(|state| state.step_open) {
        bodies.push(EntryBody::StepEnded {
            turn: turn.clone(),
            step: state.steps,
            finish: Finish::Error { message: "an internal error of rein".to_owned() },
            usage: None,
            cost: Cost::Unknown,
            cache: None,
        });
    }
    for (call, begun) in transcript.open_calls() {
        let (status, text) =
            if begun { (CallStatus::Unknown, UNKNOWN) } else { (CallStatus::NotRun, NOT_RUN) };
        bodies.push(closed(transcript, call, status, text));
    }
    bodies.push(EntryBody::TurnEnded {
        turn: turn.clone(),
        stop: StopReason::InternalError,
        message: Some("an internal error of rein ended this turn; prompt again to go on".to_owned()),
    });
    bodies
}

fn closed(
    transcript: &Transcript,
    call: &rein_protocol::ToolCall,
    status: CallStatus,
    text: &str,
) -> EntryBody {
    let started = transcript.call(&call.id).and_then(|item| item.started.as_ref());
    let display = started.map_or_else(|| Display::titled(call.tool.clone()), |intent| intent.display.clone());
    let summary = match status {
        CallStatus::Unknown => "interrupted, effects unknown",
        _ => "not run",
    };
    EntryBody::CallEnded {
        call: call.id.clone(),
        result: CallResult {
            status,
            content: vec![Content::text(text)],
            display: Display { blocks: Vec::new(), ..display }.with_summary(summary),
            artifact: None,
            duration_ms: 0,
        },
    }
}

fn summary(unknown: usize) -> String {
    let calls = match unknown {
        0 => "no call was running".to_owned(),
        1 => "1 call was running: its effects are unknown".to_owned(),
        many => format!("{many} calls were running: their effects are unknown"),
    };
    format!("rein's process had ended during a turn; {calls}")
}
