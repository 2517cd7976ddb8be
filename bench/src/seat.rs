//! A person at a terminal: the binary on a pseudo terminal, keys to it, and when
//! which bytes came back. Owns the terminal and the process; leaves what is
//! typed and waited for to the scenarios.
//!
//! A thread reads all the time, so nothing waits for the reader, and every piece
//! has the moment at which it came.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rein_testkit::{ModelServer, Project};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::error::BenchError;
use crate::trial::environment;

/// How long something that must be shown is waited for.
const PATIENCE: Duration = Duration::from_secs(120);
const COLUMNS: u16 = 100;
const ROWS: u16 = 30;

/// What came from the terminal: where each piece begins, and when it came.
#[derive(Default)]
struct Seen {
    bytes: Vec<u8>,
    moments: Vec<(usize, Instant)>,
}

/// The binary at a terminal.
pub struct Seat {
    scenario: &'static str,
    child: Child,
    master: File,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    /// Just before the process was started.
    pub begun: Instant,
}

impl Seat {
    /// Starts it.
    pub fn take(
        scenario: &'static str,
        binary: &Path,
        project: &Project,
        server: &ModelServer,
        arguments: &[&str],
    ) -> Result<Self, BenchError> {
        let failed = |error: rustix::io::Errno| BenchError::io("open", "a pseudo terminal")(error.into());
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map_err(failed)?;
        grantpt(&master).map_err(failed)?;
        unlockpt(&master).map_err(failed)?;
        let name = ptsname(&master, Vec::new()).map_err(failed)?;
        let name = name.to_string_lossy().into_owned();
        tcsetwinsize(&master, Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 })
            .map_err(failed)?;
        let open =
            || File::options().read(true).write(true).open(&name).map_err(BenchError::io("open", &name));
        let (input, output, errors) = (open()?, open()?, open()?);
        let reader = master.as_fd().try_clone_to_owned().map_err(BenchError::io("open", &name))?;
        let begun = Instant::now();
        // It becomes the program that it starts, with the terminal as its own.
        let child = Command::new("setsid")
            .arg("--ctty")
            .arg(binary)
            .args(arguments)
            .current_dir(project.path())
            .env_clear()
            .envs(environment(project, Some(server)))
            .env("TERM", "xterm-256color")
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(output))
            .stderr(Stdio::from(errors))
            .spawn()
            .map_err(BenchError::io("run", "setsid"))?;
        let seen = Arc::default();
        follow(reader, Arc::clone(&seen));
        Ok(Self { scenario, child, master: File::from(master), seen, begun })
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) -> Result<(), BenchError> {
        self.master.write_all(keys.as_bytes()).map_err(BenchError::io("write to", "the terminal"))
    }

    /// How much has come so far.
    pub fn mark(&self) -> usize {
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).bytes.len()
    }

    /// Waits for a text that comes after a mark, and says when it came.
    pub fn wait_for(&self, text: &str, mark: usize) -> Result<Instant, BenchError> {
        let end = Instant::now() + PATIENCE;
        let mut seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut from = mark;
        loop {
            if let Some(at) = find(seen.bytes.get(from..).unwrap_or_default(), text.as_bytes()) {
                let last = from + at + text.len() - 1;
                let piece = seen.moments.partition_point(|(begin, _)| *begin <= last);
                return Ok(seen
                    .moments
                    .get(piece.saturating_sub(1))
                    .map_or(self.begun, |(_, moment)| *moment));
            }
            from = seen.bytes.len().saturating_sub(text.len()).max(mark);
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let tail = seen.bytes.get(seen.bytes.len().saturating_sub(2_000)..).unwrap_or_default();
                let tail = String::from_utf8_lossy(tail).escape_debug().to_string();
                return Err(BenchError::incorrect(
                    self.scenario,
                    format!("`{text}` was never shown: {tail}"),
                ));
            }
            seen = self.seen.1.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until nothing has come for a while.
    pub fn wait_for_silence(&self, while_: Duration) {
        let mut before = self.mark();
        loop {
            thread::sleep(while_);
            match self.mark() {
                same if same == before => return,
                more => before = more,
            }
        }
    }

    /// The resident set now, in bytes.
    pub fn resident(&self) -> Result<u64, BenchError> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(&path).map_err(BenchError::io("read", &path))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0);
        Ok(kilobytes * 1024)
    }

    /// Time on processors so far, in milliseconds; counted in hundredths of a second.
    pub fn processor_ms(&self) -> Result<f64, BenchError> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&path).map_err(BenchError::io("read", &path))?;
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks: f64 =
            rest.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
        Ok(ticks * 10.0)
    }

    /// Leaves in good order.
    pub fn leave(mut self) -> Result<(), BenchError> {
        self.press("\u{3}\u{3}\u{3}")?;
        let status = self.child.wait().map_err(BenchError::io("wait for", "the face"))?;
        match status.success() {
            true => Ok(()),
            false => Err(BenchError::incorrect(self.scenario, format!("the face ended with {status}"))),
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Only after something failed: otherwise it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads until the terminal is gone.
fn follow(reader: OwnedFd, shared: Arc<(Mutex<Seen>, Condvar)>) {
    let mut reader = File::from(reader);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count) = reader.read(&mut buffer) {
            let moment = Instant::now();
            let mut seen = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = seen.bytes.len();
            seen.moments.push((begin, moment));
            seen.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            shared.1.notify_all();
            if count == 0 {
                return;
            }
        }
    });
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}
