//! `rein sessions export`: a session as a file. The lines of `jsonl` are the
//! entries of the active branch as the store has them, so nothing of it is lost.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use rein_protocol::{Entry, Snapshot};

use super::markdown;
use crate::args::ExportFormat;
use crate::error::CommandError;
use crate::terminal::Target;
use crate::{machine, stdout};

pub(super) fn export(
    snapshot: &Snapshot,
    format: ExportFormat,
    file: Option<&Path>,
) -> Result<(), CommandError> {
    let Some(file) = file else {
        let target = Target::of(&io::stdout());
        return stdout::print(|out| write(snapshot, format, target, out));
    };
    let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
        write(snapshot, format, Target::Elsewhere, &mut out)?;
        out.flush()
    });
    written.map_err(|error| {
        CommandError::failure(format!("the session cannot be written to {}", file.display())).caused_by(error)
    })
}

/// Exact for files and programs; a person at a terminal sees escapes instead of having them obeyed.
fn write(snapshot: &Snapshot, format: ExportFormat, target: Target, out: &mut dyn Write) -> io::Result<()> {
    match (format, target) {
        (ExportFormat::Jsonl, _) => lines(&snapshot.entries, out),
        (ExportFormat::Markdown, Target::Elsewhere) => markdown::write(snapshot, out),
        (ExportFormat::Markdown, Target::Terminal) => {
            let mut document = Vec::new();
            markdown::write(snapshot, &mut document)?;
            out.write_all(target.text(&String::from_utf8_lossy(&document)).as_bytes())
        }
    }
}

fn lines(entries: &[Entry], out: &mut dyn Write) -> io::Result<()> {
    for entry in entries {
        writeln!(out, "{}", machine::line(entry)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::Service;
    use rein_testkit::{Act, FakeService, FakeSession};

    #[tokio::test]
    async fn a_document_is_exact_in_a_file_and_harmless_on_a_terminal() {
        let session = FakeSession::new().turn("go", [Act::say("a\u{1b}[2Jb")]);
        let id = session.id();
        let snapshot = FakeService::new().session(session).get(&id).await.unwrap();
        let written = |target: Target| {
            let mut out = Vec::new();
            write(&snapshot, ExportFormat::Markdown, target, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(written(Target::Elsewhere).contains("## Agent\n\na\u{1b}[2Jb\n"));
        assert!(written(Target::Terminal).contains("## Agent\n\na\\u{1b}[2Jb\n"));
    }
}
