//! The loop around the model: terminal, signals, service and clock in; frames,
//! calls and files out.
//!
//! Nothing is drawn unless something changed, and at most thirty times a second
//! unless a key did it. Nothing ticks when nothing is due.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event as TerminalEvent, EventStream as KeyStream};
use futures_util::{FutureExt, StreamExt};
use rein_protocol::{Event, EventStream, Service, SessionId};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::clipboard::{self, Between};
use crate::editor::Draft;
use crate::hands::Hands;
use crate::keep::Keep;
use crate::model::{Effect, Focus, Message, Model};
use crate::outside;
use crate::picker::files::FileIndex;
use crate::screen::{Screen, Size};
use crate::signals::Signals;
use crate::terminal::{self, Terminal};
use crate::theme::background::Stray;
use crate::view;
use crate::worker::{Answer, Worker};
use crate::{Ended, Exit, TuiError, TuiOptions};
use crate::{branch, files, theme};

/// The least time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(33);
/// How long a changed draft may be lost for.
const DRAFT: Duration = Duration::from_secs(1);
/// How long the end of a session is waited for.
const CLOSING: Duration = Duration::from_secs(10);

/// Runs the face until the person or a signal ends it.
pub async fn run(service: Arc<dyn Service>, options: TuiOptions) -> Result<Exit, TuiError> {
    let mut shell = Shell::start(Arc::clone(&service), options)?;
    let ended = shell.run().await;
    let session = shell.model.session().cloned();
    let spoken = shell.model.has_spoken();
    let mut signals = shell.finish().await;
    if let Some(session) = &session {
        close(&*service, session, &mut signals).await;
    }
    Ok(Exit { ended: ended?, session: session.filter(|_| spoken) })
}

/// Waits for the session to end, unless a signal says that it takes too long.
async fn close(service: &dyn Service, session: &SessionId, signals: &mut Signals) {
    tokio::select! {
        closed = timeout(CLOSING, service.close(session)) => match closed {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the session was not closed"),
            Err(_) => tracing::warn!("the session took too long to close"),
        },
        _ = signals.ending() => {}
    }
}

struct Shell {
    model: Model,
    screen: Screen,
    terminal: Terminal,
    /// Nobody reads keys while another program has the terminal.
    keys: Option<KeyStream>,
    hands: Arc<dyn Hands>,
    worker: Worker,
    events: Option<EventStream>,
    signals: Signals,
    continued: Signal,
    keep: Keep,
    keeping: Option<JoinHandle<()>>,
    begun: Instant,
    drawn: Option<Instant>,
    /// Something may look different.
    dirty: bool,
    /// A key did it.
    urgent: bool,
    draft: Draft,
    finding: Option<JoinHandle<FileIndex>>,
    /// Looks which branch there is.
    looking: Option<JoinHandle<Option<String>>>,
    /// An answer of the terminal that may still come.
    stray: Stray,
    draft_due: Option<Instant>,
    ended: Option<Ended>,
}

