//! Whatever happens in whatever order at whatever size: no panic, every line
//! fits, the live region fits, and what was committed stays committed.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use rein_protocol::event::PartKind;
use rein_protocol::message::AssistantPart;
use rein_protocol::{
    Ask, AskId, AskItem, Author, Block, CallId, CallResult, CallStatus, Choice, CompactionReason, Content,
    Cost, Delivery, Display, Entry, EntryBody, EntryId, Event, EventBody, Grant, Intent, Mode, PartId,
    Question, Selection, Seq, ServiceError, SessionId, SessionInfo, SessionState, Snapshot, StopReason,
    Timestamp, Titler, ToolCall, ToolInput, TurnId, Usage,
};
use rein_protocol::{ContextPart, ContextSection, ContextUse, GivenGrant, Scope, TreeKind, TreeNode};
use rein_tui::host::{Finding, FindingState, RuleLine, Setting};
use rein_tui::model::request::Answer;
use rein_tui::model::{Focus, Message, Model};
use rein_tui::screen::{Reflow, Screen, Size};
use rein_tui::view;

use crate::stage::{PALETTE, history};

#[derive(Debug, Clone)]
enum Happening {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    Later(u64),
    Focus(bool),
    User(String),
    Words(usize, String),
    Thought(usize, String),
    WordsEnd(usize, String),
    Propose(usize, &'static str),
    AskFor(usize, String),
    Start(usize),
    Output(usize, String),
    End(usize, CallStatus, String),
    Retry(String),
    TurnEnd(StopReason),
    Mode(Mode),
    Answer(u8, String),
    Notice(String),
    Room,
    Titled(String),
    Travel,
    Question(usize, String),
    Run(usize, String),
    Ran(usize, String),
    Broken(String),
    Noted(String),
    NotSent(String),
}

fn text() -> impl Strategy<Value = String> {
    "([a-z日é👍 `*#|_-]|\n|\u{1b}\\[2J|\u{1b}\\]0;x\u{7}|\u{9b}5A|\u{90}|\u{202e}|\u{0}|\r|\t){0,60}"
}

fn happening() -> impl Strategy<Value = Happening> {
    let codes = prop_oneof![
        3 => prop::char::range('!', 'z').prop_map(KeyCode::Char),
        1 => prop::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::BackTab, KeyCode::Up, KeyCode::Down, KeyCode::Left,
            KeyCode::Backspace, KeyCode::PageDown, KeyCode::PageUp, KeyCode::Home, KeyCode::Char('?'),
            KeyCode::Char('/'), KeyCode::Char('y'), KeyCode::Char('a'), KeyCode::Char('N'),
        ]),
    ];
    let modifiers = prop::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
    ]);
    let statuses =
        prop::sample::select(vec![CallStatus::Completed, CallStatus::Failed, CallStatus::Rejected]);
    let tools = prop::sample::select(vec!["read", "grep", "bash", "edit"]);
    let stops =
        prop::sample::select(vec![StopReason::EndTurn, StopReason::Interrupted, StopReason::ModelError]);
    prop_oneof![
        6 => (codes, modifiers).prop_map(|(code, modifiers)| Happening::Key(code, modifiers)),
        1 => text().prop_map(Happening::Paste),
        2 => (0u64..900).prop_map(Happening::Later),
        1 => any::<bool>().prop_map(Happening::Focus),
        1 => text().prop_map(Happening::User),
        4 => (0usize..3, text()).prop_map(|(part, text)| Happening::Words(part, text)),
        1 => (0usize..3, text()).prop_map(|(part, text)| Happening::Thought(part, text)),
        2 => (0usize..3, text()).prop_map(|(part, text)| Happening::WordsEnd(part, text)),
        3 => (0usize..4, tools).prop_map(|(call, tool)| Happening::Propose(call, tool)),
        2 => (0usize..4, text()).prop_map(|(call, text)| Happening::AskFor(call, text)),
        2 => (0usize..4).prop_map(Happening::Start),
        2 => (0usize..4, text()).prop_map(|(call, text)| Happening::Output(call, text)),
        3 => (0usize..4, statuses, text()).prop_map(|(call, status, text)| Happening::End(call, status, text)),
        1 => text().prop_map(Happening::Retry),
        1 => stops.prop_map(Happening::TurnEnd),
        1 => prop::sample::select(Mode::ALL.to_vec()).prop_map(Happening::Mode),
        1 => (0u8..7, text()).prop_map(|(kind, text)| Happening::Answer(kind, text)),
        4 => beside(),
    ]
}

/// What happens beside turns.
fn beside() -> impl Strategy<Value = Happening> {
    prop_oneof![
        text().prop_map(Happening::Notice),
        Just(Happening::Room),
        text().prop_map(Happening::Titled),
        Just(Happening::Travel),
        (0usize..4, text()).prop_map(|(call, text)| Happening::Question(call, text)),
        (0usize..4, text()).prop_map(|(call, text)| Happening::Run(call, text)),
        (0usize..4, text()).prop_map(|(call, text)| Happening::Ran(call, text)),
        text().prop_map(Happening::Broken),
        text().prop_map(Happening::Noted),
        text().prop_map(Happening::NotSent),
    ]
}

