//! Whether a process failed because of its jail, recognised from the end of what it printed.
//!
//! A tool says what the kernel said, in words of its own. A message alone proves
//! nothing: files are read-only and servers refuse without any jail. So a
//! message counts only if the jail would have refused just that: a path that it
//! does not let be written, a host while it has no network.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::explain_tables::{NETWORK, PROCESSES, READING, SPACE, SYSTEM_CALLS, WRITING};
use super::{Jail, Network, TEMPORARY};
use crate::run::Status;

/// How much of the end is looked at, in lines.
const LINES: usize = 200;

/// What a jail refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Changing or making this.
    Write(PathBuf),
    /// Reading this.
    Read(PathBuf),
    /// Talking to this host, if it was named.
    Network(Option<String>),
    /// This system call, as far as it can be told.
    Syscall(String),
    /// Starting one more process.
    Processes,
    /// More room in the temporary directory.
    Space,
}

/// A failure that a jail caused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What was refused.
    pub what: Refusal,
    /// The same as a sentence for whoever reads the output.
    pub sentence: String,
}

/// Recognises a failure that the jail caused. Nothing for a process that went well, or failed on its own.
///
/// `output_tail` is the end of what it printed. Relative paths are taken to be in the first writable
/// directory, which is the workspace.
pub fn explain(jail: &Jail, status: Status, output_tail: &[u8]) -> Option<Refused> {
    if status == Status::Code(0) {
        return None;
    }
    let text = String::from_utf8_lossy(output_tail);
    // The last message is the one that ended it.
    text.lines()
        .rev()
        .take(LINES)
        .find_map(|line| of_line(jail, line))
        .map(|what| Refused { sentence: sentence(&what), what })
}

fn of_line(jail: &Jail, line: &str) -> Option<Refusal> {
    let says = |table: &[&str]| table.iter().any(|words| contains(line, words));
    if says(WRITING) || says(READING) {
        for path in paths(line) {
            let path = absolute(jail, &path);
            if says(READING) && is_hidden(jail, &path) {
                return Some(Refusal::Read(path));
            }
            let refused = says(WRITING) && refuses_write(jail, &path);
            if refused && (contains(line, "read-only file system") || names_a_change(line)) {
                return Some(Refusal::Write(path));
            }
        }
    }
    if jail.network == Network::Off && says(NETWORK) {
        let host = host(line);
        if !host.as_deref().is_some_and(is_own) {
            return Some(Refusal::Network(host));
        }
    }
    if says(SPACE) && paths(line).iter().any(|path| is_temporary(jail, path)) {
        return Some(Refusal::Space);
    }
    if says(PROCESSES) {
        return Some(Refusal::Processes);
    }
    let call = SYSTEM_CALLS.iter().find(|(words, _)| contains(line, words))?;
    contains(line, "operation not permitted").then(|| Refusal::Syscall(call.1.to_owned()))
}

/// Without regard to case, for words that are written in small letters.
fn contains(line: &str, words: &str) -> bool {
    line.as_bytes().windows(words.len()).any(|window| window.eq_ignore_ascii_case(words.as_bytes()))
}

/// "Permission denied" alone is also said about reading: then a word for a change must be there too, or
/// nothing but the path, as shells do for a redirection.
fn names_a_change(line: &str) -> bool {
    const CHANGES: &[&str] = &[
        "create", "write", "open", "remove", "unlink", "delete", "rename", "move", "mkdir", "touch", "chmod",
        "chown", "lock", "append", "truncate", "copy", "copying", "save", "update", "symlink", "link",
        "store", "mkstemp",
    ];
    CHANGES.iter().any(|word| contains(line, word)) || is_shell_message(line)
}

/// `bash: line 1: /etc/x: Permission denied`.
fn is_shell_message(line: &str) -> bool {
    let mut parts = line.split(": ");
    let first = parts.next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    let is_shell = ["bash", "sh", "zsh", "dash", "-bash", "fish"].contains(&name) || first.ends_with(".sh");
    is_shell && parts.count() >= 2
}

