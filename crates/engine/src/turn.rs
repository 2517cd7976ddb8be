//! A turn: from a prompt to the moment the agent is idle again.
//!
//! The loop that everything else serves: ask the model, run what it calls, ask
//! again. A turn ends when the model stops and no call is pending, or for a
//! reason that is recorded. The model's word that it stopped is not enough: an
//! answer with calls goes round again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rein_llm::{ErrorKind, FallbackChain, ModelError, Models, Role, retry};
use rein_protocol::{EntryBody, EventBody, Finish, ModelRef, StopReason, TurnId};
use rein_tools::{Registry, Scene};
use tokio_util::sync::CancellationToken;

use crate::closing;
use crate::doom::DoomGuard;
use crate::options::EngineSettings;
use crate::recover;
use crate::room::{Maker, Room, RoomState};
use crate::session::link::{AfterTurn, Link, Stopped};
use crate::spending::{self, Cashier};
use crate::step::{StepEnd, run_step};

/// What every turn of a session works with.
pub(crate) struct Workbench {
    pub(crate) models: Arc<Models>,
    pub(crate) tools: Arc<Registry>,
    pub(crate) scene: Scene,
    pub(crate) settings: EngineSettings,
    pub(crate) prompt: crate::prompt::SystemPrompt,
    pub(crate) cache: Arc<crate::context::cache::CacheWatch>,
    pub(crate) artifacts: crate::dispatch::ArtifactShelf,
    pub(crate) pictures: crate::pictures::Pictures,
    pub(crate) jailer: Arc<crate::confinement::Jailer>,
    pub(crate) scratch: crate::scratch::Scratch,
    pub(crate) ledger: Arc<crate::spending::Ledger>,
}

/// A turn under way.
pub(crate) struct Turn {
    pub(crate) id: TurnId,
    pub(crate) link: Link,
    pub(crate) bench: Arc<Workbench>,
    pub(crate) cancel: CancellationToken,
    /// Ends the step under way and not the turn. A child of `cancel`.
    pub(crate) nudge: CancellationToken,
    pub(crate) doom: DoomGuard,
    /// Steps that the turn has made, also before its process died.
    pub(crate) steps: u32,
    /// Steps that were lost in the middle and tried again: they do not count against the limit.
    pub(crate) lost: u32,
    /// Model calls in a row that failed after they had said something.
    pub(crate) failures: u32,
    /// Who comes next when the model cannot answer.
    pub(crate) chain: Option<FallbackChain>,
    /// How it stands with the model's window.
    pub(crate) room: RoomState,
}

/// What to do after a step.
pub(crate) enum Next {
    Again,
    /// The model is done, with something to say about that.
    Close(Option<String>),
    End(StopReason, Option<String>),
}

impl Turn {
    /// Runs to the end of the turn, beginning with calls that were proposed and never begun.
    pub(crate) async fn run(mut self, pending: Vec<rein_protocol::ToolCall>) -> Result<(), Stopped> {
        let mut next = match pending.is_empty() {
            true if self.steps > 0 => self.where_it_was().await?,
            true => Next::Again,
            false => {
                let calls = crate::step::run_pending(&mut self, pending).await?;
                self.after_calls(calls).unwrap_or(Next::Again)
            }
        };
        loop {
            next = match next {
                Next::Again if self.cancel.is_cancelled() => Next::End(StopReason::Interrupted, None),
                Next::Again if self.at_limit() => Next::End(StopReason::MaxSteps, Some(self.limit_message())),
                Next::Again => self.another_step().await?,
                Next::Close(message) => closing::close(&self, message).await?,
                Next::End(stop, message) => {
                    match self.said(stop).link.end_turn(&self.id, stop, message).await? {
                        AfterTurn::Over => return Ok(()),
                        AfterTurn::GoOn => Next::Again,
                    }
                }
            };
        }
    }

    /// Notes in the span of the turn why it ends.
    fn said(&self, stop: StopReason) -> &Self {
        tracing::Span::current().record("stop", stop.name());
        self
    }

    /// Runs the turn and tells the actor when its task is gone, also when it panicked.
    pub(crate) async fn run_and_report(self, pending: Vec<rein_protocol::ToolCall>) {
        let (link, turn, ledger) = (self.link.clone(), self.id.clone(), Arc::clone(&self.bench.ledger));
        let run = AssertUnwindSafe(self.run(pending)).catch_unwind();
        if spending::timed(&ledger, &link, &turn, run).await.is_err() {
            tracing::error!(%turn, "a turn panicked");
        }
        link.turn_gone(turn).await;
    }

