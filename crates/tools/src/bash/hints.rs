//! Hints to the model: that nothing can be typed, and that another tool does it better.

/// What programs print that wanted to ask somebody or draw.
const WANTS_A_PERSON: &[&str] = &[
    "the input device is not a tty",
    "stdin is not a terminal",
    "stdin is not a tty",
    "not a tty",
    "inappropriate ioctl for device",
    "a terminal is required to",
    "no tty present",
    "no askpass program specified",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "aborting commit due to empty commit message",
    "eof when reading a line",
    "host key verification failed",
    "must be run in an interactive terminal",
    "requires an interactive terminal",
    "error opening terminal",
    "cannot prompt in non-interactive mode",
];

/// A hint for a command that failed, if it seems to have waited for a person.
pub(super) fn wanted_a_person(output: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(output).to_lowercase();
    let wanted = WANTS_A_PERSON.iter().any(|phrase| text.contains(phrase));
    wanted.then_some(
        "nothing can be typed here: give the answer by an option (-y, -m, --no-input), or use `pty` with \
         `background` and type with job",
    )
}

/// The tool that does better what a whole command line does, and in how many words to say it.
pub(super) fn better_tool(command: &str) -> Option<(&'static str, &'static str)> {
    let command = command.trim();
    if command.contains(['|', ';', '&', '<', '>', '`', '$', '\n', '(']) {
        return None;
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let has = |flag: char| {
        words
            .iter()
            .skip(1)
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(flag))
    };
    match words.as_slice() {
        ["cat", file] if !file.starts_with('-') => Some(("cat", "read shows files with line numbers")),
        ["sed", "-n", _, _] | ["head" | "tail", ..] if words.len() > 1 => {
            Some(("cat", "read shows a part of a file by `offset` and `limit`"))
        }
        ["grep" | "egrep", ..] if has('r') || has('R') => {
            Some(("grep", "grep searches the workspace and skips ignored files"))
        }
        ["rg", ..] => Some(("grep", "grep searches the workspace and skips ignored files")),
        ["find", ..] if words.iter().any(|word| matches!(*word, "-name" | "-iname")) => {
            Some(("find", "glob finds files by name and skips ignored ones"))
        }
        ["ls", ..] if has('R') => Some(("find", "glob lists files below a directory")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_commands_that_a_tool_does_better_are_hinted_at() {
        let kind = |command: &str| better_tool(command).map(|(kind, _)| kind);
        for command in ["cat a.txt", " cat src/x.rs ", "sed -n 1,20p a", "head -n 5 a", "tail -20 a"] {
            assert_eq!(kind(command), Some("cat"), "{command}");
        }
        for command in ["grep -rn foo .", "grep -R x src", "rg foo"] {
            assert_eq!(kind(command), Some("grep"), "{command}");
        }
        for command in ["find . -name '*.rs'", "ls -laR"] {
            assert_eq!(kind(command), Some("find"), "{command}");
        }
        for command in [
            "cat a | wc -l",
            "cat > x",
            "grep foo a",
            "find . -newer x",
            "ls -l",
            "cat a; cat b",
            "catch a",
            "cat",
        ] {
            assert_eq!(kind(command), None, "{command}");
        }
    }

    #[test]
    fn a_program_that_wanted_a_person_is_recognised() {
        assert!(wanted_a_person(b"docker: the input device is not a TTY\n").is_some());
        assert!(wanted_a_person(b"sudo: a terminal is required to read the password").is_some());
        assert!(wanted_a_person(b"error: no such file").is_none());
    }
}
