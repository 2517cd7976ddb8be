//! Paths: where a word leads, and whether that is precious.
//!
//! Nothing here looks at a disk. A path is made absolute and compared as text;
//! links are for those who have the disk to follow them.

use crate::state::State;
use crate::tables::tables;
use crate::walk::is_harmless_device;
use crate::word::{Piece, Why, Word};
use std::borrow::Cow;

/// The absolute paths that a word may stand for, and whether each is a pattern. A path that is not known is none;
/// a word that is no path at all gives nothing.
pub(crate) fn resolve(word: &Word, state: &State) -> Vec<(Option<String>, bool)> {
    let mut text = String::new();
    let mut pattern = false;
    for piece in word.pieces() {
        match piece {
            Piece::Text(known) => text.push_str(known),
            Piece::Glob(known) => {
                pattern = true;
                text.push_str(known);
            }
            Piece::Hole(hole) => match hole.why {
                Why::Number | Why::Background | Why::Found => {
                    pattern = true;
                    text.push('*');
                }
                Why::Pipe | Why::FetchedPipe => return Vec::new(),
                _ => return vec![(None, false)],
            },
        }
    }
    if text == "-" || text.is_empty() || is_harmless_device(&text) {
        return Vec::new();
    }
    if is_absolute(&text) {
        return vec![(Some(text), pattern)];
    }
    match &state.directories {
        None => vec![(None, pattern)],
        Some(directories) => directories
            .iter()
            .map(|directory| {
                let directory = directory.strip_suffix('/').unwrap_or(directory);
                (Some(format!("{directory}/{text}")), pattern)
            })
            .collect(),
    }
}

/// A slash, a drive, or a share.
fn is_absolute(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), None | Some(b'/' | b'\\'));
    text.starts_with('/') || text.starts_with("\\\\") || drive
}

/// `//host/share` and `\\\\host\\share`.
pub(crate) fn is_share(text: &str) -> bool {
    let rest = text.strip_prefix("//").or_else(|| text.strip_prefix("\\\\"));
    let named = |part: &str| part.starts_with(|first: char| first.is_ascii_alphanumeric());
    let mut parts = rest.unwrap_or_default().split(['/', '\\']);
    parts.next().is_some_and(|host| named(host) && host.len() > 1) && parts.next().is_some_and(named)
}

/// The place of a `\\\\host\\share` in a command line. Bash takes one of its backslashes away before any program sees
/// it, so it is looked for in the text.
pub(crate) fn share_in(text: &str) -> Option<usize> {
    text.match_indices("\\\\").map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| before.is_whitespace() || "'\"=(".contains(before))
            && is_share(text.get(*at..).unwrap_or_default())
    })
}

/// The part of a word that looks like a path, for programs whose words are not known.
pub(crate) fn suspected(word: &Word) -> Option<Word> {
    let start = word.start();
    let word = match start.split_once('=') {
        Some((name, _)) if start.starts_with('-') || crate::syntax::cursor::is_name(name) => {
            word.strip_start(&format!("{name}="))?
        }
        _ if start.starts_with('-') => return None,
        _ => word.clone(),
    };
    let shown = word.shown();
    let text = shown.as_ref();
    if text.contains("://") || text.chars().any(char::is_whitespace) || text.len() > 4096 {
        return None;
    }
    let like =
        text.starts_with(['/', '~', '.']) || text.contains('/') || is_absolute(text) || text.contains("..");
    let precious = || secret(text, None).is_some() || persistence(text, None).is_some();
    (like || precious()).then(|| word.clone())
}

/// Why a path may hold secrets. `home` is the user's home directory, if there is one.
#[must_use]
pub fn secret(path: &str, home: Option<&str>) -> Option<&'static str> {
    tables()?.secrets.find(path, home)
}

/// Why a change to a path makes something run later, or changes what an agent may do.
#[must_use]
pub fn persistence(path: &str, home: Option<&str>) -> Option<&'static str> {
    tables()?.persistence.find(path, home)
}

