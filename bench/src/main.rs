//! `rein-bench`: what the release binary costs in time, memory and bytes sent.
//!
//! Layout: [`scenario`] says what is done, one file each; [`trial`] runs the
//! binary in a temporary project through a [`launch`]er, whose figures come
//! from [`usage`], or at a terminal by a [`seat`]; [`reference`] measures what is not the binary's;
//! [`statistics`], [`row`], [`table`] and [`report`] make figures of it, with
//! the facts of [`machine`]; [`binary`] finds what is measured.
//!
//! Every run is checked: one that did not do its work stops everything. That a
//! target is missed does not, unless `--strict`.

mod arguments;
mod binary;
mod error;
mod launch;
mod machine;
mod reference;
mod report;
mod row;
mod scenario;
mod seat;
mod statistics;
mod table;
mod trial;
mod usage;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use error::BenchError;
use report::Report;
use row::Row;
use trial::Bench;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    // Before anything else, so that a launcher stays small.
    let done = match arguments.nth(1) {
        Some(word) if word == launch::WORD => launch::launch(arguments).map(|()| ExitCode::SUCCESS),
        _ => measure(&Arguments::parse()),
    };
    done.unwrap_or_else(|error| {
        tell(&mut io::stderr(), &format!("error: {error}"));
        let mut cause = error.source();
        while let Some(error) = cause {
            tell(&mut io::stderr(), &format!("  caused by: {error}"));
            cause = error.source();
        }
        ExitCode::FAILURE
    })
}

fn measure(arguments: &Arguments) -> Result<ExitCode, BenchError> {
    let mut stdout = io::stdout();
    let scenarios = scenario::select(arguments)?;
    if arguments.list {
        for scenario in scenario::ALL {
            tell(&mut stdout, &format!("{:<12}{}", scenario.name, scenario.about));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let bench = Bench::new(binary::find(arguments.binary.as_deref())?, usize::from(arguments.runs))?;
    let mut report = Report::begin(&bench);
    tell(&mut stdout, &report.heading());
    for scenario in scenarios {
        tell(&mut io::stderr(), &format!("{} …", scenario.name));
        report.rows.extend((scenario.measure)(&bench)?);
    }
    tell(&mut stdout, &format!("\n{}", table::render(&report.rows)));
    if let Some(file) = &arguments.json {
        report.write(file)?;
    }
    let missed = report.rows.iter().any(|row: &Row| row.missed().next().is_some());
    Ok(if missed && arguments.strict { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn tell(stream: &mut dyn Write, line: &str) {
    // Nobody is left to tell if the stream is closed.
    let _ = writeln!(stream, "{line}");
}
