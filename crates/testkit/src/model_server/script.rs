//! What a server answers, request by request.
//!
//! Turns are played in order; when they are used up, either a function of the
//! request decides or the request is a failure. Closures of the test run
//! outside of any lock, and a panic in one becomes a failure with its message.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::request::RecordedRequest;
use super::turn::Turn;

/// The answers of a [`ModelServer`](super::ModelServer).
#[must_use]
pub struct Script {
    pub(crate) turns: VecDeque<Turn>,
    pub(crate) then: Then,
    pub(crate) checks: Vec<Check>,
    pub(crate) models: Vec<String>,
}

/// What answers when the turns are used up.
#[derive(Clone)]
pub(crate) enum Then {
    Fail,
    Decide(Judge<Turn>),
}

/// A closure of the test's that looks at a request.
type Judge<T> = Arc<dyn Fn(&RecordedRequest) -> Result<T, String> + Send + Sync>;

impl Script {
    /// No turns: every request for an answer is a failure.
    pub fn new() -> Self {
        Self {
            turns: VecDeque::new(),
            then: Then::Fail,
            checks: Vec::new(),
            models: vec!["test-model".to_owned()],
        }
    }

    /// Each answer is a function of its request, so that a client that died and comes back with the
    /// same conversation gets the same answer.
    pub fn reply_with(decide: impl Fn(&RecordedRequest) -> Turn + Send + Sync + 'static) -> Self {
        Self::new().then_reply_with(decide)
    }

    /// A request with n messages of the assistant in it gets the n-th turn, counted from 0, as often
    /// as it comes. More messages than turns are a failure.
    pub fn by_conversation(turns: impl IntoIterator<Item = Turn>) -> Self {
        let turns: Vec<Turn> = turns.into_iter().collect();
        let decide = move |request: &RecordedRequest| {
            let said = request.assistant_messages();
            turns.get(said).cloned().ok_or_else(|| {
                format!(
                    "the conversation has {said} assistant messages and the script only {} turns",
                    turns.len()
                )
            })
        };
        Self { then: Then::Decide(Arc::new(decide)), ..Self::new() }
    }

    /// The same turn for every request, for ever.
    pub fn always(turn: Turn) -> Self {
        Self::reply_with(move |_| turn.clone())
    }

    /// The same turns over and over.
    pub fn cycle(turns: impl IntoIterator<Item = Turn>) -> Self {
        let turns: Vec<Turn> = turns.into_iter().collect();
        let next = std::sync::atomic::AtomicUsize::new(0);
        Self::reply_with(move |_| {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            turns.get(index % turns.len().max(1)).cloned().expect("a cycle has at least one turn")
        })
    }

    /// One more turn.
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push_back(turn);
        self
    }

    /// More turns.
    pub fn turns(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.turns.extend(turns);
        self
    }

    /// The same turn, `times` times.
    pub fn repeat(self, times: usize, turn: Turn) -> Self {
        self.turns(std::iter::repeat_n(turn, times))
    }

    /// After the turns, each answer is a function of its request.
    pub fn then_reply_with(
        mut self,
        decide: impl Fn(&RecordedRequest) -> Turn + Send + Sync + 'static,
    ) -> Self {
        self.then = Then::Decide(Arc::new(move |request| Ok(decide(request))));
        self
    }

    /// Something that must hold for every request; see [`Turn::expect`].
    pub fn expect<R: Expectation>(
        mut self,
        check: impl Fn(&RecordedRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.checks.push(Check::new(check));
        self
    }

    /// The names that `/models` lists; `test-model` unless told.
    pub fn models<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.models = names.into_iter().map(Into::into).collect();
        self
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

/// What an expectation may return: nothing (it asserts), a truth, or a result.
pub trait Expectation {
    /// `Err` with the reason if it is not met.
    fn outcome(self) -> Result<(), String>;
}

impl Expectation for () {
    fn outcome(self) -> Result<(), String> {
        Ok(())
    }
}

impl Expectation for bool {
    fn outcome(self) -> Result<(), String> {
        if self { Ok(()) } else { Err("it returned false".to_owned()) }
    }
}

impl<E: Display> Expectation for Result<(), E> {
    fn outcome(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// An expectation on a request.
#[derive(Clone)]
pub(crate) struct Check(Judge<()>);

impl Check {
    pub(crate) fn new<R: Expectation>(check: impl Fn(&RecordedRequest) -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |request| guarded(|| check(request).outcome()).and_then(|outcome| outcome)))
    }

    pub(crate) fn run(&self, request: &RecordedRequest) -> Result<(), String> {
        (self.0)(request)
    }
}

/// Runs a closure of the test; a panic becomes its message.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panic_message(panic.as_ref()))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "it panicked".to_owned(),
    }
}
