//! The system prompt: a stable head that providers can cache, and a tail with
//! what is particular to this session.
//!
//! Both are made once when a session is opened and do not change while it is
//! open, so that every request of a session begins with the same bytes.

use std::path::Path;

const HEAD: &str = include_str!("prompts/system.md");

/// The system prompt for a session in `workspace`, head first.
pub(crate) fn system(workspace: &Path, today: &str) -> Vec<String> {
    let repository =
        if workspace.ancestors().any(|parent| parent.join(".git").exists()) { "yes" } else { "no" };
    let tail = format!(
        "<env>\nworking directory: {}\ngit repository: {repository}\nplatform: {}\ndate: {today}\n</env>",
        workspace.display(),
        std::env::consts::OS,
    );
    vec![HEAD.trim_end().to_owned(), tail]
}
