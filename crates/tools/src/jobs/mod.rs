//! Commands of a conversation: the one that a call waits for, and those that go
//! on in the background.
//!
//! Every command is started here and belongs to a task that reads what it
//! prints, whether or not a call is attached to it. A call that lets go of its
//! command without detaching it ends it; what was detached gets a name, is
//! listed, and ends by itself, by [`Jobs::end`], or with the conversation.
//! Dropping [`Jobs`] kills everything.
//!
//! Layout: `record` is one command, `log` what it printed, `follow` the task, `room`
//! what it may put into its temporary directory.

mod attached;
mod follow;
mod log;
mod record;
mod room;

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rein_protocol::{JobId, JobInfo};
use rein_sandbox::{Process, SandboxError, Spawn};
use tokio::sync::{broadcast, mpsc};
use tokio_util::task::AbortOnDropHandle;

pub use attached::Attached;
pub use log::Printed;
pub(crate) use record::short;
pub use record::{Job, TimeLimit};

/// Pieces of output that may wait for a call.
const PIECES: usize = 8;

/// Changes that may wait for a subscriber.
const CHANGES: usize = 256;

/// Notices that may wait for the model.
const NOTICES: usize = 32;

/// Jobs that are over and can still be looked at.
const REMEMBERED: usize = 32;

/// Figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSettings {
    /// How many commands may run at a time.
    pub most_running: usize,
    /// After which time a command goes on in the background by itself.
    pub background_after: Option<Duration>,
    /// How many bytes of a job's output are kept in its log.
    pub output_cap: u64,
    /// Where logs are kept; without it only the end of an output is.
    pub directory: Option<PathBuf>,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self {
            most_running: 16,
            background_after: Some(Duration::from_secs(60)),
            output_cap: 1 << 30,
            directory: None,
        }
    }
}

/// Why a command was not started.
#[derive(Debug)]
pub enum NotStarted {
    /// So many run already.
    TooMany(usize),
    /// The conversation is over.
    Closed,
    /// It could not be.
    Failed(SandboxError),
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(count) => write!(
                f,
                "{count} commands run already, which is as many as may; wait for one or end one with job first"
            ),
            Self::Closed => f.write_str("the conversation is being closed"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// The commands of a conversation.
#[derive(Debug)]
pub struct Jobs {
    settings: JobSettings,
    shelf: Mutex<Shelf>,
    changes: broadcast::Sender<JobInfo>,
}

#[derive(Debug, Default)]
struct Shelf {
    /// Those that a call waits for, or that are about to be forgotten.
    attached: Vec<Kept>,
    /// Those with a name, oldest first.
    named: Vec<Kept>,
    names: u64,
    notices: VecDeque<(JobId, String)>,
    is_closed: bool,
}

#[derive(Debug)]
struct Kept {
    job: Arc<Job>,
    task: AbortOnDropHandle<()>,
}

impl Default for Jobs {
    fn default() -> Self {
        Self::new(JobSettings::default())
    }
}

impl Jobs {
    /// None yet.
    #[must_use]
    pub fn new(settings: JobSettings) -> Self {
        Self { settings, shelf: Mutex::default(), changes: broadcast::channel(CHANGES).0 }
    }

    /// The figures.
    #[must_use]
    pub fn settings(&self) -> &JobSettings {
        &self.settings
    }

    /// Starts a command and attaches the caller to it.
    ///
    /// # Errors
    ///
    /// [`NotStarted`], which says what to do.
    pub async fn start(
        self: &Arc<Self>,
        spawn: &Spawn,
        command: &str,
        limit: TimeLimit,
    ) -> Result<Attached, NotStarted> {
        self.check_room()?;
        let process = Process::start(spawn).await.map_err(NotStarted::Failed)?;
        let terminal = process.terminal().cloned();
        let job = Arc::new(Job::new(command, &spawn.cwd, terminal, limit));
        let (sender, receiver) = mpsc::channel(PIECES);
        let room = room::Room::of(spawn);
        let following =
            follow::follow(process, Arc::clone(&job), sender, spawn.grace, Arc::downgrade(self), room);
        let kept = Kept { job: Arc::clone(&job), task: AbortOnDropHandle::new(tokio::spawn(following)) };
        {
            let mut shelf = self.shelf();
            if shelf.is_closed {
                return Err(NotStarted::Closed);
            }
            shelf.attached.push(kept);
        }
        Ok(Attached::new(job, receiver, Arc::downgrade(self)))
    }

    /// Those with a name, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<JobInfo> {
        self.shelf().named.iter().filter_map(|kept| kept.job.info()).collect()
    }

    /// Those that a call waits for: a person may type on the terminal of one that has one.
    #[must_use]
    pub fn attached(&self) -> Vec<Arc<Job>> {
        let shelf = self.shelf();
        let running = shelf.attached.iter().filter(|kept| kept.job.state().is_alive());
        running.map(|kept| Arc::clone(&kept.job)).collect()
    }

    /// One by its name; its number alone does.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<Job>> {
        let name = name.trim();
        let shelf = self.shelf();
        let found = shelf.named.iter().find(|kept| {
            kept.job
                .id()
                .is_some_and(|id| id.0.eq_ignore_ascii_case(name) || id.0.strip_prefix("job_") == Some(name))
        });
        found.map(|kept| Arc::clone(&kept.job))
    }

