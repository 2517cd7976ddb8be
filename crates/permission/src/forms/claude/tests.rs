//! What each form of Claude Code's becomes.

use super::super::json;
use super::*;
use Action::{Allow, Ask, Deny};
use proptest::prelude::*;

/// The rules without their action, or the error's name.
fn read(text: &str, action: Action) -> Vec<String> {
    match rule(text, action, "test") {
        Ok(found) => {
            assert!(found.rules.iter().all(|rule| rule.action == action && rule.origin == "test"));
            found.rules.iter().map(ToString::to_string).collect()
        }
        Err(error) => {
            vec![format!("! {}", format!("{error:?}").split([' ', '{', '(']).next().unwrap_or_default())]
        }
    }
}

#[test]
fn commands_become_patterns_of_the_same_breadth() {
    for (text, ours) in [
        ("Bash", "bash:*"),
        ("Bash(git log:*)", "bash:git log *"),
        ("Bash(git log *)", "bash:git log *"),
        ("Bash(git:*)", "bash:git *"),
        ("Bash(npm run test)", "bash:npm run test"),
        ("Bash(npm run test:unit:*)", "bash:npm run test:unit *"),
        ("Bash(npm run test*)", "bash:npm run test*"),
        ("Bash(rm :*)", "bash:rm ?*"),
        ("Bash(git * main)", "bash:git * main"),
        ("Bash(git * main *)", "bash:git * main ?*"),
        ("Bash(git commit -m 'a; b')", "bash:git commit -m 'a; b'"),
        (" Bash( ls ) ", "bash:ls"),
    ] {
        assert_eq!(read(text, Allow), [ours], "{text}");
    }
}

#[test]
fn an_allow_that_would_be_wider_or_is_no_command_is_not_understood() {
    for (text, error) in [
        ("Bash(*)", "! Everything"),
        ("Bash(:*)", "! Everything"),
        ("Bash(**)", "! Everything"),
        ("Bash( *)", "! Everything"),
        ("Bash()", "! NotARule"),
        ("Bash(cd a && npm test)", "! SeveralCommands"),
        ("Bash(npm test 2>&1)", "! SeveralCommands"),
        ("Bash(git log | head:*)", "! SeveralCommands"),
        ("Bash(git commit -m \"$(cat x)\":*)", "! SeveralCommands"),
        ("Bash(done)", "! Fragment"),
        ("Bash(do echo:*)", "! Fragment"),
        ("Bash(for f in *.txt)", "! Fragment"),
        ("Bash(ls ?)", "! Character"),
        ("Bash(find . -name \\*.rs)", "! Character"),
        ("Bash(rg x --glob \"*.rs\")", "! Character"),
        ("Bash(echo \"x:*)", "! OpenQuote"),
        ("// Bash(git reset:*)", "! NotARule"),
        ("Bash(git log", "! NotARule"),
        ("Task(.*x.*):*", "! NotARule"),
        ("", "! NotARule"),
        ("mcp__github__get_issue", "! ServerTool"),
        ("mcp__github__*", "! ServerTool"),
        ("WebSearch", "! NoSuchTool"),
        ("Skill(qa)", "! NoSuchTool"),
        ("PowerShell(ls)", "! NoSuchTool"),
        ("Glob", "! OnlySearch"),
        ("Grep(src/**)", "! OnlySearch"),
        ("NotebookEdit(src/**)", "! Everything"),
        ("WebFetch(*)", "! Everything"),
        ("WebFetch(domain:*)", "! Everything"),
        ("WebFetch(domain:*.example.com)", "! NotADomain"),
        ("WebFetch(domain:exa*mple.com)", "! NotADomain"),
        ("WebFetch(domain:x.io/*)", "! NotADomain"),
        ("WebFetch(https://x.io/)", "! NotADomain"),
        ("Read(/etc/**)", "! AmbiguousRoot"),
        ("Edit(src/*.ts)", "! SingleLevel"),
        ("Read(C:\\x\\**)", "! PathSyntax"),
    ] {
        assert_eq!(read(text, Allow), [error], "{text}");
    }
}

#[test]
fn files_and_hosts_become_patterns_of_the_same_breadth() {
    for (text, ours) in [
        ("Read", vec!["read:*"]),
        ("Read(~/x)", vec!["read:~/x"]),
        ("Edit(src/**)", vec!["edit:src/**"]),
        ("Write(docs/**)", vec!["edit:docs/**"]),
        ("MultiEdit(*.py)", vec!["edit:*.py"]),
        ("Edit(src/**/*.ts)", vec!["edit:src/*.ts"]),
        ("NotebookEdit", vec!["edit:*.ipynb"]),
        ("WebFetch", vec!["webfetch:*"]),
        ("WebFetch(domain:Example.com)", vec!["webfetch:https://example.com/*"]),
    ] {
        assert_eq!(read(text, Allow), ours, "{text}");
    }
    let note = |text: &str, action| rule(text, action, "test").unwrap().stricter.is_some();
    assert!(note("Read(~/x)", Allow) && note("WebFetch(domain:x.io)", Allow));
    assert!(!note("Edit(src/**)", Allow) && !note("Bash(git:*)", Allow) && !note("Read(./secrets/**)", Deny));
    assert!(note("Read(/etc/*)", Deny) && note("Edit(docs/*.md)", Deny) && note("Grep(x/**)", Ask));
}

