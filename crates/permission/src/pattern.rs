//! A rule's pattern, made ready to be asked often, and what it is asked about.
//!
//! A pattern is taken apart once, when its rule is added. What a permission is
//! needed for is put into words once, however many rules there are.
//!
//! An `allow` covers a thing by the one name that a person would see. An `ask`
//! or `deny` covers it under every name that it goes by: it must not be dodged
//! by another spelling.

use std::path::Path;

use rein_shell::paths::comparable;

use crate::flags;
use crate::resource::{Need, Reach, Target};
use crate::rule::Action;
use crate::wildcard;

/// A pattern in every form that is matched.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    text: String,
    /// The first word, if it is whole and has no wildcard.
    head: Option<String>,
    path: PathForm,
    /// The words of a command pattern, for matching by flags.
    words: Vec<String>,
}

#[derive(Debug, Clone)]
enum PathForm {
    /// Below the home directory: what follows it.
    Home(String),
    Absolute(String),
    /// Below the workspace.
    Relative(String),
}

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Self {
        Self {
            text: pattern.to_owned(),
            head: head(pattern).map(str::to_owned),
            path: path_form(pattern),
            words: pattern.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// Whether it covers the subject of a rule with this action.
    pub(crate) fn covers(&self, subject: &Subject, action: Action) -> bool {
        match subject {
            Subject::Text(text) => {
                wildcard::matches(&self.text, text) || wildcard::matches(&self.text, text.trim())
            }
            Subject::Path(names) => self.covers_path(names, action),
            Subject::Command(names) => self.covers_command(names, action),
        }
    }

    fn covers_command(&self, names: &CommandNames, action: Action) -> bool {
        let possible = |heads: &[String]| match &self.head {
            Some(head) => heads.iter().any(|other| other == head),
            None => true,
        };
        match action {
            Action::Allow => {
                (self.head.is_some() || !names.by_name_only)
                    && self.head.as_deref().is_none_or(|head| names.heads.iter().any(|other| other == head))
                    && names.allow.as_ref().is_some_and(|text| wildcard::matches(&self.text, text))
            }
            Action::Ask if names.only_moves && self.text == "*" => false,
            Action::Ask | Action::Deny => {
                possible(&names.heads)
                    && (names.all.iter().any(|text| wildcard::matches(&self.text, text))
                        || names.words.iter().any(|words| flags::covers(&self.words, words)))
            }
        }
    }

    fn covers_path(&self, names: &PathNames, action: Action) -> bool {
        let by = |form: &PathForm, names: &Names, folded: bool| {
            let text = |pattern: &str, name: &Name| {
                let covers = |pattern: &str| {
                    wildcard::matches(pattern, &name.plain) || wildcard::matches(pattern, &name.directory)
                };
                if folded { covers(&pattern.to_lowercase()) } else { covers(pattern) }
            };
            match form {
                PathForm::Home(rest) => names.below_home.as_ref().is_some_and(|name| text(rest, name)),
                PathForm::Absolute(pattern) => text(pattern, &names.absolute),
                PathForm::Relative(pattern) => match &names.relative {
                    Some(name) => {
                        text(pattern, name) || pattern.strip_prefix("**/").is_some_and(|top| text(top, name))
                    }
                    None => text(pattern, &names.absolute),
                },
            }
        };
        if by(&self.path, &names.exact, false) {
            return true;
        }
        match action {
            Action::Allow => false,
            Action::Ask | Action::Deny => by(&self.path, &names.folded, true) || self.is_within(names),
        }
    }

    /// Whether what the pattern names may be among what a glob or a whole tree stands for.
    fn is_within(&self, names: &PathNames) -> bool {
        let name = match &self.path {
            PathForm::Home(_) => names.folded.below_home.as_ref(),
            PathForm::Absolute(_) => Some(&names.folded.absolute),
            PathForm::Relative(_) => names.folded.relative.as_ref(),
        };
        let (PathForm::Home(pattern) | PathForm::Absolute(pattern) | PathForm::Relative(pattern)) =
            &self.path;
        let Some(name) = name else { return false };
        let pattern = pattern.to_lowercase();
        match names.reach {
            Reach::One => false,
            Reach::Glob => wildcard::matches(&name.plain, &pattern),
            Reach::Tree => {
                name.plain.is_empty() || pattern.starts_with(&name.directory) || pattern.starts_with("**/")
            }
        }
    }

    /// Whether the pattern is a single name and no pattern at all.
    pub(crate) fn is_exact(&self) -> bool {
        wildcard::is_literal(&self.text) && !self.text.ends_with(['/', '\\'])
    }
}

/// What a permission is needed for, under all of its names.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A URL, a tool, or the like.
    Text(String),
    Path(Box<PathNames>),
    Command(CommandNames),
}