/// Everything in a line that can be a path: quoted, or between blanks, without what surrounds it.
fn paths(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    // What a shell says of itself may be a path too: `/usr/bin/bash: line 1: /etc/x: …`.
    let line =
        line.split_once(": ").map_or(line, |(_, rest)| if rest.starts_with("line ") { rest } else { line });
    for quote in ['\'', '"', '`', '‘'] {
        let end = if quote == '‘' { '’' } else { quote };
        let mut rest = line;
        while let Some((_, after)) = rest.split_once(quote) {
            let Some((inside, next)) = after.split_once(end) else { break };
            found.push(inside.to_owned());
            rest = next;
        }
    }
    let is_edge =
        |c: char| matches!(c, ':' | ',' | ';' | '(' | ')' | '[' | ']' | '\'' | '"' | '`' | '‘' | '’');
    // A path with blanks is not found this way, but whole parts between colons are.
    found.extend(line.split(": ").map(|part| part.trim_matches(is_edge).to_owned()));
    found.extend(line.split_whitespace().map(|word| word.trim_matches(is_edge).to_owned()));
    found.retain(|path| path.starts_with('/') || path.starts_with('.') || path.contains('/'));
    found.retain(|path| !path.contains("://"));
    found
}

fn absolute(jail: &Jail, path: &str) -> PathBuf {
    let base = jail.writable.first().cloned().unwrap_or_default();
    // `join` takes an absolute path as it is. Dots are resolved without looking.
    let mut clean = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            std::path::Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

fn is_hidden(jail: &Jail, path: &Path) -> bool {
    jail.hidden.iter().any(|hidden| path.starts_with(hidden))
}

fn refuses_write(jail: &Jail, path: &Path) -> bool {
    let depth = |roots: &[PathBuf]| {
        roots.iter().filter(|root| path.starts_with(root)).map(|root| root.components().count()).max()
    };
    if is_temporary_path(path) || path.starts_with("/dev") || path.starts_with("/proc/self/fd") {
        return false;
    }
    depth(&jail.read_only) >= depth(&jail.writable) || is_beside(jail, path)
}

/// A file that a tool makes beside a kept one to put it in its place: `.git/config.lock`.
fn is_beside(jail: &Jail, path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(".lock").is_some_and(|name| jail.read_only.iter().any(|kept| kept == Path::new(name)))
}

fn is_temporary_path(path: &Path) -> bool {
    TEMPORARY.iter().any(|temporary| path.starts_with(temporary))
}

fn is_temporary(jail: &Jail, path: &str) -> bool {
    let path = absolute(jail, path);
    is_temporary_path(&path) || jail.temporary.directory.as_ref().is_some_and(|own| path.starts_with(own))
}

/// The host that a message names: after "host", in a URL, or before a port.
fn host(line: &str) -> Option<String> {
    let is_edge =
        |c: char| matches!(c, '\'' | '"' | '`' | ':' | ';' | ',' | '.' | '(' | ')' | '‘' | '’' | '>' | '<');
    let clean = |word: &str| {
        let word = word.trim_matches(is_edge);
        let word = word.split_once("://").map_or(word, |(_, rest)| rest);
        let word = word.split('/').next().unwrap_or_default();
        word.rsplit_once('@').map_or(word, |(_, host)| host).trim_matches(is_edge).to_owned()
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    if let Some(url) = words.iter().find(|word| word.contains("://")) {
        return Some(without_port(&clean(url)));
    }
    const BEFORE: &[&str] = &["host", "hostname", "enotfound", "eai_again", "lookup", "econnrefused", "tcp"];
    let named = words.windows(2).find_map(|pair| {
        let [before, name] = pair else { return None };
        let before = before.trim_matches(is_edge);
        let is_named = BEFORE.iter().any(|word| before.eq_ignore_ascii_case(word));
        let name = name.trim_matches(is_edge);
        (is_named && !BEFORE.iter().any(|word| name.eq_ignore_ascii_case(word)))
            .then(|| without_port(&clean(name)))
            .filter(|name| name.contains('.') || name.contains(':') || name == "localhost")
    });
    let named = named.or_else(|| {
        // "Failed to connect to 192.0.2.1 port 80": whatever stands between.
        let (_, rest) = line.split_once("onnect to ")?;
        Some(without_port(&clean(rest.split_whitespace().next()?)))
    });
    named.filter(|name| name.contains('.') || name.contains(':') || name == "localhost")
}

fn without_port(host: &str) -> String {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.to_owned()
        }
        _ => host.to_owned(),
    }
}

/// The loopback inside works: what it refuses, nobody listened to.
fn is_own(host: &str) -> bool {
    host == "localhost" || host.starts_with("127.") || host == "::1" || host == "[::1]" || host == "0.0.0.0"
}

