//! The binary that is measured: the one named, or the release build, which is
//! brought up to date first, so that no figure belongs to older code.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BenchError;

const BUILD: [&str; 4] = ["build", "--release", "-p", "rein"];

/// Its path, absolute. Builds it unless one is named.
pub fn find(named: Option<&Path>) -> Result<PathBuf, BenchError> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => {
            build()?;
            release_binary()?
        }
    };
    path.canonicalize().map_err(|_| BenchError::NoBinary { path })
}

fn build() -> Result<(), BenchError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    let status = command.args(BUILD).current_dir(env!("CARGO_MANIFEST_DIR")).status();
    let status = status.map_err(BenchError::io("run", Path::new(&cargo)))?;
    if status.success() {
        return Ok(());
    }
    Err(BenchError::Build { command: format!("cargo {}", BUILD.join(" ")), status })
}

/// `target/release/rein`, also for a bench that is a debug build.
fn release_binary() -> Result<PathBuf, BenchError> {
    let own = std::env::current_exe().map_err(BenchError::io("find", "this program"))?;
    let target = own.ancestors().nth(2).unwrap_or(Path::new("."));
    Ok(target.join("release").join("rein"))
}
