//! Secrets that a command prints. Which process runs it, and how, is left to
//! who implements [`SecretCommand`]: nothing here can start one.

use std::pin::Pin;
use std::time::Duration;

use rein_http::CancellationToken;
use secrecy::SecretString;

use super::AuthError;

/// How long a command may take.
pub const COMMAND_LIMIT: Duration = Duration::from_secs(10);
/// More than this is no key.
const LONGEST: usize = 16 * 1024;

/// What a command will have printed.
pub type SecretCommandFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, AuthError>> + Send + 'a>>;

/// Runs the commands that print secrets.
///
/// An implementer runs the command by a shell, with the user's own
/// environment, for at most [`COMMAND_LIMIT`], and hands back what it wrote to
/// standard output and nothing else. It logs neither the command nor its
/// output, and keeps the output from other children.
pub trait SecretCommand: Send + Sync {
    /// Runs a command to its end.
    fn run<'a>(&'a self, command: &'a str, cancel: &'a CancellationToken) -> SecretCommandFuture<'a>;
}

/// The command in a value, if it is one: what follows `!`.
pub(super) fn command_in(value: &str) -> Option<&str> {
    value.trim().strip_prefix('!').map(str::trim).filter(|command| !command.is_empty())
}

/// The secret in what a command printed: its one line.
pub(super) fn secret_in(printed: &[u8]) -> Result<SecretString, AuthError> {
    let fail = |reason: &str| AuthError::Command { reason: reason.to_owned() };
    if printed.len() > LONGEST {
        return Err(fail("it printed more than a key can be"));
    }
    let text = std::str::from_utf8(printed).map_err(|_| fail("what it printed is no text"))?.trim();
    match text {
        "" => Err(fail("it printed nothing")),
        text if text.chars().any(char::is_control) => Err(fail("it printed more than one line")),
        text => Ok(SecretString::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn a_command_is_what_follows_an_exclamation_mark() {
        assert_eq!(command_in(" ! pass show x "), Some("pass show x"));
        assert_eq!((command_in("!"), command_in("sk-!x"), command_in("")), (None, None, None));
    }

    #[test]
    fn a_secret_is_one_line_and_no_error_shows_it() {
        assert_eq!(secret_in(b" sk-1 \r\n").unwrap().expose_secret(), "sk-1");
        for printed in [&b""[..], b"\n", b"hunter2\nhunter3", b"\xffhunter2", &[b'x'; LONGEST + 1]] {
            let error = secret_in(printed).unwrap_err();
            assert!(!error.to_string().contains("hunter"), "{error}");
        }
    }
}
