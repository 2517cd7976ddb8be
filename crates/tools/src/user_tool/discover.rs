//! Finding users' tools: every program of the folders is asked what it is,
//! several at once, each within a time and an amount.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rein_sandbox::{Ended, Grace, Status};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::UserTool;
use super::describe::Description;
use super::start::{Kind, Runner, Stamp, spawn};
use crate::contract::Tool;
use crate::program::{self, Extent};

/// As much as an answer to `describe` may have.
const MOST_ANSWER: usize = 64 * 1024;

/// A folder in which users put tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDirectory {
    /// Where. It need not exist.
    pub path: PathBuf,
    /// Whose it is.
    pub origin: Origin,
}

/// Whose a folder of tools is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user's own.
    User,
    /// That of a project, which the user trusts.
    Project,
}

/// How much is done to find tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long a program may take to describe itself.
    pub describe: Duration,
    /// How many programs describe themselves at once.
    pub at_once: usize,
    /// How many programs are looked at in all.
    pub programs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { describe: Duration::from_secs(5), at_once: 4, programs: 64 }
    }
}

/// What was found.
#[derive(Default)]
pub struct Discovered {
    /// Tools, in the order of their folders and then of their files' names.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What is wrong with the others.
    pub problems: Vec<Problem>,
}

/// Why a file did not become a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which file or folder.
    pub path: PathBuf,
    /// What is wrong.
    pub what: String,
    /// What the user can do.
    pub next_step: String,
}

/// Finds users' tools, and remembers what they said as long as they do not change.
#[derive(Default)]
pub struct UserTools {
    known: Mutex<HashMap<(PathBuf, Stamp), Description>>,
}

/// What a program said and what it was then, or what is wrong with it.
type Described = Result<(Description, Stamp), String>;

impl UserTools {
    /// Asks every program of the folders what it is. `taken` are the names of other tools; of two
    /// programs with one name the first counts. Nothing here fails: what is wrong is a [`Problem`].
    ///
    /// Programs are started by this, so folders of projects that are not trusted must not be given.
    pub async fn discover(
        &self,
        directories: &[ToolDirectory],
        taken: &[String],
        limits: Limits,
    ) -> Discovered {
        let mut found = Discovered::default();
        let mut runners = Vec::new();
        for directory in directories {
            candidates(directory, &mut runners, &mut found.problems);
        }
        if runners.len() > limits.programs {
            found.problems.extend(runners.drain(limits.programs..).map(|runner: Runner| {
                problem(
                    &runner.path,
                    format!("only {} programs are looked at", limits.programs),
                    "Remove programs that are not used.",
                )
            }));
        }
        let mut names: HashMap<String, PathBuf> = HashMap::new();
        for (runner, described) in self.describe_all(runners, limits).await {
            match described {
                Ok((description, stamp)) => match conflict(&description.name, taken, &names) {
                    None => {
                        names.insert(description.name.clone(), runner.path.clone());
                        found.tools.push(Arc::new(UserTool { description, runner, stamp }));
                    }
                    Some(what) => {
                        found.problems.push(problem(
                            &runner.path,
                            what,
                            "Give it another name in its answer to `describe`.",
                        ));
                    }
                },
                Err(what) => found.problems.push(problem(
                    &runner.path,
                    what,
                    &format!("Try it by hand: {}", runner.line("describe")),
                )),
            }
        }
        found
    }

    /// In the order that was given.
    async fn describe_all(&self, runners: Vec<Runner>, limits: Limits) -> Vec<(Runner, Described)> {
        let places = Arc::new(Semaphore::new(limits.at_once.max(1)));
        let mut running = JoinSet::new();
        let mut done: Vec<(usize, Runner, Described)> = Vec::new();
        for (index, runner) in runners.into_iter().enumerate() {
            let stamp = match Stamp::of(&runner.path).await {
                Ok(stamp) => stamp,
                Err(error) => {
                    done.push((index, runner, Err(format!("it cannot be read: {error}"))));
                    continue;
                }
            };
            if let Some(description) = self.remembered(&runner.path, &stamp) {
                done.push((index, runner, Ok((description, stamp))));
                continue;
            }
            let places = Arc::clone(&places);
            running.spawn(async move {
                let _place = places.acquire().await;
                let described = describe(&runner, limits.describe).await;
                (index, runner, described.map(|description| (description, stamp)))
            });
        }
        // What panicked is lost, which cannot happen; what is dropped here is ended with its processes.
        while let Some(described) = running.join_next().await {
            if let Ok((index, runner, described)) = described {
                if let Ok((description, stamp)) = &described {
                    self.remember(&runner.path, stamp, description);
                }
                done.push((index, runner, described));
            }
        }
        done.sort_by_key(|(index, _, _)| *index);
        done.into_iter().map(|(_, runner, described)| (runner, described)).collect()
    }

