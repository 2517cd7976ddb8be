//! Whether a pattern for commands means a command whose flags are spelled or
//! placed in another way.
//!
//! Only `ask` and `deny` rules are matched like this: it covers too much rather
//! than too little. `rm -rf *` means `rm -r -f x`, `rm x -fr` and
//! `rm --recursive --force x`; `git push --force *` means `git push --forc`.

use crate::wildcard;

/// Long names of flags that people write short, and the other way round. The
/// same letter means other things to other programs, which only makes a denial
/// broader.
const TWINS: [(&str, &str); 14] = [
    ("-r", "--recursive"),
    ("-R", "--recursive"),
    ("-r", "-R"),
    ("-f", "--force"),
    ("-d", "--delete"),
    ("-D", "--delete"),
    ("-n", "--dry-run"),
    ("-a", "--all"),
    ("-q", "--quiet"),
    ("-o", "--output"),
    ("-y", "--yes"),
    ("-i", "--interactive"),
    ("-x", "--exec"),
    ("-m", "--message"),
];

/// Whether the words of a pattern that has flags in it cover the words of a command.
///
/// The flags must all be there, anywhere; the other words of the pattern must
/// be the first words that are no flags, in their order.
pub(crate) fn covers(pattern: &[String], command: &[String]) -> bool {
    let is_flag = |word: &str| word.starts_with('-') && word.len() > 1;
    let wanted: Vec<&str> = pattern
        .iter()
        .map(String::as_str)
        .filter(|word| is_flag(word) && wildcard::is_literal(word))
        .collect();
    if wanted.is_empty() || pattern.iter().any(|word| is_flag(word) && !wildcard::is_literal(word)) {
        return false;
    }
    let present: Vec<&str> = command.iter().map(String::as_str).filter(|word| is_flag(word)).collect();
    let all =
        wanted.iter().all(|flag| separate(flag).all(|flag| present.iter().any(|other| means(other, &flag))));
    if !all {
        return false;
    }
    let mut operands = command.iter().map(String::as_str).filter(|word| !is_flag(word));
    let mut names = pattern.iter().map(String::as_str).filter(|word| !is_flag(word)).peekable();
    while let Some(name) = names.next() {
        if name == "*" && names.peek().is_none() {
            return true;
        }
        if !operands.next().is_some_and(|operand| wildcard::matches(name, operand)) {
            return false;
        }
    }
    // `git push --force` without a star is only that, with its flags in another way.
    operands.next().is_none() || pattern.last().is_some_and(|word| word == "*")
}

/// `-rf` is `-r` and `-f`; other flags are themselves.
fn separate(flag: &str) -> impl Iterator<Item = String> {
    let letters = flag.strip_prefix('-').filter(|rest| {
        !rest.starts_with('-') && rest.len() <= 4 && rest.chars().all(|letter| letter.is_ascii_alphabetic())
    });
    let parts: Vec<String> = match letters {
        Some(letters) => letters.chars().map(|letter| format!("-{letter}")).collect(),
        None => vec![flag.to_owned()],
    };
    parts.into_iter()
}

/// Whether a flag of a command is the one wanted, or may be.
fn means(given: &str, wanted: &str) -> bool {
    let same = |wanted: &str| {
        if wanted.starts_with("--") {
            let name = given.split('=').next().unwrap_or(given);
            return name == wanted || name.len() > 3 && wanted.starts_with(name);
        }
        match (wanted.strip_prefix('-'), given.strip_prefix('-')) {
            (Some(letter), Some(letters)) if letter.len() == 1 && !letters.starts_with('-') => {
                letters.contains(letter)
            }
            _ => given == wanted,
        }
    };
    same(wanted)
        || TWINS.iter().any(|(one, other)| (*one == wanted && same(other)) || (*other == wanted && same(one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(pattern: &str, command: &str) -> bool {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        covers(&words(pattern), &words(command))
    }

    #[test]
    fn flags_in_another_order_or_spelling_are_the_same_flags() {
        for (pattern, command) in [
            ("rm -rf *", "rm -fr x"),
            ("rm -rf *", "rm -r -f x"),
            ("rm -rf *", "rm x -rfv"),
            ("rm -rf *", "rm --recursive --force x"),
            ("git push --force *", "git push origin --forc main"),
            ("git push --force", "git push -f"),
            ("git push -f *", "git push origin main --force"),
            ("git checkout -- *", "git checkout -- x"),
            ("curl -o *", "curl --output=x https://a"),
        ] {
            assert!(covered(pattern, command), "{pattern} {command}");
        }
        for (pattern, command) in [
            ("rm -rf *", "rm -r x"),
            ("rm *", "rm -r x"),
            ("git push --force *", "git pull --force"),
            ("git push --force *", "git push origin"),
            ("git push --force", "git push --force origin"),
            ("rm -* x", "rm -rf x"),
        ] {
            assert!(!covered(pattern, command), "{pattern} {command}");
        }
    }
}
