//! Files by what they are: the types that ripgrep knows, by their names there
//! or by the end of a file's name.

use std::path::Path;

use ignore::types::{FileTypeDef, Types, TypesBuilder};

use crate::contract::Complaint;
use crate::near;

/// One type of file.
#[derive(Debug, Clone)]
pub(super) struct Kind(Types);

impl Kind {
    /// Finds what a model wrote: `rust`, `py`, or an extension that belongs to a type.
    pub(super) fn find(name: &str) -> Result<Self, Complaint> {
        let name = name.trim().trim_start_matches("*.").trim_start_matches('.').to_lowercase();
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let known = builder.definitions();
        if !known.iter().any(|kind| kind.name() == name) {
            let glob = format!("*.{name}");
            if !known.iter().any(|kind| kind.globs().contains(&glob)) || builder.add(&name, &glob).is_err() {
                return Err(unknown(&name, &known));
            }
        }
        match builder.select(&name).build() {
            Ok(types) => Ok(Self(types)),
            Err(_) => Err(unknown(&name, &known)),
        }
    }

    /// Whether a file is of this type.
    pub(super) fn fits(&self, path: &Path) -> bool {
        self.0.matched(path, false).is_whitelist()
    }
}

fn unknown(name: &str, known: &[FileTypeDef]) -> Complaint {
    let shown: String = name.chars().take(50).collect();
    let meant = match near::nearest(name, known.iter().map(FileTypeDef::name)).first() {
        Some(likeliest) => format!(" Did you mean {likeliest}?"),
        None => String::new(),
    };
    Complaint(format!("`type`: there is no type {shown:?}.{meant} Or use glob, like *.{shown}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_and_extensions() {
        for (name, path) in [
            ("rust", "src/lib.rs"),
            ("rs", "lib.rs"),
            (".tsx", "a/b.tsx"),
            ("py", "x.py"),
            ("Python", "x.pyi"),
        ] {
            assert!(Kind::find(name).unwrap().fits(Path::new(path)), "{name}");
        }
        assert!(!Kind::find("rust").unwrap().fits(Path::new("lib.py")));
        assert_eq!(
            Kind::find("haskel").unwrap_err().0,
            "`type`: there is no type \"haskel\". Did you mean haskell? Or use glob, like *.haskel."
        );
    }
}