    /// How a turn goes on whose process had died: a model that was done is not asked again.
    async fn where_it_was(&self) -> Result<Next, Stopped> {
        let survey = self.link.survey(&self.id).await?;
        Ok(match recover::missing_end(&survey.history) {
            Some((StopReason::EndTurn, message)) => Next::Close(message),
            _ => Next::Again,
        })
    }

    /// Makes a step, if there is money and room for it.
    async fn another_step(&mut self) -> Result<Next, Stopped> {
        if let Some(message) = self.cashier().refusal().await? {
            return Ok(Next::End(StopReason::Budget, Some(message)));
        }
        self.warn_of_limit().await?;
        let spent = self.bench.ledger.spent();
        match self.make_room().await? {
            Room::Enough => {}
            Room::Interrupted => return Ok(Next::End(StopReason::Interrupted, None)),
            Room::Full(message) => return Ok(Next::End(StopReason::ModelError, Some(message))),
        }
        // Making room costs money too.
        if self.bench.ledger.spent() != spent
            && let Some(message) = self.cashier().refusal().await?
        {
            return Ok(Next::End(StopReason::Budget, Some(message)));
        }
        let end = run_step(self).await?;
        self.after_step(end).await
    }

    fn cashier(&self) -> Cashier<'_> {
        Cashier { link: &self.link, bench: &self.bench, turn: &self.id }
    }

    /// Says once that most of the steps are made.
    async fn warn_of_limit(&self) -> Result<(), Stopped> {
        let (limit, made) = (self.bench.settings.max_steps, self.steps.saturating_sub(self.lost));
        if limit < 5 || made != limit.saturating_mul(4).div_ceil(5) {
            return Ok(());
        }
        let message = format!("80 % of the steps of this turn are made: {made} of {limit}");
        self.link.emit(EventBody::Notice { message }).await
    }

    async fn make_room(&mut self) -> Result<Room, Stopped> {
        let maker = Maker { link: &self.link, bench: &self.bench, cancel: &self.cancel };
        maker.before_step(&self.id, &mut self.room).await
    }

    /// Whether an answer that was cut can go on, because it was the full window that cut it and there is room now.
    async fn make_room_for_the_rest(&mut self) -> Result<bool, Stopped> {
        // A summary costs money too.
        if self.cashier().refusal().await?.is_some() {
            return Ok(false);
        }
        let maker = Maker { link: &self.link, bench: &self.bench, cancel: &self.cancel };
        Ok(maker.after_length(&self.id, &mut self.room).await? == Room::Enough)
    }

    fn at_limit(&self) -> bool {
        let limit = self.bench.settings.max_steps;
        limit > 0 && self.steps.saturating_sub(self.lost) >= limit
    }

    fn limit_message(&self) -> String {
        format!(
            "stopped after {} steps; go on with another prompt, or raise the limit with --max-steps or the setting \
             `max_steps` (0 means no limit)",
            self.steps
        )
    }

    async fn after_step(&mut self, end: StepEnd) -> Result<Next, Stopped> {
        match end {
            StepEnd::Interrupted => Ok(self.interrupted()),
            StepEnd::GaveUp { error } if error.kind == ErrorKind::Overflow => Ok(self.after_overflow(&error)),
            StepEnd::GaveUp { error } => self.give_up(error).await,
            StepEnd::Failed { error, calls } => {
                if let Some(next) = calls.and_then(|calls| self.after_calls(calls)) {
                    return Ok(next);
                }
                if error.kind == ErrorKind::Overflow {
                    return Ok(self.after_overflow(&error));
                }
                self.after_failure(error).await
            }
            StepEnd::Answered { finish, calls, empty } => {
                self.failures = 0;
                if finish == Finish::Length && calls.is_none() && self.make_room_for_the_rest().await? {
                    return Ok(Next::Again);
                }
                self.room.answered();
                if let Some(calls) = calls {
                    return Ok(self.after_calls(calls).unwrap_or(Next::Again));
                }
                Ok(match end_after(&finish) {
                    (StopReason::EndTurn, None) if empty => Next::Close(Some(EMPTY.to_owned())),
                    (StopReason::EndTurn, message) => Next::Close(message),
                    (stop, message) => Next::End(stop, message),
                })
            }
        }
    }

    fn after_calls(&mut self, calls: CallsEnd) -> Option<Next> {
        if self.cancel.is_cancelled() {
            return Some(Next::End(StopReason::Interrupted, None));
        }
        match calls {
            CallsEnd::Ran => None,
            CallsEnd::Rejected => {
                Some(Next::End(StopReason::Rejected, Some("the user rejected a call".to_owned())))
            }
            CallsEnd::DoomLoop(text) => Some(Next::End(StopReason::DoomLoop, Some(text))),
        }
    }

    /// What was sent does not fit: room is made before the next step.
    fn after_overflow(&mut self, error: &ModelError) -> Next {
        self.room.overflowed(error.to_string());
        self.lost += 1;
        Next::Again
    }

    /// A step failed after it had said something, so that it cannot simply be tried again.
    async fn after_failure(&mut self, error: ModelError) -> Result<Next, Stopped> {
        self.failures += 1;
        if !error.retryable() || self.failures >= self.bench.settings.attempts {
            return self.give_up(error).await;
        }
        match self.wait_before_retry(self.failures, &error).await? {
            Waited::Done => {
                self.lost += 1;
                Ok(Next::Again)
            }
            Waited::Cancelled => Ok(self.interrupted()),
        }
    }

    /// A step was ended early: with its turn, or for something that was said and could not wait.
    fn interrupted(&self) -> Next {
        match self.cancel.is_cancelled() {
            true => Next::End(StopReason::Interrupted, None),
            false => Next::Again,
        }
    }

    /// The chain of the model that is asked: it begins anew with a model that somebody chose in between.
    pub(crate) fn follow(&mut self, model: &ModelRef) {
        if self.chain.as_ref().is_none_or(|chain| chain.current().model != *model) {
            let models = &self.bench.models;
            self.chain = Some(models.chain(Role::Default, models.role(Role::Default, model)));
        }
    }

    /// The model did not answer, however often it was asked: the next one does from here on, or the turn is over.
    async fn give_up(&mut self, error: ModelError) -> Result<Next, Stopped> {
        let Some(switch) = self.chain.as_mut().and_then(|chain| chain.advance(&error)) else {
            return Ok(Next::End(StopReason::ModelError, Some(describe(&error))));
        };
        let told = switch.to_string();
        self.link
            .emit(EventBody::Retrying { turn: self.id.clone(), attempt: 2, delay_ms: 0, error: told })
            .await?;
        self.link.record(vec![EntryBody::ModelChanged { model: switch.to.model }]).await?;
        self.failures = 0;
        self.lost += 1;
        Ok(Next::Again)
    }

    /// Waits as the provider or the policy says, and tells the faces.
    pub(crate) async fn wait_before_retry(
        &self,
        attempt: u32,
        error: &ModelError,
    ) -> Result<Waited, Stopped> {
        let delay = retry::delay(attempt, error.retry_after, self.bench.settings.retry_base, jitter());
        self.link
            .emit(EventBody::Retrying {
                turn: self.id.clone(),
                attempt: attempt + 1,
                delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                error: describe(error),
            })
            .await?;
        tokio::select! {
            () = self.nudge.cancelled() => Ok(Waited::Cancelled),
            () = tokio::time::sleep(delay) => Ok(Waited::Done),
        }
    }
}

