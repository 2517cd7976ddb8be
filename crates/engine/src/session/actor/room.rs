//! What the actor does for those who make room in the model's window and for
//! those who look at it: how full it is, and what waits.

use rein_protocol::transcript::Transcript;
use rein_protocol::{
    Content, ContextPart, Entry, EntryBody, EntryId, ServiceError, Snapshot, StopReason, TurnId,
};
use tokio_util::sync::CancellationToken;

use super::{Activity, Actor};
use crate::service::store_error;
use crate::session::link::{Look, Stopped, Wish};
use crate::{request, room};

impl Actor {
    /// Begins a compaction, or notes that one is wanted before the next step.
    pub(super) fn compact(&mut self, wish: Wish) -> Result<(), ServiceError> {
        if self.closing.is_some() || self.failed {
            return Err(ServiceError::NotOpen { session: self.session.clone() });
        }
        let Some(model) = &self.model else {
            return Err(ServiceError::Model {
                message: "the session has no model; choose one first".to_owned(),
            });
        };
        match &self.activity {
            Activity::Running { .. } | Activity::Broken { .. } => self.wish = Some(wish),
            Activity::Idle if !room::can_compact(&self.bench, self.journal.entries(), model) => {
                return Err(ServiceError::Invalid {
                    message: "the conversation is short: there is nothing to compact yet".to_owned(),
                });
            }
            Activity::Idle => {
                // Nothing of it is recorded before its end, so that it leaves no turn behind.
                let (turn, cancel) = (TurnId::new(), CancellationToken::new());
                let (steps, nudge) = (0, cancel.child_token());
                self.activity =
                    Activity::Running { turn: turn.clone(), steps, cancel: cancel.clone(), nudge };
                let bench = std::sync::Arc::clone(&self.bench);
                tokio::spawn(room::compact_idle(self.link.clone(), bench, turn, wish, cancel));
            }
        }
        Ok(())
    }

    /// Ends the step under way, and what it asks, so that the next one can begin with what was said.
    pub(super) fn nudge(&mut self) {
        if let Activity::Running { nudge, .. } = &self.activity {
            nudge.cancel();
            self.gatekeeper.withdraw_all();
        }
    }

    /// What the next request would consist of.
    pub(super) fn context(&self) -> Result<Vec<ContextPart>, ServiceError> {
        let branch: Vec<&Entry> = self.journal.entries().iter().map(AsRef::as_ref).collect();
        Ok(request::breakdown(&self.bench.prompt, &self.parts, &branch, self.model.as_ref()))
    }

    /// Changes a message that waits, or takes it back.
    pub(super) async fn requeue(
        &mut self,
        queued: EntryId,
        content: Option<Vec<Content>>,
    ) -> Result<(), ServiceError> {
        if !self.queue.holds(&queued) {
            return Err(ServiceError::NotQueued { queued });
        }
        if content.as_ref().is_some_and(|content| content.iter().all(super::is_blank)) {
            return Err(ServiceError::Invalid {
                message: "the message is empty; to take it back, give no content".to_owned(),
            });
        }
        let body = EntryBody::QueueChanged { queued: queued.clone(), content: content.clone() };
        self.append_for_service(vec![body]).await?;
        self.queue.change(&queued, content);
        Ok(())
    }

    /// A compaction outside of a turn is over, whatever came of it.
    pub(super) async fn compaction_over(&mut self, turn: &TurnId) {
        let stop =
            match &self.activity {
                Activity::Running { turn: current, cancel, .. } if current == turn => {
                    if cancel.is_cancelled() { StopReason::Interrupted } else { StopReason::EndTurn }
                }
                _ => return,
            };
        self.compacting = None;
        self.activity = Activity::Idle;
        // What was compacted is not compacted again before something is said.
        self.errands.rest();
        self.start_follow_up(stop).await;
    }

    /// The branch as it is, for whoever is about to ask the model.
    pub(super) fn look(&mut self, turn: &TurnId) -> Result<Look, Stopped> {
        let current = matches!(&self.activity, Activity::Running { turn: current, .. } if current == turn);
        match self.model.clone() {
            Some(model) if current && !self.failed => {
                Ok(Look { history: self.journal.entries().to_vec(), model, wish: self.wish.take() })
            }
            _ => Err(Stopped),
        }
    }

    pub(super) async fn snapshot(&self) -> Result<Snapshot, ServiceError> {
        let record = self.parts.options.store.session(&self.session).await.map_err(store_error)?;
        let record = record.ok_or_else(|| ServiceError::UnknownSession { session: self.session.clone() })?;
        let entries = self.journal.entries();
        let mut transcript = Transcript::of(entries.iter().map(AsRef::as_ref));
        transcript.usage += self.elsewhere.0;
        transcript.cost += self.elsewhere.1;
        let context = self.model.as_ref().map(|model| room::measure(&self.bench, entries, model).shown());
        Ok(Snapshot {
            info: crate::service::info(record, self.effort, self.activity.state()),
            entries: entries.iter().map(|entry| entry.as_ref().clone()).collect(),
            asks: self.gatekeeper.pending(),
            jobs: self.bench.scene.jobs.list(),
            open: self.hub.open(),
            seq: self.hub.last(),
            usage: transcript.usage,
            cost: transcript.cost,
            context,
        })
    }
}
