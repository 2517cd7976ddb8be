//! `rein prompt` and `rein context`: what every request of a session begins
//! with, why, and how much of the model's window that takes.

use std::io;

use rein_engine::{PromptPart, PromptSection};
use serde_json::json;

use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::{neutralise, one_line};
use crate::wiring::{self, Setup};

/// Prints the system prompt as it is sent.
pub fn prompt(shared: &SharedArguments) -> Result<(), CommandError> {
    let parts = parts(shared)?;
    stdout::print(|out| {
        for part in parts.iter().filter(|part| part.section != PromptSection::Tools) {
            writeln!(out, "{}\n", neutralise(&part.text))?;
        }
        Ok(())
    })
}

/// Lists every part with its tokens and its reason.
pub fn show(shared: &SharedArguments, json: bool) -> Result<(), CommandError> {
    let parts = parts(shared)?;
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
        writeln!(out, "{:>7}  {:<12}  {name} ({why})", part.tokens, section(part.section))?;
    }
    let total: u64 = parts.iter().map(|part| part.tokens).sum();
    writeln!(out, "{total:>7}  in all, estimated; the conversation comes after it")
}

fn as_json(part: &PromptPart) -> serde_json::Value {
    json!({
        "section": section(part.section), "name": part.name, "why": part.why, "tokens": part.tokens,
        "text": part.text,
    })
}

fn section(section: PromptSection) -> &'static str {
    match section {
        PromptSection::Head => "head",
        PromptSection::Instructions => "instructions",
        PromptSection::Environment => "environment",
        PromptSection::Tools => "tools",
    }
}

fn parts(shared: &SharedArguments) -> Result<Vec<PromptPart>, CommandError> {
    let mut setup = Setup::load(shared, &RunArguments::default())?;
    setup.print_warnings();
    let runtime = wiring::runtime()?;
    let parts = runtime.block_on(setup.prompt_parts());
    runtime.shutdown_background();
    parts
}