struct World {
    session: SessionId,
    turn: TurnId,
    seq: u64,
    parts: Vec<PartId>,
    calls: Vec<CallId>,
}

impl World {
    fn new() -> Self {
        Self {
            session: SessionId::new(),
            turn: TurnId::new(),
            seq: 0,
            parts: (0..6).map(|_| PartId::new()).collect(),
            calls: (0..4).map(|_| CallId::new()).collect(),
        }
    }

    fn opened(&self) -> Message {
        let info = SessionInfo {
            id: self.session.clone(),
            workspace: "/project".into(),
            title: String::new(),
            model: "fake/model".parse().ok(),
            mode: Mode::Tight,
            effort: None,
            created: Timestamp(0),
            updated: Timestamp(0),
            entries: 0,
            seq: Seq::START,
            state: SessionState::Idle,
        };
        Message::Opened(Box::new(Snapshot {
            info,
            entries: Vec::new(),
            asks: Vec::new(),
            context: None,
            jobs: Vec::new(),
            open: Vec::new(),
            seq: Seq::START,
            usage: Usage::default(),
            cost: Cost::ZERO,
        }))
    }

    fn event(&mut self, body: EventBody) -> Message {
        self.seq += 1;
        Message::Event(Box::new(Event { session: self.session.clone(), seq: Seq(self.seq), body }))
    }

    fn entry(&mut self, body: EntryBody) -> Message {
        let entry = Entry {
            id: EntryId::new(),
            session: self.session.clone(),
            parent: None,
            seq: Seq(self.seq + 1),
            at: Timestamp(0),
            body,
        };
        self.event(EventBody::Entry { entry: Box::new(entry) })
    }

    fn message(&mut self, happening: Happening) -> Message {
        let turn = self.turn.clone();
        match happening {
            Happening::Key(code, modifiers) => Message::Key(KeyEvent::new(code, modifiers)),
            Happening::Paste(text) => Message::Paste(text),
            Happening::Later(_) => Message::Woke,
            Happening::Focus(here) => Message::Focus(if here { Focus::Here } else { Focus::Elsewhere }),
            Happening::User(text) => {
                let content = vec![Content::text(text)];
                self.entry(EntryBody::User {
                    turn,
                    content,
                    delivery: Delivery::Prompt,
                    queued: None,
                    author: Author::Person,
                })
            }
            Happening::Words(part, delta) => {
                let part = self.parts[part].clone();
                self.event(EventBody::PartDelta { turn, part, kind: PartKind::Text, delta })
            }
            Happening::Thought(part, delta) => {
                let part = self.parts[part + 3].clone();
                self.event(EventBody::PartDelta { turn, part, kind: PartKind::Reasoning, delta })
            }
            Happening::WordsEnd(part, text) => {
                let old = std::mem::replace(&mut self.parts[part], PartId::new());
                self.entry(EntryBody::Part { turn, part: old, body: AssistantPart::Text { text } })
            }
            Happening::Propose(call, tool) => {
                self.calls[call] = CallId::new();
                let call = ToolCall {
                    id: self.calls[call].clone(),
                    wire_id: String::new(),
                    tool: tool.into(),
                    input: ToolInput::parse("{}"),
                };
                self.entry(EntryBody::Part { turn, part: PartId::new(), body: AssistantPart::Call(call) })
            }
            Happening::AskFor(call, text) => {
                let call = self.calls[call].clone();
                let ask = ask(self.session.clone(), turn, call, text);
                self.entry(EntryBody::Asked { ask })
            }
            Happening::Start(call) => {
                let call = self.calls[call].clone();
                let intent = Intent { effects: Vec::new(), display: Display::titled("$ make\u{1b}[H") };
                self.entry(EntryBody::CallStarted { call, intent })
            }
            Happening::Output(call, delta) => {
                let call = self.calls[call].clone();
                self.event(EventBody::CallOutput { call, delta })
            }
            Happening::End(call, status, text) => {
                let call = self.calls[call].clone();
                let display = Display::titled(text.clone()).with_summary(text.clone());
                let content = vec![Content::text(text)];
                let result = CallResult { status, content, display, artifact: None, duration_ms: 1200 };
                self.entry(EntryBody::CallEnded { call, result })
            }
            Happening::Retry(error) => {
                self.event(EventBody::Retrying { turn, attempt: 2, delay_ms: 700, error })
            }
            Happening::TurnEnd(stop) => self.entry(EntryBody::TurnEnded { turn, stop, message: None }),
            Happening::Mode(mode) => self.entry(EntryBody::ModeChanged { mode }),
            Happening::Answer(kind, text) => Message::Answered(Box::new(answer(kind, text))),
            beside => self.beside(beside),
        }
    }
}

