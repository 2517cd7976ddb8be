//! `glob`: files by name, newest first.

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use rein_protocol::{Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::change::near_files;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::files::{self, LoadError, refusal};
use crate::path::{Place, shown};
use crate::schema;
use crate::walk::{self, Filter, Walked};

/// Files that are shown.
const SHOWN: usize = 100;

/// Files that are kept before the oldest are let go.
const KEPT: usize = 100 * SHOWN;

/// Finds files.
pub(crate) struct Glob;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    pattern: String,
    /// Directory to search, the workspace by default.
    path: Option<String>,
}

#[async_trait]
impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "glob".to_owned(),
            description: include_str!("glob.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("glob", arguments)?;
        let (base, pattern) = split_base(&arguments.pattern);
        let given = match (arguments.path, base) {
            (Some(path), Some(base)) => Path::new(&path).join(base).to_string_lossy().into_owned(),
            (Some(path), None) => path,
            (None, base) => base.unwrap_or(".").to_owned(),
        };
        let place = Place::find(&given, scene)?;
        let filter = Filter::new("pattern", pattern)?;
        let title = match place.shown.as_str() {
            "." => format!("glob {pattern}"),
            elsewhere => format!("glob {pattern} in {elsewhere}"),
        };
        let effects = vec![Effect::Read { path: place.path.clone() }];
        Ok(Box::new(Finding { intent: Intent { effects, display: Display::titled(title) }, place, filter }))
    }
}

/// A pattern that begins outside of where it is applied says itself where to look: its leading parts
/// without wildcards are a directory.
fn split_base(pattern: &str) -> (Option<&str>, &str) {
    let pattern = pattern.trim();
    if !(pattern.starts_with('/') || pattern.starts_with("~/") || pattern.starts_with("../")) {
        return (None, pattern);
    }
    let wild = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    match pattern.get(..wild).and_then(|literal| literal.rfind('/')) {
        Some(0) => (Some("/"), pattern.get(1..).unwrap_or_default()),
        Some(slash) => (pattern.get(..slash), pattern.get(slash + 1..).unwrap_or_default()),
        None => (None, pattern),
    }
}

struct Finding {
    intent: Intent,
    place: Place,
    filter: Filter,
}

#[async_trait]
impl Plan for Finding {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        let display = self.intent.display;
        if let Err(message) = self.place.still_leads_here(scene) {
            return Outcome::failed(display, message);
        }
        let root = self.place.path.clone();
        if let Err(message) = must_be_directory(&self.place, scene) {
            return Outcome::failed(display, message);
        }
        let stop = cancel.child_token();
        let _stop_guard = stop.clone().drop_guard();
        let (filter, inner_scene) = (self.filter, scene.clone());
        let finding = tokio::task::spawn_blocking(move || find(&root, &filter, &inner_scene, &stop));
        // A file system may not answer; then the thread ends when it does.
        let found = tokio::select! {
            biased;
            () = cancel.cancelled() => return Outcome::interrupted(display),
            found = finding => found,
        };
        let found = match found {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return Outcome::failed(display, refusal(&self.place.shown, &error)),
            Err(_) => return Outcome::failed(display, "The search failed because of an internal error."),
        };
        for file in &found.files {
            output.write(format!("{}\n", shown(file, &scene.workspace)).as_bytes());
        }
        let summary = format!("{} files", found.total);
        Outcome::completed(display.with_summary(summary)).with_trailer(trailer(&found))
    }
}

fn must_be_directory(place: &Place, scene: &Scene) -> Result<(), String> {
    let shown = &place.shown;
    match files::open(&place.path) {
        Err(LoadError::Directory) => Ok(()),
        Err(LoadError::Missing) => Err(format!("{shown} does not exist.{}", near_files(&place.path, scene))),
        Err(LoadError::Io(error)) => Err(refusal(shown, &error)),
        Ok(_) | Err(LoadError::Special(_) | LoadError::TooLarge(_)) => {
            Err(format!("{shown} is a file. Give a directory as `path`."))
        }
    }
}

fn trailer(found: &Found) -> Option<String> {
    let mut notes = Vec::new();
    if found.total == 0 {
        notes.push("no files match; files that git ignores are not searched".to_owned());
    } else if found.total > found.files.len() {
        let (newest, total) = (found.files.len(), found.total);
        notes.push(format!("the newest {newest} of {total} files; use a narrower pattern or path"));
    }
    notes.extend(found.walked.notes(found.left_out));
    (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
}

/// A file and when it was changed; the newest is the least.
type Aged = (Reverse<SystemTime>, PathBuf);

/// What was found.
struct Found {
    /// The newest.
    files: Vec<PathBuf>,
    /// How many there were in all.
    total: usize,
    /// How many may not be seen.
    left_out: usize,
    walked: Walked,
}

#[derive(Default)]
struct Gathered {
    files: Vec<Aged>,
    total: usize,
    left_out: usize,
}

fn find(root: &Path, filter: &Filter, scene: &Scene, cancel: &CancellationToken) -> io::Result<Found> {
    let gathered: Mutex<Gathered> = Mutex::default();
    let walked = walk::files(root, cancel, || {
        Box::new(|entry| {
            let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
            if !filter.accepts(relative) {
                return;
            }
            if !(scene.may_read)(entry.path()) {
                gathered.lock().unwrap_or_else(PoisonError::into_inner).left_out += 1;
                return;
            }
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            let file = (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), entry.path().to_owned());
            let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            gathered.files.push(file);
            gathered.total += 1;
            if gathered.files.len() > KEPT {
                newest_first(&mut gathered.files);
            }
        })
    })?;
    let Gathered { mut files, total, left_out } =
        gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
    newest_first(&mut files);
    Ok(Found { files: files.into_iter().map(|(_, path)| path).collect(), total, left_out, walked })
}

/// Files of one time are in the order of their paths.
fn newest_first(files: &mut Vec<Aged>) {
    files.sort_unstable();
    files.truncate(SHOWN);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_may_say_where_to_look() {
        assert_eq!(split_base("src/*.rs"), (None, "src/*.rs"));
        assert_eq!(split_base("/etc/**/*.conf"), (Some("/etc"), "**/*.conf"));
        assert_eq!(split_base("/*.conf"), (Some("/"), "*.conf"));
        assert_eq!(split_base("~/notes/a?.md"), (Some("~/notes"), "a?.md"));
        assert_eq!(split_base("../other/x.rs"), (Some("../other"), "x.rs"));
    }
}
