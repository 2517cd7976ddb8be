//! `rein prompt` and `rein context`: what every request of a session begins
//! with, why, and how much of the model's window that takes; of a session that
//! exists also the conversation.

use std::io;

use rein_engine::{PromptPart, PromptSection};
use rein_protocol::{ContextPart, ContextSection};
use serde_json::json;

use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::{neutralise, one_line};
use crate::wiring::{self, Setup};

/// Prints the system prompt as it is sent.
pub fn prompt(shared: &SharedArguments, model: Option<&str>) -> Result<(), CommandError> {
    let parts = parts(shared, model)?;
    stdout::print(|out| {
        for part in parts.iter().filter(|part| part.section != PromptSection::Tools) {
            writeln!(out, "{}\n", neutralise(&part.text))?;
        }
        Ok(())
    })
}

/// Lists every part with its tokens and its reason.
pub fn show(shared: &SharedArguments, model: Option<&str>, json: bool) -> Result<(), CommandError> {
    let parts = parts(shared, model)?;
    if json {
        let parts: Vec<serde_json::Value> = parts.iter().map(as_json).collect();
        return stdout::print_json(&json!(parts));
    }
    stdout::print(|out| table(&parts, out))
}

fn table(parts: &[PromptPart], out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{:>7}  {:<12}  part", "tokens", "section")?;
    for part in parts {
        let (name, why) = (one_line(&part.name, 120), one_line(&part.why, 120));
        writeln!(out, "{:>7}  {:<12}  {name} ({why})", part.tokens, part.section.name())?;
    }
    let total: u64 = parts.iter().map(|part| part.tokens).sum();
    writeln!(out, "{total:>7}  in all, estimated; the conversation comes after it")
}

fn as_json(part: &PromptPart) -> serde_json::Value {
    json!({
        "section": part.section.name(), "name": part.name, "why": part.why, "tokens": part.tokens,
        "text": part.text,
    })
}

/// Lists every part of the next request of a session, with its tokens and its reason.
pub fn of_session(shared: &SharedArguments, session: &str, json: bool) -> Result<(), CommandError> {
    let mut setup = Setup::load(shared, &RunArguments::default())?;
    setup.print_warnings();
    let runtime = wiring::runtime()?;
    let parts = runtime.block_on(async {
        let service = setup.observer().await?;
        let found = crate::sessions::by_name(&*service, session).await?;
        Ok::<_, CommandError>(service.context(&found.id).await?)
    });
    runtime.shutdown_background();
    let parts = parts?;
    if json {
        return stdout::print_json(&json!(parts));
    }
    stdout::print(|out| session_table(&parts, out))
}

fn session_table(parts: &[ContextPart], out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{:>7}  {:>9}  {:<12}  part", "tokens", "bytes", "section")?;
    for part in parts {
        let (name, why) = (one_line(&part.name, 120), one_line(&part.why, 120));
        let section = match part.section {
            ContextSection::Tools => "tools",
            ContextSection::Head => "head",
            ContextSection::Instructions => "instructions",
            ContextSection::Environment => "environment",
            ContextSection::Conversation => "conversation",
        };
        writeln!(out, "{:>7}  {:>9}  {section:<12}  {name} ({why})", part.tokens, part.bytes)?;
    }
    let tokens: u64 = parts.iter().map(|part| part.tokens).sum();
    let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
    writeln!(out, "{tokens:>7}  {bytes:>9}  in all, estimated")
}

fn parts(shared: &SharedArguments, model: Option<&str>) -> Result<Vec<PromptPart>, CommandError> {
    let mut setup = Setup::load(shared, &RunArguments::default())?;
    setup.print_warnings();
    let runtime = wiring::runtime()?;
    let parts = runtime.block_on(setup.prompt_parts(model));
    runtime.shutdown_background();
    parts
}
