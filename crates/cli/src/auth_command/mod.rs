//! `rein auth`: keys and logins, stored and forgotten, and which are used.
//!
//! Nothing here prints a secret but by its masked end, and none is taken from
//! the command line, where other processes could read it.

mod login;
mod secret_line;
mod status;

use rein_http::CancellationToken;
use rein_llm::auth::{StoredCredential, StoredSecret, Vault, mask, update};
use rein_llm::{AuthError, Catalog, Provider};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

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
            let runtime = wiring::runtime()?;
            let done = runtime.block_on(logout(&desk, provider.as_deref()));
            runtime.shutdown_background();
            done.map(|()| Exit::Success)
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
async fn logout(desk: &Desk, provider: Option<&str>) -> Result<(), CommandError> {
    let mut removed = Vec::new();
    update(&*desk.vault, |credentials| {
        let gone = |credential: &mut StoredCredential| {
            provider.is_none_or(|provider| credential.provider == provider)
        };
        removed.extend(credentials.extract_if(.., gone));
    })
    .map_err(|error| from_auth_error(&error))?;
    if let (Some(name), true) = (provider, removed.is_empty()) {
        // A name that is stored but not in the catalog any more can be removed all the same.
        find(desk.models.catalog(), name)?;
        return stdout::print(|out| writeln!(out, "nothing is stored for {name}"));
    }
    forget(desk, &removed).await;
    stdout::print(|out| {
        let kept = removed.iter().filter(|credential| is_kept(credential)).count();
        match removed.len() {
            1 => write!(out, "removed 1 credential from {}", desk.vault.path().display())?,
            count => write!(out, "removed {count} credentials from {}", desk.vault.path().display())?,
        }
        match kept {
            0 => writeln!(out),
            kept => writeln!(out, ", {kept} of which the keyring held"),
        }
    })
}

fn is_kept(credential: &StoredCredential) -> bool {
    matches!(credential.secret, StoredSecret::Kept(_))
}

/// Removes from the keyring what the store no longer names. What stays there is told.
async fn forget(desk: &Desk, removed: &[StoredCredential]) {
    for credential in removed {
        let StoredSecret::Kept(kept) = &credential.secret else { continue };
        let forgotten = match &desk.keyring {
            Some(keyring) => keyring.forget(&kept.name, &CancellationToken::new()).await,
            None => Err(AuthError::Keyring { reason: "there is none that can be asked here".to_owned() }),
        };
        if let Err(error) = forgotten {
            wiring::warn(&format!(
                "what is stored for {} stays in the keyring: {error}; remove the entry of the service `rein` with the \
                 account `{}` there yourself",
                credential.provider, kept.name
            ));
        }
    }
}

fn list(desk: &Desk, as_json: bool) -> Result<(), CommandError> {
    let stored = desk.vault.read().map_err(|error| from_auth_error(&error))?;
    if as_json {
        let rows = stored.iter().map(|credential| {
            json!({
                "provider": credential.provider,
                "kind": credential.secret.kind(),
                "masked": if is_kept(credential) { Value::Null } else { shown(&credential.secret).into() },
                "in": if is_kept(credential) { "keyring" } else { "file" },
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
        let kept = stored.iter().filter(|credential| is_kept(credential)).count();
        match stored.len() - kept {
            0 if kept == 0 => writeln!(out, "nothing is stored in {}", desk.vault.path().display()),
            0 => writeln!(out, "by name in {}", desk.vault.path().display()),
            _ => writeln!(out, "in {}", desk.vault.place()),
        }
    })
}

/// A stored secret as a person may see it. A command is none.
fn shown(secret: &StoredSecret) -> String {
    match secret {
        StoredSecret::Key(secret) | StoredSecret::Token(secret) => mask(secret.expose_secret()),
        StoredSecret::Command(command) => format!("!{}", one_line(command, 40)),
        StoredSecret::Login(login) => mask(login.access_token.expose_secret()),
        StoredSecret::Kept(_) => "in the keyring".to_owned(),
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
