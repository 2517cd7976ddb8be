//! What it costs to plan how a session of 10 000 entries fits a window: the
//! messages, the measure, what would be left out and what summarised.
//!
//! In this process, not in the binary: it says something only when it was built
//! for release.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use rein_protocol::SessionId;

use super::session;
use crate::error::BenchError;
use crate::row::{Row, Sample, Target};
use crate::trial::Bench;

pub const NAME: &str = "plan10k";

const WINDOW: u64 = 60_000;

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let entries = session::entries(&SessionId::new(), Path::new("/home/me/project"));
    let planned = rein_engine::rehearse(&entries, WINDOW);
    if planned.summarised < entries.len() / 2 || planned.pruned == 0 {
        return Err(BenchError::incorrect(NAME, format!("{planned:?} of {} entries", entries.len())));
    }
    let round = || {
        let begun = Instant::now();
        black_box(rein_engine::rehearse(black_box(&entries), WINDOW));
        Sample { wall_ms: begun.elapsed().as_secs_f64() * 1e3, ..Sample::default() }
    };
    round();
    let samples = (0..bench.runs).map(|_| round()).collect();
    Ok(vec![Row::of(NAME, samples, [Target::wall(20.0)])])
}
