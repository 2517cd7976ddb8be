//! `git`: the repository of the workspace, in few words.
//!
//! What looks runs nothing of the repository's (`neutral` says how), and its
//! intent is to read. What changes something is the command line that a person
//! would type, and its intent is to execute that line. Long tail, like rebase
//! or push, is left to `bash`.

mod ask;
mod change;
mod diff;
mod failure;
mod history;
mod neutral;
mod repository;
mod request;
mod status;

use std::ffi::OsString;

use async_trait::async_trait;
use rein_protocol::{Block, Display, Effect, Intent, ToolSpec};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::schema;
use ask::{Asker, Stop};
use repository::Repository;
use request::{Arguments, Change, Look, Named, Request};

/// Characters of a command in a title.
const TITLE_CHARS: usize = 120;

/// Looks at and changes the repository.
pub(crate) struct Git;

/// What the model is told.
#[derive(Debug)]
struct Told {
    text: String,
    /// Said after it, and never cut.
    notes: Vec<String>,
    /// A few words for a person.
    summary: String,
}

impl Told {
    /// One line, which is also what a person is told.
    fn short(text: &str) -> Self {
        Self { text: format!("{text}\n"), notes: Vec::new(), summary: text.to_owned() }
    }
}

#[async_trait]
impl Tool for Git {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "git".to_owned(),
            description: include_str!("git.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let request = Request::new(arguments::parse("git", arguments)?, scene)?;
        let repository = Repository::find(scene)?;
        let intent = match &request {
            Request::Look(look) => look_intent(look, &repository),
            Request::Change(change) => change_intent(change, &repository),
        };
        Ok(Box::new(Planned { intent, repository, request }))
    }
}

fn look_intent(look: &Look, repository: &Repository) -> Intent {
    let (title, named) = match look {
        Look::Status { paths } => ("git status", paths.as_slice()),
        Look::Diff { paths, .. } => ("git diff", paths.as_slice()),
        Look::Log { paths, .. } => ("git log", paths.as_slice()),
        Look::Show { paths, .. } => ("git show", paths.as_slice()),
        Look::ShowFile { .. } => ("git show", &[][..]),
        Look::Branches => ("git branch", &[][..]),
        Look::Worktrees => ("git worktree list", &[][..]),
    };
    let mut paths: Vec<_> = match look {
        Look::ShowFile { path, .. } => vec![repository.root.join(path)],
        _ if named.is_empty() => vec![repository.workspace.clone()],
        _ => named.iter().map(|named| named.leads_to.clone()).collect(),
    };
    paths.extend(repository.foreign_store().map(std::path::Path::to_owned));
    paths.dedup();
    let words: Vec<String> = match look {
        Look::ShowFile { rev, path } => {
            vec![format!("{}:{path}", rev.as_ref().map_or("", |rev| &rev.0))]
        }
        Look::Show { rev, .. } => vec![rev.0.clone()],
        _ => named.iter().map(|named| named.given.to_string_lossy().into_owned()).collect(),
    };
    let title = shortened(&std::iter::once(title.to_owned()).chain(words).collect::<Vec<_>>().join(" "));
    let effects = paths.into_iter().map(|path| Effect::Read { path }).collect();
    Intent { effects, display: Display::titled(title) }
}

fn change_intent(change: &Change, repository: &Repository) -> Intent {
    let command = change.line();
    let cwd = repository.workspace.clone();
    let remark = change.loss().map(|loss| format!(" ({loss})")).unwrap_or_default();
    let mut display = Display::titled(format!("{}{remark}", shortened(&command)))
        .with_block(Block::Command { command: command.clone(), cwd: cwd.display().to_string() });
    let loss = change.loss().map(|loss| format!("This {loss}. It cannot be undone."));
    let company = change.company().map(|company| format!("It {company}."));
    for text in [loss, company].into_iter().flatten() {
        display = display.with_block(Block::Text { text });
    }
    Intent { effects: vec![Effect::Execute { command, cwd, prelude: String::new() }], display }
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(TITLE_CHARS).collect();
    let more = if short.len() < text.len() { " …" } else { "" };
    format!("{short}{more}")
}

struct Planned {
    intent: Intent,
    repository: Repository,
    request: Request,
}

#[async_trait]
impl Plan for Planned {
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
        match carry_out(&self.request, &self.repository, scene, cancel).await {
            Ok(told) => {
                output.write(told.text.as_bytes());
                let trailer = (!told.notes.is_empty()).then(|| format!("[{}]", told.notes.join("; ")));
                Outcome::completed(display.with_summary(told.summary)).with_trailer(trailer)
            }
            Err(Stop::Interrupted) => Outcome::interrupted(display),
            Err(Stop::Failed(message)) => Outcome::failed(display, message),
        }
    }
}

async fn carry_out(
    request: &Request,
    repository: &Repository,
    scene: &Scene,
    cancel: &CancellationToken,
) -> Result<Told, Stop> {
    if cancel.is_cancelled() {
        return Err(Stop::Interrupted);
    }
    // The disk may have changed since the call was judged.
    if Repository::find(scene).as_ref() != Ok(repository) {
        return Err(Stop::Failed(
            "Nothing was done: the repository changed since the call was checked. Call again.".into(),
        ));
    }
    let asker = Asker::new(scene, repository, cancel).await?;
    match request {
        Request::Look(Look::Status { paths }) => status::status(&asker, paths).await,
        Request::Look(Look::Diff { between, paths }) => diff::diff(&asker, between, paths).await,
        Request::Look(Look::Log { revs, paths, limit }) => {
            history::log(&asker, revs.as_ref(), paths, *limit).await
        }
        Request::Look(Look::Show { rev, paths }) => history::show(&asker, rev, paths).await,
        Request::Look(Look::ShowFile { rev, path }) => history::show_file(&asker, rev.as_ref(), path).await,
        Request::Look(Look::Branches) => history::branches(&asker).await,
        Request::Look(Look::Worktrees) => history::worktrees(&asker).await,
        Request::Change(change) => change::perform(&asker, change).await,
    }
}

/// What a command that looks is limited to: what was named, or the workspace if the repository is larger.
fn pathspecs(repository: &Repository, paths: &[Named]) -> Vec<OsString> {
    match paths {
        [] if repository.is_larger_than_workspace() => words(&["."]),
        paths => paths.iter().map(|path| path.given.clone()).collect(),
    }
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}
