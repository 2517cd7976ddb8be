//! `list`: a directory as a tree that is never long.

mod tree;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rein_protocol::{Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::deadline::{self, Ended};
use crate::files::refusal;
use crate::path::Place;
use crate::schema;
use crate::walk;
use tree::{Order, Tree};

/// How deep a tree is if nobody says.
const USUAL_DEPTH: usize = 2;

/// Lists directories.
pub(crate) struct List;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    path: Option<String>,
    /// 2 by default.
    #[schemars(range(min = 1, max = 8))]
    depth: Option<usize>,
    /// Newest first, with ages.
    newest: Option<bool>,
}

#[async_trait]
impl Tool for List {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list".to_owned(),
            description: include_str!("list.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("list", arguments)?;
        let place = Place::find(arguments.path.as_deref().unwrap_or("."), scene)?;
        let intent = Intent {
            effects: vec![Effect::Read { path: place.path.clone() }],
            display: Display::titled(format!("list {}", place.shown)),
        };
        let order = if arguments.newest == Some(true) { Order::Newest } else { Order::Name };
        Ok(Box::new(Listing { intent, place, depth: arguments.depth.unwrap_or(USUAL_DEPTH), order }))
    }
}

struct Listing {
    intent: Intent,
    place: Place,
    depth: usize,
    order: Order,
}

#[async_trait]
impl Plan for Listing {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        let Self { intent, place, depth, order } = *self;
        let display = intent.display;
        let ready = place
            .still_leads_here(scene)
            .and_then(|()| walk::must_be_directory(&place, "Use read to see what is in it.", scene));
        if let Err(message) = ready {
            return Outcome::failed(display, message);
        }
        let made: Arc<Mutex<Tree>> = Arc::default();
        let (inner, inner_scene, root) = (Arc::clone(&made), scene.clone(), place.path.clone());
        let ended = deadline::run(deadline::SEARCH, cancel, move |stop| {
            let tree = Tree::of(&root, depth, order, &inner_scene, stop)?;
            *inner.lock().unwrap_or_else(PoisonError::into_inner) = tree;
            Ok(())
        })
        .await;
        let tree = std::mem::take(&mut *made.lock().unwrap_or_else(PoisonError::into_inner));
        match ended {
            Ended::Failed(error) => Outcome::failed(display, refusal(&place.shown, &error)),
            Ended::Broken => Outcome::failed(display, "The listing failed because of an internal error."),
            Ended::Interrupted => Outcome::interrupted(display),
            Ended::Whole | Ended::Late(_) => {
                output.write(tree.text().as_bytes());
                let notes: Vec<String> = ended.note().into_iter().chain(tree.notes()).collect();
                let trailer = (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")));
                let summary = format!("{} entries", tree.shown());
                Outcome::completed(display.with_summary(summary)).with_trailer(trailer)
            }
        }
    }
}
