//! A leading `cd X &&`: the directory that a command line names first.
//!
//! It is taken off only where nothing changes by it: the directory is there, is
//! written plainly, and is no link, and nothing of the line runs beside it.

use std::path::{Component, Path, PathBuf};

/// The directory and the rest of the line.
pub(super) fn directory<'a>(command: &'a str, start: &Path) -> Option<(PathBuf, &'a str)> {
    let rest = command.trim_start().strip_prefix("cd")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']);
    let (word, rest) = plain_word(rest)?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix("&&")?.trim_start();
    if rest.is_empty() || runs_beside(rest) {
        return None;
    }
    let directory = normal(&start.join(word));
    // A link, `..` over one, or something that is not there: the shell knows best.
    let is_plain = directory.is_dir() && directory.canonicalize().is_ok_and(|real| real == directory);
    is_plain.then_some((directory, rest))
}

/// A word without expansions, quoted as a whole or not at all.
fn plain_word(text: &str) -> Option<(&str, &str)> {
    let special = |character: char| "$`\"'\\*?[]{}()<>|&;~#!".contains(character);
    for quote in ['\'', '"'] {
        if let Some(inside) = text.strip_prefix(quote) {
            let (word, rest) = inside.split_once(quote)?;
            let is_plain = !word.is_empty() && !word.contains(['$', '`', '\\', '\n', '!']);
            let ends = rest.starts_with([' ', '\t', '&']);
            return (is_plain && ends && !word.starts_with('-')).then_some((word, rest));
        }
    }
    let end = text.find([' ', '\t', '\n', '&'])?;
    let (word, rest) = text.split_at(end);
    (!word.is_empty() && !word.contains(special) && !word.starts_with('-')).then_some((word, rest))
}

/// Whether a line could put its first part into the background: then the directory is that part's only.
fn runs_beside(rest: &str) -> bool {
    let without = rest.replace("&&", "").replace(">&", "").replace("<&", "").replace("&>", "");
    without.contains('&')
}

/// Without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_plain_is_taken_off() {
        let directory_guard = tempfile::tempdir().unwrap();
        let start = directory_guard.path().canonicalize().unwrap();
        std::fs::create_dir_all(start.join("a b")).unwrap();
        std::fs::create_dir_all(start.join("sub/deep")).unwrap();
        std::os::unix::fs::symlink("sub", start.join("link")).unwrap();
        let taken = |command: &str| {
            directory(command, &start).map(|(directory, rest)| {
                (directory.strip_prefix(&start).unwrap().display().to_string(), rest.to_owned())
            })
        };
        let some = |directory: &str, rest: &str| Some((directory.to_owned(), rest.to_owned()));
        assert_eq!(taken("cd sub && make"), some("sub", "make"));
        assert_eq!(
            taken("  cd  ./sub/../sub/deep&&make test || true"),
            some("sub/deep", "make test || true")
        );
        assert_eq!(taken("cd 'a b' && ls; pwd"), some("a b", "ls; pwd"));
        assert_eq!(taken("cd \"a b\" && make 2>&1"), some("a b", "make 2>&1"));
        assert_eq!(taken(&format!("cd {} && ls", start.join("sub").display())), some("sub", "ls"));
        for command in [
            "cd missing && ls",
            "cd link && pwd",
            "cd $X && ls",
            "cd ~ && ls",
            "cd - && ls",
            "cd && ls",
            "cd sub; ls",
            "cd sub",
            "cd sub &&",
            "cd sub || ls",
            "cd sub && sleep 9 &",
            "cdx sub && ls",
            "cd sub deep && ls",
            "cd 'su'b && ls",
        ] {
            assert_eq!(taken(command), None, "{command}");
        }
    }
}
