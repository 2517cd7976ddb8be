//! A process in namespaces of its own, and who is who in them.
//!
//! Users are the same inside as outside. A user is the only one that there is;
//! for root, who may say so, everybody is there: a file of somebody else keeps
//! its owner.

use std::fs;
use std::io;

use rustix::process::{Pid, getegid, geteuid};

use super::calls::{Fork, clone};
use crate::jail::Network;

/// Forks a process that is the first of its namespaces.
pub(crate) fn enter(network: Network) -> io::Result<Fork> {
    let mut flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    if network == Network::Off {
        flags |= libc::CLONE_NEWNET;
    }
    clone(flags)
}

/// Says who is who in the namespace of a process that was just made.
pub(crate) fn map_users(process: Pid) -> io::Result<()> {
    let of = |name: &str| format!("/proc/{}/{name}", process.as_raw_pid());
    if geteuid().is_root() && map_everybody(&of).is_ok() {
        return Ok(());
    }
    // Without this, a user could leave a group that a file forbids something.
    fs::write(of("setgroups"), "deny")?;
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    fs::write(of("uid_map"), format!("{user} {user} 1"))?;
    fs::write(of("gid_map"), format!("{group} {group} 1"))
}

fn map_everybody(of: &dyn Fn(&str) -> String) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let own = fs::read_to_string(format!("/proc/self/{name}"))?;
        fs::write(of(name), identity(&own))?;
    }
    Ok(())
}

/// The same numbers inside as here, for all that are known here.
fn identity(map: &str) -> String {
    let mut lines = String::new();
    for line in map.lines() {
        let mut fields = line.split_ascii_whitespace();
        if let (Some(first), Some(_), Some(count)) = (fields.next(), fields.next(), fields.next()) {
            lines.push_str(&format!("{first} {first} {count}\n"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_are() {
        assert_eq!(identity("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(identity("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
