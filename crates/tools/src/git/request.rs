//! What a call asks for, made of its arguments: every name checked, so that
//! nothing of it can be taken for an option or for a magic word.

use std::ffi::OsString;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::contract::{Complaint, Scene};
use crate::path::Place;

/// Commits of a log when nothing is said, and at most.
const USUAL_COMMITS: usize = 20;
const MOST_COMMITS: usize = 500;

/// A longer name is none.
const MOST_NAME: usize = 1_000;

/// The kernel takes no longer argument.
const MOST_MESSAGE: usize = 100 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    action: Action,
    paths: Option<Vec<String>>,
    rev: Option<String>,
    /// Of a branch.
    name: Option<String>,
    message: Option<String>,
    /// Commits, 20 by default.
    limit: Option<usize>,
    staged: Option<bool>,
    delete: Option<bool>,
    /// Also when that discards work.
    force: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Status,
    Diff,
    Log,
    Show,
    Add,
    Commit,
    Branch,
    Checkout,
    Worktree,
}

/// A call that is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    Look(Look),
    Change(Change),
}

/// What only looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Look {
    Status {
        paths: Vec<Named>,
    },
    Diff {
        between: Between,
        paths: Vec<Named>,
    },
    Log {
        revs: Option<Range>,
        paths: Vec<Named>,
        limit: usize,
    },
    Show {
        rev: Revision,
        paths: Vec<Named>,
    },
    /// A file or directory as it was; `None` is as it is staged.
    ShowFile {
        rev: Option<Revision>,
        path: String,
    },
    Branches,
    Worktrees,
}

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Between {
    IndexAndFiles,
    HeadAndIndex,
    RevisionAndIndex(Revision),
    RevisionAndFiles(Revision),
    Range(Range),
}

/// One revision or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Range {
    One(Revision),
    Two { from: Revision, dots: &'static str, to: Revision },
}

/// What changes something. The fields are those of the command that it becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Add { paths: Vec<Named> },
    Commit { message: String },
    CreateBranch { name: String, at: Option<Revision>, force: Force },
    DeleteBranch { name: String, force: Force },
    Switch { name: String, force: Force },
    SwitchNew { name: String, at: Revision, force: Force },
    Detach { at: Revision, force: Force },
    Restore { paths: Vec<Named>, from: Option<Revision>, part: Part },
    AddWorktree { path: Named, name: Option<String>, at: Option<Revision>, force: Force },
    RemoveWorktree { path: Named, force: Force },
}

/// Whether what is in the way is discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    No,
    Yes,
}

/// What is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Files,
    Index,
}

/// A name of a commit that is no option and has no blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Revision(pub(super) String);

/// A path as the model wrote it, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) given: OsString,
    /// Up to the first wildcard.
    pub(super) leads_to: PathBuf,
}

impl Request {
    /// Makes sense of the arguments.
    pub(super) fn new(arguments: Arguments, scene: &Scene) -> Result<Self, Complaint> {
        let action = arguments.action;
        let paths = arguments.paths.unwrap_or_default();
        let paths: Vec<Named> =
            paths.iter().map(|path| Named::new(path, scene)).collect::<Result<_, Complaint>>()?;
        let rev = arguments.rev.filter(|rev| !rev.trim().is_empty());
        let name = arguments.name.filter(|name| !name.is_empty()).map(branch_name).transpose()?;
        let force = if arguments.force == Some(true) { Force::Yes } else { Force::No };
        let staged = arguments.staged == Some(true);
        let delete = arguments.delete == Some(true);
        let look = |look| Ok(Self::Look(look));
        match action {
            Action::Status => look(Look::Status { paths }),
            Action::Diff => look(Look::Diff { between: between(rev.as_deref(), staged)?, paths }),
            Action::Log => {
                let revs = rev.as_deref().map(Range::new).transpose()?;
                let limit = arguments.limit.unwrap_or(USUAL_COMMITS).clamp(1, MOST_COMMITS);
                look(Look::Log { revs, paths, limit })
            }
            Action::Show => show(rev.as_deref().unwrap_or("HEAD"), paths).map(Self::Look),
            Action::Add if paths.is_empty() => {
                Err(Complaint("`paths` is missing: name the files to stage, or [\".\"] for all.".to_owned()))
            }
            Action::Add => Ok(Self::Change(Change::Add { paths })),
            Action::Commit => commit(arguments.message, &paths).map(Self::Change),
            Action::Branch => branch(name, rev, delete, force),
            Action::Checkout => checkout(paths, name, rev, staged, force).map(Self::Change),
            Action::Worktree => worktree(paths, name, rev, delete, force),
        }
    }
}

