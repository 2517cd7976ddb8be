//! The second wall around files: even if a mount were wrong, this says what may be opened how.
//!
//! Landlock knows paths that are granted and no exceptions from them. In
//! namespaces it grants reading everything, since what must not be read is not
//! there, and writing what is writable. Alone it must leave out what is hidden:
//! everything beside it is granted instead. What is kept inside the workspace
//! it cannot keep.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope,
};

use crate::jail::plan::{Plan, temporary_directories};
use crate::jail::{Network, Way};

/// What is known of Landlock here; a kernel that knows less gives less.
const KNOWN: ABI = ABI::V9;

/// Directories inside that are this process's own.
const OWN: &[&str] = &["/dev"];

/// Single devices, for a jail that has the machine's `/dev`.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Restricts this process and all that it starts. Says whether the kernel took part at all.
pub(crate) fn restrict(plan: &Plan, way: Way, network: Network) -> Result<Effect, RulesetError> {
    let alone = way == Way::LandlockAlone;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?;
    if alone && network == Network::Off {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let mut rules = ruleset.create()?;
    let write = AccessFs::from_all(KNOWN) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    rules = if alone {
        let listed = BitFlags::from(AccessFs::ReadDir);
        let mut rules = grant(rules, Path::new("/"), listed)?;
        for path in beside(&plan.hidden) {
            rules = grant(rules, &path, AccessFs::from_read(KNOWN))?;
        }
        for path in DEVICES {
            rules = grant(rules, Path::new(path), write)?;
        }
        if let Some(path) = &plan.temporary {
            rules = grant(rules, path, write)?;
        }
        rules
    } else {
        let mut rules = grant(rules, Path::new("/"), AccessFs::from_read(KNOWN))?;
        for path in OWN.iter().map(PathBuf::from).chain(temporary_directories()) {
            rules = grant(rules, &path, write)?;
        }
        rules
    };
    for path in &plan.writable {
        rules = grant(rules, path, write)?;
    }
    let status: RestrictionStatus = rules.restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::NotEnforced => Effect::None,
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Effect::Restricted,
    })
}

/// Whether it had an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Restricted,
    None,
}

/// A path that is gone needs no grant.
fn grant(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
    rules.add_rule(PathBeneath::new(opened, access))
}

/// The fewest paths that together are everything without the hidden ones.
fn beside(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut granted = Vec::new();
    descend(Path::new("/"), hidden, &mut granted);
    granted
}

fn descend(directory: &Path, hidden: &[PathBuf], granted: &mut Vec<PathBuf>) {
    if hidden.iter().any(|path| path == directory) {
        return;
    }
    if !hidden.iter().any(|path| path.starts_with(directory)) {
        granted.push(directory.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        // What a link leads to is granted where it is.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            descend(&entry.path(), hidden, granted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_beside_what_is_hidden_is_granted() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["home/.ssh", "home/work", "other"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let mut granted = Vec::new();
        descend(&root, &[root.join("home/.ssh")], &mut granted);
        granted.sort();
        assert_eq!(granted, [root.join("home/work"), root.join("other")]);
    }
}
