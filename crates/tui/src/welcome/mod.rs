//! The first run: no model can be used yet, and a person is asked what to do
//! about it, before there is a session.
//!
//! Layout: [`Welcome`] is the state and what keys do to it, `view` what it looks
//! like, both pure; [`welcome`] is the loop around them. Keys of providers are
//! stored and servers are looked for by a [`Reception`]. A key is never shown
//! and never part of a `Debug` text.

mod state;
mod view;

use std::sync::Arc;

use async_trait::async_trait;
use crossterm::event::{Event as TerminalEvent, EventStream as KeyStream};
use futures_util::StreamExt;
use rein_protocol::ModelRef;

pub use state::{Step, Welcome};
pub use view::lines;

use crate::TuiError;
use crate::paint::Palette;
use crate::screen::{Frame, Reflow, Screen, Size};
use crate::signals::Signals;
use crate::terminal::Terminal;

/// A provider whose key can be pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderOffer {
    /// What users write before the slash.
    pub name: String,
    /// What it calls itself.
    pub title: String,
    /// Where one gets a key.
    pub page: Option<String>,
}

/// What a person chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// A key of this provider was stored.
    Provider(String),
    /// A model of a server on this machine.
    Model(ModelRef),
    /// To see the demo.
    Demo,
    /// To leave.
    Nothing,
}

/// What can be done about there being no model.
#[async_trait]
pub trait Reception: Send + Sync {
    /// The providers whose key can be pasted.
    fn providers(&self) -> Vec<ProviderOffer>;

    /// Stores a key. An error is a sentence for a person, without the key.
    async fn store(&self, provider: &str, key: &str) -> Result<(), String>;

    /// The models of the servers that run on this machine.
    async fn servers(&self) -> Vec<ModelRef>;
}

/// Asks what to do, on the terminal.
pub async fn welcome(
    reception: Arc<dyn Reception>,
    palette: Palette,
    reflow: Reflow,
) -> Result<Chosen, TuiError> {
    let mut signals = Signals::install().map_err(TuiError::Signals)?;
    let mut terminal = Terminal::take().map_err(TuiError::Terminal)?;
    let mut size = Terminal::size();
    let mut screen = Screen::new(size, palette, reflow);
    let mut keys = KeyStream::new();
    let mut welcome = Welcome::new(reception.providers());
    let chosen = loop {
        draw(&mut terminal, &mut screen, &welcome, size).await?;
        let event = tokio::select! {
            _ = signals.ending() => break Chosen::Nothing,
            event = keys.next() => match event {
                Some(Ok(event)) => event,
                Some(Err(_)) | None => break Chosen::Nothing,
            },
        };
        let step = match event {
            TerminalEvent::Key(key) => welcome.key(key),
            TerminalEvent::Paste(text) => {
                welcome.paste(&text);
                Step::Stays
            }
            TerminalEvent::Resize(columns, rows) => {
                size = Size::new(columns, rows);
                Terminal::stir();
                terminal.write(screen.resize(size));
                Step::Stays
            }
            TerminalEvent::FocusGained | TerminalEvent::FocusLost | TerminalEvent::Mouse(_) => Step::Stays,
        };
        match step {
            Step::Stays => {}
            Step::Ends(chosen) => break chosen,
            Step::Looks => {
                draw(&mut terminal, &mut screen, &welcome, size).await?;
                welcome.found(reception.servers().await);
            }
            Step::Stores { provider } => {
                let stored = reception.store(&provider, welcome.secret()).await;
                if let Some(chosen) = welcome.stored(provider, stored) {
                    break chosen;
                }
            }
        }
    };
    terminal.write(screen.leave());
    terminal.ready().await.map_err(TuiError::Terminal)?;
    Ok(chosen)
}

async fn draw(
    terminal: &mut Terminal,
    screen: &mut Screen,
    welcome: &Welcome,
    size: Size,
) -> Result<(), TuiError> {
    let (live, cursor) = lines(welcome, size);
    let bytes = screen.draw(&[], &Frame { live, cursor, overlay: None });
    terminal.write(bytes);
    terminal.ready().await.map_err(TuiError::Terminal)
}
