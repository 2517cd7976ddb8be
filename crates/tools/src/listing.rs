//! Paths as a model reads them: whole when they are few, by directory when they
//! are many, in the order in which they come.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::contract::{Output, Scene};
use crate::path::{printable, shown};

/// Paths up to which each is shown whole.
const FEW: usize = 20;

/// Writes files, one a line.
pub(crate) fn write(files: &[&Path], scene: &Scene, output: &mut dyn Output) {
    if files.len() <= FEW {
        for file in files {
            output.write(format!("{}\n", shown(file, &scene.workspace)).as_bytes());
        }
        return;
    }
    for (directory, names) in by_directory(files) {
        output.write(format!("{}/\n", shown(&directory, &scene.workspace)).as_bytes());
        for name in names {
            output.write(format!("  {name}\n").as_bytes());
        }
    }
}

/// The names in each directory; that of the first file first.
fn by_directory(files: &[&Path]) -> Vec<(PathBuf, Vec<String>)> {
    let mut groups: Vec<(PathBuf, Vec<String>)> = Vec::new();
    let mut places: HashMap<&Path, usize> = HashMap::new();
    for file in files {
        let directory = file.parent().unwrap_or(Path::new("/"));
        let name = file.file_name().map(|name| printable(&name.to_string_lossy())).unwrap_or_default();
        let place = *places.entry(directory).or_insert_with(|| {
            groups.push((directory.to_owned(), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, names)) = groups.get_mut(place) {
            names.push(name);
        }
    }
    groups
}