/// The names of a path.
#[derive(Debug)]
pub(crate) struct PathNames {
    exact: Names,
    /// Without case, trailing dots, and other ways to spell one file.
    folded: Names,
    reach: Reach,
}

#[derive(Debug)]
struct Names {
    absolute: Name,
    /// As seen from the workspace.
    relative: Option<Name>,
    /// As seen from the home directory, with the slash.
    below_home: Option<Name>,
}

#[derive(Debug)]
struct Name {
    plain: String,
    /// With a slash at the end, so that a pattern for what is in a directory covers it.
    directory: String,
}

impl Name {
    fn new(plain: String) -> Self {
        let directory = format!("{plain}/");
        Self { plain, directory }
    }
}

/// The names of a command.
#[derive(Debug, Default)]
pub(crate) struct CommandNames {
    /// What an `allow` must cover; none if no rule can allow it.
    pub allow: Option<String>,
    /// What an `ask` or `deny` may cover.
    pub all: Vec<String>,
    /// The words of each, for patterns with flags.
    pub words: Vec<Vec<String>>,
    /// The first words of all of them.
    pub heads: Vec<String>,
    /// `cd` and its like: what they lead to is judged by itself.
    pub only_moves: bool,
    /// Too much for a rule that allows everything: it must be named.
    pub by_name_only: bool,
}

impl Subject {
    pub(crate) fn of(need: &Need, home: Option<&Path>) -> Self {
        let (Target::Inside { path } | Target::Outside { path }) = &need.target else {
            return Self::Text(need.resource.clone());
        };
        let relative = match &need.target {
            Target::Inside { .. } => {
                Some(need.resource.strip_prefix("./").unwrap_or(&need.resource).to_owned())
            }
            Target::Outside { .. } | Target::Text => None,
        };
        let absolute = path.to_string_lossy().into_owned();
        let below = |absolute: &str, home: Option<&str>| {
            let home = home?.trim_end_matches('/');
            absolute
                .strip_prefix(home)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                .map(str::to_owned)
        };
        let home = home.map(Path::to_string_lossy);
        let folded = comparable(&absolute).into_owned();
        let folded_home = home.as_deref().map(comparable);
        let exact = Names {
            below_home: below(&absolute, home.as_deref()).map(Name::new),
            relative: relative.clone().map(Name::new),
            absolute: Name::new(absolute),
        };
        let folded = Names {
            below_home: below(&folded, folded_home.as_deref()).map(Name::new),
            relative: relative.map(|relative| Name::new(comparable(&relative).into_owned())),
            absolute: Name::new(folded),
        };
        Self::Path(Box::new(PathNames { exact, folded, reach: need.reach }))
    }
}

/// The first word of a command or of a pattern for commands, if it is whole.
pub(crate) fn head(text: &str) -> Option<&str> {
    let first = text.split(' ').next().unwrap_or_default();
    (!first.is_empty() && wildcard::is_literal(first)).then_some(first)
}

fn is_absolute(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    matches!(bytes, [b'/' | b'\\', ..]) || matches!(bytes, [drive, b':', ..] if drive.is_ascii_alphabetic())
}

/// A pattern for paths is absolute, begins with `~/`, or is relative to the
/// workspace. One that ends in a slash covers everything below.
fn path_form(pattern: &str) -> PathForm {
    let open = |text: &str| {
        let all = if text.is_empty() || text.ends_with(['/', '\\']) { "*" } else { "" };
        format!("{text}{all}")
    };
    let below_home = pattern.strip_prefix('~').or_else(|| pattern.strip_prefix("$HOME"));
    if let Some(rest) = below_home.filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\'])) {
        return PathForm::Home(if rest.is_empty() { String::new() } else { open(rest) });
    }
    let mut plain = pattern;
    while let Some(shorter) = plain.strip_prefix("./") {
        plain = shorter;
    }
    if is_absolute(plain) { PathForm::Absolute(open(plain)) } else { PathForm::Relative(open(plain)) }
}