    /// Ends one and waits until it is over. The model is not told of it again.
    pub async fn end(&self, job: &Job) {
        job.ask_to_end();
        job.over().await;
        self.forget_notice(job);
    }

    /// Ends all, and waits until they are over. Nothing can be started any more.
    pub async fn end_all(&self) {
        let kept = {
            let mut shelf = self.shelf();
            shelf.is_closed = true;
            let mut kept = std::mem::take(&mut shelf.attached);
            kept.append(&mut shelf.named);
            kept
        };
        for kept in &kept {
            kept.job.ask_to_end();
        }
        for kept in kept {
            // A task that failed has dropped its process, which is dead then.
            let _ = kept.task.await;
        }
    }

    /// Told of every job that begins, changes or ends. Who is slow misses some and can [`list`](Self::list).
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<JobInfo> {
        self.changes.subscribe()
    }

    /// What the model has not been told yet: a sentence for every job that ended since the last time.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        self.shelf().notices.drain(..).map(|(_, notice)| notice).collect()
    }

    /// The model has seen how this job ended.
    pub(crate) fn forget_notice(&self, job: &Job) {
        self.shelf().notices.retain(|(id, _)| job.id().as_ref() != Some(id));
    }

    /// Gives a job a name and lets it go on.
    fn name(&self, job: &Arc<Job>) -> Option<JobInfo> {
        let mut shelf = self.shelf();
        let at = shelf.attached.iter().position(|kept| Arc::ptr_eq(&kept.job, job))?;
        let kept = shelf.attached.swap_remove(at);
        shelf.names += 1;
        let id = JobId(format!("job_{}", shelf.names));
        job.give_name(id.clone(), self.settings.directory.as_deref(), self.settings.output_cap);
        shelf.named.push(kept);
        shelf.forget_oldest();
        drop(shelf);
        // It may have ended just before it got its name.
        self.changed(job);
        job.info()
    }

    /// A call is done with a command that it did not detach.
    fn release(&self, job: &Arc<Job>) {
        let mut shelf = self.shelf();
        // One that still runs is kept until its task has ended it.
        shelf.attached.retain(|kept| !Arc::ptr_eq(&kept.job, job) || kept.job.state().is_alive());
    }

    /// A job has another state.
    fn changed(&self, job: &Arc<Job>) {
        if !job.state().is_alive() {
            self.notice(job);
        }
        self.publish(job);
    }

    fn notice(&self, job: &Arc<Job>) {
        let Some(info) = job.info() else { return };
        let mut shelf = self.shelf();
        if shelf.notices.iter().any(|(id, _)| *id == info.id) {
            return;
        }
        if shelf.notices.len() == NOTICES {
            shelf.notices.pop_front();
        }
        let notice = format!("{} (`{}`) {}", info.id, short(&info.command), info.state);
        shelf.notices.push_back((info.id, notice));
    }

    fn publish(&self, job: &Arc<Job>) {
        if let Some(info) = job.info() {
            // Without subscribers there is nobody to tell.
            let _ = self.changes.send(info);
        }
    }

    fn check_room(&self) -> Result<(), NotStarted> {
        let mut shelf = self.shelf();
        shelf.attached.retain(|kept| !kept.task.is_finished());
        let all = shelf.attached.iter().chain(&shelf.named);
        let running = all.filter(|kept| kept.job.state().is_alive()).count();
        match (shelf.is_closed, running < self.settings.most_running) {
            (true, _) => Err(NotStarted::Closed),
            (false, true) => Ok(()),
            (false, false) => Err(NotStarted::TooMany(running)),
        }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn forget_oldest(&mut self) {
        let over = self.named.iter().filter(|kept| !kept.job.state().is_alive()).count();
        for _ in REMEMBERED..over {
            if let Some(at) = self.named.iter().position(|kept| !kept.job.state().is_alive()) {
                self.named.remove(at);
            }
        }
    }
}
