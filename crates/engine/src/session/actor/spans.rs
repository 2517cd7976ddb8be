//! What the actor sees of how long things take: turns, and room that is made.
//!
//! Spans carry the ids that entries have, so that the two can be joined. They
//! hold no text of the conversation.

use rein_protocol::{EntryBody, EventBody, SessionId, TurnId};
use tracing::field::Empty;

use super::{Activity, Actor};

/// A turn, from its start to its end.
pub(super) fn turn(session: &SessionId, turn: &TurnId) -> tracing::Span {
    tracing::info_span!("turn", %session, %turn, stop = Empty)
}

impl Actor {
    /// Takes note of what faces are told.
    pub(super) fn trace_told(&mut self, body: &EventBody) {
        if let (EventBody::Compacting { reason }, Activity::Running { turn, .. }) = (body, &self.activity) {
            let session = &self.session;
            let span = tracing::info_span!(
                "compaction",
                %session,
                %turn,
                ?reason,
                tokens_before = Empty,
                tokens_after = Empty
            );
            self.compacting = Some(span);
        }
    }

    /// Takes note of what is recorded.
    pub(super) fn trace_recorded(&mut self, bodies: &[EntryBody]) {
        for body in bodies {
            if let (EntryBody::Compacted { compaction }, Some(span)) = (body, &self.compacting) {
                span.record("tokens_before", compaction.tokens_before);
                span.record("tokens_after", compaction.tokens_after);
                self.compacting = None;
            }
        }
    }
}
