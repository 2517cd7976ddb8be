//! `rein permission`: what may run here and why, and how that is changed.
//!
//! Nothing here decides: rules are read by `rein-config`, understood and judged
//! by `rein-permission`. `subject` is what is judged; `explain`, `list`,
//! `revoke`, `cases` (for `test`) and `import` are the commands.

mod cases;
mod explain;
mod import;
mod list;
mod revoke;
mod subject;

use crate::args::{PermissionCommand, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::sessions::Form;

/// Does what was asked.
pub fn execute(shared: &SharedArguments, command: PermissionCommand) -> Result<Exit, CommandError> {
    match command {
        PermissionCommand::Explain(arguments) => explain::execute(shared, &arguments).map(|()| Exit::Success),
        PermissionCommand::List { all, json } => {
            let grants = if all { list::Elsewhere::Shown } else { list::Elsewhere::LeftOut };
            list::execute(shared, grants, form(json)).map(|()| Exit::Success)
        }
        PermissionCommand::Revoke { grant, all } => {
            let extent = if all { revoke::Extent::All } else { revoke::Extent::One };
            revoke::execute(shared, grant.as_deref(), extent).map(|()| Exit::Success)
        }
        PermissionCommand::Test { file, json } => cases::execute(shared, &file, form(json)),
        PermissionCommand::Import { from, write, json } => {
            let files = if write { import::Files::Written } else { import::Files::LeftAlone };
            import::execute(shared, from, files, form(json)).map(|()| Exit::Success)
        }
    }
}

fn form(json: bool) -> Form {
    if json { Form::Json } else { Form::Text }
}
