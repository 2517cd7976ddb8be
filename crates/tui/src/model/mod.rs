//! The state of the face, and what changes it. Pure: messages in, effects out.
//!
//! Layout: `fold` takes what the session tells, `streaming` what grows, `live` is
//! what is not finished yet, `commit` what is, `thoughts` how much is shown; `keys`
//! takes what the person does, `dialog` is an ask, `command` the slash commands and
//! `perform` what they do, `sigil` the other things that one character makes of a
//! message; `overlay` with `lists` and `pager` is what covers the screen, `request`
//! what is asked for it and `choose` what follows from it, `input` a single line of
//! text. What it looks like is `view`'s; terminal and service are `shell`'s.
//!
//! Finished things leave through [`Model::take_committed`], once and in order;
//! only what is unfinished is kept, so the state does not grow with the session.

mod choose;
pub(crate) mod command;
mod commit;
pub(crate) mod dialog;
pub(crate) mod fold;
pub(crate) mod hints;
pub(crate) mod input;
mod keys;
mod lists;
pub(crate) mod live;
mod options;
pub(crate) mod overlay;
pub(crate) mod pager;
mod perform;
pub mod request;
pub(crate) mod sigil;
mod streaming;
mod thoughts;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossterm::event::KeyEvent;
use rein_protocol::compaction::CompactionReason;
use rein_protocol::{
    BlobId, Cost, Delivery, Effort, EntryId, Event, JobInfo, MemoryPlace, Mode, ModelRef, OpenSession, Reply,
    Seq, ServiceError, SessionChange, SessionId, SessionInfo, Snapshot, Timestamp, TodoList, Usage,
};

use crate::bindings::Bindings;
use crate::editor::{Attachment, Draft, Editor};
use crate::graphics::{Graphics, Placed};
use crate::line::Line;
use crate::picker::files::FileIndex;
use crate::screen::Size;
use crate::view::{self, StatusPart};
use choose::Themes;
use dialog::Dialog;
pub(crate) use fold::text_of;
use hints::Hints;
use live::{Card, Fold, Live};
use overlay::Overlay;
use request::{Answer, Request};
use sigil::Noting;
pub use thoughts::Thoughts;

/// How long a remark stays.
const REMARK: Duration = Duration::from_secs(4);
/// How long a second Ctrl-C counts as such.
pub(crate) const SECOND_KEY: Duration = Duration::from_secs(2);

/// Something that happened.
#[derive(Debug)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has another size.
    Resized(Size),
    /// The person looks at the terminal, or elsewhere.
    Focus(Focus),
    /// A session was opened: as it is now.
    Opened(Box<Snapshot>),
    /// Something happened in the session.
    Event(Box<Event>),
    /// The sessions that were asked for.
    Sessions {
        /// The last used first.
        sessions: Vec<SessionInfo>,
        /// What the clock says, for their age.
        at: Timestamp,
    },
    /// The whole session, for the pager.
    Transcript(Box<Snapshot>),
    /// The files of the workspace.
    Files(FileIndex),
    /// The service refused a prompt; its words come back.
    NotSent {
        /// What was to be said.
        text: String,
        /// The images that were to go along.
        attachments: Vec<Attachment>,
        /// Why it was not.
        error: ServiceError,
    },
    /// What a request led to.
    Answered(Box<Answer>),
    /// The branch that the workspace is on.
    Branch(Option<String>),
    /// The session as it is after the person went to another place of it.
    Reloaded(Box<Snapshot>),
    /// The bytes of a picture that was said or shown.
    Picture(Vec<u8>),
    /// A line was written into the instructions.
    Noted {
        /// The line.
        note: String,
        /// Where.
        file: PathBuf,
    },
    /// An editor of the person's choice was left.
    EditedOutside(Result<String, String>),
    /// The service refused something else.
    Failed(ServiceError),
    /// The events of the session ended.
    StreamEnded,
    /// Time went by.
    Woke,
}

/// Where the person looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// Here, as far as is known.
    Here,
    /// Elsewhere.
    Elsewhere,
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Open a session and follow it.
    Open(OpenSession),
    /// Say something.
    Prompt {
        /// What.
        text: String,
        /// Images that the text mentions.
        attachments: Vec<Attachment>,
        /// When.
        delivery: Delivery,
    },
    /// Run a command of the person.
    Shell(String),
    /// Write a line into the instructions.
    Note {
        /// The line.
        note: String,
        /// Into whose.
        place: MemoryPlace,
    },
    /// Fetch a picture to show it.
    FetchPicture(BlobId),
    /// Fetch the session anew.
    Reload,
    /// Let the person go on with a text in an editor of their choice.
    EditOutside(String),
    /// Go on with a broken turn.
    Resume,
    /// Stop what is under way.
    Interrupt,
    /// Answer an ask.
    Reply(Reply),
    /// Change model or mode.
    Change(SessionChange),
    /// Fetch the sessions of the workspace.
    ListSessions,
    /// Fetch the whole session.
    FetchTranscript,
    /// Ask something beside turns.
    Request(Request),
    /// Put a text into the clipboard.
    Copy(String),
    /// Look which branch the workspace is on.
    FindBranch,
    /// Look which files there are.
    FindFiles,
    /// Keep what was sent for the next time.
    Remember(String),
    /// Call a person who looks elsewhere.
    Notify(String),
    /// Stop the process until the shell lets it go on.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// End.
    Quit,
}

