//! The keyring of the operating system, asked by its own program: `secret-tool`
//! on Linux and the like, `security` on macOS.
//!
//! A secret goes to the program by its standard input and comes back by its
//! standard output, never by an argument, which other processes could read.
//! Whether there is a keyring is decided without asking it; one that is locked,
//! broken or slow is an error within the limit, and never a wait without end.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rein_http::CancellationToken;
use rein_llm::AuthError;
use rein_llm::auth::{COMMAND_LIMIT, Keyring, KeyringFuture};
use rein_sandbox::{Ended, Spawn, Status};
use secrecy::{ExposeSecret, SecretString};

use super::{Places, variable};

/// Under what everything of rein is in a keyring.
const SERVICE: &str = "rein";
/// More than this is no secret of rein's.
const LONGEST: usize = 64 * 1024;
const MACOS_PROGRAM: &str = "/usr/bin/security";
const LINUX_PROGRAM: &str = "secret-tool";

/// The keyring that there is here, if any.
pub(super) fn find(places: &Places) -> Option<Arc<dyn Keyring>> {
    let get = |name: &str| variable(&places.environment, name).filter(|value| !value.is_empty());
    let directory = get("HOME").map(PathBuf::from).filter(|home| home.is_dir());
    let directory = directory.unwrap_or_else(|| PathBuf::from("/"));
    if cfg!(target_os = "macos") {
        let program = PathBuf::from(MACOS_PROGRAM);
        return program
            .is_file()
            .then(|| Arc::new(Program { tool: Tool::Security, program, directory }) as _);
    }
    // Without a bus there is nobody to ask, and the program would start one that nobody listens to.
    let bus = get("DBUS_SESSION_BUS_ADDRESS").is_some()
        || get("XDG_RUNTIME_DIR").is_some_and(|runtime| Path::new(&runtime).join("bus").exists());
    let path = get("PATH").filter(|_| bus)?;
    let program =
        std::env::split_paths(&path).map(|part| part.join(LINUX_PROGRAM)).find(|file| file.is_file())?;
    Some(Arc::new(Program { tool: Tool::SecretTool, program, directory }))
}

struct Program {
    tool: Tool,
    program: PathBuf,
    directory: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    SecretTool,
    Security,
}

/// What is asked of a keyring.
#[derive(Debug, Clone, Copy)]
enum Question<'a> {
    Keep { title: &'a str, secret: &'a SecretString },
    Recall,
    Forget,
}

/// What a program is given.
#[derive(Debug, PartialEq)]
struct Orders {
    arguments: Vec<String>,
    input: String,
}

impl Tool {
    fn orders(self, name: &str, question: Question<'_>) -> Orders {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (arguments, input) = match (self, question) {
            (Self::SecretTool, Question::Keep { title, secret }) => (
                words(&["store", &format!("--label={title}"), "service", SERVICE, "account", name]),
                secret.expose_secret().to_owned(),
            ),
            (Self::SecretTool, Question::Recall) => {
                (words(&["lookup", "service", SERVICE, "account", name]), String::new())
            }
            (Self::SecretTool, Question::Forget) => {
                (words(&["clear", "service", SERVICE, "account", name]), String::new())
            }
            (Self::Security, Question::Keep { title, secret }) => {
                let mut hex = String::new();
                for byte in secret.expose_secret().bytes() {
                    // Writing to a text does not fail.
                    let _ = write!(hex, "{byte:02x}");
                }
                let order = format!(
                    "add-generic-password -U -s \"{SERVICE}\" -a \"{name}\" -l \"{title}\" -X \"{hex}\"\n"
                );
                (words(&["-i"]), order)
            }
            (Self::Security, Question::Recall) => {
                (words(&["find-generic-password", "-s", SERVICE, "-a", name, "-w"]), String::new())
            }
            (Self::Security, Question::Forget) => {
                (words(&["delete-generic-password", "-s", SERVICE, "-a", name]), String::new())
            }
        };
        Orders { arguments, input }
    }
}

/// What a program said.
struct Answer {
    code: i32,
    printed: Vec<u8>,
}

