//! Going to another place of the session's tree.
//!
//! All of it is one append: whoever kills the process finds the session at the
//! old place or at the new one.

use std::sync::Arc;

use rein_protocol::transcript::Transcript;
use rein_protocol::{Entry, EntryBody, EntryId, ServiceError};

use super::{Activity, Actor};
use crate::service::store_error;
use crate::session::place::{self, Now};
use crate::session::queue::Queue;
use crate::session::{bench, journal::Journey};

const WHY: &str = "gone back to from another place of the session";

impl Actor {
    /// Goes to a place of the tree, or to before everything.
    pub(super) async fn travel(&mut self, to: Option<EntryId>) -> Result<(), ServiceError> {
        self.check_working()?;
        if let Activity::Running { .. } = self.activity {
            let message = "a turn is under way: interrupt it before you go to another place".to_owned();
            return Err(ServiceError::Invalid { message });
        }
        let branch = match &to {
            None => Vec::new(),
            Some(entry) => self.branch_to(entry).await?,
        };
        let is_broken = matches!(self.activity, Activity::Broken { .. });
        let here = self.journal.entries().last().map(|entry| &entry.id);
        if here == branch.last().map(|entry| &entry.id) && !is_broken {
            return Ok(());
        }
        let there = Transcript::of(&branch);
        let now = self.now();
        // What waits is taken back where it waits, and said again where it goes on.
        let mut before = if is_broken { self.abandon_broken() } else { Vec::new() };
        before.extend(place::taken_back(&now.queue));
        let after = place::brought_up_to_date(&there, &now, WHY);
        let journey = Journey { before, branch, after };
        if let Err(error) = self.journal.travel(journey).await {
            self.fail(&error);
            return Err(store_error(error));
        }
        self.wish = None;
        self.remember_branch().await
    }

    /// Everything that is folded from the branch, from the branch that is active now.
    async fn remember_branch(&mut self) -> Result<(), ServiceError> {
        let entries = self.journal.entries();
        let transcript = Transcript::of(entries.iter().map(AsRef::as_ref));
        self.bench = Arc::new(bench::remembering(&self.bench, &self.parts.options, &transcript));
        self.queue = Queue::new(transcript.queue);
        let store = &self.parts.options.store;
        let spent = place::spent_elsewhere(store, &self.session, entries.iter().map(AsRef::as_ref)).await;
        self.elsewhere = spent.map_err(store_error)?;
        Ok(())
    }

    /// The entries from the first to a place from which work can go on.
    async fn branch_to(&self, to: &EntryId) -> Result<Vec<Entry>, ServiceError> {
        let store = &self.parts.options.store;
        let found = store.branch_to(&self.session, to).await.map_err(store_error)?;
        let invalid = |message: String| ServiceError::Invalid { message };
        let mut branch = found.ok_or_else(|| invalid(format!("the session has no entry {to}")))?;
        // A message is gone back to so that something else can be said in its place.
        branch.pop_if(|entry| matches!(entry.body, EntryBody::User { .. }));
        if place::settled(&branch) < branch.len() {
            return Err(invalid(format!(
                "one cannot go on from entry {to}, because something was under way there: go to a message, the \
                 end of a turn or a compaction"
            )));
        }
        Ok(branch)
    }

    fn now(&self) -> Now {
        let transcript = Transcript::of(self.journal.entries().iter().map(AsRef::as_ref));
        Now {
            model: self.model.clone(),
            mode: self.gatekeeper.mode(),
            effort: self.effort,
            title: transcript.title,
            queue: self.queue.waiting().cloned().collect(),
        }
    }
}
