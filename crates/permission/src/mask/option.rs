//! Secrets that are recognised by the option before them: `--password x`, and
//! the short options of programs that take a secret.

use super::name::means_secret;
use super::{Span, end_of_quote};

/// Where the secret of an option is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// In the same word: `-pSECRET`.
    Attached,
    /// In the next word: `-p SECRET`.
    Next,
    /// In the same word or the next.
    Either,
    /// As `Next`, after a colon: `-u NAME:SECRET`.
    AfterColon,
    /// As `Next`, after a per cent sign: `-U NAME%SECRET`.
    AfterPercent,
}

/// Programs, their options that take a secret, and where it is.
const OPTIONS: [(&str, &str, Form); 38] = [
    ("mysql", "-p", Form::Attached),
    ("mysqldump", "-p", Form::Attached),
    ("mysqladmin", "-p", Form::Attached),
    ("mysqlimport", "-p", Form::Attached),
    ("mariadb", "-p", Form::Attached),
    ("mariadb-dump", "-p", Form::Attached),
    ("mariadb-admin", "-p", Form::Attached),
    ("mycli", "-p", Form::Either),
    ("sshpass", "-p", Form::Either),
    ("mongo", "-p", Form::Next),
    ("mongosh", "-p", Form::Next),
    ("mongodump", "-p", Form::Next),
    ("mongorestore", "-p", Form::Next),
    ("redis-cli", "-a", Form::Next),
    ("docker", "-p", Form::Next),
    ("podman", "-p", Form::Next),
    ("helm", "-p", Form::Next),
    ("az", "-p", Form::Next),
    ("oc", "-p", Form::Next),
    ("curl", "-u", Form::AfterColon),
    ("curl", "--user", Form::AfterColon),
    ("curl", "-U", Form::AfterColon),
    ("curl", "--proxy-user", Form::AfterColon),
    ("http", "-a", Form::AfterColon),
    ("https", "-a", Form::AfterColon),
    ("smbclient", "-U", Form::AfterPercent),
    ("ldapsearch", "-w", Form::Next),
    ("ldapadd", "-w", Form::Next),
    ("ldapmodify", "-w", Form::Next),
    ("ldapwhoami", "-w", Form::Next),
    ("7z", "-p", Form::Attached),
    ("7za", "-p", Form::Attached),
    ("7zz", "-p", Form::Attached),
    ("zip", "-P", Form::Either),
    ("unzip", "-P", Form::Either),
    ("sqlcmd", "-P", Form::Either),
    ("bcp", "-P", Form::Either),
    ("ansible-vault", "--vault-password", Form::Next),
];

/// `-p` of these programs is a secret only when they log in.
const ONLY_TO_LOG_IN: [&str; 5] = ["docker", "podman", "helm", "az", "oc"];

/// How deep scripts in quotes are looked into.
const DEEPEST: usize = 4;

pub(super) fn find(text: &str, found: &mut Vec<Span>) {
    within(text, 0, DEEPEST, found);
}

/// A piece of a command line, without its quotes.
#[derive(Clone, Copy)]
struct Word<'a> {
    start: usize,
    text: &'a str,
}

impl Word<'_> {
    fn span(&self, from: usize) -> Span {
        self.start + from..self.start + self.text.len()
    }
}

fn within(text: &str, offset: usize, depth: usize, found: &mut Vec<Span>) {
    for command in commands(text, offset) {
        let options = options(&command);
        for (index, word) in command.iter().enumerate() {
            let next = command.get(index + 1).filter(|next| !next.text.starts_with('-'));
            for (_, option, form) in options.iter().filter(|(program, ..)| *program < index) {
                found.extend(of_option(word, next, option, *form));
            }
            if is_long(word.text) && means_secret(word.text.trim_start_matches('-')) {
                found.extend(next.map(|next| next.span(0)));
            }
            if let Some(at) = word.text.strip_prefix("pass:").and(Some(5)) {
                found.push(word.span(at));
            }
            if depth > 0 && word.text.contains(char::is_whitespace) {
                within(word.text, word.start, depth - 1, found);
            }
        }
    }
}

/// The options that count in a command, with the place of the program they belong to.
fn options(command: &[Word<'_>]) -> Vec<(usize, &'static str, Form)> {
    let programs: Vec<&str> = command.iter().map(|word| base(word.text)).collect();
    let logs_in = programs.contains(&"login");
    let counts = |program: &str| logs_in || !ONLY_TO_LOG_IN.contains(&program);
    OPTIONS
        .iter()
        .filter(|(program, ..)| counts(program))
        .filter_map(|(program, option, form)| {
            Some((programs.iter().position(|word| word == program)?, *option, *form))
        })
        .collect()
}

fn of_option(word: &Word<'_>, next: Option<&Word<'_>>, option: &str, form: Form) -> Option<Span> {
    let attached = word.text.strip_prefix(option).filter(|rest| !rest.is_empty());
    match form {
        Form::Attached => attached.map(|_| word.span(option.len())),
        Form::Next => (word.text == option).then_some(next?.span(0)),
        Form::Either if attached.is_some() => Some(word.span(option.len())),
        Form::Either => (word.text == option).then_some(next?.span(0)),
        Form::AfterColon => after(word, next, option, ':'),
        Form::AfterPercent => after(word, next, option, '%'),
    }
}

fn after(word: &Word<'_>, next: Option<&Word<'_>>, option: &str, sign: char) -> Option<Span> {
    if word.text == option {
        let next = next?;
        return next.text.find(sign).map(|at| next.span(at + 1));
    }
    word.text.strip_prefix(option)?;
    word.text.find(sign).map(|at| word.span(at + 1))
}

/// `--option` or `-option`, without a value in the same word, and not a denial.
fn is_long(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    word.starts_with('-') && name.len() > 2 && !name.contains('=') && !name.starts_with("no-")
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The words of each command, as far as that can be told without understanding the shell.
fn commands(text: &str, offset: usize) -> Vec<Vec<Word<'_>>> {
    let mut commands = vec![Vec::new()];
    let mut at = 0;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if matches!(character, ';' | '|' | '&' | '\n' | '(' | ')') {
            commands.push(Vec::new());
            at += 1;
        } else if character.is_whitespace() {
            at += character.len_utf8();
        } else {
            let (word, end) = word_at(text, at, offset);
            if let Some(command) = commands.last_mut() {
                command.push(word);
            }
            at = end;
        }
    }
    commands
}

/// The word that begins here, and where it ends. One that is quoted as a whole loses its quotes.
fn word_at(text: &str, start: usize, offset: usize) -> (Word<'_>, usize) {
    let rest = text.get(start..).unwrap_or_default();
    let mut end = 0;
    while let Some(character) = rest.get(end..).and_then(|rest| rest.chars().next()) {
        match character {
            '"' | '\'' => {
                let inside = rest.get(end + 1..).unwrap_or_default();
                end = (end + 1 + end_of_quote(inside, character) + 1).min(rest.len());
            }
            '\\' => {
                end += 1 + rest.get(end + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            }
            ';' | '|' | '&' | '(' | ')' => break,
            other if other.is_whitespace() => break,
            other => end += other.len_utf8(),
        }
    }
    let word = rest.get(..end).unwrap_or_default();
    let unquoted = ['"', '\''].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote));
    let (text, from) = match unquoted {
        Some(inside) => (inside, 1),
        None => (word, 0),
    };
    (Word { start: offset + start + from, text }, start + end)
}
