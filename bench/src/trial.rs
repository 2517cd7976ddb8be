//! Runs the binary in a temporary project, measured, and hands back what it
//! used and what it said. Owns how a run is started and given up; leaves what
//! is right and wrong to the scenarios.
//!
//! Output goes to files, so that nobody's reading of it costs time meanwhile.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rein_testkit::{ModelServer, Project, RecordedRequest, Script};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use crate::error::BenchError;
use crate::launch::{self, Launched};
use crate::row::Sample;

/// The model that is asked for. The server answers for every name.
pub const MODEL: &str = "openai/test-model";
/// How long a run may take before it is ended.
const PATIENCE: Duration = Duration::from_secs(300);
/// How much of an output an error shows.
const SHOWN: usize = 2_000;

/// What every measurement is made with.
pub struct Bench {
    /// The binary that is measured.
    pub binary: PathBuf,
    /// How often.
    pub runs: usize,
    launcher: PathBuf,
    scratch: TempDir,
}

/// A run that exited with 0.
pub struct Ran {
    /// What it used.
    pub sample: Sample,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it asked the model.
    pub requests: Vec<RecordedRequest>,
}

impl Bench {
    /// Measures this binary so many times.
    pub fn new(binary: PathBuf, runs: usize) -> Result<Self, BenchError> {
        let launcher = std::env::current_exe().map_err(BenchError::io("find", "this program"))?;
        let directory = std::env::temp_dir();
        let scratch = tempfile::Builder::new().prefix("rein-bench-").tempdir_in(&directory);
        let scratch = scratch.map_err(BenchError::io("make a directory in", directory))?;
        Ok(Self { binary, runs, launcher, scratch })
    }

    /// Runs the binary without a model.
    pub fn run(&self, scenario: &str, project: &Project, arguments: &[&str]) -> Result<Ran, BenchError> {
        self.launch(scenario, project, None, &self.binary, arguments)
    }

    /// Runs a command line in a shell instead of the binary.
    pub fn run_shell(&self, scenario: &str, project: &Project, line: &str) -> Result<Ran, BenchError> {
        self.launch(scenario, project, None, Path::new("/bin/sh"), &["-c", line])
    }

    /// Runs the binary with a model that answers from a script, and checks that all of that was used.
    pub fn converse(
        &self,
        scenario: &str,
        project: &Project,
        script: Script,
        arguments: &[&str],
    ) -> Result<Ran, BenchError> {
        let server = ModelServer::start_on(script, 0).map_err(BenchError::io("listen on", "127.0.0.1"))?;
        let mut ran = self.launch(scenario, project, Some(&server), &self.binary, arguments)?;
        if let Some(failure) = server.failures().first() {
            return Err(BenchError::incorrect(scenario, format!("the model server says: {failure}")));
        }
        ran.requests = server.requests();
        let sizes = || ran.requests.iter().map(|request| request.body_bytes.len());
        ran.sample.requests = ran.requests.len();
        ran.sample.bytes_sent = sizes().sum();
        ran.sample.first_request_bytes = sizes().next().unwrap_or(0);
        Ok(ran)
    }

    fn launch(
        &self,
        scenario: &str,
        project: &Project,
        server: Option<&ModelServer>,
        program: &Path,
        arguments: &[&str],
    ) -> Result<Ran, BenchError> {
        let place = |name: &str| self.scratch.path().join(name);
        let (report, stdout, stderr) = (place("report.json"), place("stdout"), place("stderr"));
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let mut command = Command::new(&self.launcher);
        command.args(launch::arguments(&report, program, &arguments)).current_dir(project.path());
        command.env_clear().envs(environment(project, server)).process_group(0);
        command.stdin(Stdio::null()).stdout(create(&stdout)?).stderr(create(&stderr)?);
        let child = command.spawn().map_err(BenchError::io("run", &self.launcher))?;
        wait(scenario, child)?;
        let launched = Launched::read(&report)?;
        fs::remove_file(&report).map_err(BenchError::io("remove", &report))?;
        let stdout = fs::read(&stdout).map_err(BenchError::io("read", &stdout))?;
        if launched.code != Some(0) {
            let complaint = fs::read(&stderr).map_err(BenchError::io("read", &stderr))?;
            return Err(BenchError::incorrect(scenario, failure(&launched, &stdout, &complaint)));
        }
        let Launched { wall_ms, user_ms, system_ms, max_rss, .. } = launched;
        let sample = Sample { wall_ms, user_ms, system_ms, max_rss, ..Sample::default() };
        Ok(Ran { sample, stdout, requests: Vec::new() })
    }
}

