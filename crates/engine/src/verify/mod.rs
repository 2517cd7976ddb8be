//! Self-verification: a command of the user that proves the work, run when the
//! model of a turn that changed something is done.
//!
//! Only its exit code counts. How often it was run in a turn and whether it has
//! to run again is read from the journal, so that it is the same after a crash.
//! `running` takes it through the gate and the sandbox like any other command.

mod running;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rein_config::VerifyMode;
use rein_permission::{Action, Policy};
use rein_protocol::message::AssistantPart;
use rein_protocol::{Author, CallStatus, Effect, Entry, EntryBody, EventBody, Intent, Mode, StopReason};

use crate::closing::{broken_off, said};
use crate::paths::FileSystemPaths;
use crate::session::link::{Stopped, Survey};
use crate::turn::{Next, Turn};
use running::{Check, run};

/// What the title of a check begins with. No tool has such a name.
const TITLE: &str = "verify: ";
/// What a report to the model begins with.
const REPORT: &str = "[The check `";

/// What proves the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// The command line.
    pub command: String,
    /// What a failure means.
    pub mode: VerifyMode,
    /// How often it is run in one turn before it has failed for good.
    pub attempts: u32,
    /// How long it may take.
    pub timeout: Duration,
}

/// How it stands with a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Standing {
    /// Something was changed since the last check.
    changed: bool,
    /// Checks that failed.
    failures: u32,
    /// The last check failed.
    failed: bool,
}

/// Whether a text is a report to the model, and not the person's own words.
pub(crate) fn is_report(text: &str) -> bool {
    text.starts_with(REPORT)
}

/// Whether a turn whose model is done has something to prove.
pub(crate) fn is_due(branch: &[Arc<Entry>]) -> bool {
    let standing = standing(branch, Path::new("/"));
    standing.changed || standing.failed
}

/// Proves the work of a turn whose model is done. Nothing if there is nothing to prove.
pub(crate) async fn at_the_end(turn: &Turn, survey: &Survey) -> Result<Option<Next>, Stopped> {
    let Some(verify) = &turn.bench.settings.verify else { return Ok(None) };
    let before = standing(&survey.history, &turn.bench.scene.workspace);
    if !before.changed && !before.failed {
        return Ok(None);
    }
    let check = run(turn, verify).await?;
    let attempt = before.failures + 1;
    let last = match verify.mode {
        VerifyMode::Enforcing => attempt >= verify.attempts,
        // Told once, and not again.
        VerifyMode::Advisory => attempt > 1,
    };
    let (ended, outcome) = check;
    let mut bodies = Vec::from_iter(ended);
    let (notice, next) = match outcome {
        Check::Interrupted => (None, Next::End(broken_off(turn), None)),
        Check::Passed => {
            (Some(format!("the check `{}` passed", verify.command)), Next::End(StopReason::EndTurn, None))
        }
        Check::NotRun { why } => {
            let told = format!("the check `{}` was not run: {why}", verify.command);
            let stop = match verify.mode {
                VerifyMode::Advisory => StopReason::EndTurn,
                VerifyMode::Enforcing => StopReason::VerifyFailed,
            };
            (Some(told.clone()), Next::End(stop, Some(told)))
        }
        Check::Failed { how, text: _ } if last => {
            let told = given_up(verify, &how, attempt);
            let stop = match verify.mode {
                VerifyMode::Advisory => StopReason::EndTurn,
                VerifyMode::Enforcing => StopReason::VerifyFailed,
            };
            (Some(told.clone()), Next::End(stop, Some(told)))
        }
        Check::Failed { how, text } => {
            bodies.push(said(&turn.id, report(verify, &how, &text, attempt), Author::FailedCheck));
            (Some(format!("the check `{}` failed ({how}): the model is told", verify.command)), Next::Again)
        }
    };
    turn.link.record(bodies).await?;
    if let Some(message) = notice {
        turn.link.emit(EventBody::Notice { message }).await?;
    }
    Ok(Some(next))
}

