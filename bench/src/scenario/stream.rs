//! A long answer in small deltas, and whether twice as much costs twice as much.

use rein_testkit::{Project, Script, Turn};

use super::repeat;
use crate::error::BenchError;
use crate::reference::server_alone;
use crate::row::{Row, Target};
use crate::statistics::growth;
use crate::trial::{Bench, MODEL};

pub const NAME: &str = "stream2mb";
const DELTA: usize = 20;
const LINE: &str = "The quick brown fox jumps over the lazy dog while the model keeps on streaming.\n";

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let one = stream(bench, "stream1mb", 1_000_000, &[])?;
    let two = stream(bench, NAME, 2_000_000, &[Target::wall(300.0), Target::max_rss(40.0)])?;
    let four = stream(bench, "stream4mb", 4_000_000, &[])?;
    let [first, second, third] = [&one, &two, &four].map(|row| row.wall().median);
    let four = match growth(first, second, third) {
        Some(times) => {
            four.reference("the second doubling cost (2 is linear, 4 quadratic)", times, "times the first")
        }
        None => four,
    };
    Ok(vec![one, two, four])
}

fn stream(bench: &Bench, name: &str, bytes: usize, targets: &[Target]) -> Result<Row, BenchError> {
    let text: String = LINE.chars().cycle().take(bytes).collect();
    let script = || Script::new().turn(Turn::text(text.as_str()).delta_size(DELTA));
    let (samples, last) = repeat(bench.runs, || {
        let ran =
            bench.converse(name, &Project::new(), script(), &["-p", "tell me much", "--model", MODEL])?;
        ran.expect_stdout(name, &text)?;
        Ok(ran)
    })?;
    let alone = server_alone(script, &last.requests)?;
    Ok(Row::of(name, samples, targets).reference("the model server alone", alone, "ms"))
}
