//! One call, from its proposal to its recorded result.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use rein_protocol::{
    ArtifactId, CallResult, CallStatus, Content, Display, Effect, EntryBody, Intent, ToolCall,
};
use rein_tools::{Complaint, Outcome, Plan, Scene, arguments};
use tracing::Instrument;
use tracing::field::Empty;

use super::order::Place;
use super::output::CallOutput;
use super::{Desk, Ended};
use crate::plan_mode;
use crate::session::link::{Gate, GateRequest, Permit, Stopped};
use crate::spending;

/// How long a tool may take to come to an end once it was told to stop.
const STOP_GRACE: Duration = Duration::from_secs(5);

const STOPPED_FOR_A_MESSAGE: &str = "[stopped because the user sent a message, which follows]";

/// What a call's end means for the turn.
pub(super) enum Ending {
    Usual,
    Rejected,
    DoomLoop(String),
}

/// A result that is not recorded yet.
struct Finished {
    pictures: Vec<Content>,
    ending: Ending,
    status: CallStatus,
    text: String,
    display: Display,
    artifact: Option<ArtifactId>,
    duration: Duration,
}

impl Finished {
    /// A call that did not run, or not to its end.
    fn unfinished(status: CallStatus, display: Display, summary: &str, text: impl Into<String>) -> Self {
        let display = Display { blocks: Vec::new(), ..display }.with_summary(summary);
        Self {
            pictures: Vec::new(),
            ending: Ending::Usual,
            status,
            text: text.into(),
            display,
            artifact: None,
            duration: Duration::ZERO,
        }
    }
}

/// Takes a durable call through all of its stations.
pub(super) async fn run_call(
    desk: Arc<Desk>,
    call: ToolCall,
    doom: Option<String>,
    place: Place,
) -> Result<Ended, Stopped> {
    let stations = AssertUnwindSafe(pass_stations(&desk, &call, doom, &place)).catch_unwind().await;
    let result = match stations {
        Ok(result) => result?,
        Err(_) => Finished::unfinished(
            CallStatus::Failed,
            Display::titled(call.tool.clone()),
            "internal error",
            "The tool failed with an internal error of rein. It may have done part of its work. Try another way.",
        ),
    };
    // What was refused or withdrawn has not been tried.
    let failed = result.status == CallStatus::Failed;
    let recorded = CallResult {
        status: result.status,
        content: std::iter::once(Content::text(result.text.clone())).chain(result.pictures).collect(),
        display: result.display,
        artifact: result.artifact,
        duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
    };
    desk.link.record(vec![EntryBody::CallEnded { call: call.id.clone(), result: recorded }]).await?;
    drop(place);
    Ok(Ended { call: call.id, ending: result.ending, text: result.text, failed })
}

async fn pass_stations(
    desk: &Desk,
    call: &ToolCall,
    doom: Option<String>,
    place: &Place,
) -> Result<Finished, Stopped> {
    let plan = tokio::select! {
        biased;
        () = desk.cancel.cancelled() => return Ok(not_run(desk, call)),
        plan = plan_in_order(desk, call, place) => plan,
    };
    let plan = match plan {
        Ok(plan) => plan,
        Err(complaint) => return wrong(desk, call, doom, complaint).await,
    };
    let intent = plan.intent().clone();
    match judge(desk, call, intent.clone(), doom).await? {
        Gate::Go { permit } => {
            let span = tracing::info_span!("tool", call = %call.id, tool = call.tool, status = Empty);
            let run = run_plan(desk, call, plan, &intent, *permit).instrument(span.clone());
            let finished = run.await;
            span.record("status", tracing::field::debug(finished.status));
            Ok(finished)
        }
        closed => Ok(kept_back(desk, call, intent, closed)),
    }
}

/// A call that cannot be made as it is written. One that is repeated must pass the gate like any
/// other, although there is nothing to run.
async fn wrong(
    desk: &Desk,
    call: &ToolCall,
    doom: Option<String>,
    complaint: Complaint,
) -> Result<Finished, Stopped> {
    let intent = Intent { effects: Vec::new(), display: Display::titled(call.tool.clone()) };
    let gate = match doom {
        None => Gate::Go { permit: Box::default() },
        Some(finding) => judge(desk, call, intent.clone(), Some(finding)).await?,
    };
    Ok(match gate {
        Gate::Go { .. } => {
            Finished::unfinished(CallStatus::Failed, intent.display, "invalid call", complaint.0)
        }
        closed => kept_back(desk, call, intent, closed),
    })
}

async fn judge(desk: &Desk, call: &ToolCall, intent: Intent, doom: Option<String>) -> Result<Gate, Stopped> {
    let span = tracing::info_span!("gate", call = %call.id, tool = call.tool, outcome = Empty);
    let judged = pass_gate(desk, call, intent, doom).instrument(span.clone()).await;
    if let Ok(gate) = &judged {
        span.record("outcome", gate.name());
    }
    judged
}

async fn pass_gate(
    desk: &Desk,
    call: &ToolCall,
    intent: Intent,
    doom: Option<String>,
) -> Result<Gate, Stopped> {
    let (turn, tool) = (desk.turn.clone(), call.tool.clone());
    let patience = intent.effects.iter().find_map(|effect| match effect {
        Effect::Consult { question } => question.timeout.map(Duration::from_secs),
        _ => None,
    });
    let (call_id, span) = (call.id.clone(), tracing::Span::current());
    let gate = desk.link.gate(GateRequest { turn, call: call_id, tool, intent, doom, span });
    let Some(patience) = patience else { return gate.await };
    tokio::pin!(gate);
    tokio::select! {
        biased;
        answer = &mut gate => answer,
        () = tokio::time::sleep(patience) => {
            desk.link.expire(call.id.clone()).await;
            gate.await
        }
    }
}

