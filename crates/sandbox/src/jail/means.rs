//! What this machine can enforce, found out by trying, once.
//!
//! A kernel's version or a setting says little: a container, a policy of the
//! distribution or a filter above rein may take away what the kernel has. So a
//! helper builds the walls around nothing and says whether they stand.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::Preference;
use crate::error::SandboxError;

/// By which means a jail is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Namespaces that rein makes itself, with Landlock and a filter of system calls.
    BuiltIn,
    /// Namespaces that bubblewrap makes, with Landlock and a filter of system calls.
    Bubblewrap,
    /// Landlock and a filter of system calls, without namespaces.
    LandlockAlone,
    /// The sandbox of macOS.
    Seatbelt,
}

/// Something that a jail keeps a process from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// Writing outside of what is writable.
    Writing,
    /// Changing or making what is kept inside the workspace.
    Kept,
    /// Reading secrets.
    Secrets,
    /// Talking to other machines while the network is off.
    Network,
    /// Talking to services of this machine through their sockets.
    Sockets,
    /// Seeing, signalling and looking into processes outside.
    Processes,
    /// System calls that no build needs.
    SystemCalls,
    /// Starting too many processes.
    ProcessLimit,
    /// Filling the disk through the temporary directory.
    Temporary,
    /// Outliving rein.
    Outliving,
}

impl Wall {
    /// Every one, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::Writing,
        Self::Kept,
        Self::Secrets,
        Self::Network,
        Self::Sockets,
        Self::Processes,
        Self::SystemCalls,
        Self::ProcessLimit,
        Self::Temporary,
        Self::Outliving,
    ];
}

/// Whether a wall stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WallStatus {
    /// It does, by these means.
    Enforced(String),
    /// In part: what it does not hold.
    Partly(String),
    /// It does not.
    Missing(Missing),
}

/// Why something is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What was tried and what the system said.
    pub why: String,
    /// What would help, as a sentence.
    pub remedy: String,
}

/// What this machine can enforce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Means {
    /// The way that is taken, if there is one.
    pub way: Option<Way>,
    /// Every wall and whether it stands.
    pub walls: Vec<(Wall, WallStatus)>,
    /// The ways that do not work here, and why.
    pub missing: Vec<(Way, Missing)>,
}

impl Means {
    /// Whether every wall stands whole.
    pub fn is_complete(&self) -> bool {
        self.walls.iter().all(|(_, status)| matches!(status, WallStatus::Enforced(_)))
    }
}

/// What this machine can enforce. Tried once; before [`crate::helper::main`] or
/// [`crate::helper::use_program`] was called nothing can be, and nothing is remembered.
pub fn means() -> &'static Means {
    static MEANS: OnceLock<Means> = OnceLock::new();
    static WITHOUT_HELPER: OnceLock<Means> = OnceLock::new();
    if cfg!(target_os = "linux") && crate::helper::program().is_none() {
        return WITHOUT_HELPER.get_or_init(|| assess(|_| Err(no_helper())));
    }
    MEANS.get_or_init(|| assess(try_once))
}

/// What this machine can enforce by what is preferred.
pub fn means_for(preference: Preference) -> Means {
    let wanted = match preference {
        Preference::Automatic => return means().clone(),
        Preference::BuiltIn => Way::BuiltIn,
        Preference::Bubblewrap => Way::Bubblewrap,
        Preference::LandlockAlone => Way::LandlockAlone,
    };
    match crate::helper::program() {
        Some(_) => assess_among(&[wanted], try_once),
        None => assess_among(&[wanted], |_| Err(no_helper())),
    }
}

/// Whether there is a way, and which is taken.
///
/// # Errors
///
/// What is missing, and what would help.
pub fn available(preference: Preference) -> Result<Way, Missing> {
    choose(preference).map_err(|error| match error {
        SandboxError::Unavailable { why, remedy } => Missing { why, remedy },
        other => Missing { why: other.to_string(), remedy: String::new() },
    })
}

/// The way to take for a jail.
pub(crate) fn choose(preference: Preference) -> Result<Way, SandboxError> {
    let wanted = match preference {
        Preference::Automatic => {
            let means = means();
            return means.way.ok_or_else(|| {
                let (why, remedy) = means.missing.first().map_or_else(Default::default, |(_, missing)| {
                    (missing.why.clone(), missing.remedy.clone())
                });
                SandboxError::Unavailable { why, remedy }
            });
        }
        Preference::BuiltIn => Way::BuiltIn,
        Preference::Bubblewrap => Way::Bubblewrap,
        Preference::LandlockAlone => Way::LandlockAlone,
    };
    let tried = if crate::helper::program().is_none() { Err(no_helper()) } else { try_once(wanted) };
    tried.map(|()| wanted).map_err(|Missing { why, remedy }| SandboxError::Unavailable { why, remedy })
}

fn no_helper() -> Missing {
    Missing {
        why: "this program has not said which program is the helper".to_owned(),
        remedy: "call `helper::main` at the start of `main`".to_owned(),
    }
}

