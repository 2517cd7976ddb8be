//! A summary from a model, or from the entries where no model gives a usable one.
//!
//! A conversation that does not fit the summariser's window is shown in chunks,
//! each with the summary of those before it. An overflow halves the chunks.

use rein_llm::{ErrorKind, ModelError, ModelEvent, ModelRequest};
use rein_protocol::{Content, Cost, Finish, Message, ModelRef, SummarySource, Usage};

use super::{Maker, Order};
use crate::context::budget::Budget;
use crate::context::digest::{chunks, digest, pieces};
use crate::context::plan::Plan;
use crate::context::summary::{self, Flaw};

/// How often a chunk is tried.
const ATTEMPTS: u32 = 2;
/// Chunks that a model is asked about; what is older is digested.
const MOST_CHUNKS: usize = 6;
/// Bytes of the smallest chunk.
const LEAST_CHUNK: usize = 2_000;

/// A summary, and how it came about.
pub(super) struct Summary {
    pub(super) text: String,
    pub(super) source: SummarySource,
    pub(super) usage: Option<Usage>,
    pub(super) cost: Cost,
}

/// Whether it came to its end.
pub(super) enum Summarised<T> {
    Done(T),
    Interrupted,
}

/// What the requests for a summary used.
struct Spent {
    usage: Option<Usage>,
    cost: Cost,
}

/// One answer.
struct Answer {
    text: String,
    finish: Finish,
}

/// Why there is no answer.
enum NoAnswer {
    Interrupted,
    Error(ModelError),
}

pub(super) async fn summarise(
    maker: &Maker<'_>,
    plan: &Plan<'_>,
    model: &ModelRef,
    budget: &Budget,
    order: &Order<'_>,
) -> Summarised<Summary> {
    let mut spent = Spent { usage: None, cost: Cost::ZERO };
    let room = plan.summary_room;
    let usable = budget.usable.unwrap_or(order.usable).min(order.usable);
    let mut most = budget.ruler.bytes(usable / 10 * 6).max(LEAST_CHUNK);
    let flaw = loop {
        match by_model(maker, plan, model, order, most, &mut spent).await {
            Ok(text) => {
                let source = SummarySource::Model { model: model.clone() };
                return Summarised::Done(Summary { text, source, usage: spent.usage, cost: spent.cost });
            }
            Err(Failure::Interrupted) => return Summarised::Interrupted,
            Err(Failure::Overflow) if most / 2 >= LEAST_CHUNK => most /= 2,
            Err(Failure::Overflow) => break Flaw::Failed("it does not fit the model's window".to_owned()),
            Err(Failure::Flawed(flaw)) => break flaw,
        }
    };
    tracing::info!(%flaw, "a summary is made without a model");
    let previous = plan.previous.map(|previous| previous.summary.as_str());
    Summarised::Done(Summary {
        text: digest(&plan.head, previous, budget.ruler.bytes(room)),
        source: SummarySource::Digest { why: flaw.to_string() },
        usage: spent.usage,
        cost: spent.cost,
    })
}

/// Why a model gave no summary.
enum Failure {
    Interrupted,
    Overflow,
    Flawed(Flaw),
}

/// The summary of all chunks, one after the other.
async fn by_model(
    maker: &Maker<'_>,
    plan: &Plan<'_>,
    model: &ModelRef,
    order: &Order<'_>,
    most: usize,
    spent: &mut Spent,
) -> Result<String, Failure> {
    let mut chunks = chunks(&pieces(&plan.head), most);
    let mut summary = plan.previous.map(|previous| previous.summary.clone());
    let older = chunks.len().saturating_sub(MOST_CHUNKS);
    if older > 0 {
        chunks.drain(..older);
        summary = Some(digest(&plan.head, summary.as_deref(), most / 4));
    }
    for chunk in &chunks {
        summary = Some(of_chunk(maker, chunk, summary.as_deref(), plan, model, order, spent).await?);
    }
    summary.ok_or(Failure::Flawed(Flaw::Empty))
}

async fn of_chunk(
    maker: &Maker<'_>,
    chunk: &str,
    previous: Option<&str>,
    plan: &Plan<'_>,
    model: &ModelRef,
    order: &Order<'_>,
    spent: &mut Spent,
) -> Result<String, Failure> {
    let mut flaw: Option<Flaw> = None;
    for _ in 0..ATTEMPTS {
        let text = summary::request(chunk, previous, order.focus, plan.summary_room, flaw.as_ref());
        let request = ModelRequest {
            model: model.model.clone(),
            system: vec![summary::system()],
            messages: vec![Message::User { content: vec![Content::text(text)] }],
            ..ModelRequest::default()
        };
        flaw = Some(match ask(maker, model, &request, spent).await {
            Ok(Answer { finish: Finish::Refusal, .. }) => Flaw::Declined,
            Ok(answer) => match summary::check(&answer.text, plan.summary_room) {
                Ok(summary) => return Ok(summary),
                Err(flaw) => flaw,
            },
            Err(NoAnswer::Interrupted) => return Err(Failure::Interrupted),
            Err(NoAnswer::Error(error)) if error.kind == ErrorKind::Overflow => {
                return Err(Failure::Overflow);
            }
            Err(NoAnswer::Error(error)) => Flaw::Failed(error.to_string()),
        });
    }
    Err(Failure::Flawed(flaw.unwrap_or(Flaw::Empty)))
}

/// Asks once, and reads the whole answer.
async fn ask(
    maker: &Maker<'_>,
    model: &ModelRef,
    request: &ModelRequest,
    spent: &mut Spent,
) -> Result<Answer, NoAnswer> {
    let mut answer = Answer { text: String::new(), finish: Finish::Stop };
    let mut usage = None;
    let streamed = async {
        let mut stream = maker.bench.models.stream(model, request, maker.cancel.clone()).await?;
        while let Some(events) = stream.next().await? {
            for event in events {
                match event {
                    ModelEvent::TextDelta { delta, .. } => answer.text.push_str(&delta),
                    ModelEvent::Usage(counted) => usage = Some(counted),
                    ModelEvent::Finished(finish) => answer.finish = finish,
                    _ => {}
                }
            }
        }
        Ok(())
    };
    let ended = tokio::select! {
        biased;
        () = maker.cancel.cancelled() => return Err(NoAnswer::Interrupted),
        ended = streamed => ended,
    };
    if let Some(counted) = usage {
        spent.cost += maker.bench.models.cost(model, &counted);
        *spent.usage.get_or_insert_default() += counted;
    } else if !answer.text.is_empty() {
        spent.cost = Cost::Unknown;
    }
    match ended {
        Ok(()) => Ok(answer),
        Err(_) if maker.cancel.is_cancelled() => Err(NoAnswer::Interrupted),
        Err(error) => Err(NoAnswer::Error(error)),
    }
}
