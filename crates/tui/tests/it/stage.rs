//! A face without a terminal: the model, a scripted service and an emulator.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use futures_util::StreamExt;
use rein_protocol::{
    Entry, EntryBody, EntryId, Event, EventBody, EventStream, OpenSession, Seq, Service, SessionFilter,
    Timestamp,
};
use rein_testkit::FakeService;
use rein_tui::model::{Effect, Message, Model};
use rein_tui::screen::{Frame, Reflow, Screen, Size};
use rein_tui::{Host, Ink, Letters, Palette};
use rein_tui::{calls, view};

/// How long something that must happen is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

pub const PALETTE: Palette = Palette { ink: Ink::Colour, letters: Letters::Unicode };

pub struct Stage {
    pub service: FakeService,
    pub model: Model,
    pub effects: Vec<Effect>,
    pub host: Option<Arc<dyn Host>>,
    screen: Screen,
    emulator: vt100::Parser,
    events: Option<EventStream>,
    now: Duration,
    written: usize,
}

impl Stage {
    /// A new session on a terminal of that size.
    pub async fn open(service: FakeService, columns: u16, rows: u16) -> Self {
        Self::open_session(service, OpenSession::default(), columns, rows).await
    }

    pub async fn open_session(service: FakeService, open: OpenSession, columns: u16, rows: u16) -> Self {
        let size = Size::new(columns, rows);
        let mut stage = Self {
            service,
            model: Model::new(size).with_image_probe(Box::new(rein_tui::image::facts)),
            effects: Vec::new(),
            host: None,
            screen: Screen::new(size, PALETTE, Reflow::Cuts),
            emulator: vt100::Parser::new(rows, columns, 10_000),
            events: None,
            now: Duration::ZERO,
            written: 0,
        };
        stage.perform(Effect::Open(open)).await;
        stage.draw();
        stage
    }

    /// Time goes by, and the face is woken if it wanted to be.
    pub async fn later(&mut self, time: Duration) {
        self.now += time;
        self.take(Message::Woke).await;
    }

    pub async fn press(&mut self, code: KeyCode) {
        self.press_with(code, KeyModifiers::NONE).await;
    }

    pub async fn press_with(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.take(Message::Key(KeyEvent::new(code, modifiers))).await;
    }

    pub async fn write(&mut self, text: &str) {
        for character in text.chars() {
            self.press(KeyCode::Char(character)).await;
        }
    }

    pub async fn say(&mut self, text: &str) {
        self.write(text).await;
        self.press(KeyCode::Enter).await;
    }

    pub async fn take(&mut self, message: Message) {
        for effect in self.model.update(self.now, message) {
            self.effects.push(effect.clone());
            self.perform(effect).await;
        }
        self.draw();
    }

    async fn perform(&mut self, effect: Effect) {
        let session = self.model.session().cloned();
        let answer = match (effect, session) {
            (Effect::Open(request), _) => {
                let info = self.service.open(request).await.unwrap();
                let snapshot = self.service.get(&info.id).await.unwrap();
                self.events = Some(self.service.subscribe(&info.id, snapshot.seq).await.unwrap());
                Some(Message::Opened(Box::new(snapshot)))
            }
            (Effect::ListSessions, _) => {
                let sessions = self.service.list(SessionFilter::default()).await.unwrap();
                Some(Message::Sessions { sessions, at: Timestamp::now() })
            }
            (Effect::Shell(command), Some(session)) => {
                self.service.shell(&session, command).await.unwrap();
                None
            }
            (Effect::Note { note, place }, Some(session)) => {
                let file = self.service.remember(&session, note.clone(), place).await.unwrap();
                Some(Message::Noted { note, file })
            }
            (Effect::Reload, Some(session)) => {
                Some(Message::Reloaded(Box::new(self.service.get(&session).await.unwrap())))
            }
            (Effect::Prompt { text, delivery, .. }, Some(session)) => {
                let mut prompt = rein_protocol::Prompt::text(text);
                prompt.delivery = delivery;
                self.service.prompt(&session, prompt).await.unwrap();
                None
            }
            (Effect::FetchTranscript, Some(session)) => {
                Some(Message::Transcript(Box::new(self.service.get(&session).await.unwrap())))
            }
            (Effect::Request(request), session) => {
                let answer = calls::answer(&self.service, self.host.clone(), session, request).await;
                Some(Message::Answered(Box::new(answer)))
            }
            (Effect::Resume, Some(session)) => {
                self.service.resume(&session).await.unwrap();
                None
            }
            (Effect::Interrupt, Some(session)) => {
                self.service.interrupt(&session).await.unwrap();
                None
            }
            (Effect::Reply(reply), Some(session)) => {
                self.service.reply(&session, reply).await.unwrap();
                None
            }
            (Effect::Change(change), Some(session)) => {
                self.service.change(&session, change).await.unwrap();
                None
            }
            _ => None,
        };
        if let Some(message) = answer {
            let now = self.now;
            let effects = self.model.update(now, message);
            for effect in effects {
                self.effects.push(effect.clone());
                Box::pin(self.perform(effect)).await;
            }
        }
    }

