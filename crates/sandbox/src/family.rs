//! Who belongs to a child: found through `/proc`, by group, session, parentage
//! and a mark in the environment.
//!
//! The mark is what finds a process that left the group and the session and
//! whose parent is gone. It is the variable `REIN_RUN`, a list with one word
//! for every rein above it, so that a rein inside a rein keeps both marks. A word
//! names the pid namespace, the pid and the start time of a rein, and a count.
//!
//! Where there is no `/proc`, only the group is known.
//!
//! A child that a helper attends is simpler: everything that it started is
//! below the helper, however far it went, and nothing else is.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, waitid};

/// The variable that holds the marks.
pub(crate) const MARK: &str = "REIN_RUN";

/// How often, and after what time, it is looked again for somebody who may have been missed.
const LOOKS: usize = 100;
const PAUSE: Duration = Duration::from_millis(1);

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A child and everything that it started.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// The child itself, or the helper that attends it.
    leader: Pid,
    started: u64,
    word: String,
    helper: Option<Helper>,
}

/// How a helper stands to those that it attends.
#[derive(Debug, Clone)]
pub(crate) struct Helper {
    /// How many generations of helpers are below the first one. The last of them is, if it is not the first,
    /// the first process of a pid namespace.
    pub(crate) generations: usize,
    /// Whether the helper has said that nobody is left.
    pub(crate) over: Arc<AtomicBool>,
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        (self.leader, self.started, &self.word) == (other.leader, other.started, &other.word)
    }
}

