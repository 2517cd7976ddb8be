//! `rein auth status`: which key is used, and from where.

use std::io::{self, Write};

use rein_http::CancellationToken;
use rein_llm::auth::{KeyReport, KeySource};
use serde_json::{Value, json};

use super::find;
use crate::args::StatusArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::stdout;
use crate::terminal::neutralise;
use crate::wiring::Desk;

/// What is known of one provider.
struct Row {
    provider: String,
    keys: Vec<KeyReport>,
    how: Option<String>,
    check: Option<Check>,
}

/// What a provider said to a key.
enum Check {
    Accepted { models: usize },
    Failed { message: String, hint: Option<String> },
}

/// Shows it, for one provider or for all of which there is something to show.
pub async fn execute(desk: &Desk, arguments: &StatusArguments) -> Result<Exit, CommandError> {
    let named = arguments.provider.as_deref();
    let catalog = desk.models.catalog();
    let names: Vec<String> = match named {
        Some(name) => vec![find(catalog, name)?.name.clone()],
        None => catalog.providers().iter().map(|provider| provider.name.clone()).collect(),
    };
    let mut rows = Vec::new();
    for name in names {
        let keys = desk.models.key_report(&name);
        if keys.is_empty() && named.is_none() {
            continue;
        }
        let check = match arguments.check && !keys.is_empty() {
            true => Some(asked(desk, &name).await),
            false => None,
        };
        // A command has run by now, and a login may have been renewed.
        let keys = desk.models.key_report(&name);
        let variable = catalog.provider(&name).and_then(|provider| provider.key_env.first().cloned());
        rows.push(Row {
            how: keys.is_empty().then(|| how(&name, variable.as_deref())),
            provider: name,
            keys,
            check,
        });
    }
    let failed = rows.iter().any(|row| matches!(row.check, Some(Check::Failed { .. })));
    match arguments.json {
        true => stdout::print_json(&Value::from(rows.iter().map(to_json).collect::<Vec<_>>()))?,
        false => stdout::print(|out| print(out, &rows))?,
    }
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

async fn asked(desk: &Desk, provider: &str) -> Check {
    match desk.models.list(provider, &CancellationToken::new()).await {
        Ok(models) => Check::Accepted { models: models.len() },
        Err(error) => Check::Failed { message: error.message, hint: error.hint },
    }
}

fn how(provider: &str, variable: Option<&str>) -> String {
    match variable {
        Some(variable) => format!("no key: export {variable}=… or run `rein auth login {provider}`"),
        None => "no key is needed".to_owned(),
    }
}

fn print(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "no key is known for any provider; store one with `rein auth login PROVIDER`");
    }
    for row in rows {
        let mut name = row.provider.as_str();
        if let Some(how) = &row.how {
            writeln!(out, "{name:<16} {how}")?;
        }
        for key in &row.keys {
            let masked = key.masked.as_deref().unwrap_or("not fetched yet");
            writeln!(out, "{name:<16} {:<9} {} ({masked})", key.state.name(), key.source)?;
            name = "";
        }
        match &row.check {
            Some(Check::Accepted { models }) => {
                writeln!(out, "{:<16} accepted  it lists {models} models", "")?;
            }
            Some(Check::Failed { message, hint }) => {
                writeln!(out, "{:<16} failed    {}", "", neutralise(message).replace('\n', " "))?;
                if let Some(hint) = hint {
                    writeln!(out, "{:<16}           {}", "", neutralise(hint))?;
                }
            }
            None => {}
        }
    }
    Ok(())
}

fn to_json(row: &Row) -> Value {
    let key = |key: &KeyReport| {
        let variable = match &key.source {
            KeySource::Variable(name) => Some(name),
            _ => None,
        };
        json!({
            "source": key.source.name(), "variable": variable, "masked": key.masked, "state": key.state.name(),
        })
    };
    let check = row.check.as_ref().map(|check| match check {
        Check::Accepted { models } => json!({"accepted": true, "models": models}),
        Check::Failed { message, hint } => json!({"accepted": false, "message": message, "hint": hint}),
    });
    json!({"provider": row.provider, "keys": row.keys.iter().map(key).collect::<Vec<_>>(), "check": check})
}