    fn remembered(&self, path: &Path, stamp: &Stamp) -> Option<Description> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(path.to_owned(), stamp.clone())).cloned()
    }

    fn remember(&self, path: &Path, stamp: &Stamp, description: &Description) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(other, _), _| other != path);
        known.insert((path.to_owned(), stamp.clone()), description.clone());
    }
}

/// The programs of a folder by their names, and what is wrong with what looks like one.
fn candidates(directory: &ToolDirectory, runners: &mut Vec<Runner>, problems: &mut Vec<Problem>) {
    let entries = match std::fs::read_dir(&directory.path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            let what = format!("the folder cannot be read: {error}");
            problems.push(problem(
                &directory.path,
                what,
                "Make it a folder that you may read, or remove it.",
            ));
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    for path in paths {
        // Started elsewhere than in this process's directory, a relative path would lead nowhere.
        let Ok(path) = std::path::absolute(&path) else { continue };
        match std::fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                if metadata.permissions().mode() & 0o002 != 0 {
                    let next_step = "Allow only yourself to change it: chmod o-w";
                    problems.push(problem(
                        &path,
                        "everybody on this machine may change it".to_owned(),
                        next_step,
                    ));
                    continue;
                }
            }
            Ok(_) => continue,
            Err(error) => {
                problems.push(problem(
                    &path,
                    format!("it cannot be looked at: {error}"),
                    "Repair or remove it.",
                ));
                continue;
            }
        }
        match Runner::of(&path, directory.origin) {
            Kind::Program(runner) => runners.push(runner),
            Kind::Other => {}
            Kind::Unusable(what, next_step) => problems.push(Problem { path, what, next_step }),
        }
    }
}

async fn describe(runner: &Runner, limit: Duration) -> Result<Description, String> {
    let home = runner.path.parent().unwrap_or(Path::new("/"));
    let spawn = spawn(runner, home, "describe", limit).grace(Grace(Duration::from_millis(200)));
    let collected = match program::collect(spawn, MOST_ANSWER, &CancellationToken::new()).await {
        Ok(collected) => collected,
        Err(error) => return Err(format!("it cannot be started: {error}")),
    };
    let errors = last_line(&collected.errors);
    match (collected.extent, collected.exit.ended, collected.exit.status) {
        (Extent::Cut, _, _) => {
            Err(format!("its answer to `describe` has more than {} KB", MOST_ANSWER / 1024))
        }
        (_, Ended::TimedOut, _) => {
            Err(format!("it did not answer `describe` within {} s", limit.as_secs_f64()))
        }
        (_, _, Status::Code(0)) => Description::parse(&collected.output),
        (_, _, Status::Code(code)) => Err(format!("its answer to `describe` was exit code {code}{errors}")),
        (_, _, Status::Signal(signal)) => Err(format!("`describe` was ended by signal {signal}{errors}")),
    }
}

fn last_line(errors: &str) -> String {
    match errors.trim().lines().next_back() {
        Some(line) => format!(": {}", line.chars().take(200).collect::<String>()),
        None => String::new(),
    }
}

fn conflict(name: &str, taken: &[String], names: &HashMap<String, PathBuf>) -> Option<String> {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    if taken.iter().any(|other| plain(other) == name) {
        return Some(format!("another tool is called {name} already"));
    }
    names.get(name).map(|other| format!("{} is called {name} already", other.display()))
}

fn problem(path: &Path, what: String, next_step: &str) -> Problem {
    Problem { path: path.to_owned(), what, next_step: next_step.to_owned() }
}