impl World {
    fn beside(&mut self, happening: Happening) -> Message {
        let turn = self.turn.clone();
        match happening {
            Happening::Notice(message) => self.event(EventBody::Notice { message }),
            Happening::Room => self.event(EventBody::Compacting { reason: CompactionReason::Threshold }),
            Happening::Titled(title) => {
                self.entry(EntryBody::Titled { title, by: Titler::Person, usage: None, cost: None })
            }
            Happening::Travel => self.entry(EntryBody::Travelled { from: EntryId::new() }),
            Happening::Question(call, text) => {
                let call = self.calls[call].clone();
                let choice = Choice { label: text.clone(), description: Some(text.clone()) };
                let question = Question {
                    text: text.clone(),
                    choices: vec![choice.clone(), choice],
                    selection: Selection::Several,
                    timeout: None,
                };
                let mut ask = ask(self.session.clone(), turn, call, text.clone());
                ask.display.blocks.push(Block::Text { text });
                ask.question = Some(question);
                self.entry(EntryBody::Asked { ask })
            }
            Happening::Run(call, command) => {
                let call = self.calls[call].clone();
                self.event(EventBody::PersonRuns { call, command })
            }
            Happening::Ran(call, command) => {
                let call = self.calls[call].clone();
                let display = Display::titled(command.clone()).with_summary(command.clone());
                let content = vec![Content::text(command.clone())];
                let status = CallStatus::Failed;
                let result = CallResult { status, content, display, artifact: None, duration_ms: 1200 };
                self.entry(EntryBody::PersonRan { call, command, result })
            }
            Happening::Broken(message) => self.event(EventBody::Broken { message }),
            Happening::Noted(note) => Message::Noted { file: note.clone().into(), note },
            Happening::NotSent(text) => {
                let error = ServiceError::Model { message: text.clone() };
                Message::NotSent { text, attachments: Vec::new(), error }
            }
            _ => Message::Woke,
        }
    }
}

fn answer(kind: u8, text: String) -> Answer {
    let again = text.clone();
    match kind {
        0 => Answer::Tree(vec![TreeNode {
            entry: EntryId::new(),
            parent: None,
            at: Timestamp(0),
            kind: TreeKind::User,
            text,
            active: true,
        }]),
        1 => {
            let grant = Grant { permission: "bash".into(), pattern: text };
            let rule = RuleLine { text: again.clone(), origin: again };
            Answer::Permissions(vec![GivenGrant { grant, scope: Scope::Project }], vec![rule])
        }
        2 => Answer::Context(
            vec![ContextPart {
                section: ContextSection::Tools,
                name: text,
                why: again,
                tokens: u64::MAX,
                bytes: 1,
            }],
            Some(ContextUse { used: 7, base: 1, window: Some(3), usable: Some(2) }),
        ),
        3 => Answer::Settings(vec![Setting {
            key: "mode".into(),
            value: Some(text),
            origin: again.clone(),
            about: again.clone(),
            takes: again,
            choices: Vec::new(),
        }]),
        4 => Answer::Doctor(vec![Finding { state: FindingState::Bad, what: text, next: Some(again) }]),
        5 => Answer::ToEdit(text),
        _ => Answer::Failed(text),
    }
}

fn ask(session: SessionId, turn: TurnId, call: CallId, text: String) -> Ask {
    Ask {
        id: AskId::new(),
        session,
        turn,
        call,
        items: vec![AskItem { permission: "bash".into(), pattern: text.clone(), reason: text.clone() }],
        always: vec![Grant { permission: "bash".into(), pattern: text.clone() }],
        display: Display::titled(text.clone())
            .with_block(Block::Command { command: text.clone(), cwd: "/project".into() })
            .with_block(Block::Diff {
                path: "x".into(),
                unified: format!("@@ -1,2 +1,2 @@\n-{text}\n+{text}"),
                added: 1,
                removed: 1,
            }),
        question: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_things_breaks_the_face(
        columns in 1u16..90,
        rows in 1u16..40,
        happenings in prop::collection::vec(happening(), 1..80),
    ) {
        let size = Size::new(columns, rows);
        let mut world = World::new();
        let mut model = Model::new(size);
        let mut screen = Screen::new(size, PALETTE, Reflow::Cuts);
        let mut emulator = vt100::Parser::new(rows, columns, 100_000);
        let mut committed: Vec<String> = Vec::new();
        let mut now = Duration::ZERO;
        model.update(now, world.opened());
        for happening in happenings {
            if let Happening::Later(milliseconds) = happening {
                now += Duration::from_millis(milliseconds);
            }
            let message = world.message(happening);
            model.update(now, message);
            let lines = model.take_committed();
            let frame = view::frame(&model);
            for line in frame.live.iter().chain(&lines).chain(frame.overlay.iter().flatten()) {
                prop_assert!(line.width() <= usize::from(columns), "{line:?}");
                prop_assert!(!line.text().contains(['\n', '\u{1b}', '\r', '\t']), "{line:?}");
            }
            prop_assert!(frame.live.len() <= usize::from(rows).max(2), "{} of {rows}", frame.live.len());
            emulator.process(screen.draw(&lines, &frame).as_bytes());
            committed.extend(lines.iter().map(|line| line.text().trim_end().to_owned()));
            if columns >= 8 && rows >= 6 && frame.overlay.is_none() {
                let shown = history(&mut emulator);
                let above = &shown[..committed.len().min(shown.len())];
                prop_assert_eq!(above, &committed[..above.len()]);
            }
        }
    }
}
