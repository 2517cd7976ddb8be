//! One answer of the model: what it says and what its ending looks like.
//!
//! A [`Turn`] is a value: it knows no wire and no socket. How its bytes
//! misbehave on their way is in `conduct`.

use serde_json::Value;

use super::conduct::Conduct;
use super::request::RecordedRequest;
use super::script::{Check, Expectation};

/// One answer of the model. Start with what is said ([`Turn::text`], [`Turn::call`], …), go on with more of
/// it (`and_…`), then say how it is streamed and where it goes wrong.
#[derive(Clone)]
#[must_use]
pub struct Turn {
    pub(crate) kind: Kind,
    pub(crate) finish: FinishWord,
    pub(crate) usage: Option<TokenCounts>,
    pub(crate) usage_place: UsagePlace,
    pub(crate) done: DoneMark,
    pub(crate) ids: CallIds,
    pub(crate) order: CallOrder,
    pub(crate) delta_size: usize,
    pub(crate) arguments: ArgumentDeltas,
    pub(crate) reasoning_field: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) checks: Vec<Check>,
    pub(crate) conduct: Conduct,
}

/// An answer, or why there is none.
#[derive(Clone)]
pub(crate) enum Kind {
    Says(Vec<Piece>),
    Status { status: u16, body: StatusBody },
    Error { status: u16, message: String },
}

/// A piece of an answer.
#[derive(Clone)]
pub(crate) enum Piece {
    Text(String),
    Reasoning(String),
    Call { id: Option<String>, tool: String, arguments: String },
    Data(String),
    Raw(Vec<u8>),
    Gate(String),
}

#[derive(Clone)]
pub(crate) enum FinishWord {
    Usual,
    Word(String),
    Absent,
}

/// Tokens as a provider counts them.
#[derive(Clone, Copy)]
pub(crate) struct TokenCounts {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum UsagePlace {
    IfAsked,
    Always,
    WithFinish,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum DoneMark {
    Sent,
    Absent,
}

#[derive(Clone, Copy)]
pub(crate) enum CallIds {
    Unique,
    Duplicate,
    Empty,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum CallOrder {
    OneByOne,
    Interleaved,
}

#[derive(Clone, Copy)]
pub(crate) enum ArgumentDeltas {
    Every(usize),
    Whole,
}

/// The body of an answer with a status.
#[derive(Clone)]
pub enum StatusBody {
    /// Sent as `application/json`.
    Json(Value),
    /// Sent as `text/plain`.
    Text(String),
}

impl From<Value> for StatusBody {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<&str> for StatusBody {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for StatusBody {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// What is said.
impl Turn {
    /// Says nothing, and ends as usual.
    pub fn empty() -> Self {
        Self::of(Kind::Says(Vec::new()))
    }

    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::empty().and_text(text)
    }

    /// Thinking aloud.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::empty().and_reasoning(text)
    }

    /// A tool call.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::empty().and_call(tool, arguments)
    }

    /// A tool call with arguments as the model wrote them, JSON or not.
    pub fn call_text(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::empty().and_call_text(tool, arguments)
    }

    /// No answer but a status, with a body as it stands.
    pub fn status(status: u16, body: impl Into<StatusBody>) -> Self {
        Self::of(Kind::Status { status, body: body.into() })
    }

    /// No answer but a status, with a message in the shape of the wire's errors.
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        Self::of(Kind::Error { status, message: message.into() })
    }

    /// No answer at all: the connection is closed when the request is complete.
    pub fn hang_up() -> Self {
        let mut turn = Self::empty();
        turn.conduct.hangs_up = true;
        turn
    }

    /// And words.
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.and(Piece::Text(text.into()))
    }

    /// And thinking aloud.
    pub fn and_reasoning(self, text: impl Into<String>) -> Self {
        self.and(Piece::Reasoning(text.into()))
    }

    /// And a tool call, parallel to those before it.
    pub fn and_call(self, tool: impl Into<String>, arguments: Value) -> Self {
        self.and_call_text(tool, arguments.to_string())
    }

    /// And a tool call with arguments as the model wrote them, JSON or not.
    pub fn and_call_text(self, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.and(Piece::Call { id: None, tool: tool.into(), arguments: arguments.into() })
    }

    /// And a tool call with an id of the test's choice.
    pub fn and_call_with_id(self, id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        self.and(Piece::Call { id: Some(id.into()), tool: tool.into(), arguments: arguments.to_string() })
    }

