//! A search of 100 000 files, by content and by name, and the same search by
//! ripgrep where that is installed.
//!
//! The tree is the same every time. Checks that everything was found that is
//! in it. The target is what `rg` took, times 1.3, and what a turn takes
//! around the search; without `rg` there is none.

use std::fmt::Write as _;

use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use super::repeat;
use crate::error::BenchError;
use crate::row::{Row, Target};
use crate::statistics::Spread;
use crate::trial::{Bench, MODEL};

pub const NAME: &str = "search100k";
const DIRECTORIES: usize = 1_000;
const FILES: usize = 100;
/// Every so many directories have a file with what is looked for.
const RARE: usize = 20;
const DONE: &str = "Found.";
/// How much longer than `rg` a search may take.
const FACTOR: f64 = 1.3;
/// What the turn around it may take, in milliseconds.
const TURN: f64 = 60.0;
const TIMES: usize = 5;

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let project = tree();
    let found = DIRECTORIES / RARE;
    let contents = Search {
        name: NAME.to_owned(),
        call: Turn::call("grep", json!({"pattern": "needle_[0-9]+"})),
        last: format!("src/part_{:03}/module_7.rs", DIRECTORIES - RARE),
        command: "rg --no-config -n 'needle_[0-9]+' .",
        lines: found,
    };
    let names = Search {
        name: format!("{NAME}, names"),
        call: Turn::call("glob", json!({"pattern": "special_*.rs"})),
        last: "special_0.rs".to_owned(),
        command: "rg --no-config --files -g 'special_*.rs' .",
        lines: found,
    };
    Ok(vec![contents.measure(bench, &project)?, names.measure(bench, &project)?])
}

/// A search by rein and by `rg`.
struct Search {
    name: String,
    call: Turn,
    /// Something that must be in the result.
    last: String,
    command: &'static str,
    /// How many lines `rg` prints.
    lines: usize,
}

impl Search {
    fn measure(&self, bench: &Bench, project: &Project) -> Result<Row, BenchError> {
        let (samples, _) = repeat(bench.runs, || {
            let script = Script::new().turn(self.call.clone()).turn(Turn::text(DONE));
            let arguments = ["-p", "look for it", "--mode", "free", "--model", MODEL];
            let ran = bench.converse(&self.name, project, script, &arguments)?;
            ran.expect_stdout(&self.name, DONE)?;
            ran.expect_results(&self.name, std::slice::from_ref(&self.last))?;
            Ok(ran)
        })?;
        let Some(bare) = self.bare(bench, project)? else {
            return Ok(Row::of(self.name.clone(), samples, []));
        };
        let row = Row::of(self.name.clone(), samples, [Target::wall(bare * FACTOR + TURN)]);
        let ratio = row.wall().median / bare;
        Ok(row.reference("rg", bare, "ms").reference("times as long as rg", ratio, "×"))
    }

    /// The median of milliseconds that `rg` takes; none if it is not there.
    fn bare(&self, bench: &Bench, project: &Project) -> Result<Option<f64>, BenchError> {
        let there = bench.run_shell(&self.name, project, "command -v rg || true")?;
        if there.stdout.trim_ascii().is_empty() {
            return Ok(None);
        }
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..=TIMES {
            let ran = bench.run_shell(&self.name, project, self.command)?;
            let lines = ran.stdout.iter().filter(|byte| **byte == b'\n').count();
            if lines != self.lines {
                let reason = format!("rg found {lines} lines instead of {}", self.lines);
                return Err(BenchError::incorrect(&self.name, reason));
            }
            times.push(ran.sample.wall_ms);
        }
        // The first is there to warm up.
        Ok(Some(Spread::of(times.into_iter().skip(1)).median))
    }
}

/// A repository with ignored directories, of files between 300 bytes and 3 KB.
fn tree() -> Project {
    let project = Project::new().file(".gitignore", "target/\n*.log\n").git();
    for directory in 0..DIRECTORIES {
        for file in 0..FILES {
            let name = match file {
                0 if directory.is_multiple_of(RARE) => format!("special_{directory}.rs"),
                _ => format!("module_{file}.rs"),
            };
            let text = module(directory, file);
            project.write(format!("src/part_{directory:03}/{name}"), text);
        }
        project.write(format!("src/part_{directory:03}/target/out.rs"), "needle_1\n");
    }
    project
}

fn module(directory: usize, file: usize) -> String {
    let mut text = format!("//! Module {file} of part {directory}.\n\n");
    for item in 0..4 + (directory * 7 + file * 13) % 36 {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "/// Item {item}.\npub fn item_{item}() -> usize {{\n    {item}\n}}\n");
    }
    if directory.is_multiple_of(RARE) && file == 7 {
        let _ = writeln!(text, "const NEEDLE: &str = \"needle_{directory}\";");
    }
    text
}
