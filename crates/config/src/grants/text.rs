//! The text of the file with grants, written and read.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rein_protocol::{Grant, SessionId, Timestamp};
use serde::Deserialize;
use toml::Spanned;
use toml::value::Datetime;

use super::{GrantScope, KeptGrant};
use crate::document::{self, DEEPEST, Lines};
use crate::error::{ConfigError, Problem, ProblemKind, Problems};
use crate::origin::{Origin, Source};
use crate::permission::PERMISSIONS;
use crate::quote;

const HEADING: &str = "\
# What you allowed with \"always\". `rein permission list` shows it, `rein permission revoke ID` takes it back.
";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    grant: Vec<Spanned<Row>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: Spanned<String>,
    permission: Spanned<String>,
    pattern: Spanned<String>,
    scope: Word,
    workspace: Option<Spanned<String>>,
    when: Spanned<Datetime>,
    session: Spanned<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Word {
    Project,
    Everywhere,
}

/// The grants in a text.
pub(super) fn parse(file: &Path, text: &str) -> Result<Vec<KeptGrant>, ConfigError> {
    let lines = Lines::of(text);
    let wrong = |at: usize, kind: ProblemKind| {
        let origin = Origin::file(Source::Grant, file).at_line(lines.line(at));
        ConfigError::Invalid(Problems(vec![Problem { origin, column: Some(lines.column(at)), kind }]))
    };
    if let Some(at) = document::too_deep(text) {
        let message = format!("brackets are nested more than {DEEPEST} deep, or some are not closed");
        return Err(wrong(at, ProblemKind::Syntax { message }));
    }
    let document: Document = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        wrong(at, ProblemKind::Syntax { message: error.message().to_owned() })
    })?;
    let mut grants: Vec<KeptGrant> = Vec::new();
    for row in document.grant {
        let line = lines.line(row.span().start);
        let grant = kept(row.into_inner(), line).map_err(|(at, key, message)| {
            wrong(at, ProblemKind::Malformed { key: key.to_owned(), message })
        })?;
        if grants.iter().any(|other| other.id == grant.id) {
            let message = format!("is `{}`, as that of a grant above", quote::brief(&grant.id));
            let (key, start) = ("grant.id".to_owned(), lines.start(line));
            return Err(wrong(start, ProblemKind::Malformed { key, message }));
        }
        grants.push(grant);
    }
    Ok(grants)
}

/// What is wrong with a value: where, the key, and the end of a sentence.
type Wrong = (usize, &'static str, String);

fn kept(row: Row, line: usize) -> Result<KeptGrant, Wrong> {
    let filled = |value: &Spanned<String>, key: &'static str| {
        let is_empty = value.get_ref().trim().is_empty();
        if is_empty { Err((value.span().start, key, "must not be empty".to_owned())) } else { Ok(()) }
    };
    filled(&row.id, "grant.id")?;
    filled(&row.pattern, "grant.pattern")?;
    let permission = row.permission.get_ref();
    if permission == "*" || !PERMISSIONS.iter().any(|(name, _)| name == permission) {
        let message = format!("is `{}`, which is not one permission", quote::brief(permission));
        return Err((row.permission.span().start, "grant.permission", message));
    }
    let scope = match (row.scope, row.workspace) {
        (Word::Everywhere, None) => GrantScope::Everywhere,
        (Word::Project, Some(workspace)) if Path::new(workspace.get_ref()).is_absolute() => {
            GrantScope::Project { workspace: PathBuf::from(workspace.into_inner()) }
        }
        (Word::Project, Some(workspace)) => {
            return Err((workspace.span().start, "grant.workspace", "must be an absolute path".to_owned()));
        }
        (Word::Everywhere, Some(workspace)) => {
            let message = "must not be there, because the grant holds everywhere".to_owned();
            return Err((workspace.span().start, "grant.workspace", message));
        }
        (Word::Project, None) => {
            let message = "must be there, because the grant holds for one project".to_owned();
            return Err((row.id.span().start, "grant.workspace", message));
        }
    };
    let when = jiff::Timestamp::from_str(&row.when.get_ref().to_string()).map_err(|_| {
        let message = "must be a date and a time with its zone, for example 2026-01-31T12:00:00Z".to_owned();
        (row.when.span().start, "grant.when", message)
    })?;
    let session = SessionId::from_str(row.session.get_ref())
        .map_err(|error| (row.session.span().start, "grant.session", format!("is wrong: {error}")))?;
    Ok(KeptGrant {
        id: row.id.into_inner(),
        grant: Grant { permission: row.permission.into_inner(), pattern: row.pattern.into_inner() },
        scope,
        when: Timestamp(when.as_millisecond()),
        session,
        line,
    })
}

/// The text with these grants.
pub(super) fn write(grants: &[KeptGrant]) -> Result<String, ConfigError> {
    let mut text = HEADING.to_owned();
    for grant in grants {
        let mut line = |key: &str, value: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{key} = {value}");
        };
        let when = jiff::Timestamp::from_millisecond(grant.when.0).unwrap_or_default();
        line("\n[[grant]]\nid", &quote::string(&grant.id));
        line("permission", &quote::string(&grant.grant.permission));
        line("pattern", &quote::string(&grant.grant.pattern));
        match &grant.scope {
            GrantScope::Project { workspace: path } => {
                line("scope", "\"project\"");
                line("workspace", &quote::string(workspace(path)?));
            }
            GrantScope::Everywhere => line("scope", "\"everywhere\""),
        }
        line("when", &when.to_string());
        line("session", &quote::string(grant.session.as_str()));
    }
    Ok(text)
}

/// A workspace as it is written down.
pub(super) fn workspace(path: &Path) -> Result<&str, ConfigError> {
    path.to_str().ok_or_else(|| ConfigError::UnwritableWorkspace { workspace: path.to_owned() })
}