#[test]
fn what_narrows_may_cover_more_and_never_less() {
    for (text, ours) in [
        ("Bash(*)", vec!["bash:*"]),
        ("Bash(rm:*)", vec!["bash:rm *"]),
        ("Bash(ls ?)", vec!["bash:ls ?"]),
        ("Bash(git *--no-verify*)", vec!["bash:git *--no-verify*"]),
        ("Bash(git * push *)", vec!["bash:git * push *"]),
        ("Bash(curl * | bash)", vec!["! SeveralCommands"]),
        ("Read(./.env)", vec!["read:**/.env", "read:**/.env/*"]),
        ("Read(./secrets/**)", vec!["read:secrets/**"]),
        ("Grep(./private/**)", vec!["read:private/**"]),
        ("Grep", vec!["! OnlySearch"]),
        ("WebFetch(domain:x.io)", vec!["webfetch:*://x.io/*", "webfetch:*://x.io:*"]),
        ("WebFetch(domain:*.x.io)", vec!["webfetch:*://*.x.io/*", "webfetch:*://*.x.io:*"]),
        ("WebFetch(*)", vec!["webfetch:*"]),
    ] {
        assert_eq!(read(text, Deny), ours, "{text}");
        assert_eq!(read(text, Ask), ours, "{text}");
    }
}

#[test]
fn settings_are_read_with_their_lines() {
    let text = r#"{
  // mine
  "permissions": {
    "allow": [
      "Bash(ls:*)",
      7,
    ],
    "deny": ["Read(.env)"],
    "ask": "Bash",
    "defaultMode": "acceptEdits",
    "additionalDirectories": ["~/docs/", "../x", "/"],
    "disableBypassPermissionsMode": "disable"
  },
}"#;
    let found = settings(&json::parse(text).unwrap(), "f");
    let brief: Vec<String> = found
        .iter()
        .map(|one| {
            let reading = match &one.reading {
                Ok(understood) => understood
                    .rules
                    .iter()
                    .map(|rule| format!("{rule} ({})", rule.origin))
                    .collect::<Vec<_>>()
                    .join(", "),
                Err(error) => error.to_string(),
            };
            format!("{} {} {reading}", one.line, one.text)
        })
        .collect();
    assert_eq!(
        brief,
        [
            "5 Bash(ls:*) bash:ls * (f:5)",
            "6 ? a string is expected there",
            "8 Read(.env) read:**/.env (f:8), read:**/.env/* (f:8)",
            "9 ask a list of strings is expected there",
            "10 defaultMode = acceptEdits how much runs without asking is for you to choose: the nearest is mode = \
             \"write\"",
            "11 additionalDirectories: ~/docs/ external_directory:~/docs/* (f:11)",
            "11 additionalDirectories: ../x `../x` is not an absolute path",
            "11 additionalDirectories: / `/` is not an absolute path",
        ]
    );
    assert_eq!(settings(&json::parse("{}").unwrap(), "f"), []);
    assert_eq!(settings(&json::parse("[1]").unwrap(), "f"), []);
}

/// What a pattern for commands covers there: `*` is the only wildcard, and one at the end after a blank, if it is the
/// only one, also stands for nothing at all.
fn theirs(pattern: &str, command: &str) -> bool {
    fn covers(pattern: &str, text: &str) -> bool {
        match pattern.split_once('*') {
            None => pattern == text,
            Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
                (0..=rest.len()).any(|taken| rest.get(taken..).is_some_and(|rest| covers(after, rest)))
            }),
        }
    }
    let pattern = match pattern.strip_suffix(":*") {
        // The beginning of the command, and the end of a word.
        Some(body) if body.ends_with(' ') => format!("{body}*"),
        Some(body) => format!("{body} *"),
        None => pattern.to_owned(),
    };
    let bare = pattern.strip_suffix(" *").filter(|bare| !bare.contains('*'));
    covers(&pattern, command) || bare == Some(command)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_allow_never_covers_more_commands_and_a_deny_never_less(
        pattern in "[ab][ab *?/\\\\]{0,6}(:\\*| \\*|\\*)?",
        command in "[ab][ab ?/]{0,8}",
    ) {
        let pattern = pattern.trim().to_owned();
        let covered = |action| {
            let found = rule(&format!("Bash({pattern})"), action, "test").ok()?;
            Some(found.rules.iter().any(|rule| wildcard::matches(&rule.pattern, &command)))
        };
        prop_assert!(covered(Allow) != Some(true) || theirs(&pattern, &command), "{pattern} allows {command}");
        prop_assert!(covered(Deny) != Some(false) || !theirs(&pattern, &command), "{pattern} misses {command}");
    }
}
