//! What the agent knows of files and of its plans when a session is opened again.
//!
//! A file that it read or wrote earlier in the conversation, and that has not
//! changed since, counts as known; one that has changed must be read again.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{CallStatus, Effect, TodoList};
use rein_tools::{FileMemory, Instructions, TodoBoard};

/// The files that the calls of a branch have made known.
pub(crate) fn files_of(transcript: &Transcript) -> FileMemory {
    // The last time counts, and a file is looked at once.
    let mut known: HashMap<&Path, SystemTime> = HashMap::new();
    for item in &transcript.items {
        let Item::Call(item) = item else { continue };
        let (Some(intent), Some(ended)) = (&item.started, &item.ended) else { continue };
        if item.result.as_ref().is_none_or(|result| result.status != CallStatus::Completed) {
            continue;
        }
        // Entries are dated to the millisecond, files more finely.
        let ended = UNIX_EPOCH + Duration::from_millis(u64::try_from(ended.0).unwrap_or_default() + 1);
        for effect in &intent.effects {
            if let Effect::Read { path } | Effect::Write { path } = effect {
                known.insert(path, ended);
            }
        }
    }
    let memory = FileMemory::default();
    for (path, moment) in known {
        if is_unchanged_since(path, moment) {
            memory.remember_current(path);
        }
    }
    memory
}

/// Which instruction files the model was shown with files that it read.
pub(crate) fn instructions_of(transcript: &Transcript) -> Instructions {
    let read = transcript.items.iter().flat_map(|item| {
        let Item::Call(item) = item else { return Vec::new() };
        let done = item.result.as_ref().is_some_and(|result| result.status == CallStatus::Completed);
        let effects = item.started.iter().filter(|_| done).flat_map(|intent| &intent.effects);
        let read = effects.filter_map(|effect| match effect {
            Effect::Read { path } => Some(path.clone()),
            _ => None,
        });
        read.collect()
    });
    Instructions::attached(read)
}

/// What the agent meant to do when the branch ended.
pub(crate) fn todos_of(transcript: &Transcript) -> TodoBoard {
    let last = transcript.items.iter().rev().find_map(|item| {
        match item {
            Item::Call(item) => {
                let result = item.result.as_ref().filter(|result| result.status == CallStatus::Completed)?;
                TodoList::in_display(&result.display)
            }
            // A session that another was handed over to has nothing else.
            Item::Compacted(compaction) => compaction.carried.todo.clone(),
            _ => None,
        }
    });
    TodoBoard::restore(last.unwrap_or_default())
}

fn is_unchanged_since(path: &Path, moment: SystemTime) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && changed(&metadata).is_some_and(|at| at <= moment))
}

/// When a file was last changed or put in its place. Its date alone can be an old one: of a file
/// that was moved here, taken from an archive, or dated back.
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    let (seconds, nanos) =
        (u64::try_from(metadata.ctime()).ok()?, u32::try_from(metadata.ctime_nsec()).ok()?);
    let placed = UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))?;
    metadata.modified().ok().map(|modified| modified.max(placed))
}
