//! Patterns for paths as `.gitignore` has them, as patterns of ours.
//!
//! There a `*` stays within a directory, `**/` stands for any number of
//! directories or none, a name without a slash is found at any depth, and what
//! covers a directory covers what is below it. Here a `*` crosses slashes.
//! For an `allow` a pattern that would cover more is not understood; for an
//! `ask` or a `deny` it may cover more and never less.

use super::NotUnderstood;
use crate::rule::Action;

/// How many patterns one may become.
const MOST: usize = 16;

/// Where a pattern begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    /// At the root of the machine.
    Machine,
    /// In the home directory.
    Home,
    /// In the workspace, at this place only.
    Workspace,
    /// In the workspace, at any depth.
    Anywhere,
}

/// The patterns that mean the same as `text`, or more if the action is not `Allow`.
pub(super) fn patterns(text: &str, action: Action) -> Result<Vec<String>, NotUnderstood> {
    let broader;
    let text = match action {
        Action::Allow => text,
        Action::Ask | Action::Deny => {
            broader = broadened(text);
            &broader
        }
    };
    check_syntax(text, action)?;
    let mut patterns = Vec::new();
    for (root, rest) in roots(text, action)? {
        for pattern in below(root, rest, action)? {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
    }
    if patterns.is_empty() || patterns.len() > MOST {
        return Err(NotUnderstood::TooMany { limit: MOST });
    }
    Ok(patterns)
}

/// Whether every pattern lies outside of the workspace as far as can be told.
pub(super) fn is_elsewhere(pattern: &str) -> bool {
    pattern.starts_with(['/', '~'])
}

/// A pattern that covers at least as much, without what there is not here: any character for one of a class and
/// for one that is escaped, anything for alternatives.
fn broadened(text: &str) -> String {
    let mut broader = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let (end, wildcard) = match character {
            '[' => (']', '?'),
            '{' => ('}', '*'),
            '\\' => {
                rest.next();
                broader.push('?');
                continue;
            }
            other => {
                broader.push(other);
                continue;
            }
        };
        broader.push(wildcard);
        let closed = rest.as_str().find(end);
        // A bracket that is not closed stands for itself.
        if let Some(after) = closed.and_then(|at| rest.as_str().get(at + 1..)) {
            rest = after.chars();
        }
    }
    broader
}

fn check_syntax(text: &str, action: Action) -> Result<(), NotUnderstood> {
    let foreign = |character: &char| matches!(character, '\\' | '[' | ']' | '{' | '}' | '$' | '!');
    if let Some(character) = text.chars().find(foreign) {
        return Err(NotUnderstood::PathSyntax { character });
    }
    if let Some(character) = text.chars().find(|character| character.is_control()) {
        return Err(NotUnderstood::PathSyntax { character });
    }
    if action == Action::Allow && text.contains('?') {
        return Err(NotUnderstood::Character { character: '?', meaning: "stands for any character here" });
    }
    Ok(())
}

/// Where the pattern may begin: in several places only where that is stricter.
fn roots(text: &str, action: Action) -> Result<Vec<(Root, &str)>, NotUnderstood> {
    if let Some(rest) = text.strip_prefix("//") {
        return Ok(vec![(Root::Machine, rest.trim_start_matches('/'))]);
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return Ok(vec![(Root::Home, rest)]);
    }
    if text == "~" {
        return Ok(vec![(Root::Home, "")]);
    }
    if let Some(rest) = text.strip_prefix('/') {
        // People write this for the root of the machine and get the directory of the settings.
        return match action {
            Action::Allow => Err(NotUnderstood::AmbiguousRoot { path: text.to_owned() }),
            Action::Ask | Action::Deny => Ok(vec![(Root::Machine, rest), (Root::Workspace, rest)]),
        };
    }
    let rest = text.trim_start_matches("./");
    let is_anchored = rest.trim_end_matches('/').contains('/');
    let was_anchored = rest.len() != text.len() && action == Action::Allow;
    Ok(vec![(if is_anchored || was_anchored { Root::Workspace } else { Root::Anywhere }, rest)])
}

