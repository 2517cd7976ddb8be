//! A command that prints far more than a model is told: 20 MB, or 1 GB.
//!
//! Checks that the whole output was kept, byte for byte as many.

use std::fs;
use std::path::Path;

use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use super::repeat;
use crate::error::BenchError;
use crate::row::{Row, Sample, Target};
use crate::statistics::Spread;
use crate::trial::{Bench, MODEL, Ran};

pub const NAME: &str = "output20mb";
pub const LARGE_NAME: &str = "output1gb";
const LARGE_RUNS: usize = 3;
const LINE: &str = "a line of output as a build prints it, again and again, 80 characters in all....";
/// The most that a model should be told of any output.
const TOLD: usize = 100_000;

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let bytes = 20_000_000;
    let (samples, bare) = print(bench, NAME, bytes, bench.runs)?;
    let row = Row::of(NAME, samples, [Target::wall(300.0), Target::max_rss(40.0)]);
    Ok(vec![row.reference("the bare command", bare, "ms")])
}

pub fn measure_large(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let bytes = 1_000_000_000;
    let (samples, bare) = print(bench, LARGE_NAME, bytes, bench.runs.min(LARGE_RUNS))?;
    let row = Row::of(LARGE_NAME, samples, [Target::max_rss(40.0)]);
    let rate = bytes as f64 / 1e6 / (row.wall().median / 1e3);
    Ok(vec![row.reference("the bare command", bare, "ms").reference("rate", rate, "MB/s")])
}

/// The samples, and what the command takes without rein, in milliseconds.
fn print(bench: &Bench, name: &str, bytes: u64, runs: usize) -> Result<(Vec<Sample>, f64), BenchError> {
    let command = format!("yes '{LINE}' | head -c {bytes}");
    let (samples, _) = repeat(runs, || {
        let project = Project::new();
        let script = Script::new()
            .turn(Turn::call("bash", json!({"command": command})))
            .turn(Turn::text("It printed a lot."));
        let arguments = ["-p", "print a lot", "--mode", "free", "--model", MODEL];
        let ran = bench.converse(name, &project, script, &arguments)?;
        ran.expect_stdout(name, "It printed a lot.")?;
        ran.expect_results(name, &[LINE.to_owned()])?;
        check_bounded(name, &ran)?;
        check_kept(name, project.rein_home(), bytes)?;
        Ok(ran)
    })?;
    let project = Project::new();
    let bare = (0..3).map(|_| bench.run_shell(name, &project, &format!("{command} | cat >/dev/null")));
    let bare: Vec<f64> = bare.map(|ran| Ok(ran?.sample.wall_ms)).collect::<Result<_, BenchError>>()?;
    Ok((samples, Spread::of(bare).median))
}

fn check_bounded(name: &str, ran: &Ran) -> Result<(), BenchError> {
    let told: usize =
        ran.requests.iter().flat_map(|request| request.tool_results()).map(|(_, text)| text.len()).sum();
    if told <= TOLD {
        return Ok(());
    }
    Err(BenchError::incorrect(name, format!("the model was told {told} bytes of the output")))
}

fn check_kept(name: &str, rein_home: &Path, bytes: u64) -> Result<(), BenchError> {
    if has_file_of(rein_home, bytes).map_err(BenchError::io("look through", rein_home))? {
        return Ok(());
    }
    Err(BenchError::incorrect(name, format!("no file in REIN_HOME has the {bytes} bytes of the output")))
}

fn has_file_of(directory: &Path, bytes: u64) -> std::io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.len() == bytes && metadata.is_file()
            || metadata.is_dir() && has_file_of(&entry.path(), bytes)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
