//! What the connections of a server and the test that owns it share.
//!
//! One lock, never held across an await or a closure of the test's; every
//! change wakes all who wait for one.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::request::RecordedRequest;
use super::script::{Check, Script, Then};
use super::turn::Turn;

pub(crate) struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

pub(crate) struct State {
    pub(crate) turns: VecDeque<Turn>,
    pub(crate) then: Then,
    pub(crate) checks: Vec<Check>,
    pub(crate) models: Vec<String>,
    pub(crate) requests: Vec<RecordedRequest>,
    pub(crate) others: Vec<RecordedRequest>,
    pub(crate) failures: Vec<String>,
    pub(crate) open_gates: HashSet<String>,
    pub(crate) reached_gates: HashSet<String>,
    pub(crate) released: bool,
    pub(crate) stalls: usize,
    pub(crate) disconnects: usize,
    pub(crate) answers: usize,
    calls: u64,
}

impl Shared {
    pub(crate) fn new(script: Script) -> Self {
        let state = State {
            turns: script.turns,
            then: script.then,
            checks: script.checks,
            models: script.models,
            requests: Vec::new(),
            others: Vec::new(),
            failures: Vec::new(),
            open_gates: HashSet::new(),
            reached_gates: HashSet::new(),
            released: false,
            stalls: 0,
            disconnects: 0,
            answers: 0,
            calls: 0,
        };
        Self { state: Mutex::new(state), changed: watch::Sender::new(()) }
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let value = change(&mut self.lock());
        self.changed.send_replace(());
        value
    }

    pub(crate) fn fail(&self, failure: String) {
        self.update(|state| state.failures.push(failure));
    }

    /// Waits until `ready` finds what it looks for.
    pub(crate) async fn until<T>(&self, mut ready: impl FnMut(&State) -> Option<T>) -> T {
        let mut changed = self.changed.subscribe();
        loop {
            if let Some(value) = self.read(&mut ready) {
                return value;
            }
            changed.changed().await.expect("the sender lives as long as this borrow");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next `count` ids for tool calls, never given before by this server.
    pub(crate) fn call_ids(&mut self, count: usize) -> Vec<String> {
        (0..count)
            .map(|_| {
                self.calls += 1;
                format!("call_{}", self.calls)
            })
            .collect()
    }

    pub(crate) fn all_failures(&self) -> Vec<String> {
        let mut failures = self.failures.clone();
        if !self.turns.is_empty() {
            failures.push(format!("{} of the scripted turns were never asked for", self.turns.len()));
        }
        failures
    }
}
