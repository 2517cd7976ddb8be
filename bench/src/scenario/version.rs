//! `rein --version`: what starting the binary costs.

use rein_testkit::Project;

use super::repeat;
use crate::error::BenchError;
use crate::row::{Row, Target};
use crate::trial::Bench;

pub const NAME: &str = "version";

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let project = Project::new();
    let (samples, _) = repeat(bench.runs, || {
        let ran = bench.run(NAME, &project, &["--version"])?;
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        if !said.starts_with("rein ") {
            return Err(BenchError::incorrect(NAME, format!("it says `{}`", said.trim_end())));
        }
        Ok(ran)
    })?;
    Ok(vec![Row::of(NAME, samples, [Target::wall(10.0)])])
}