impl Shell {
    fn start(service: Arc<dyn Service>, options: TuiOptions) -> Result<Self, TuiError> {
        let TuiOptions { open, prompt, state_directory, models, palette, reflow, .. } = options;
        let TuiOptions { editing, bindings, status, theme: (name, theme), host, .. } = options;
        let TuiOptions { thoughts, graphics, hands, cover, .. } = options;
        let workspace = open.workspace.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let keep = Keep::new(state_directory.as_deref(), &workspace);
        let (history, draft) = keep.load();
        let signals = Signals::install().map_err(TuiError::Signals)?;
        let continued = signal(SignalKind::from_raw(CONTINUE)).map_err(TuiError::Signals)?;
        let terminal = Terminal::take().map_err(TuiError::Terminal)?;
        let size = Terminal::size();
        let asked = theme::background::ask(&name, palette.ink);
        let theme = asked.background.filter(|_| name == theme::AUTO).map_or(theme, |behind| {
            theme::builtin(behind.theme()).map_or(theme, |found| found.at(theme.depth()))
        });
        let mut model = Model::new(size)
            .with_models(models)
            .with_keys(bindings, editing)
            .with_status(status)
            .with_theme(&name, theme, asked.background)
            .with_thoughts(thoughts)
            .with_graphics(graphics)
            .with_image_probe(Box::new(crate::image::facts))
            .with_memory(history, draft.clone());
        if host.is_some() {
            model = model.with_host();
        }
        if !asked.typed.is_empty() {
            model.update(Duration::ZERO, Message::Paste(asked.typed));
        }
        let worker = Worker::start(service, host, Arc::clone(&hands));
        worker.call(Effect::Open(open), None, PathBuf::new());
        if let Some(prompt) = prompt {
            model.say_first(prompt);
        }
        Ok(Self {
            model,
            screen: Screen::new(size, palette, reflow).with_cover(cover),
            terminal,
            keys: Some(KeyStream::new()),
            hands,
            worker,
            events: None,
            signals,
            continued,
            keep,
            keeping: None,
            begun: Instant::now(),
            drawn: None,
            dirty: true,
            urgent: true,
            draft,
            finding: None,
            looking: None,
            stray: asked.stray,
            draft_due: None,
            ended: None,
        })
    }

    async fn run(&mut self) -> Result<Ended, TuiError> {
        loop {
            if let Some(ended) = self.ended {
                return Ok(ended);
            }
            if self.dirty && self.terminal.is_ready() && self.may_draw() {
                self.draw();
            }
            self.wait().await?;
        }
    }

