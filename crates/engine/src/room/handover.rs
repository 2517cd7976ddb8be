//! A session that begins with the record of another.
//!
//! The record is a compaction with nothing before it: everything a compaction
//! carries by structure, and a summary, from a model or, where none answers, from
//! the entries. The other session stays as it is.

use rein_protocol::transcript::Transcript;
use rein_protocol::{
    CompactionReason, Entry, EntryBody, EntryId, Seq, ServiceError, SessionId, Timestamp, Titler,
};
use rein_store::{NewSession, SessionCopy, SessionRecord};
use tokio_util::sync::CancellationToken;

use super::summarise::{Summarised, Summariser};
use super::{Order, compaction, wished_usable};
use crate::context::budget;
use crate::context::plan::{Material, Squeeze, plan};
use crate::context::view::View;
use crate::request;
use crate::service::{Parts, store_error};
use crate::session;
use crate::spending::{self, Ledger};

/// Makes a session of the record of another, and says which. It is there with its record or not at all.
pub(crate) async fn hand_over(
    parts: &Parts,
    record: &SessionRecord,
    entries: &[Entry],
    focus: Option<&str>,
) -> Result<SessionId, ServiceError> {
    let cancel = CancellationToken::new();
    let _guard = cancel.clone().drop_guard();
    let compacted = record_of(parts, record, entries, focus, &cancel).await?;
    let titled = (!record.title.is_empty()).then(|| EntryBody::Titled {
        title: record.title.clone(),
        by: Titler::Model,
        usage: None,
        cost: None,
    });
    let effort =
        Transcript::of(entries).effort.map(|effort| EntryBody::EffortChanged { effort: Some(effort) });
    let new = NewSession {
        id: SessionId::new(),
        workspace: record.workspace.clone(),
        model: record.model.clone(),
        mode: record.mode,
        at: Timestamp::now(),
    };
    let id = new.id.clone();
    let bodies = std::iter::once(compacted).chain(titled).chain(effort).collect();
    let entries = first_entries(&id, bodies);
    let copy = SessionCopy { session: new, from: record.id.clone(), artifacts: Vec::new(), entries };
    parts.options.store.create_copy(copy).await.map_err(store_error)?;
    Ok(id)
}

/// What the new session begins with.
async fn record_of(
    parts: &Parts,
    record: &SessionRecord,
    entries: &[Entry],
    focus: Option<&str>,
    cancel: &CancellationToken,
) -> Result<EntryBody, ServiceError> {
    let branch: Vec<&Entry> = entries.iter().collect();
    let model = record.model.as_ref();
    let prompt = session::system_prompt(&parts.options, &record.workspace, record.created);
    let base = request::base_of(&prompt, &parts.tools, &parts.models, model);
    let limits = model.map(|model| parts.models.limits(model)).unwrap_or_default();
    let budget = budget::measure(&View::of(&branch), base, limits);
    let usable = wished_usable(&budget);
    let material = Material {
        branch: &branch,
        // They belong to the process that has the session open.
        jobs: &[],
        base: budget.base,
        usable,
        ruler: budget.ruler,
        squeeze: Squeeze::All,
    };
    // A run begins with it, so that only what holds beyond one can be reached.
    let ledger =
        Ledger::begin(parts.options.settings.caps.clone(), parts.options.store.clone(), [].iter(), None);
    if let Some(model) = model
        && let Some(message) = spending::refusal(&ledger, &parts.models, model).await
    {
        return Err(ServiceError::Invalid { message });
    }
    let Some(plan) = plan(&material) else {
        let message = "nothing was said in this session yet: there is nothing to hand over".to_owned();
        return Err(ServiceError::Invalid { message });
    };
    let who = parts.options.settings.compaction.model;
    let summariser = Summariser::new(&parts.models, cancel, who, model).within(ledger.caps());
    let order = Order { reason: CompactionReason::Manual, focus, usable, squeeze: Squeeze::All };
    match compaction(&summariser, &plan, &budget, &order).await {
        Summarised::Done(compaction) => Ok(EntryBody::Compacted { compaction }),
        Summarised::Interrupted(_) => {
            Err(ServiceError::Invalid { message: "the handover was interrupted".to_owned() })
        }
    }
}

fn first_entries(session: &SessionId, bodies: Vec<EntryBody>) -> Vec<Entry> {
    let (mut parent, mut seq) = (None, Seq::START);
    let mut entries = Vec::with_capacity(bodies.len());
    for body in bodies {
        seq = seq.next();
        let id = EntryId::new();
        let (session, at) = (session.clone(), Timestamp::now());
        entries.push(Entry { id: id.clone(), session, parent: parent.replace(id), seq, at, body });
    }
    entries
}
