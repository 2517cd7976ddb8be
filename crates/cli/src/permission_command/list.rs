//! `rein permission list`: every rule that holds here, where it is written, and
//! the mode.

use std::fmt::Write;
use std::path::Path;

use rein_config::{GrantScope, Grants, KeptGrant, Loaded, PermissionRule, Source};
use serde_json::{Value, json};

use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::sessions::{Form, moment};
use crate::stdout;
use crate::terminal::neutralise;
use crate::wiring::{Setup, wrong_settings};

/// What is done with grants that hold elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// They are shown too.
    Shown,
    /// They are left out.
    LeftOut,
}

const FOOTER: &str = "\
Within a layer the last rule that matches counts, and the strictest layer decides. What was allowed for good
lifts an `ask` of yours or of the project, never a `deny`. Where no rule matches, the mode decides.
";

pub(super) fn execute(
    shared: &SharedArguments,
    elsewhere: Elsewhere,
    form: Form,
) -> Result<(), CommandError> {
    let setup = Setup::load(shared, &RunArguments::default())?;
    let loaded = setup.settings();
    let grants = Grants::load(&setup.places().directories).map_err(wrong_settings)?;
    let shown: Vec<&KeptGrant> = grants
        .list()
        .iter()
        .filter(|grant| elsewhere == Elsewhere::Shown || holds(grant, setup.directory()))
        .collect();
    match form {
        Form::Json => stdout::print_json(&to_json(loaded, &shown, setup.directory())),
        Form::Text => {
            setup.print_warnings();
            let text = to_text(loaded, &shown, setup.directory());
            stdout::print(|out| out.write_all(text.as_bytes()))
        }
    }
}

fn holds(grant: &KeptGrant, directory: &Path) -> bool {
    match &grant.scope {
        GrantScope::Project { workspace } => workspace == directory,
        GrantScope::Everywhere => true,
    }
}

fn layer_name(source: Source) -> &'static str {
    match source {
        Source::Default => "default",
        Source::User => "user",
        Source::Project => "project",
        Source::Environment => "environment",
        Source::Flag => "flag",
        Source::Grant => "grant",
        Source::Managed => "managed",
    }
}

/// Where a grant holds, in words.
pub(super) fn scope(grant: &KeptGrant) -> String {
    match &grant.scope {
        GrantScope::Project { workspace } => format!("in {}", workspace.display()),
        GrantScope::Everywhere => "everywhere".to_owned(),
    }
}

fn to_text(loaded: &Loaded, grants: &[&KeptGrant], directory: &Path) -> String {
    let mut text = String::new();
    let origin = loaded.origins.get("mode").map(|origin| format!("  ({origin})")).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "mode {}{origin}", loaded.settings.mode.name());
    if let Some(limit) = &loaded.mode_limit {
        let _ = writeln!(text, "  at most {}  ({})", limit.mode.name(), limit.origin);
    }
    let mut above = None;
    for layer in &loaded.permission {
        // A file's `ask` and `deny` are a layer after that of its other rules.
        let further =
            if above == Some((layer.source, &layer.file)) { ", whatever the rules above say" } else { "" };
        above = Some((layer.source, &layer.file));
        let _ = writeln!(text, "\n{}{further}", layer_name(layer.source));
        for PermissionRule { permission, pattern, action, origin } in &layer.rules {
            let _ = writeln!(text, "  {:<5} {permission}:{}  ({origin})", action.name(), neutralise(pattern));
        }
    }
    if !grants.is_empty() {
        let _ = writeln!(text, "\nallowed for good");
    }
    for grant in grants {
        let note = if holds(grant, directory) { "" } else { ", not here" };
        let _ = writeln!(
            text,
            "  {:<8} {}:{}  ({}{note}, since {})",
            grant.id,
            grant.grant.permission,
            neutralise(&grant.grant.pattern),
            scope(grant),
            moment(grant.when)
        );
    }
    if loaded.permission.is_empty() && grants.is_empty() {
        text.push_str("\nno rules\n");
    }
    let _ = write!(text, "\n{FOOTER}");
    text
}

fn to_json(loaded: &Loaded, grants: &[&KeptGrant], directory: &Path) -> Value {
    let grant = |grant: &&KeptGrant| {
        let (scope, workspace) = match &grant.scope {
            GrantScope::Project { workspace } => ("project", Some(workspace.to_string_lossy().into_owned())),
            GrantScope::Everywhere => ("everywhere", None),
        };
        json!({
            "id": grant.id,
            "permission": grant.grant.permission,
            "pattern": grant.grant.pattern,
            "action": "allow",
            "scope": scope,
            "workspace": workspace,
            "when": grant.when,
            "session": grant.session,
            "line": grant.line,
            "holds_here": holds(grant, directory),
        })
    };
    let layers: Vec<Value> = loaded
        .permission
        .iter()
        .map(|layer| {
            let file = layer.file.as_ref().map(|file| file.to_string_lossy().into_owned());
            json!({ "layer": layer_name(layer.source), "file": file, "rules": layer.rules })
        })
        .collect();
    json!({
        "mode": {
            "value": loaded.settings.mode.name(),
            "origin": loaded.origins.get("mode"),
            "limit": loaded.mode_limit.as_ref().map(|limit| json!({ "value": limit.mode.name(), "origin": limit.origin })),
        },
        "layers": layers,
        "grants": grants.iter().map(grant).collect::<Vec<_>>(),
    })
}
