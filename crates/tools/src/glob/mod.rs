//! `glob`: files by name, newest first.

mod report;

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use rein_protocol::{Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::crowd::Crowd;
use crate::deadline::{self, Ended, Stop};
use crate::files::refusal;
use crate::path::Place;
use crate::schema;
use crate::walk::{self, Filter, Hidden, Manner, Met};

/// Files that are shown.
const SHOWN: usize = 100;

/// Files that are kept before the oldest are let go.
const KEPT: usize = 100 * SHOWN;

/// Finds files.
pub(crate) struct Glob;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    hidden: Option<bool>,
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
        let manner = Manner { hidden: Hidden::asked(arguments.hidden, Some(&filter)), threads: 0 };
        let effects = vec![Effect::Read { path: place.path.clone() }];
        let intent = Intent { effects, display: Display::titled(title) };
        Ok(Box::new(Finding { intent, place, filter, manner, limit: deadline::SEARCH }))
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
    manner: Manner,
    limit: Duration,
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
        let Self { intent, place, filter, manner, limit } = *self;
        let display = intent.display;
        if let Err(message) = place.still_leads_here(scene) {
            return Outcome::failed(display, message);
        }
        if let Err(message) = walk::must_be_directory(&place, "Give a directory as `path`.", scene) {
            return Outcome::failed(display, message);
        }
        let found: Arc<Mutex<Found>> = Arc::default();
        let met: Arc<Met> = Arc::default();
        let (inner_scene, inner_found, inner_met) = (scene.clone(), Arc::clone(&found), Arc::clone(&met));
        let root = place.path.clone();
        let ended = deadline::run(limit, cancel, move |stop| {
            find(&root, &filter, manner, &inner_scene, &inner_found, &inner_met, stop)
        })
        .await;
        let mut found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
        newest_first(&mut found.files);
        match ended {
            Ended::Failed(error) => Outcome::failed(display, refusal(&place.shown, &error)),
            Ended::Broken => Outcome::failed(display, "The search failed because of an internal error."),
            Ended::Interrupted => {
                report::write(&found, scene, output);
                Outcome::interrupted(display)
            }
            Ended::Whole | Ended::Late(_) => {
                report::write(&found, scene, output);
                let summary = format!("{} files", found.total);
                let trailer = report::trailer(&found, &met, &place.shown, &ended, scene);
                Outcome::completed(display.with_summary(summary)).with_trailer(trailer)
            }
        }
    }
}

/// A file and when it was changed; the newest is the least.
type Aged = (Reverse<SystemTime>, PathBuf);

/// What was found.
#[derive(Default)]
struct Found {
    /// The newest, and some more until they are put in order.
    files: Vec<Aged>,
    /// How many there were in all.
    total: usize,
    crowd: Crowd,
}

fn find(
    root: &Path,
    filter: &Filter,
    manner: Manner,
    scene: &Scene,
    found: &Mutex<Found>,
    met: &Arc<Met>,
    stop: &Stop,
) -> io::Result<()> {
    walk::visit(root, manner, met, stop, || {
        Box::new(move |entry| {
            let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
            if !filter.accepts(relative) {
                return;
            }
            if !(scene.may_read)(entry.path()) {
                met.leave_out();
                return;
            }
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            let file = (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), entry.path().to_owned());
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.files.push(file);
            found.total += 1;
            found.crowd.add(relative, 1);
            if found.files.len() > KEPT {
                newest_first(&mut found.files);
            }
        })
    })
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