/// Why a path is part of the system, if it is.
#[must_use]
pub fn system(path: &str, home: Option<&str>) -> Option<&'static str> {
    tables()?.system.find(path, home)
}

/// A path with everything taken off that lets one file have many names: case, `.` and `..`, doubled slashes,
/// backslashes, trailing dots and blanks, streams, and the root that a process sees.
#[must_use]
pub fn comparable(path: &str) -> Cow<'_, str> {
    if is_comparable(path) {
        return Cow::Borrowed(path);
    }
    let lower = path.replace('\\', "/").to_lowercase();
    let mut parts: Vec<&str> = Vec::new();
    for part in lower.split('/') {
        let part = part.split("::$").next().unwrap_or(part);
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => {
                let trimmed = other.trim_end_matches(['.', ' ']);
                parts.push(if trimmed.is_empty() { other } else { trimmed });
            }
        }
    }
    let mut rest = parts.as_slice();
    while let ["proc", _, "root", more @ ..] = rest {
        rest = more;
    }
    let mut comparable = String::new();
    if lower.starts_with('/') {
        comparable.push('/');
    }
    comparable.push_str(&rest.join("/"));
    Cow::Owned(comparable)
}

/// Whether nothing need be taken off: no big letter, no part that begins or ends oddly.
fn is_comparable(path: &str) -> bool {
    let mut before = b'x';
    for byte in path.bytes() {
        let odd = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'?' | b'+' | b'@' | b'=' | b',' => false,
            b'.' => before == b'.',
            b'/' => matches!(before, b'/' | b'.' | b' '),
            _ => true,
        };
        if odd {
            return false;
        }
        before = byte;
    }
    !matches!(before, b'/' | b'.') && !path.starts_with("/proc/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_comparable_name() {
        for (path, expected) in [
            ("/a/./b/../c", "/a/c"),
            ("/A//B/.ENV", "/a/b/.env"),
            ("C:\\x\\.env. ", "c:/x/.env"),
            ("x/settings.json::$DATA", "x/settings.json"),
            ("/proc/self/root/etc/shadow", "/etc/shadow"),
            ("/proc/self/root/proc/1/root/etc", "/etc"),
            ("..", ""),
            ("/..", "/"),
        ] {
            assert_eq!(comparable(path), expected, "{path}");
        }
    }

    #[test]
    fn secrets_are_found_under_any_spelling() {
        let home = Some("/home/u");
        for path in [
            "/home/u/.ssh/id_rsa",
            "/home/u/.ssh/../.ssh/id_rsa",
            "/proc/self/root/home/u/.ssh/id_rsa",
            "/work/.env",
            "/work/.ENV",
            "/work/.env.local",
            "/work/.e*",
            "/home/u/.ssh/*",
            "/proc/self/environ",
            "/home/u/.netrc",
            "/etc/shadow",
            "C:\\Users\\u\\.aws\\credentials",
        ] {
            assert!(secret(path, home).is_some(), "{path}");
        }
        for path in
            ["/work/src/main.rs", "/work/.env.example", "/home/u/.ssh/id_rsa.pub", "/work/*", "/work/*.json"]
        {
            assert_eq!(secret(path, home), None, "{path}");
        }
    }

    #[test]
    fn what_makes_something_run_later_is_found() {
        let home = Some("/home/u");
        for path in [
            "/home/u/.bashrc",
            "/home/u/.zshrc",
            "/work/.git/hooks/pre-commit",
            "/work/vendor/sub/.git/hooks/pre-commit",
            "/work/.git/config",
            "/work/.vscode/tasks.json",
            "/work/.rein/settings.json",
            "/work/.claude/settings.json",
            "/etc/cron.d/x",
            "/home/u/.config/systemd/user/x.service",
            "/home/u/.ssh/authorized_keys",
        ] {
            assert!(persistence(path, home).is_some(), "{path}");
        }
        for path in ["/work/src/bashrc.rs", "/work/hooks/pre-commit.md", "/work/.gitignore"] {
            assert_eq!(persistence(path, home), None, "{path}");
        }
    }
}
