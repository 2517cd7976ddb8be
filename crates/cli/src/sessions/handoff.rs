//! `rein sessions handoff`: a new session that begins with a summary of another.

use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::stdout;
use crate::wiring::{self, Setup};

/// Makes the new session and says which it is.
pub fn handoff(shared: &SharedArguments, id: &str, focus: &[String]) -> Result<(), CommandError> {
    let mut setup = Setup::load(shared, &RunArguments::default())?;
    setup.print_warnings();
    let runtime = wiring::runtime()?;
    let made = runtime.block_on(async {
        let archive = setup.archive().await?;
        let found = super::by_name(&*archive, id).await?;
        let (service, _) = setup.engine(None, found.model.as_ref()).await?;
        let focus = Some(focus.join(" ")).filter(|focus| !focus.trim().is_empty());
        Ok::<_, CommandError>(service.handoff(&found.id, focus).await?)
    });
    runtime.shutdown_background();
    let made = made?;
    stdout::print(|out| writeln!(out, "{}\ngo on with: rein --resume {}", made.id, made.id))
}
