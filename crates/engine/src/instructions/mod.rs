//! Instruction files: those of the user, and those of the project from the
//! root of its repository down to the workspace.
//!
//! Those below the workspace are shown by the tools, when something there is
//! first read. A file is read only if rules let models read it, and a link or an
//! import never leads out of the directory that the file belongs to.

mod imports;

use std::path::{Path, PathBuf};

use imports::Importer;

/// Of the files in one directory the first of these counts.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
/// Bytes that all files together may have.
pub(crate) const MOST_BYTES: usize = 32 * 1024;
/// Bytes of a file that are read at all.
pub(crate) const MOST_LOADED: u64 = 1024 * 1024;
/// Directories above the workspace that are looked at.
const MOST_DIRECTORIES: usize = 64;

/// An instruction file as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstructionFile {
    pub(crate) path: PathBuf,
    pub(crate) origin: Origin,
    /// Its text, with what it imports.
    pub(crate) text: String,
    /// What it imported.
    pub(crate) imports: Vec<PathBuf>,
}

/// Whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    User,
    Project,
}

/// Whether models may read a file.
pub(crate) type MayRead<'a> = &'a dyn Fn(&Path) -> bool;

/// The files that hold in a workspace, the most general first, with at most so many bytes in all.
pub(crate) fn load(user: Option<&Path>, workspace: &Path, may_read: MayRead<'_>) -> Vec<InstructionFile> {
    let mut found: Vec<(PathBuf, PathBuf, Origin)> = Vec::new();
    if let Some(user) = user.and_then(|user| user.canonicalize().ok()) {
        found.extend(file_in(&user, &user).map(|file| (file, user, Origin::User)));
    }
    let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let root = root_of(&workspace);
    let mut directories: Vec<&Path> = workspace
        .ancestors()
        .take_while(|directory| directory.starts_with(&root))
        .take(MOST_DIRECTORIES)
        .collect();
    directories.reverse();
    for directory in directories {
        let file = file_in(directory, &root).filter(|file| may_read(file));
        found.extend(file.map(|file| (file, root.clone(), Origin::Project)));
    }
    let mut room = MOST_BYTES;
    let mut files: Vec<InstructionFile> = Vec::new();
    for (path, within, origin) in found {
        if files.iter().any(|known| known.path == path) {
            continue;
        }
        let mut importer = Importer::new(&within, may_read);
        let Some(text) = importer.expanded(&path) else { continue };
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let text = capped(text, &path, &mut room);
        files.push(InstructionFile { path, origin, text, imports: importer.imported() });
    }
    files
}

/// What is said before them.
pub(crate) const LEAD: &str = "Instructions of the user and of the project. Where they contradict each other, the later \
     ones hold; what the user says in the conversation holds before all of them.\n\n";

/// A file with its fence, which its text cannot end.
pub(crate) fn fenced(file: &InstructionFile) -> String {
    let text = file.text.replace("</instructions", "<\\/instructions");
    format!("<instructions from=\"{}\">\n{text}\n</instructions>", file.path.display())
}

/// The directory of the repository that a workspace is in, or the workspace itself.
pub(crate) fn root_of(workspace: &Path) -> PathBuf {
    let repository =
        workspace.ancestors().find(|directory| directory.join(".git").symlink_metadata().is_ok());
    repository.unwrap_or(workspace).to_owned()
}

/// The file of a directory that counts, with links followed, if it is inside of another.
pub(crate) fn file_in(directory: &Path, within: &Path) -> Option<PathBuf> {
    NAMES.iter().find_map(|name| regular_file(&directory.join(name), within))
}

/// The file at a path with links followed, if it is one and inside of a directory.
fn regular_file(path: &Path, within: &Path) -> Option<PathBuf> {
    let resolved = path.canonicalize().ok()?;
    // Only what is a file is opened: others could block.
    let is_file = resolved.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    (is_file && resolved.starts_with(within)).then_some(resolved)
}

fn read(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MOST_LOADED).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_start_matches('\u{feff}').replace("\r\n", "\n"))
}

fn capped(text: &str, path: &Path, room: &mut usize) -> String {
    let cut = text.floor_char_boundary(text.len().min(*room));
    let (kept, rest) = text.split_at(cut);
    *room -= kept.len();
    match rest.len() {
        0 => kept.to_owned(),
        bytes => {
            let limit = MOST_BYTES / 1024;
            format!(
                "{kept}\n[{bytes} bytes of {} left out: instructions have at most {limit} KB in all; read it if they may matter]",
                path.display()
            )
        }
    }
}

#[cfg(test)]
mod tests;
