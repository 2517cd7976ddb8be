//! A table of paths that matter, made quick to ask: nearly every word of a
//! command line is compared with it.

use crate::glob;
use crate::map::Map;
use crate::paths::comparable;
use crate::tables::PathRow;

/// Where homes are, besides the one that is known.
const HOMES: [&str; 8] =
    ["/home/*", "/users/*", "/root", "*:/users/*", "/c/users/*", "~", "$home", "/mnt/c/users/*"];

/// Rows of a table of paths.
#[derive(Debug, Default)]
pub struct Precious {
    rows: Vec<PathRow>,
    /// Names without a pattern, for files of that name anywhere.
    names: Map<String, usize>,
    /// Patterns for the last part of a path.
    endings: Vec<(Ending, usize)>,
    /// Patterns for whole paths.
    wholes: Vec<(Whole, usize)>,
}

#[derive(Debug)]
enum Whole {
    /// Under a home directory.
    Home(String),
    /// In any directory.
    Anywhere(String),
    Absolute(String),
}

impl Precious {
    pub fn new(rows: Vec<PathRow>) -> Self {
        let mut table = Self::default();
        for (index, row) in rows.iter().enumerate() {
            for pattern in &row.patterns {
                let pattern = pattern.to_lowercase();
                if let Some(rest) = pattern.strip_prefix("~/") {
                    table.wholes.push((Whole::Home(rest.to_owned()), index));
                } else if let Some(rest) = pattern.strip_prefix("**/") {
                    table.wholes.push((Whole::Anywhere(rest.to_owned()), index));
                } else if pattern.contains('/') {
                    table.wholes.push((Whole::Absolute(pattern), index));
                } else if pattern.contains('*') {
                    table.endings.push((Ending::new(&pattern), index));
                } else {
                    table.names.insert(pattern, index);
                }
            }
        }
        table.rows = rows;
        table
    }

    /// The rows, for the tests of the table.
    #[cfg(test)]
    pub fn rows(&self) -> &[PathRow] {
        &self.rows
    }

    /// Why a path matters, if it does.
    pub fn find(&self, path: &str, home: Option<&str>) -> Option<&str> {
        let path = comparable(path);
        let row = self.row(&path, home)?;
        let excepted = row.except.iter().any(|pattern| {
            let pattern = pattern.to_lowercase();
            let name = path.rsplit('/').next().unwrap_or(&path);
            if pattern.contains('/') {
                glob::matches(pattern.trim_start_matches("**/"), &path)
                    || glob::matches(&format!("*/{}", pattern.trim_start_matches("**/")), &path)
            } else {
                glob::matches(&pattern, name)
            }
        });
        (!excepted).then_some(row.reason.as_str())
    }

    fn row(&self, path: &str, home: Option<&str>) -> Option<&PathRow> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let pattern = path.contains(['*', '?', '[']);
        if let Some(index) = self.names.get(name) {
            return self.rows.get(*index);
        }
        if pattern {
            for (known, index) in &self.names {
                if may_be(known, name) {
                    return self.rows.get(*index);
                }
            }
        }
        for (known, index) in &self.endings {
            if known.quick(name) || pattern && may_be(&known.whole, name) {
                return self.rows.get(*index);
            }
        }
        if !path.contains('/') {
            return None;
        }
        let home = home.map(comparable);
        self.wholes
            .iter()
            .find(|(whole, _)| whole.covers(path, pattern, home.as_deref()))
            .and_then(|(_, index)| self.rows.get(*index))
    }
}

/// A pattern for a name. Nearly all have one star, and then two comparisons tell.
#[derive(Debug)]
struct Ending {
    whole: String,
    sides: Option<(String, String)>,
}

impl Ending {
    fn new(pattern: &str) -> Self {
        let sides = pattern.split_once('*').filter(|(_, after)| !after.contains('*'));
        let sides = sides.map(|(before, after)| (before.to_owned(), after.to_owned()));
        Self { whole: pattern.to_owned(), sides }
    }

    fn quick(&self, name: &str) -> bool {
        match &self.sides {
            Some((before, after)) => {
                name.len() >= before.len() + after.len()
                    && name.starts_with(before.as_str())
                    && name.ends_with(after.as_str())
            }
            None => glob::matches(&self.whole, name),
        }
    }
}

impl Whole {
    fn covers(&self, path: &str, pattern: bool, home: Option<&str>) -> bool {
        match self {
            Self::Absolute(known) => may_be(known, path),
            Self::Anywhere(rest) => {
                possible(rest, path, pattern) && (may_be(rest, path) || may_be(&format!("*/{rest}"), path))
            }
            Self::Home(rest) => {
                possible(rest, path, pattern)
                    && home.into_iter().chain(HOMES).any(|home| may_be(&format!("{home}/{rest}"), path))
            }
        }
    }
}

/// A quick no: the part of a known path before any pattern must stand in the path.
fn possible(known: &str, path: &str, pattern: bool) -> bool {
    pattern || path.contains(known.split('*').next().unwrap_or_default().trim_end_matches('/'))
}

/// Whether a path, which may itself be a pattern, can be one that the known pattern covers.
fn may_be(known: &str, path: &str) -> bool {
    if glob::matches(known, path) {
        return true;
    }
    if !path.contains(['*', '?', '[']) || path.len() > 512 {
        return false;
    }
    // A pattern counts if it says something about the name that it stands for: `.e*` does, `*` does not.
    let name = path.rsplit('/').next().unwrap_or(path);
    let last = known.rsplit('/').next().unwrap_or(known);
    let says = !name.starts_with(['*', '?']) || last.starts_with('*') && name.len() > 1;
    says && glob::overlap(known, path)
}
