//! The children that run now, for a rein that must end at once.
//!
//! A family is entered when its child has started and leaves before the
//! child's status is taken: whoever is in here still owns its numbers.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;

use crate::family::Family;

static RUNNING: Mutex<Vec<Family>> = Mutex::new(Vec::new());

/// How often it is looked for members that are still there, and how long between two looks.
const LOOKS: usize = 100;
const PAUSE: Duration = Duration::from_millis(2);

pub(crate) fn enter(family: &Family) {
    running().push(family.clone());
}

pub(crate) fn leave(family: &Family) {
    running().retain(|other| other != family);
}

/// Kills every process that runs and everything that these started, without
/// asking first. For a process that is about to exit: it blocks, for a fraction
/// of a second at most, and whoever waits in [`run`](crate::run) sees its child killed.
pub fn end_all() {
    for _ in 0..LOOKS {
        // Held while signals are sent, so that no number in it can be given to somebody else.
        let families = running();
        let mut alive = false;
        for family in families.iter() {
            let members = family.living();
            family.signal(Signal::KILL, &members);
            alive |= !members.is_empty();
        }
        drop(families);
        if !alive {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

fn running() -> MutexGuard<'static, Vec<Family>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
