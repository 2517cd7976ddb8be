//! The helper on its own: for tests, and for programs that use this crate and are not rein.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Started by hand it has nothing to do.
    rein_sandbox::helper::main().unwrap_or(ExitCode::from(2))
}