impl Program {
    async fn ask(
        &self,
        name: &str,
        question: Question<'_>,
        cancel: &CancellationToken,
    ) -> Result<Answer, AuthError> {
        let failed = |reason: String| AuthError::Keyring { reason };
        let orders = self.tool.orders(name, question);
        let mut spawn = Spawn::new(self.program.as_os_str(), &self.directory)
            .input(orders.input.into_bytes())
            .timeout(COMMAND_LIMIT);
        spawn.args = orders.arguments.into_iter().map(OsString::from).collect();
        spawn.env = std::env::vars_os().collect();
        if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
            // What it complains of must not be taken for a secret.
            spawn = spawn.errors(OwnedFd::from(nowhere));
        }
        let mut printed = Vec::new();
        let mut take = |bytes: &[u8]| {
            let room = LONGEST.saturating_sub(printed.len());
            printed.extend(bytes.iter().take(room));
        };
        let exit = rein_sandbox::run(spawn, &mut take, cancel)
            .await
            .map_err(|_| failed(format!("{} could not be started", self.program.display())))?;
        match (exit.ended, exit.status) {
            (Ended::Exited, Status::Code(code)) => Ok(Answer { code, printed }),
            (Ended::Exited, Status::Signal(signal)) => {
                Err(failed(format!("signal {signal} ended {}", self.program.display())))
            }
            (Ended::TimedOut, _) => Err(failed(format!(
                "it did not answer within {} s; it may be locked, or wait for a window that nobody sees",
                COMMAND_LIMIT.as_secs()
            ))),
            (Ended::Cancelled, _) => Err(rein_http::HttpError::Cancelled.into()),
        }
    }
}

impl Keyring for Program {
    fn keep<'a>(
        &'a self,
        name: &'a str,
        title: &'a str,
        secret: &'a SecretString,
        cancel: &'a CancellationToken,
    ) -> KeyringFuture<'a, ()> {
        Box::pin(async move {
            let answer = self.ask(name, Question::Keep { title, secret }, cancel).await?;
            match answer.code {
                0 => Ok(()),
                code => Err(AuthError::Keyring {
                    reason: format!("{} ended with code {code}; it may be locked", self.program.display()),
                }),
            }
        })
    }

    fn recall<'a>(
        &'a self,
        name: &'a str,
        cancel: &'a CancellationToken,
    ) -> KeyringFuture<'a, Option<SecretString>> {
        Box::pin(async move {
            let answer = self.ask(name, Question::Recall, cancel).await?;
            let text = String::from_utf8(answer.printed)
                .map_err(|_| AuthError::Keyring { reason: "what it holds is no text".to_owned() })?;
            let text = text.trim_end_matches(['\r', '\n']);
            if answer.code != 0 || text.is_empty() {
                return Ok(None);
            }
            rein_sandbox::hide_variables([], [OsString::from(text)]);
            Ok(Some(SecretString::from(text)))
        })
    }

    fn forget<'a>(&'a self, name: &'a str, cancel: &'a CancellationToken) -> KeyringFuture<'a, ()> {
        Box::pin(async move {
            self.ask(name, Question::Forget, cancel).await?;
            // What is not there is forgotten, whatever the program says of it.
            match self.recall(name, cancel).await? {
                None => Ok(()),
                Some(_) => Err(AuthError::Keyring { reason: "it does not let go of it".to_owned() }),
            }
        })
    }

    fn place(&self) -> String {
        match self.tool {
            Tool::SecretTool => "the keyring of your desktop (secret-tool)".to_owned(),
            Tool::Security => "your login keychain (security)".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_an_argument() {
        let secret = SecretString::from("hunter2 \"é\"");
        let keep = Question::Keep { title: "rein: openai", secret: &secret };
        let linux = Tool::SecretTool.orders("n", keep);
        assert_eq!(
            linux,
            Orders {
                arguments: ["store", "--label=rein: openai", "service", "rein", "account", "n"]
                    .map(str::to_owned)
                    .into(),
                input: "hunter2 \"é\"".to_owned()
            }
        );
        let macos = Tool::Security.orders("n", keep);
        assert_eq!(
            macos,
            Orders {
                arguments: vec!["-i".to_owned()],
                input: "add-generic-password -U -s \"rein\" -a \"n\" -l \"rein: openai\" -X \"68756e746572322022c3a922\"\n"
                    .to_owned(),
            }
        );
    }
}
