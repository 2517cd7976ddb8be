//! `rein auth login`.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use rein_http::CancellationToken;
use rein_llm::auth::oauth::{BrowserLogin, DeviceLogin};
use rein_llm::auth::{KeySource, KeyState, StoredCredential, StoredSecret, Vault, keyring, update};
use rein_llm::{OAuth, Provider};
use rein_protocol::Timestamp;

use super::{find, forget, from_auth_error, known, secret_line};
use crate::args::LoginArguments;
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::{neutralise, one_line};
use crate::wiring::{Desk, warn};

/// More than this is no key.
const LONGEST: u64 = 64 * 1024;

/// Logs in.
pub async fn execute(desk: &Desk, arguments: &LoginArguments) -> Result<(), CommandError> {
    let catalog = desk.models.catalog();
    let name = match &arguments.provider {
        Some(name) => name.clone(),
        None => ask_provider(&known(catalog))?,
    };
    let provider = find(catalog, name.trim())?;
    let secret = match way(provider, arguments)? {
        Way::Command(command) => StoredSecret::Command(command),
        Way::Input => read_key(provider, arguments)?,
        Way::Device(oauth) => by_device(desk, provider, oauth).await?,
        Way::Browser(oauth) => by_browser(desk, provider, oauth).await?,
    };
    let others = if arguments.add { Others::Stay } else { Others::Go };
    let keeper = if arguments.file { Keeper::File } else { Keeper::Keyring };
    let place = store(desk, &provider.name, secret, others, keeper).await?;
    tell(desk, provider, &place)
}

/// What becomes of the other credentials of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    Stay,
    Go,
}

/// Who is to keep a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    /// The keyring if there is one, else a file.
    Keyring,
    File,
}

/// Stores a key that was pasted elsewhere, in the place of the others of the provider. Says where it is.
pub async fn store_key(desk: &Desk, provider: &str, text: &str) -> Result<String, CommandError> {
    store(desk, provider, secret_of(text, Kind::Key)?, Others::Go, Keeper::Keyring).await
}

async fn store(
    desk: &Desk,
    provider: &str,
    secret: StoredSecret,
    others: Others,
    keeper: Keeper,
) -> Result<String, CommandError> {
    let secret = kept(desk, provider, secret, keeper).await;
    let place = match (&secret, &desk.keyring) {
        (StoredSecret::Kept(_), Some(keyring)) => keyring.place(),
        _ => desk.vault.place(),
    };
    let stored = StoredCredential { provider: provider.to_owned(), secret, added: Timestamp::now() };
    let mut removed = Vec::new();
    update(&*desk.vault, |credentials| {
        if others == Others::Go {
            removed.extend(credentials.extract_if(.., |credential| credential.provider == provider));
        }
        credentials.push(stored);
    })
    .map_err(|error| from_auth_error(&error))?;
    forget(desk, &removed).await;
    Ok(place)
}

/// The secret in the keyring, if there is one that takes it.
async fn kept(desk: &Desk, provider: &str, secret: StoredSecret, keeper: Keeper) -> StoredSecret {
    let Some(keyring) = desk.keyring.as_deref().filter(|_| keeper == Keeper::Keyring) else { return secret };
    match keyring::keep(keyring, provider, &secret, &CancellationToken::new()).await {
        Ok(kept) => kept.unwrap_or(secret),
        Err(error) => {
            warn(&format!("{error}; it is kept in a file instead"));
            secret
        }
    }
}

enum Way<'a> {
    Input,
    Command(String),
    Device(&'a OAuth),
    Browser(&'a OAuth),
}

fn way<'a>(provider: &'a Provider, arguments: &LoginArguments) -> Result<Way<'a>, CommandError> {
    if let Some(command) = &arguments.command {
        let command = command.trim().trim_start_matches('!').trim();
        return match command.is_empty() {
            true => Err(CommandError::usage("--command needs a command that prints the key")),
            false => Ok(Way::Command(command.to_owned())),
        };
    }
    let none = || {
        CommandError::usage(format!("rein knows no login with a browser for `{}`", provider.name))
            .hint(format!("store a key instead: rein auth login {}", provider.name))
            .hint(format!("or say how one logs in with provider.{}.oauth in your settings", provider.name))
    };
    match (&provider.oauth, arguments.browser, arguments.device) {
        (Some(oauth), true, _) => Ok(Way::Browser(oauth)),
        (Some(oauth), _, true) => Ok(Way::Device(oauth)),
        (None, true, _) | (None, _, true) => Err(none()),
        (Some(oauth), false, false)
            if !oauth.client_id.is_empty() && !arguments.key_from_stdin && !arguments.token =>
        {
            Ok(if oauth.device_url.is_some() { Way::Device(oauth) } else { Way::Browser(oauth) })
        }
        (_, false, false) => Ok(Way::Input),
    }
}

