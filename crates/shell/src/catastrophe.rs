//! Deleting what cannot be brought back: the root, a home, the system, or the
//! directory that the line itself runs in and more.

use crate::analysis::{Danger, Span, Usage};
use crate::paths;
use crate::state::State;
use crate::walk::Walker;
use crate::word::Word;

impl Walker<'_> {
    /// Looks at one path that a command removes or runs.
    pub(crate) fn deletion(&mut self, word: &Word, usage: Usage, command: usize, span: Span, state: &State) {
        match usage {
            Usage::DeleteTree | Usage::Delete => {}
            Usage::Execute => {
                self.fetched_file(word, command, span, state);
                return;
            }
            Usage::List | Usage::Read | Usage::Write | Usage::Unknown => return,
        }
        for (path, _) in paths::resolve(word, state) {
            let Some(reason) = path.and_then(|path| self.irreplaceable(&path, usage)) else { continue };
            self.hazard(Danger::Catastrophic, reason, word.shown(), Some(command), span);
        }
    }

    /// Looks at a path that a command changes with all that is under it.
    pub(crate) fn tree(&mut self, word: &Word, command: usize, span: Span, state: &State) {
        for (path, _) in paths::resolve(word, state) {
            let Some(reason) = path.and_then(|path| self.irreplaceable(&path, Usage::DeleteTree)) else {
                continue;
            };
            self.hazard(Danger::Catastrophic, reason, word.shown(), Some(command), span);
        }
    }

    fn irreplaceable(&self, path: &str, usage: Usage) -> Option<&'static str> {
        let path = paths::comparable(path);
        let all = path.strip_suffix("/*").or_else(|| path.strip_suffix("/.*")).unwrap_or(&path);
        let all = if all.is_empty() { "/" } else { all };
        let drive = all.len() == 2 && all.ends_with(':');
        if all == "/" || all == "/*" || drive || all.trim_start_matches('/').len() == 2 && all.ends_with(':')
        {
            return Some("this is the whole file system");
        }
        if usage == Usage::Delete && all != path {
            return None;
        }
        let home = self.surroundings.home.map(paths::comparable);
        if home.as_deref() == Some(all) || is_home(all) {
            return Some("this is a home directory");
        }
        if let Some(reason) = paths::system(all, self.surroundings.home) {
            return Some(reason);
        }
        let here = paths::comparable(self.surroundings.directory);
        let above = here.strip_prefix(all).is_some_and(|rest| rest.starts_with('/'));
        above.then_some("the directory that the line runs in is only a part of this")
    }

    /// Something fetched earlier on the line is run.
    fn fetched_file(&mut self, word: &Word, command: usize, span: Span, state: &State) {
        let fetched = paths::resolve(word, state).into_iter().filter_map(|(path, _)| path).any(|path| {
            self.fetched.iter().any(|other| paths::comparable(other) == paths::comparable(&path))
        });
        if fetched {
            self.hazard(
                Danger::Catastrophic,
                "runs what another machine answers",
                word.shown(),
                Some(command),
                span,
            );
        }
    }
}

/// `/home/name`, `/Users/name`, `/root`, and where Windows has them.
fn is_home(path: &str) -> bool {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let rooted = path.starts_with('/') || path.get(1..2) == Some(":");
    rooted
        && match parts.as_slice() {
            ["home" | "users" | "root"] | ["home" | "users", _] => true,
            [drive, "users"] | [drive, "users", _] => drive.len() <= 2,
            ["mnt", drive, "users", _] => drive.len() == 1,
            _ => false,
        }
}
