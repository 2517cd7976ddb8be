//! What is in a file, by what it is.
//!
//! Readers of formats are fed whatever lies around, so each has limits of size
//! and time, and one that panics is a failed call and no more.

use std::fs::{File, Metadata};
use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::kind::{self, Kind};
use super::range::{self, Selection};
use super::{View, archive, database, notebook, pdf, plain, refusal};
use crate::contract::{ImageSupport, Scene};
use crate::picture::{self, Format};

/// Bytes by which a file is judged.
const SAMPLE: u64 = 8 * 1024;

/// What is asked for, and by whom.
pub(super) struct Asked<'a> {
    pub(super) path: &'a Path,
    /// Its name for the model.
    pub(super) shown: &'a str,
    pub(super) selection: &'a Selection,
    pub(super) scene: &'a Scene,
    pub(super) cancel: &'a CancellationToken,
}

/// Shows a file.
pub(super) fn view(mut file: File, metadata: &Metadata, asked: &Asked<'_>) -> Result<View, String> {
    let Asked { shown, selection, cancel, .. } = *asked;
    let mut sample = Vec::new();
    let sampled = file.by_ref().take(SAMPLE).read_to_end(&mut sample).and_then(|_| file.rewind());
    sampled.map_err(|error| refusal(shown, &error))?;
    let bytes = metadata.len();
    match kind::of(&sample) {
        Kind::Text if is_notebook(asked) => {
            match guarded(asked, "a notebook", || notebook::view(&mut file, bytes, asked)) {
                Ok(view) => Ok(view),
                // Whatever it is called, it is text.
                Err(_) => {
                    file.rewind().map_err(|error| refusal(shown, &error))?;
                    plain::view(file, metadata, &sample, shown, selection, cancel)
                }
            }
        }
        Kind::Text => plain::view(file, metadata, &sample, shown, selection, cancel),
        Kind::Picture(format) => guarded(asked, "an image", || view_picture(file, bytes, format, asked)),
        Kind::Pdf => guarded(asked, "a PDF document", || pdf::view(file, bytes, asked)),
        Kind::Zip => guarded(asked, "a ZIP archive", || archive::view_zip(file, bytes, asked)),
        Kind::Tar => guarded(asked, "a tar archive", || archive::view_tar(file, asked)),
        Kind::Gzip => guarded(asked, "gzip data", || archive::view_gzip(file, bytes, asked)),
        Kind::Database => guarded(asked, "an SQLite database", || database::view(&sample, bytes, asked)),
        Kind::Binary(what) => Err(format!(
            "{shown} is {what} of {bytes} bytes, not text. Use a program with bash to look into it."
        )),
    }
}

/// Unless its lines are asked for.
fn is_notebook(asked: &Asked<'_>) -> bool {
    let by_name = asked.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("ipynb"));
    by_name && asked.selection.asked != range::Asked::Offset && asked.selection.tail.is_none()
}

/// Runs a reader that may panic.
fn guarded(
    asked: &Asked<'_>,
    what: &str,
    read: impl FnOnce() -> Result<View, String>,
) -> Result<View, String> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(format!(
            "{} begins like {what} but cannot be understood. Use a program with bash to look into it.",
            asked.shown
        ))
    })
}

fn view_picture(file: File, bytes: u64, format: Format, asked: &Asked<'_>) -> Result<View, String> {
    let (shown, name) = (asked.shown, format.name());
    if asked.scene.images == ImageSupport::Refused {
        return Err(format!(
            "{shown} is a {name} image of {bytes} bytes, and this model cannot look at images. \
             Tell the user to choose one that can, or use a program with bash."
        ));
    }
    let limits = picture::Limits::default();
    let mut content = Vec::new();
    let most = limits.input_bytes as u64 + 1;
    file.take(most).read_to_end(&mut content).map_err(|error| refusal(shown, &error))?;
    let picture = picture::prepare(content, limits)
        .map_err(|error| format!("{shown} cannot be shown as an image: {error}."))?;
    let smaller = match picture.bytes.len() as u64 == bytes {
        true => String::new(),
        false => format!(", shown as {} of {} bytes", picture.media_type, picture.bytes.len()),
    };
    Ok(View {
        notes: vec![format!("{name} image of {bytes} bytes{smaller}")],
        summary: format!("{name} image"),
        pictures: vec![picture],
        ..View::default()
    })
}
