//! What can be done with a session that need not be open: its tree, copies of
//! it, its name, and what is remembered and allowed beyond it.

use std::path::PathBuf;

use rein_protocol::transcript::Transcript;
use rein_protocol::{
    Entry, EntryBody, EntryId, GivenGrant, MemoryPlace, Scope, Seq, ServiceError, SessionId, SessionInfo,
    Timestamp, Titler, TreeNode,
};

use super::{Engine, store_error};
use crate::session::grants::{Keeping, not_given};
use crate::session::place::{self, Now};
use crate::session::tree::Tree;
use crate::session::{fork, given_title, note};

/// Entries that are read at a time.
const BATCH: usize = 1_000;

impl Engine {
    pub(super) async fn tree_of(&self, session: &SessionId) -> Result<Vec<TreeNode>, ServiceError> {
        self.record(session).await?;
        let (mut tree, mut place) = (Tree::default(), Seq::START);
        loop {
            let entries = self.store().entries_after(session, place, BATCH).await.map_err(store_error)?;
            let Some(last) = entries.last() else { return Ok(tree.nodes()) };
            place = last.seq;
            entries.iter().for_each(|entry| tree.add(entry));
        }
    }

    pub(super) async fn fork_of(
        &self,
        session: &SessionId,
        at: Option<EntryId>,
    ) -> Result<SessionInfo, ServiceError> {
        let record = self.record(session).await?;
        let active = self.store().branch(session).await.map_err(store_error)?;
        let now = Now {
            model: record.model.clone(),
            mode: record.mode,
            effort: Transcript::of(&active).effort,
            title: None,
            queue: Vec::new(),
        };
        let branch = match at {
            None => {
                let mut branch = active;
                // What is under way is not in the copy.
                branch.truncate(place::settled(&branch));
                branch
            }
            Some(at) => up_to(active, &at)?,
        };
        let effort = now.effort;
        let copy = fork::copy(&record, &branch, now)?;
        let id = copy.session.id.clone();
        self.store().create_copy(copy).await.map_err(store_error)?;
        let record = self.record(&id).await?;
        Ok(SessionInfo { effort, ..self.describe(record).await })
    }

    pub(super) async fn name(&self, session: &SessionId, title: String) -> Result<(), ServiceError> {
        if let Ok(handle) = self.handle(session) {
            return handle.rename(title).await;
        }
        let title = given_title(&title)?;
        self.record(session).await?;
        let _lease = self.store().lease(session).await.map_err(store_error)?;
        // Read again: only who has the lease knows the last entry.
        let record = self.record(session).await?;
        let entry = Entry {
            id: EntryId::new(),
            session: session.clone(),
            parent: record.leaf,
            seq: record.last_seq.max(self.last_told(session)).next_epoch().next(),
            at: Timestamp::now(),
            body: EntryBody::Titled { title, by: Titler::Person, usage: None, cost: None },
        };
        self.store().append(session, vec![entry]).await.map_err(store_error)?;
        self.store().flush().await.map_err(store_error)
    }

    pub(super) async fn note_down(
        &self,
        session: &SessionId,
        text: String,
        place: MemoryPlace,
    ) -> Result<PathBuf, ServiceError> {
        let workspace = self.workspace_of(session).await?;
        let directories = self.parts.options.directories.clone();
        let written = tokio::task::spawn_blocking(move || {
            note::remember(&text, place, &workspace, directories.as_ref())
        });
        written.await.unwrap_or_else(|error| Err(ServiceError::Invalid { message: error.to_string() }))
    }

    pub(super) async fn grants_of(&self, session: &SessionId) -> Result<Vec<GivenGrant>, ServiceError> {
        match self.handle(session) {
            Ok(handle) => handle.grants().await,
            Err(_) => self.keeping(session).await?.list().await,
        }
    }

    pub(super) async fn take_back(&self, session: &SessionId, grant: GivenGrant) -> Result<(), ServiceError> {
        if let Ok(handle) = self.handle(session) {
            return handle.revoke(grant).await;
        }
        let keeping = self.keeping(session).await?;
        // What was allowed for a session ended with it.
        let revoked = match grant.scope {
            Scope::Session => Vec::new(),
            Scope::Project | Scope::Everywhere => keeping.take_back(&grant).await?,
        };
        if revoked.is_empty() { Err(not_given(&grant.grant)) } else { Ok(()) }
    }

    async fn keeping(&self, session: &SessionId) -> Result<Keeping, ServiceError> {
        let workspace = self.workspace_of(session).await?;
        Ok(Keeping { directories: self.parts.options.directories.clone(), workspace })
    }

    async fn workspace_of(&self, session: &SessionId) -> Result<PathBuf, ServiceError> {
        match self.handle(session) {
            Ok(handle) => Ok(handle.workspace().to_owned()),
            Err(_) => Ok(self.record(session).await?.workspace),
        }
    }
}

/// The beginning of a branch up to an entry at which nothing was under way.
fn up_to(mut branch: Vec<Entry>, at: &EntryId) -> Result<Vec<Entry>, ServiceError> {
    let invalid = |message: String| ServiceError::Invalid { message };
    let place = branch.iter().position(|entry| entry.id == *at);
    let place = place.ok_or_else(|| invalid(format!("entry {at} is not on the branch that is active")))?;
    branch.truncate(place + 1);
    if place::settled(&branch) < branch.len() {
        return Err(invalid(format!(
            "one cannot go on from entry {at}, because something was under way there: take a message, the end of a \
             turn or a compaction"
        )));
    }
    Ok(branch)
}
