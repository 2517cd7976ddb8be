//! Every row of every table is tried: its example must be found, its harmless
//! counterpart must not.

use crate::analysis::{Analysis, Danger};
use crate::effect::Effect;
use crate::operands::KINDS;
use crate::precious::Precious;
use crate::tables::{Tables, load};
use crate::{Surroundings, analyze, arity, paths};
use std::collections::BTreeSet;

fn tables() -> &'static Tables {
    crate::tables::tables().unwrap()
}

fn analysis(command: &str) -> Analysis {
    analyze(command, &Surroundings::new("/work").with_home("/home/u"))
}

#[test]
fn the_tables_can_be_read() {
    if let Err(error) = load() {
        panic!("{error}");
    }
}

#[test]
fn the_dictionary_of_arities_is_large_enough() {
    assert!(arity::entries() >= 450, "{}", arity::entries());
}

#[test]
fn every_gadget_is_flagged_and_its_harmless_counterpart_is_not() {
    let mut programs = BTreeSet::new();
    let mut wrong: Vec<String> = Vec::new();
    for gadget in tables().gadgets.values().flatten() {
        programs.insert(&gadget.program);
        let found = analysis(&gadget.example);
        let flagged = |found: &Analysis| {
            found.hazards.iter().any(|hazard| hazard.class == gadget.class && hazard.reason == gadget.reason)
        };
        if !flagged(&found) {
            wrong.push(format!("{}: {} is not flagged", gadget.program, gadget.example));
        }
        if let Some(harmless) = gadget.harmless.as_ref().filter(|harmless| flagged(&analysis(harmless))) {
            wrong.push(format!("{}: {harmless} is flagged", gadget.program));
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(programs.len() > 50);
}

#[test]
fn every_gadget_belongs_to_a_program_of_the_tables() {
    for program in tables().gadgets.keys() {
        assert!(tables().rows.contains_key(program), "{program}");
    }
}

#[test]
fn every_variable_that_matters_is_flagged() {
    let mut wrong: Vec<String> = Vec::new();
    for row in &tables().variables {
        let found = analysis(&row.example);
        let flagged = |found: &Analysis| found.hazards.iter().any(|hazard| hazard.reason == row.reason);
        let right = match (row.quiet, row.class) {
            (true, _) => found.hazards.is_empty(),
            (false, Some(_)) => flagged(&found),
            (false, None) => found.loudest() >= Effect::Project,
        };
        let quiet = row.harmless.as_ref().is_none_or(|harmless| !flagged(&analysis(harmless)));
        if !right || !quiet {
            wrong.push(format!("{}: {right} {quiet}", row.example));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn every_wrapper_is_peeled_to_the_command_that_runs() {
    let mut wrappers = 0;
    let mut wrong: Vec<String> = Vec::new();
    for (name, row) in &tables().rows {
        let Some(inner) = row.inner else { continue };
        let (Some(example), Some(runs)) = (&row.example, &row.runs) else {
            // Rows of the program tables that carry scripts in options only.
            assert_eq!(inner, crate::tables::Inner::Options, "{name} has no example");
            continue;
        };
        wrappers += 1;
        let found = analysis(example);
        let texts: Vec<String> = found.commands.iter().map(|command| command.text()).collect();
        if !runs.is_empty() && !texts.contains(runs) {
            wrong.push(format!("{name}: {example} gives {texts:?}, not {runs}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(wrappers > 80, "{wrappers}");
}

#[test]
fn a_wrapper_with_an_option_that_no_table_knows_is_unknown() {
    for command in
        ["sudo --no-such-option rm x", "timeout --no-such 5 rm x", "xargs --no-such rm", "env --no-such rm"]
    {
        assert!(!analysis(command).is_understood(), "{command}");
    }
}

#[test]
fn no_name_stands_for_two_programs() {
    let mut names = BTreeSet::new();
    for (file, text) in crate::tables::PROGRAMS {
        let rows: toml::Table = toml::from_str(text).unwrap();
        for (name, row) in &rows {
            let parent = name.rsplit_once(' ').map(|(parent, _)| format!("{parent} ")).unwrap_or_default();
            let also = row.get("also").and_then(toml::Value::as_array).into_iter().flatten();
            for name in also
                .filter_map(toml::Value::as_str)
                .map(|other| format!("{parent}{other}"))
                .chain([name.clone()])
            {
                assert!(names.insert(name.clone()), "{name} is there twice, also in {file}");
            }
        }
    }
}

#[test]
fn rows_are_well_formed() {
    for (name, row) in &tables().rows {
        assert!(!row.why.is_empty(), "{name}");
        for kind in row.operands.split_whitespace() {
            assert!(KINDS.contains(&kind.trim_end_matches('*')), "{name}: {kind}");
        }
        if let Some((parent, _)) = name.rsplit_once(' ') {
            assert!(tables().rows.contains_key(parent), "{name} has no parent");
        }
    }
    for (synonym, name) in &tables().synonyms {
        assert!(tables().rows.contains_key(name), "{synonym} stands for {name}, which has no row");
    }
}

#[test]
fn what_only_reads_does_so_only_with_options_that_are_known() {
    let mut reading = 0;
    let mut wrong: Vec<String> = Vec::new();
    for (name, row) in &tables().rows {
        if row.effect != Effect::Read || row.inner.is_some() || row.branches || name == "[" {
            continue;
        }
        reading += 1;
        let plain = analysis(name);
        let strange = analysis(&format!("{name} --no-such-option-zzz"));
        let careful = row.options.any || strange.loudest() >= Effect::Project;
        if plain.loudest() > Effect::Guarded || !careful {
            wrong.push(format!("{name}: {} {careful}", plain.loudest()));
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(reading > 100, "{reading}");
}

#[test]
fn destructive_commands_offer_nothing_broader_than_themselves() {
    let mut wrong: Vec<String> = Vec::new();
    for row in tables().destructive.values().flatten() {
        let option = row.options.first().map(|option| format!(" {option}")).unwrap_or_default();
        let command = format!("{}{option} x", row.head);
        let found = analysis(&command);
        let offers: Vec<_> = (0..found.commands.len()).filter_map(|index| found.always(index)).collect();
        let broad: Vec<_> = offers.iter().filter(|offer| offer.starts_with(&row.head)).collect();
        if !broad.is_empty() || row.reason.is_empty() {
            wrong.push(format!("{command}: {offers:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn harmless_keys_of_git_are_quiet_and_all_others_are_not() {
    for row in &tables().git_keys {
        assert!(!row.reason.is_empty());
        let key = row.key.replace('*', "x");
        let value = if row.harmless { "x" } else { "./evil" };
        let found = analysis(&format!("git -c {key}={value} status"));
        let flagged = found.hazards.iter().any(|hazard| hazard.class == Danger::Executes);
        assert_eq!(flagged, !row.harmless, "{key}");
        for harmless in &row.unless {
            let found = analysis(&format!("git -c {key}='{harmless}' status"));
            assert!(found.hazards.is_empty(), "{key}={harmless}");
        }
    }
    for key in ["alias.x", "core.sshCommand", "diff.x.textconv", "filter.x.clean", "no.such", "include.path"]
    {
        assert!(!analysis(&format!("git -c {key}=y status")).hazards.is_empty(), "{key}");
    }
}

#[test]
fn every_precious_path_is_found() {
    let secret = |path: &str| paths::secret(path, Some("/home/u")).is_some();
    let persistence = |path: &str| paths::persistence(path, Some("/home/u")).is_some();
    let system = |path: &str| paths::system(path, Some("/home/u")).is_some();
    let tables = tables();
    each(&tables.secrets, secret);
    each(&tables.persistence, persistence);
    each(&tables.system, system);
    each(&tables.devices, |path| tables.devices.find(path, None).is_some());
    each(&tables.lookup, |path| tables.lookup.find(path, Some("/home/u")).is_some());
}

fn each(table: &Precious, found: impl Fn(&str) -> bool) {
    let mut wrong: Vec<String> = Vec::new();
    for row in table.rows() {
        assert!(!row.reason.is_empty());
        for pattern in &row.patterns {
            let path = pattern
                .replace("~/", "/home/u/")
                .replace("**/", "/a/b/")
                .replace("**", "c/d")
                .replace('*', "x");
            let path =
                if path.starts_with('/') || path.contains(':') { path } else { format!("/work/{path}") };
            if !found(&path) {
                wrong.push(format!("{pattern}: {path} is not found"));
            }
        }
        for pattern in row.except.iter().filter(|pattern| !pattern.contains('/')) {
            let path = format!("/work/{}", pattern.replace('*', "x"));
            let other = table.rows().iter().filter(|other| other.reason != row.reason);
            let elsewhere =
                other.flat_map(|other| &other.patterns).any(|known| crate::glob::matches(known, &path[6..]));
            if !elsewhere && found(&path) {
                wrong.push(format!("{pattern}: {path} is found"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
