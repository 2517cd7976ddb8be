//! `grep`: lines by their content, grouped by file.

mod search;
mod window;

use std::path::Path;

use async_trait::async_trait;
use rein_protocol::{Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::bound::OUTPUT_BYTES;
use crate::change::near_files;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::files::{self, LoadError, refusal};
use crate::path::{Source, shown};
use crate::schema;
use crate::walk::Filter;
use search::{Binary, Case, Found, Query, Syntax};

/// Lines around a match that can be asked for.
const MOST_CONTEXT: usize = 20;

/// Searches contents.
pub(crate) struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    pattern: String,
    /// The workspace by default.
    path: Option<String>,
    /// Only files like *.rs.
    glob: Option<String>,
    case_insensitive: Option<bool>,
    /// Lines to show around each match.
    context: Option<usize>,
    /// Take pattern as plain text.
    literal: Option<bool>,
}

#[async_trait]
impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep".to_owned(),
            description: include_str!("grep.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("grep", arguments)?;
        let source = Source::find(arguments.path.as_deref().unwrap_or("."), scene)?;
        let syntax = if arguments.literal == Some(true) { Syntax::Literal } else { Syntax::Regex };
        let case = if arguments.case_insensitive == Some(true) { Case::Insensitive } else { Case::Sensitive };
        let (matcher, weight) = search::matcher(&arguments.pattern, syntax, case)?;
        let filter = arguments.glob.as_deref().map(|glob| Filter::new("glob", glob)).transpose()?;
        let context = arguments.context.unwrap_or(0).min(MOST_CONTEXT);
        let title = match source.shown().as_str() {
            "." => format!("grep {}", arguments.pattern),
            place => format!("grep {} in {place}", arguments.pattern),
        };
        let (effects, binary) = match &source {
            Source::Place(place) => (vec![Effect::Read { path: place.path.clone() }], Binary::Skipped),
            // What a program printed is searched whatever it is.
            Source::Artifact(_) => (Vec::new(), Binary::Searched),
        };
        let query = Query { matcher, weight, filter, context, binary };
        Ok(Box::new(Searching { intent: Intent { effects, display: Display::titled(title) }, source, query }))
    }
}

struct Searching {
    intent: Intent,
    source: Source,
    query: Query,
}

#[async_trait]
impl Plan for Searching {
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
        let root = match self.source.open(scene).await {
            Ok(root) => root,
            Err(message) => return Outcome::failed(display, message),
        };
        if let Err(message) = must_be_searchable(&root, &self.source.shown(), scene) {
            return Outcome::failed(display, message);
        }
        let stop = cancel.child_token();
        let _stop_guard = stop.clone().drop_guard();
        let (query, inner_scene) = (self.query, scene.clone());
        let searching =
            tokio::task::spawn_blocking(move || search::search(&root, &query, &inner_scene, &stop));
        // Nothing stops a matcher within a line; then the thread ends after it.
        let found = tokio::select! {
            biased;
            () = cancel.cancelled() => return Outcome::interrupted(display),
            found = searching => found,
        };
        let found = match found {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return Outcome::failed(display, refusal(&self.source.shown(), &error)),
            Err(_) => return Outcome::failed(display, "The search failed because of an internal error."),
        };
        let name = |path: &Path| match &self.source {
            Source::Artifact(_) => self.source.shown(),
            Source::Place(_) => shown(path, &scene.workspace),
        };
        let written = write(&found, name, output);
        let summary = format!("{} matches in {} files", found.matches, found.files);
        Outcome::completed(display.with_summary(summary)).with_trailer(trailer(&found, written))
    }
}

fn must_be_searchable(root: &Path, shown: &str, scene: &Scene) -> Result<(), String> {
    match files::open(root) {
        Ok(_) | Err(LoadError::Directory | LoadError::TooLarge(_)) => Ok(()),
        Err(LoadError::Missing) => Err(format!("{shown} does not exist.{}", near_files(root, scene))),
        Err(LoadError::Special(kind)) => {
            Err(format!("{shown} is {kind}. Only files and directories can be searched."))
        }
        Err(LoadError::Io(error)) => Err(refusal(shown, &error)),
    }
}

/// Writes what was found as far as it fits; returns how many matches that were.
fn write(found: &Found, name: impl Fn(&Path) -> String, output: &mut dyn Output) -> usize {
    let mut room = OUTPUT_BYTES;
    let mut matches = 0;
    for (index, (path, hits)) in found.kept.iter().enumerate() {
        let separator = if index == 0 { "" } else { "\n" };
        let mut text = format!("{separator}{}\n", name(path));
        let mut shown = 0;
        for line in &hits.lines {
            // A rough bound is good enough to decide what not to show any more.
            if matches + shown >= search::SHOWN_MATCHES || text.len() + line.text.len() > room {
                break;
            }
            text.push_str(&line.text);
            text.push('\n');
            shown += usize::from(line.is_match);
        }
        if shown == 0 {
            break;
        }
        matches += shown;
        room = room.saturating_sub(text.len());
        output.write(text.as_bytes());
    }
    matches
}

fn trailer(found: &Found, written: usize) -> Option<String> {
    let mut notes = Vec::new();
    if found.matches == 0 {
        notes.push("no matches; files that git ignores and binary files are not searched".to_owned());
    } else if written < found.matches {
        notes.push(format!(
            "{written} of {} matches in {} files; narrow pattern, path or glob to see the others",
            found.matches, found.files
        ));
    }
    if found.unsearched > 0 {
        notes.push(format!("{} files could not be searched", found.unsearched));
    }
    notes.extend(found.walked.notes(found.left_out));
    (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
}
