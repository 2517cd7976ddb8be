//! What a face shows of a session, one thing after the other.

use crate::compaction::Compaction;
use crate::entry::{Author, CallResult, Decision, Delivery, StopReason};
use crate::event::PartKind;
use crate::id::{CallId, Timestamp};
use crate::intent::Intent;
use crate::message::{Content, ToolCall};

/// A thing to show.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// The person spoke.
    User {
        /// What was said.
        content: Vec<Content>,
        /// How it came.
        delivery: Delivery,
        /// Whose words these are.
        author: Author,
    },
    /// The model spoke or thinks.
    Said {
        /// Words or reasoning.
        kind: PartKind,
        /// As far as it came.
        text: String,
        /// Whether more may come.
        open: bool,
    },
    /// The model called a tool.
    Call(Box<CallItem>),
    /// A turn ended for a reason worth showing.
    Ended {
        /// Why.
        stop: StopReason,
        /// In words.
        message: Option<String>,
    },
    /// The session was recovered.
    Recovered {
        /// What was done.
        message: String,
    },
    /// From here on models are sent a summary of what is above. What is above stays as it was.
    Compacted(Box<Compaction>),
    /// The person went to another place of the tree. Seen live, what is above is no longer sent.
    Travelled,
    /// The person ran a command.
    PersonRan(Box<PersonRun>),
}

/// A command of the person.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonRun {
    /// Names its output.
    pub call: CallId,
    /// What was run.
    pub command: String,
    /// What it printed so far.
    pub output: String,
    /// What came of it, once it is over.
    pub result: Option<CallResult>,
}

/// A call, from its proposal to its result.
#[derive(Debug, Clone, PartialEq)]
pub struct CallItem {
    /// The proposal; absent while its arguments still stream.
    pub call: Option<ToolCall>,
    /// The tool's name.
    pub tool: String,
    /// The arguments as far as they have streamed.
    pub arguments: String,
    /// Whether it may run.
    pub decision: Option<Decision>,
    /// What it set out to do; present once it has begun.
    pub started: Option<Intent>,
    /// What it printed so far.
    pub output: String,
    /// What became of it.
    pub result: Option<CallResult>,
    /// When it was over.
    pub ended: Option<Timestamp>,
}
