//! A call's hold on its command.

use std::sync::{Arc, Weak};

use rein_protocol::{JobInfo, JobState};
use tokio::sync::mpsc;

use super::Jobs;
use super::record::Job;

/// The hold of one call on a command. Dropping it ends the command, unless it was detached.
#[derive(Debug)]
pub struct Attached {
    job: Arc<Job>,
    output: mpsc::Receiver<Vec<u8>>,
    jobs: Weak<Jobs>,
    is_detached: bool,
}

impl Attached {
    pub(super) fn new(job: Arc<Job>, output: mpsc::Receiver<Vec<u8>>, jobs: Weak<Jobs>) -> Self {
        Self { job, output, jobs, is_detached: false }
    }

    /// The command.
    #[must_use]
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// What it prints; nothing more once the command itself is over. Can be dropped.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.output.recv().await
    }

    /// Asks the command to end. What it still prints comes from [`Self::next`], until it is over.
    pub fn ask_to_end(&self) {
        self.job.ask_to_end();
    }

    /// What became of it.
    #[must_use]
    pub fn state(&self) -> JobState {
        self.job.state()
    }

    /// Lets it go on in the background. What was printed by now has been seen by the model.
    /// Nothing if the conversation is over meanwhile.
    #[must_use]
    pub fn detach(mut self) -> Option<JobInfo> {
        self.job.mark_seen();
        self.is_detached = true;
        self.jobs.upgrade()?.name(&self.job)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if self.is_detached {
            return;
        }
        self.job.ask_to_end();
        if let Some(jobs) = self.jobs.upgrade() {
            jobs.release(&self.job);
        }
    }
}
