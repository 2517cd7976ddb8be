//! Asking git for something, with nothing of the repository being run.

use std::ffi::OsString;
use std::path::PathBuf;

use rein_sandbox::{Ended, SandboxError, Status};
use tokio_util::sync::CancellationToken;

use super::failure;
use super::neutral::{Conduct, Override, overrides, spawn};
use super::repository::Repository;
use super::request::Revision;
use crate::contract::Scene;
use crate::program::{self, Collected, Extent};

/// As much as is taken of an answer that is read as a whole: a hundred thousand files.
pub(super) const MOST_ANSWER: usize = 48 * 1024 * 1024;

/// Names of filters and drivers that a configuration may have; more are no accident.
const MOST_OVERRIDES: usize = 1_000;

/// Files of which it is asked how they are stored.
const MOST_ATTRIBUTED: usize = 200;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The user did not want it any more.
    Interrupted,
    /// What the model is told.
    Failed(String),
}

/// What git said.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its output.
    pub(super) output: Vec<u8>,
    /// Whether that is all of it.
    pub(super) extent: Extent,
    /// Its exit code.
    pub(super) code: i32,
    /// What it wrote to its standard error.
    pub(super) errors: String,
}

/// Somebody who asks git.
pub(super) struct Asker<'a> {
    /// Where git is.
    pub(super) git: PathBuf,
    /// Where the call happens.
    pub(super) scene: &'a Scene,
    /// Which repository is asked.
    pub(super) repository: &'a Repository,
    /// When to stop.
    pub(super) cancel: &'a CancellationToken,
    overrides: Vec<Override>,
}

impl<'a> Asker<'a> {
    /// Looks what must be kept from running, and whether git finds the repository that was found before.
    pub(super) async fn new(
        scene: &'a Scene,
        repository: &'a Repository,
        cancel: &'a CancellationToken,
    ) -> Result<Self, Stop> {
        let git = program::find("git").ok_or_else(|| {
            Stop::Failed("git is not installed: there is none in PATH. Ask the user to install it.".into())
        })?;
        let mut asker = Self { git, scene, repository, cancel, overrides: Vec::new() };
        let place = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"];
        let place = asker.ask(&place.map(OsString::from), MOST_ANSWER).await?;
        repository.must_be(&place.output).map_err(Stop::Failed)?;
        let keys = ["config", "--list", "--name-only", "-z"].map(OsString::from);
        let keys = asker.ask(&keys, MOST_ANSWER).await?;
        asker.overrides = overrides(&keys.output);
        if keys.extent == Extent::Cut || asker.overrides.len() > MOST_OVERRIDES {
            return Err(Stop::Failed(
                "Nothing was read: the configuration of the repository names too many filters and drivers to switch them off."
                    .into(),
            ));
        }
        Ok(asker)
    }

    /// What git answers; a refusal is a failure.
    pub(super) async fn ask(&self, arguments: &[OsString], most: usize) -> Result<Answer, Stop> {
        let answer = self.try_ask(arguments, most).await?;
        if answer.code != 0 && answer.extent == Extent::Whole {
            return Err(Stop::Failed(failure::sentence(&answer.errors, self.repository)));
        }
        Ok(answer)
    }

    /// What git answers, whatever its exit code.
    pub(super) async fn try_ask(&self, arguments: &[OsString], most: usize) -> Result<Answer, Stop> {
        let spawn = spawn(self.scene, &self.git, Conduct::Read(&self.overrides), arguments);
        let collected = program::collect(spawn, most, self.cancel).await;
        answer(collected, self.scene, self.cancel)
    }

    /// A remark if some of these files are stored by a filter, which was not run to compare them.
    pub(super) async fn unfiltered<'p>(
        &self,
        paths: impl Iterator<Item = &'p PathBuf>,
    ) -> Result<Option<String>, Stop> {
        let is_filter = |(key, _): &Override| key.as_encoded_bytes().starts_with(b"filter.");
        let root = &self.repository.root;
        let paths: Vec<OsString> = paths.take(MOST_ATTRIBUTED).map(|path| root.join(path).into()).collect();
        if paths.is_empty() || !self.overrides.iter().any(is_filter) {
            return Ok(None);
        }
        let words = ["check-attr", "-z", "filter", "--"].map(OsString::from);
        let arguments: Vec<OsString> = words.into_iter().chain(paths).collect();
        let answer = self.try_ask(&arguments, MOST_ANSWER).await?;
        let mut values = answer.output.split(|byte| *byte == 0).skip(2).step_by(3);
        let stored = values.any(|value| !value.is_empty() && !matches!(value, b"unspecified" | b"unset"));
        Ok(stored.then(|| {
            "the repository's filters (such as lfs) were not run: what they store otherwise can show as changed"
                .to_owned()
        }))
    }

    /// The hash of the commit that a name stands for.
    pub(super) async fn commit(&self, rev: &Revision) -> Result<String, Stop> {
        // A revision cannot begin with a dash, so it is no option.
        let arguments = ["rev-parse", "--verify", "--quiet"].map(OsString::from);
        let arguments: Vec<OsString> =
            arguments.into_iter().chain([OsString::from(format!("{}^{{commit}}", rev.0))]).collect();
        let answer = self.try_ask(&arguments, 1_000).await?;
        let name = String::from_utf8_lossy(&answer.output).trim().to_owned();
        if answer.code == 0 && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(name);
        }
        Err(Stop::Failed(match self.has_commits().await? {
            true => format!("There is no commit `{}` here. Look with log or branch what there is.", rev.0),
            false => "There are no commits yet.".to_owned(),
        }))
    }

    /// Whether `HEAD` names a commit.
    pub(super) async fn has_commits(&self) -> Result<bool, Stop> {
        let arguments = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"].map(OsString::from);
        Ok(self.try_ask(&arguments, 1_000).await?.code == 0)
    }
}

/// What a process left, as an answer.
pub(super) fn answer(
    collected: Result<Collected, SandboxError>,
    scene: &Scene,
    cancel: &CancellationToken,
) -> Result<Answer, Stop> {
    let collected = match collected {
        Ok(_) | Err(SandboxError::NotStarted { .. }) if cancel.is_cancelled() => {
            return Err(Stop::Interrupted);
        }
        Ok(collected) => collected,
        Err(error) => return Err(Stop::Failed(format!("git was not run: {error}."))),
    };
    let Collected { exit, output, extent, errors } = collected;
    if exit.ended == Ended::TimedOut {
        let seconds = scene.command_timeout.as_secs();
        return Err(Stop::Failed(format!(
            "git was ended because it took longer than {seconds} s. Narrow the call with paths or rev, or use bash with a longer timeout."
        )));
    }
    let code = match exit.status {
        Status::Code(code) => code,
        Status::Signal(_) if extent == Extent::Cut => 0,
        Status::Signal(signal) => {
            return Err(Stop::Failed(format!("git was killed by signal {signal}. {}", errors.trim())));
        }
    };
    Ok(Answer { output, extent, code, errors })
}
