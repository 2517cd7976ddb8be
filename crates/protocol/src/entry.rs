//! What the journal keeps: an append-only tree of entries.
//!
//! An entry is durable before the effect that it announces may happen. Nothing
//! rewrites an entry; later ones say what became of earlier ones. What a face
//! shows and what a model is sent are pure functions of a branch of the tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::compaction::{Compaction, PrunedResult};
use crate::display::Display;
use crate::effort::Effort;
use crate::id::{ArtifactId, AskId, CallId, EntryId, PartId, Seq, SessionId, Timestamp, TurnId};
use crate::intent::{Intent, Mode};
use crate::message::{AssistantPart, Content, ModelRef};
use crate::usage::{CacheReport, Cost, Usage};

/// One line of a session's journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Its name.
    pub id: EntryId,
    /// Whose it is.
    pub session: SessionId,
    /// The entry it follows; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntryId>,
    /// Its place among the session's events.
    pub seq: Seq,
    /// When it was appended.
    pub at: Timestamp,
    /// What it says.
    pub body: EntryBody,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryBody {
    /// A message waits for its moment.
    Queued {
        /// The turn it will belong to.
        turn: TurnId,
        /// What was said.
        content: Vec<Content>,
        /// When it is to be delivered.
        delivery: Delivery,
    },
    /// A message of the person reached the conversation.
    User {
        /// The turn that it starts or joins.
        turn: TurnId,
        /// What was said.
        content: Vec<Content>,
        /// How it came.
        delivery: Delivery,
        /// The entry with which it was queued, if it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued: Option<EntryId>,
        /// Whose words these are.
        #[serde(default, skip_serializing_if = "Author::is_person")]
        author: Author,
    },
    /// A model is about to be called.
    StepStarted {
        /// In which turn.
        turn: TurnId,
        /// Counted from 1 within the turn.
        step: u32,
        /// Which model.
        model: ModelRef,
    },
    /// A model said something, completely or as far as it came.
    Part {
        /// In which turn.
        turn: TurnId,
        /// The id its deltas had.
        part: PartId,
        /// What it said.
        body: AssistantPart,
    },
    /// The model call is over.
    StepEnded {
        /// In which turn.
        turn: TurnId,
        /// Which step.
        step: u32,
        /// How it ended.
        finish: Finish,
        /// What it used, if the provider said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// What it cost.
        cost: Cost,
        /// How much of the request a cache served, and what kept it from more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache: Option<CacheReport>,
    },
    /// A call waits for a person.
    Asked {
        /// The question.
        ask: Ask,
    },
    /// It was decided whether a call may run.
    Decided {
        /// Which call.
        call: CallId,
        /// The decision.
        decision: Decision,
    },
    /// A call is about to run. From here on its effects may have happened.
    CallStarted {
        /// Which call.
        call: CallId,
        /// What it is going to do.
        intent: Intent,
    },
    /// A call is over. Every call gets exactly one of these.
    CallEnded {
        /// Which call.
        call: CallId,
        /// What became of it.
        result: CallResult,
    },
    /// The agent is idle again.
    TurnEnded {
        /// Which turn.
        turn: TurnId,
        /// Why.
        stop: StopReason,
        /// In words, where there is something to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// From here on another model answers.
    ModelChanged {
        /// Which.
        model: ModelRef,
    },
    /// From here on another mode holds.
    ModeChanged {
        /// Which.
        mode: Mode,
    },
    /// The session was opened again after its process had died in the middle of something.
    Recovered {
        /// What was found open and how it was closed, for the person.
        message: String,
    },
    /// A message that waits was changed or taken back.
    QueueChanged {
        /// The entry with which it was queued.
        queued: EntryId,
        /// What it says now. Absent: it is taken back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Vec<Content>>,
    },
    /// From here on models are sent a marker in place of some results.
    Pruned {
        /// Which results, and the markers.
        results: Vec<PrunedResult>,
    },
    /// The person went to an earlier place of the tree: to this entry's parent. What had been said since
    /// stays in the tree.
    Travelled {
        /// Where the person came from.
        from: EntryId,
    },
    /// The person ran a command by themselves. The model reads of it with the next message.
    PersonRan {
        /// Names its output.
        call: CallId,
        /// What was run.
        command: String,
        /// What came of it.
        result: CallResult,
    },
    /// The session has a name from now on.
    Titled {
        /// The name.
        title: String,
        /// Who gave it.
        by: Titler,
        /// What naming it used, if a model did and its provider said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// What naming it cost, if a model did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
    },
    /// How much the model thinks from the next step on.
    EffortChanged {
        /// How much; what settings say if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
    },
    /// From here on models are sent a summary in place of the earlier part of the conversation.
    Compacted {
        /// What stands for what.
        compaction: Box<Compaction>,
    },
}

/// Whose words a message to the model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The person's.
    #[default]
    Person,
    /// rein's, because the person approved a plan.
    ApprovedPlan,
    /// rein's, because a check of the work failed.
    FailedCheck,
}

