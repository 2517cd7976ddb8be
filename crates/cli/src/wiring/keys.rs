//! Where keys are kept, and how a command that prints one is run.
//!
//! Such a command is the user's own, from the user's settings: it gets the
//! whole environment, and its output goes nowhere but into a request.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use rein_http::{CancellationToken, Client};
use rein_llm::auth::{COMMAND_LIMIT, Keyring, SecretCommandFuture};
use rein_llm::{AuthError, FileVault, Keychain, Models, SecretCommand};
use rein_sandbox::{Ended, Spawn, Status};

use super::{Places, keyring, variable, warn};

/// Standard error would be mixed with the key.
const SCRIPT: &str = "exec 2>/dev/null; eval \"$1\"";

/// What `rein auth` works with.
pub struct Desk {
    /// The providers, with every key that is known.
    pub models: Models,
    /// For logins.
    pub http: Client,
    /// Where keys are kept, or what is known of those in the keyring.
    pub vault: Arc<FileVault>,
    /// The keyring of the operating system, if there is one.
    pub keyring: Option<Arc<dyn Keyring>>,
}

/// Where keys are kept.
pub(super) fn vault(places: &Places) -> Arc<FileVault> {
    Arc::new(FileVault::in_directory(&places.directories.data))
}

/// What is stored, and a way to run commands.
pub(super) fn open(places: &Places) -> Result<Keychain, AuthError> {
    let keychain = Keychain::open(vault(places))?;
    Ok(keychain.with_command(runner(places)).with_keyring(keyring::find(places)))
}

/// The same for a run, which may do without what is stored.
pub(super) fn keychain(places: &Places) -> Keychain {
    open(places).unwrap_or_else(|error| {
        warn(&error.to_string());
        Keychain::default().with_command(runner(places))
    })
}

fn runner(places: &Places) -> Arc<Shell> {
    let home = variable(&places.environment, "HOME").map(PathBuf::from);
    Arc::new(Shell { directory: home.filter(|home| home.is_dir()).unwrap_or_else(|| PathBuf::from("/")) })
}

/// Runs the commands of the user's settings by a shell.
struct Shell {
    directory: PathBuf,
}

impl SecretCommand for Shell {
    fn run<'a>(&'a self, command: &'a str, cancel: &'a CancellationToken) -> SecretCommandFuture<'a> {
        Box::pin(async move {
            let mut spawn = Spawn::new("/bin/sh", &self.directory)
                .arg("-c")
                .arg(SCRIPT)
                .arg("sh")
                .arg(command)
                .timeout(COMMAND_LIMIT);
            spawn.env = std::env::vars_os().collect();
            let mut printed = Vec::new();
            // Beyond this it is no key, and is refused as such.
            let mut keep = |bytes: &[u8]| {
                let room = (64 * 1024_usize).saturating_sub(printed.len());
                printed.extend(bytes.iter().take(room));
            };
            let failed = |reason: String| AuthError::Command { reason };
            let exit = rein_sandbox::run(spawn, &mut keep, cancel)
                .await
                .map_err(|_| failed("the shell could not be started".to_owned()))?;
            match (exit.ended, exit.status) {
                (Ended::Exited, Status::Code(0)) => {}
                (Ended::Exited, Status::Code(code)) => {
                    return Err(failed(format!("it ended with code {code}")));
                }
                (Ended::Exited, Status::Signal(signal)) => {
                    return Err(failed(format!("signal {signal} ended it")));
                }
                (Ended::TimedOut, _) => {
                    return Err(failed(format!("it took longer than {} s", COMMAND_LIMIT.as_secs())));
                }
                (Ended::Cancelled, _) => return Err(rein_http::HttpError::Cancelled.into()),
            }
            if let Ok(text) = std::str::from_utf8(&printed) {
                rein_sandbox::hide_variables([], [OsString::from(text.trim())]);
            }
            Ok(printed)
        })
    }
}
