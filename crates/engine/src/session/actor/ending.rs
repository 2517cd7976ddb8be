//! What the actor does at the end of a turn besides ending it: what there is to
//! look at, and who had it ended.

use rein_protocol::{EntryBody, Mode, StopReason, TurnId};

use super::{Activity, Actor};
use crate::session::link::{Stopped, Survey};

impl Actor {
    /// The session as it is, for whoever decides how a turn goes on.
    pub(super) fn survey(&self, turn: &TurnId) -> Result<Survey, Stopped> {
        let current = matches!(&self.activity, Activity::Running { turn: current, .. } if current == turn);
        let Some(model) = self.model.clone().filter(|_| current && !self.failed) else { return Err(Stopped) };
        let limit = self.parts.options.mode_limit.as_ref();
        let permitted = |mode: &Mode| limit.is_none_or(|limit| limit.applied_to(*mode) == *mode);
        Ok(Survey {
            history: self.journal.entries().to_vec(),
            model,
            mode: self.gatekeeper.mode(),
            modes: Mode::ALL.into_iter().filter(permitted).collect(),
            presence: self.parts.options.presence,
            steered: self.queue.steers(),
        })
    }

    /// Changes the mode together with entries that say so.
    pub(super) async fn change_mode(&mut self, mode: Mode, bodies: Vec<EntryBody>) -> Result<(), Stopped> {
        self.append(bodies).await?;
        let settled = self.gatekeeper.set_mode(mode);
        self.settle(settled).await;
        Ok(())
    }

    /// The mode as an entry, where the branch does not say that plan mode holds, or that it does not: what the model
    /// is told of it follows from the branch alone.
    pub(super) fn mode_to_tell(&self) -> Option<EntryBody> {
        let entries = self.journal.entries().iter().rev();
        let told = entries.filter_map(|entry| match &entry.body {
            EntryBody::ModeChanged { mode } => Some(*mode),
            _ => None,
        });
        let (mode, told) = (self.gatekeeper.mode(), told.take(1).next());
        let differs = (mode == Mode::Plan) != (told == Some(Mode::Plan));
        differs.then_some(EntryBody::ModeChanged { mode })
    }

    /// Has a turn ended because its time is over, in these words.
    pub(super) fn time_is_up(&mut self, turn: &TurnId, message: String) {
        let Activity::Running { turn: current, cancel, .. } = &self.activity else { return };
        if current != turn || cancel.is_cancelled() {
            return;
        }
        cancel.cancel();
        self.overdue = Some((turn.clone(), message));
        self.gatekeeper.withdraw_all();
    }

    /// Why a turn ended, after all: somebody may have had it ended.
    pub(super) fn why_ended(
        &mut self,
        turn: &TurnId,
        stop: StopReason,
        message: Option<String>,
    ) -> (StopReason, Option<String>) {
        let overdue = self.overdue.take().filter(|(late, _)| late == turn);
        match overdue {
            Some((_, message)) if self.closing.is_none() => (StopReason::Budget, Some(message)),
            // An interrupt that came with the last words counts.
            _ if self.activity.is_interrupted() && self.closing.is_none() => (StopReason::Interrupted, None),
            _ => (stop, message),
        }
    }
}
