//! One run of the check: judged, confined, timed, bounded and recorded like a
//! command of the model, but in a shell of its own and never in the background.

use std::sync::Arc;
use std::time::Instant;

use rein_protocol::{CallId, CallResult, CallStatus, Content, EntryBody, Intent};
use rein_tools::{JobSettings, Jobs, Registry, Scene, SharedShellState};
use serde_json::json;

use super::{TITLE, Verify};
use crate::dispatch::{CallOutput, join_output};
use crate::session::link::{Gate, GateRequest, Stopped};
use crate::turn::Turn;

const SHELL: &str = "bash";

/// What came of it.
pub(super) enum Check {
    Passed,
    /// It ran and failed.
    Failed {
        /// In a few words: `exit 1`.
        how: String,
        /// What it printed, bounded.
        text: String,
    },
    /// It was not permitted.
    NotRun {
        why: String,
    },
    Interrupted,
}

/// Runs it. The entry that ends it is for the caller to record, with what follows from it.
pub(super) async fn run(turn: &Turn, verify: &Verify) -> Result<(Option<EntryBody>, Check), Stopped> {
    let scene = scene(turn, verify);
    let builtin = Registry::builtin();
    let arguments = json!({ "command": verify.command, "timeout": verify.timeout.as_secs().max(1) });
    let planned = match turn.bench.tools.get(SHELL).or_else(|| builtin.get(SHELL)) {
        Some(tool) => tool.plan(arguments, &scene).await,
        None => return Ok((None, Check::NotRun { why: "there is no shell".to_owned() })),
    };
    let plan = match planned {
        Ok(plan) => plan,
        Err(complaint) => return Ok((None, Check::NotRun { why: complaint.0 })),
    };
    let mut display = plan.intent().display.clone();
    display.title = format!("{TITLE}{}", display.title);
    let intent = Intent { effects: plan.intent().effects.clone(), display: display.clone() };
    let call = CallId::new();
    let request = GateRequest {
        turn: turn.id.clone(),
        call: call.clone(),
        tool: "verify".to_owned(),
        intent,
        doom: None,
        span: tracing::info_span!("gate", call = %call, tool = "verify"),
    };
    let permit = match turn.link.gate(request).await? {
        Gate::Go { permit } => permit,
        Gate::Withdrawn => return Ok((None, Check::Interrupted)),
        Gate::Refused { text } | Gate::DoomLoop { text } => return Ok((None, Check::NotRun { why: text })),
        Gate::Rejected { message } => {
            let why = message.unwrap_or_else(|| "it was rejected".to_owned());
            return Ok((None, Check::NotRun { why }));
        }
        Gate::Withheld => return Ok((None, Check::NotRun { why: "this is plan mode".to_owned() })),
    };
    let scene = Scene { jail: turn.bench.jailer.walls(&permit.rights), ..scene };
    let began = Instant::now();
    let output = CallOutput::new(call.clone(), turn.link.clone(), turn.bench.artifacts.clone());
    let mut sink = output.clone();
    let outcome = output.shown_while(plan.run(&scene, &mut sink, &turn.nudge)).await;
    scene.jobs.end_all().await;
    let kept = output.finish().await;
    let how = outcome.display.summary.clone().unwrap_or_else(|| "no exit code".to_owned());
    let text = join_output(kept.text, outcome.trailer);
    let result = CallResult {
        status: outcome.status,
        content: vec![Content::text(text.clone())],
        display: display.with_summary(how.clone()),
        artifact: kept.artifact,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    let check = match outcome.status {
        CallStatus::Completed => Check::Passed,
        CallStatus::Interrupted => Check::Interrupted,
        _ => Check::Failed { how, text },
    };
    Ok((Some(EntryBody::CallEnded { call, result }), check))
}

/// Nothing of what the model's commands left behind reaches the check, and it does not go on without us.
fn scene(turn: &Turn, verify: &Verify) -> Scene {
    let jobs = JobSettings {
        most_running: 1,
        background_after: None,
        output_cap: turn.bench.settings.output_bytes,
        directory: None,
    };
    Scene {
        jobs: Arc::new(Jobs::new(jobs)),
        shell_state: Arc::new(SharedShellState::default()),
        command_timeout: verify.timeout,
        ..turn.bench.scene.clone()
    }
}
