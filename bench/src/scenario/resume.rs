//! One more turn in a long session: what reading it, folding it and telling the
//! model of it costs.
//!
//! The session is made once; every run begins with a copy of it.

use std::fs;
use std::path::{Path, PathBuf};

use rein_testkit::{Project, Script, Turn};

use super::{repeat, session};
use crate::error::BenchError;
use crate::reference::server_alone;
use crate::row::{Row, Target};
use crate::trial::{Bench, MODEL};

pub const NAME: &str = "resume10k";
const ANSWER: &str = "On we go.";
const DATABASE: &str = "sessions.db";

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let project = Project::new();
    let data = project.rein_home().join("data");
    let made = session::make(&data, project.path())?;
    let kept = project.home().join(DATABASE);
    copy(&data.join(DATABASE), &kept)?;
    let (samples, last) = repeat(bench.runs, || {
        restore(&data, &kept)?;
        let arguments = ["--resume", made.id.as_str(), "-p", "go on", "--model", MODEL];
        let ran = bench.converse(NAME, &project, script(), &arguments)?;
        ran.expect_stdout(NAME, ANSWER)?;
        let results = ran.requests.first().map_or(0, |request| request.tool_results().len());
        if results != made.calls {
            let reason = format!("the model was told of {results} results, not of {}", made.calls);
            return Err(BenchError::incorrect(NAME, reason));
        }
        Ok(ran)
    })?;
    let alone = server_alone(script, &last.requests)?;
    let row = Row::of(NAME, samples, [Target::wall(150.0)]);
    Ok(vec![row.reference("the model server alone", alone, "ms")])
}

fn script() -> Script {
    Script::new().turn(Turn::text(ANSWER))
}

/// Undoes what a run appended.
fn restore(data: &Path, kept: &Path) -> Result<(), BenchError> {
    for suffix in ["-wal", "-shm"] {
        let log: PathBuf = data.join(format!("{DATABASE}{suffix}"));
        if log.exists() {
            fs::remove_file(&log).map_err(BenchError::io("remove", &log))?;
        }
    }
    copy(kept, &data.join(DATABASE))
}

fn copy(from: &Path, to: &Path) -> Result<(), BenchError> {
    fs::copy(from, to).map(|_| ()).map_err(BenchError::io("copy", from))
}
