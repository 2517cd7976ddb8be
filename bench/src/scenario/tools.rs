//! Twenty calls of tools, one a step, as an agent at work makes them: look at a
//! file, search, change it, run something, write another.
//!
//! Checks what the model was told of each call and what the files are afterwards.

use std::fmt::Write as _;

use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use super::repeat;
use crate::error::BenchError;
use crate::reference::server_alone;
use crate::row::{Row, Target};
use crate::trial::{Bench, MODEL, Ran};

pub const NAME: &str = "tools20";
const CALLS: usize = 20;
const FILES: usize = 100;
const DONE: &str = "All modules are renamed.";

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let (samples, last) = repeat(bench.runs, || work(bench))?;
    let alone = server_alone(script, &last.requests)?;
    let first = last.sample.first_request_bytes as f64;
    let targets = [Target::wall(400.0), Target::max_rss(40.0), Target::first_request(10.0)];
    let row = Row::of(NAME, samples, targets);
    Ok(vec![row.reference("the first request", first, "bytes").reference(
        "the model server alone",
        alone,
        "ms",
    )])
}

fn work(bench: &Bench) -> Result<Ran, BenchError> {
    let project =
        (0..FILES).fold(Project::new(), |project, number| project.file(path(number), module(number)));
    let project = project.git();
    let arguments = ["-p", "rename the modules", "--mode", "free", "--model", MODEL];
    let ran = bench.converse(NAME, &project, script(), &arguments)?;
    ran.expect_stdout(NAME, DONE)?;
    ran.expect_results(NAME, &(0..CALLS).map(|number| call(number).1).collect::<Vec<String>>())?;
    for number in (0..CALLS).filter(|number| number % 5 == 2) {
        let changed = project.read(path(number / 5)).contains(&format!("fn renamed_{}_7()", number / 5));
        if !changed || !project.exists(format!("notes/{}.md", number / 5)) {
            return Err(BenchError::incorrect(NAME, format!("call {} changed nothing", number + 1)));
        }
    }
    Ok(ran)
}

fn script() -> Script {
    Script::new().turns((0..CALLS).map(|number| call(number).0)).turn(Turn::text(DONE))
}

/// A call, and what its result has in it.
fn call(number: usize) -> (Turn, String) {
    let file = number / 5;
    let path = path(file);
    match number % 5 {
        0 => (Turn::call("read", json!({"path": path})), format!("fn item_{file}_7()")),
        1 => (Turn::call("grep", json!({"pattern": format!("item_{file}_[0-9]\\("), "path": "src"})), path),
        2 => {
            let (old, new) = (format!("fn item_{file}_7()"), format!("fn renamed_{file}_7()"));
            (Turn::call("edit", json!({"path": path, "old": old, "new": new})), path)
        }
        3 => {
            let command = format!("grep -c renamed {path}; echo checked {file}");
            (Turn::call("bash", json!({"command": command})), format!("checked {file}"))
        }
        _ => {
            let (path, content) =
                (format!("notes/{file}.md"), format!("# Module {file}\n\nItem 7 is renamed.\n"));
            (Turn::call("write", json!({"path": path, "content": content})), path)
        }
    }
}

fn path(file: usize) -> String {
    format!("src/module_{file}.rs")
}

/// A file of about 100 lines.
fn module(file: usize) -> String {
    let mut text = format!("//! Module {file}.\n\n");
    for item in 0..25 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "/// Item {item} of module {file}.\nfn item_{file}_{item}() -> usize {{\n    {item}\n}}"
        );
    }
    text
}
