//! `job`: commands in the background.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{Display, Intent, JobInfo, Timestamp, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::jobs::{Job, Printed};
use crate::schema;
use crate::terminal;

/// Seconds that are waited if nothing is said.
const WAIT: u64 = 60;

/// How long a program may take to read what is typed.
const TYPING: Duration = Duration::from_secs(10);

/// Characters of a line.
const LINE_CHARS: usize = crate::bound::TERMINAL_LINE_CHARS;

/// Looks after commands in the background.
pub(crate) struct JobTool;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    action: Action,
    id: Option<String>,
    input: Option<String>,
    lines: Option<usize>,
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Read,
    Wait,
    Kill,
    Write,
}

#[async_trait]
impl Tool for JobTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "job".to_owned(),
            description: include_str!("job.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let Arguments { action, id, input, lines, timeout } = arguments::parse("job", arguments)?;
        let named = |id: Option<String>| match id.as_deref() {
            None => the_only_one(scene),
            Some(id) => scene.jobs.find(id).ok_or_else(|| unknown(id, scene)),
        };
        let (title, step) = match action {
            Action::List => ("job list".to_owned(), Step::List),
            Action::Read => {
                let job = named(id)?;
                (titled("read", &job), Step::Read { job, lines })
            }
            Action::Wait => {
                let job = named(id)?;
                let timeout = Duration::from_secs(timeout.unwrap_or(WAIT));
                (titled("wait", &job), Step::Wait { job, timeout })
            }
            Action::Kill => {
                let job = named(id)?;
                (titled("kill", &job), Step::Kill { job })
            }
            Action::Write => {
                let job = named(id)?;
                let Some(input) = input else {
                    return Err(Complaint("`input`: missing, what is to be typed is required".to_owned()));
                };
                (titled("write", &job), Step::Write { job, input })
            }
        };
        Ok(Box::new(Looking {
            intent: Intent { effects: Vec::new(), display: Display::titled(title) },
            step,
        }))
    }
}

fn titled(action: &str, job: &Job) -> String {
    let id = job.id().map(|id| id.to_string()).unwrap_or_default();
    format!("job {action} {id} ({})", crate::jobs::short(job.command()))
}

fn the_only_one(scene: &Scene) -> Result<Arc<Job>, Complaint> {
    match scene.jobs.list().as_slice() {
        [one] => scene.jobs.find(&one.id.0).ok_or_else(|| unknown(&one.id.0, scene)),
        _ => Err(Complaint(format!("`id`: missing, say which job. {}", known(scene)))),
    }
}

fn unknown(id: &str, scene: &Scene) -> Complaint {
    let id: String = id.chars().take(40).collect();
    Complaint(format!("There is no job `{id}`. {}", known(scene)))
}

fn known(scene: &Scene) -> String {
    let names: Vec<String> = scene.jobs.list().into_iter().map(|job| job.id.0).collect();
    if names.is_empty() {
        return "There are none; bash with `background` starts one.".to_owned();
    }
    format!("There are: {}.", names.join(", "))
}

enum Step {
    List,
    Read { job: Arc<Job>, lines: Option<usize> },
    Wait { job: Arc<Job>, timeout: Duration },
    Kill { job: Arc<Job> },
    Write { job: Arc<Job>, input: String },
}

struct Looking {
    intent: Intent,
    step: Step,
}

#[async_trait]
impl Plan for Looking {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        let display = self.intent.display;
        match self.step {
            Step::List => {
                let jobs = scene.jobs.list();
                output.write(listed(&jobs).as_bytes());
                Outcome::completed(display.with_summary(format!("{} jobs", jobs.len())))
            }
            Step::Read { job, lines } => {
                let printed = match lines {
                    None => job.take_unseen(),
                    Some(lines) => last(&job, lines),
                };
                shown(display, &job, &printed, output)
            }
            Step::Wait { job, timeout } => {
                let over = tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Outcome::interrupted(display),
                    over = tokio::time::timeout(timeout, job.over()) => over,
                };
                if over.is_ok() {
                    scene.jobs.forget_notice(&job);
                }
                let printed = job.take_unseen();
                shown(display, &job, &printed, output)
            }
            Step::Kill { job } => {
                tokio::select! {
                    biased;
                    () = scene.jobs.end(&job) => {}
                    () = cancel.cancelled() => return Outcome::interrupted(display),
                }
                let printed = job.take_unseen();
                shown(display, &job, &printed, output)
            }
            Step::Write { job, input } => typed(display, &job, &input, cancel).await,
        }
    }
}

fn listed(jobs: &[JobInfo]) -> String {
    let mut text = String::new();
    for job in jobs {
        let until = job.ended_at.unwrap_or_else(Timestamp::now);
        let seconds = until.0.saturating_sub(job.started_at.0) / 1_000;
        let command = crate::jobs::short(&job.command);
        let _ =
            writeln!(text, "{} {}, {seconds} s, {} bytes: {command}", job.id, job.state, job.output_bytes);
    }
    if text.is_empty() { "no jobs\n".to_owned() } else { text }
}

/// The last lines of what is still in memory.
fn last(job: &Job, lines: usize) -> Printed {
    let printed = job.since(0);
    let text = terminal::plain(&printed.bytes, LINE_CHARS);
    let cut = crate::bound::truncate(&text, lines.max(1), text.len(), crate::bound::Keep::Tail);
    Printed { bytes: cut.text.into_bytes(), missed: 0, ..printed }
}

fn shown(display: Display, job: &Job, printed: &Printed, output: &mut dyn Output) -> Outcome {
    if printed.missed > 0 {
        let place = match job.log_file() {
            Some((path, dropped)) if dropped < printed.missed => format!("; see {}", path.display()),
            _ => String::new(),
        };
        output.write(format!("[… {} bytes before this{place}]\n", printed.missed).as_bytes());
    }
    output.expect_terminal();
    output.write(&printed.bytes);
    let state = job.state();
    let nothing = if printed.bytes.is_empty() { "; nothing new was printed" } else { "" };
    let id = job.id().map(|id| id.to_string()).unwrap_or_default();
    let trailer = format!("[{id} {}{state}{nothing}]", if state.is_alive() { "is " } else { "" });
    Outcome::completed(display.with_summary(state.to_string())).with_trailer(Some(trailer))
}

async fn typed(display: Display, job: &Job, input: &str, cancel: &CancellationToken) -> Outcome {
    let Some(terminal) = job.terminal() else {
        let why = if job.state().is_alive() { "was not started with `pty`" } else { "is over" };
        return Outcome::failed(display, format!("Nothing can be typed: the job {why}."));
    };
    let typing = tokio::time::timeout(TYPING, terminal.write(input.as_bytes()));
    let written = tokio::select! {
        biased;
        () = cancel.cancelled() => return Outcome::interrupted(display),
        written = typing => written,
    };
    match written {
        Ok(Ok(())) => Outcome::completed(display.with_summary("typed"))
            .with_trailer(Some("[typed; read or wait shows the answer]".to_owned())),
        Ok(Err(error)) => Outcome::failed(display, format!("It could not be typed: {error}.")),
        Err(_) => Outcome::failed(display, "The program does not read what is typed. Kill it or wait."),
    }
}
