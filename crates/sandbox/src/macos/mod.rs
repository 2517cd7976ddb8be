//! The walls of macOS: a profile for Seatbelt, as text, and the program that applies it.
//!
//! The text is made on every system, so that it is tested on every system. In a
//! profile the last rule that fits decides: so what is writable comes first,
//! then what is kept in it, then what is hidden. What is missing is kept as well
//! as what is there, since rules are about names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::jail::{Jail, Network};
use crate::spawn::Spawn;

/// The program that applies a profile.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What every program needs, whatever it may do.
const BASE: &str = "(version 1)
(allow default)
(deny file-write*)
(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (literal \"/dev/ptmx\") \
(regex #\"^/dev/ttys[0-9]+$\") (subpath \"/dev/fd\"))
(deny process-info* (target others))
(allow process-info* (target same-sandbox))
(deny signal)
(allow signal (target same-sandbox))
(deny mach-priv*)
(deny system-privilege)
(deny nvram*)
(deny appleevent-send)
(deny iokit-open (iokit-user-client-class \"IOUserClient\"))
";

/// The profile of a jail.
pub fn profile(jail: &Jail) -> String {
    let mut text = BASE.to_owned();
    let mut rule = |verb: &str, paths: &mut dyn Iterator<Item = &Path>| {
        for path in paths {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "({verb} (subpath {}))", quoted(path));
        }
    };
    let temporary = jail.temporary.directory.as_deref();
    rule("allow file-write*", &mut jail.writable.iter().map(|path| path.as_path()).chain(temporary));
    rule("deny file-write*", &mut jail.read_only.iter().map(|path| path.as_path()));
    // A directory on the way could otherwise be moved away, with what is kept in it.
    for path in &jail.read_only {
        for above in path.ancestors().skip(1).take_while(|above| is_inside(above, jail)) {
            let _ = writeln!(text, "(deny file-write-unlink (literal {}))", quoted(above));
        }
    }
    for path in &jail.hidden {
        let _ = writeln!(text, "(deny file-read* file-write* (subpath {}))", quoted(path));
    }
    if jail.network == Network::Off {
        text.push_str(
            "(deny network*)\n(allow network* (local ip \"localhost:*\"))\n\
             (allow network-outbound (remote ip \"localhost:*\"))\n",
        );
    }
    text.push_str("(deny network-outbound (remote unix-socket))\n");
    for path in jail.writable.iter().map(|path| path.as_path()).chain(temporary) {
        let _ = writeln!(text, "(allow network* (subpath {}))", quoted(path));
    }
    text
}

fn is_inside(path: &Path, jail: &Jail) -> bool {
    jail.writable.iter().any(|root| path.starts_with(root))
}

/// A path as a string of the profile. What is no text cannot be said in one and is replaced, which makes the
/// rule fit nothing: a jail names such a path in no rule that widens.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for character in path.to_string_lossy().chars() {
        if matches!(character, '"' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('"');
    text
}

/// The command for a process that no helper attends.
pub(crate) fn command(spawn: &Spawn) -> Command {
    match spawn.jail.as_deref().filter(|_| cfg!(target_os = "macos")) {
        Some(jail) => {
            let mut command = Command::new(SANDBOX_EXEC);
            command.arg("-p").arg(profile(jail)).arg("--").arg(&spawn.program).args(&spawn.args);
            command
        }
        None => {
            let mut command = Command::new(&spawn.program);
            command.args(&spawn.args);
            command
        }
    }
}

/// Where a confined process puts what nobody needs later, for its environment.
pub(crate) fn temporary(spawn: &Spawn) -> Option<(&'static str, PathBuf)> {
    spawn.jail.as_deref()?.temporary.directory.clone().map(|directory| ("TMPDIR", directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jail::JailRequest;

    fn jail() -> Jail {
        let mut jail = Jail::standard(&JailRequest::new("/nowhere"));
        jail.writable = vec!["/w".into(), "/a \"b\\c".into()];
        jail.read_only = vec!["/w/.git/config".into()];
        jail.hidden = vec!["/Users/u/.ssh".into()];
        jail
    }

    #[test]
    fn what_is_kept_comes_after_what_is_writable_and_what_is_hidden_last() {
        let text = profile(&jail());
        assert_eq!(
            text.strip_prefix(BASE).unwrap(),
            r#"(allow file-write* (subpath "/w"))
(allow file-write* (subpath "/a \"b\\c"))
(deny file-write* (subpath "/w/.git/config"))
(deny file-write-unlink (literal "/w/.git"))
(deny file-write-unlink (literal "/w"))
(deny file-read* file-write* (subpath "/Users/u/.ssh"))
(deny network*)
(allow network* (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
(deny network-outbound (remote unix-socket))
(allow network* (subpath "/w"))
(allow network* (subpath "/a \"b\\c"))
"#
        );
    }

    #[test]
    fn a_network_that_is_on_is_not_mentioned_and_a_temporary_directory_is_writable() {
        let mut jail = jail();
        jail.network = Network::On;
        jail.temporary.directory = Some("/private/t".into());
        let text = profile(&jail);
        assert!(
            !text.contains("(deny network*)")
                && text.contains("(allow file-write* (subpath \"/private/t\"))")
        );
    }

    #[test]
    fn a_name_cannot_end_its_string() {
        assert_eq!(quoted(Path::new("/a\") (allow default) (\"")), r#""/a\") (allow default) (\"""#);
    }
}
