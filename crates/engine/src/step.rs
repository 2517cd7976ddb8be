//! A step: one answer of the model, and the calls that it makes.
//!
//! A call is set going as soon as its arguments are complete, while the answer
//! still streams. The step is over when the stream has ended and every call
//! has its result. What had come of a broken answer is kept.

use std::time::Instant;

use rein_llm::{ModelError, ModelRequest, ModelStream};
use rein_protocol::{Cost, EntryBody, Finish, ToolCall};
use tracing::Instrument;
use tracing::field::Empty;

use crate::assembler::{Assembler, Step};
use crate::context::cache::Fingerprint;
use crate::dispatch::{Calls, Manner};
use crate::session::link::{StepStart, Stopped};
use crate::turn::{CallsEnd, Turn, Waited};
use crate::{pictures, request};

/// How a step ended.
pub(crate) enum StepEnd {
    /// The model said what it had to say. `calls` is present if it made any.
    Answered { finish: Finish, calls: Option<CallsEnd>, empty: bool },
    /// The model did not answer, however often it was asked.
    GaveUp { error: ModelError },
    /// The model failed in the middle of its answer.
    Failed { error: ModelError, calls: Option<CallsEnd> },
    /// Somebody interrupted.
    Interrupted,
}

/// How a stream ended.
enum StreamEnd {
    Finished,
    GaveUp(ModelError),
    Failed(ModelError),
    Interrupted,
}

/// Asks the model once, runs what it calls, and records both.
pub(crate) async fn run_step(turn: &mut Turn) -> Result<StepEnd, Stopped> {
    let span = tracing::info_span!("step", turn = %turn.id, step = Empty, model = Empty);
    take_step(turn).instrument(span).await
}

async fn take_step(turn: &mut Turn) -> Result<StepEnd, Stopped> {
    let start = turn.link.begin_step(&turn.id).await?;
    tracing::Span::current()
        .record("step", start.step)
        .record("model", tracing::field::display(&start.model));
    turn.steps = start.step;
    turn.nudge = start.nudge.clone();
    turn.follow(&start.model);
    let mut answer = Assembler::new(turn.id.clone());
    let manner = Manner {
        images: pictures::in_results(&turn.bench.models, &start.model),
        edit_form: request::edit_form(&turn.bench.models, &start.model),
    };
    let mut calls = Calls::new(turn, manner);
    let span = model_call(turn, &start);
    let (request, sent) = request::of_step(turn, &start).await;
    let asked = async {
        Ok(match open_stream(turn, &start, &request).await? {
            Ok(stream) => pump(turn, stream, &mut answer, &mut calls).await?,
            Err(end) => end,
        })
    };
    let end = asked.instrument(span.clone()).await?;
    if let Some(usage) = answer.usage() {
        span.record("input_tokens", usage.input).record("output_tokens", usage.output);
    }
    drop(span);
    let mut rest = Vec::new();
    answer.close(&mut rest);
    let ended = ended(turn, &start, &answer, &end, sent);
    carry_out_last(turn, rest, ended, &mut calls).await?;
    let made_calls = !calls.is_empty();
    let calls_end = calls.join(&mut turn.doom).await?;
    let calls = made_calls.then_some(calls_end);
    Ok(match end {
        StreamEnd::Interrupted => StepEnd::Interrupted,
        StreamEnd::GaveUp(error) => StepEnd::GaveUp { error },
        StreamEnd::Failed(error) => StepEnd::Failed { error, calls },
        StreamEnd::Finished => StepEnd::Answered {
            finish: answer.finish().cloned().unwrap_or(Finish::Stop),
            calls,
            empty: !answer.produced(),
        },
    })
}

/// From the request to the end of the answer.
fn model_call(turn: &Turn, start: &StepStart) -> tracing::Span {
    tracing::info_span!(
        "model_call",
        turn = %turn.id,
        step = start.step,
        model = %start.model,
        first_token_ms = Empty,
        input_tokens = Empty,
        output_tokens = Empty
    )
}

/// Runs calls that were proposed before the process died and never begun.
pub(crate) async fn run_pending(turn: &mut Turn, pending: Vec<ToolCall>) -> Result<CallsEnd, Stopped> {
    let mut calls = Calls::new(turn, Manner::default());
    for call in pending {
        calls.start(call, &mut turn.doom);
    }
    calls.join(&mut turn.doom).await
}

