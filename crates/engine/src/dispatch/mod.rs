//! The way of a call: intent, gate, run, bound, record.
//!
//! Only here are calls judged, run, stopped, bounded and recorded, so that no
//! tool can forget to. A call that may run is durable before it runs, and
//! every call gets exactly one result, whatever happens to it.

mod call;
mod order;
mod output;
mod person;

use std::sync::Arc;

use rein_protocol::{CallId, ToolCall, TurnId};
use rein_tools::{EditForm, ImageSupport};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::doom::DoomGuard;
use crate::session::link::{Link, Stopped};
use crate::turn::{CallsEnd, Turn, Workbench};
pub(crate) use call::join_output;
use call::{Ending, run_call};
use order::Board;
pub(crate) use output::{ArtifactShelf, CallOutput};
pub(crate) use person::PersonCommand;

/// The calls of a step.
pub(crate) struct Calls {
    desk: Arc<Desk>,
    board: Board,
    tasks: JoinSet<Result<Ended, Stopped>>,
}

/// What every call of a step works with.
struct Desk {
    turn: TurnId,
    link: Link,
    bench: Arc<Workbench>,
    /// Ends the step.
    cancel: CancellationToken,
    /// Ends the turn.
    turn_cancel: CancellationToken,
    manner: Manner,
    /// The step that the calls belong to.
    span: tracing::Span,
}

impl Desk {
    /// Whether the step ends for something that was said, and its turn goes on.
    fn was_nudged(&self) -> bool {
        self.cancel.is_cancelled() && !self.turn_cancel.is_cancelled()
    }
}

/// What the model that calls can do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// Whether results may show pictures.
    pub(crate) images: ImageSupport,
    /// How it writes edits.
    pub(crate) edit_form: EditForm,
}

/// A call with its result recorded.
struct Ended {
    call: CallId,
    ending: Ending,
    text: String,
    failed: bool,
}

impl Calls {
    pub(crate) fn new(turn: &Turn, manner: Manner) -> Self {
        let desk = Desk {
            turn: turn.id.clone(),
            link: turn.link.clone(),
            bench: Arc::clone(&turn.bench),
            cancel: turn.nudge.clone(),
            turn_cancel: turn.cancel.clone(),
            manner,
            span: tracing::Span::current(),
        };
        Self { desk: Arc::new(desk), board: Board::new(), tasks: JoinSet::new() }
    }

    /// Sets a call going. It must be durable.
    pub(crate) fn start(&mut self, call: ToolCall, doom: &mut DoomGuard) {
        let finding = doom.propose(&call.id, &call.tool, &call.input);
        let place = self.board.join();
        let span = self.desk.span.clone();
        self.tasks.spawn(run_call(Arc::clone(&self.desk), call, finding, place).instrument(span));
    }

    /// Whether no call was ever started.
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Waits until every call has its result.
    pub(crate) async fn join(mut self, doom: &mut DoomGuard) -> Result<CallsEnd, Stopped> {
        let mut end = CallsEnd::Ran;
        while let Some(joined) = self.tasks.join_next().await {
            // A call's own panics are caught where its result is recorded.
            let ended = joined.map_err(|_| Stopped)??;
            doom.ended(&ended.call, &ended.text, ended.failed);
            end = match (end, ended.ending) {
                (_, Ending::DoomLoop(text)) | (CallsEnd::DoomLoop(text), _) => CallsEnd::DoomLoop(text),
                (_, Ending::Rejected) | (CallsEnd::Rejected, _) => CallsEnd::Rejected,
                (CallsEnd::Ran, Ending::Usual) => CallsEnd::Ran,
            };
        }
        Ok(end)
    }
}
