//! What a child is told by its environment: rein's own, without secrets and
//! without what changes how programs are loaded, and with everything set that
//! keeps programs from waiting for a person.
//!
//! The tables are data. Names are compared without regard to case; `*` stands
//! for anything. `SSH_AUTH_SOCK` is removed like a key, because whoever talks to
//! the agent can use the keys in it: what needs them fails with a clear message
//! instead of pushing in the user's name unasked.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Variables that carry a secret or open a door to one.
const SECRET: &[&str] = &[
    "*_KEY",
    "*_KEYS",
    "*_KEY_B64",
    "*_KEY_BASE64",
    "*_ACCESS_KEY*",
    "*_PRIVATE_KEY*",
    "*APIKEY*",
    "*API_KEY*",
    "*_TOKEN",
    "*_TOKENS",
    "*_TOKEN_FILE",
    "*AUTHTOKEN*",
    "*_SECRET",
    "*_SECRETS",
    "*_SECRET_*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*_PASS",
    "*_PWD",
    "*CREDENTIAL*",
    "*_AUTH",
    "*_AUTHORIZATION",
    "*_BEARER",
    "*_COOKIE",
    "*_COOKIES",
    "*_PAT",
    "*_DSN",
    "*_CONNECTION_STRING",
    "*_WEBHOOK",
    "*_WEBHOOK_URL",
    "APIKEY",
    "AUTHORIZATION",
    "KEY",
    "PASS",
    "PGPASSFILE",
    "SECRET",
    "TOKEN",
    "AWS_*",
    "AZURE_*",
    "CLOUDSDK_AUTH_*",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_*",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_VALUE_*",
    "GPG_AGENT_INFO",
    "NPM_CONFIG__AUTH*",
    "NPM_CONFIG_//*",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
];

/// Variables that make programs load code, run something first, or ask a person.
const TREACHEROUS: &[&str] = &[
    "BASH_ENV",
    "BASH_FUNC_*",
    "BASHOPTS",
    "CDPATH",
    "ENV",
    "GIT_ASKPASS",
    "GLOBIGNORE",
    "GPG_TTY",
    "LD_AUDIT",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "FORCE_COLOR",
];

/// Variables whose value may hold a user and a password, because without it there is no network.
const PROXY: &[&str] = &["*_PROXY"];