/// The result of a call that was not let through.
fn kept_back(desk: &Desk, call: &ToolCall, intent: Intent, gate: Gate) -> Finished {
    match gate {
        Gate::Refused { text } => Finished::unfinished(CallStatus::Refused, intent.display, "refused", text),
        Gate::Rejected { message } => rejected(intent, message),
        Gate::Withheld => withheld(intent),
        Gate::DoomLoop { text } => {
            let summary = "refused: repeats itself";
            let mut result = Finished::unfinished(CallStatus::Refused, intent.display, summary, text.clone());
            result.ending = Ending::DoomLoop(text);
            result
        }
        Gate::Withdrawn | Gate::Go { .. } => not_run(desk, call),
    }
}

/// What it would have done stays to be seen.
fn withheld(intent: Intent) -> Finished {
    let blocks = intent.display.blocks.clone();
    let mut result =
        Finished::unfinished(CallStatus::Withheld, intent.display, "withheld", plan_mode::WITHHELD);
    result.display.blocks = blocks;
    result
}

fn not_run(desk: &Desk, call: &ToolCall) -> Finished {
    let display = Display::titled(call.tool.clone());
    let text = match desk.was_nudged() {
        false => "Not run: the user interrupted before this call began.",
        true => "Not run: the user sent a message before this call began. It follows.",
    };
    Finished::unfinished(CallStatus::NotRun, display, "not run", text)
}

fn rejected(intent: Intent, message: Option<String>) -> Finished {
    let (text, ending) = match message {
        Some(message) => (format!("The user rejected this call and said: {message}"), Ending::Usual),
        None => ("The user rejected this call.".to_owned(), Ending::Rejected),
    };
    let mut result = Finished::unfinished(CallStatus::Rejected, intent.display, "rejected", text);
    result.ending = ending;
    result
}

/// Plans the call when everything before it that matters to it is over.
async fn plan_in_order(desk: &Desk, call: &ToolCall, place: &Place) -> Result<Box<dyn Plan>, Complaint> {
    place.wait_for_plans().await;
    loop {
        // Of now: what an earlier call does while this one is planned may not have been seen.
        let earlier = place.earlier();
        match plan(desk, call).await {
            Ok(plan) => {
                let intent = plan.intent().clone();
                place.plan(intent.clone());
                if !earlier.conflict_with(&intent) {
                    return Ok(plan);
                }
                place.wait_for_conflicts(&intent).await;
            }
            // An earlier call may be about to make it right.
            Err(_) if earlier.are_under_way() => {
                place.unclear();
                place.wait_for_others().await;
            }
            Err(complaint) => return Err(complaint),
        }
    }
}

async fn plan(desk: &Desk, call: &ToolCall) -> Result<Box<dyn Plan>, Complaint> {
    let tools = &desk.bench.tools;
    let Some(tool) = tools.get(&call.tool) else { return Err(tools.unknown(&call.tool)) };
    tool.plan(arguments::read(&call.input, &tool.spec())?, &desk.bench.scene).await
}

/// Runs what was allowed, shows what it prints, and stops it when told to.
async fn run_plan(
    desk: &Desk,
    call: &ToolCall,
    plan: Box<dyn Plan>,
    intent: &Intent,
    permit: Permit,
) -> Finished {
    let began = Instant::now();
    let output = CallOutput::new(call.id.clone(), desk.link.clone(), desk.bench.artifacts.clone());
    let mut sink = output.clone();
    let scene = Scene {
        said: permit.said,
        jail: desk.bench.jailer.walls(&permit.rights),
        images: desk.manner.images,
        edit_form: desk.manner.edit_form,
        ..desk.bench.scene.clone()
    };
    let outcome = {
        let run = spending::charged(&desk.bench.ledger, plan.run(&scene, &mut sink, &desk.cancel));
        let stopped = async {
            tokio::select! {
                biased;
                outcome = run => Some(outcome),
                () = stop_is_overdue(desk) => None,
            }
        };
        output.shown_while(stopped).await
    };
    let outcome = outcome.unwrap_or_else(|| Outcome {
        status: CallStatus::Interrupted,
        display: intent.display.clone().with_summary("interrupted"),
        trailer: Some("[interrupted; it did not stop by itself]".to_owned()),
        pictures: Vec::new(),
    });
    let kept = output.finish().await;
    let news = scene.jobs.take_notices().into_iter().map(|notice| format!("[{notice}]"));
    let nudged = outcome.status == CallStatus::Interrupted && desk.was_nudged();
    let told = nudged.then(|| STOPPED_FOR_A_MESSAGE.to_owned());
    let trailer =
        outcome.trailer.into_iter().chain(told).chain(news).reduce(|all, next| format!("{all}\n{next}"));
    Finished {
        pictures: desk.bench.pictures.keep(outcome.pictures).await,
        ending: Ending::Usual,
        status: outcome.status,
        text: join_output(kept.text, trailer),
        display: outcome.display,
        artifact: kept.artifact,
        duration: began.elapsed(),
    }
}

async fn stop_is_overdue(desk: &Desk) {
    desk.cancel.cancelled().await;
    tokio::time::sleep(STOP_GRACE).await;
}

pub(crate) fn join_output(text: String, trailer: Option<String>) -> String {
    match trailer {
        None => text,
        Some(trailer) if text.is_empty() => trailer,
        Some(trailer) if text.ends_with('\n') => text + &trailer,
        Some(trailer) => text + "\n" + &trailer,
    }
}
