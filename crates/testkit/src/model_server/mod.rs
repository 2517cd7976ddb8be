//! A model server on loopback that answers from a script and can misbehave.
//!
//! Owns the listening socket and the thread that serves it. The HTTP is its
//! own, so that bytes can be cut, held and split anywhere. It runs on a thread
//! and a runtime of its own: a test may block, or pause its clock, without
//! stopping the server.
//!
//! Layout: `script` and `turn` say what is answered; `conduct` how badly;
//! `wire` renders it, one file a protocol; `connection` reads HTTP; `play`
//! sends bytes at their moments; `state` is what connections and tests share.
//!
//! Invariant: the n-th of [`ModelServer::requests`] got the n-th turn, and when
//! a `ModelServer` is dropped its thread, tasks and sockets are gone.

mod conduct;
mod connection;
mod delta;
mod play;
mod request;
mod script;
mod script_file;
mod serve;
mod sse;
mod state;
mod turn;
mod wire;

use std::fmt::Write as _;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub use request::{RecordedRequest, Said, SaidCall};
pub use script::{Expectation, Script};
pub use script_file::{CallFile, PickFile, ScriptFile, TurnFile, UsageFile};
pub use turn::{StatusBody, Turn};

use state::{Shared, State};

/// How long a test waits for the server to see something before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running model server. Stops when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Handle,
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub async fn start(script: Script) -> Self {
        Self::start_blocking(script)
    }

    /// The same, for tests without a runtime.
    #[must_use]
    pub fn start_blocking(script: Script) -> Self {
        Self::start_on(script, 0).expect("a free port on loopback")
    }

    /// Starts a server on a certain port of 127.0.0.1; 0 for a free one.
    ///
    /// # Errors
    /// The port cannot be listened on.
    pub fn start_on(script: Script, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let shared = Arc::new(Shared::new(script));
        let stop = CancellationToken::new();
        let serve = serve::accept(listener, shared.clone(), stop.clone());
        let thread =
            thread::Builder::new().name("model-server".to_owned()).spawn(move || runtime.block_on(serve))?;
        Ok(Self { address, shared, runtime: handle, stop, thread: Some(thread) })
    }

    /// What a client is configured with: `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests for an answer so far, in the order in which they were complete.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.read(|state| state.requests.clone())
    }

    /// The other requests so far: listings of models, and unknown paths.
    #[must_use]
    pub fn other_requests(&self) -> Vec<RecordedRequest> {
        self.shared.read(|state| state.others.clone())
    }

    /// Opens a gate for good: every stream that waits at it or will come to it goes on.
    pub fn open_gate(&self, name: &str) {
        self.shared.update(|state| state.open_gates.insert(name.to_owned()));
    }

    /// Ends every stall for good, those to come included.
    pub fn release(&self) {
        self.shared.update(|state| state.released = true);
    }

    /// Waits until `count` requests for an answer have come; returns the last of them.
    pub async fn wait_for_request(&self, count: usize) -> RecordedRequest {
        assert!(count > 0, "requests are counted from 1");
        self.wait(format!("request {count}"), move |state| state.requests.get(count - 1).cloned()).await
    }

    /// Waits until `count` answers have been sent to their end.
    pub async fn wait_for_answers(&self, count: usize) {
        self.wait(format!("the end of answer {count}"), move |state| (state.answers >= count).then_some(()))
            .await
    }

    /// Waits until a stream has come to the gate: everything before it has been written to the socket.
    pub async fn wait_for_gate(&self, name: &str) {
        let gate = name.to_owned();
        let reached = move |state: &State| state.reached_gates.contains(&gate).then_some(());
        self.wait(format!("a stream to come to the gate `{name}`"), reached).await
    }

    /// Waits until a stream stalls: everything before the stall has been written to the socket.
    pub async fn wait_for_stall(&self) {
        self.wait("a stream to stall".to_owned(), |state| (state.stalls > 0).then_some(())).await
    }

    /// Waits until a client has dropped its connection before it had its whole answer.
    pub async fn wait_for_disconnect(&self) {
        self.wait_for_disconnects(1).await
    }

    /// Waits until that has happened `count` times.
    pub async fn wait_for_disconnects(&self, count: usize) {
        self.wait(format!("disconnect {count}"), move |state| (state.disconnects >= count).then_some(()))
            .await
    }

    /// How many clients dropped their connection before they had their whole answer.
    #[must_use]
    pub fn disconnects(&self) -> usize {
        self.shared.read(|state| state.disconnects)
    }

    /// Waits for one of the futures above in a test without a runtime.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// What went wrong so far: expectations not met, requests without a turn, malformed requests, turns not played.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        self.shared.read(State::all_failures)
    }

    /// Panics unless every turn was asked for and nothing went wrong.
    #[track_caller]
    pub fn assert_done(&self) {
        let failures = self.failures();
        assert!(failures.is_empty(), "the model server was not used as scripted:{}", self.summary(&failures));
    }

    async fn wait<T, F>(&self, what: String, ready: F) -> T
    where
        T: Send + 'static,
        F: FnMut(&State) -> Option<T> + Send + 'static,
    {
        let shared = self.shared.clone();
        // On the server's runtime, whose clock no test pauses.
        let waiting =
            self.runtime.spawn(async move { tokio::time::timeout(PATIENCE, shared.until(ready)).await });
        match AbortOnDropHandle::new(waiting).await {
            Ok(Ok(value)) => value,
            Ok(Err(_)) | Err(_) => {
                panic!("waited {PATIENCE:?} for {what}:{}", self.summary(&self.failures()))
            }
        }
    }

    fn summary(&self, failures: &[String]) -> String {
        let mut text = String::new();
        for failure in failures {
            let _ = write!(text, "\n- {failure}");
        }
        self.shared.read(|state| {
            let _ = write!(text, "\n({} requests, {} whole answers)", state.requests.len(), state.answers);
        });
        text
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread has been printed; the test's own verdict counts.
            let _ = thread.join();
        }
    }
}
