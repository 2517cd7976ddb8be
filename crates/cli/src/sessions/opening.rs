//! The session that a run begins with: a new one here, or an earlier one with
//! the settings of the place where it was.

use rein_protocol::{ModelRef, OpenSession};

use super::{by_name, last_of};
use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::wiring::Setup;

/// What is to be opened, and with which settings.
pub struct Opening {
    /// The settings of the session's workspace.
    pub setup: Setup,
    /// What the engine is asked for; the model is for the caller to choose.
    pub open: OpenSession,
    /// The model that an earlier session had.
    pub had: Option<ModelRef>,
}

/// Finds out what the arguments mean.
pub async fn opening(
    mut setup: Setup,
    run: &RunArguments,
    shared: &SharedArguments,
) -> Result<Opening, CommandError> {
    let mut open = OpenSession::default();
    let mut had = None;
    if run.continue_last || run.resume.is_some() {
        let archive = setup.archive().await?;
        let found = match &run.resume {
            Some(name) => by_name(&*archive, name).await?,
            None => last_of(&*archive, setup.directory()).await?,
        };
        // A session goes on where it was, with the settings of that place, unless told otherwise.
        if shared.cwd.is_none() && found.workspace != setup.directory() {
            setup = setup.moved_to(&found.workspace)?;
        }
        open.workspace = shared.cwd.is_some().then(|| setup.directory().to_owned());
        open.session = Some(found.id);
        had = found.model;
    } else {
        open.workspace = Some(setup.directory().to_owned());
    }
    // What flags and settings permit today holds, not what the session was once begun with.
    open.mode = Some(setup.settings().settings.mode);
    setup.print_warnings();
    Ok(Opening { setup, open, had })
}
