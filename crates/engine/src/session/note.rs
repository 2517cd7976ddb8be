//! A line that is added to the instructions which later sessions read. Blocks.
//!
//! The file is that which is read: the nearest one from the workspace up to the
//! root of its repository, or a new `AGENTS.md` at that root. It is replaced as a
//! whole, under a lock on its directory, and keeps its line ends and whether its
//! last line ends. A link that leads out of the project is not followed.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rein_config::Directories;
use rein_protocol::{MemoryPlace, ServiceError};

use crate::instructions::{self, MOST_LOADED};

const NEW: &str = "AGENTS.md";

/// Adds a note and returns the file that has it.
pub(crate) fn remember(
    note: &str,
    place: MemoryPlace,
    workspace: &Path,
    directories: Option<&Directories>,
) -> Result<PathBuf, ServiceError> {
    let note = item(note)?;
    let file = match place {
        MemoryPlace::Project => project_file(workspace)?,
        MemoryPlace::User => user_file(directories)?,
    };
    add(&file, &note).map_err(|error| invalid(format!("{} was not changed: {error}", file.display())))?;
    Ok(file)
}

fn invalid(message: String) -> ServiceError {
    ServiceError::Invalid { message }
}

/// The note as an item of a list: further lines belong to it.
fn item(note: &str) -> Result<String, ServiceError> {
    let note = note.trim();
    let note = note.strip_prefix("- ").unwrap_or(note).trim();
    if matches!(note, "" | "-") {
        return Err(invalid("there is nothing to remember: say what".to_owned()));
    }
    let lines = note.lines().map(str::trim_end).filter(|line| !line.is_empty());
    Ok(format!("- {}", lines.collect::<Vec<_>>().join("\n  ")))
}

fn project_file(workspace: &Path) -> Result<PathBuf, ServiceError> {
    let workspace = workspace
        .canonicalize()
        .map_err(|error| invalid(format!("{} cannot be used: {error}", workspace.display())))?;
    let root = instructions::root_of(&workspace);
    let directories = workspace.ancestors().take_while(|directory| directory.starts_with(&root));
    for directory in directories {
        if let Some(file) = instructions::file_in(directory, &root) {
            return Ok(file);
        }
    }
    free(root.join(NEW), "the project")
}

fn user_file(directories: Option<&Directories>) -> Result<PathBuf, ServiceError> {
    let Some(directories) = directories else {
        return Err(invalid("there is no configuration directory to remember something in".to_owned()));
    };
    let config = &directories.config;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(config)
        .map_err(|error| invalid(format!("{} cannot be made: {error}", config.display())))?;
    let config = config.canonicalize().unwrap_or_else(|_| config.clone());
    match instructions::file_in(&config, &config) {
        Some(file) => Ok(file),
        None => free(config.join(NEW), "the configuration directory"),
    }
}

/// A path with nothing there. What is there is no file that may be read as instructions.
fn free(file: PathBuf, place: &str) -> Result<PathBuf, ServiceError> {
    match file.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(file),
        Err(error) => Err(invalid(format!("{} cannot be looked at: {error}", file.display()))),
        Ok(_) => Err(invalid(format!(
            "{} is no file of {place}: a link out of it, or no file at all; put a file there",
            file.display()
        ))),
    }
}

fn add(file: &Path, item: &str) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    let lock = File::open(directory)?;
    // Where there are no locks, two at once are the user's business.
    let _ = lock.lock();
    let (before, mode) = match fs::metadata(file) {
        Ok(metadata) if metadata.len() > MOST_LOADED => {
            return Err(io::Error::other("it is too large to be read as instructions"));
        }
        Ok(metadata) => (fs::read(file)?, Some(metadata.permissions())),
        Err(error) if error.kind() == ErrorKind::NotFound => (Vec::new(), None),
        Err(error) => return Err(error),
    };
    let mut temporary = tempfile::Builder::new().prefix(".rein-").tempfile_in(directory)?;
    temporary.as_file().set_permissions(mode.unwrap_or_else(|| fs::Permissions::from_mode(0o644)))?;
    temporary.write_all(&with_item(before, item))?;
    temporary.as_file().sync_all()?;
    temporary.persist(file).map_err(|error| error.error)?;
    lock.sync_all()
}

