//! A line from the terminal that is not shown while it is typed.
//!
//! The terminal is put back as it was on every way out, Ctrl-C included: that
//! arrives as a byte, not as a signal.

use std::io::{self, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::error::CommandError;

const LONGEST: usize = 16 * 1024;

/// Reads a line from standard input, which must be a terminal.
pub fn read() -> Result<String, CommandError> {
    let stdin = io::stdin();
    let cannot = |error: io::Error| {
        CommandError::failure("the terminal cannot be kept from showing what is typed")
            .caused_by(error)
            .hint("pipe the key in with --key-from-stdin")
    };
    let before = tcgetattr(&stdin).map_err(|error| cannot(error.into()))?;
    let mut silent = before.clone();
    silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(&stdin, OptionalActions::Flush, &silent).map_err(|error| cannot(error.into()))?;
    let _restore = Restore(before);
    let typed = line(stdin.lock().bytes());
    // The line break that was typed was not shown either.
    let _ = writeln!(io::stderr());
    match typed {
        Ok(Typed::Line(line)) => Ok(line),
        Ok(Typed::GivenUp) => Err(CommandError::failure("given up; nothing was changed")),
        Err(error) => Err(CommandError::failure("the terminal cannot be read").caused_by(error)),
    }
}

struct Restore(Termios);

impl Drop for Restore {
    fn drop(&mut self) {
        // A terminal that is gone needs no repair.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
    }
}

#[derive(Debug, PartialEq)]
enum Typed {
    Line(String),
    GivenUp,
}

/// What bytes from a terminal without line editing mean.
fn line(bytes: impl Iterator<Item = io::Result<u8>>) -> io::Result<Typed> {
    let mut typed: Vec<u8> = Vec::new();
    for byte in bytes {
        match byte? {
            b'\r' | b'\n' => break,
            0x03 | 0x1c => return Ok(Typed::GivenUp),
            0x04 if typed.is_empty() => return Ok(Typed::GivenUp),
            0x04 => break,
            0x15 => typed.clear(),
            0x08 | 0x7f => {
                // A character may be several bytes.
                while typed.pop().is_some_and(|byte| (0x80..0xc0).contains(&byte)) {}
            }
            byte if typed.len() < LONGEST => typed.push(byte),
            _ => {}
        }
    }
    Ok(Typed::Line(String::from_utf8_lossy(&typed).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_corrected_and_given_up() {
        let typed = |bytes: &str| line(bytes.bytes().map(Ok)).unwrap();
        let said = |text: &str| Typed::Line(text.to_owned());
        assert_eq!(typed("sk-1\rmore"), said("sk-1"));
        assert_eq!(typed("sk-é\u{7f}\u{7f}2\n"), said("sk2"));
        assert_eq!(typed("wrong\u{15}right\n"), said("right"));
        assert_eq!(typed("sk-1\u{4}"), said("sk-1"));
        assert_eq!((typed("sk\u{3}"), typed("\u{4}")), (Typed::GivenUp, Typed::GivenUp));
        assert_eq!(typed("end without a break"), said("end without a break"));
    }
}
