//! What is measured. A scenario is a file with a function and a line in [`ALL`].
//!
//! A scenario checks what each of its runs did before its figures count, and
//! lets one run go by before it begins to count, so that the binary and its
//! libraries are in memory.

mod answer;
mod codec;
mod confine;
mod judge;
mod output;
mod plan;
mod resume;
mod search;
mod session;
mod size;
mod stream;
mod tools;
mod tui;
mod version;

use crate::arguments::Arguments;
use crate::error::BenchError;
use crate::row::{Row, Sample};
use crate::trial::{Bench, Ran};

/// Something to measure.
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Whether it has to be asked for.
    cost: Cost,
    /// Measures it.
    pub measure: fn(&Bench) -> Result<Vec<Row>, BenchError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    Usual,
    Large,
}

/// Every scenario, in the order of the table.
pub const ALL: &[Scenario] = &[
    Scenario { name: version::NAME, about: "rein --version", cost: Cost::Usual, measure: version::measure },
    Scenario {
        name: answer::NAME,
        about: "one plain answer, in a used and in a new REIN_HOME",
        cost: Cost::Usual,
        measure: answer::measure,
    },
    Scenario {
        name: tools::NAME,
        about: "20 calls of tools, one a step: read, grep, edit, bash, write",
        cost: Cost::Usual,
        measure: tools::measure,
    },
    Scenario {
        name: output::NAME,
        about: "one bash call that prints 20 MB",
        cost: Cost::Usual,
        measure: output::measure,
    },
    Scenario {
        name: stream::NAME,
        about: "an answer of 2 MB in deltas of 20 characters; 1 MB and 4 MB beside it",
        cost: Cost::Usual,
        measure: stream::measure,
    },
    Scenario {
        name: resume::NAME,
        about: "one more turn in a session of 10 000 entries",
        cost: Cost::Usual,
        measure: resume::measure,
    },
    Scenario {
        name: output::LARGE_NAME,
        about: "one bash call that prints 1 GB; only with --large",
        cost: Cost::Large,
        measure: output::measure_large,
    },
    Scenario {
        name: confine::NAME,
        about: "`true` bare, under the helper and in jails; 1 000 of them leave nothing behind",
        cost: Cost::Usual,
        measure: confine::measure,
    },
    Scenario {
        name: judge::NAME,
        about: "one command line judged against 1 000 rules",
        cost: Cost::Usual,
        measure: judge::measure,
    },
    Scenario {
        name: plan::NAME,
        about: "how 10 000 entries fit a window, planned in this process",
        cost: Cost::Usual,
        measure: plan::measure,
    },
    Scenario {
        name: search::NAME,
        about: "one grep and one glob over 100 000 files, beside rg; only with --large",
        cost: Cost::Large,
        measure: search::measure,
    },
    Scenario {
        name: codec::DECODE,
        about: "20 MB of server-sent events to model events, in this process",
        cost: Cost::Usual,
        measure: codec::measure_decode,
    },
    Scenario {
        name: codec::ENCODE,
        about: "a conversation of 1 MB to the bytes of a request, in this process",
        cost: Cost::Usual,
        measure: codec::measure_encode,
    },
    Scenario {
        name: tui::NAME,
        about: "at a terminal: first paint, a key while much streams, memory and processor time while idle",
        cost: Cost::Usual,
        measure: tui::measure,
    },
    Scenario {
        name: tui::COMPLETION,
        about: "a name typed letter by letter, completed over 100 000 files, in this process",
        cost: Cost::Usual,
        measure: tui::measure_completion,
    },
    Scenario { name: size::NAME, about: "the binary itself", cost: Cost::Usual, measure: size::measure },
];

/// The scenarios to measure: those named, else all that are not large, else all.
pub fn select(arguments: &Arguments) -> Result<Vec<&'static Scenario>, BenchError> {
    let Arguments { only, large, .. } = arguments;
    let known = || ALL.iter().map(|scenario| scenario.name).collect::<Vec<&str>>().join(", ");
    if let Some(name) = only.iter().find(|name| ALL.iter().all(|scenario| scenario.name != name.as_str())) {
        return Err(BenchError::UnknownScenario { name: name.clone(), known: known() });
    }
    let wanted = |scenario: &&Scenario| {
        if only.is_empty() {
            *large || scenario.cost == Cost::Usual
        } else {
            only.iter().any(|name| name == scenario.name)
        }
    };
    Ok(ALL.iter().filter(wanted).collect())
}

/// Runs once to warm up and then so many times; all samples but the first, and the last run.
fn repeat(
    runs: usize,
    mut run: impl FnMut() -> Result<Ran, BenchError>,
) -> Result<(Vec<Sample>, Ran), BenchError> {
    let mut last = run()?;
    let mut samples = Vec::with_capacity(runs);
    for _ in 0..runs {
        last = run()?;
        samples.push(last.sample);
    }
    Ok((samples, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn selected(line: &[&str]) -> Result<Vec<&'static str>, BenchError> {
        let arguments = Arguments::try_parse_from([&["rein-bench"], line].concat()).unwrap();
        Ok(select(&arguments)?.iter().map(|scenario| scenario.name).collect())
    }

    #[test]
    fn what_is_large_has_to_be_asked_for() {
        assert!(!selected(&[]).unwrap().contains(&"output1gb"));
        assert_eq!(selected(&["--large"]).unwrap().len(), ALL.len());
        assert_eq!(
            selected(&["--only", "output1gb", "--only", "version"]).unwrap(),
            ["version", "output1gb"]
        );
    }

    #[test]
    fn an_unknown_name_is_told_with_those_that_are_known() {
        let error = selected(&["--only", "anser"]).unwrap_err().to_string();
        assert!(error.starts_with("there is no scenario `anser`; there are: version, answer,"), "{error}");
    }
}
