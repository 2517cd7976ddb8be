//! From what a call would do to the permissions it needs and the texts that
//! rule patterns are matched against.
//!
//! Paths are taken as resolved by the tool; what is still `..` or relative in
//! them is resolved by text, so that no spelling of an outside path looks like
//! one inside.

use std::path::{Component, Path, PathBuf};

use rein_protocol::{Effect, Tier};

use crate::rule::{BASH, EDIT, EXTERNAL_DIRECTORY, READ, WEBFETCH};
use crate::wildcard;

/// The directories that give a path its meaning.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// Where the session works.
    pub workspace: &'a Path,
    /// What `~` stands for.
    pub home: Option<&'a Path>,
}

/// One permission that an effect needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Need {
    /// Which permission.
    pub permission: String,
    /// The tier of the effect that needs it.
    pub tier: Tier,
    /// The resource in the form in which a person sees it and a rule names it.
    pub resource: String,
    /// What kind of thing the resource is.
    pub target: Target,
}

/// What a permission is needed for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file or directory below the workspace.
    Inside {
        /// Absolute, without `..`.
        path: PathBuf,
    },
    /// A file or directory elsewhere.
    Outside {
        /// Absolute, without `..`.
        path: PathBuf,
    },
    /// Something that is not a path: a command, a URL, a tool's name.
    Text,
}

impl Need {
    /// What an effect needs.
    #[must_use]
    pub fn of(effect: &Effect, places: Places<'_>) -> Vec<Self> {
        match effect {
            Effect::Read { path } => Self::of_path(READ, Tier::Read, path, places),
            Effect::Write { path } => Self::of_path(EDIT, Tier::Write, path, places),
            Effect::Execute { command, cwd } => {
                let mut needs = vec![Self::named(BASH, command, Tier::Exec)];
                let cwd = absolute(cwd, places.workspace);
                if !cwd.starts_with(absolute(places.workspace, Path::new("/"))) {
                    needs.push(Self::external(cwd, Tier::Exec));
                }
                needs
            }
            Effect::Fetch { url } => vec![Self::named(WEBFETCH, &plain_url(url), Tier::Net)],
        }
    }

    /// A permission for something that is not a path.
    #[must_use]
    pub fn named(permission: &str, resource: &str, tier: Tier) -> Self {
        Self { permission: permission.to_owned(), tier, resource: resource.to_owned(), target: Target::Text }
    }

    /// The path, if it is about one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.target {
            Target::Inside { path } | Target::Outside { path } => Some(path),
            Target::Text => None,
        }
    }

    /// Whether a rule's pattern covers the resource.
    ///
    /// A pattern for paths is absolute, begins with `~/`, or is relative to the
    /// workspace. One that covers everything below a directory, also in the
    /// form `directory/`, covers the directory; `**/name` also covers `name`
    /// at the top.
    #[must_use]
    pub fn is_covered_by(&self, pattern: &str, places: Places<'_>) -> bool {
        let Some(path) = self.path() else {
            return wildcard::matches(pattern, &self.resource)
                || wildcard::matches(pattern, self.resource.trim());
        };
        let pattern = path_pattern(pattern, places.home);
        let covers = |pattern: &str, text: &str| {
            wildcard::matches(pattern, text) || wildcard::matches(pattern, &format!("{text}/"))
        };
        match &self.target {
            Target::Inside { .. } if !is_absolute(&pattern) => {
                let relative = self.resource.strip_prefix("./").unwrap_or(&self.resource);
                covers(&pattern, relative)
                    || pattern.strip_prefix("**/").is_some_and(|top| covers(top, relative))
            }
            Target::Inside { .. } | Target::Outside { .. } | Target::Text => {
                covers(&pattern, &path.to_string_lossy())
            }
        }
    }

    fn of_path(permission: &str, tier: Tier, path: &Path, places: Places<'_>) -> Vec<Self> {
        let path = absolute(path, places.workspace);
        match path.strip_prefix(absolute(places.workspace, Path::new("/"))) {
            Ok(relative) => {
                let resource = relative_name(relative);
                vec![Self {
                    permission: permission.to_owned(),
                    tier,
                    resource,
                    target: Target::Inside { path },
                }]
            }
            Err(_) => vec![
                Self {
                    permission: permission.to_owned(),
                    tier,
                    resource: path.to_string_lossy().into_owned(),
                    target: Target::Outside { path: path.clone() },
                },
                Self::external(path, tier),
            ],
        }
    }

    fn external(path: PathBuf, tier: Tier) -> Self {
        Self {
            permission: EXTERNAL_DIRECTORY.to_owned(),
            tier,
            resource: path.to_string_lossy().into_owned(),
            target: Target::Outside { path },
        }
    }
}

/// The path from `base`, with `.` and `..` resolved by text.
pub(crate) fn absolute(path: &Path, base: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => resolved.push(component),
        }
    }
    resolved
}

/// A name below the workspace as rules write it. One that would read as the
/// home directory gets `./` in front.
fn relative_name(relative: &Path) -> String {
    let name = relative.to_string_lossy().replace('\\', "/");
    match name.as_str() {
        "" => ".".to_owned(),
        tilde if tilde.starts_with(['~', '$']) => format!("./{tilde}"),
        _ => name,
    }
}

fn is_absolute(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    matches!(bytes, [b'/' | b'\\', ..]) || matches!(bytes, [drive, b':', ..] if drive.is_ascii_alphabetic())
}

