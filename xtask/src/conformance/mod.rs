//! `cargo xtask conformance`: recorded cases of other projects and providers,
//! run through the project's own functions. The cases stay outside.
//!
//! This file finds the cases, counts and prints; what a case means is said by
//! the file for its kind. Every case ends in exactly one column: it agrees, it
//! differs on purpose (`docs/conformance.toml` says why), it differs, it does
//! not apply, or its subject has not been built.

mod agents;
mod case;
mod command_cases;
mod deliberate;
mod dialect_cases;
mod dialect_pieces;
mod error_cases;
mod file_cases;
mod history_cases;
mod instruction_cases;
mod peers;
mod permission;
mod transform_cases;
mod wire;
mod wire_blocks;
mod wire_items;
mod wire_truth;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use self::agents::Figures;
use self::case::{Found, Verdict};
use self::deliberate::Deliberate;
use crate::error::XtaskError;
use crate::workspace::Workspace;

/// What to run and how much to say.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Directories or files of cases.
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,
    /// Shows what each difference consists of, and why a case does not apply.
    #[arg(long)]
    verbose: bool,
    /// Fails if a case differs that is not listed as deliberate.
    #[arg(long)]
    strict: bool,
}

/// How the cases of one area ended.
#[derive(Debug, Default)]
struct Tally {
    agree: usize,
    deliberate: Vec<(String, String)>,
    differ: Vec<(String, String)>,
    not_applicable: BTreeMap<String, usize>,
    no_subject: BTreeMap<String, usize>,
    unreadable: Vec<String>,
    stale: Vec<String>,
}

/// Runs them all.
pub fn run(workspace: &Workspace, arguments: &Arguments, out: &mut dyn Write) -> Result<(), XtaskError> {
    let deliberate = Deliberate::load(&workspace.root().join("docs/conformance.toml"))?;
    let mut areas: BTreeMap<String, Tally> = BTreeMap::new();
    let mut figures = Figures::default();
    let mut unreadable = 0;
    for path in &arguments.paths {
        for file in files(path)? {
            match case::load(&file) {
                Ok(found) => {
                    found.into_iter().for_each(|found| count(&mut areas, &mut figures, found, &deliberate));
                }
                Err(error) => {
                    unreadable += 1;
                    writeln!(out, "error: {error}").map_err(XtaskError::output)?;
                }
            }
        }
    }
    print(&areas, arguments, out).map_err(XtaskError::output)?;
    figures.print(out).map_err(XtaskError::output)?;
    let compared =
        areas.iter().filter(|(area, _)| !matches!(area.as_str(), "agent-commands" | "allow-rules"));
    let differ = compared.map(|(_, tally)| tally.differ.len()).sum();
    match (unreadable, differ) {
        (count @ 1.., _) => Err(XtaskError::Unreadable { count }),
        (0, count @ 1..) if arguments.strict => Err(XtaskError::Differ { count }),
        (0, _) => Ok(()),
    }
}

fn count(areas: &mut BTreeMap<String, Tally>, figures: &mut Figures, found: Found, deliberate: &Deliberate) {
    let (area, id, verdict) = match found {
        Found::Unreadable { area, line, error } => {
            areas.entry(area).or_default().unreadable.push(format!("line {line}: {error}"));
            return;
        }
        Found::Peer(case) => (case.area.clone(), case.id.clone(), peers::run(&case)),
        Found::Command(case) => (case.area.clone(), case.id.clone(), permission::run(&case)),
        Found::Agent(case) => (area_of(&case.id), case.id.clone(), figures.agent(&case)),
        Found::HandRule(case) => (area_of(&case.id), case.id.clone(), figures.hand_rule(&case)),
        Found::Exchange(case) => (format!("wire/{}", case.wire), case.id.clone(), wire::run(&case)),
    };
    let tally = areas.entry(area).or_default();
    match verdict {
        Verdict::Agree => {
            tally.agree += 1;
            if deliberate.reason(&id).is_some() {
                tally.stale.push(id);
            }
        }
        Verdict::Differ(detail) => match deliberate.reason(&id) {
            Some(reason) => tally.deliberate.push((id, reason.to_owned())),
            None => tally.differ.push((id, detail)),
        },
        Verdict::NotApplicable(why) => *tally.not_applicable.entry(why).or_default() += 1,
        Verdict::NoSubject(op) => *tally.no_subject.entry(op).or_default() += 1,
    }
}

