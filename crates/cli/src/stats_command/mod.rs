//! `rein stats`: what was spent and done, by day, model, project and tool, and
//! how the providers' caches did.
//!
//! `totals` adds up what the store knows, `chart` draws it for people, `cache`
//! looks at one session step by step. JSON has everything, in a form to which
//! fields are added and from which none is removed.

mod cache;
mod chart;
mod totals;

use std::collections::HashMap;
use std::io;

use jiff::{ToSpan, Zoned};
use rein_protocol::{SessionId, Timestamp};
use rein_store::{FactQuery, Facts, SessionQuery, Store};
use serde_json::json;

use crate::args::{GroupBy, StatsArguments, StatsCommand};
use crate::error::CommandError;
use crate::models_command::width;
use crate::stdout;
use crate::terminal::Target;
use crate::wiring::Setup;
use chart::{Bars, Paper};
use totals::{Report, report};

/// Shows what was asked for.
pub async fn execute(setup: &mut Setup, arguments: &StatsArguments) -> Result<(), CommandError> {
    let store = setup.store().await?;
    if let Some(StatsCommand::Cache { session, json }) = &arguments.command {
        return cache::execute(setup, &store, session.as_deref(), *json).await;
    }
    let now = Zoned::now();
    let since = first_day(&now, arguments.days);
    let since_stamp = Timestamp(since.timestamp().as_millisecond());
    let query = FactQuery { since: since_stamp, session: None, facts: Facts::Everything };
    let facts = store.facts(query).await.map_err(unreadable)?;
    let report = report(&facts, &projects(&store).await?, arguments.by);
    if arguments.json {
        let span = json!({
            "type": "stats",
            "since": since.strftime("%Y-%m-%d").to_string(),
            "until": now.strftime("%Y-%m-%d").to_string(),
            "days": arguments.days,
        });
        return stdout::print_json(&report.to_json(span, arguments.by));
    }
    print(&report, arguments)
}

fn print(report: &Report, arguments: &StatsArguments) -> Result<(), CommandError> {
    let target = Target::of(&io::stdout());
    let paper = Paper { ink: target.ink(), width: width(target), bars: Bars::of_environment() };
    stdout::print(|out| chart::write(out, report, arguments.by, arguments.days, &paper))
}

/// Midnight of the first of so many days.
fn first_day(now: &Zoned, days: u32) -> Zoned {
    let back = i64::from(days.saturating_sub(1)).days();
    now.checked_sub(back).and_then(|day| day.start_of_day()).unwrap_or_else(|_| now.clone())
}

/// Where each session worked.
async fn projects(store: &Store) -> Result<HashMap<SessionId, String>, CommandError> {
    let sessions = store.sessions(SessionQuery::default()).await.map_err(unreadable)?;
    let place =
        |session: rein_store::SessionRecord| (session.id, session.workspace.to_string_lossy().into_owned());
    Ok(sessions.into_iter().map(place).collect())
}

fn unreadable(error: rein_store::StoreError) -> CommandError {
    CommandError::failure("the sessions cannot be read").caused_by(error)
}

/// Whether a row is of this kind has a name in JSON.
fn name(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Day => "day",
        GroupBy::Model => "model",
        GroupBy::Project => "project",
        GroupBy::Tool => "tool",
    }
}
