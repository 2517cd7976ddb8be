//! `apply_patch`: files changed by one patch, all or none.
//!
//! The format begins with `*** Begin Patch`; [`parse()`] reads it, [`apply`]
//! works it out on texts, and both are pure. All hunks are placed before
//! anything is written. A file need not have been read to be updated, because
//! its lines must be known for that; what replaces a whole file must.

mod error;
mod parse;
pub(crate) mod seek;
mod update;

use std::collections::BTreeMap;

pub use error::{Misfit, PatchError};
pub use parse::{End, Hunk, Row, Section, parse};

use crate::change::{self, Change, Part};
use crate::contract::{Complaint, Scene};
use crate::edit::{caution, omission, omission_refused};
use crate::path::Place;
use crate::text::{self, Encoding};

/// Applies a patch to files by their names, all of it or nothing.
///
/// # Errors
///
/// [`PatchError`] if any of it does not fit.
pub fn apply(files: &BTreeMap<String, String>, patch: &str) -> Result<BTreeMap<String, String>, PatchError> {
    let mut files = files.clone();
    for section in parse(patch)? {
        match section {
            Section::Add { path, lines } => {
                files.insert(path, content(&lines));
            }
            Section::Delete { path } => {
                files.remove(&path).ok_or(PatchError::Missing { path })?;
            }
            Section::Update { path, move_to, hunks } => {
                let before = files.remove(&path).ok_or_else(|| PatchError::Missing { path: path.clone() })?;
                let (mark, text) = match before.strip_prefix('\u{feff}') {
                    Some(text) => ("\u{feff}", text),
                    None => ("", before.as_str()),
                };
                let after = format!("{mark}{}", update::updated(&path, text, &hunks)?);
                files.insert(move_to.unwrap_or(path), after);
            }
        }
    }
    Ok(files)
}

/// The content of a new file.
fn content(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// Works out a patch on the files of a scene.
pub(crate) async fn planned(patch: &str, scene: &Scene) -> Result<Change, Complaint> {
    let sections = parse(patch).map_err(|error| refused(&error))?;
    let mut desk = Desk { scene, files: Vec::new(), told: Vec::new(), notes: Vec::new() };
    for section in sections {
        match section {
            Section::Add { path, lines } => desk.add(&path, &lines).await?,
            Section::Delete { path } => desk.delete(&path).await?,
            Section::Update { path, move_to, hunks } => {
                desk.update(&path, move_to.as_deref(), &hunks).await?
            }
        }
    }
    Ok(desk.change())
}

fn refused(error: &PatchError) -> Complaint {
    Complaint(format!("Nothing was changed. {error}"))
}

/// Files as they will be.
struct Desk<'a> {
    scene: &'a Scene,
    files: Vec<File>,
    told: Vec<String>,
    notes: Vec<String>,
}

struct File {
    place: Place,
    before: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    mode_of: Option<std::path::PathBuf>,
}

