//! What kind of thing a command does, as far as its name, sub-command and
//! options tell.
//!
//! The list is ordered: a later effect is never quieter than an earlier one.
//! Where a command writes or reads is said by its paths, not here.

use serde::Deserialize;
use std::fmt;

/// One kind of thing a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Changes nothing but the shell itself: `cd`, `export`, `true`, `sleep`.
    Shell,
    /// Reads files, or the state of the machine, and prints. Nothing else under the options used.
    Read,
    /// Reads, but configuration that a project brings can make it run programs, or it does not end by itself:
    /// `git diff`, `less`, `tail -f`. Quiet when confined, not otherwise.
    Guarded,
    /// Changes files that its paths name: `cp`, `mkdir`, `sed -i`.
    Write,
    /// Changes the index or makes a repository, and can be undone: `git add`.
    Stage,
    /// Talks to this machine only: `curl localhost:3000`.
    Loopback,
    /// Runs code of the project, or code that the command line brings along: builds, tests, scripts.
    Project,
    /// Changes history or branches of a repository: `git commit`, `git checkout`.
    History,
    /// Throws away work that is not recorded: `git reset --hard`, `git clean`.
    Discard,
    /// Changes or ends processes that this command line did not start: `kill`, `pkill`.
    Process,
    /// Talks to other machines.
    Network,
    /// Fetches and installs software or dependencies.
    Install,
    /// Queries or changes a database server.
    Database,
    /// Drives the container daemon.
    Container,
    /// Reads or changes cloud resources or a cluster.
    Cloud,
    /// Changes what others see: pushes, releases, issues, messages.
    Publish,
    /// Runs commands on another machine, or copies to or from one.
    Remote,
    /// Starts another agent or model.
    Agent,
    /// Reaches into the desktop session: opens windows, clipboards, browsers.
    Desktop,
    /// Reads or changes a store of secrets.
    Secret,
    /// Changes the system: services, users, packages, kernel, scheduled jobs.
    System,
    /// Runs as another user or with more rights.
    Privilege,
    /// Not known: a program, sub-command or option that no table has.
    Unknown,
}

/// How much harm an effect can do, as tools declare it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Only reads.
    Read,
    /// Changes files of the workspace.
    Write,
    /// Runs code or changes more than files.
    Execute,
    /// Reaches other machines.
    Network,
}

impl Effect {
    /// Every effect, quietest first.
    pub const ALL: [Self; 23] = [
        Self::Shell,
        Self::Read,
        Self::Guarded,
        Self::Write,
        Self::Stage,
        Self::Loopback,
        Self::Project,
        Self::History,
        Self::Discard,
        Self::Process,
        Self::Network,
        Self::Install,
        Self::Database,
        Self::Container,
        Self::Cloud,
        Self::Publish,
        Self::Remote,
        Self::Agent,
        Self::Desktop,
        Self::Secret,
        Self::System,
        Self::Privilege,
        Self::Unknown,
    ];

    /// The tier that a mode judges it by when the command is not confined.
    #[must_use]
    pub fn tier(self) -> Tier {
        match self {
            Self::Shell | Self::Read => Tier::Read,
            Self::Write | Self::Stage => Tier::Write,
            Self::Guarded
            | Self::Project
            | Self::History
            | Self::Discard
            | Self::Process
            | Self::Agent
            | Self::Desktop
            | Self::Secret
            | Self::System
            | Self::Privilege
            | Self::Unknown => Tier::Execute,
            Self::Loopback
            | Self::Network
            | Self::Install
            | Self::Database
            | Self::Container
            | Self::Cloud
            | Self::Publish
            | Self::Remote => Tier::Network,
        }
    }

    /// Whether a confined command line may have this effect without anyone being asked, in a mode that lets the
    /// agent edit the workspace. A sandbox holds files and the network, so what it holds is quiet; what leaves it
    /// or rewrites history is not.
    #[must_use]
    pub fn quiet_when_confined(self) -> bool {
        matches!(
            self,
            Self::Shell
                | Self::Read
                | Self::Guarded
                | Self::Write
                | Self::Stage
                | Self::Loopback
                | Self::Project
        )
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shell => "changes only the shell",
            Self::Read => "only reads",
            Self::Guarded => "reads, but may run what the project configures",
            Self::Write => "changes files",
            Self::Stage => "changes the index",
            Self::Loopback => "talks to this machine",
            Self::Project => "runs code of the project",
            Self::History => "changes the repository's history",
            Self::Discard => "throws away unrecorded work",
            Self::Process => "acts on processes",
            Self::Network => "uses the network",
            Self::Install => "installs software",
            Self::Database => "uses a database server",
            Self::Container => "drives containers",
            Self::Cloud => "uses a cloud or cluster",
            Self::Publish => "publishes",
            Self::Remote => "acts on another machine",
            Self::Agent => "starts another agent",
            Self::Desktop => "reaches the desktop",
            Self::Secret => "uses a store of secrets",
            Self::System => "changes the system",
            Self::Privilege => "runs with other rights",
            Self::Unknown => "is not known",
        })
    }
}