fn read_key(provider: &Provider, arguments: &LoginArguments) -> Result<StoredSecret, CommandError> {
    let what = if arguments.token { "token" } else { "key" };
    let text = if arguments.key_from_stdin {
        let mut text = String::new();
        io::stdin().lock().take(LONGEST).read_to_string(&mut text).map_err(|error| {
            CommandError::failure(format!("the {what} cannot be read from standard input")).caused_by(error)
        })?;
        text
    } else if io::stdin().is_terminal() {
        let page = provider.account_page.as_ref().map(|page| format!(" ({page})")).unwrap_or_default();
        prompt(&format!("The {what} for {}{page}, it is not shown: ", provider.name))?;
        secret_line::read()?
    } else {
        return Err(CommandError::usage(format!("there is no terminal to ask for the {what}"))
            .hint(format!("pipe it in: … | rein auth login {} --key-from-stdin", provider.name)));
    };
    secret_of(&text, if arguments.token { Kind::Token } else { Kind::Key })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Key,
    Token,
}

/// What somebody wrote or piped in, as it is stored.
fn secret_of(text: &str, kind: Kind) -> Result<StoredSecret, CommandError> {
    let what = if kind == Kind::Token { "token" } else { "key" };
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandError::usage(format!("no {what} was given; nothing was changed")));
    }
    if text.chars().any(|character| character.is_control() || character.is_whitespace())
        && !text.starts_with('!')
    {
        return Err(CommandError::usage(format!(
            "a {what} has no spaces or line breaks in it; nothing was changed"
        )));
    }
    Ok(match text.strip_prefix('!').map(str::trim) {
        Some(command) => StoredSecret::Command(command.to_owned()),
        None if kind == Kind::Token => StoredSecret::Token(text.into()),
        None => StoredSecret::Key(text.into()),
    })
}

async fn by_device(desk: &Desk, provider: &Provider, oauth: &OAuth) -> Result<StoredSecret, CommandError> {
    let cancel = CancellationToken::new();
    let failed = |error| from_auth_error(&error);
    let waiting = DeviceLogin::begin(&desk.http, &provider.name, oauth, &cancel).await.map_err(failed)?;
    let page = waiting.complete_page.as_deref().unwrap_or(&waiting.page);
    prompt(&format!(
        "Open {} and enter the code {}\nWaiting for you to finish there (Ctrl-C to give up) …\n",
        neutralise(page),
        one_line(&waiting.code, 40)
    ))?;
    waiting.finish(&desk.http, oauth, &cancel).await.map(StoredSecret::Login).map_err(failed)
}

async fn by_browser(desk: &Desk, provider: &Provider, oauth: &OAuth) -> Result<StoredSecret, CommandError> {
    let failed = |error| from_auth_error(&error);
    let waiting = BrowserLogin::begin(&provider.name, oauth).await.map_err(failed)?;
    prompt(&format!(
        "Open this address in a browser on this machine:\n{}\nWaiting for you to finish there (Ctrl-C to give up) …\n",
        neutralise(waiting.page())
    ))?;
    let cancel = CancellationToken::new();
    waiting.finish(&desk.http, oauth, &cancel).await.map(StoredSecret::Login).map_err(failed)
}

fn ask_provider(known: &str) -> Result<String, CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::usage("which provider?").hint(known));
    }
    prompt(&format!("Which provider? {known}\n> "))?;
    let mut line = String::new();
    io::stdin()
        .lock()
        .take(LONGEST)
        .read_line(&mut line)
        .map_err(|error| CommandError::failure("the name cannot be read").caused_by(error))?;
    Ok(line)
}

/// Says where it is, openly, and if something else comes first.
fn tell(desk: &Desk, provider: &Provider, place: &str) -> Result<(), CommandError> {
    let before = desk.models.key_report(&provider.name).into_iter().find(|report| {
        matches!(report.state, KeyState::Used | KeyState::Pending)
            && matches!(
                report.source,
                KeySource::Settings | KeySource::SettingsCommand | KeySource::Variable(_)
            )
    });
    stdout::print(|out| {
        writeln!(out, "stored for {} in {place}", provider.name)?;
        if let Some(report) = before {
            writeln!(out, "note: {} comes first while it is there", report.source)?;
        }
        Ok(())
    })
}

fn prompt(text: &str) -> Result<(), CommandError> {
    let mut stderr = io::stderr().lock();
    stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush())
        .map_err(|error| CommandError::failure("standard error cannot be written").caused_by(error))
}
