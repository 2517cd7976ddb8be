//! The place where a person writes: text, cursor, history, completion, pastes.
//!
//! Pure: keys and pastes go in, reactions and lines come out. Files, the clipboard, candidates of completions and the
//! terminal are for others. Invariant: whatever keys come, the cursor is inside the text and what is drawn inside its bounds.

mod buffer;
mod chips;
mod completion;
mod history;
mod keymap;
mod kill;
mod layout;
mod motion;
mod search;
mod submission;
mod vim;

use std::cell::Cell;
use std::path::Path;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde::{Deserialize, Serialize};

pub(crate) use buffer::{Buffer, EditKind};
pub use chips::Attachment;
use chips::Chips;
pub(crate) use chips::dropped_paths;
pub use completion::{Completion, CompletionKind};
pub use history::History;
pub use keymap::{Action, Binding, Chord, Keymap, KeymapError};
use kill::{KillRing, Run};
use layout::Layout;
use search::Search;
pub use search::SearchState;
pub use submission::{Submission, SubmissionKind};
use vim::Vim;
pub use vim::VimMode;

use crate::line::{Line, Span, Style};

/// Says what there is to say about a path if it is an image that can be attached.
pub type ImageProbe = Box<dyn Fn(&Path) -> Option<String> + Send>;

/// What a key came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    None,
    /// Text, cursor or mode may have changed: draw again.
    Changed,
    /// The text was sent; the editor is empty.
    Submit(Submission),
    /// The text was sent for after the turn; the editor is empty.
    FollowUp(Submission),
    /// The text was sent and cannot wait; the editor is empty.
    Now(Submission),
    /// The person wants out: of a dialog, of the turn, of the program.
    Cancel,
    /// The text changed and something at the cursor can be completed.
    Complete(Completion),
    /// A search of the history goes on: draw again.
    HistorySearch,
    /// The text is to be edited outside.
    External,
}

/// How keys are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Editing {
    /// As in a shell.
    #[default]
    Plain,
    /// As in vi.
    Vim,
}

/// What was written and not sent, to be kept across restarts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Draft {
    text: String,
    cursor: usize,
    chips: Chips,
}

impl Draft {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The editor as rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Rows from top to bottom.
    pub lines: Vec<Line>,
    /// Column and row of the cursor within them.
    pub cursor: (u16, u16),
}

/// What the last action was, where the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Other,
    Kill,
    /// A yank that put text from here to the cursor.
    Yank(usize),
}

/// Walking through the history.
#[derive(Debug, Clone)]
struct Walk {
    prefix: String,
    stash: String,
    at: usize,
}

/// How the editor was drawn last: vertical motions follow its rows.
#[derive(Debug, Clone, Copy)]
struct View {
    width: u16,
    top: usize,
}

/// A text editor of a few lines.
pub struct Editor {
    buffer: Buffer,
    chips: Chips,
    kills: KillRing,
    keymap: Keymap,
    history: History,
    walk: Option<Walk>,
    search: Option<Search>,
    vim: Option<Vim>,
    probe: ImageProbe,
    last: Last,
    /// The column that vertical motions keep to.
    column: Option<usize>,
    view: Cell<View>,
}

impl std::fmt::Debug for Editor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor").field("buffer", &self.buffer).field("vim", &self.vim).finish_non_exhaustive()
    }
}

impl Default for Editor {
    fn default() -> Self {
        Self::new()
    }
}

impl Editor {
    /// An empty editor with the default keys, no history and no images.
    pub fn new() -> Self {
        Self {
            buffer: Buffer::default(),
            chips: Chips::default(),
            kills: KillRing::default(),
            keymap: Keymap::default(),
            history: History::default(),
            walk: None,
            search: None,
            vim: None,
            probe: Box::new(|_| None),
            last: Last::Other,
            column: None,
            view: Cell::new(View { width: 80, top: 0 }),
        }
    }

    /// The same editor with other keys.
    pub fn with_keymap(self, keymap: Keymap) -> Self {
        Self { keymap, ..self }
    }

    /// The same editor with a history.
    pub fn with_history(self, history: History) -> Self {
        Self { history, ..self }
    }

