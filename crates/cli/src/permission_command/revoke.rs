//! `rein permission revoke`: takes back what was allowed for good.
//!
//! Works with settings that are wrong, as long as the grants can be read.

use std::io::Write;

use rein_config::{Grants, KeptGrant};

use super::list::scope;
use crate::args::SharedArguments;
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::{neutralise, one_line};
use crate::wiring::{Places, wrong_settings};

/// How much is meant by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// One grant.
    One,
    /// Every grant that has the name; without a name, every grant.
    All,
}

pub(super) fn execute(
    shared: &SharedArguments,
    name: Option<&str>,
    extent: Extent,
) -> Result<(), CommandError> {
    let places = Places::find(shared)?;
    let grants = Grants::load(&places.directories).map_err(wrong_settings)?;
    let meant: Vec<&KeptGrant> =
        grants.list().iter().filter(|grant| name.is_none_or(|name| is_meant(grant, name))).collect();
    check(&meant, name, extent)?;
    let ids: Vec<String> = meant.iter().map(|grant| grant.id.clone()).collect();
    let revoked = Grants::revoke(&places.directories, &ids).map_err(wrong_settings)?;
    stdout::print(|out| {
        if revoked.is_empty() {
            writeln!(out, "nothing is allowed for good")?;
        }
        revoked.iter().try_for_each(|grant| line(out, grant))
    })
}

fn is_meant(grant: &KeptGrant, name: &str) -> bool {
    let grant_name = format!("{}:{}", grant.grant.permission, grant.grant.pattern);
    [grant.id.as_str(), &grant.grant.pattern, &grant_name].contains(&name)
}

fn check(meant: &[&KeptGrant], name: Option<&str>, extent: Extent) -> Result<(), CommandError> {
    let shown = one_line(name.unwrap_or_default(), 80);
    match (meant, extent) {
        ([], _) if name.is_some() => {
            Err(CommandError::usage(format!("nothing is allowed for good as `{shown}`"))
                .hint("`rein permission list --all` shows what is")
                .hint("a rule of a file is taken back by editing the file"))
        }
        ([_, _, ..], Extent::One) => {
            let each: Vec<String> =
                meant.iter().map(|grant| format!("{}  {}", grant.id, scope(grant))).collect();
            Err(CommandError::usage(format!("`{shown}` is allowed for good {} times", meant.len()))
                .hint(format!("name one by its id, or say --all:\n{}", each.join("\n"))))
        }
        _ => Ok(()),
    }
}

fn line(out: &mut dyn Write, grant: &KeptGrant) -> std::io::Result<()> {
    let pattern = neutralise(&grant.grant.pattern);
    writeln!(out, "revoked {}  {}:{pattern}  ({})", grant.id, grant.grant.permission, scope(grant))
}