/// A turn under way.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) since: Duration,
    /// Whether an interrupt was asked for.
    pub(crate) interrupting: bool,
}

/// A model call that is going to be tried again.
#[derive(Debug, Clone)]
pub(crate) struct Retry {
    pub(crate) at: Duration,
    pub(crate) attempt: u32,
    pub(crate) error: String,
}

/// A message that waits.
#[derive(Debug, Clone)]
pub(crate) struct Queued {
    pub(crate) entry: EntryId,
    pub(crate) text: String,
    pub(crate) delivery: Delivery,
}

/// What was committed last: decides about the space before the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Nothing,
    User,
    Words,
    Card,
    Note,
    Run,
}

/// The state of the face.
#[derive(Debug)]
pub struct Model {
    pub(crate) size: Size,
    pub(crate) now: Duration,
    pub(crate) session: Option<SessionId>,
    pub(crate) workspace: PathBuf,
    pub(crate) model: Option<ModelRef>,
    pub(crate) models: Vec<ModelRef>,
    pub(crate) mode: Mode,
    pub(crate) effort: Option<Effort>,
    shown_effort: Option<Effort>,
    shown_model: Option<ModelRef>,
    shown_mode: Mode,
    pub(crate) usage: Usage,
    pub(crate) cost: Cost,
    /// Tokens of the last call: what the model has before it.
    pub(crate) context: u64,
    /// Tokens that fit, if that is known.
    pub(crate) window: Option<u64>,
    pub(crate) title: String,
    pub(crate) branch: Option<String>,
    pub(crate) status: Vec<StatusPart>,
    pub(crate) bindings: Bindings,
    pub(crate) theme: Themes,
    /// Whether there is a host to be asked.
    has_host: bool,
    /// The theme that was named with its command.
    wanted_theme: Option<String>,
    /// What is to be sought in the transcript that was asked for.
    seek: Option<String>,
    /// How the session came about that is about to be opened.
    began: Option<&'static str>,
    /// Until when a second key means an earlier message.
    earlier_by: Option<Duration>,
    pub(crate) turn: Option<Turn>,
    pub(crate) retry: Option<Retry>,
    /// Room is being made.
    pub(crate) compacting: Option<CompactionReason>,
    pub(crate) queue: Vec<Queued>,
    pub(crate) live: VecDeque<Live>,
    pub(crate) fold: Fold,
    /// Commands of the person that run.
    pub(crate) runs: Vec<Card>,
    /// A line that is to be remembered, while the person chooses where.
    pub(crate) noting: Option<Noting>,
    pub(crate) jobs: Vec<JobInfo>,
    pub(crate) todo: Option<TodoList>,
    pub(crate) dialogs: VecDeque<Dialog>,
    pub(crate) editor: Editor,
    pub(crate) hints: Hints,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) remark: Option<(String, Duration)>,
    pub(crate) quit_by: Option<Duration>,
    pub(crate) focus: Focus,
    pub(crate) thoughts: Thoughts,
    /// When a key last went to the editor.
    pub(crate) typed: Option<Duration>,
    /// What was said before the session was open.
    unsent: Vec<Effect>,
    /// Events up to here are part of what was loaded.
    loaded: Option<Seq>,
    committed: Vec<Line>,
    /// Pictures among those.
    pictures: Vec<Placed>,
    graphics: Graphics,
    last: Kind,
    spoken: bool,
}

impl Model {
    /// Without a session.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self {
            size,
            now: Duration::ZERO,
            session: None,
            workspace: PathBuf::new(),
            model: None,
            models: Vec::new(),
            mode: Mode::default(),
            effort: None,
            shown_effort: None,
            shown_model: None,
            shown_mode: Mode::default(),
            usage: Usage::default(),
            cost: Cost::ZERO,
            context: 0,
            window: None,

