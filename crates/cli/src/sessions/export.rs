//! `rein sessions export`: a session as a file. The lines of `jsonl` are the
//! entries as the store has them, so nothing is lost.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use rein_protocol::{Entry, Snapshot};

use super::markdown;
use crate::args::ExportFormat;
use crate::error::CommandError;
use crate::stdout;

pub(super) fn export(
    snapshot: &Snapshot,
    format: ExportFormat,
    file: Option<&Path>,
) -> Result<(), CommandError> {
    let write = |out: &mut dyn Write| match format {
        ExportFormat::Jsonl => lines(&snapshot.entries, out),
        ExportFormat::Markdown => markdown::write(snapshot, out),
    };
    let Some(file) = file else { return stdout::print(write) };
    let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|error| {
        CommandError::failure(format!("the session cannot be written to {}", file.display())).caused_by(error)
    })
}

fn lines(entries: &[Entry], out: &mut dyn Write) -> io::Result<()> {
    for entry in entries {
        serde_json::to_writer(&mut *out, entry)?;
        writeln!(out)?;
    }
    Ok(())
}
