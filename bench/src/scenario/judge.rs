//! What it costs to judge one command line against a thousand rules.
//!
//! In this process, not in the binary: a judgement is too short to be seen
//! through the start of a program. A sample is the mean of one round.

use std::hint::black_box;
use std::time::Instant;

use rein_permission::{Action, Confinement, LayerKind, Policy, Rule};
use rein_protocol::{Effect, Intent, Mode};

use crate::error::BenchError;
use crate::row::{Row, Sample, Target};
use crate::trial::Bench;

pub const NAME: &str = "judge";

const RULES: usize = 1_000;
const ROUND: u32 = 200;

/// Lines as agents write them: a plain one, a usual one, and one with everything in it.
const LINES: [(&str, &str); 3] = [
    ("plain", "cargo test --workspace"),
    ("usual", "cd src && rg -n 'fn main' | head -20 && git diff --stat > /tmp/stat.txt"),
    (
        "long",
        "for f in $(git ls-files '*.rs'); do if grep -q unsafe \"$f\"; then echo \"$f\" >> out.txt; fi; done; \
         find . -name '*.tmp' -exec rm {} + ; env A=1 timeout 60 bash -c 'npm test -- --watch=false' 2>&1 | tee log",
    ),
];

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let policy = policy();
    LINES.iter().map(|(name, line)| one(bench, &policy, name, line)).collect()
}

fn policy() -> Policy {
    let rule = |number: usize| {
        let (permission, pattern) = match number % 4 {
            0 => ("bash", format!("tool{number} run *")),
            1 => ("bash", format!("npm run step-{number} *")),
            2 => ("edit", format!("src/module_{number}/**")),
            _ => ("read", format!("**/*.generated.{number}")),
        };
        Rule::new(permission, &pattern, Action::Allow, "bench")
    };
    let policy =
        Policy { confinement: Confinement::Confined, ..Policy::new("/home/me/project", Mode::Write) };
    policy.with_layer(LayerKind::User, (0..RULES).map(rule).collect())
}

fn one(bench: &Bench, policy: &Policy, name: &str, line: &str) -> Result<Row, BenchError> {
    let effect =
        Effect::Execute { command: line.to_owned(), cwd: "/home/me/project".into(), prelude: String::new() };
    let intent = Intent { effects: vec![effect], ..Intent::default() };
    if policy.judge(&intent).details.is_empty() {
        return Err(BenchError::incorrect(NAME, format!("nothing is said about `{line}`")));
    }
    let round = || {
        let begun = Instant::now();
        for _ in 0..ROUND {
            black_box(policy.judge(black_box(&intent)));
        }
        let wall_ms = begun.elapsed().as_secs_f64() * 1e3 / f64::from(ROUND);
        Sample { wall_ms, ..Sample::default() }
    };
    round();
    let samples = (0..bench.runs).map(|_| round()).collect();
    Ok(Row::of(format!("{NAME} {name}"), samples, [Target::wall(0.1)]))
}
