//! A plan in the words of bubblewrap.
//!
//! Bubblewrap makes the namespaces and the mounts; its child is the helper,
//! which is therefore the first process of the pid namespace, limits the number
//! of processes, gives up the capabilities that it was left with, and starts the
//! program behind Landlock and the filter like everywhere else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Network;
use super::plan::{Plan, Step};

/// Where the helper is inside.
pub(crate) const HELPER: &str = "/run/rein-helper";

/// What stands for a hidden file.
const NOTHING: &str = "/dev/null";

/// What the helper needs to finish the walls, and root afterwards.
const CAPABILITIES: &[&str] = &["CAP_SYS_ADMIN", "CAP_SETPCAP"];
const CAPABILITIES_OF_ROOT: &[&str] =
    &["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID"];

/// What the arguments depend on, besides the plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here<'a> {
    pub(crate) program: &'a Path,
    pub(crate) network: Network,
    pub(crate) user: User,
    /// The temporary directories that are there.
    pub(crate) temporary: &'a [PathBuf],
}

/// Who runs rein.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Other,
}

/// The whole command line up to the helper, the program first.
pub(crate) fn arguments(plan: &Plan, here: Here<'_>) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![here.program.into()];
    let mut say = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
        line.extend(words.iter().map(|word| word.as_ref().to_owned()))
    };
    say(&[&"--unshare-user", &"--unshare-ipc", &"--unshare-pid", &"--unshare-uts"]);
    if here.network == Network::Off {
        say(&[&"--unshare-net"]);
    }
    say(&[&"--die-with-parent", &"--as-pid-1", &"--cap-drop", &"ALL"]);
    for capability in CAPABILITIES {
        say(&[&"--cap-add", capability]);
    }
    if here.user == User::Root {
        for capability in CAPABILITIES_OF_ROOT {
            say(&[&"--cap-add", capability]);
        }
    }
    say(&[&"--ro-bind", &"/", &"/", &"--dev", &"/dev", &"--proc", &"/proc"]);
    let size = plan.temporary_limit.to_string();
    say(&[&"--perms", &"1777", &"--size", &size, &"--tmpfs", &"/dev/shm"]);
    match (&plan.temporary, here.temporary) {
        (Some(directory), places) => {
            for place in places {
                say(&[&"--bind", directory, place]);
            }
        }
        (None, places) => {
            for place in places {
                say(&[&"--perms", &"1777", &"--size", &size, &"--tmpfs", place]);
            }
        }
    }
    say(&[&"--perms", &"0755", &"--size", &"1048576", &"--tmpfs", &"/run"]);
    for step in &plan.steps {
        match step {
            Step::Keep(path) => say(&[&"--ro-bind-try", path, path]),
            Step::Writable(path) => say(&[&"--bind", path, path]),
            Step::ReadOnly(path) => say(&[&"--ro-bind", path, path]),
            Step::HideDirectory(path) => {
                say(&[&"--perms", &"0555", &"--size", &"4096", &"--tmpfs", path, &"--remount-ro", path]);
            }
            Step::HideFile(path) => say(&[&"--ro-bind", &NOTHING, path]),
            // It has no word for it: what the link leads to is kept, the link itself is not.
            Step::PinLink(_) => {}
        }
    }
    line
}

/// Where bubblewrap is.
pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let fixed = ["/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"].map(PathBuf::from);
    // The fixed places first: a directory of `PATH` may be one that a project put there.
    fixed
        .into_iter()
        .chain(std::env::split_paths(&path).filter(|path| path.is_absolute()))
        .map(|path| path.join("bwrap"))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_mounts_is_that_of_the_plan() {
        let plan = Plan {
            steps: vec![
                Step::Writable("/w".into()),
                Step::ReadOnly("/w/.git/config".into()),
                Step::HideFile("/home/u/.netrc".into()),
                Step::HideDirectory("/home/u/.ssh".into()),
            ],
            temporary_limit: 1000,
            ..Plan::default()
        };
        let here = Here {
            program: Path::new("/usr/bin/bwrap"),
            network: Network::Off,
            user: User::Other,
            temporary: &["/tmp".into()],
        };
        let line = arguments(&plan, here);
        let line: Vec<&str> = line.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            line.join(" "),
            "/usr/bin/bwrap --unshare-user --unshare-ipc --unshare-pid --unshare-uts --unshare-net \
             --die-with-parent --as-pid-1 --cap-drop ALL --cap-add CAP_SYS_ADMIN --cap-add CAP_SETPCAP \
             --ro-bind / / --dev /dev --proc /proc --perms 1777 --size 1000 --tmpfs /dev/shm \
             --perms 1777 --size 1000 --tmpfs /tmp \
             --perms 0755 --size 1048576 --tmpfs /run --bind /w /w --ro-bind /w/.git/config /w/.git/config \
             --ro-bind /dev/null /home/u/.netrc \
             --perms 0555 --size 4096 --tmpfs /home/u/.ssh --remount-ro /home/u/.ssh"
        );
    }

    #[test]
    fn a_network_is_shared_and_a_directory_of_the_conversation_bound() {
        let plan = Plan { temporary: Some("/private".into()), ..Plan::default() };
        let here = Here {
            program: Path::new("bwrap"),
            network: Network::On,
            user: User::Root,
            temporary: &["/tmp".into()],
        };
        let line: Vec<String> =
            arguments(&plan, here).iter().map(|word| word.to_str().unwrap().to_owned()).collect();
        let line = line.join(" ");
        assert!(!line.contains("--unshare-net") && line.contains("--bind /private /tmp"), "{line}");
        assert!(line.contains("--cap-add CAP_SETUID"), "{line}");
    }
}
