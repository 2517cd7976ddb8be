//! Where the words of a headless prompt come from: the arguments, standard
//! input, or both. Reading happens before anything else is begun, so that an
//! interrupt while it waits simply ends the process.

use std::io::{self, IsTerminal, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::error::CommandError;

/// More than this is not something a model can read.
const STDIN_LIMIT: usize = 16 << 20;
/// When to say what is being waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The prompt from the arguments and, where it is not a terminal, standard
/// input. `None` if there are no words at all.
pub fn collect(words: &str) -> Result<Option<String>, CommandError> {
    let stdin = io::stdin();
    let piped = if stdin.is_terminal() { None } else { Some(read_patiently(stdin)?) };
    combine(words, piped.as_deref())
}

/// Puts what was piped in after the words, marked as such.
fn combine(words: &str, piped: Option<&[u8]>) -> Result<Option<String>, CommandError> {
    let words = words.trim();
    let piped = piped.unwrap_or_default();
    if piped.len() > STDIN_LIMIT {
        return Err(CommandError::usage(format!(
            "standard input is larger than {} MiB, which no model can read",
            STDIN_LIMIT >> 20
        ))
        .hint("name the file in the prompt instead: the agent can search it and read parts of it"));
    }
    let piped = String::from_utf8_lossy(piped);
    Ok(match (words.is_empty(), piped.trim().is_empty()) {
        (true, true) => None,
        (false, true) => Some(words.to_owned()),
        (true, false) => Some(piped.trim_end().to_owned()),
        (false, false) => Some(format!("{words}\n\n<stdin>\n{}\n</stdin>", piped.trim_end_matches('\n'))),
    })
}

/// Reads to the end. A program that starts rein and leaves its input open would
/// otherwise look like a run that hangs for no reason.
fn read_patiently(stdin: impl Read + Send + 'static) -> Result<Vec<u8>, CommandError> {
    let (sender, receiver) = mpsc::channel();
    let failed = |error: io::Error| CommandError::failure("standard input cannot be read").caused_by(error);
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut text = Vec::new();
            let read = stdin.take(STDIN_LIMIT as u64 + 1).read_to_end(&mut text).map(|_| text);
            // Nobody waits any more only if the process is ending.
            let _ = sender.send(read);
        })
        .map_err(failed)?;
    let read = match receiver.recv_timeout(PATIENCE) {
        Ok(read) => read,
        Err(RecvTimeoutError::Timeout) => {
            // A note is a courtesy; that it cannot be written changes nothing.
            let _ =
                writeln!(io::stderr(), "waiting for the end of standard input (`< /dev/null` gives none)");
            receiver.recv().unwrap_or_else(|_| Ok(Vec::new()))
        }
        Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
    };
    read.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combined(words: &str, piped: Option<&str>) -> Option<String> {
        combine(words, piped.map(str::as_bytes)).unwrap()
    }

    #[test]
    fn words_and_input_are_told_apart() {
        assert_eq!(combined("review", Some("a\nb\n")).unwrap(), "review\n\n<stdin>\na\nb\n</stdin>");
        assert_eq!(combined(" review ", None).unwrap(), "review");
        assert_eq!(combined("review", Some("\n")).unwrap(), "review");
        assert_eq!(combined("", Some("fix it\n")).unwrap(), "fix it");
    }

    #[test]
    fn no_words_at_all_are_no_prompt() {
        for piped in [None, Some(""), Some(" \n")] {
            assert_eq!(combined("  ", piped), None);
        }
    }

    #[test]
    fn input_that_is_not_text_is_still_read_and_too_much_is_refused() {
        assert_eq!(combine("", Some(b"caf\xe9")).unwrap().unwrap(), "caf\u{fffd}");
        let error = combine("x", Some(&vec![b'a'; STDIN_LIMIT + 1])).unwrap_err();
        assert_eq!(error.exit(), crate::exit::Exit::Usage);
    }
}
