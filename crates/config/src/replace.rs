//! Files that are replaced as a whole, and the lock under which that is done.
//!
//! A reader sees the old content or the new one, never half of one, also if the
//! process is killed. A symbolic link stays one: what it leads to is replaced.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::document::LIMIT;
use crate::error::ConfigError;

/// Who may read what rein writes here.
const PRIVATE: u32 = 0o600;

/// Held while files are read to be replaced. The system gives it back when the process ends, however that ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock of a directory, which is made if there is none.
    pub fn take(directory: &Path) -> Result<Self, ConfigError> {
        let file = directory.join("grants.lock");
        let failed = |cause| ConfigError::Write { file: file.clone(), cause };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(PRIVATE)
            .open(&file)
            .map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Self { _file: lock })
    }
}

/// Gives a file other content. One that is new can be read by its owner only.
pub(crate) fn replace(file: &Path, text: &str) -> Result<(), ConfigError> {
    if text.len() as u64 > LIMIT {
        return Err(ConfigError::TooLarge { file: file.to_owned(), limit: LIMIT });
    }
    written(file, text).map_err(|cause| ConfigError::Write { file: file.to_owned(), cause })
}

/// A copy of a file beside it, under a name that nothing has yet; none if there is no file.
pub(crate) fn back_up(file: &Path) -> Result<Option<PathBuf>, ConfigError> {
    for number in 0_u32.. {
        let mut name = file.as_os_str().to_owned();
        name.push(if number == 0 { ".bak".to_owned() } else { format!(".bak{number}") });
        let copy = PathBuf::from(name);
        let failed = |cause| ConfigError::Write { file: copy.clone(), cause };
        let mut opened = match OpenOptions::new().create_new(true).write(true).mode(PRIVATE).open(&copy) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(failed(error)),
        };
        let copied = File::open(file).and_then(|mut original| io::copy(&mut original, &mut opened));
        return match copied {
            Ok(_) => opened.sync_all().map(|()| Some(copy.clone())).map_err(failed),
            Err(error) => {
                // Nothing of use is in it.
                let _ = fs::remove_file(&copy);
                if error.kind() == ErrorKind::NotFound { Ok(None) } else { Err(failed(error)) }
            }
        };
    }
    Ok(None)
}

fn written(file: &Path, text: &str) -> io::Result<()> {
    let target = match file.canonicalize() {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound && file.symlink_metadata().is_err() => {
            file.to_owned()
        }
        Err(error) => return Err(error),
    };
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Made with a private mode, and beside the target, so that it can be renamed.
    let mut temporary = tempfile::Builder::new().prefix(".rein-").tempfile_in(directory)?;
    if let Ok(metadata) = fs::metadata(&target) {
        temporary.as_file().set_permissions(metadata.permissions())?;
    }
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}
