//! A text that goes to an editor of the person's choice and comes back.
//!
//! The text is in a file that only this user can read, and which is gone
//! afterwards. Which program it is, and starting it, is the host's.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::hands::Hands;

/// A text that is longer is not one that was written by hand.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The text as it is when the person leaves the editor, or why there is none.
pub(crate) async fn edit(hands: &dyn Hands, text: String) -> Result<String, String> {
    let file = blocking(move || create(&std::env::temp_dir(), &text)).await;
    let file = Temporary(file.map_err(|error| format!("a file to edit cannot be made: {error}"))?);
    hands.edit(&file.0).await?;
    let path = file.0.clone();
    let text = blocking(move || read(&path)).await;
    text.map_err(|error| format!("what was edited cannot be read: {error}; what was written before is kept"))
}

struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Whoever moved it away has it.
        let _ = fs::remove_file(&self.0);
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// A new file; its name ends so that editors know what it is.
fn create(directory: &Path, text: &str) -> io::Result<PathBuf> {
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let path = directory.join(format!("rein-{}-{moment}.md", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Mutex;

    struct Appends(Mutex<Option<PathBuf>>);

    #[async_trait]
    impl Hands for Appends {
        async fn edit(&self, file: &Path) -> Result<(), String> {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
            *self.0.lock().unwrap() = Some(file.to_owned());
            let text = fs::read_to_string(file).unwrap();
            // As editors do that write a new file and put it in the place of the old one.
            let next = file.with_extension("next");
            fs::write(&next, format!("{text} and more\n")).unwrap();
            fs::rename(next, file).unwrap();
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_text_comes_back_and_its_file_is_gone() {
        let host = Appends(Mutex::new(None));
        assert_eq!(edit(&host, "héllo".to_owned()).await, Ok("héllo and more\n".to_owned()));
        let path = host.0.lock().unwrap().clone().unwrap();
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn who_cannot_edit_says_so() {
        let refused = edit(&crate::hands::Nobody, "text".to_owned()).await;
        assert_eq!(refused, Err("no other editor can be started from here".to_owned()));
    }
}