fn below(root: Root, rest: &str, action: Action) -> Result<Vec<String>, NotUnderstood> {
    let prefix = match root {
        Root::Machine => "/",
        Root::Home => "~/",
        Root::Workspace | Root::Anywhere => "",
    };
    let is_directory = rest.ends_with('/');
    let mut segments: Vec<&str> =
        rest.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    if is_directory && action == Action::Allow && segments.last() == Some(&"**") {
        // Directories only, and not the files beside them.
        return Err(NotUnderstood::SingleLevel);
    }
    if segments.contains(&"..") {
        return Err(NotUnderstood::PathSyntax { character: '.' });
    }
    if root == Root::Anywhere {
        segments.insert(0, "**");
    }
    if is_directory || segments.is_empty() {
        segments.push("**");
    }
    segments.dedup_by(|one, other| *one == "**" && *other == "**");
    // `**/*` is everything below, as `**` is.
    if let [.., "**", last] = segments.as_slice()
        && last.chars().all(|character| character == '*')
    {
        segments.pop();
    }
    if action == Action::Allow {
        check_stars(&segments)?;
    }
    Ok(spellings(&segments, action).into_iter().map(|spelling| format!("{prefix}{spelling}")).collect())
}

/// Whether our stars cover no more than theirs do.
fn check_stars(segments: &[&str]) -> Result<(), NotUnderstood> {
    let Some((last, before)) = segments.split_last() else { return Ok(()) };
    let plain = |segment: &str| segment == "**" || !segment.contains('*');
    if !before.iter().all(|segment| plain(segment)) {
        return Err(NotUnderstood::SingleLevel);
    }
    // At the end, a star at either side of a name crosses nothing more once any depth is covered.
    let inside = last.trim_start_matches('*').trim_end_matches('*');
    let after_any_depth = before.last() == Some(&"**");
    if plain(last) || (after_any_depth && !inside.contains('*')) {
        Ok(())
    } else {
        Err(NotUnderstood::SingleLevel)
    }
}

