//! A damaged database is salvaged, not discarded.
//!
//! What SQLite itself can still read of a damaged file depends on where the
//! damage is: one bad page near the root of a tree hides all below it. So the
//! rows are taken from the leaf pages directly (`pages`, `cells`), wherever
//! those are, and put into a new database (`rebuild`), which then takes the
//! place of the damaged one (`swap`). The damaged files are kept.
//!
//! Only one who is alone in the store does this. The invariant: a row that is
//! whole is not lost, and being killed half-way loses nothing either.

mod cells;
mod pages;
mod rebuild;
mod swap;

use std::path::PathBuf;

use crate::error::{Result, StoreError};
use crate::layout::Layout;
use pages::Pages;
use swap::Swap;

/// What was saved of a damaged database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvageReport {
    /// Where the damaged file is kept; its log has the same name with `-wal`.
    pub moved_to: PathBuf,
    /// How many sessions were saved.
    pub sessions: u64,
    /// How many entries were saved.
    pub entries: u64,
    /// What is known to be missing, one sentence each.
    pub lost: Vec<String>,
}

/// What a new database was given.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    sessions: u64,
    entries: u64,
    lost: Vec<String>,
}

/// Salvages the database. No connection to it may be open.
pub(crate) fn run(layout: &Layout) -> Result<SalvageReport> {
    let swap = Swap::begin(layout)?;
    let pages =
        Pages::open(&layout.database, &layout.wal).map_err(StoreError::io("read", &layout.database))?;
    let tally = rebuild::rebuild(&pages, swap.draft())?;
    drop(pages);
    let moved_to = swap.ready(layout)?.complete(layout)?;
    Ok(report(moved_to, tally))
}

/// Completes a salvage that was cut short after the damaged file was moved away.
pub(crate) fn resume(layout: &Layout) -> Result<Option<SalvageReport>> {
    let Some(swap) = Swap::interrupted(layout)? else { return Ok(None) };
    let mut tally = rebuild::count(swap.salvaged())?;
    tally.lost.push("what was lost is not known, because the salvage was interrupted".to_owned());
    let moved_to = swap.complete(layout)?;
    Ok(Some(report(moved_to, tally)))
}

fn report(moved_to: PathBuf, tally: Tally) -> SalvageReport {
    let Tally { sessions, entries, lost } = tally;
    tracing::warn!(
        "{sessions} sessions with {entries} entries were saved; the damaged file is {}",
        moved_to.display()
    );
    SalvageReport { moved_to, sessions, entries, lost }
}
