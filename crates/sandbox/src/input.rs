//! What a child reads on its standard input: a file without a name, which
//! unlike a pipe needs nobody who feeds it and cannot block.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use crate::spawn::Spawn;

/// What a process reads: its terminal, what it is given, or nothing.
pub(crate) fn of(spawn: &Spawn, output: &OwnedFd) -> io::Result<Stdio> {
    match (&spawn.input, spawn.terminal) {
        (_, Some(_)) => Ok(output.try_clone()?.into()),
        (Some(bytes), None) => Ok(holding(bytes)?.into()),
        (None, None) => Ok(Stdio::null()),
    }
}

/// A file that holds these bytes and is read from its beginning.
fn holding(bytes: &[u8]) -> io::Result<File> {
    let mut file = nameless()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(File::from(memfd_create("rein-input", MemfdFlags::CLOEXEC)?))
}

/// Made for this user alone, and removed before anything is in it.
#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rein-input-{}-{count}", std::process::id()));
        match File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => {
                let file = opened?;
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
        }
    }
}
