//! Documents: those that must stay short, and links that lead nowhere.

use std::path::{Path, PathBuf};

use super::Finding;

/// Documents that are only read if they are short.
const SHORT: [(&str, usize); 2] = [("ARCHITECTURE.md", 120), ("AGENTS.md", 100)];

/// Documents that have grown too long and relative links without a target.
pub fn check(root: &Path, documents: &[(PathBuf, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in documents {
        let limit = SHORT.iter().find(|(name, _)| Path::new(name) == file);
        let lines = text.lines().count();
        if let Some((_, limit)) = limit
            && lines > *limit
        {
            findings.push(Finding::new(file, limit + 1, format!("{lines} lines, {limit} are the limit")));
        }
        for (line, target) in links(text) {
            let directory = file.parent().unwrap_or(Path::new(""));
            let path = match target.strip_prefix('/') {
                Some(from_root) => root.join(from_root),
                None => root.join(directory).join(&target),
            };
            if !path.exists() {
                findings.push(Finding::new(file, line, format!("links to `{target}`, which is not there")));
            }
        }
    }
    findings
}

/// Relative targets of inline links, images and reference definitions, without
/// their fragment, with their lines. What is in code is no link.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (Some(open), Some(marker)) if open == marker => fence = None,
            (Some(_), _) => {}
            (None, Some(marker)) => fence = Some(marker),
            (None, None) => {
                let prose = without_code(line);
                found.extend(
                    targets(&prose).into_iter().filter_map(relative).map(|target| (index + 1, target)),
                );
            }
        }
    }
    found
}

fn without_code(line: &str) -> String {
    // Every second piece between backticks is code; an unclosed one is not.
    let pieces: Vec<&str> = line.split('`').collect();
    let closed = pieces.len() % 2 == 1;
    let prose = pieces
        .iter()
        .enumerate()
        .filter(|(index, _)| index % 2 == 0 || (!closed && index + 1 == pieces.len()));
    prose.map(|(_, piece)| *piece).collect::<Vec<_>>().join("")
}

fn targets(line: &str) -> Vec<&str> {
    let mut found: Vec<&str> = line
        .match_indices("](")
        .filter_map(|(start, _)| {
            let rest = line.get(start + 2..)?;
            rest.get(..closing(rest)?)
        })
        .collect();
    let definition = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    if let Some((name, target)) = definition
        && !name.starts_with('^')
    {
        found.push(target);
    }
    found
}

/// Where the parenthesis of a link closes; its target may hold balanced ones.
fn closing(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, character) in rest.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(index),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn relative(target: &str) -> Option<String> {
    let target = target.trim();
    let target = match target.strip_prefix('<') {
        Some(rest) => rest.split('>').next().unwrap_or_default(),
        None => target.split_whitespace().next().unwrap_or_default(),
    };
    let path = target.split('#').next().unwrap_or_default();
    let has_scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one))
    });
    (!path.is_empty() && !has_scheme && !path.starts_with("//")).then(|| path.replace("%20", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code_and_only_relative_ones() {
        let text = "See [a](docs/a.md#part) and ![b](b(1).png \"title\") or <https://x.y>.\n\
                    [c](https://example.com/a) [d](#here) [e](mailto:a@b.c) `[f](f.md)`\n\
                    ```\n[g](g.md)\n```\n\
                    [ref]: ../h.md\n[^note]: words\n- [i](<with space.md>)\n";
        let expected = [(1, "docs/a.md"), (1, "b(1).png"), (6, "../h.md"), (8, "with space.md")];
        assert_eq!(links(text), expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn a_link_to_nothing_and_a_long_document_are_found() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("docs")).unwrap();
        std::fs::write(directory.path().join("docs/there.md"), "").unwrap();
        let long = "line\n".repeat(101);
        let documents = [
            (PathBuf::from("docs/a.md"), "[x](there.md) [y](gone.md) [z](/docs/there.md)".to_owned()),
            (PathBuf::from("AGENTS.md"), long.clone()),
            (PathBuf::from("docs/AGENTS.md"), long),
        ];
        let found: Vec<String> =
            check(directory.path(), &documents).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/a.md:1: links to `gone.md`, which is not there",
                "AGENTS.md:101: 101 lines, 100 are the limit"
            ]
        );
    }
}
