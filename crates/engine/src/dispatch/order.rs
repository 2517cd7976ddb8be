//! Which calls of a step may run at the same time.
//!
//! Every call of a step has a place on the board and says there what it is
//! going to do. A call waits for earlier ones that conflict with it and never
//! for later ones, so that nobody waits in a circle.

use rein_protocol::Intent;
use tokio::sync::watch;

/// What a call has said about itself.
#[derive(Debug, Clone)]
enum Claim {
    /// Nothing yet.
    Unplanned,
    /// It is going to do this.
    Planned(Intent),
    /// It cannot say before earlier calls are done.
    Unclear,
    /// It is over.
    Done,
}

/// The claims of a step's calls, in their order.
#[derive(Clone)]
pub(crate) struct Board {
    claims: watch::Sender<Vec<Claim>>,
}

/// One call's place.
pub(crate) struct Place {
    board: Board,
    index: usize,
}

impl Board {
    pub(crate) fn new() -> Self {
        Self { claims: watch::channel(Vec::new()).0 }
    }

    /// A place behind all others.
    pub(crate) fn join(&self) -> Place {
        let mut index = 0;
        self.claims.send_modify(|claims| {
            index = claims.len();
            claims.push(Claim::Unplanned);
        });
        Place { board: self.clone(), index }
    }
}

impl Place {
    /// Waits until every earlier call has said what it is going to do.
    pub(crate) async fn wait_for_plans(&self) {
        self.wait_until(|claim| !matches!(claim, Claim::Unplanned)).await;
    }

    /// Says what this call is going to do.
    pub(crate) fn plan(&self, intent: Intent) {
        self.claim(Claim::Planned(intent));
    }

    /// Says that this call cannot be planned before earlier calls have changed something.
    pub(crate) fn unclear(&self) {
        self.claim(Claim::Unclear);
    }

    /// The earlier calls as they are now.
    pub(crate) fn earlier(&self) -> Earlier {
        Earlier(self.board.claims.borrow().iter().take(self.index).cloned().collect())
    }

    /// Waits until no earlier call conflicts with this intent.
    pub(crate) async fn wait_for_conflicts(&self, intent: &Intent) {
        self.wait_until(|claim| !conflicts(claim, intent)).await;
    }

    /// Waits until every earlier call is over.
    pub(crate) async fn wait_for_others(&self) {
        self.wait_until(|claim| matches!(claim, Claim::Done)).await;
    }

    fn claim(&self, claim: Claim) {
        self.board.claims.send_modify(|claims| {
            if let Some(place) = claims.get_mut(self.index) {
                *place = claim;
            }
        });
    }

    async fn wait_until(&self, test: impl Fn(&Claim) -> bool) {
        let mut receiver = self.board.claims.subscribe();
        // The sender lives as long as this place, so the wait cannot fail.
        let _ = receiver.wait_for(|claims| claims.iter().take(self.index).all(&test)).await;
    }
}

/// The calls before one, at a moment.
pub(crate) struct Earlier(Vec<Claim>);

impl Earlier {
    /// Whether one of them that was not over conflicts with this intent.
    pub(crate) fn conflict_with(&self, intent: &Intent) -> bool {
        self.0.iter().any(|claim| conflicts(claim, intent))
    }

    /// Whether one of them was not over: what it does or learns may make sense of a later one.
    pub(crate) fn are_under_way(&self) -> bool {
        self.0.iter().any(|claim| !matches!(claim, Claim::Done))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.claim(Claim::Done);
    }
}

fn conflicts(claim: &Claim, intent: &Intent) -> bool {
    match claim {
        Claim::Done => false,
        Claim::Unplanned | Claim::Unclear => true,
        Claim::Planned(other) => other.conflicts_with(intent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use rein_protocol::{Display, Effect};

    fn intent(effect: Effect) -> Intent {
        Intent { effects: vec![effect], display: Display::default() }
    }
    fn write(path: &str) -> Intent {
        intent(Effect::Write { path: path.into() })
    }
    fn read(path: &str) -> Intent {
        intent(Effect::Read { path: path.into() })
    }

    #[test]
    fn a_call_waits_for_earlier_ones_that_conflict_and_for_no_others() {
        let board = Board::new();
        let (first, second, third) = (board.join(), board.join(), board.join());
        first.plan(write("/w/a"));
        second.plan(write("/w/b"));
        assert!(!second.earlier().conflict_with(&write("/w/b")));
        let before = third.earlier();
        assert!(before.conflict_with(&read("/w/a")));
        assert!(third.wait_for_conflicts(&read("/w/a")).now_or_never().is_none());
        drop(first);
        assert!(third.wait_for_conflicts(&read("/w/a")).now_or_never().is_some());
        assert!(before.conflict_with(&read("/w/a")), "what was looked at before it was over may be old");
        assert!(third.earlier().are_under_way());
        drop(second);
        assert!(!third.earlier().are_under_way());
    }

    #[test]
    fn an_unclear_call_holds_up_everything_behind_it() {
        let board = Board::new();
        let (first, second) = (board.join(), board.join());
        assert!(second.wait_for_plans().now_or_never().is_none());
        first.unclear();
        assert!(second.wait_for_plans().now_or_never().is_some());
        assert!(second.earlier().conflict_with(&read("/w/a")));
        assert!(!first.earlier().conflict_with(&read("/w/a")));
    }
}