fn area_of(id: &str) -> String {
    id.split(':').next().unwrap_or_default().to_owned()
}

fn print(areas: &BTreeMap<String, Tally>, arguments: &Arguments, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{:<26} {:>6} {:>10} {:>7} {:>15} {:>15} {:>11}",
        "area", "agree", "deliberate", "differ", "not applicable", "no subject yet", "unreadable"
    )?;
    let sum = |counts: &BTreeMap<String, usize>| counts.values().sum::<usize>();
    for (area, tally) in areas {
        writeln!(
            out,
            "{area:<26} {:>6} {:>10} {:>7} {:>15} {:>15} {:>11}",
            tally.agree,
            tally.deliberate.len(),
            tally.differ.len(),
            sum(&tally.not_applicable),
            sum(&tally.no_subject),
            tally.unreadable.len()
        )?;
    }
    for (area, tally) in areas {
        details(area, tally, arguments, out)?;
    }
    Ok(())
}

fn details(area: &str, tally: &Tally, arguments: &Arguments, out: &mut dyn Write) -> std::io::Result<()> {
    // Labels of whole collections: the figures tell what counts.
    let counted = matches!(area, "agent-commands" | "allow-rules");
    for (id, detail) in tally.differ.iter().filter(|_| !counted || arguments.verbose) {
        writeln!(out, "differs: {id}")?;
        if arguments.verbose {
            detail.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
    }
    for id in &tally.stale {
        writeln!(out, "agrees although it is listed as deliberate: {id}")?;
    }
    for line in &tally.unreadable {
        writeln!(out, "unreadable: {area} {line}")?;
    }
    if arguments.verbose {
        for (id, reason) in &tally.deliberate {
            writeln!(out, "deliberate: {id}: {reason}")?;
        }
        for (why, count) in &tally.not_applicable {
            writeln!(out, "not applicable: {area}: {count} × {why}")?;
        }
        for (op, count) in &tally.no_subject {
            writeln!(out, "no subject yet: {area}: {count} × {op}")?;
        }
    }
    Ok(())
}

/// Files of cases below a path, in order.
fn files(path: &Path) -> Result<Vec<PathBuf>, XtaskError> {
    let unreadable = |error| XtaskError::Read { path: path.to_path_buf(), error };
    if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            found.extend(files(&entry)?);
        } else if entry.extension().is_some_and(|extension| extension == "json" || extension == "jsonl") {
            found.push(entry);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(path: &Path, strict: bool) -> Arguments {
        Arguments { paths: vec![path.to_path_buf()], verbose: true, strict }
    }

    fn conformance(path: &Path, strict: bool) -> (Result<(), XtaskError>, String) {
        let mut out = Vec::new();
        let done = run(&Workspace::here(), &arguments(path, strict), &mut out);
        (done, String::from_utf8(out).unwrap())
    }

    #[test]
    fn cases_are_counted_by_area_and_differences_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let case = |id: &str, text: &str| {
            format!(
                r#"{{"id": "{id}", "peer": "x", "op": "match", "input": {{"pattern": "a*", "text": "{text}"}}, "expect": {{"match": true}}}}"#
            )
        };
        let lines = [case("w-1", "ab"), case("w-2", "ba"), "not json".to_owned()].join("\n");
        std::fs::write(directory.path().join("wildcard.jsonl"), lines).unwrap();
        std::fs::write(directory.path().join("README.md"), "words").unwrap();
        let (done, text) = conformance(directory.path(), false);
        assert!(done.is_ok());
        assert!(text.contains("wildcard                        1          0       1               0               0           1"), "{text}");
        assert!(text.contains("differs: w-2\n"), "{text}");
        let (done, _) = conformance(directory.path(), true);
        assert!(matches!(done, Err(XtaskError::Differ { count: 1 })));
    }

    #[test]
    fn a_file_that_cannot_be_read_fails_and_the_rest_is_still_run() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.jsonl"), b"\xff\xfe").unwrap();
        let (done, text) = conformance(directory.path(), false);
        assert!(matches!(done, Err(XtaskError::Unreadable { count: 1 })), "{text}");
        let (done, _) = conformance(&directory.path().join("gone"), false);
        assert!(matches!(done, Err(XtaskError::Read { .. })));
    }
}
