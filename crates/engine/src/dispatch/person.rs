//! A command of the person, from its start to what is told of it.
//!
//! It passes no gate: it is the person's own. It is shown, bounded and kept like
//! the output of a call.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use rein_protocol::{CallId, CallResult, CallStatus, Content, Display};
use rein_tools::bash::person;
use tokio_util::sync::CancellationToken;

use super::call::join_output;
use super::output::CallOutput;
use crate::session::link::Link;
use crate::turn::Workbench;

/// A command line that the person wants to be run.
pub(crate) struct PersonCommand {
    /// Names its output.
    pub(crate) call: CallId,
    pub(crate) command: String,
    pub(crate) link: Link,
    pub(crate) bench: Arc<Workbench>,
    pub(crate) cancel: CancellationToken,
}

impl PersonCommand {
    /// Runs it and tells the actor what came of it, also when rein itself failed.
    pub(crate) async fn run_and_report(self) {
        let result = AssertUnwindSafe(self.run()).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(call = %self.call, "a command of the person panicked");
            CallResult {
                status: CallStatus::Failed,
                content: vec![Content::text("[rein failed while the command ran]")],
                display: Display::titled(self.command.clone()).with_summary("internal error"),
                artifact: None,
                duration_ms: 0,
            }
        });
        self.link.person_ran(self.call, self.command, result).await;
    }

    async fn run(&self) -> CallResult {
        let began = Instant::now();
        let output = CallOutput::new(self.call.clone(), self.link.clone(), self.bench.artifacts.clone());
        let mut sink = output.clone();
        let run = person::run(&self.command, &self.bench.scene, &mut sink, &self.cancel);
        let outcome = output.shown_while(run).await;
        let kept = output.finish().await;
        CallResult {
            status: outcome.status,
            content: vec![Content::text(join_output(kept.text, outcome.trailer))],
            display: outcome.display,
            artifact: kept.artifact,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}