fn with_item(mut text: Vec<u8>, item: &str) -> Vec<u8> {
    let end = if text.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    let ended = text.is_empty() || text.ends_with(b"\n");
    if !ended {
        text.extend_from_slice(end.as_bytes());
    }
    text.extend_from_slice(item.replace('\n', end).as_bytes());
    if ended {
        text.extend_from_slice(end.as_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(root: &Path, note: &str) -> Result<PathBuf, String> {
        remember(note, MemoryPlace::Project, root, None).map_err(|error| error.to_string())
    }

    #[test]
    fn a_note_is_the_last_item_and_the_rest_stays_byte_for_byte() {
        let table: [(&[u8], &str, &[u8]); 7] = [
            (b"", "use tabs", b"- use tabs\n"),
            (b"# A\n", "- use tabs ", b"# A\n- use tabs\n"),
            (b"# A", "x", b"# A\n- x"),
            (b"# A\r\nb\r\n", "x\ny", b"# A\r\nb\r\n- x\r\n  y\r\n"),
            (b"a\r\nb", "x", b"a\r\nb\r\n- x"),
            (b"\xff\xfe\n", "x", b"\xff\xfe\n- x\n"),
            (b"\xef\xbb\xbfa\n", "x", b"\xef\xbb\xbfa\n- x\n"),
        ];
        for (before, note, after) in table {
            assert_eq!(with_item(before.to_vec(), &item(note).unwrap()), after, "{note:?}");
        }
        assert!(item(" \n").is_err() && item("- ").is_err());
    }

    #[test]
    fn the_file_that_is_read_is_the_one_that_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let inner = root.join("inner");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(remembered(&inner, "one"), Ok(root.join("AGENTS.md")));
        fs::rename(root.join("AGENTS.md"), root.join("CLAUDE.md")).unwrap();
        fs::set_permissions(root.join("CLAUDE.md"), fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(remembered(&inner, "two"), Ok(root.join("CLAUDE.md")));
        assert_eq!(fs::read_to_string(root.join("CLAUDE.md")).unwrap(), "- one\n- two\n");
        let mode = fs::metadata(root.join("CLAUDE.md")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        fs::write(inner.join("AGENTS.md"), "").unwrap();
        assert_eq!(remembered(&inner, "three"), Ok(inner.join("AGENTS.md")));
        let left: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "nothing is left behind: {left:?}");
    }

    #[test]
    fn a_link_out_of_the_project_is_refused_and_one_within_it_followed() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir_all(project.join("docs")).unwrap();
        fs::write(root.join("outside.md"), "theirs\n").unwrap();
        std::os::unix::fs::symlink("../outside.md", project.join("AGENTS.md")).unwrap();
        assert!(remembered(&project, "x").unwrap_err().contains("out of it"));
        assert_eq!(fs::read_to_string(root.join("outside.md")).unwrap(), "theirs\n");
        fs::remove_file(project.join("AGENTS.md")).unwrap();
        fs::write(project.join("docs/rules.md"), "ours\n").unwrap();
        std::os::unix::fs::symlink("docs/rules.md", project.join("AGENTS.md")).unwrap();
        assert_eq!(remembered(&project, "x"), Ok(project.join("docs/rules.md")));
        assert!(project.join("AGENTS.md").is_symlink());
        assert_eq!(fs::read_to_string(project.join("AGENTS.md")).unwrap(), "ours\n- x\n");
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let root = &root;
                scope.spawn(move || remembered(root, &format!("note {number}")).unwrap());
            }
        });
        let text = fs::read_to_string(root.join("AGENTS.md")).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 16, "{text}");
    }
}