/// A pattern for paths in the one form that is matched.
fn path_pattern(pattern: &str, home: Option<&Path>) -> String {
    let below_home = pattern.strip_prefix('~').or_else(|| pattern.strip_prefix("$HOME"));
    let mut plain = match (below_home, home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            format!("{}{rest}", home.to_string_lossy().trim_end_matches('/'))
        }
        _ => {
            let mut rest = pattern;
            while let Some(shorter) = rest.strip_prefix("./") {
                rest = shorter;
            }
            rest.to_owned()
        }
    };
    if plain.is_empty() || plain.ends_with(['/', '\\']) {
        plain.push('*');
    }
    plain
}

/// A URL as `scheme://host[:port]/…`: without user information, with the scheme
/// and host in lower case, and with a path.
fn plain_url(url: &str) -> String {
    let url: String =
        url.trim().chars().filter(|character| !matches!(character, '\t' | '\n' | '\r')).collect();
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let scheme = scheme.to_ascii_lowercase();
    let (authority, path) = rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let host = match scheme.as_str() {
        "https" => host.strip_suffix(":443").unwrap_or(&host),
        "http" => host.strip_suffix(":80").unwrap_or(&host),
        _ => &host,
    };
    let host = host.trim_end_matches('.');
    let slash = if path.starts_with(['/', '\\']) { "" } else { "/" };
    format!("{scheme}://{host}{slash}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places<'static> {
        Places { workspace: Path::new("/w"), home: Some(Path::new("/home/me")) }
    }

    fn needs(effect: &Effect) -> Vec<(String, String)> {
        Need::of(effect, places()).into_iter().map(|need| (need.permission, need.resource)).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
    }

    #[test]
    fn a_path_inside_is_relative_and_one_outside_needs_a_second_permission() {
        let read = |path: &str| needs(&Effect::Read { path: path.into() });
        let write = |path: &str| needs(&Effect::Write { path: path.into() });
        assert_eq!(read("/w/src/a.rs"), pairs(&[("read", "src/a.rs")]));
        assert_eq!(read("/w"), pairs(&[("read", ".")]));
        assert_eq!(write("src/a.rs"), pairs(&[("edit", "src/a.rs")]));
        assert_eq!(write("/w/~/a"), pairs(&[("edit", "./~/a")]));
        assert_eq!(
            write("/etc/hosts"),
            pairs(&[("edit", "/etc/hosts"), ("external_directory", "/etc/hosts")])
        );
        assert_eq!(
            read("/w/../etc/hosts"),
            pairs(&[("read", "/etc/hosts"), ("external_directory", "/etc/hosts")])
        );
        assert_eq!(read("../wide"), pairs(&[("read", "/wide"), ("external_directory", "/wide")]));
        assert_eq!(
            read("/workshop/a"),
            pairs(&[("read", "/workshop/a"), ("external_directory", "/workshop/a")])
        );
    }

    #[test]
    fn a_command_outside_needs_its_directory_too() {
        let run = |cwd: &str| needs(&Effect::Execute { command: "ls".into(), cwd: cwd.into() });
        assert_eq!(run("/w/src"), pairs(&[("bash", "ls")]));
        assert_eq!(run("/etc"), pairs(&[("bash", "ls"), ("external_directory", "/etc")]));
    }

    #[test]
    fn a_url_is_matched_without_disguise() {
        let url = |url: &str| needs(&Effect::Fetch { url: url.into() });
        for disguised in [
            "https://example.com",
            "HTTPS://Example.COM/",
            "https://good.org@example.com/",
            "https://example.com:443/",
            "https://example.com./",
            " https://exam\nple.com/ ",
        ] {
            assert_eq!(url(disguised), pairs(&[("webfetch", "https://example.com/")]), "{disguised}");
        }
        assert_eq!(
            url("http://example.com:8080?q=/@x"),
            pairs(&[("webfetch", "http://example.com:8080/?q=/@x")])
        );
        assert_eq!(url("nonsense"), pairs(&[("webfetch", "nonsense")]));
    }

    #[test]
    fn patterns_of_every_spelling_cover_the_path_they_mean() {
        let covered = |path: &str, pattern: &str| {
            Need::of(&Effect::Read { path: path.into() }, places())
                .first()
                .is_some_and(|need| need.is_covered_by(pattern, places()))
        };
        for (path, pattern) in [
            ("/w/src/a.rs", "src/*"),
            ("/w/src/a.rs", "./src/a.rs"),
            ("/w/src/a.rs", "src/"),
            ("/w/src/a.rs", "/w/src/*"),
            ("/w/src", "src/*"),
            ("/w/.env", "**/.env"),
            ("/w/a/.env", "**/.env"),
            ("/w", "*"),
            ("/w/a", "./"),
            ("/home/me/notes/a", "~/notes/*"),
            ("/home/me/notes/a", "$HOME/notes/"),
            ("/home/me/notes/a", "/home/me/*"),
            ("/etc/a.env", "*.env"),
            ("/w/~/a", "./~/a"),
        ] {
            assert!(covered(path, pattern), "{path} {pattern}");
        }
        for (path, pattern) in [
            ("/w/src/a.rs", "a.rs"),
            ("/etc/src/a.rs", "src/*"),
            ("/w/srcs", "src/*"),
            ("/w/~/a", "~/a"),
            ("/home/you/a", "~/a"),
            ("/home/me2/a", "~/*"),
        ] {
            assert!(!covered(path, pattern), "{path} {pattern}");
        }
    }

    #[test]
    fn without_a_home_a_tilde_stands_for_nothing() {
        let nowhere = Places { workspace: Path::new("/w"), home: None };
        let need = Need::of(&Effect::Read { path: "/home/me/a".into() }, nowhere);
        assert!(!need[0].is_covered_by("~/a", nowhere));
    }
}
