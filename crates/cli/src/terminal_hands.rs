//! What the terminal face cannot do by itself: keep pictures, start the person's
//! editor.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rein_config::Environment;
use rein_protocol::{BlobId, Content};
use rein_sandbox::{Status, run_on_terminal};
use rein_store::Store;
use rein_tui::Hands;

use crate::wiring::pictures;

/// The program around the face.
pub struct TerminalHands {
    store: Store,
    editor: Option<OsString>,
    directory: PathBuf,
}

impl TerminalHands {
    /// With the editor that the environment names.
    pub fn new(store: Store, environment: &Environment, directory: &Path) -> Self {
        let editor = environment.get("VISUAL").or_else(|| environment.get("EDITOR"));
        Self { store, editor: editor.map(OsStr::to_owned), directory: directory.to_owned() }
    }
}

#[async_trait]
impl Hands for TerminalHands {
    async fn keep_picture(&self, file: &Path) -> Result<Content, String> {
        pictures::keep(&self.store, file).await.map_err(|error| error.sentence())
    }

    async fn picture(&self, blob: &BlobId) -> Option<Vec<u8>> {
        self.store.blob(blob).await.ok().flatten()
    }

    async fn edit(&self, file: &Path) -> Result<(), String> {
        let Some(editor) = self.editor.clone() else {
            return Err("no editor is named: set VISUAL or EDITOR, for example EDITOR=vim".to_owned());
        };
        let name = editor.to_string_lossy().into_owned();
        // The value may have arguments and quotes: the shell reads it, as for every other program.
        let mut script = editor.clone();
        script.push(" \"$@\"");
        let arguments = ["-c".into(), script, editor, file.as_os_str().to_owned()];
        let directory = self.directory.clone();
        let run = move || run_on_terminal(OsStr::new("/bin/sh"), &arguments, &directory);
        match tokio::task::spawn_blocking(run).await {
            Ok(Ok(Status::Code(0))) => Ok(()),
            Ok(Ok(Status::Code(code))) => {
                Err(format!("`{name}` ended with exit code {code}: what was written is as it was"))
            }
            Ok(Ok(Status::Signal(signal))) => {
                Err(format!("signal {signal} ended `{name}`: what was written is as it was"))
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
