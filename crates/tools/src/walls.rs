//! What holds the commands of a call, worked out when the first of them starts.
//!
//! Most calls start nothing, and finding out what a jail has to hide takes a
//! look at many places.

use std::sync::{Arc, LazyLock};

use rein_sandbox::jail::Jail;

type Make = Box<dyn FnOnce() -> Arc<Jail> + Send + Sync>;

/// A jail that is made when it is first needed, once.
#[derive(Clone)]
pub struct Walls {
    jail: Arc<LazyLock<Arc<Jail>, Make>>,
}

impl Walls {
    /// A jail that is made when it is first needed.
    #[must_use]
    pub fn new(make: impl FnOnce() -> Jail + Send + Sync + 'static) -> Self {
        let make: Make = Box::new(move || Arc::new(make()));
        Self { jail: Arc::new(LazyLock::new(make)) }
    }

    /// The jail.
    #[must_use]
    pub fn jail(&self) -> &Arc<Jail> {
        &self.jail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_sandbox::jail::JailRequest;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_jail_is_made_when_it_is_needed_and_once() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&made);
        let walls = Walls::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Jail::standard(&JailRequest::new(std::path::Path::new("/project")))
        });
        let copy = walls.clone();
        assert_eq!(made.load(Ordering::Relaxed), 0);
        assert!(Arc::ptr_eq(walls.jail(), copy.jail()));
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }
}
