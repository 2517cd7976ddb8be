//! How a run begins: with a prompt, or by going on with what there is.

use futures_util::stream;
use rein_protocol::message::AssistantPart;
use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{
    CallStatus, Content, Cost, Delivery, Entry, EntryBody, Event, EventBody, EventStream, Mode, Prompt,
    Service, SessionId, SessionInfo, Snapshot, StopReason, TurnId,
};

use super::tally::{Tally, breaks_off};
use crate::error::CommandError;

/// What the model is told when a turn that had ended early is to be gone on with.
pub(super) const GO_ON: &str = "Go on.";

/// A turn to follow.
pub(super) struct Begun {
    pub(super) tally: Tally,
    pub(super) turn: TurnId,
    pub(super) events: EventStream,
}

/// Says the prompt; without one, goes on.
///
/// Going on is the same whenever the process had died: what was left is done,
/// and where nothing was left, the answer is given once more.
pub(super) async fn begin(
    service: &dyn Service,
    info: &SessionInfo,
    prompt: Option<String>,
    pictures: Vec<Content>,
) -> Result<Begun, CommandError> {
    let events = service.subscribe(&info.id, info.seq).await?;
    if let Some(text) = prompt {
        // What was said before is of no interest, and may be long.
        let mut prompt = Prompt::text(text);
        prompt.content.extend(pictures);
        let turn = service.prompt(&info.id, prompt).await?;
        return Ok(Begun { tally: Tally::new(turn.clone(), info.model.clone()), turn, events });
    }
    let snapshot = service.get(&info.id).await?;
    let before = Transcript::of(&snapshot.entries);
    let turn = match service.resume(&info.id).await? {
        Some(turn) => turn,
        None if left_something_undone(&before, info.mode) => {
            service.prompt(&info.id, Prompt::text(GO_ON)).await?
        }
        None => return last_answer(info, &snapshot),
    };
    let mut tally = Tally::new(turn.clone(), info.model.clone());
    if before.turn.as_ref().is_some_and(|broken| broken.id == turn) {
        before.open_calls().for_each(|(call, _)| tally.proposed(call));
    }
    Ok(Begun { tally, turn, events })
}

/// Whether the last turn stopped before its time, or was not permitted something.
fn left_something_undone(transcript: &Transcript, mode: Mode) -> bool {
    match transcript.stop {
        None => false,
        Some((StopReason::EndTurn, _)) => transcript
            .items
            .iter()
            .rev()
            .take_while(|item| !begins_a_turn(item))
            .any(|item| was_refused(item, mode)),
        Some(_) => true,
    }
}

fn begins_a_turn(item: &Item) -> bool {
    matches!(item, Item::User { delivery: Delivery::Prompt | Delivery::FollowUp, .. })
}

fn was_refused(item: &Item, mode: Mode) -> bool {
    match item {
        Item::Call(call) => call.result.as_ref().is_some_and(|result| match result.status {
            CallStatus::Refused | CallStatus::Rejected => true,
            // In plan mode it would only be withheld again.
            CallStatus::Withheld => mode != Mode::Plan,
            CallStatus::Completed
            | CallStatus::Failed
            | CallStatus::Interrupted
            | CallStatus::NotRun
            | CallStatus::Unknown => false,
        }),
        Item::User { .. }
        | Item::Said { .. }
        | Item::Ended { .. }
        | Item::Recovered { .. }
        | Item::Compacted(_)
        | Item::Travelled
        | Item::PersonRan(_) => false,
    }
}

/// The end of the last turn, as if it happened now: nothing is asked of a model.
fn last_answer(info: &SessionInfo, snapshot: &Snapshot) -> Result<Begun, CommandError> {
    let last = snapshot.entries.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::TurnEnded { turn, .. } => Some(turn.clone()),
        _ => None,
    });
    let Some(turn) = last else { return Err(nothing_to_go_on_with(&info.id)) };
    let from_the_end = snapshot.entries.iter().rev().take_while(|entry| !is_call(entry));
    let mut events: Vec<Event> = from_the_end.filter(|entry| is_end_of(entry, &turn)).map(event).collect();
    events.reverse();
    let tally = Tally::new(turn.clone(), info.model.clone());
    Ok(Begun { tally, turn, events: Box::pin(stream::iter(events)) })
}

fn is_call(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::Part { body: AssistantPart::Call(_), .. })
}

fn is_end_of(entry: &Entry, wanted: &TurnId) -> bool {
    match &entry.body {
        EntryBody::Part { turn, .. } | EntryBody::TurnEnded { turn, .. } => turn == wanted,
        // Without it, words that belong together would be torn apart.
        EntryBody::StepEnded { turn, finish, .. } => turn == wanted && breaks_off(finish),
        _ => false,
    }
}

fn event(entry: &Entry) -> Event {
    let mut entry = Box::new(entry.clone());
    if let EntryBody::StepEnded { usage, cost, .. } = &mut entry.body {
        // That was spent when it happened.
        (*usage, *cost) = (None, Cost::ZERO);
    }
    let (session, seq) = (entry.session.clone(), entry.seq);
    Event { session, seq, body: EventBody::Entry { entry } }
}

fn nothing_to_go_on_with(session: &SessionId) -> CommandError {
    CommandError::usage(format!("session {session} has nothing to go on with: nothing was said in it"))
        .hint(format!("say what to do: rein --resume {session} -p 'PROMPT'"))
}