            title: String::new(),
            branch: None,
            status: StatusPart::ALL.to_vec(),
            bindings: Bindings::default(),
            theme: Themes::default(),
            has_host: false,
            wanted_theme: None,
            seek: None,
            began: None,
            earlier_by: None,
            turn: None,
            retry: None,
            compacting: None,
            queue: Vec::new(),
            live: VecDeque::new(),
            fold: Fold::default(),
            runs: Vec::new(),
            noting: None,
            jobs: Vec::new(),
            todo: None,
            dialogs: VecDeque::new(),
            editor: Editor::new(),
            hints: Hints::default(),
            overlay: None,
            remark: None,
            quit_by: None,
            focus: Focus::Here,
            thoughts: Thoughts::default(),
            typed: None,
            unsent: Vec::new(),
            loaded: None,
            committed: Vec::new(),
            pictures: Vec::new(),
            graphics: Graphics::None,
            last: Kind::Nothing,
            spoken: false,
        }
    }

    /// What is written but not sent.
    #[must_use]
    pub fn draft(&self) -> Draft {
        self.editor.draft()
    }

    /// What is written, in full.
    #[must_use]
    pub fn written(&self) -> String {
        self.editor.text()
    }

    /// The session that is open.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        self.session.as_ref()
    }

    /// Where the session works.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Whether anything was said in the session.
    #[must_use]
    pub fn has_spoken(&self) -> bool {
        self.spoken
    }

    /// Says something as soon as a session is open.
    pub fn say_first(&mut self, text: String) {
        self.unsent.push(Effect::Prompt { text, attachments: Vec::new(), delivery: Delivery::Prompt });
    }

    /// What was asked for cannot be done now.
    pub fn too_busy(&mut self) {
        self.remark("rein is busy: try again in a moment");
    }

    /// Shows what is below the overlay.
    pub fn close_overlay(&mut self) {
        self.overlay = None;
    }

    /// Takes a message at a moment.
    pub fn update(&mut self, now: Duration, message: Message) -> Vec<Effect> {
        let was_working = self.turn.is_some();
        let arrives = matches!(message, Message::Opened(_) | Message::Focus(Focus::Here));
        let mut effects = self.taken(now, message);
        // Commands may have changed it, here or elsewhere.
        if arrives || (was_working && self.turn.is_none()) {
            effects.push(Effect::FindBranch);
        }
        effects
    }

    fn taken(&mut self, now: Duration, message: Message) -> Vec<Effect> {
        self.now = self.now.max(now);
        if self.remark.as_ref().is_some_and(|(_, until)| *until <= self.now) {
            self.remark = None;
        }
        self.arm_dialog();
        match message {
            Message::Key(key) => return self.key(key),
            Message::Paste(text) => return self.paste(&text),
            Message::Resized(size) => self.size = size,
            Message::Focus(focus) => self.focus = focus,
            Message::Opened(snapshot) => return self.opened(*snapshot),
            Message::Event(event) => return self.event(*event),
            Message::Sessions { sessions, at } => self.list_sessions(&sessions, at),
            Message::Transcript(snapshot) => {
                let lines = |detail| view::transcript::lines(&snapshot, detail, self.size.columns);
                let (folded, whole) =
                    (lines(view::transcript::Detail::Folded), lines(view::transcript::Detail::Whole));
                let mut overlay = Overlay::folding_pager("transcript", folded, whole, self.size.rows);
                if let (Overlay::Pager(pager), Some(words)) = (&mut overlay, self.seek.take()) {
                    pager.seek(&words, self.size.rows);
                }
                self.overlay = Some(overlay);
            }
            Message::Files(index) => self.found_files(index),
            Message::NotSent { text, attachments, error } => {
                self.note_error(&error.to_string());
                match self.editor.is_empty() {
                    true => self.editor.take_back(&text, &attachments),
                    false => self.remark("what was not sent is among what was sent before: Ctrl-R finds it"),
                }
            }
            Message::Answered(answer) => return self.answered(*answer),
            Message::Branch(branch) => self.branch = branch,
            Message::Reloaded(snapshot) => return self.reloaded(*snapshot),
            Message::Picture(bytes) => self.show_picture(&bytes),
            Message::Noted { note, file } => self.noted(&note, &file),
            Message::EditedOutside(Ok(text)) => {
                let images = self.editor.attachments();
                self.editor.take_back(text.trim_end(), &images);
            }
            Message::EditedOutside(Err(error)) => self.note_error(&error),
            Message::Failed(error) => self.note_error(&error.to_string()),
            Message::StreamEnded => {
                if self.turn.take().is_some() {
                    self.note_error("the session ended in this process");
                }
            }
            Message::Woke => {}
        }
        Vec::new()
    }

    /// When something changes by itself, if nothing else happens before.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Duration> {
        let second = |since: Duration| {
            let passed = self.now.saturating_sub(since);
            since + Duration::from_secs(passed.as_secs() + 1)
        };
        let mut moments = Vec::new();
        if let Some(turn) = self.turn.as_ref().filter(|_| self.dialogs.is_empty() && self.overlay.is_none()) {
            moments.push(second(turn.since));
        }
        moments.extend(
            self.runs.iter().filter(|_| self.overlay.is_none()).filter_map(|run| run.since).map(second),
        );
        moments.extend(self.remark.as_ref().map(|(_, until)| *until));
        moments.extend(self.dialogs.front().and_then(|dialog| dialog.arms_at(self.typed)));
        moments.into_iter().min()
    }
}
