//! All rows with what they depend on, as a file for programs.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::error::BenchError;
use crate::machine::{Commit, Machine};
use crate::row::Row;
use crate::trial::Bench;

/// What was found, and where.
pub struct Report {
    /// In the order of the scenarios.
    pub rows: Vec<Row>,
    machine: Machine,
    commit: Option<Commit>,
    binary: String,
    runs: usize,
    began: u64,
}

impl Report {
    /// Before the first run, so that the machine is seen as it was then.
    pub fn begin(bench: &Bench) -> Self {
        Self {
            rows: Vec::new(),
            machine: Machine::look(),
            commit: Commit::look(),
            binary: bench.binary.display().to_string(),
            runs: bench.runs,
            began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }

    /// What stands above the table.
    pub fn heading(&self) -> String {
        let Machine { cores, cpu, kernel, file_system, load, .. } = &self.machine;
        let commit = self.commit.as_ref().map_or_else(
            || "an unknown commit".to_owned(),
            |commit| format!("{:.12}{}", commit.id, if commit.changed { " with changes" } else { "" }),
        );
        let mut text = format!(
            "{} at {commit}, {} runs\n{cores} × {cpu}, Linux {kernel}, {file_system}, load {load}",
            self.binary, self.runs
        );
        // More than half of a core that is busy with something else can be seen in every time.
        if *load > 0.5 {
            text.push_str("\nwarning: the machine is not idle: times are worse than they would be");
        }
        text
    }

    /// Writes everything; directories on the way are made.
    pub fn write(&self, file: &Path) -> Result<(), BenchError> {
        if let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            fs::create_dir_all(directory).map_err(BenchError::io("make", directory))?;
        }
        fs::write(file, format!("{:#}\n", self.to_json())).map_err(BenchError::io("write", file))
    }

    fn to_json(&self) -> Value {
        json!({
            "began": self.began,
            "commit": self.commit,
            "machine": self.machine,
            "binary": self.binary,
            "runs": self.runs,
            "rows": self.rows.iter().map(Row::to_json).collect::<Vec<Value>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Target;

    #[test]
    fn the_file_says_what_was_measured_and_where_and_its_directory_is_made() {
        let machine = Machine {
            cores: 2,
            cpu: "quick".to_owned(),
            kernel: "6.1".to_owned(),
            memory: 8,
            file_system: "ext4".to_owned(),
            load: 0.75,
        };
        let report = Report {
            rows: vec![Row::of("size", Vec::new(), [Target::size(20.0)])],
            machine,
            commit: Some(Commit { id: "0123456789abcdef".to_owned(), changed: true }),
            binary: "/b/rein".to_owned(),
            runs: 3,
            began: 5,
        };
        assert_eq!(
            report.heading(),
            "/b/rein at 0123456789ab with changes, 3 runs\n2 × quick, Linux 6.1, ext4, load 0.75\n\
             warning: the machine is not idle: times are worse than they would be"
        );
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a/b.json");
        report.write(&file).unwrap();
        let written: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(
            (&written["machine"]["cores"], &written["runs"], &written["began"]),
            (&json!(2), &json!(3), &json!(5))
        );
        assert_eq!(written["commit"], json!({"id": "0123456789abcdef", "changed": true}));
        assert_eq!(written["rows"][0]["name"], "size");
    }
}