impl Desk<'_> {
    /// The file of a name, as it is so far.
    async fn file(&mut self, path: &str) -> Result<usize, Complaint> {
        let place = Place::find(path, self.scene)?;
        if let Some(index) = self.files.iter().position(|file| file.place.path == place.path) {
            return Ok(index);
        }
        let loaded = change::before(&place).await?;
        if let Some(loaded) = &loaded
            && let Some(difference) = change::what_changed(&place, loaded, self.scene)
        {
            self.notes.push(format!("Note: {} had changed since it was read:\n{difference}", place.shown));
        }
        let before = loaded.map(|loaded| loaded.bytes);
        self.files.push(File { place, now: before.clone(), before, mode_of: None });
        Ok(self.files.len() - 1)
    }

    /// Puts a whole content where a file may be that nobody looked at.
    async fn put(&mut self, path: &str, bytes: Vec<u8>) -> Result<usize, Complaint> {
        let index = self.file(path).await?;
        let scene = self.scene;
        let Some(file) = self.files.get_mut(index) else { return Err(internal()) };
        let is_untouched = file.now == file.before;
        if is_untouched && file.now.as_ref().is_some_and(|now| !now.is_empty()) {
            let loaded = change::before(&file.place).await?;
            if let Some(loaded) = loaded {
                change::must_be_known_as(&file.place, &loaded, scene)?;
            }
        }
        file.now = Some(bytes);
        Ok(index)
    }

    async fn add(&mut self, path: &str, lines: &[String]) -> Result<(), Complaint> {
        let content = content(lines);
        if let Some((line, words)) = omission::added("", &content) {
            return Err(Complaint(format!("Nothing was changed. {path}: {}", omission_refused(line, words))));
        }
        let index = self.put(path, content.into_bytes()).await?;
        self.tell(index, "A");
        Ok(())
    }

    async fn delete(&mut self, path: &str) -> Result<(), Complaint> {
        let index = self.file(path).await?;
        match self.files.get_mut(index) {
            Some(file) if file.now.is_some() => file.now = None,
            _ => return Err(self.missing(index)),
        }
        self.tell(index, "D");
        Ok(())
    }

    async fn update(&mut self, path: &str, move_to: Option<&str>, hunks: &[Hunk]) -> Result<(), Complaint> {
        let index = self.file(path).await?;
        let Some((shown, Some(now))) =
            self.files.get(index).map(|file| (file.place.shown.clone(), &file.now))
        else {
            return Err(self.missing(index));
        };
        let Some((before, encoding)) = text::decode(now) else {
            return Err(Complaint(format!(
                "Nothing was changed. {shown} is not UTF-8 text. Convert it first, for example with iconv, or use a program with bash."
            )));
        };
        let after = update::updated(&shown, &before, hunks).map_err(|error| refused(&error))?;
        if after == before && move_to.is_none() {
            return Err(refused(&PatchError::Unchanged { path: shown }));
        }
        self.look_at(&shown, &before, hunks)?;
        let bytes = encoded(&shown, &after, encoding)?;
        match move_to {
            Some(target) => self.move_to(index, target, bytes).await,
            None => {
                if let Some(file) = self.files.get_mut(index) {
                    file.now = Some(bytes);
                }
                self.tell(index, "M");
                Ok(())
            }
        }
    }

    async fn move_to(&mut self, source: usize, target: &str, bytes: Vec<u8>) -> Result<(), Complaint> {
        let index = self.file(target).await?;
        if index == source {
            if let Some(file) = self.files.get_mut(index) {
                file.now = Some(bytes);
            }
            self.tell(index, "M");
            return Ok(());
        }
        self.put(target, bytes).await?;
        let from = self.files.get_mut(source).map(|file| {
            file.now = None;
            file.place.clone()
        });
        if let (Some(from), Some(file)) = (from, self.files.get_mut(index)) {
            self.told.push(format!("R {} -> {}", from.shown, file.place.shown));
            file.mode_of = Some(from.path);
        }
        Ok(())
    }

    /// Refuses what stands for something else, and notes what programs write.
    fn look_at(&mut self, shown: &str, before: &str, hunks: &[Hunk]) -> Result<(), Complaint> {
        for hunk in hunks {
            let new: Vec<&str> = hunk
                .rows
                .iter()
                .filter_map(|row| match row {
                    Row::Comes(line) => Some(line.as_str()),
                    Row::Stays(_) | Row::Goes(_) => None,
                })
                .collect();
            if let Some((line, words)) = omission::added(before, &new.join("\n")) {
                return Err(Complaint(format!(
                    "Nothing was changed. {shown}: {}",
                    omission_refused(line, words)
                )));
            }
        }
        self.notes.extend(caution::of(shown, before));
        Ok(())
    }

    fn missing(&self, index: usize) -> Complaint {
        let Some(file) = self.files.get(index) else { return internal() };
        let hint = change::hint_at_names(&file.place, self.scene);
        Complaint(format!("Nothing was changed. {} does not exist.{hint}", file.place.shown))
    }

    fn tell(&mut self, index: usize, letter: &str) {
        if let Some(file) = self.files.get(index) {
            self.told.push(format!("{letter} {}", file.place.shown));
        }
    }

    fn change(self) -> Change {
        let parts = self
            .files
            .into_iter()
            .filter(|file| file.now != file.before)
            .map(|file| Part {
                place: file.place,
                before: file.before,
                after: file.now,
                mode_of: file.mode_of,
                snapshot: None,
            })
            .collect();
        let told = [vec![format!("Applied:\n{}", self.told.join("\n"))], self.notes].concat();
        Change::several("patch", parts, told.join("\n"))
    }
}

fn encoded(shown: &str, after: &str, encoding: Encoding) -> Result<Vec<u8>, Complaint> {
    change::written(after, encoding).ok_or_else(|| {
        Complaint(format!(
            "Nothing was changed. The new text of {shown} has characters that its encoding does not have."
        ))
    })
}

fn internal() -> Complaint {
    Complaint("The patch could not be worked out because of an internal error.".to_owned())
}