    fn draw(&mut self) {
        let committed = self.model.take_committed();
        self.screen.set_theme(self.model.theme());
        let bytes = self.screen.draw(&committed, &view::frame(&self.model));
        self.written += bytes.len();
        self.emulator.process(bytes.as_bytes());
    }

    /// An entry is appended and taken.
    pub async fn tell(&mut self, body: EntryBody) {
        let session = self.model.session().cloned().expect("a session is open");
        let entry = Entry {
            id: EntryId::new(),
            session: session.clone(),
            parent: None,
            seq: Seq(u64::MAX),
            at: Timestamp::now(),
            body,
        };
        let body = EventBody::Entry { entry: Box::new(entry) };
        self.take(Message::Event(Box::new(Event { session, seq: Seq(u64::MAX), body }))).await;
    }

    /// Takes events until the terminal shows a text.
    pub async fn until(&mut self, text: &str) {
        while !self.shown().contains(text) {
            let events = self.events.as_mut().expect("a session is open");
            match tokio::time::timeout(PATIENCE, events.next()).await {
                Ok(Some(event)) => self.take(Message::Event(Box::new(event))).await,
                Ok(None) => panic!("the events ended before {text:?} was shown:\n{}", self.shown()),
                Err(_) => panic!("{text:?} was never shown:\n{}", self.shown()),
            }
        }
    }

    /// Takes events until no turn is under way.
    pub async fn until_idle(&mut self) {
        let session = self.model.session().cloned().expect("a session is open");
        self.service.wait_for_idle(&session).await;
        self.catch_up().await;
    }

    /// Takes the events that are there.
    pub async fn catch_up(&mut self) {
        let events = self.events.as_mut().expect("a session is open");
        let mut waiting = Vec::new();
        while let Some(Some(event)) = futures_util::FutureExt::now_or_never(events.next()) {
            waiting.push(event);
        }
        for event in waiting {
            self.take(Message::Event(Box::new(event))).await;
        }
    }

    /// What is on the terminal.
    pub fn shown(&self) -> String {
        let contents = self.emulator.screen().contents();
        let shown = contents.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        // A new version is not another look.
        shown.replace(env!("CARGO_PKG_VERSION"), "VERSION")
    }

    /// The foreground of a cell, as it was painted.
    pub fn colour_at(&self, row: u16, column: u16) -> vt100::Color {
        self.emulator.screen().cell(row, column).expect("a cell").fgcolor()
    }

    /// How many bytes the terminal was sent.
    pub fn written(&self) -> usize {
        self.written
    }

    pub fn frame(&self) -> Frame {
        view::frame(&self.model)
    }

    pub fn is_covered(&self) -> bool {
        self.emulator.screen().alternate_screen()
    }
}

/// Every row that the emulator has, the oldest first.
pub fn history(emulator: &mut vt100::Parser) -> Vec<String> {
    let (_, columns) = emulator.screen().size();
    let screen = emulator.screen_mut();
    screen.set_scrollback(usize::MAX);
    let depth = screen.scrollback();
    let mut rows = Vec::new();
    for offset in (1..=depth).rev() {
        screen.set_scrollback(offset);
        rows.extend(screen.rows(0, columns).next());
    }
    screen.set_scrollback(0);
    rows.extend(screen.rows(0, columns));
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}
