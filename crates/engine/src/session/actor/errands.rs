//! What a session does by the way: having itself named, and being compacted
//! when nobody works in it. None of it is waited for, and all of it ends with
//! the session.

use std::time::Duration;

use rein_llm::Role;
use rein_permission::Presence;
use rein_protocol::{CompactionReason, EntryBody, Titler};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Activity, Actor};
use crate::session::link::Wish;
use crate::small::{self, Name};
use crate::spending;

/// What is under way by the way. Dropping it ends it.
#[derive(Default)]
pub(super) struct Errands {
    tasks: JoinSet<()>,
    /// Whether a name has been asked for.
    asked_for_name: bool,
    /// When it will have been quiet for long enough.
    quiet_at: Option<Instant>,
}

impl Errands {
    /// Waits until it has been quiet for long; for ever if that does not matter.
    pub(super) fn quiet(&self) -> impl Future<Output = ()> + use<> {
        let moment = self.quiet_at;
        async move {
            match moment {
                Some(moment) => tokio::time::sleep_until(moment).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Lets quiet pass without notice.
    pub(super) fn rest(&mut self) {
        self.quiet_at = None;
    }

    fn wait_for_quiet(&mut self, patience: Option<Duration>) {
        self.quiet_at = patience.and_then(|patience| Instant::now().checked_add(patience));
    }
}

impl Actor {
    /// A turn is over.
    pub(super) fn after_turn(&mut self) {
        self.errands.wait_for_quiet(self.bench.settings.compaction.idle);
        self.ask_for_name();
    }

    /// Has a small model name the session, once, if nobody did.
    fn ask_for_name(&mut self) {
        let wanted = self.bench.settings.titles && self.parts.options.presence == Presence::Person;
        if !wanted || self.closing.is_some() || self.failed || self.errands.asked_for_name {
            return;
        }
        self.errands.asked_for_name = true;
        let entries = self.journal.entries();
        if entries.iter().any(|entry| matches!(entry.body, EntryBody::Titled { .. })) {
            return;
        }
        let Some(model) = self.model.clone().filter(|model| small::may_name(&self.parts.models, model))
        else {
            return;
        };
        let Some(request) = small::name_request(entries.iter().map(AsRef::as_ref)) else { return };
        let (models, link) = (std::sync::Arc::clone(&self.parts.models), self.link.clone());
        let ledger = std::sync::Arc::clone(&self.bench.ledger);
        self.errands.tasks.spawn(async move {
            let asked = models.role(Role::Title, &model).model;
            if spending::refusal(&ledger, &models, &asked).await.is_some() {
                return;
            }
            if let Some(name) = small::name(&models, &model, &request).await {
                link.named(name).await;
            }
        });
    }

    /// A small model answered. What a person called the session in the meantime stays; what was spent is recorded
    /// either way.
    pub(super) async fn named(&mut self, name: Name) {
        let theirs = self.journal.entries().iter().rev().find_map(|entry| match &entry.body {
            EntryBody::Titled { title, by: Titler::Person, .. } => Some(title.clone()),
            _ => None,
        });
        let (title, by) = match theirs {
            Some(title) => (title, Titler::Person),
            None => (name.title, Titler::Model),
        };
        let body = EntryBody::Titled { title, by, usage: name.usage, cost: Some(name.cost) };
        // A store that fails ends the session, and a name is not worth more words.
        let _ = self.append(vec![body]).await;
    }

    /// It has been quiet for long: a conversation that fills half of the window is compacted.
    pub(super) fn compact_when_quiet(&mut self) {
        self.errands.rest();
        let Some(model) = self.model.as_ref().filter(|_| matches!(self.activity, Activity::Idle)) else {
            return;
        };
        let budget = crate::room::measure(&self.bench, self.journal.entries(), model);
        if budget.usable.is_none_or(|usable| budget.used < usable / 2) {
            return;
        }
        let wish = Wish { focus: None, reason: CompactionReason::Idle };
        if let Err(error) = self.compact(wish) {
            tracing::debug!(%error, "a quiet session was not compacted");
        }
    }
}
