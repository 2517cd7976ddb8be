//! What stands in a conversation for the part that was compacted.
//!
//! Pure, and the same bytes for the same compaction, whenever it is sent.

use std::fmt::Write;

use rein_protocol::{Carried, Compaction};

const OPENING: &str = "[To make room, the earlier part of this conversation was replaced by this record of it. It is not a \
     new request: everything in it has happened already.]";
const TAIL_FOLLOWS: &str = "[The latest part of the conversation follows as it was. Go on from where it stands. What is \
     recorded as done is done: do not do it again.]";
const NO_TAIL: &str = "[Go on with the work from where it stands. What is recorded as done is done: do not do it again. \
     If nothing is left to do, say so.]";

/// The message that a compacted conversation begins with.
pub(crate) fn preface(compaction: &Compaction) -> String {
    let closing = if compaction.first_kept.is_some() { TAIL_FOLLOWS } else { NO_TAIL };
    let summary = closed(compaction.summary.trim(), "summary");
    let carried = carried(&compaction.carried);
    format!("{OPENING}\n\n{carried}<summary>\n{summary}\n</summary>\n\n{closing}")
}

/// What was kept by structure.
pub(crate) fn carried(carried: &Carried) -> String {
    let mut text = String::new();
    if !carried.words.is_empty() {
        text.push_str("What the user said, word for word; it still holds unless they took it back later:\n");
        for words in &carried.words {
            if words.skipped > 0 {
                let _ = writeln!(text, "[{} messages between are only in the summary]", words.skipped);
            }
            let _ = writeln!(text, "<user>\n{}\n</user>", closed(&words.text, "user"));
        }
        text.push('\n');
    }
    if let Some(todo) = &carried.todo {
        let _ = writeln!(text, "Your list of things to do, as it is now:\n{todo}");
    }
    if !carried.files.is_empty() {
        text.push_str("Files you used, the last first; read one again before you rely on what is in it:\n");
        for file in &carried.files {
            let _ = writeln!(text, "{} ({})", file.path.display(), file.touch.mark());
        }
        text.push('\n');
    }
    if !carried.jobs.is_empty() {
        text.push_str("Commands in the background:\n");
        for job in &carried.jobs {
            let _ = writeln!(text, "{}: {} ({})", job.id, job.command, job.state);
        }
        text.push('\n');
    }
    if !carried.asks.is_empty() {
        text.push_str("Waiting for the user's answer:\n");
        for ask in &carried.asks {
            let _ = writeln!(text, "{ask}");
        }
        text.push('\n');
    }
    text
}

/// A text that cannot end its own fence.
fn closed(text: &str, fence: &str) -> String {
    text.replace(&format!("</{fence}"), &format!("<\\/{fence}"))
}
