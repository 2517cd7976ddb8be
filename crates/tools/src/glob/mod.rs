//! `glob`: files by name, newest first.

use std::cmp::Reverse;
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
use crate::path::{Place, shown};
use crate::schema;
use crate::walk::{self, Filter};

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
        if !root.is_dir() {
            let what = if root.exists() {
                " is a file. Give a directory as `path`.".to_owned()
            } else {
                format!(" does not exist.{}", near_files(&root, scene))
            };
            return Outcome::failed(display, format!("{}{what}", self.place.shown));
        }
        let stop = cancel.child_token();
        let _stop_guard = stop.clone().drop_guard();
        let filter = self.filter;
        let found = tokio::task::spawn_blocking(move || find(&root, &filter, &stop)).await;
        if cancel.is_cancelled() {
            return Outcome::interrupted(display);
        }
        let Ok((files, total)) = found else {
            return Outcome::failed(display, "The search failed because of an internal error.");
        };
        for file in &files {
            output.write(format!("{}\n", shown(file, &scene.workspace)).as_bytes());
        }
        let trailer = match total {
            0 => Some("[no files match; files that git ignores are not searched]".to_owned()),
            _ if total > files.len() => {
                Some(format!("[the newest {} of {total} files; use a narrower pattern or path]", files.len()))
            }
            _ => None,
        };
        Outcome::completed(display.with_summary(format!("{total} files"))).with_trailer(trailer)
    }
}

/// A file and when it was changed; the newest is the least.
type Aged = (Reverse<SystemTime>, PathBuf);

/// The newest files, and how many there were in all.
fn find(root: &Path, filter: &Filter, cancel: &CancellationToken) -> (Vec<PathBuf>, usize) {
    let found: Mutex<(Vec<Aged>, usize)> = Mutex::default();
    walk::files(root, cancel, || {
        Box::new(|entry| {
            let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
            if !filter.accepts(relative) {
                return;
            }
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            let file = (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), entry.path().to_owned());
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0.push(file);
            found.1 += 1;
            if found.0.len() > KEPT {
                newest_first(&mut found.0);
            }
        })
    });
    let (mut files, total) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    newest_first(&mut files);
    (files.into_iter().map(|(_, path)| path).collect(), total)
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