impl Ran {
    /// Checks that it printed this and nothing else, but for a line end.
    pub fn expect_stdout(&self, scenario: &str, expected: &str) -> Result<(), BenchError> {
        let (found, expected) = (self.stdout.trim_ascii_end(), expected.trim_end().as_bytes());
        if found == expected {
            return Ok(());
        }
        let reason = format!(
            "{} bytes were expected on standard output and {} came:\n{}",
            expected.len(),
            found.len(),
            excerpt(found)
        );
        Err(BenchError::incorrect(scenario, reason))
    }

    /// Checks how often the model was asked, and that the result of each call has a certain text in it.
    pub fn expect_results(&self, scenario: &str, expected: &[String]) -> Result<(), BenchError> {
        let wrong = |reason: String| Err(BenchError::incorrect(scenario, reason));
        let Some(last) = self.requests.last().filter(|_| self.requests.len() == expected.len() + 1) else {
            return wrong(format!("{} requests, not {}", self.requests.len(), expected.len() + 1));
        };
        let results = last.tool_results();
        if results.len() != expected.len() {
            return wrong(format!("{} results of calls, not {}", results.len(), expected.len()));
        }
        for (number, ((_, result), expected)) in results.iter().zip(expected).enumerate() {
            if !result.contains(expected.as_str()) {
                let shown = excerpt(result.as_bytes());
                return wrong(format!("result {} does not have `{expected}` in it:\n{shown}", number + 1));
            }
        }
        Ok(())
    }
}

/// Nothing of this process's own environment but the path.
pub fn environment(project: &Project, server: Option<&ModelServer>) -> Vec<(&'static str, OsString)> {
    let mut variables = vec![
        ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ("HOME", project.home().into()),
        ("REIN_HOME", project.rein_home().into()),
        ("LANG", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
    ];
    if let Some(server) = server {
        variables.push(("OPENAI_BASE_URL", server.base_url().into()));
        variables.push(("OPENAI_API_KEY", "not-a-key".into()));
    }
    variables
}

fn create(path: &Path) -> Result<File, BenchError> {
    File::create(path).map_err(BenchError::io("create", path))
}

/// Waits for a launcher; ends it and what it launched if that takes too long.
fn wait(scenario: &str, mut child: Child) -> Result<(), BenchError> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, end) = mpsc::channel::<()>();
    let watchdog = thread::spawn(move || {
        let late = end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
        if let Some(group) = group.filter(|_| late) {
            // If it has ended this very moment there is nothing left to end.
            let _ = kill_process_group(group, Signal::KILL);
        }
        late
    });
    let status = child.wait().map_err(BenchError::io("wait for", "the launcher"))?;
    drop(ended);
    let late = watchdog.join().unwrap_or(false);
    if late {
        return Err(BenchError::TooLong { scenario: scenario.to_owned(), seconds: PATIENCE.as_secs() });
    }
    if !status.success() {
        return Err(BenchError::incorrect(scenario, format!("the launcher failed ({status})")));
    }
    Ok(())
}

fn failure(launched: &Launched, stdout: &[u8], stderr: &[u8]) -> String {
    let how = match (launched.code, launched.signal) {
        (Some(code), _) => format!("it exited with {code}"),
        (None, Some(signal)) => format!("signal {signal} ended it"),
        (None, None) => "how it ended is unknown".to_owned(),
    };
    format!("{how}\n--- stdout\n{}\n--- stderr\n{}", excerpt(stdout), excerpt(stderr))
}

fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..SHOWN).unwrap_or(bytes)).into_owned();
    if bytes.len() > SHOWN { format!("{text}…") } else { text }
}