    /// The same editor with a way to tell images.
    pub fn with_image_probe(self, probe: ImageProbe) -> Self {
        Self { probe, ..self }
    }

    /// Changes how keys are understood.
    pub fn set_editing(&mut self, editing: Editing) {
        self.vim = (editing == Editing::Vim).then(Vim::default);
    }

    /// The mode of vim editing, if that is how keys are understood.
    pub fn vim_mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(Vim::mode)
    }

    /// The keys.
    pub fn keymap(&self) -> &Keymap {
        &self.keymap
    }

    /// The history; what is submitted is its newest entry.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The text with pastes in full and images by their labels.
    pub fn text(&self) -> String {
        self.chips.expand(self.buffer.text())
    }

    /// The text as it is shown: pastes and images by their labels.
    pub fn shown(&self) -> String {
        self.chips.shown(self.buffer.text())
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.buffer.text().is_empty()
    }

    /// Whether one character is written.
    pub fn is_lone(&self) -> bool {
        self.buffer.text().len() == 1
    }

    /// Replaces the whole text; undo brings the old one back.
    pub fn set_text(&mut self, text: &str) {
        let text = chips::clean(text);
        self.buffer.replace(EditKind::Alone, 0..self.buffer.text().len(), &text);
        self.settle();
    }

    /// What is written now.
    pub fn draft(&self) -> Draft {
        Draft { text: self.buffer.text().to_owned(), cursor: self.buffer.cursor(), chips: self.chips.clone() }
    }

    /// Goes on with a draft; what was written before is gone.
    pub fn restore(&mut self, draft: Draft) {
        let text = draft.chips.known(&draft.text);
        self.chips = draft.chips;
        self.buffer = Buffer::with(text, draft.cursor);
        self.settle();
    }

    /// Inserts pasted text: images that were dropped become attachments, long texts become chips.
    pub fn paste(&mut self, text: &str) -> Reaction {
        if self.search.is_some() {
            return self.search_text(text);
        }
        if self.attach_dropped(text) {
            return self.changed();
        }
        let text = chips::clean(text);
        let chip = self.chips.paste(&text).map(String::from);
        let at = self.buffer.cursor();
        self.buffer.replace(EditKind::Alone, at..at, chip.as_deref().unwrap_or(&text));
        self.changed()
    }

    /// Whether every path in the text was an image; then all of them are attached.
    fn attach_dropped(&mut self, text: &str) -> bool {
        let paths = chips::dropped_paths(text);
        let facts: Option<Vec<String>> = paths.iter().map(|path| (self.probe)(path)).collect();
        let Some(facts) = facts.filter(|facts| !facts.is_empty()) else { return false };
        for (path, facts) in paths.iter().zip(&facts) {
            self.insert_image(path, facts);
        }
        true
    }

    /// Attaches an image at the cursor. Whether it is one.
    pub fn attach(&mut self, path: &Path) -> bool {
        match (self.probe)(path) {
            Some(facts) => {
                self.insert_image(path, &facts);
                true
            }
            None => false,
        }
    }

    fn insert_image(&mut self, path: &Path, facts: &str) {
        if let Some(chip) = self.chips.image(path, facts) {
            let at = self.buffer.cursor();
            self.buffer.replace(EditKind::Alone, at..at, &format!("{chip} "));
        }
        self.settle();
    }

    /// Goes on with something that was submitted and did not arrive: its labels are images again.
    pub fn take_back(&mut self, text: &str, attachments: &[Attachment]) {
        self.set_text("");
        let mut rest = text;
        let mut raw = String::new();
        for image in attachments {
            let Some((before, after)) = rest.split_once(image.label.as_str()) else { continue };
            raw.push_str(&chips::clean(before));
            raw.extend(self.chips.again(image.clone()));
            rest = after;
        }
        raw.push_str(&chips::clean(rest));
        self.buffer.replace(EditKind::Alone, 0..0, &raw);
        self.settle();
    }

    /// The images that the text mentions.
    pub fn attachments(&self) -> Vec<Attachment> {
        self.chips.attachments(self.buffer.text())
    }

    /// What the text would be if it were sent now.
    pub fn kind(&self) -> SubmissionKind {
        submission::kind_of(self.buffer.text()).0
    }

    /// What can be completed at the cursor.
    pub fn completion(&self) -> Option<Completion> {
        completion::at_cursor(&self.buffer)
    }

    /// Puts a completion in its place; a path that ends with `/` stays open for more.
    pub fn accept_completion(&mut self, text: &str) -> Reaction {
        match self.completion() {
            Some(completion) => {
                completion::accept(&mut self.buffer, &completion, &chips::clean(text).replace('\n', " "));
                self.changed()
            }
            None => Reaction::None,
        }
    }

    /// Takes a key.
    pub fn handle(&mut self, key: KeyEvent) -> Reaction {
        if key.kind == KeyEventKind::Release {
            return Reaction::None;
        }
        if self.search.is_some() {
            return self.handle_search(key);
        }
        if self.vim_mode() == Some(VimMode::Normal)
            && let Some(reaction) = self.handle_normal(key)
        {
            return reaction;
        }
        match (self.keymap.action(key), key.code) {
            (Some(Action::Cancel), KeyCode::Esc) if self.vim_mode() == Some(VimMode::Insert) => {
                self.leave_insert()
            }
            (Some(action), _) => self.perform(action),
            (None, KeyCode::Char(c))
                if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                self.insert(EditKind::Type, &chips::clean(&c.to_string()))
            }
            (None, _) => Reaction::None,
        }
    }

    fn insert(&mut self, kind: EditKind, text: &str) -> Reaction {
        let at = self.buffer.cursor();
        self.buffer.replace(kind, at..at, text);
        self.changed()
    }

    /// After an edit: what depended on the text before is over.
    fn settle(&mut self) {
        self.last = Last::Other;
        self.column = None;
        self.walk = None;
    }

    fn changed(&mut self) -> Reaction {
        self.settle();
        self.completion().map_or(Reaction::Changed, Reaction::Complete)
    }

    fn layout(&self, width: u16) -> Layout {
        Layout::new(self.buffer.text(), self.buffer.cursor(), &self.chips, usize::from(width))
    }

    /// The editor in rows of `width`, at most `max_height` of them, those around the cursor.
    pub fn render(&self, width: u16, max_height: u16) -> Rendered {
        let width = width.max(1);
        let height = usize::from(max_height.max(1));
        if let Some(state) = self.search() {
            return render_search(&state, width, height);
        }
        let layout = self.layout(width);
        let shown = height.min(layout.height());
        let lowest = layout.row.saturating_sub(shown.saturating_sub(1));
        let top = self.view.get().top.clamp(lowest, layout.row).min(layout.height() - shown);
        self.view.set(View { width, top });
        let column = u16::try_from(layout.column).unwrap_or(u16::MAX).min(width - 1);
        let row = u16::try_from(layout.row - top).unwrap_or(u16::MAX);
        Rendered { lines: layout.lines(top, shown), cursor: (column, row) }
    }
}