/// Opens the stream, trying again as long as that makes sense.
async fn open_stream(
    turn: &Turn,
    start: &StepStart,
    request: &ModelRequest,
) -> Result<Result<ModelStream, StreamEnd>, Stopped> {
    let mut attempt = 1;
    loop {
        let error = match turn.bench.models.stream(&start.model, request, turn.nudge.clone()).await {
            Ok(stream) => return Ok(Ok(stream)),
            Err(_) if turn.nudge.is_cancelled() => return Ok(Err(StreamEnd::Interrupted)),
            Err(error) => error,
        };
        if !error.retryable() || attempt >= turn.bench.settings.attempts {
            return Ok(Err(StreamEnd::GaveUp(error)));
        }
        match turn.wait_before_retry(attempt, &error).await? {
            Waited::Done => attempt += 1,
            Waited::Cancelled => return Ok(Err(StreamEnd::Interrupted)),
        }
    }
}

/// Reads the stream to its end.
async fn pump(
    turn: &mut Turn,
    mut stream: ModelStream,
    answer: &mut Assembler,
    calls: &mut Calls,
) -> Result<StreamEnd, Stopped> {
    let mut steps = Vec::new();
    let (began, mut is_silent) = (Instant::now(), true);
    loop {
        let batch = tokio::select! {
            biased;
            () = turn.nudge.cancelled() => return Ok(StreamEnd::Interrupted),
            batch = stream.next() => batch,
        };
        match batch {
            Ok(Some(events)) => {
                if std::mem::take(&mut is_silent) {
                    let waited = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                    tracing::Span::current().record("first_token_ms", waited);
                }
                for event in events {
                    answer.push(event, &mut steps);
                }
                carry_out(turn, std::mem::take(&mut steps), calls).await?;
            }
            Ok(None) => return Ok(StreamEnd::Finished),
            Err(_) if turn.nudge.is_cancelled() => return Ok(StreamEnd::Interrupted),
            Err(error) => return Ok(StreamEnd::Failed(error)),
        }
    }
}

async fn carry_out(turn: &mut Turn, steps: Vec<Step>, calls: &mut Calls) -> Result<(), Stopped> {
    for step in steps {
        match step {
            Step::Delta(body) => turn.link.emit(body).await?,
            Step::Part(body) => turn.link.record(vec![body]).await?,
            Step::Call(body, call) => {
                turn.link.record(vec![body]).await?;
                calls.start(call, &mut turn.doom);
            }
        }
    }
    Ok(())
}

/// The last words and the end of the step become durable together: an answer
/// that was complete is never taken for one that was cut.
async fn carry_out_last(
    turn: &mut Turn,
    steps: Vec<Step>,
    ended: EntryBody,
    calls: &mut Calls,
) -> Result<(), Stopped> {
    let mut bodies = Vec::new();
    let mut complete = Vec::new();
    for step in steps {
        match step {
            Step::Delta(body) => turn.link.emit(body).await?,
            Step::Part(body) => bodies.push(body),
            Step::Call(body, call) => {
                bodies.push(body);
                complete.push(call);
            }
        }
    }
    bodies.push(ended);
    turn.link.record(bodies).await?;
    for call in complete {
        calls.start(call, &mut turn.doom);
    }
    Ok(())
}

fn ended(
    turn: &Turn,
    start: &StepStart,
    answer: &Assembler,
    end: &StreamEnd,
    sent: Fingerprint,
) -> EntryBody {
    let finish = match end {
        StreamEnd::Finished => answer.finish().cloned().unwrap_or(Finish::Stop),
        StreamEnd::GaveUp(error) | StreamEnd::Failed(error) => Finish::Error { message: error.to_string() },
        StreamEnd::Interrupted => Finish::Interrupted,
    };
    let usage = answer.usage();
    let cost = match usage {
        Some(usage) => turn.bench.models.cost(&start.model, &usage),
        // What was not answered at all is not billed.
        None if matches!(end, StreamEnd::GaveUp(_)) => Cost::ZERO,
        None => Cost::Unknown,
    };
    let cache = turn.bench.cache.report(sent, usage);
    EntryBody::StepEnded { turn: turn.id.clone(), step: start.step, finish, usage, cost, cache }
}
