//! What "always" may cover: never more than the person saw when asked.

use std::path::Path;

use rein_protocol::ask::Grant;

use crate::resource::{Need, Places, Target};
use crate::rule::{EXTERNAL_DIRECTORY, WEBFETCH};
use crate::wildcard;

/// The grants that would settle this need from now on; empty where there are none.
///
/// A file is granted exactly; a place outside of the workspace with its
/// directory, unless that directory is the root, the home or above one of the
/// places that matter; a URL with its host. Commands have offers of their own.
/// Names with wildcards in them would grant more than themselves, and names
/// that are not text cannot be written down: neither is granted.
#[must_use]
pub fn grants(need: &Need, places: Places<'_>) -> Vec<Grant> {
    let pattern = match need.permission.as_str() {
        WEBFETCH => host_pattern(&need.resource),
        EXTERNAL_DIRECTORY => need.path().and_then(|path| directory_pattern(path, places)),
        _ => exact_pattern(need),
    };
    pattern.map(|pattern| Grant { permission: need.permission.clone(), pattern }).into_iter().collect()
}

fn exact_pattern(need: &Need) -> Option<String> {
    match &need.target {
        Target::Inside { path } | Target::Outside { path } => plain(path)?,
        Target::Text => &need.resource,
    };
    wildcard::is_literal(&need.resource).then(|| need.resource.clone())
}

fn directory_pattern(path: &Path, places: Places<'_>) -> Option<String> {
    let too_broad = |directory: &Path| {
        directory.parent().is_none()
            || places.workspace.starts_with(directory)
            || places.home.is_some_and(|home| home.starts_with(directory))
    };
    let directory = path.parent().filter(|parent| !too_broad(parent)).unwrap_or(path);
    if too_broad(directory) {
        return None;
    }
    plain(directory).map(|directory| format!("{directory}/*"))
}

fn host_pattern(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, _) = rest.split_once('/')?;
    let is_plain = |text: &str, also: &[char]| {
        !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || also.contains(&one))
    };
    (is_plain(scheme, &['+', '-', '.']) && is_plain(host, &['-', '.', '_', ':', '[', ']']))
        .then(|| format!("{scheme}://{host}/*"))
}

fn plain(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| wildcard::is_literal(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::Effect;

    fn offered(effect: &Effect) -> Vec<String> {
        let places = Places {
            workspace: Path::new("/home/me/w"),
            home: Some(Path::new("/home/me")),
            paths: &crate::place::Lexical,
        };
        let needs = Need::of(effect, places);
        needs
            .iter()
            .flat_map(|need| grants(need, places))
            .map(|grant| format!("{}:{}", grant.permission, grant.pattern))
            .collect()
    }

    fn write(path: &str) -> Vec<String> {
        offered(&Effect::Write { path: path.into() })
    }

    #[test]
    fn a_file_is_granted_exactly_and_never_by_a_name_that_is_a_pattern() {
        assert_eq!(write("/home/me/w/src/a.rs"), ["edit:src/a.rs"]);
        assert_eq!(write("/home/me/w/src/*.rs"), [""; 0]);
        assert_eq!(write("/home/me/w/a?"), [""; 0]);
    }

    #[test]
    fn an_outside_place_is_granted_with_its_directory_unless_that_is_everything() {
        assert_eq!(write("/srv/data/a"), ["edit:/srv/data/a", "external_directory:/srv/data/*"]);
        assert_eq!(
            write("/home/me/notes.md"),
            ["edit:/home/me/notes.md", "external_directory:/home/me/notes.md/*"]
        );
        assert_eq!(write("/swap"), ["edit:/swap", "external_directory:/swap/*"]);
        assert_eq!(write("/home/me"), ["edit:/home/me"]);
        assert_eq!(write("/"), ["edit:/"]);
    }

    #[test]
    fn a_url_is_granted_with_its_host() {
        let fetch = |url: &str| offered(&Effect::Fetch { url: url.into() });
        assert_eq!(fetch("https://Example.com/a/b?c"), ["webfetch:https://example.com/*"]);
        assert_eq!(fetch("http://[::1]:8080"), ["webfetch:http://[::1]:8080/*"]);
        assert_eq!(fetch("https://*.com/"), [""; 0]);
        assert_eq!(fetch("nonsense"), [""; 0]);
    }
}