fn between(rev: Option<&str>, staged: bool) -> Result<Between, Complaint> {
    Ok(match (rev.map(Range::new).transpose()?, staged) {
        (None, false) => Between::IndexAndFiles,
        (None, true) => Between::HeadAndIndex,
        (Some(Range::One(rev)), false) => Between::RevisionAndFiles(rev),
        (Some(Range::One(rev)), true) => Between::RevisionAndIndex(rev),
        (Some(range @ Range::Two { .. }), false) => Between::Range(range),
        (Some(Range::Two { .. }), true) => {
            return Err(Complaint("`staged` compares with one `rev`, not with a range.".to_owned()));
        }
    })
}

fn show(rev: &str, paths: Vec<Named>) -> Result<Look, Complaint> {
    let Some((rev, path)) = rev.split_once(':') else {
        return Ok(Look::Show { rev: Revision::new(rev)?, paths });
    };
    let strange = path.is_empty()
        || path.starts_with(['/', ':'])
        || path.contains('\0')
        || path.split('/').any(|part| matches!(part, ".." | "."));
    if strange {
        return Err(Complaint(format!(
            "`rev`: after the colon of `{rev}:…` comes a path from the top of the repository, without . and ..: HEAD:src/main.rs"
        )));
    }
    let rev = if rev.is_empty() { None } else { Some(Revision::new(rev)?) };
    Ok(Look::ShowFile { rev, path: path.trim_end_matches('/').to_owned() })
}

fn commit(message: Option<String>, paths: &[Named]) -> Result<Change, Complaint> {
    let message = message.unwrap_or_default();
    if message.trim().is_empty() {
        return Err(Complaint(
            "`message` is missing: a commit needs one that says what changed and why.".to_owned(),
        ));
    }
    if message.contains('\0') || message.len() > MOST_MESSAGE {
        return Err(Complaint(format!("`message` must be shorter than {MOST_MESSAGE} bytes, without NUL.")));
    }
    if !paths.is_empty() {
        return Err(Complaint("commit takes what is staged, and no `paths`: add them first.".to_owned()));
    }
    Ok(Change::Commit { message })
}

fn branch(
    name: Option<String>,
    rev: Option<String>,
    delete: bool,
    force: Force,
) -> Result<Request, Complaint> {
    Ok(match (name, delete) {
        (None, false) => Request::Look(Look::Branches),
        (None, true) => {
            return Err(Complaint("`name` is missing: which branch is to be deleted?".to_owned()));
        }
        (Some(name), true) => Request::Change(Change::DeleteBranch { name, force }),
        (Some(name), false) => {
            let at = rev.as_deref().map(Revision::new).transpose()?;
            Request::Change(Change::CreateBranch { name, at, force })
        }
    })
}

fn checkout(
    paths: Vec<Named>,
    name: Option<String>,
    rev: Option<String>,
    staged: bool,
    force: Force,
) -> Result<Change, Complaint> {
    let at = rev.as_deref().map(Revision::new).transpose()?;
    let part = if staged { Part::Index } else { Part::Files };
    Ok(match (paths.is_empty(), name, at) {
        (false, None, from) => Change::Restore { paths, from, part },
        (false, Some(_), _) => {
            return Err(Complaint("Give either `name`, to switch, or `paths`, to restore them.".to_owned()));
        }
        (true, Some(name), None) => Change::Switch { name, force },
        (true, Some(name), Some(at)) => Change::SwitchNew { name, at, force },
        (true, None, Some(at)) => Change::Detach { at, force },
        (true, None, None) => {
            return Err(Complaint(
                "Give `name` to switch to a branch, `name` and `rev` to make one, `rev` to detach, or `paths` to restore them."
                    .to_owned(),
            ));
        }
    })
}