/// What keeps programs from opening a pager, an editor or a question, and from drawing.
const NON_INTERACTIVE: &[(&str, &str)] = &[
    ("AWS_PAGER", "cat"),
    ("CARGO_TERM_COLOR", "never"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("COMPOSER_NO_INTERACTION", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    // `true` leaves the text as it was: `git commit --amend` and `git rebase --continue` go on,
    // `git commit` without a message refuses.
    ("EDITOR", "true"),
    ("GCM_INTERACTIVE", "never"),
    ("GH_PAGER", "cat"),
    ("GH_PROMPT_DISABLED", "1"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("NPM_CONFIG_PROGRESS", "false"),
    ("PAGER", "cat"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("SYSTEMD_PAGER", "cat"),
    ("TERM", "dumb"),
    ("VISUAL", "true"),
];

/// The environment of a child, made from that of rein. Pure: the order is that
/// of `variables`, and what is set comes last. What `keep` names stays even if it
/// looks like a secret; what makes programs load code never does.
pub fn clean_environment(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    keep: &[OsString],
) -> Vec<(OsString, OsString)> {
    let mut clean: Vec<(OsString, OsString)> = variables
        .into_iter()
        .filter(|(name, value)| is_harmless(name, value) || (keep.contains(name) && !is_treacherous(name)))
        .filter(|(name, _)| !NON_INTERACTIVE.iter().any(|(set, _)| OsStr::new(set) == name))
        .collect();
    clean.extend(NON_INTERACTIVE.iter().map(|(name, value)| (name.into(), value.into())));
    clean
}

fn is_treacherous(name: &OsStr) -> bool {
    let name = name.as_bytes().to_ascii_uppercase();
    TREACHEROUS.iter().any(|pattern| fits(pattern.as_bytes(), &name))
}

fn is_harmless(name: &OsStr, value: &OsStr) -> bool {
    let name = name.as_bytes().to_ascii_uppercase();
    let matches = |table: &[&str]| table.iter().any(|pattern| fits(pattern.as_bytes(), &name));
    if matches(SECRET) || matches(TREACHEROUS) {
        return false;
    }
    matches(PROXY) || !names_a_password(value.as_bytes())
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skip| fits(rest, text.get(skip..).unwrap_or_default())),
        Some((first, rest)) => {
            text.split_first().is_some_and(|(head, tail)| head == first && fits(rest, tail))
        }
    }
}

/// Whether a value holds a URL with a password in it: `scheme://user:password@host`.
fn names_a_password(value: &[u8]) -> bool {
    value.windows(3).enumerate().filter(|(_, window)| *window == b"://").any(|(at, _)| {
        let rest = value.get(at + 3..).unwrap_or_default();
        let end =
            rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b' ')).unwrap_or(rest.len());
        let authority = rest.get(..end).unwrap_or_default();
        match authority.iter().rposition(|byte| *byte == b'@') {
            Some(at) => {
                let user = authority.get(..at).unwrap_or_default();
                user.iter().position(|byte| *byte == b':').is_some_and(|colon| colon + 1 < user.len())
            }
            None => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str, value: &str) -> bool {
        clean_environment([(name.into(), value.into())], &[]).contains(&(name.into(), value.into()))
    }

    #[test]
    fn secrets_are_removed_and_the_rest_is_kept() {
        for name in [
            "OPENAI_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "GITHUB_TOKEN",
            "GH_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "PGPASSWORD",
            "MYSQL_PWD",
            "REDISCLI_AUTH",
            "SSH_AUTH_SOCK",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SENTRY_DSN",
            "api_key",
            "Npm_Token",
            "npm_config_//registry.example/:_authToken",
            "TOKEN",
            "NPM_CONFIG__AUTH",
            "DB_PASSWORD_PROD",
            "STRIPE_SECRET_LIVE",
            "AZURE_CLIENT_ID",
            "SIGNING_KEY",
            "GIT_CONFIG_VALUE_0",
        ] {
            assert!(!kept(name, "x"), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "USER",
            "LANG",
            "PWD",
            "OLDPWD",
            "SHELL",
            "TMPDIR",
            "CARGO_HOME",
            "GIT_AUTHOR_NAME",
            "XDG_RUNTIME_DIR",
            "LD_LIBRARY_PATH",
            "KEYBOARD",
            "VIRTUAL_ENV",
            "NODE_OPTIONS",
            "TOKENIZERS_PARALLELISM",
        ] {
            assert!(kept(name, "x"), "{name}");
        }
    }

    #[test]
    fn a_password_inside_a_url_is_a_secret_except_for_proxies() {
        assert!(!kept("DATABASE_URL", "postgres://app:hunter2@db/app"));
        assert!(!kept("PIP_INDEX_URL", "see https://u:p@host/simple"));
        assert!(kept("DATABASE_URL", "postgres://db/app"));
        assert!(kept("HOMEPAGE", "https://host/a:b@c"));
        assert!(kept("REMOTE", "ssh://git@host/x"));
        assert!(kept("https_proxy", "http://user:pass@proxy:3128"));
    }

    #[test]
    fn a_name_that_is_kept_stays_unless_it_loads_code() {
        let keep = ["GH_TOKEN".into(), "LD_PRELOAD".into()];
        let variables = [
            ("GH_TOKEN".into(), "x".into()),
            ("LD_PRELOAD".into(), "x".into()),
            ("A_TOKEN".into(), "x".into()),
        ];
        let clean = clean_environment(variables, &keep);
        let found: Vec<&OsString> =
            clean.iter().filter(|(_, value)| value == "x").map(|(name, _)| name).collect();
        assert_eq!(found, ["GH_TOKEN"]);
    }

    #[test]
    fn what_changes_other_programs_is_removed() {
        for name in
            ["LD_PRELOAD", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "SHELLOPTS", "PROMPT_COMMAND", "GIT_ASKPASS"]
        {
            assert!(!kept(name, "x"), "{name}");
        }
    }

    #[test]
    fn nobody_is_asked_and_nothing_is_set_twice() {
        let clean =
            clean_environment([("PAGER".into(), "less".into()), ("TERM".into(), "xterm".into())], &[]);
        let pagers: Vec<_> = clean.iter().filter(|(name, _)| name == "PAGER").collect();
        assert_eq!(pagers, [&("PAGER".into(), "cat".into())]);
        assert_eq!(clean.len(), NON_INTERACTIVE.len());
    }
}
