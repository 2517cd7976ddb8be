//! What the agent knows of files when a session is opened again.
//!
//! A file that it read or wrote earlier in the conversation, and that has not
//! changed since, counts as known; one that has changed must be read again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{CallStatus, Effect};
use rein_tools::FileMemory;

/// The files that the calls of a branch have made known.
pub(crate) fn files_of(transcript: &Transcript) -> FileMemory {
    let memory = FileMemory::default();
    for item in &transcript.items {
        let Item::Call(item) = item else { continue };
        let (Some(intent), Some(ended)) = (&item.started, &item.ended) else { continue };
        if item.result.as_ref().is_none_or(|result| result.status != CallStatus::Completed) {
            continue;
        }
        // Entries are dated to the millisecond, files more finely.
        let ended = UNIX_EPOCH + Duration::from_millis(u64::try_from(ended.0).unwrap_or_default() + 1);
        for effect in &intent.effects {
            if let Effect::Read { path } | Effect::Write { path } = effect
                && is_unchanged_since(path, ended)
            {
                memory.remember_current(path);
            }
        }
    }
    memory
}

fn is_unchanged_since(path: &std::path::Path, moment: SystemTime) -> bool {
    std::fs::metadata(path)
        .and_then(|metadata| metadata.modified().map(|modified| metadata.is_file() && modified <= moment))
        .unwrap_or(false)
}
