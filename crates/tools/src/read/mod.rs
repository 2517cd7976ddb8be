//! `read`: a part of a text file, or the names in a directory.

mod directory;
mod kind;
mod lines;
mod slice;

use std::path::Path;

use async_trait::async_trait;
use rein_protocol::{CallStatus, Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::bound::OUTPUT_LINES;
use crate::change::near_files;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::files::{self, LoadError, refusal};
use crate::memory::Seen;
use crate::path::Source;
use crate::schema;

/// Lines that are shown unless more are asked for.
const USUAL_LINES: u64 = 300;

/// Reads a file or a directory.
pub(crate) struct Read;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    path: String,
    /// First line, from 1.
    offset: Option<u64>,
    /// Lines to read, 300 by default.
    limit: Option<u64>,
}

/// Which lines, or entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// Counted from 1.
    pub(super) first: u64,
    /// How many.
    pub(super) count: u64,
}

/// What was seen.
pub(super) struct View {
    pub(super) text: String,
    /// What the model should know beside it.
    pub(super) notes: Vec<String>,
    /// A few words for the person.
    pub(super) summary: String,
    /// The state of the file, if it was one.
    pub(super) seen: Option<Seen>,
}

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read".to_owned(),
            description: include_str!("read.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    /// Looks at nothing: what is there is only said after it was allowed.
    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("read", arguments)?;
        let source = Source::find(&arguments.path, scene)?;
        let range = Range {
            first: arguments.offset.unwrap_or(1).max(1),
            count: arguments.limit.unwrap_or(USUAL_LINES).clamp(1, OUTPUT_LINES as u64),
        };
        let title = match (arguments.offset, arguments.limit) {
            (None, None) => format!("read {}", source.shown()),
            _ => format!(
                "read {}:{}-{}",
                source.shown(),
                range.first,
                range.first.saturating_add(range.count - 1)
            ),
        };
        let effects = match &source {
            Source::Place(place) => vec![Effect::Read { path: place.path.clone() }],
            Source::Artifact(_) => Vec::new(),
        };
        Ok(Box::new(Reading { intent: Intent { effects, display: Display::titled(title) }, source, range }))
    }
}

struct Reading {
    intent: Intent,
    source: Source,
    range: Range,
}

#[async_trait]
impl Plan for Reading {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        let Reading { intent: Intent { display, .. }, source, range } = *self;
        let path = match source.open(scene).await {
            Ok(path) => path,
            Err(message) => return Outcome::failed(display, message),
        };
        let stop = cancel.child_token();
        // A future that is dropped stops the thread too.
        let _stop_guard = stop.clone().drop_guard();
        let (inner_scene, inner_path, shown) = (scene.clone(), path.clone(), source.shown());
        let viewed =
            tokio::task::spawn_blocking(move || view(&inner_path, &shown, range, &inner_scene, &stop)).await;
        let view = match viewed {
            _ if cancel.is_cancelled() => return Outcome::interrupted(display),
            Ok(Ok(view)) => view,
            Ok(Err(message)) => return Outcome::failed(display, message),
            Err(_) => return Outcome::failed(display, "It could not be read because of an internal error."),
        };
        if let (Some(seen), Source::Place(_)) = (view.seen, &source) {
            scene.files.remember(&path, seen);
        }
        output.write(view.text.as_bytes());
        Outcome {
            status: CallStatus::Completed,
            display: display.with_summary(view.summary),
            trailer: (!view.notes.is_empty()).then(|| format!("[{}]", view.notes.join("; "))),
            pictures: Vec::new(),
        }
    }
}

fn view(
    path: &Path,
    shown: &str,
    range: Range,
    scene: &Scene,
    cancel: &CancellationToken,
) -> Result<View, String> {
    match files::open(path) {
        Ok((file, metadata)) => slice::view(file, &metadata, shown, range, cancel),
        Err(LoadError::Directory) => {
            directory::view(path, range, scene).map_err(|error| refusal(shown, &error))
        }
        Err(LoadError::Missing) => Err(format!("{shown} does not exist.{}", near_files(path, scene))),
        Err(LoadError::Special(kind)) => {
            Err(format!("{shown} is {kind}. Only files and directories can be read."))
        }
        Err(LoadError::TooLarge(_)) => Err(format!("{shown} is too large.")),
        Err(LoadError::Io(error)) => Err(refusal(shown, &error)),
    }
}