impl Author {
    /// Whether a person wrote it.
    #[must_use]
    pub fn is_person(&self) -> bool {
        *self == Self::Person
    }
}

/// Who named a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Titler {
    /// A person; no model changes it any more.
    Person,
    /// A model.
    Model,
}

/// When a message reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// At once, as a turn of its own; if one is under way, like a follow-up.
    #[default]
    Prompt,
    /// At the next step of the turn that is under way; if there is none, at once.
    Steer,
    /// After the turn that is under way, as one of its own.
    FollowUp,
    /// At once also in the turn that is under way: the answer or the calls that keep it busy are
    /// interrupted, and it goes on with this. If there is no turn, like a prompt.
    Now,
}

impl Delivery {
    /// Whether it joins the turn that is under way.
    #[must_use]
    pub fn joins_turn(self) -> bool {
        match self {
            Self::Steer | Self::Now => true,
            Self::Prompt | Self::FollowUp => false,
        }
    }
}

/// How a model call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The model wants its calls run.
    ToolCalls,
    /// The output limit was reached.
    Length,
    /// The provider or the model declined.
    Refusal,
    /// Something else, in the provider's word.
    Other {
        /// The provider's word.
        reason: String,
    },
    /// The person interrupted.
    Interrupted,
    /// rein's process died while the model spoke.
    Died,
    /// The call failed; what had come is kept.
    Error {
        /// In the provider's words where there are any.
        message: String,
    },
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done and no call was pending.
    EndTurn,
    /// The cap on steps was reached.
    MaxSteps,
    /// The model repeated itself and nobody said that it may go on.
    DoomLoop,
    /// A person rejected a call without further words.
    Rejected,
    /// A person or a signal interrupted.
    Interrupted,
    /// The model could not be reached or failed.
    ModelError,
    /// The model's output limit cut its answer.
    Length,
    /// The model or its provider declined to answer.
    Refusal,
    /// rein itself failed, for example because its store could not be written.
    InternalError,
    /// A budget is spent: money, tokens or time.
    Budget,
    /// The command that proves the work went on failing.
    VerifyFailed,
}

impl StopReason {
    /// The word in machine formats.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxSteps => "max_steps",
            Self::DoomLoop => "doom_loop",
            Self::Rejected => "rejected",
            Self::Interrupted => "interrupted",
            Self::ModelError => "model_error",
            Self::Length => "length",
            Self::Refusal => "refusal",
            Self::InternalError => "internal_error",
            Self::Budget => "budget",
            Self::VerifyFailed => "verify_failed",
        }
    }
}

/// Allowed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

/// Whether a call may run, and who said so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Allowed or not.
    pub verdict: Verdict,
    /// The rules, modes or persons that made it so, one sentence each.
    pub reasons: Vec<String>,
    /// The ask that a person answered, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<AskId>,
    /// Who decided.
    #[serde(default)]
    pub by: Decider,
    /// How long a person was waited for.
    #[serde(default)]
    pub waited_ms: u64,
}

/// Who decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// Rules, modes and guards.
    #[default]
    Policy,
    /// A person who was asked.
    Person,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It did what it said.
    Completed,
    /// It ran and failed, or its arguments were wrong.
    Failed,
    /// A rule, a mode or the lack of a person refused it; it did not run.
    Refused,
    /// A person refused it; it did not run.
    Rejected,
    /// It was stopped while it ran.
    Interrupted,
    /// It was withdrawn before it began.
    NotRun,
    /// Plan mode kept it back; it is to be done when the plan is approved.
    Withheld,
    /// rein's process died while it ran: its effects are unknown.
    Unknown,
}

impl CallStatus {
    /// Whether the model is told that the call did not do what was asked.
    #[must_use]
    pub fn is_error(self) -> bool {
        match self {
            Self::Completed => false,
            Self::Failed
            | Self::Refused
            | Self::Rejected
            | Self::Interrupted
            | Self::NotRun
            | Self::Withheld
            | Self::Unknown => true,
        }
    }
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    /// What became of it.
    pub status: CallStatus,
    /// What the model is told.
    pub content: Vec<Content>,
    /// What a face shows.
    pub display: Display,
    /// Where the whole output is, if the model got only a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
    /// How long it ran.
    #[serde(default)]
    pub duration_ms: u64,
}
