//! Past sessions: finding, listing, showing, exporting, copying and naming them. Needs no model.

mod export;
mod find;
mod handoff;
mod list;
mod markdown;
mod opening;
mod show;
mod tree;

use std::path::Path;

use rein_protocol::Service;

pub use find::{by_name, last_of};
pub use handoff::handoff;
pub use markdown::write as write_markdown;
pub use opening::{Opening, opening};

use crate::args::SessionsCommand;
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::one_line;

/// Characters of a title.
const TITLE: usize = 80;

/// Does what was asked for the directory that rein was started in.
pub async fn execute(
    service: &dyn Service,
    directory: &Path,
    command: SessionsCommand,
) -> Result<(), CommandError> {
    match command {
        SessionsCommand::List { all, json, limit } => {
            let workspace = if all { None } else { Some(directory) };
            list::list(service, workspace, limit, if json { Form::Json } else { Form::Text }).await
        }
        SessionsCommand::Show { id, json } => {
            let found = by_name(service, &id).await?;
            let snapshot = service.get(&found.id).await?;
            show::show(&snapshot, if json { Form::Json } else { Form::Text })
        }
        // It needs a model, and so another service.
        SessionsCommand::Handoff { .. } => Ok(()),
        SessionsCommand::Export { id, format, file } => {
            let found = by_name(service, &id).await?;
            let snapshot = service.get(&found.id).await?;
            export::export(&snapshot, format, file.as_deref())
        }
        SessionsCommand::Tree { id, json } => {
            let found = by_name(service, &id).await?;
            let nodes = service.tree(&found.id).await?;
            tree::show(&nodes, if json { Form::Json } else { Form::Text })
        }
        SessionsCommand::Fork { id, at, json } => {
            let found = by_name(service, &id).await?;
            let copy = service.fork(&found.id, at).await?;
            match json {
                true => stdout::print_json(&copy),
                false => stdout::print(|out| writeln!(out, "{}  {}", copy.id, one_line(&copy.title, TITLE))),
            }
        }
        SessionsCommand::Rename { id, title } => {
            let found = by_name(service, &id).await?;
            Ok(service.rename(&found.id, title.join(" ")).await?)
        }
    }
}

/// For whom something is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For a person.
    Text,
    /// For a program.
    Json,
}

/// A moment as persons write it, in their time zone.
pub fn moment(at: rein_protocol::Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(stamp) => stamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "-".to_owned(),
    }
}
