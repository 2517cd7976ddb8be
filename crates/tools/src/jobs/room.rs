//! Whether a command fills its temporary directory beyond what it may.
//!
//! A directory on disk has no limit of its own, so it is looked at now and
//! then. The invariant: no more is written than fits between two looks.

use std::future::pending;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rein_sandbox::Spawn;

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);

/// Files that are counted at most in a look: more than that is too many by itself.
const MOST_FILES: usize = 200_000;

/// A directory and how many bytes may be in it.
#[derive(Debug, Clone)]
pub(super) struct Room {
    directory: PathBuf,
    limit: u64,
}

impl Room {
    /// That of a process in a jail whose temporary directory is on disk.
    pub(super) fn of(spawn: &Spawn) -> Option<Self> {
        let temporary = &spawn.jail.as_ref()?.temporary;
        Some(Self { directory: temporary.directory.clone()?, limit: temporary.limit_bytes })
    }
}

/// Comes to an end when there is too much in it.
pub(super) async fn overfull(room: Option<&Room>) {
    let Some(room) = room else { return pending().await };
    loop {
        tokio::time::sleep(LOOK).await;
        let Room { directory, limit } = room.clone();
        let used = tokio::task::spawn_blocking(move || used(&directory)).await;
        if used.is_ok_and(|used| used > limit) {
            return;
        }
    }
}

/// What is said where the output of the command ends.
pub(super) fn notice(room: &Room) -> String {
    format!(
        "\n[ended: it put more than {} MB into its temporary directory; clear it, or raise sandbox.temporary_mb]\n",
        room.limit >> 20
    )
}

fn used(directory: &Path) -> u64 {
    let mut open = vec![directory.to_owned()];
    let (mut bytes, mut files) = (0, 0);
    while let Some(next) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for entry in entries.filter_map(Result::ok) {
            files += 1;
            if files > MOST_FILES {
                return u64::MAX;
            }
            // Of the link itself, where it is one.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                open.push(entry.path());
            } else {
                bytes += std::os::unix::fs::MetadataExt::blocks(&metadata) * 512;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_directory_is_overfull_when_more_is_in_it_than_may() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("below")).unwrap();
        std::fs::write(directory.path().join("below/file"), vec![1; 200_000]).unwrap();
        let room = Room { directory: directory.path().to_owned(), limit: 100_000 };
        overfull(Some(&room)).await;
        assert!(used(directory.path()) >= 200_000);
        assert!(notice(&room).contains("sandbox.temporary_mb"));
    }
}
