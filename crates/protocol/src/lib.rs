//! The vocabulary of rein: what a session consists of, what happens in it, and
//! [`Service`], the one door between a face and the engine.
//!
//! Everything here is a value. There is no I/O; the only impurity is that a new
//! id reads the clock. Every other crate may depend on this one, and this one
//! depends on none of them.
//!
//! Layout: [`id`] names things; [`message`] is what a model is sent and says;
//! [`entry`] is what the journal keeps; [`event`] is what faces are told;
//! [`intent`] is what a tool would do; [`job`] is a command in the background;
//! [`ask`] is a question to a person and the answer, and [`question`] what the
//! model asks; [`display`] is how a call is shown; [`usage`] counts tokens;
//! [`todo`] is what the agent means to do; [`compaction`] makes room in a window;
//! [`context`] is what a request consists of; [`tree`] is all branches of a journal;
//! [`effort`] is how much a model thinks;
//! [`transcript`] folds entries and events into what a face shows; [`service`]
//! is the door.

pub mod ask;
pub mod compaction;
pub mod context;
pub mod display;
pub mod effort;
pub mod entry;
pub mod event;
pub mod id;
pub mod intent;
pub mod job;
pub mod message;
mod path_text;
pub mod question;
pub mod service;
pub mod todo;
pub mod transcript;
pub mod tree;
pub mod usage;

pub use ask::{Answer, Ask, AskItem, Grant, Reply, Scope};
pub use compaction::{
    Carried, CarriedWords, Compaction, CompactionReason, ContextUse, PrunedResult, SummarySource, Touch,
    TouchedFile,
};
pub use context::{ContextPart, ContextSection};
pub use display::{Block, Display};
pub use effort::Effort;
pub use entry::{
    Author, CallResult, CallStatus, Decider, Decision, Delivery, Entry, EntryBody, Finish, StopReason,
    Titler, Verdict,
};
pub use event::{Event, EventBody, PartKind, SessionState};
pub use id::{ArtifactId, AskId, BlobId, CallId, EntryId, PartId, Seq, SessionId, Timestamp, TurnId};
pub use intent::{Effect, Intent, Mode, Right, Tier};
pub use job::{JobId, JobInfo, JobState};
pub use message::{Content, Message, ModelRef, ToolCall, ToolInput, ToolSpec};
pub use question::{Choice, Question, Said, Selection};
pub use service::{
    EventStream, GivenGrant, MemoryPlace, OpenSession, Prompt, Service, ServiceError, SessionChange,
    SessionFilter, SessionInfo, Snapshot,
};
pub use todo::{TodoId, TodoItem, TodoList, TodoState};
pub use tree::{TreeKind, TreeNode};
pub use usage::{CacheReport, Cost, Usage};
