//! `rein auth`: keys and logins, stored and forgotten, and which are used.
//!
//! Nothing here prints a secret but by its masked end, and none is taken from
//! the command line, where other processes could read it.

mod login;
mod secret_line;
mod status;

use rein_llm::auth::{StoredCredential, StoredSecret, Vault, mask, update};
use rein_llm::{AuthError, Catalog, Provider};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::args::{AuthCommand, RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::stdout;
use crate::terminal::one_line;
use crate::wiring::{self, Desk, Setup};
pub use login::store_key;

/// Does what was asked.
pub fn execute(shared: &SharedArguments, command: AuthCommand) -> Result<Exit, CommandError> {
    let setup = Setup::load(shared, &RunArguments::default())?;
    setup.print_warnings();
    let desk = setup.desk()?;
    match command {
        AuthCommand::Login(arguments) => {
            let runtime = wiring::runtime()?;
            let done = runtime.block_on(login::execute(&desk, &arguments));
            runtime.shutdown_background();
            done.map(|()| Exit::Success)
        }
        AuthCommand::Logout { provider, all: _ } => {
            logout(&desk, provider.as_deref()).map(|()| Exit::Success)
        }
        AuthCommand::List { json } => list(&desk, json).map(|()| Exit::Success),
        AuthCommand::Status(arguments) => {
            let runtime = wiring::runtime()?;
            let shown = runtime.block_on(status::execute(&desk, &arguments));
            runtime.shutdown_background();
            shown
        }
    }
}

/// Removes what is stored for a provider, or for all of them.
fn logout(desk: &Desk, provider: Option<&str>) -> Result<(), CommandError> {
    let mut removed = 0;
    update(&*desk.vault, |credentials| {
        let before = credentials.len();
        credentials.retain(|credential| provider.is_some_and(|provider| credential.provider != provider));
        removed = before - credentials.len();
    })
    .map_err(|error| from_auth_error(&error))?;
    if let (Some(name), 0) = (provider, removed) {
        // A name that is stored but not in the catalog any more can be removed all the same.
        find(desk.models.catalog(), name)?;
        return stdout::print(|out| writeln!(out, "nothing is stored for {name}"));
    }
    stdout::print(|out| match removed {
        1 => writeln!(out, "removed 1 credential from {}", desk.vault.path().display()),
        count => writeln!(out, "removed {count} credentials from {}", desk.vault.path().display()),
    })
}

fn list(desk: &Desk, as_json: bool) -> Result<(), CommandError> {
    let stored = desk.vault.read().map_err(|error| from_auth_error(&error))?;
    if as_json {
        let rows = stored.iter().map(|credential| {
            json!({
                "provider": credential.provider,
                "kind": credential.secret.kind(),
                "masked": shown(&credential.secret),
                "added": date(credential),
            })
        });
        return stdout::print_json(
            &json!({ "place": desk.vault.path(), "credentials": rows.collect::<Vec<_>>() }),
        );
    }
    stdout::print(|out| {
        for credential in &stored {
            writeln!(
                out,
                "{:<16} {:<8} {:<24} {}",
                one_line(&credential.provider, 40),
                credential.secret.kind(),
                shown(&credential.secret),
                date(credential),
            )?;
        }
        match stored.is_empty() {
            true => writeln!(out, "nothing is stored in {}", desk.vault.path().display()),
            false => writeln!(out, "in {}", desk.vault.place()),
        }
    })
}

/// A stored secret as a person may see it. A command is none.
fn shown(secret: &StoredSecret) -> String {
    match secret {
        StoredSecret::Key(secret) | StoredSecret::Token(secret) => mask(secret.expose_secret()),
        StoredSecret::Command(command) => format!("!{}", one_line(command, 40)),
        StoredSecret::Login(login) => mask(login.access_token.expose_secret()),
    }
}

fn date(credential: &StoredCredential) -> String {
    let moment = jiff::Timestamp::from_millisecond(credential.added.0).unwrap_or_default();
    moment.strftime("%Y-%m-%d").to_string()
}

/// A provider by its name, or those whose names are alike.
fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Provider, CommandError> {
    if let Some(provider) = catalog.provider(name) {
        return Ok(provider);
    }
    let wrong = CommandError::usage(format!("there is no provider `{}`", one_line(name, 60)));
    let near = catalog.nearest(name);
    Err(match near.as_slice() {
        [] => wrong.hint(known(catalog)),
        near => wrong.hint(format!("did you mean {}?", near.join(" or "))),
    })
}

fn known(catalog: &Catalog) -> String {
    let names: Vec<&str> = catalog.providers().iter().map(|provider| provider.name.as_str()).collect();
    format!("there is {}", names.join(", "))
}

fn from_auth_error(error: &AuthError) -> CommandError {
    match error {
        AuthError::NotConfigured { .. } | AuthError::Insecure { .. } => {
            CommandError::usage(error.to_string()).hint("docs/auth.md says what a login needs to be told")
        }
        _ => CommandError::failure(error.to_string()),
    }
}