/// The entry that was found, and the query with the cursor below it.
fn render_search(state: &SearchState<'_>, width: u16, height: usize) -> Rendered {
    let prompt = match state.found {
        None if !state.query.is_empty() => format!("no match: {}", state.query),
        _ => format!("history: {}", state.query),
    };
    let chips = Chips::default();
    let prompt_layout = Layout::new(&prompt, prompt.len(), &chips, usize::from(width));
    let prompt_height = prompt_layout.height().min(height);
    let mut lines = match state.found {
        Some(found) => {
            let found = chips::clean(found);
            Layout::new(&found, 0, &chips, usize::from(width)).lines(0, height - prompt_height)
        }
        None => Vec::new(),
    };
    let dim = |line: Line| Line {
        spans: line
            .spans
            .into_iter()
            .map(|span| Span { style: Style { dim: true, ..span.style }, ..span })
            .collect(),
    };
    let found_height = lines.len();
    lines.extend(
        prompt_layout.lines(prompt_layout.height() - prompt_height, prompt_height).into_iter().map(dim),
    );
    let column = u16::try_from(prompt_layout.column).unwrap_or(u16::MAX).min(width - 1);
    let row = u16::try_from(found_height + prompt_height - 1).unwrap_or(u16::MAX);
    Rendered { lines, cursor: (column, row) }
}
