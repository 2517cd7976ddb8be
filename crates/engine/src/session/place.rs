//! Places of a session's tree from which work can go on, and what has to be
//! said there so that everything is as it is now. Pure, but for what is read
//! from the store.
//!
//! A place is settled: no answer is under way and every call has its result, so
//! that what models are sent from there is a valid conversation. Which model
//! answers, which mode holds and what waits belongs to the person and not to the
//! place: it goes along, so that going back never widens what may run.

use std::collections::HashSet;

use rein_protocol::message::AssistantPart;
use rein_protocol::transcript::{QueuedMessage, Transcript};
use rein_protocol::{
    CallId, Cost, Effort, Entry, EntryBody, EntryId, Mode, ModelRef, Seq, SessionId, StopReason, Titler,
    Usage,
};
use rein_store::{Store, StoreError};

/// What holds whatever branch is active.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Now {
    pub(crate) model: Option<ModelRef>,
    pub(crate) mode: Mode,
    pub(crate) effort: Option<Effort>,
    pub(crate) title: Option<(String, Titler)>,
    pub(crate) queue: Vec<QueuedMessage>,
}

/// How many of the first entries of a branch make the longest settled beginning of it.
pub(crate) fn settled(branch: &[Entry]) -> usize {
    let (mut length, mut step_open, mut open) = (0, false, HashSet::<&CallId>::new());
    for (place, entry) in branch.iter().enumerate() {
        match &entry.body {
            EntryBody::StepStarted { .. } => step_open = true,
            EntryBody::StepEnded { .. } => step_open = false,
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                open.insert(&call.id);
            }
            EntryBody::CallEnded { call, .. } => {
                open.remove(call);
            }
            EntryBody::TurnEnded { .. } => {
                step_open = false;
                open.clear();
            }
            _ => {}
        }
        if !step_open && open.is_empty() {
            length = place + 1;
        }
    }
    length
}

/// What is to be appended where a branch is gone on from: its turn ends, and what it says otherwise than now is said.
pub(crate) fn brought_up_to_date(there: &Transcript, now: &Now, why: &str) -> Vec<EntryBody> {
    let mut bodies = Vec::new();
    if let Some(turn) = &there.turn {
        bodies.push(EntryBody::TurnEnded {
            turn: turn.id.clone(),
            stop: StopReason::Interrupted,
            message: Some(why.to_owned()),
        });
    }
    // What waited there was delivered or taken back since.
    bodies.extend(taken_back(&there.queue));
    bodies.extend(now.queue.iter().map(|message| EntryBody::Queued {
        turn: message.turn.clone(),
        content: message.content.clone(),
        delivery: message.delivery,
    }));
    if let (Some(said), Some(model)) = (&there.model, &now.model)
        && said != model
    {
        bodies.push(EntryBody::ModelChanged { model: model.clone() });
    }
    if there.mode.is_some_and(|mode| mode != now.mode) {
        bodies.push(EntryBody::ModeChanged { mode: now.mode });
    }
    if there.effort != now.effort {
        bodies.push(EntryBody::EffortChanged { effort: now.effort });
    }
    if let Some((title, by)) = now.title.clone()
        && there.title != now.title
    {
        bodies.push(EntryBody::Titled { title, by, usage: None, cost: None });
    }
    bodies
}

/// Takes messages back that wait.
pub(crate) fn taken_back(queue: &[QueuedMessage]) -> impl Iterator<Item = EntryBody> {
    queue.iter().map(|message| EntryBody::QueueChanged { queued: message.entry.clone(), content: None })
}

/// What was used and paid on other branches than this one.
pub(crate) async fn spent_elsewhere<'a>(
    store: &Store,
    session: &SessionId,
    branch: impl IntoIterator<Item = &'a Entry>,
) -> Result<(Usage, Cost), StoreError> {
    let (mut on_branch, mut travelled) = (HashSet::<&EntryId>::new(), false);
    for entry in branch {
        travelled |= matches!(entry.body, EntryBody::Travelled { .. });
        on_branch.insert(&entry.id);
    }
    // Whoever was elsewhere came here by an entry that says so.
    if !travelled {
        return Ok((Usage::default(), Cost::ZERO));
    }
    let all = store.entries_after(session, Seq::START, usize::MAX).await?;
    let elsewhere = Transcript::of(all.iter().filter(|entry| !on_branch.contains(&entry.id)));
    Ok((elsewhere.usage, elsewhere.cost))
}
