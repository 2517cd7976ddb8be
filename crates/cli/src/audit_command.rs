//! `rein audit`: what was asked, decided and done, from the journals of one
//! session or all of them.
//!
//! A journal is read in pieces, and of a session only its open calls are
//! remembered: a session of any length takes the same memory. What looks like
//! a secret is masked. `record` is the form of a line.

mod record;

use std::io::{self, BufWriter, ErrorKind, Write};

use rein_protocol::{Seq, SessionId, Timestamp};
use rein_store::{SessionQuery, SessionRecord, Store};

use crate::args::AuditArguments;
use crate::error::CommandError;
use crate::machine;
use crate::sessions::by_name;
use crate::wiring::Setup;
use record::{Calls, Record};

/// How many entries are read at a time.
const PIECE: usize = 500;

/// Exports what was asked for.
pub async fn execute(setup: &mut Setup, arguments: &AuditArguments) -> Result<(), CommandError> {
    let since = arguments.since.as_deref().map(|text| since(text, jiff::Zoned::now())).transpose()?;
    let only = match &arguments.session {
        Some(name) => Some(by_name(&*setup.archive().await?, name).await?.id),
        None => None,
    };
    let store = setup.store().await?;
    let mut sink = Sink { out: BufWriter::new(io::stdout()), json: arguments.json };
    for session in sessions(&store, only.as_ref()).await? {
        if since.is_some_and(|since| session.updated < since) {
            continue;
        }
        match export(&store, &session, since, &mut sink).await? {
            Reader::Listens => {}
            Reader::Left => return Ok(()),
        }
    }
    sink.flush().map(|_| ())
}

/// Sessions by the time they began.
async fn sessions(store: &Store, only: Option<&SessionId>) -> Result<Vec<SessionRecord>, CommandError> {
    let mut sessions = match only {
        Some(id) => store.session(id).await.map_err(unreadable)?.into_iter().collect(),
        None => store.sessions(SessionQuery::default()).await.map_err(unreadable)?,
    };
    sessions.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
    Ok(sessions)
}

async fn export(
    store: &Store,
    session: &SessionRecord,
    since: Option<Timestamp>,
    sink: &mut Sink,
) -> Result<Reader, CommandError> {
    let mut calls = Calls::of(session);
    let mut place = Seq::START;
    loop {
        let entries = store.entries_after(&session.id, place, PIECE).await.map_err(unreadable)?;
        let Some(last) = entries.last() else { return sink.flush() };
        place = last.seq;
        for entry in &entries {
            // What is left out is taken in all the same: later entries are about its calls.
            if let Some(record) = calls.record(entry)
                && since.is_none_or(|since| entry.at >= since)
                && sink.write(&record)? == Reader::Left
            {
                return Ok(Reader::Left);
            }
        }
    }
}

/// Whether anybody reads what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Listens,
    Left,
}

struct Sink {
    out: BufWriter<io::Stdout>,
    json: bool,
}

impl Sink {
    fn write(&mut self, record: &Record) -> Result<Reader, CommandError> {
        let written = if self.json {
            machine::line(&record.to_json())
                .map_err(io::Error::from)
                .and_then(|line| writeln!(self.out, "{line}"))
        } else {
            writeln!(self.out, "{}", record.to_line())
        };
        listening(written)
    }

    fn flush(&mut self) -> Result<Reader, CommandError> {
        listening(self.out.flush())
    }
}

fn listening(written: io::Result<()>) -> Result<Reader, CommandError> {
    match written {
        Ok(()) => Ok(Reader::Listens),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Left),
        Err(error) => Err(CommandError::failure("standard output cannot be written").caused_by(error)),
    }
}

fn unreadable(error: rein_store::StoreError) -> CommandError {
    CommandError::failure(format!("the record cannot be read: {error}"))
}

/// A moment: a date, a date with a time, or so long before now.
fn since(text: &str, now: jiff::Zoned) -> Result<Timestamp, CommandError> {
    let text = text.trim();
    let moment = text
        .parse::<jiff::Timestamp>()
        .ok()
        .or_else(|| {
            text.parse::<jiff::civil::DateTime>()
                .ok()?
                .to_zoned(now.time_zone().clone())
                .ok()
                .map(|at| at.timestamp())
        })
        .or_else(|| now.checked_sub(text.parse::<jiff::Span>().ok()?.abs()).ok().map(|at| at.timestamp()));
    moment.map(|at| Timestamp(at.as_millisecond())).ok_or_else(|| {
        CommandError::usage(format!("--since: `{text}` is no moment"))
            .hint("write 2026-01-31, 2026-01-31T12:00:00Z, or how long ago: 90m, 24h, 7d")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_a_time_or_so_long_ago() {
        let now: jiff::Zoned = "2026-03-10T12:00:00+01:00[Europe/Berlin]".parse().unwrap();
        let at = |text: &str| {
            since(text, now.clone())
                .ok()
                .map(|at| jiff::Timestamp::from_millisecond(at.0).unwrap().to_string())
        };
        for (text, expected) in [
            ("2026-01-31", "2026-01-30T23:00:00Z"),
            ("2026-01-31T12:00", "2026-01-31T11:00:00Z"),
            ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
            ("90m", "2026-03-10T09:30:00Z"),
            ("24h", "2026-03-09T11:00:00Z"),
            (" 7d ", "2026-03-03T11:00:00Z"),
            ("1 week", "2026-03-03T11:00:00Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "7", "2026-13-01"] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
