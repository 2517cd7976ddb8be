//! From what a call would do to the permissions it needs and the texts that
//! rule patterns are matched against.
//!
//! Paths are handed to the policy's resolver first, so that no spelling of an
//! outside path looks like one inside.

use std::path::{Path, PathBuf};

use rein_protocol::{Effect, Tier};

use crate::place::{Paths, absolute};
use crate::rule::{EDIT, EXTERNAL_DIRECTORY, READ, WEBFETCH};

/// The directories that give a path its meaning.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// Where the session works.
    pub workspace: &'a Path,
    /// What `~` stands for.
    pub home: Option<&'a Path>,
    /// Where paths lead.
    pub paths: &'a dyn Paths,
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
    /// How much the resource stands for.
    pub reach: Reach,
    /// What would touch it.
    pub hand: Hand,
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
    /// Something that is not a path: a URL, a tool's name.
    Text,
}

/// How much a path stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Itself.
    One,
    /// Whatever matches it.
    Glob,
    /// Itself and all that is under it.
    Tree,
}

/// What would touch a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hand {
    /// One of rein's tools, in its own process.
    Tool,
    /// A command, which a sandbox may hold.
    Command,
    /// A command that runs it.
    Runs,
    /// A command that only looks at its name and attributes.
    Lists,
}

impl Need {
    /// What an effect needs; nothing for a command line, which is taken apart first.
    #[must_use]
    pub fn of(effect: &Effect, places: Places<'_>) -> Vec<Self> {
        match effect {
            Effect::Read { path } => Self::of_path(READ, path, Reach::One, Hand::Tool, places),
            Effect::Write { path } => Self::of_path(EDIT, path, Reach::One, Hand::Tool, places),
            Effect::Execute { cwd, .. } => {
                let cwd = places.paths.resolve(&workspace(places).join(cwd));
                if cwd.starts_with(workspace(places)) {
                    return Vec::new();
                }
                vec![Self::external(cwd, Tier::Exec, Reach::One, Hand::Command)]
            }
            Effect::Fetch { url } => vec![Self::named(WEBFETCH, &plain_url(url), Tier::Net)],
        }
    }

    /// A permission for something that is not a path.
    #[must_use]
    pub fn named(permission: &str, resource: &str, tier: Tier) -> Self {
        Self {
            permission: permission.to_owned(),
            tier,
            resource: resource.to_owned(),
            target: Target::Text,
            reach: Reach::One,
            hand: Hand::Tool,
        }
    }

    /// The path, if it is about one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.target {
            Target::Inside { path } | Target::Outside { path } => Some(path),
            Target::Text => None,
        }
    }

    /// What reading or changing a path needs: that, and a second permission if it is outside.
    #[must_use]
    pub fn of_path(permission: &str, path: &Path, reach: Reach, hand: Hand, places: Places<'_>) -> Vec<Self> {
        let tier = if permission == READ { Tier::Read } else { Tier::Write };
        let path = places.paths.resolve(&workspace(places).join(path));
        let need = |resource: String, target: Target| Self {
            permission: permission.to_owned(),
            tier,
            resource,
            target,
            reach,
            hand,
        };
        match path.strip_prefix(workspace(places)) {
            Ok(relative) => vec![need(relative_name(relative), Target::Inside { path: path.clone() })],
            Err(_) => vec![
                need(path.to_string_lossy().into_owned(), Target::Outside { path: path.clone() }),
                Self::external(path, tier, reach, hand),
            ],
        }
    }

    fn external(path: PathBuf, tier: Tier, reach: Reach, hand: Hand) -> Self {
        Self {
            permission: EXTERNAL_DIRECTORY.to_owned(),
            tier,
            resource: path.to_string_lossy().into_owned(),
            target: Target::Outside { path },
            reach,
            hand,
        }
    }
}

fn workspace(places: Places<'_>) -> PathBuf {
    absolute(places.workspace, Path::new("/"))
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
    use crate::pattern::{Pattern, Subject};
    use crate::place::Lexical;
    use crate::rule::Action;

    fn places() -> Places<'static> {
        Places { workspace: Path::new("/w"), home: Some(Path::new("/home/me")), paths: &Lexical }
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
        let run = |cwd: &str| {
            needs(&Effect::Execute { command: "ls".into(), cwd: cwd.into(), prelude: String::new() })
        };
        assert_eq!(run("/w/src"), pairs(&[]));
        assert_eq!(run("/etc"), pairs(&[("external_directory", "/etc")]));
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
        let covered = |path: &str, pattern: &str| covers(path, pattern, Action::Allow);
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

    fn covers(path: &str, pattern: &str, action: Action) -> bool {
        let needs = Need::of(&Effect::Read { path: path.into() }, places());
        Pattern::new(pattern).covers(&Subject::of(&needs[0], places().home), action)
    }

    #[test]
    fn a_denial_covers_every_spelling_of_a_file() {
        for (path, pattern) in
            [("/w/.ENV", ".env"), ("/w/.env. ", ".env"), ("/w/Src/A", "src/*"), ("/HOME/me/x", "~/x")]
        {
            assert!(covers(path, pattern, Action::Deny), "{path} {pattern}");
            assert!(!covers(path, pattern, Action::Allow), "{path} {pattern}");
        }
    }

    #[test]
    fn a_denial_covers_what_a_glob_or_a_tree_may_stand_for() {
        let covers = |path: &str, reach: Reach, pattern: &str| {
            let needs = Need::of_path(EDIT, Path::new(path), reach, Hand::Command, places());
            Pattern::new(pattern).covers(&Subject::of(&needs[0], places().home), Action::Deny)
        };
        assert!(covers("/w/prot*", Reach::Glob, "protected.txt"));
        assert!(covers("/w/src", Reach::Tree, "src/secret"));
        assert!(covers("/w", Reach::Tree, "src/secret"));
        assert!(!covers("/w/prot*", Reach::One, "protected.txt"));
        assert!(!covers("/w/src", Reach::One, "src/secret"));
        assert!(!covers("/w/other*", Reach::Glob, "protected.txt"));
    }

    #[test]
    fn without_a_home_a_tilde_stands_for_nothing() {
        let nowhere = Places { home: None, ..places() };
        let need = Need::of(&Effect::Read { path: "/home/me/a".into() }, nowhere);
        assert!(!Pattern::new("~/a").covers(&Subject::of(&need[0], None), Action::Allow));
    }
}