fn sentence(what: &Refusal) -> String {
    match what {
        Refusal::Write(path) => format!(
            "The command was not allowed to write {}: it is confined. Write inside the workspace or $TMPDIR, or ask \
             for this path to be writable.",
            path.display()
        ),
        Refusal::Read(path) => format!(
            "The command was not allowed to read {}: it may hold secrets and is hidden from commands.",
            path.display()
        ),
        Refusal::Network(Some(host)) => format!(
            "The command was not allowed to reach {host}: it runs without network. Only its own loopback works."
        ),
        Refusal::Network(None) => {
            "The command was not allowed to use the network. Only its own loopback works.".to_owned()
        }
        Refusal::Syscall(name) => format!("The command was not allowed to use `{name}`: it is confined."),
        Refusal::Processes => "The command was not allowed to start more processes at once.".to_owned(),
        Refusal::Space => {
            "The private temporary directory is full; remove what is not needed from it.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, Preference, Temporary};
    use super::*;

    fn jail() -> Jail {
        Jail {
            writable: vec!["/w".into(), "/home/u/.cargo/registry".into()],
            read_only: vec!["/w/.git/config".into(), "/w/.git/hooks".into(), "/w/.rein".into()],
            hidden: vec!["/home/u/.ssh".into(), "/home/u/.netrc".into()],
            network: Network::Off,
            temporary: Temporary::default(),
            limits: Limits::default(),
            preference: Preference::Automatic,
        }
    }

    fn what(output: &str) -> Option<Refusal> {
        explain(&jail(), Status::Code(1), output.as_bytes()).map(|refused| refused.what)
    }

    #[test]
    fn a_write_that_the_jail_refused_is_recognised() {
        for (output, path) in [
            ("bash: line 1: /etc/x: Read-only file system", "/etc/x"),
            ("bash: line 1: /etc/x: Permission denied", "/etc/x"),
            ("/usr/bin/bash: line 1: /etc/x: Read-only file system", "/etc/x"),
            ("/usr/bin/bash: line 12: /etc/x: Permission denied", "/etc/x"),
            ("touch: cannot touch '/usr/lib/a b': Read-only file system", "/usr/lib/a b"),
            ("mkdir: cannot create directory ‘/home/u/new’: Read-only file system", "/home/u/new"),
            ("rm: cannot remove '../other/file': Read-only file system", "/other/file"),
            ("cp: cannot create regular file '/opt/x': Permission denied", "/opt/x"),
            ("error: could not lock config file .git/config: Read-only file system", "/w/.git/config"),
            ("error: could not write config file /w/.git/config: Device or resource busy", "/w/.git/config"),
            (
                "fatal: Unable to create '/other/.git/index.lock': Read-only file system",
                "/other/.git/index.lock",
            ),
            (
                "error: failed to open: /home/u/.cargo/.package-cache: Read-only file system (os error 30)",
                "/home/u/.cargo/.package-cache",
            ),
            (
                "error: failed to write `/home/u/.cargo/bin/x`\n\nCaused by:\n  Read-only file system (os error 30) '/home/u/.cargo/bin/x'",
                "/home/u/.cargo/bin/x",
            ),
            (
                "npm error path /usr/lib/node_modules/x\nnpm error Error: EROFS: read-only file system, mkdir '/usr/lib/node_modules/x'",
                "/usr/lib/node_modules/x",
            ),
            ("Error: EACCES: permission denied, open '/etc/hosts'", "/etc/hosts"),
            ("OSError: [Errno 30] Read-only file system: '/home/u/.local/lib/x'", "/home/u/.local/lib/x"),
            ("PermissionError: [Errno 13] Permission denied: '/opt/write'", "/opt/write"),
            (
                "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/usr/lib/python3/x'",
                "/usr/lib/python3/x",
            ),
            ("go: could not create module cache: mkdir /home/u/go: read-only file system", "/home/u/go"),
            (
                "make: *** [Makefile:2: /usr/local/bin/tool] Error 1\ninstall: cannot create regular file '/usr/local/bin/tool': Read-only file system",
                "/usr/local/bin/tool",
            ),
            (
                "mkdir: cannot create directory ‘.rein/x’: Read-only file system\nmake: *** [all] Error 1",
                "/w/.rein/x",
            ),
            ("fs.go:1: open /etc/x: read-only file system", "/etc/x"),
        ] {
            assert_eq!(what(output), Some(Refusal::Write(path.into())), "{output}");
        }
    }

    #[test]
    fn a_secret_that_was_not_there_is_recognised() {
        for (output, path) in [
            ("cat: /home/u/.ssh/id_ed25519: No such file or directory", "/home/u/.ssh/id_ed25519"),
            ("cat: /home/u/.netrc: Permission denied", "/home/u/.netrc"),
            ("Load key \"/home/u/.ssh/id_rsa\": Permission denied", "/home/u/.ssh/id_rsa"),
        ] {
            assert_eq!(what(output), Some(Refusal::Read(path.into())), "{output}");
        }
    }

    #[test]
    fn a_network_that_is_off_is_recognised_with_its_host() {
        for (output, host) in [
            ("curl: (6) Could not resolve host: example.com", Some("example.com")),
            (
                "fatal: unable to access 'https://user@git.example.com/x/': Could not resolve host: git.example.com",
                Some("git.example.com"),
            ),
            (
                "ssh: Could not resolve hostname git.example.com: Temporary failure in name resolution",
                Some("git.example.com"),
            ),
            (
                "npm error code EAI_AGAIN\nnpm error request to https://packages.example.com/x failed, reason: getaddrinfo EAI_AGAIN packages.example.com",
                Some("packages.example.com"),
            ),
            ("Error: getaddrinfo ENOTFOUND api.example.com", Some("api.example.com")),
            (
                "dial tcp: lookup proxy.example.com: Temporary failure in name resolution",
                Some("proxy.example.com"),
            ),
            ("dial tcp 192.0.2.7:443: connect: network is unreachable", Some("192.0.2.7")),
            ("curl: (7) Failed to connect to 192.0.2.1 port 80: Network is unreachable", Some("192.0.2.1")),
            ("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", None),
            ("bash: connect: Network is unreachable", None),
            (
                "error: failed to download from `https://static.example.com/x.crate`\n\nCaused by:\n  [6] Could not resolve hostname (Could not resolve host: static.example.com)",
                Some("static.example.com"),
            ),
            ("connect ECONNREFUSED 192.0.2.1:5432", Some("192.0.2.1")),
        ] {
            assert_eq!(what(output), Some(Refusal::Network(host.map(str::to_owned))), "{output}");
        }
    }

    #[test]
    fn limits_and_calls_are_recognised() {
        for (output, refusal) in [
            ("bash: fork: retry: Resource temporarily unavailable", Refusal::Processes),
            ("BlockingIOError: [Errno 11] Resource temporarily unavailable: fork", Refusal::Processes),
            ("dd: error writing '/tmp/big': No space left on device", Refusal::Space),
            ("mount: /mnt: mount: Operation not permitted", Refusal::Syscall("mount".to_owned())),
            ("unshare: unshare failed: Operation not permitted", Refusal::Syscall("unshare".to_owned())),
        ] {
            assert_eq!(what(output), Some(refusal), "{output}");
        }
    }

    #[test]
    fn what_the_jail_allows_is_not_blamed_on_it() {
        for output in [
            "",
            "bash: line 1: /w/locked: Permission denied",
            "bash: ./script.sh: Permission denied",
            "cat: /etc/shadow: Permission denied",
            "cat: /w/missing: No such file or directory",
            "curl: (7) Failed to connect to localhost port 3000: Connection refused",
            "connect ECONNREFUSED 127.0.0.1:5432",
            "dd: error writing '/w/big': No space left on device",
            "git@github.com: Permission denied (publickey).",
            "error[E0308]: mismatched types",
            "touch: cannot touch '/tmp/x/y': No such file or directory",
            "the file system is not read-only",
        ] {
            assert_eq!(what(output), None, "{output}");
        }
        assert_eq!(explain(&jail(), Status::Code(0), b"bash: /etc/x: Read-only file system"), None);
        let open = Jail { network: Network::On, ..jail() };
        assert_eq!(explain(&open, Status::Code(6), b"curl: (6) Could not resolve host: example.com"), None);
    }

    #[test]
    fn the_sentence_names_what_was_refused() {
        let refused =
            explain(&jail(), Status::Code(1), b"bash: line 1: /etc/x: Read-only file system").unwrap();
        assert!(
            refused.sentence.contains("/etc/x") && refused.sentence.contains("confined"),
            "{}",
            refused.sentence
        );
    }
}