    fn may_draw(&self) -> bool {
        self.urgent || self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME)
    }

    /// Waits for the next thing that happens, and takes it.
    async fn wait(&mut self) -> Result<(), TuiError> {
        let begun = self.begun;
        let frame = self.drawn.filter(|_| self.dirty && self.terminal.is_ready()).map(|drawn| drawn + FRAME);
        let wake = self.model.wakes_at().map(|at| begun + at);
        let draft = self.draft_due;
        let busy = !self.terminal.is_ready();
        tokio::select! {
            biased;
            ended = self.signals.ending() => self.ended = Some(ended),
            key = key(&mut self.keys) => match key {
                Some(Ok(event)) => self.terminal_event(event).await?,
                // The terminal is gone.
                Some(Err(_)) | None => self.ended = Some(Ended::HungUp),
            },
            written = self.terminal.ready(), if busy => {
                if written.is_err() {
                    self.ended = Some(Ended::HungUp);
                }
            }
            answer = self.worker.answers.recv() => match answer {
                // Without a first session there is nothing to show.
                Some(Answer::Message(Message::Failed(error))) if self.model.session().is_none() => {
                    return Err(TuiError::Open(error));
                }
                Some(Answer::Message(message)) => self.take(message).await?,
                Some(Answer::Following(snapshot, events)) => {
                    self.events = Some(events);
                    self.take(Message::Opened(snapshot)).await?;
                }
                None => self.ended = Some(Ended::Quit),
            },
            event = next(&mut self.events) => match event {
                Some(event) => self.session_event(event).await?,
                None => {
                    self.events = None;
                    self.take(Message::StreamEnded).await?;
                }
            },
            index = found(&mut self.finding) => {
                self.finding = None;
                if let Some(index) = index {
                    self.take(Message::Files(index)).await?;
                }
            }
            branch = looked(&mut self.looking) => {
                self.looking = None;
                self.take(Message::Branch(branch)).await?;
            }
            _ = self.continued.recv() => self.come_back()?,
            () = at(frame) => {}
            () = at(wake) => self.take(Message::Woke).await?,
            () = at(draft) => self.save_draft(),
        }
        Ok(())
    }

    /// An event and those that are there already: one frame is enough for all of them.
    async fn session_event(&mut self, first: Event) -> Result<(), TuiError> {
        self.take(Message::Event(Box::new(first))).await?;
        for _ in 0..256 {
            let Some(Some(Some(event))) = self.events.as_mut().map(|events| events.next().now_or_never())
            else {
                break;
            };
            self.take(Message::Event(Box::new(event))).await?;
        }
        Ok(())
    }

    async fn terminal_event(&mut self, event: TerminalEvent) -> Result<(), TuiError> {
        let message = match event {
            TerminalEvent::Key(key) if self.stray.swallows(key) => return Ok(()),
            TerminalEvent::Key(key) => Message::Key(key),
            TerminalEvent::Paste(text) => Message::Paste(text),
            TerminalEvent::FocusGained => Message::Focus(Focus::Here),
            TerminalEvent::FocusLost => Message::Focus(Focus::Elsewhere),
            TerminalEvent::Resize(columns, rows) => {
                self.resized(Size::new(columns, rows));
                Terminal::stir();
                return Ok(());
            }
            TerminalEvent::Mouse(_) => return Ok(()),
        };
        self.urgent = true;
        self.take(message).await?;
        let draft = self.model.draft();
        if draft != self.draft {
            self.draft = draft;
            self.draft_due.get_or_insert(Instant::now() + DRAFT);
        }
        Ok(())
    }

    fn resized(&mut self, size: Size) {
        let bytes = self.screen.resize(size);
        self.terminal.write(bytes);
        let now = self.begun.elapsed();
        self.model.update(now, Message::Resized(size));
        self.dirty = true;
    }

    async fn take(&mut self, message: Message) -> Result<(), TuiError> {
        let now = self.begun.elapsed();
        self.dirty = true;
        for effect in self.model.update(now, message) {
            self.effect(effect).await?;
        }
        Ok(())
    }

    async fn effect(&mut self, effect: Effect) -> Result<(), TuiError> {
        match effect {
            Effect::Quit => self.ended = Some(Ended::Quit),
            Effect::Redraw => {
                let bytes = self.screen.clear();
                self.terminal.write(bytes);
            }
            Effect::Suspend => self.suspend().await?,
            Effect::EditOutside(text) => self.edit_outside(text).await?,
            Effect::Notify(text) => self.terminal.write(notification(&text)),
            Effect::Copy(text) => {
                let between = Between::detect(|name| std::env::var(name).ok());
                self.terminal.write(clipboard::copy(&text, between).unwrap_or_default());
            }
            Effect::FindBranch => {
                let workspace = self.model.workspace().to_owned();
                self.looking = Some(tokio::task::spawn_blocking(move || branch::of(&workspace)));
            }
            Effect::FindFiles => {
                let workspace = self.model.workspace().to_owned();
                self.finding = Some(tokio::task::spawn_blocking(move || files::find(&workspace)));
            }
            Effect::Remember(text) => {
                let keep = self.keep.clone();
                self.keep_away(move || keep.remember(&text));
            }
            call => {
                let workspace = self.model.workspace().to_owned();
                if !self.worker.call(call, self.model.session(), workspace) {
                    self.model.too_busy();
                }
            }
        }
        Ok(())
    }

    async fn suspend(&mut self) -> Result<(), TuiError> {
        self.save_draft();
        let bytes = self.screen.leave();
        self.terminal.write(bytes);
        self.terminal.suspend(&mut self.continued).await.map_err(TuiError::Terminal)?;
        self.screen.forget();
        self.resized(Terminal::size());
        Ok(())
    }

    /// Lets the person go on in another program, which has the terminal meanwhile.
    async fn edit_outside(&mut self, text: String) -> Result<(), TuiError> {
        self.save_draft();
        let bytes = self.screen.leave();
        self.terminal.write(bytes);
        self.keys = None;
        self.terminal.lend().await.map_err(TuiError::Terminal)?;
        let hands = Arc::clone(&self.hands);
        let edited = tokio::select! {
            edited = outside::edit(&*hands, text) => edited,
            ended = self.signals.fatal() => {
                self.ended = Some(ended);
                return Ok(());
            }
        };
        // What was pressed there was not meant for here.
        self.signals.forget_interrupts();
        while self.continued.recv().now_or_never().is_some() {}
        self.keys = Some(KeyStream::new());
        self.come_back()?;
        Box::pin(self.take(Message::EditedOutside(edited))).await
    }

    /// Somebody else stopped the process and let it go on.
    fn come_back(&mut self) -> Result<(), TuiError> {
        self.terminal.take_again().map_err(TuiError::Terminal)?;
        self.screen.forget();
        self.resized(Terminal::size());
        Ok(())
    }

    fn draw(&mut self) {
        // A frame of another size would be broken by the terminal, and moves within it would go astray. That the
        // size changed may be told only later.
        if let Some(size) = Terminal::size_now().filter(|size| *size != self.model.size) {
            self.resized(size);
        }
        let committed = self.model.take_committed();
        self.screen.set_theme(self.model.theme());
        let pictures = self.model.take_pictures();
        let frame = view::frame(&self.model);
        terminal::note_overlay(frame.overlay.is_some());
        let bytes = self.screen.draw_with(&committed, &pictures, &frame);
        self.dirty = false;
        self.urgent = false;
        if !bytes.is_empty() {
            self.drawn = Some(Instant::now());
            self.terminal.write(bytes);
        }
    }

    fn save_draft(&mut self) {
        self.draft_due = None;
        let (keep, draft) = (self.keep.clone(), self.draft.clone());
        self.keep_away(move || keep.save_draft(&draft));
    }

    /// Writes a file, away from the keyboard and in order.
    fn keep_away(&mut self, write: impl FnOnce() -> io::Result<()> + Send + 'static) {
        let before = self.keeping.take();
        self.keeping = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            match tokio::task::spawn_blocking(write).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a draft or a message was not kept"),
                Err(error) => tracing::debug!(%error, "a draft or a message was not kept"),
            }
        }));
    }

    /// Gives the terminal back; what was finished stays on it.
    async fn finish(mut self) -> Signals {
        self.draft = self.model.draft();
        self.save_draft();
        let wait = Duration::from_millis(500);
        let _ = timeout(wait, self.terminal.ready()).await;
        if self.terminal.is_ready() {
            self.model.close_overlay();
            let committed = self.model.take_committed();
            let mut bytes = self.screen.draw(&committed, &crate::screen::Frame::default());
            bytes.push_str(&self.screen.leave());
            self.terminal.write(bytes);
            let _ = timeout(wait, self.terminal.ready()).await;
        }
        if let Some(keeping) = self.keeping.take() {
            let _ = timeout(wait, keeping).await;
        }
        self.signals
    }
}

/// SIGCONT has the same number on Linux as rustix says it has everywhere else.
const CONTINUE: i32 = rustix::process::Signal::CONT.as_raw();

async fn key(keys: &mut Option<KeyStream>) -> Option<io::Result<TerminalEvent>> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

async fn next(events: &mut Option<EventStream>) -> Option<Event> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

async fn found(finding: &mut Option<JoinHandle<FileIndex>>) -> Option<FileIndex> {
    match finding {
        Some(finding) => finding.await.ok(),
        None => std::future::pending().await,
    }
}

async fn looked(looking: &mut Option<JoinHandle<Option<String>>>) -> Option<String> {
    match looking {
        Some(looking) => looking.await.ok().flatten(),
        None => std::future::pending().await,
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// A bell, and what terminals show on the desktop.
fn notification(text: &str) -> String {
    let text: String = crate::neutral::neutral_line(text).chars().filter(|letter| *letter != ';').collect();
    format!("\u{7}\u{1b}]9;{text}\u{1b}\\\u{1b}]777;notify;rein;{text}\u{1b}\\")
}