/// Every way to spell it with stars that cross slashes and need one on each side.
fn spellings(segments: &[&str], action: Action) -> Vec<String> {
    let mut found = vec![String::new()];
    for (index, segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        let mut longer = Vec::new();
        for spelling in &found {
            let slash = if spelling.is_empty() { "" } else { "/" };
            match *segment {
                "**" if is_last => longer.push(format!("{spelling}{slash}**")),
                // `**/name` at the beginning also covers `name`; further in, `*name` covers any depth itself.
                "**" if spelling.is_empty() => longer.push("**".to_owned()),
                "**" => longer.extend([spelling.clone(), format!("{spelling}/**")]),
                // `**/*.rs` is `*.rs`, because the star crosses slashes.
                name if name.starts_with('*') && (spelling == "**" || spelling.ends_with("/**")) => {
                    let shorter = spelling.strip_suffix("**").unwrap_or_default();
                    longer.push(format!("{shorter}{name}"));
                }
                name => longer.push(format!("{spelling}{slash}{name}")),
            }
            if longer.len() > MOST {
                return longer;
            }
        }
        found = longer;
    }
    found.sort();
    found.dedup();
    if action != Action::Allow && !segments.last().is_some_and(|last| last.ends_with('*')) {
        // What covers a directory covers what is below it.
        let inside: Vec<String> = found.iter().map(|spelling| format!("{spelling}/*")).collect();
        found.extend(inside);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{LayerKind, Policy};
    use crate::rule::Rule;
    use Action::{Allow, Deny};
    use proptest::prelude::*;
    use rein_protocol::{Effect, Intent, Mode};

    fn spelled(text: &str, action: Action) -> Vec<String> {
        patterns(text, action).unwrap_or_else(|error| vec![format!("{error:?}")])
    }

    #[test]
    fn an_allow_covers_exactly_as_much() {
        for (text, ours) in [
            ("src/**", vec!["src/**"]),
            ("src/**/*", vec!["src/**"]),
            ("src/", vec!["**/src/**"]),
            ("a/src/", vec!["a/src/**"]),
            ("src/a.rs", vec!["src/a.rs"]),
            ("./src/a.rs", vec!["src/a.rs"]),
            ("src/**/a.rs", vec!["src/**/a.rs", "src/a.rs"]),
            ("src/**/*.rs", vec!["src/*.rs"]),
            ("src/**/test_*", vec!["src/**/test_*", "src/test_*"]),
            (".env", vec!["**/.env"]),
            ("./.env", vec![".env"]),
            ("*.rs", vec!["*.rs"]),
            ("**/*.rs", vec!["*.rs"]),
            ("**/.env", vec!["**/.env"]),
            ("**", vec!["**"]),
            ("*", vec!["**"]),
            ("./**", vec!["**"]),
            ("//home/me/x/**", vec!["/home/me/x/**"]),
            ("///**", vec!["/**"]),
            ("~/x/**", vec!["~/x/**"]),
            ("a/**/b/**/c", vec!["a/**/b/**/c", "a/**/b/c", "a/b/**/c", "a/b/c"]),
        ] {
            assert_eq!(spelled(text, Allow), ours, "{text}");
        }
    }

    #[test]
    fn an_allow_that_would_cover_more_is_not_understood() {
        for text in ["src/*", "src/*.rs", "src/*/a", "src/**/", "a*b.rs", "**/a*b", "~/x/*.pdf"] {
            assert_eq!(patterns(text, Allow), Err(NotUnderstood::SingleLevel), "{text}");
        }
        assert!(matches!(patterns("/src/**", Allow), Err(NotUnderstood::AmbiguousRoot { .. })));
        assert!(matches!(patterns("a?", Allow), Err(NotUnderstood::Character { .. })));
        for text in ["[ab]", "{a,b}", "!a", "C:\\x", "${HOME}/x", "../x", "a\nb"] {
            assert!(matches!(patterns(text, Allow), Err(NotUnderstood::PathSyntax { .. })), "{text}");
        }
        for text in ["!a", "$HOME/x", "../x", "a\nb"] {
            assert!(matches!(patterns(text, Deny), Err(NotUnderstood::PathSyntax { .. })), "{text}");
        }
        assert!(matches!(patterns("a/**/b/**/c/**/d/**/e/**/f", Allow), Err(NotUnderstood::TooMany { .. })));
    }

    #[test]
    fn a_deny_covers_no_less() {
        for (text, ours) in [
            ("./.env", vec!["**/.env", "**/.env/*"]),
            (".env*", vec!["**/.env*"]),
            ("./secrets/**", vec!["secrets/**"]),
            ("~/.ssh/*", vec!["~/.ssh/*"]),
            ("/etc/*", vec!["/etc/*", "etc/*"]),
            ("**/*.pem", vec!["*.pem", "*.pem/*"]),
            ("a/**/b", vec!["a/**/b", "a/b", "a/**/b/*", "a/b/*"]),
            ("docs/*.md", vec!["docs/*.md", "docs/*.md/*"]),
            ("a?", vec!["**/a?", "**/a?/*"]),
            ("x/[ab].key", vec!["x/?.key", "x/?.key/*"]),
            ("x/{a,b}.key", vec!["x/*.key", "x/*.key/*"]),
            ("x/[a", vec!["x/?a", "x/?a/*"]),
            ("x/\\*", vec!["x/?", "x/?/*"]),
        ] {
            assert_eq!(spelled(text, Deny), ours, "{text}");
        }
    }

    /// Whether our rules for the pattern would decide about a file.
    fn ours(patterns: &[String], action: Action, path: &str) -> bool {
        let rules = patterns.iter().map(|pattern| Rule::new("edit", pattern, action, "")).collect();
        let policy = Policy::new("/w", Mode::Tight).with_layer(LayerKind::User, rules);
        let effect = Effect::Write { path: format!("/w/{path}").into() };
        policy.judge(&Intent { effects: vec![effect], ..Intent::default() }).action == action
    }

    /// Whether `.gitignore` would cover the file.
    fn theirs(text: &str, path: &str) -> bool {
        let mut builder = ignore::gitignore::GitignoreBuilder::new("/w");
        builder.add_line(None, text).unwrap();
        builder.build().unwrap().matched_path_or_any_parents(path, false).is_ignore()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn an_allow_never_covers_more_and_a_deny_never_less(
            text in "(a|b|\\*|\\*\\*|a\\*|\\*b|a\\*b|\\*a\\*|ab?)(/(a|b|\\*|\\*\\*|a\\*|\\*b|ab)){0,3}/?",
            path in "(a|b|ab|ba|aab)(/(a|b|ab|ba|aab)){0,4}",
        ) {
            if let Ok(patterns) = patterns(&text, Allow) {
                // What covers everything below a directory covers the directory here.
                prop_assert!(!ours(&patterns, Allow, &path) || theirs(&text, &path) || theirs(&text, &format!("{path}/x")), "{text} allows {path}: {patterns:?}");
            }
            let patterns = patterns(&text, Deny).unwrap();
            prop_assert!(ours(&patterns, Deny, &path) || !theirs(&text, &path), "{text} misses {path}: {patterns:?}");
        }
    }
}
