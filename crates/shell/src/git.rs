//! What is special about git: configuration on the command line, and the
//! directory it is told to work in.

use crate::analysis::{Danger, Usage};
use crate::effect::Effect;
use crate::glob;
use crate::program::Resolved;
use crate::run::Judged;
use crate::tables::Tables;
use crate::word::Word;

/// Judges `-c key=value`, `git config key value` and the like.
pub(crate) fn judge(resolved: &Resolved, tables: &Tables, judged: &mut Judged) {
    let told = resolved.globals.iter().map(|(_, told)| told).chain([&resolved.told]);
    for found in told.flat_map(|told| &told.options) {
        let configures =
            found.names.iter().any(|name| matches!(name.as_str(), "-c" | "--config" | "--config-env"));
        let (true, Some(value)) = (configures, &found.value) else { continue };
        if !matches!(resolved.key.as_str(), "git commit" | "git switch" | "git branch")
            || found.names.iter().all(|name| name != "-c")
        {
            setting(value, tables, judged);
        }
    }
    if resolved.key == "git config" {
        configuration(resolved, tables, judged);
    }
}

/// What aliases that the command line defines run.
pub(crate) fn aliases(resolved: &Resolved) -> Vec<String> {
    let told = resolved.globals.iter().map(|(_, told)| told);
    let values =
        told.flat_map(|told| &told.options).filter(|found| found.names.iter().any(|name| name == "-c"));
    values
        .filter_map(|found| found.value.as_ref()?.literal()?.strip_prefix("alias."))
        .filter_map(|alias| alias.split_once('='))
        .map(|(_, value)| value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned))
        .collect()
}

fn setting(value: &Word, tables: &Tables, judged: &mut Judged) {
    let start = value.start();
    let (key, _) = start.split_once('=').unwrap_or((start, ""));
    let content = value.strip_start(&format!("{key}=")).unwrap_or_default();
    if !harmless(key, &content, tables) || value.pieces().len() > 1 && !start.contains('=') {
        let reason = "this configuration can make git run a program";
        judged.effect(Effect::Project, reason);
        judged.hazard(Danger::Executes, reason, value.shown());
    }
}

/// Whether a key can be set to a value without git running anything for it.
fn harmless(key: &str, value: &Word, tables: &Tables) -> bool {
    let key = key.to_lowercase();
    let Some(row) = tables.git_keys.iter().find(|row| glob::matches(&row.key, &key)) else { return false };
    let allowed = |value: &str| row.unless.iter().any(|pattern| glob::matches(pattern, value));
    row.harmless || value.literal().is_some_and(allowed)
}

/// `git config`: reading is quiet, setting is a change, and some keys are more.
fn configuration(resolved: &Resolved, tables: &Tables, judged: &mut Judged) {
    let told = &resolved.told;
    let reads = [
        "--get",
        "--get-all",
        "--list",
        "-l",
        "--get-regexp",
        "--show-origin",
        "--show-scope",
        "--name-only",
    ];
    let words: Vec<&Word> = told.operands.iter().collect();
    let subcommand = words.first().and_then(|word| word.literal());
    let reading = words.is_empty() && told.options.is_empty()
        || told.has(&reads)
        || matches!(subcommand, Some("get" | "list"))
        || words.len() == 1 && !told.has(&["--unset", "--edit", "-e"]);
    if reading {
        return;
    }
    judged.effects.retain(|(effect, _)| *effect > Effect::Guarded);
    judged.effect(Effect::History, "changes git's configuration");
    if told.has(&["--global"]) {
        judged.paths.push((Word::text("~/.gitconfig"), Usage::Write));
    }
    let place = usize::from(matches!(subcommand, Some("set" | "unset")));
    let key = words.get(place).map(|word| word.shown().into_owned()).unwrap_or_default();
    let value = words.get(place + 1).map(|word| (*word).clone()).unwrap_or_default();
    if !harmless(&key, &value, tables) || words.get(place).is_some_and(|word| word.has_hole()) {
        judged.hazard(Danger::Persistence, "this configuration can make git run a program later", key);
    }
}