fn assess(try_way: impl Fn(Way) -> Result<(), Missing>) -> Means {
    let order: &[Way] = if cfg!(target_os = "macos") {
        &[Way::Seatbelt]
    } else {
        &[Way::BuiltIn, Way::Bubblewrap, Way::LandlockAlone]
    };
    assess_among(order, try_way)
}

fn assess_among(order: &[Way], try_way: impl Fn(Way) -> Result<(), Missing>) -> Means {
    let mut missing = Vec::new();
    let way = order.iter().copied().find(|way| match try_way(*way) {
        Ok(()) => true,
        Err(reason) => {
            missing.push((*way, reason));
            false
        }
    });
    let walls = Wall::ALL.iter().map(|wall| (*wall, status(*wall, way, &missing))).collect();
    Means { way, walls, missing }
}

fn status(wall: Wall, way: Option<Way>, missing: &[(Way, Missing)]) -> WallStatus {
    let enforced = |by: &str| WallStatus::Enforced(by.to_owned());
    let partly = |what: &str| WallStatus::Partly(what.to_owned());
    let first = || missing.first().map(|(_, missing)| missing.clone());
    let lacking = || {
        let other = Missing { why: "this system has no such means".to_owned(), remedy: String::new() };
        WallStatus::Missing(first().unwrap_or(other))
    };
    match (way, wall) {
        (None, _) => lacking(),
        (Some(Way::BuiltIn | Way::Bubblewrap), wall) => match wall {
            Wall::Writing => enforced("mount namespace and Landlock"),
            Wall::Kept | Wall::Secrets => enforced("mount namespace"),
            Wall::Network => enforced("network namespace"),
            Wall::Sockets => enforced("mount namespace and Landlock"),
            Wall::Processes | Wall::Outliving => enforced("pid namespace"),
            Wall::SystemCalls => enforced("seccomp"),
            Wall::ProcessLimit => enforced("limit of the pid namespace"),
            Wall::Temporary => enforced("private file system"),
        },
        (Some(Way::LandlockAlone), wall) => match wall {
            Wall::Writing => enforced("Landlock"),
            Wall::Secrets => partly("the names in hidden directories can be listed, their contents not read"),
            Wall::Network => partly("off means no loopback either"),
            Wall::Processes => partly("processes outside can be seen; they cannot be looked into"),
            Wall::SystemCalls => enforced("seccomp"),
            Wall::Outliving => partly("a process survives if its helper is killed"),
            Wall::Kept | Wall::Sockets | Wall::ProcessLimit | Wall::Temporary => lacking(),
        },
        (Some(Way::Seatbelt), wall) => match wall {
            Wall::Writing | Wall::Kept | Wall::Secrets | Wall::Network | Wall::Sockets | Wall::Processes => {
                enforced("Seatbelt")
            }
            Wall::SystemCalls | Wall::ProcessLimit | Wall::Temporary | Wall::Outliving => {
                WallStatus::Missing(Missing {
                    why: "Seatbelt does not do this".to_owned(),
                    remedy: String::new(),
                })
            }
        },
    }
}

#[cfg(target_os = "linux")]
fn try_once(way: Way) -> Result<(), Missing> {
    static TRIED: [OnceLock<Result<(), Missing>>; 3] = [const { OnceLock::new() }; 3];
    let cell = match way {
        Way::BuiltIn => TRIED.first(),
        Way::Bubblewrap => TRIED.get(1),
        Way::LandlockAlone => TRIED.get(2),
        Way::Seatbelt => None,
    };
    let unknown = || Missing { why: "this is not macOS".to_owned(), remedy: String::new() };
    cell.map_or_else(|| Err(unknown()), |cell| cell.get_or_init(|| super::probe::try_way(way)).clone())
}

#[cfg(target_os = "macos")]
fn try_once(way: Way) -> Result<(), Missing> {
    let there = way == Way::Seatbelt && std::path::Path::new(crate::macos::SANDBOX_EXEC).exists();
    let missing = || Missing {
        why: format!("{} is missing", crate::macos::SANDBOX_EXEC),
        remedy: "it is a part of macOS".to_owned(),
    };
    if there { Ok(()) } else { Err(missing()) }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn try_once(_way: Way) -> Result<(), Missing> {
    Err(Missing {
        why: "there is no confinement on this system".to_owned(),
        remedy: "run rein on Linux or macOS, or in a container or a virtual machine".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wall_has_a_status_whatever_works() {
        let missing = |why: &str| Missing { why: why.to_owned(), remedy: String::new() };
        let nothing = assess(|_| Err(missing("no")));
        assert_eq!((nothing.way, nothing.walls.len()), (None, Wall::ALL.len()));
        assert!(nothing.walls.iter().all(|(_, status)| *status == WallStatus::Missing(missing("no"))));
        let all = assess(|_| Ok(()));
        assert!(all.way.is_some() && all.missing.is_empty());
        if cfg!(target_os = "linux") {
            assert!(all.is_complete());
            let alone = assess(|way| if way == Way::LandlockAlone { Ok(()) } else { Err(missing("no")) });
            assert_eq!((alone.way, alone.missing.len()), (Some(Way::LandlockAlone), 2));
            assert!(!alone.is_complete());
        }
    }
}
