//! What it costs to confine a command: `true` bare, under the helper, and in a
//! jail of each kind, and whether a thousand of them leave anything behind.
//!
//! In this process, with the binary as the helper. A sample is one process.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rein_sandbox::jail::{self, Jail, JailRequest, Preference};
use rein_sandbox::{Spawn, Status, helper};
use tokio_util::sync::CancellationToken;

use crate::error::BenchError;
use crate::row::{Row, Sample, Target};
use crate::trial::Bench;

pub const NAME: &str = "confine";

/// Samples of each kind; one is short.
const RUNS: usize = 50;
/// For the leaks.
const MANY: usize = 1_000;

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let directory = tempfile::tempdir().map_err(BenchError::io("make a directory in", Path::new("/tmp")))?;
    let workspace = directory.path().to_owned();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(BenchError::io("start threads for", &workspace))?;
    let jail = |preference: Preference| {
        let mut jail = Jail::standard(&JailRequest::new(&workspace));
        jail.preference = preference;
        Some(Arc::new(jail))
    };
    let bare = runtime.block_on(samples(&workspace, None))?;
    helper::use_program(&bench.binary);
    let usual = mean(&bare);
    let mut rows = vec![Row::of("confine none", bare, [])];
    rows.push(Row::of("confine helper", runtime.block_on(samples(&workspace, None))?, []));
    for (name, preference, most) in
        [("builtin", Preference::BuiltIn, 5.0), ("bubblewrap", Preference::Bubblewrap, 10.0)]
    {
        if jail::available(preference).is_err() {
            continue;
        }
        let samples = runtime.block_on(samples(&workspace, jail(preference)))?;
        let row = Row::of(format!("confine {name}"), samples, [Target::wall(usual + most)]);
        rows.push(row.reference("without", usual, "ms"));
    }
    runtime.block_on(leave_nothing(&workspace, jail(Preference::Automatic)))?;
    Ok(rows)
}

/// Milliseconds.
fn mean(samples: &[Sample]) -> f64 {
    let all: f64 = samples.iter().map(|sample| sample.wall_ms).sum();
    all / samples.len().max(1) as f64
}

async fn samples(workspace: &Path, jail: Option<Arc<Jail>>) -> Result<Vec<Sample>, BenchError> {
    once(workspace, jail.clone()).await?;
    let mut samples = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let begun = Instant::now();
        once(workspace, jail.clone()).await?;
        samples.push(Sample { wall_ms: begun.elapsed().as_secs_f64() * 1e3, ..Sample::default() });
    }
    Ok(samples)
}

async fn once(workspace: &Path, jail: Option<Arc<Jail>>) -> Result<(), BenchError> {
    let spawn = Spawn::new("true", workspace);
    let spawn = match jail {
        Some(jail) => spawn.jailed(jail),
        None => spawn,
    };
    let exit = rein_sandbox::run(spawn, &mut |_| {}, &CancellationToken::new()).await;
    match exit {
        Ok(exit) if exit.status == Status::Code(0) => Ok(()),
        Ok(exit) => Err(BenchError::incorrect(NAME, format!("`true` ended with {:?}", exit.status))),
        Err(error) => Err(BenchError::incorrect(NAME, error.to_string())),
    }
}

async fn leave_nothing(workspace: &Path, jail: Option<Arc<Jail>>) -> Result<(), BenchError> {
    let before = (count("/proc/self/fd"), children(), count_lines("/proc/self/mounts"));
    for _ in 0..MANY {
        once(workspace, jail.clone()).await?;
    }
    let after = (count("/proc/self/fd"), children(), count_lines("/proc/self/mounts"));
    if after != before {
        let found =
            format!("files, children and mounts were {before:?} and are {after:?} after {MANY} commands");
        return Err(BenchError::incorrect(NAME, found));
    }
    Ok(())
}

fn count(directory: &str) -> usize {
    std::fs::read_dir(directory).map(Iterator::count).unwrap_or_default()
}

fn count_lines(file: &str) -> usize {
    std::fs::read_to_string(file).map(|text| text.lines().count()).unwrap_or_default()
}

/// Processes whose parent this one is, living or not.
fn children() -> usize {
    let own = std::process::id().to_string();
    let parent_of = |stat: String| stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned);
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| parent_of(stat.clone()).as_deref() == Some(own.as_str()))
        .count()
}
