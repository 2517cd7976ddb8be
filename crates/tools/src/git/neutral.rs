//! How git is started, and what a repository cannot make it run.
//!
//! The configuration of a repository is data that somebody else may have
//! written, and dozens of its keys name programs. For reads every key that one
//! of the commands used here would obey is overridden: those with a fixed name
//! by a table, those that carry a name of their own (`filter.lfs.clean`) after
//! asking git, which of them there are. Overrides travel in the environment,
//! where a key may contain anything, and count more than every file.
//!
//! Submodules have a configuration of their own that no override reaches, so no
//! command here looks into them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rein_sandbox::Spawn;

use crate::contract::Scene;

/// Keys that make git run something, ask somebody or print otherwise, and what they are for a read.
pub(super) const FOR_READS: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ""),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("diff.submodule", "short"),
    ("diff.relative", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.defaultKeyCommand", ""),
    ("log.showSignature", "false"),
    ("log.showRoot", "true"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
    ("status.relativePaths", "false"),
];

/// The same for every command, also for those that change something.
pub(super) const ALWAYS: &[(&str, &str)] = &[
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("sequence.editor", "true"),
    ("color.ui", "never"),
    ("column.ui", "never"),
    ("core.quotePath", "false"),
    // What it leaves in the background would be ended in the middle.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // A directory full of files that looks like a repository without a working tree is none.
    ("safe.bareRepository", "explicit"),
];

/// Keys with a name in the middle.
pub(super) const NAMED: &[(&str, &str, &str)] = &[
    ("filter", "clean", ""),
    ("filter", "smudge", ""),
    ("filter", "process", ""),
    ("filter", "required", "false"),
    ("diff", "command", ""),
    ("diff", "textconv", ""),
    ("merge", "driver", ""),
    ("gpg", "program", "false"),
    ("credential", "helper", ""),
    ("remote", "uploadpack", "false"),
    ("remote", "proxy", ""),
    ("remote", "vcs", ""),
];

/// Variables of git that are the user's own word on who they are and where git is.
const KEPT: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
];

/// A setting that counts more than every file.
pub(super) type Override = (OsString, OsString);

/// What a command is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Conduct<'a> {
    /// To look: nothing but git itself runs, nothing is written. With what [`overrides`] found.
    Read(&'a [Override]),
    /// To change: as the user's own git would, but without a pager, an editor or a question.
    Change,
}

/// A git command, ready to be started: the only place where one is made.
pub(super) fn spawn(scene: &Scene, git: &Path, conduct: Conduct<'_>, arguments: &[OsString]) -> Spawn {
    let held = scene.held(Spawn::new(git, &scene.workspace));
    let mut spawn = held.timeout(scene.command_timeout).arg("--no-pager");
    for argument in arguments {
        spawn = spawn.arg(argument);
    }
    for name in unwanted(std::env::vars_os().map(|(name, _)| name)) {
        spawn = spawn.without(name);
    }
    // Messages are compared, so they must be those that git has without a translation.
    spawn = spawn.variable("LC_MESSAGES", "C").variable("GIT_TERMINAL_PROMPT", "0");
    if let Some(all) = std::env::var_os("LC_ALL") {
        spawn = spawn.variable("LC_CTYPE", all);
    }
    let mut settings: Vec<Override> = ALWAYS.iter().map(|(key, value)| (key.into(), value.into())).collect();
    if let Conduct::Read(named) = conduct {
        settings.extend(FOR_READS.iter().map(|(key, value)| (key.into(), value.into())));
        settings.extend(named.iter().cloned());
        spawn = spawn
            .variable("GIT_OPTIONAL_LOCKS", "0")
            .variable("GIT_NO_LAZY_FETCH", "1")
            .variable("GIT_ALLOW_PROTOCOL", "none")
            .variable("GIT_ASKPASS", "false");
    }
    spawn = spawn.variable("GIT_CONFIG_COUNT", settings.len().to_string());
    for (index, (key, value)) in settings.into_iter().enumerate() {
        spawn = spawn
            .variable(format!("GIT_CONFIG_KEY_{index}"), key)
            .variable(format!("GIT_CONFIG_VALUE_{index}"), value);
    }
    spawn
}

/// Variables that rein was started with and that would lead git elsewhere: `GIT_DIR` in a hook, for example.
fn unwanted(names: impl Iterator<Item = OsString>) -> Vec<OsString> {
    names
        .filter(|name| {
            let language = name == "LC_ALL" || name == "LANGUAGE";
            let git =
                name.as_bytes().starts_with(b"GIT_") && !KEPT.iter().any(|kept| OsStr::new(kept) == name);
            language || git
        })
        .collect()
}

/// The overrides for the keys that `git config --list --name-only -z` named.
pub(super) fn overrides(listed: &[u8]) -> Vec<Override> {
    let mut found: Vec<Override> = listed
        .split(|byte| *byte == 0)
        .filter_map(|key| Some((OsString::from_vec(key.to_vec()), harmless(key)?.into())))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The value that takes the danger out of a key with a name in the middle.
fn harmless(key: &[u8]) -> Option<&'static str> {
    let first = key.iter().position(|byte| *byte == b'.')?;
    let last = key.iter().rposition(|byte| *byte == b'.').filter(|last| *last > first)?;
    let section = key.get(..first)?;
    let variable = key.get(last + 1..)?;
    NAMED
        .iter()
        .find(|(named, end, _)| {
            named.as_bytes().eq_ignore_ascii_case(section) && end.as_bytes().eq_ignore_ascii_case(variable)
        })
        .map(|(_, _, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_a_name_in_the_middle_are_found_whatever_the_name() {
        let listed =
            b"core.bare\0filter.lfs.clean\0filter.a.b=c.process\0filter.lfs.clean\0diff.X.textconv\0filter.clean\0\0";
        let expected: Vec<Override> = vec![
            ("diff.X.textconv".into(), "".into()),
            ("filter.a.b=c.process".into(), "".into()),
            ("filter.lfs.clean".into(), "".into()),
        ];
        assert_eq!(overrides(listed), expected);
    }

    #[test]
    fn what_leads_git_elsewhere_is_taken_away() {
        let names = [
            "GIT_DIR",
            "GIT_AUTHOR_NAME",
            "PATH",
            "GIT_EXTERNAL_DIFF",
            "LC_ALL",
            "GITHUB_ACTOR",
            "GIT_TRACE",
        ];
        assert_eq!(
            unwanted(names.iter().map(OsString::from)),
            ["GIT_DIR", "GIT_EXTERNAL_DIFF", "LC_ALL", "GIT_TRACE"].map(OsString::from)
        );
    }
}
