//! `read`: what is in a file, whatever it is, or in a directory.
//!
//! What a call shows is bounded here and never cut by others. The invariant: a
//! text file that was shown counts as read, in the state in which it was shown;
//! what was only rendered, like a notebook's cells, does not.

mod archive;
mod database;
mod directory;
mod file;
mod kind;
mod lines;
mod notebook;
mod pdf;
mod plain;
mod range;
mod slice;
mod units;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{CallStatus, Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Picture, Plan, Scene, Tool};
use crate::edit::EditForm;
use crate::files::{self, LoadError, refusal};
use crate::hashline;
use crate::memory::Seen;
use crate::near;
use crate::path::Source;
use crate::schema;
use range::Selection;

/// How long a call may take, on the slowest of disks and with the strangest of files.
const PATIENCE: Duration = Duration::from_secs(120);

/// Reads a file or a directory.
pub(crate) struct Read;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    path: String,
    /// First line, from 1.
    offset: Option<u64>,
    /// 300 lines by default.
    limit: Option<u64>,
    /// Several, like "10-40,80-": lines, PDF pages or notebook cells.
    ranges: Option<String>,
    /// Last lines.
    tail: Option<u64>,
}

/// What was seen.
#[derive(Default)]
struct View {
    text: String,
    /// What the model should know beside it.
    notes: Vec<String>,
    /// A few words for the person.
    summary: String,
    /// The state of the file, if its text was shown.
    seen: Option<Seen>,
    /// The whole text, if it is short.
    whole: Option<String>,
    pictures: Vec<Picture>,
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

    /// What is there is only said after it was allowed.
    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("read", arguments)?;
        if is_url(&arguments.path) {
            return Err(Complaint(format!(
                "{} is no file. Use webfetch to read from the web.",
                arguments.path.trim()
            )));
        }
        let source = Source::find(&arguments.path, scene)?;
        let selection =
            Selection::new(arguments.offset, arguments.limit, arguments.ranges.as_deref(), arguments.tail)?;
        let title = format!("read {}{}", source.shown(), selection.title());
        let mut effects = Vec::new();
        let mut instructions = Vec::new();
        if let Source::Place(place) = &source {
            effects.push(Effect::Read { path: place.path.clone() });
            instructions = scene.instructions.pending(&place.path, scene);
            effects.extend(instructions.iter().map(|path| Effect::Read { path: path.clone() }));
        }
        let intent = Intent { effects, display: Display::titled(title) };
        Ok(Box::new(Reading { intent, source, selection, instructions }))
    }
}

fn is_url(path: &str) -> bool {
    let begin: String = path.trim_start().chars().take(8).collect::<String>().to_ascii_lowercase();
    begin.starts_with("http://") || begin.starts_with("https://")
}

struct Reading {
    intent: Intent,
    source: Source,
    selection: Selection,
    /// Files that are shown with it, unless another call was quicker.
    instructions: Vec<PathBuf>,
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
        let Reading { intent: Intent { display, .. }, source, selection, instructions } = *self;
        let path = match source.open(scene).await {
            Ok(path) => path,
            Err(message) => return Outcome::failed(display, message),
        };
        let stop = cancel.child_token();
        // A future that is dropped stops the thread too.
        let _stop_guard = stop.clone().drop_guard();
        let (inner_scene, inner_path, shown) = (scene.clone(), path.clone(), source.shown());
        let inner_stop = stop.clone();
        let viewed = tokio::task::spawn_blocking(move || {
            let view = view(&inner_path, &shown, &selection, &inner_scene, &inner_stop)?;
            let told = inner_scene.instructions.attach(&instructions, &inner_scene);
            Ok::<_, String>((view, told))
        });
        let (mut view, instructions) = tokio::select! {
            viewed = viewed => match viewed {
                _ if cancel.is_cancelled() => return Outcome::interrupted(display),
                Ok(Ok(viewed)) => viewed,
                Ok(Err(message)) => return Outcome::failed(display, message),
                Err(_) => return Outcome::failed(display, "It could not be read because of an internal error."),
            },
            () = tokio::time::sleep(PATIENCE) => {
                let message = "It was given up, because it took too long to read. Read a part of it, or use bash.";
                return Outcome::failed(display, message);
            }
            // Whatever the thread does ends soon, and nobody waits for it.
            () = cancel.cancelled() => return Outcome::interrupted(display),
        };
        if let Source::Place(place) = &source {
            if let Some(state) = remember(scene, &path, &place.shown, &mut view) {
                output.write(state.as_bytes());
            }
            view.notes.extend(place.departure(scene));
        }
        output.write(view.text.as_bytes());
        let notes = (!view.notes.is_empty()).then(|| format!("[{}]", view.notes.join("; ")));
        let trailer: Vec<String> = notes.into_iter().chain(instructions).collect();
        Outcome {
            status: CallStatus::Completed,
            display: display.with_summary(view.summary),
            trailer: (!trailer.is_empty()).then(|| trailer.join("\n")),
            pictures: view.pictures,
        }
    }
}

/// The one place where a file becomes one that was read. Returns the line that names its state, for a model
/// that edits by it.
fn remember(scene: &Scene, path: &Path, shown: &str, view: &mut View) -> Option<String> {
    scene.instructions.note(path);
    let seen = view.seen.take()?;
    let Some(whole) = view.whole.take() else {
        scene.files.remember(path, seen);
        return None;
    };
    scene.files.remember_text(path, seen, &whole);
    (scene.edit_form == EditForm::Hashline).then(|| format!("[{shown}#{}]\n", hashline::keep(scene, &whole)))
}

fn view(
    path: &Path,
    shown: &str,
    selection: &Selection,
    scene: &Scene,
    cancel: &CancellationToken,
) -> Result<View, String> {
    match files::open(path) {
        Ok((file, metadata)) => {
            file::view(file, &metadata, &file::Asked { path, shown, selection, scene, cancel })
        }
        Err(LoadError::Directory) => {
            directory::view(path, selection, scene, cancel).map_err(|error| refusal(shown, &error))
        }
        Err(LoadError::Missing)
            if scene.jail.is_some() && ["/tmp", "/var/tmp"].iter().any(|own| path.starts_with(own)) =>
        {
            // Where a command of this conversation may well have put it.
            Err(format!("{shown} does not exist. Commands have a /tmp of their own: look at it with bash."))
        }
        Err(LoadError::Missing) => Err(format!("{shown} does not exist.{}", near::hint(path, scene, cancel))),
        Err(LoadError::Special(kind)) => {
            Err(format!("{shown} is {kind}. Only files and directories can be read."))
        }
        Err(LoadError::TooLarge(_)) => Err(format!("{shown} is too large.")),
        Err(LoadError::Io(error)) => Err(refusal(shown, &error)),
    }
}
