//! Trying a way, and the words for what is missing.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags, open};

use super::plan::Plan;
use super::{Missing, Network, Way, bubblewrap};
use crate::helper::launch::launch;
use crate::helper::order::{Order, Walls};
use crate::helper::record::{Failure, Others, Record};
use crate::run::Status;

/// Builds the walls around nothing.
pub(super) fn try_way(way: Way) -> Result<(), Missing> {
    let order = Order {
        walls: Some(walls(way, Plan { temporary_limit: 1 << 20, ..Plan::default() }, Network::Off, 1000)?),
        program: Default::default(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: "/".into(),
    };
    let unknown = |why: String| Missing { why, remedy: remedy(way) };
    let Some(helper) = crate::helper::program() else { return Err(unknown("there is no helper".to_owned())) };
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let launched =
        null.map_err(std::io::Error::from).and_then(|null| launch(&helper, &order, Stdio::null(), null));
    let mut launched = launched
        .map_err(|error| unknown(format!("the helper {} could not be started: {error}", helper.display())))?;
    let answer = loop {
        match Record::read(&mut launched.records) {
            Some(Record::Started) => {}
            other => break other,
        }
    };
    drop(launched.control);
    let _ = launched.child.wait();
    match answer {
        Some(Record::Exited(Status::Code(0), Others::Gone | Others::Living)) => Ok(()),
        Some(Record::Failed(failure)) => Err(unknown(sentence(&failure))),
        Some(_) | None => Err(unknown("the helper ended without a word".to_owned())),
    }
}

/// The walls of a way.
pub(crate) fn walls(way: Way, plan: Plan, network: Network, processes: u32) -> Result<Walls, Missing> {
    let bubblewrap = match way {
        Way::Bubblewrap => {
            let program = bubblewrap::find().ok_or_else(|| Missing {
                why: "bubblewrap is not installed".to_owned(),
                remedy: "install the package `bubblewrap` of the distribution".to_owned(),
            })?;
            let user = match rustix::process::geteuid().is_root() {
                true => bubblewrap::User::Root,
                false => bubblewrap::User::Other,
            };
            let temporary = super::plan::temporary_directories();
            bubblewrap::arguments(
                &plan,
                bubblewrap::Here { program: &program, network, user, temporary: &temporary },
            )
        }
        Way::BuiltIn | Way::LandlockAlone | Way::Seatbelt => Vec::new(),
    };
    Ok(Walls { way, network, processes, plan, bubblewrap })
}

/// What went wrong, in words.
pub(crate) fn sentence(failure: &Failure) -> String {
    match failure.errno {
        0 => format!("the helper could not {}", failure.what),
        errno => {
            format!("the helper could not {}: {}", failure.what, std::io::Error::from_raw_os_error(errno))
        }
    }
}

/// What would help, from what the system says about itself.
fn remedy(way: Way) -> String {
    let is = |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    if way == Way::LandlockAlone {
        return "a kernel of version 5.13 or newer with Landlock enabled (`lsm=landlock,…` on its command line)"
            .to_owned();
    }
    if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        return "AppArmor keeps programs from making user namespaces: install bubblewrap with its AppArmor profile \
                (package `apparmor-profiles`, `bwrap-userns-restrict`), or allow it for all with \
                `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
            .to_owned();
    }
    if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        return "user namespaces are switched off: `sudo sysctl kernel.unprivileged_userns_clone=1`"
            .to_owned();
    }
    if is("/proc/sys/user/max_user_namespaces", "0") {
        return "user namespaces are switched off: `sudo sysctl user.max_user_namespaces=10000`".to_owned();
    }
    let is_container = ["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists());
    if is_container {
        return "this is a container that does not allow user namespaces: start it with \
                `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt \
                systempaths=unconfined`, or rely on the container"
            .to_owned();
    }
    "a kernel of version 5.12 or newer that allows user namespaces".to_owned()
}
