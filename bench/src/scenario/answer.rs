//! One plain answer: everything that a run cannot do without, in a `REIN_HOME`
//! that was used before and in one that is new.

use rein_testkit::{Project, Script, Turn};

use super::repeat;
use crate::error::BenchError;
use crate::reference::server_alone;
use crate::row::{Row, Target};
use crate::trial::{Bench, MODEL, Ran};

pub const NAME: &str = "answer";
const ANSWER: &str = "Hello! What shall we work on?";

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let used = Project::new();
    let (samples, last) = repeat(bench.runs, || ask(bench, &used))?;
    let alone = server_alone(script, &last.requests)?;
    let (first_samples, _) = repeat(bench.runs, || ask(bench, &Project::new()))?;
    let targets = [Target::wall(60.0), Target::max_rss(30.0), Target::first_request(10.0)];
    Ok(vec![
        Row::of(NAME, samples, targets).reference("the model server alone", alone, "ms"),
        Row::of("answer, new home", first_samples, targets),
    ])
}

fn ask(bench: &Bench, project: &Project) -> Result<Ran, BenchError> {
    let ran = bench.converse(NAME, project, script(), &["-p", "hi", "--model", MODEL])?;
    ran.expect_stdout(NAME, ANSWER)?;
    ran.expect_results(NAME, &[])?;
    Ok(ran)
}

fn script() -> Script {
    Script::new().turn(Turn::text(ANSWER))
}
