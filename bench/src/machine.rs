//! What a figure depends on besides the code: the machine, and which commit
//! was measured. What cannot be found out is left empty.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Serialize;

/// The machine as it is now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Processors that may be used.
    pub cores: usize,
    /// The name of the processor.
    pub cpu: String,
    /// The version of the kernel.
    pub kernel: String,
    /// All memory, in bytes.
    pub memory: u64,
    /// The file system that the temporary projects are on.
    pub file_system: String,
    /// Processes that wanted to run in the last minute, before anything was measured.
    pub load: f64,
}

impl Machine {
    /// Looks around.
    pub fn look() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            cpu: cpu_name(&read("/proc/cpuinfo")),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            memory: memory(&read("/proc/meminfo")),
            file_system: file_system(&read("/proc/mounts"), &std::env::temp_dir()),
            load: read("/proc/loadavg").split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
        }
    }
}

/// What was measured, as git knows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// Whether there are changes that are not in it.
    pub changed: bool,
}

impl Commit {
    /// The one that is checked out.
    pub fn look() -> Option<Self> {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
            let output = output.ok().filter(|output| output.status.success())?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        Some(Self { id: git(&["rev-parse", "HEAD"])?, changed: !git(&["status", "--porcelain"])?.is_empty() })
    }
}

fn cpu_name(cpuinfo: &str) -> String {
    let name = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map(|(_, name)| name.trim().to_owned()).unwrap_or_default()
}

fn memory(meminfo: &str) -> u64 {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The type of the mount that is nearest above a directory.
fn file_system(mounts: &str, directory: &Path) -> String {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let above = mounts.filter(|(mount, _)| directory.starts_with(mount));
    above.max_by_key(|(mount, _)| mount.len()).map(|(_, kind)| kind.to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_read_from_what_the_kernel_writes() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Quick CPU @ 3.00GHz\nflags\t: a b\n";
        assert_eq!(cpu_name(cpuinfo), "Quick CPU @ 3.00GHz");
        assert_eq!(memory("MemTotal:        8000 kB\nMemFree: 1 kB\n"), 8_192_000);
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\nx /tmpfoo xfs rw 0 0\n";
        assert_eq!(file_system(mounts, Path::new("/tmp/b")), "tmpfs");
        assert_eq!(file_system(mounts, Path::new("/home")), "ext4");
    }

    #[test]
    fn what_cannot_be_found_out_is_left_empty() {
        assert_eq!(
            (cpu_name(""), memory("?"), file_system("", Path::new("/"))),
            (String::new(), 0, String::new())
        );
    }
}
