//! Standard output for commands that print and are done. A reader that went
//! away (`| head`) has seen what it wanted: that is no failure.

use std::io::{self, BufWriter, ErrorKind, Write};

use crate::error::CommandError;
use crate::machine;

/// Prints what `write` writes.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CommandError> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // What is left in the buffer has either been written or cannot be.
    drop(out.into_parts());
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CommandError::failure("standard output cannot be written").caused_by(error)),
    }
}

/// Prints a value as indented JSON.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    print(|out| writeln!(out, "{}", machine::document(value)?))
}