/// A word that no other child has.
pub(crate) fn new_word() -> String {
    format!("{}.{}", own_word(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The value of [`MARK`] for a child with this word.
pub(crate) fn mark(word: &str) -> OsString {
    let mut value = std::env::var_os(MARK).unwrap_or_default();
    if !value.is_empty() {
        value.push(" ");
    }
    value.push(word);
    value
}

impl Family {
    /// The family of a child that leads its own session.
    pub(crate) fn of(leader: Pid, word: String) -> Self {
        let started = Process::of(leader).map_or(0, |process| process.started);
        Self { leader, started, word, helper: None }
    }

    /// The family of a child that a helper attends.
    pub(crate) fn attended(by: Pid, word: String, helper: Helper) -> Self {
        // Reading its start is not worth a file: as long as the helper is not released its number is its own.
        Self { leader: by, started: 0, word, helper: Some(helper) }
    }

    /// Every member that still runs, the child included. Zombies are over.
    pub(crate) fn living(&self) -> Vec<Pid> {
        if let Some(helper) = &self.helper {
            if helper.over.load(Ordering::Acquire) {
                return Vec::new();
            }
            return self.living_below(helper);
        }
        let processes = all_processes();
        let own = getpid();
        let mut members: HashSet<Pid> = processes
            .iter()
            .filter(|process| process.id != own && self.is_kin(process))
            .map(|process| process.id)
            .collect();
        members.insert(self.leader);
        // Children of members are members. A pass per generation, and generations are few.
        loop {
            let before = members.len();
            for process in &processes {
                if process.parent.is_some_and(|parent| members.contains(&parent)) {
                    members.insert(process.id);
                }
            }
            if members.len() == before {
                break;
            }
        }
        processes
            .iter()
            .filter(|process| process.alive && members.contains(&process.id))
            .map(|p| p.id)
            .collect()
    }

    /// Looking is not done at one moment: whoever is forked by somebody who then ends can be missed. So
    /// nobody is believed to be left only when the helper is gone too, which it is soon after.
    fn living_below(&self, helper: &Helper) -> Vec<Pid> {
        for _ in 0..LOOKS {
            let processes = all_processes();
            let members = below(&processes, self.attendants(helper, &processes));
            let is_attended = processes.iter().any(|process| process.id == self.leader && process.alive);
            if !members.is_empty() || !is_attended || helper.over.load(Ordering::Acquire) {
                return members;
            }
            std::thread::sleep(PAUSE);
        }
        Vec::new()
    }

    /// The last generation of helpers.
    fn attendants(&self, helper: &Helper, processes: &[Process]) -> HashSet<Pid> {
        let mut generation = HashSet::from([self.leader]);
        for _ in 0..helper.generations {
            generation = processes
                .iter()
                .filter(|process| process.parent.is_some_and(|parent| generation.contains(&parent)))
                .map(|process| process.id)
                .collect();
        }
        generation
    }

    fn is_kin(&self, process: &Process) -> bool {
        let leader = self.leader.as_raw_pid();
        process.group == leader
            || process.session == leader
            || (process.alive && process.started >= self.started && self.is_marked(process.id))
    }

    fn is_marked(&self, id: Pid) -> bool {
        words(id).is_some_and(|words| words.contains(&self.word))
    }

    /// Sends a signal to the group and to those members outside of it that are given.
    pub(crate) fn signal(&self, signal: Signal, members: &[Pid]) {
        if let Some(helper) = &self.helper {
            for member in members {
                let _ = kill_process(*member, signal);
            }
            if signal == Signal::KILL && helper.generations > 0 && !helper.over.load(Ordering::Acquire) {
                // Whoever is forked at this moment goes with the first process of its namespace.
                for first in self.attendants(helper, &all_processes()) {
                    let _ = kill_process(first, Signal::KILL);
                }
            }
            return;
        }
        // Failures mean that the target is gone already, or that it changed its user.
        let _ = kill_process_group(self.leader, signal);
        for member in members {
            let _ = kill_process(*member, signal);
        }
    }

    /// Takes the status of members that were handed to rein as orphans, so that none stays a zombie.
    pub(crate) fn reap(&self, members: &[Pid]) {
        if self.helper.is_some() {
            return;
        }
        for member in members.iter().filter(|member| **member != self.leader) {
            let _ = waitid(WaitId::Pid(*member), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}

/// Everything below some processes that still runs, without themselves.
fn below(processes: &[Process], roots: HashSet<Pid>) -> Vec<Pid> {
    let mut members = roots.clone();
    loop {
        let before = members.len();
        for process in processes {
            if process.parent.is_some_and(|parent| members.contains(&parent)) {
                members.insert(process.id);
            }
        }
        if members.len() == before {
            break;
        }
    }
    processes
        .iter()
        .filter(|process| process.alive && members.contains(&process.id) && !roots.contains(&process.id))
        .map(|process| process.id)
        .collect()
}

/// Everything that a process started and that still runs, as far as it did not become somebody else's.
#[cfg(target_os = "linux")]
pub(crate) fn descendants(of: Pid) -> Vec<Pid> {
    below(&all_processes(), HashSet::from([of]))
}

/// Kills what earlier reins left behind because they were themselves killed:
/// marked processes whose rein is gone. Returns how many there were.
///
/// Processes of another pid namespace are left alone, because from here it
/// cannot be known whether their rein lives.
pub fn end_orphans() -> usize {
    let own = own_word();
    let own_namespace = own.split('.').next().unwrap_or_default();
    let orphans: Vec<Pid> = all_processes()
        .into_iter()
        .filter(|process| process.alive && process.id != getpid())
        .filter(|process| {
            words(process.id)
                .is_some_and(|words| words.last().is_some_and(|word| is_dead(word, own_namespace)))
        })
        .map(|process| process.id)
        .collect();
    for orphan in &orphans {
        let _ = kill_process(*orphan, Signal::KILL);
    }
    orphans.len()
}

/// Whether the rein that made a word is known to be gone.
fn is_dead(word: &str, own_namespace: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let [namespace, id, started, _count] = parts.as_slice() else { return false };
    let (Ok(id), Ok(started)) = (id.parse::<i32>(), started.parse::<u64>()) else { return false };
    let Some(id) = Pid::from_raw(id) else { return false };
    !own_namespace.is_empty()
        && *namespace == own_namespace
        && Process::of(id).is_none_or(|process| !process.alive || process.started != started)
}

/// Namespace, pid and start time of this process.
fn own_word() -> String {
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let started = Process::of(getpid()).map_or(0, |process| process.started);
    format!("{digits}.{}.{started}", getpid().as_raw_pid())
}

/// The marks of a process, outermost first; none if it has none or may not be looked at.
fn words(id: Pid) -> Option<Vec<String>> {
    let environment = settled_environment(id)?;
    let value = environment
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="))?;
    let value = String::from_utf8_lossy(value);
    Some(value.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

/// The environment of a process, which shows none for the moment in which it becomes another program.
fn settled_environment(id: Pid) -> Option<Vec<u8>> {
    let file = |name: &str| format!("/proc/{}/{name}", id.as_raw_pid());
    let environment = || fs::read(file("environ")).ok();
    for _ in 0..LOOKS {
        let found = environment()?;
        if !found.is_empty() {
            return Some(found);
        }
        // In that moment it has no arguments either, but a program, which a thread of the kernel has not.
        let is_becoming = fs::read(file("cmdline")).is_ok_and(|arguments| arguments.is_empty())
            && fs::read_link(file("exe")).is_ok();
        if !is_becoming {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    environment()
}

/// A line of `/proc/<pid>/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    id: Pid,
    parent: Option<Pid>,
    group: i32,
    session: i32,
    started: u64,
    alive: bool,
}

impl Process {
    fn of(id: Pid) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{}/stat", id.as_raw_pid())).ok()?)
    }

    /// The name of the program stands in parentheses and may itself contain them and spaces.
    fn parse(stat: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stat);
        let (id, rest) = text.split_once(' ')?;
        let (_name, rest) = rest.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
        Some(Self {
            id: Pid::from_raw(id.parse().ok()?)?,
            parent: Pid::from_raw(number(1)?),
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
            alive: !matches!(fields.first(), Some(&("Z" | "X" | "x"))),
        })
    }
}

fn all_processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().as_bytes().first().is_some_and(u8::is_ascii_digit))
        .filter_map(|entry| Process::parse(&fs::read(entry.path().join("stat")).ok()?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_cannot_forge_the_line() {
        let line = b"42 (a) Z 1 1 1 (x) S 7 40 39 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 9001 1 1";
        assert_eq!(
            Process::parse(line),
            Some(Process {
                id: Pid::from_raw(42).unwrap(),
                parent: Pid::from_raw(7),
                group: 40,
                session: 39,
                started: 9001,
                alive: true,
            })
        );
        for broken in [&b""[..], b"42", b"42 (x", b"x (y) S 1 2 3", b"42 (x) S 1"] {
            assert_eq!(Process::parse(broken), None);
        }
    }

    #[test]
    fn only_the_death_of_a_rein_in_this_namespace_is_known() {
        let own = format!("{}.0", own_word());
        let namespace = own.split('.').next().unwrap().to_owned();
        assert!(!namespace.is_empty());
        assert!(!is_dead(&own, &namespace));
        let earlier = format!("{namespace}.{}.1.0", getpid().as_raw_pid());
        assert!(is_dead(&earlier, &namespace), "the pid was given to another process");
        assert!(!is_dead(&earlier, "1"), "another namespace");
        assert!(!is_dead("nonsense", &namespace));
    }
}