const LENGTH: &str = "the model's output limit cut its answer; ask it to go on, or to be shorter";
const REFUSAL: &str = "the model or its provider declined to answer";
const EMPTY: &str = "the model returned an empty answer";

/// How a turn ends with an answer that ended like this and called nothing.
pub(crate) fn end_after(finish: &Finish) -> (StopReason, Option<String>) {
    match finish {
        Finish::Length => (StopReason::Length, Some(LENGTH.to_owned())),
        Finish::Refusal => (StopReason::Refusal, Some(REFUSAL.to_owned())),
        Finish::Interrupted => (StopReason::Interrupted, None),
        Finish::Error { message } => (StopReason::ModelError, Some(message.clone())),
        Finish::Stop | Finish::ToolCalls | Finish::Other { .. } | Finish::Died => (StopReason::EndTurn, None),
    }
}

/// What became of the calls of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallsEnd {
    /// Each has its result, and the model should see it.
    Ran,
    /// A person said no and nothing else.
    Rejected,
    /// The model went in circles.
    DoomLoop(String),
}

/// Whether a wait came to its end.
pub(crate) enum Waited {
    Done,
    Cancelled,
}

/// An error of a model, with what to do about it.
pub(crate) fn describe(error: &ModelError) -> String {
    let overflow = "the conversation no longer fits the model's window; start a new session or use a model with a \
                    larger window";
    let hint = match (&error.hint, error.kind) {
        (Some(hint), _) => Some(hint.as_str()),
        (None, ErrorKind::Overflow) => Some(overflow),
        (None, _) => None,
    };
    match hint {
        Some(hint) => format!("{error}\nhint: {hint}"),
        None => error.to_string(),
    }
}

/// A number from 0 to 1 that differs between processes that fail together.
fn jitter() -> f64 {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .subsec_nanos();
    f64::from(nanos % 1_000) / 1_000.0
}
