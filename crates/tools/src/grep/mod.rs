//! `grep`: lines by their content, grouped by file.

mod collect;
mod kinds;
mod pattern;
mod report;
mod search;
mod window;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::change::near_files;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::deadline::{self, Ended};
use crate::files::{self, LoadError, refusal};
use crate::path::{Source, shown};
use crate::schema;
use crate::walk::{Filter, Hidden, Manner, Met};
use collect::Show;
use kinds::Kind;
use pattern::{Case, Reach, Syntax};
use search::{Binary, Found, Order, Query};

/// Lines around a match that can be asked for.
const MOST_CONTEXT: usize = 20;

/// Searches contents.
pub(crate) struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    /// Only files like *.rs, !*.md.
    glob: Option<String>,
    /// Only files of a type: rust, py, js …
    #[serde(rename = "type")]
    kind: Option<String>,
    mode: Option<Mode>,
    /// Lines around each match.
    context: Option<usize>,
    case_insensitive: Option<bool>,
    /// Pattern is plain text.
    literal: Option<bool>,
    /// `.` matches line ends.
    multiline: Option<bool>,
    hidden: Option<bool>,
    /// Newest files first.
    newest: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Lines,
    Files,
    Counts,
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
        let title = match source.shown().as_str() {
            "." => format!("grep {}", arguments.pattern),
            place => format!("grep {} in {place}", arguments.pattern),
        };
        let (effects, binary) = match &source {
            Source::Place(place) => (vec![Effect::Read { path: place.path.clone() }], Binary::Skipped),
            // What a program printed is searched whatever it is.
            Source::Artifact(_) => (Vec::new(), Binary::Searched),
        };
        let query = query(&arguments, binary)?;
        let intent = Intent { effects, display: Display::titled(title) };
        Ok(Box::new(Searching { intent, source, query, limit: deadline::SEARCH }))
    }
}

fn query(arguments: &Arguments, binary: Binary) -> Result<Query, Complaint> {
    let syntax = if arguments.literal == Some(true) { Syntax::Literal } else { Syntax::Regex };
    let case = if arguments.case_insensitive == Some(true) { Case::Insensitive } else { Case::Sensitive };
    let reach = if arguments.multiline == Some(true) { Reach::File } else { Reach::Line };
    let (matcher, weight) = pattern::matcher(&arguments.pattern, syntax, case, reach)?;
    let filter = arguments.glob.as_deref().map(|glob| Filter::new("glob", glob)).transpose()?;
    let kind = arguments.kind.as_deref().map(Kind::find).transpose()?;
    let show = match arguments.mode {
        None | Some(Mode::Lines) => Show::Lines,
        Some(Mode::Files) => Show::Files,
        Some(Mode::Counts) => Show::Counts,
    };
    let order = match (arguments.newest, show) {
        (Some(true), _) => Order::Newest,
        (_, Show::Counts) => Order::Most,
        (_, Show::Lines | Show::Files) => Order::Path,
    };
    let context = if show == Show::Lines { arguments.context.unwrap_or(0).min(MOST_CONTEXT) } else { 0 };
    let manner = Manner { hidden: Hidden::asked(arguments.hidden, filter.as_ref()), threads: 0 };
    Ok(Query { matcher, weight, filter, kind, context, binary, show, order, manner })
}

struct Searching {
    intent: Intent,
    source: Source,
    query: Query,
    limit: Duration,
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
        let Self { intent, source, query, limit } = *self;
        let display = intent.display;
        let root = match source.open(scene).await {
            Ok(root) => root,
            Err(message) => return Outcome::failed(display, message),
        };
        if let Err(message) = must_be_searchable(&root, &source.shown(), scene) {
            return Outcome::failed(display, message);
        }
        let show = query.show;
        let found: Arc<Mutex<Found>> = Arc::default();
        let met: Arc<Met> = Arc::default();
        let (inner_scene, inner_found, inner_met) = (scene.clone(), Arc::clone(&found), Arc::clone(&met));
        let ended = deadline::run(limit, cancel, move |stop| {
            search::search(&root, &query, &inner_scene, &inner_found, &inner_met, stop)
        })
        .await;
        let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
        let name = |path: &Path| match &source {
            Source::Artifact(_) => source.shown(),
            Source::Place(_) => shown(path, &scene.workspace),
        };
        match ended {
            Ended::Failed(error) => Outcome::failed(display, refusal(&source.shown(), &error)),
            Ended::Broken => Outcome::failed(display, "The search failed because of an internal error."),
            Ended::Interrupted => {
                report::write(&found, show, name, scene, output);
                Outcome::interrupted(display)
            }
            Ended::Whole | Ended::Late(_) => {
                let written = report::write(&found, show, name, scene, output);
                let trailer = report::trailer((&found, show, written), &met, &source.shown(), &ended, scene);
                Outcome::completed(display.with_summary(report::summary(&found, show))).with_trailer(trailer)
            }
        }
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
