//! What outlives the process: the draft of a directory, and what was sent.
//!
//! Files in one directory that rein gives. Losing them loses nothing else, so
//! whatever cannot be read or written is as if it were not there.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::editor::{Draft, History};

/// How much of what was sent is remembered.
const HISTORY_BYTES: u64 = 256 * 1024;
/// A file larger than this is cut to the above.
const HISTORY_LIMIT: u64 = 1024 * 1024;
/// A longer message is not worth recalling.
const LONGEST: usize = 64 * 1024;
/// A longer draft, with all that was pasted into it, is not worth keeping.
const LONGEST_DRAFT: usize = 16 * 1024 * 1024;

/// Where drafts and history are.
#[derive(Debug, Clone)]
pub struct Keep {
    history: Option<PathBuf>,
    draft: Option<PathBuf>,
}

impl Keep {
    /// In a directory, for those who work in a workspace; nowhere without one.
    #[must_use]
    pub fn new(directory: Option<&Path>, workspace: &Path) -> Self {
        let mut hasher = DefaultHasher::new();
        workspace.hash(&mut hasher);
        let name = format!("draft-{:016x}", hasher.finish());
        Self {
            history: directory.map(|directory| directory.join("history")),
            draft: directory.map(|directory| directory.join(name)),
        }
    }

    /// What was sent, and the draft.
    #[must_use]
    pub fn load(&self) -> (History, Draft) {
        let history = self.history.as_deref().and_then(|path| read_history(path).ok());
        let draft = self.draft.as_deref().and_then(|path| fs::read_to_string(path).ok());
        let draft = draft.and_then(|text| serde_json::from_str(&text).ok());
        (history.unwrap_or_default(), draft.unwrap_or_default())
    }

    /// Keeps a draft; an empty one is none.
    pub fn save_draft(&self, draft: &Draft) -> io::Result<()> {
        let Some(path) = &self.draft else { return Ok(()) };
        if draft.is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let text = serde_json::to_string(draft)?;
        if text.len() > LONGEST_DRAFT {
            return Ok(());
        }
        // Of two processes the last one wins, whole.
        let next = path.with_extension(format!("{}", std::process::id()));
        create(&next, OpenOptions::new().truncate(true))?.write_all(text.as_bytes())?;
        fs::rename(&next, path)
    }

    /// Keeps something that was sent.
    pub fn remember(&self, text: &str) -> io::Result<()> {
        let Some(path) = &self.history else { return Ok(()) };
        if text.len() > LONGEST {
            return Ok(());
        }
        let line = History::encode(text) + "\n";
        // One write, so that two processes do not mix their lines.
        create(path, OpenOptions::new().append(true))?.write_all(line.as_bytes())
    }
}

fn create(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    options.write(true).create(true).mode(0o600).open(path)
}

fn read_history(path: &Path) -> io::Result<History> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let skipped = size.saturating_sub(HISTORY_BYTES);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(HISTORY_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line may be a part of one.
    let whole = if skipped > 0 { text.split_once('\n').map_or("", |(_, rest)| rest) } else { &text };
    if size > HISTORY_LIMIT {
        let next = path.with_extension(format!("{}", std::process::id()));
        create(&next, OpenOptions::new().truncate(true))?.write_all(whole.as_bytes())?;
        fs::rename(&next, path)?;
    }
    Ok(History::load(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Editor;

    fn draft(text: &str) -> Draft {
        let mut editor = Editor::new();
        editor.set_text(text);
        editor.draft()
    }

    #[test]
    fn drafts_and_history_come_back() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("deep/tui");
        let keep = Keep::new(Some(&directory), Path::new("/w"));
        assert_eq!(keep.load(), (History::default(), Draft::default()));
        keep.remember("one\ntwo").unwrap();
        keep.remember("three").unwrap();
        keep.save_draft(&draft("half a sent")).unwrap();
        let other = Keep::new(Some(&directory), Path::new("/other"));
        let (history, kept) = keep.load();
        assert_eq!(
            (history.entries(), kept),
            (&["one\ntwo".into(), "three".into()][..], draft("half a sent"))
        );
        assert_eq!(other.load().1, Draft::default());
        keep.save_draft(&draft("")).unwrap();
        keep.save_draft(&draft("")).unwrap();
        assert_eq!(keep.load().1, Draft::default());
    }

    #[test]
    fn a_draft_keeps_its_images_and_megabytes_that_were_pasted() {
        let home = tempfile::tempdir().unwrap();
        let keep = Keep::new(Some(home.path()), Path::new("/w"));
        let mut editor = Editor::new().with_image_probe(Box::new(|_| Some("png".to_owned())));
        editor.paste("/tmp/shot.png");
        let text = "a line of a log\n".repeat(330_000);
        editor.paste(&text);
        keep.save_draft(&editor.draft()).unwrap();
        let mut restored = Editor::new();
        restored.restore(keep.load().1);
        assert_eq!(restored.shown(), "[image 1 png] [pasted 330 000 lines]");
        assert_eq!(restored.attachments(), editor.attachments());
        assert_eq!(restored.text().len(), "[image 1 png] ".len() + text.len());
    }

    #[test]
    fn a_huge_history_is_cut_to_its_end() {
        let home = tempfile::tempdir().unwrap();
        let keep = Keep::new(Some(home.path()), Path::new("/w"));
        let path = home.path().join("history");
        let lines: String = (0..60_000).map(|number| format!("message number {number}\n")).collect();
        fs::write(&path, lines).unwrap();
        let (history, _) = keep.load();
        assert_eq!(history.entries().last().map(String::as_str), Some("message number 59999"));
        assert!(history.entries().len() > 5_000 && history.entries().len() < 60_000);
        assert!(fs::metadata(&path).unwrap().len() <= HISTORY_BYTES);
    }

    #[test]
    fn without_a_directory_nothing_is_kept() {
        let keep = Keep::new(None, Path::new("/w"));
        keep.remember("x").unwrap();
        keep.save_draft(&draft("x")).unwrap();
        assert_eq!(keep.load(), (History::default(), Draft::default()));
    }
}