fn worktree(
    paths: Vec<Named>,
    name: Option<String>,
    rev: Option<String>,
    delete: bool,
    force: Force,
) -> Result<Request, Complaint> {
    let mut paths = paths.into_iter();
    Ok(match (paths.next(), paths.next(), delete) {
        (None, _, false) => Request::Look(Look::Worktrees),
        (None, _, true) => {
            return Err(Complaint("`paths` is missing: which worktree is to be removed?".to_owned()));
        }
        (Some(_), Some(_), _) => return Err(Complaint("`paths`: one worktree at a time.".to_owned())),
        (Some(path), None, true) => Request::Change(Change::RemoveWorktree { path, force }),
        (Some(path), None, false) => {
            let at = rev.as_deref().map(Revision::new).transpose()?;
            Request::Change(Change::AddWorktree { path, name, at, force })
        }
    })
}

impl Range {
    fn new(text: &str) -> Result<Self, Complaint> {
        // The longer one first.
        for dots in ["...", ".."] {
            if let Some((from, to)) = text.split_once(dots) {
                let side = |side: &str| Revision::new(if side.trim().is_empty() { "HEAD" } else { side });
                return Ok(Self::Two { from: side(from)?, dots, to: side(to)? });
            }
        }
        Revision::new(text).map(Self::One)
    }
}

impl Revision {
    fn new(text: &str) -> Result<Self, Complaint> {
        let text = text.trim();
        let strange = text.is_empty()
            || text.len() > MOST_NAME
            || text.starts_with('-')
            || text.contains("..")
            || text
                .chars()
                .any(|c| c.is_control() || c.is_whitespace() || matches!(c, ':' | '*' | '?' | '[' | '\\'));
        if strange {
            return Err(Complaint(format!(
                "`rev`: `{}` names no commit here. Write a hash, a branch, a tag, or HEAD~2.",
                text.chars().take(100).collect::<String>().escape_debug()
            )));
        }
        Ok(Self(text.to_owned()))
    }
}

/// By the rules of `git check-ref-format --branch`, without the short forms that it expands.
fn branch_name(name: String) -> Result<String, Complaint> {
    let strange = name.len() > MOST_NAME
        || name.starts_with(['-', '/', '.'])
        || name.ends_with(['/', '.'])
        || name == "@"
        || name == "HEAD"
        || ["..", "//", "@{", "/."].iter().any(|bad| name.contains(bad))
        || name.split('/').any(|part| part.ends_with(".lock"))
        || name.chars().any(|c| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c));
    if strange {
        return Err(Complaint(format!(
            "`name`: `{}` cannot be the name of a branch. Use letters, digits, - and /.",
            name.chars().take(100).collect::<String>().escape_debug()
        )));
    }
    Ok(name)
}

impl Named {
    fn new(given: &str, scene: &Scene) -> Result<Self, Complaint> {
        if given.starts_with(':') {
            return Err(Complaint(format!(
                "`paths`: `{given}` would be a magic word to git. Write ./{given} if a file is called so."
            )));
        }
        if climbs(given) {
            return Err(Complaint(format!(
                "`paths`: in `{given}`, .. stands after a name. Write the path that it leads to."
            )));
        }
        let plain_end = given.find(['*', '?', '[']).map_or(given.len(), |wild| {
            given.get(..wild).and_then(|before| before.rfind('/')).map_or(0, |slash| slash + 1)
        });
        let plain =
            given.get(..plain_end).filter(|plain| !plain.is_empty() || given.is_empty()).unwrap_or(".");
        let leads_to = Place::find(plain, scene)?.path;
        // `~` is ours; everything else git reads as the workspace would.
        let given =
            if given.starts_with('~') && plain == given { leads_to.clone().into() } else { given.into() };
        Ok(Self { given, leads_to })
    }
}

/// Whether `..` follows a name: git takes it off the text, the system follows the link before it,
/// and after a wildcard nobody can say where it leads.
fn climbs(given: &str) -> bool {
    let mut parts = given.split('/').skip_while(|part| matches!(*part, "." | ".."));
    parts.any(|part| part == "..")
}
