//! A summary from a model, or from the entries where no model gives a usable one.
//!
//! A conversation that does not fit the summariser's window is shown in chunks,
//! each with the summary of those before it. An overflow halves the chunks.

use rein_config::Summariser as Who;
use rein_llm::{ErrorKind, ModelError, ModelEvent, ModelRequest, Models, Role};
use rein_protocol::{Content, Cost, Finish, Message, ModelRef, SummarySource, Usage};
use tokio_util::sync::CancellationToken;

use super::Order;
use crate::context::budget::{self, Budget};
use crate::context::digest::{chunks, digest, pieces};
use crate::context::plan::Plan;
use crate::context::summary::{self, Flaw};
use crate::spending::{self, Caps};

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
    /// With what was spent until then.
    Interrupted(Spent),
}

/// What the requests for a summary used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spent {
    pub(super) usage: Option<Usage>,
    pub(super) cost: Cost,
}

impl Spent {
    pub(super) const NOTHING: Self = Self { usage: None, cost: Cost::ZERO };

    pub(super) fn add(&mut self, usage: Option<Usage>, cost: Cost) {
        if let Some(usage) = usage {
            *self.usage.get_or_insert_default() += usage;
        }
        self.cost += cost;
    }
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

/// Who is asked for a summary.
pub(super) struct Summariser<'a> {
    models: &'a Models,
    cancel: &'a CancellationToken,
    /// One after the other, until one gives a usable summary.
    asked: Vec<ModelRef>,
}

impl<'a> Summariser<'a> {
    /// As settings say, in a session that works with `current`. A small model that cannot do it is followed by the
    /// one that does the work.
    pub(super) fn new(
        models: &'a Models,
        cancel: &'a CancellationToken,
        who: Who,
        current: Option<&ModelRef>,
    ) -> Self {
        let small =
            current.filter(|_| who == Who::Small).map(|current| models.role(Role::Small, current).model);
        let mut asked: Vec<ModelRef> = small.into_iter().chain(current.cloned()).collect();
        asked.dedup();
        Self { models, cancel, asked }
    }

    /// Without those that caps forbid to ask.
    pub(super) fn within(mut self, caps: &Caps) -> Self {
        self.asked.retain(|model| !spending::is_refused(caps, self.models, model));
        self
    }
}

pub(super) async fn summarise(
    summariser: &Summariser<'_>,
    plan: &Plan<'_>,
    budget: &Budget,
    order: &Order<'_>,
) -> Summarised<Summary> {
    let mut spent = Spent::NOTHING;
    let mut flaw = Flaw::Failed("there is no model".to_owned());
    for model in &summariser.asked {
        flaw = match by_one(summariser, plan, model, budget, order, &mut spent).await {
            Ok(text) => {
                let source = SummarySource::Model { model: model.clone() };
                return Summarised::Done(Summary { text, source, usage: spent.usage, cost: spent.cost });
            }
            Err(None) => return Summarised::Interrupted(spent),
            Err(Some(flaw)) => flaw,
        };
        tracing::info!(%flaw, %model, "a model gave no summary");
    }
    let previous = plan.previous.map(|previous| previous.summary.as_str());
    Summarised::Done(Summary {
        text: digest(&plan.head, previous, budget.ruler.bytes(plan.summary_room)),
        source: SummarySource::Digest { why: flaw.to_string() },
        usage: spent.usage,
        cost: spent.cost,
    })
}

/// The summary of one model, or what is wrong with it; nothing if somebody interrupted.
async fn by_one(
    summariser: &Summariser<'_>,
    plan: &Plan<'_>,
    model: &ModelRef,
    budget: &Budget,
    order: &Order<'_>,
    spent: &mut Spent,
) -> Result<String, Option<Flaw>> {
    let limits = summariser.models.limits(model);
    let own = limits.context.map(|window| budget::usable(window, limits.output));
    let usable = budget.usable.unwrap_or(order.usable).min(order.usable).min(own.unwrap_or(u64::MAX));
    let mut most = budget.ruler.bytes(usable / 10 * 6).max(LEAST_CHUNK);
    loop {
        match by_model(summariser, plan, model, order, most, spent).await {
            Ok(text) => return Ok(text),
            Err(Failure::Interrupted) => return Err(None),
            Err(Failure::Overflow) if most / 2 >= LEAST_CHUNK => most /= 2,
            Err(Failure::Overflow) => {
                return Err(Some(Flaw::Failed("it does not fit the model's window".to_owned())));
            }
            Err(Failure::Flawed(flaw)) => return Err(Some(flaw)),
        }
    }
}

/// Why a model gave no summary.
enum Failure {
    Interrupted,
    Overflow,
    Flawed(Flaw),
}

/// The summary of all chunks, one after the other.
async fn by_model(
    summariser: &Summariser<'_>,
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
        summary = Some(of_chunk(summariser, chunk, summary.as_deref(), plan, model, order, spent).await?);
    }
    summary.ok_or(Failure::Flawed(Flaw::Empty))
}

async fn of_chunk(
    summariser: &Summariser<'_>,
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
        flaw = Some(match ask(summariser, model, &request, spent).await {
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
    summariser: &Summariser<'_>,
    model: &ModelRef,
    request: &ModelRequest,
    spent: &mut Spent,
) -> Result<Answer, NoAnswer> {
    let mut answer = Answer { text: String::new(), finish: Finish::Stop };
    let mut usage = None;
    let streamed = async {
        let mut stream = summariser.models.stream(model, request, summariser.cancel.clone()).await?;
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
        () = summariser.cancel.cancelled() => None,
        ended = streamed => Some(ended),
    };
    if let Some(counted) = usage {
        spent.add(usage, summariser.models.cost(model, &counted));
    } else if !answer.text.is_empty() {
        spent.cost = Cost::Unknown;
    }
    let Some(ended) = ended else { return Err(NoAnswer::Interrupted) };
    match ended {
        Ok(()) => Ok(answer),
        Err(_) if summariser.cancel.is_cancelled() => Err(NoAnswer::Interrupted),
        Err(error) => Err(NoAnswer::Error(error)),
    }
}