    /// And an event with this data, as it stands: what the wire's own encoder would not say.
    pub fn data(self, data: &Value) -> Self {
        self.and(Piece::Data(data.to_string()))
    }

    /// And an event whose data is not JSON.
    pub fn garbage(self, data: impl Into<String>) -> Self {
        self.and(Piece::Data(data.into()))
    }

    /// And these bytes, outside of any event.
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.and(Piece::Raw(bytes.into()))
    }

    /// Here the stream waits until the test opens the gate. What came before is written out first.
    pub fn gate(self, name: impl Into<String>) -> Self {
        self.and(Piece::Gate(name.into()))
    }
}

/// How it is streamed and how it ends.
impl Turn {
    /// Characters in one delta of text or reasoning; 20 unless told.
    pub fn delta_size(mut self, characters: usize) -> Self {
        self.delta_size = characters.max(1);
        self
    }

    /// Characters in one delta of arguments; 20 unless told.
    pub fn arguments_every(mut self, characters: usize) -> Self {
        self.arguments = ArgumentDeltas::Every(characters.max(1));
        self
    }

    /// A call's id, name and whole arguments come in one delta.
    pub fn arguments_whole(mut self) -> Self {
        self.arguments = ArgumentDeltas::Whole;
        self
    }

    /// The deltas of neighbouring calls alternate.
    pub fn interleaved(mut self) -> Self {
        self.order = CallOrder::Interleaved;
        self
    }

    /// All calls of this turn have the same id.
    pub fn duplicate_ids(mut self) -> Self {
        self.ids = CallIds::Duplicate;
        self
    }

    /// All calls of this turn have an empty id.
    pub fn empty_ids(mut self) -> Self {
        self.ids = CallIds::Empty;
        self
    }

    /// The field that reasoning comes in, where the wire has several; `reasoning_content` unless told.
    pub fn reasoning_field(mut self, name: impl Into<String>) -> Self {
        self.reasoning_field = name.into();
        self
    }

    /// The provider's word for how it ended, whatever was said.
    pub fn finish(mut self, word: impl Into<String>) -> Self {
        self.finish = FinishWord::Word(word.into());
        self
    }

    /// No word for how it ended.
    pub fn no_finish(mut self) -> Self {
        self.finish = FinishWord::Absent;
        self
    }

    /// No mark that the stream is complete.
    pub fn no_done(mut self) -> Self {
        self.done = DoneMark::Absent;
        self
    }

    /// All input tokens, output tokens, and how many of the input tokens a cache served; 100, 10 and 0
    /// unless told. Sent only if the request asks for usage, as a real server does.
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        self.usage = Some(TokenCounts { input, output, cached });
        self
    }

    /// No usage, asked or not.
    pub fn no_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Usage also where it was not asked for.
    pub fn usage_unasked(mut self) -> Self {
        self.usage_place = UsagePlace::Always;
        self
    }

    /// Usage in the event that has the finish word, asked or not.
    pub fn usage_with_finish(mut self) -> Self {
        self.usage_place = UsagePlace::WithFinish;
        self
    }

    /// A header of the response; replaces one that the server would send itself.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Something that must hold for the request that gets this turn: an assertion, a truth or a result. If it
    /// does not, the request is answered with 500 and [`assert_done`](super::ModelServer::assert_done) fails.
    pub fn expect<R: Expectation>(
        mut self,
        check: impl Fn(&RecordedRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.checks.push(Check::new(check));
        self
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        match &self.kind {
            Kind::Says(pieces) => pieces,
            Kind::Status { .. } | Kind::Error { .. } => &[],
        }
    }

    /// How many calls are in it.
    pub(crate) fn calls(&self) -> usize {
        self.pieces().iter().filter(|piece| matches!(piece, Piece::Call { .. })).count()
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            finish: FinishWord::Usual,
            usage: Some(TokenCounts { input: 100, output: 10, cached: 0 }),
            usage_place: UsagePlace::IfAsked,
            done: DoneMark::Sent,
            ids: CallIds::Unique,
            order: CallOrder::OneByOne,
            delta_size: 20,
            arguments: ArgumentDeltas::Every(20),
            reasoning_field: "reasoning_content".to_owned(),
            headers: Vec::new(),
            checks: Vec::new(),
            conduct: Conduct::default(),
        }
    }

    fn and(mut self, piece: Piece) -> Self {
        match &mut self.kind {
            Kind::Says(pieces) => pieces.push(piece),
            Kind::Status { .. } | Kind::Error { .. } => panic!("a turn that is only a status says nothing"),
        }
        self
    }
}
