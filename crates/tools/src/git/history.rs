//! `log`, `show`, and the lists of branches and working trees.

use std::ffi::OsString;
use std::path::PathBuf;

use super::ask::{Answer, Asker, MOST_ANSWER, Stop};
use super::diff::{Side, compare, range};
use super::request::{Named, Range, Revision};
use super::{Told, words};
use crate::path::{printable, shown};
use crate::program::Extent;

/// Bytes of a file as it was that are shown.
const FILE_BYTES: usize = 48 * 1024;

/// Branches and working trees that are shown.
const SHOWN: usize = 100;

pub(super) async fn log(
    asker: &Asker<'_>,
    revs: Option<&Range>,
    paths: &[Named],
    limit: usize,
) -> Result<Told, Stop> {
    let from = match revs {
        None if !asker.has_commits().await? => {
            return Ok(Told::short("no commits yet"));
        }
        None => "HEAD".to_owned(),
        Some(Range::One(rev)) => asker.commit(rev).await?,
        Some(Range::Two { from, dots, to }) => range(asker, from, dots, to).await?,
    };
    let mut arguments =
        words(&["log", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature"]);
    arguments.extend(words(&["--no-notes", "--no-patch", "-z", "--date=short"]));
    arguments.push("--format=%h%x1f%ad%x1f%an%x1f%D%x1f%s".into());
    arguments.push(format!("--max-count={}", limit + 1).into());
    arguments.push(from.into());
    arguments.push("--".into());
    arguments.extend(paths.iter().map(|path| path.given.clone()));
    let answer = asker.ask(&arguments, MOST_ANSWER).await?;
    let output = String::from_utf8_lossy(&answer.output);
    let commits: Vec<&str> = output.split('\0').filter(|commit| !commit.is_empty()).collect();
    let text: String = commits.iter().take(limit).map(|commit| commit_line(commit)).collect();
    let mut told = Told { text, notes: Vec::new(), summary: format!("{} commits", commits.len().min(limit)) };
    if commits.is_empty() {
        told.text = "no commits\n".to_owned();
    }
    if commits.len() > limit {
        told.notes.push("there are older ones; raise limit, or go on with rev".to_owned());
    }
    Ok(told)
}

/// `0123abc 2026-01-31 Ada (HEAD -> main) subject`.
fn commit_line(commit: &str) -> String {
    let mut fields = commit.splitn(5, '\u{1f}');
    let mut next = || printable(fields.next().unwrap_or_default());
    let (hash, date, author, names, subject) = (next(), next(), next(), next(), next());
    let names = if names.is_empty() { String::new() } else { format!("({names}) ") };
    format!("{hash} {date} {author} {names}{subject}\n")
}

pub(super) async fn show(asker: &Asker<'_>, rev: &Revision, paths: &[Named]) -> Result<Told, Stop> {
    let commit = asker.commit(rev).await?;
    let mut arguments = words(&["show", "--no-patch", "--no-color", "--no-show-signature", "--no-notes"]);
    arguments.push("--format=commit %H%nauthor %an <%ae> %aI%nparents %p%n%n%B".into());
    arguments.push(commit.clone().into());
    arguments.push("--".into());
    let head = asker.ask(&arguments, MOST_ANSWER).await?;
    let mut text = message(&head);
    let parents = text.lines().find_map(|line| line.strip_prefix("parents ")).unwrap_or_default();
    let is_merge = parents.split(' ').count() > 1;
    let mut command = words(&["show", "--format=", "--no-show-signature", "--diff-merges=first-parent"]);
    command.push(commit.into());
    let compared = compare(asker, &command, paths, Side::Stored).await?;
    text.push_str(&compared.text);
    let mut told = Told { text, ..compared };
    if is_merge {
        told.notes.push("a merge, compared with its first parent".to_owned());
    }
    Ok(told)
}

/// What a commit says of itself; the patch comes after an empty line.
fn message(head: &Answer) -> String {
    let text = String::from_utf8_lossy(&head.output);
    let clean: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
    format!("{}\n\n", clean.trim_end())
}

/// A file as it was, or the names in a directory.
pub(super) async fn show_file(asker: &Asker<'_>, rev: Option<&Revision>, path: &str) -> Result<Told, Stop> {
    let object = match rev {
        Some(rev) => format!("{}:{path}", asker.commit(rev).await?),
        None => format!(":{path}"),
    };
    let kind = asker.try_ask(&with(&["cat-file", "-t"], &object), 100).await?;
    match kind.output.trim_ascii() {
        b"blob" => {}
        b"tree" => return directory(asker, &object, path).await,
        b"commit" => return Ok(Told::short("a submodule")),
        _ => {
            let when = rev.map_or("the index", |rev| &rev.0);
            return Err(Stop::Failed(format!(
                "There is no {path} in {when}. The path is that from the top of the repository, {}.",
                asker.repository.root.display()
            )));
        }
    }
    let answer = asker.ask(&with(&["cat-file", "blob"], &object), FILE_BYTES).await?;
    if answer.output.contains(&0) {
        return Ok(Told::short("a binary file"));
    }
    let text = String::from_utf8_lossy(&answer.output).into_owned();
    let lines = text.lines().count();
    let mut told = Told { text, notes: Vec::new(), summary: format!("{lines} lines") };
    if told.text.is_empty() {
        told.notes.push("an empty file".to_owned());
    }
    if answer.extent == Extent::Cut {
        told.notes.push(format!(
            "only the first {} KB; for more use bash: git show {object} | tail …",
            FILE_BYTES / 1024
        ));
    }
    Ok(told)
}

/// The names in a directory as it was, without those that may not be seen.
async fn directory(asker: &Asker<'_>, object: &str, path: &str) -> Result<Told, Stop> {
    let answer = asker.ask(&with(&["ls-tree", "-z", "--name-only"], object), FILE_BYTES).await?;
    let output = String::from_utf8_lossy(&answer.output);
    let place = asker.repository.root.join(path);
    let text: String = output
        .split('\0')
        .filter(|name| !name.is_empty() && (asker.scene.may_read)(&place.join(name)))
        .map(|name| format!("{}\n", printable(name)))
        .collect();
    let summary = format!("{} entries", text.lines().count());
    let notes = if answer.extent == Extent::Cut { vec!["there are more".to_owned()] } else { Vec::new() };
    Ok(Told { text, notes, summary })
}

/// Arguments that end with the name of an object, which begins with a hash or a colon.
fn with(arguments: &[&str], object: &str) -> Vec<OsString> {
    words(arguments).into_iter().chain([OsString::from(object)]).collect()
}

pub(super) async fn branches(asker: &Asker<'_>) -> Result<Told, Stop> {
    let mut arguments = words(&["for-each-ref", "--sort=-committerdate", "refs/heads"]);
    arguments.push(format!("--count={}", SHOWN + 1).into());
    arguments.push(
        "--format=%(HEAD)%00%(refname:short)%00%(objectname:short)%00%(committerdate:short)%00%(upstream:short)%00%(upstream:track,nobracket)%00%(contents:subject)"
            .into(),
    );
    let answer = asker.ask(&arguments, MOST_ANSWER).await?;
    let output = String::from_utf8_lossy(&answer.output);
    let head = asker.try_ask(&words(&["symbolic-ref", "--quiet", "--short", "HEAD"]), 2_000).await?;
    let mut text = String::new();
    if head.code != 0 {
        let at = asker.try_ask(&words(&["rev-parse", "--short", "HEAD"]), 2_000).await?;
        text.push_str(&format!("* (detached at {})\n", String::from_utf8_lossy(&at.output).trim()));
    }
    let all: Vec<&str> = output.lines().collect();
    for line in all.iter().take(SHOWN) {
        let mut fields = line.splitn(7, '\0');
        let mut next = || printable(fields.next().unwrap_or_default());
        let (mark, name, hash, date, upstream, track, subject) =
            (next(), next(), next(), next(), next(), next(), next());
        let upstream = match (upstream.as_str(), track.as_str()) {
            ("", _) => String::new(),
            (upstream, "") => format!("[{upstream}] "),
            (upstream, track) => format!("[{upstream}: {track}] "),
        };
        text.push_str(&format!("{mark} {name} {hash} {date} {upstream}{subject}\n"));
    }
    if all.is_empty() {
        let name = String::from_utf8_lossy(&head.output).trim().to_owned();
        text.push_str(&format!("* {} (no commits yet)\n", printable(&name)));
    }
    let notes =
        if all.len() > SHOWN { vec![format!("only the {SHOWN} newest are shown")] } else { Vec::new() };
    Ok(Told { text, notes, summary: format!("{} branches", all.len().min(SHOWN)) })
}

pub(super) async fn worktrees(asker: &Asker<'_>) -> Result<Told, Stop> {
    let answer = asker.ask(&words(&["worktree", "list", "--porcelain", "-z"]), MOST_ANSWER).await?;
    let output = String::from_utf8_lossy(&answer.output);
    let all: Vec<&str> = output.split("\0\0").filter(|tree| !tree.trim_matches('\0').is_empty()).collect();
    let mut text = String::new();
    for tree in all.iter().take(SHOWN) {
        let field = |name: &str| {
            tree.split('\0').find_map(|line| line.strip_prefix(name)).map(|value| printable(value.trim()))
        };
        let path = field("worktree ").unwrap_or_default();
        let path = shown(&PathBuf::from(&path), &asker.scene.workspace);
        let head: String = field("HEAD ").unwrap_or_default().chars().take(10).collect();
        let branch = match (field("branch "), field("detached"), field("bare")) {
            (Some(branch), _, _) => branch.trim_start_matches("refs/heads/").to_owned(),
            (None, _, Some(_)) => "(bare)".to_owned(),
            (None, _, None) => "(detached)".to_owned(),
        };
        let locked = field("locked").map(|_| " locked").unwrap_or_default();
        let gone = field("prunable").map(|_| " gone").unwrap_or_default();
        text.push_str(&format!("{path} {branch} {head}{locked}{gone}\n"));
    }
    let notes = if all.len() > SHOWN { vec![format!("{SHOWN} of {} shown", all.len())] } else { Vec::new() };
    Ok(Told { text, notes, summary: format!("{} worktrees", all.len()) })
}