fn report(verify: &Verify, how: &str, text: &str, attempt: u32) -> String {
    let again = match verify.mode {
        VerifyMode::Enforcing => format!(
            "It will be run again when you are done: attempt {attempt} of {} failed.",
            verify.attempts
        ),
        VerifyMode::Advisory => "This is said once.".to_owned(),
    };
    format!(
        "{REPORT}{}` failed ({how}). rein runs it when you are done, because the user wants it to pass. Find the cause \
         and mend it; leave the check itself alone. {again}]\n\n{text}",
        verify.command
    )
}

fn given_up(verify: &Verify, how: &str, attempt: u32) -> String {
    match verify.mode {
        VerifyMode::Advisory => format!("the check `{}` still fails ({how})", verify.command),
        VerifyMode::Enforcing => {
            let times = if attempt == 1 { "once".to_owned() } else { format!("{attempt} times") };
            format!(
                "the check `{}` failed {times}, the last time with {how}\n\
                 hint: look at its output above, and go on with another prompt",
                verify.command
            )
        }
    }
}

/// What happened since the turn began.
fn standing(branch: &[Arc<Entry>], workspace: &Path) -> Standing {
    let start = branch.iter().rposition(|entry| matches!(entry.body, EntryBody::TurnEnded { .. }));
    let turn = branch.get(start.map_or(0, |place| place + 1)..).unwrap_or_default();
    let looking = Policy { paths: Arc::new(FileSystemPaths), ..Policy::new(workspace, Mode::Tight) };
    let (mut proposed, mut begun, mut checks) = (HashSet::new(), HashMap::new(), HashSet::new());
    let mut standing = Standing::default();
    for entry in turn {
        match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => drop(proposed.insert(&call.id)),
            EntryBody::CallStarted { call, intent } if proposed.contains(call) => {
                begun.insert(call, intent);
            }
            EntryBody::CallStarted { call, intent } if intent.display.title.starts_with(TITLE) => {
                checks.insert(call);
            }
            EntryBody::CallEnded { call, result } if checks.contains(call) => match result.status {
                CallStatus::Completed => {
                    standing = Standing { changed: false, failed: false, ..standing };
                }
                CallStatus::Failed => {
                    let failures = standing.failures + 1;
                    standing = Standing { changed: false, failed: true, failures };
                }
                // It says nothing about the work.
                _ => {}
            },
            EntryBody::CallEnded { call, result } => {
                // What failed or was stopped may have done a part of its work.
                let ran = match result.status {
                    CallStatus::Completed
                    | CallStatus::Failed
                    | CallStatus::Interrupted
                    | CallStatus::Unknown => true,
                    CallStatus::Refused
                    | CallStatus::Rejected
                    | CallStatus::NotRun
                    | CallStatus::Withheld => false,
                };
                let changes = || begun.get(call).is_some_and(|intent| changes(intent, &looking));
                standing.changed = standing.changed || ran && changes();
            }
            _ => {}
        }
    }
    standing
}

/// Whether a call that ran may have changed something: it wrote, or it ran a command that does more than look.
fn changes(intent: &Intent, looking: &Policy) -> bool {
    let effects: Vec<Effect> = intent
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Write { .. } | Effect::Execute { .. }))
        .cloned()
        .collect();
    let intent = Intent { effects, display: rein_protocol::Display::default() };
    !intent.effects.is_empty() && looking.judge(&intent).action != Action::Allow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_only_looks_changes_nothing() {
        let looking = Policy::new("/w", Mode::Tight);
        let changed =
            |effect: Effect| changes(&Intent { effects: vec![effect], ..Intent::default() }, &looking);
        let run = |command: &str| Effect::Execute {
            command: command.to_owned(),
            cwd: "/w".into(),
            prelude: String::new(),
        };
        assert!(!changed(run("ls src")) && !changed(run("grep -n x a.txt | head -3")));
        assert!(changed(run("touch a")) && changed(run("make")));
        assert!(changed(Effect::Write { path: "/w/a".into() }));
        assert!(!changed(Effect::Read { path: "/w/a".into() }));
        assert!(!changed(Effect::Fetch { url: "https://example.com".to_owned() }));
    }
}
