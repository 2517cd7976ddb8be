//! How many words name what is run: `npm run build` is three, `ls` one.
//!
//! The dictionary is data, `tables/arity.txt`; the longest entry that a command
//! begins with counts, and options are skipped. What is offered for "always"
//! never covers more than the words that a person was shown.

use crate::analysis::Program;
use crate::map::Map;
use crate::program;
use crate::tables::{Tables, tables};
use crate::word::{Word, line};
use std::sync::OnceLock;

/// The most words that name a command.
const LONGEST: usize = 6;

/// Entries with their counts, and for each first word how long its longest entry is.
#[derive(Default)]
struct Dictionary {
    counts: Map<&'static str, usize>,
    longest: Map<&'static str, usize>,
}

fn dictionary() -> &'static Dictionary {
    static DICTIONARY: OnceLock<Dictionary> = OnceLock::new();
    DICTIONARY.get_or_init(|| {
        let mut dictionary = Dictionary::default();
        for line in include_str!("tables/arity.txt").lines() {
            let Some((count, entries)) = line.split_once(' ') else { continue };
            let Ok(count) = count.parse::<usize>() else { continue };
            for entry in entries.split(',').map(str::trim) {
                let first = entry.split(' ').next().unwrap_or(entry);
                let longest = dictionary.longest.entry(first).or_default();
                *longest = (*longest).max(entry.split(' ').count());
                dictionary.counts.insert(entry, count);
            }
        }
        dictionary
    })
}

/// How many entries the dictionary has.
#[must_use]
pub fn entries() -> usize {
    dictionary().counts.len()
}

/// The words that name what a command runs. Options and their values are skipped; a program that the dictionary
/// does not have is named by its first word.
#[must_use]
pub fn prefix(tokens: &[&str]) -> Vec<String> {
    let words: Vec<Word> = tokens.iter().map(|token| Word::text(*token)).collect();
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let name = program.literal().unwrap_or_default();
    let canonical = tables()
        .and_then(|tables| program::resolve(name, arguments, tables))
        .map_or_else(|| words.clone(), |resolved| resolved.canonical());
    named(&canonical)
}

/// The prefix of words whose options before a sub-command are gone already.
pub(crate) fn named(words: &[Word]) -> Vec<String> {
    let Some(first) = words.first().and_then(Word::literal) else { return Vec::new() };
    let dictionary = dictionary();
    let Some(longest) = dictionary.longest.get(first) else { return vec![first.to_owned()] };
    let mut names = vec![first.to_owned()];
    for word in words.iter().skip(1) {
        let Some(text) = word.literal() else { break };
        if text == "--" || names.len() >= LONGEST {
            break;
        }
        let toolchain = text.starts_with('+') && names.len() == 1;
        if !text.starts_with('-') && !toolchain {
            names.push(text.to_owned());
        }
    }
    for length in (1..=names.len().min(*longest)).rev() {
        let key = names.get(..length).unwrap_or_default().join(" ");
        if let Some(count) = dictionary.counts.get(key.as_str()) {
            names.truncate((*count).max(1));
            return names;
        }
    }
    names.truncate(1);
    names
}

/// The pattern to offer for a command. None for what is destructive, for what is not known in full, and for words
/// that would themselves be patterns.
pub(crate) fn always(words: &[Word], program: &Program) -> Option<String> {
    let tables = tables()?;
    let prefix = named(words);
    let unknown = matches!(program, Program::Unknown | Program::Function(_)) || prefix.is_empty();
    let pattern = prefix.iter().any(|word| word.contains(['*', '?']));
    if unknown || pattern || destructive(words, program, tables).is_some() {
        return None;
    }
    let words: Vec<Word> = prefix.into_iter().map(Word::text).collect();
    Some(format!("{} *", line(&words)))
}

/// Why nothing broader than the exact command may be offered.
fn destructive<'t>(words: &[Word], program: &Program, tables: &'t Tables) -> Option<&'t str> {
    let name = program.name().map(program::file_name)?;
    let known = program::table_name(name, tables).unwrap_or(name);
    let mut rows = [known, name].into_iter().filter_map(|name| tables.destructive.get(name)).flatten();
    let rest = words.get(1..).unwrap_or_default();
    let operands: Vec<&str> =
        rest.iter().filter_map(Word::literal).filter(|word| !word.starts_with('-')).take(3).collect();
    rows.find(|row| {
        let mut head = row.head.split(' ').skip(1);
        let mut place = operands.iter();
        let begins = head.all(|wanted| place.next() == Some(&wanted));
        begins && (row.options.is_empty() || row.options.iter().any(|option| uses(rest, option)))
    })
    .map(|row| row.reason.as_str())
}

/// Whether an option is used, bundled or abbreviated, or may be.
fn uses(words: &[Word], option: &str) -> bool {
    words.iter().take_while(|word| word.literal() != Some("--")).any(|word| {
        let start = word.start();
        if word.literal().is_none() && word.may_be_option() {
            return true;
        }
        if option.starts_with("--") {
            let name = start.split('=').next().unwrap_or_default();
            return name.len() > 3 && option.starts_with(name);
        }
        let letters = start.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let wanted = option.trim_start_matches('-');
        letters.is_some_and(|letters| letters == wanted || wanted.len() == 1 && letters.contains(wanted))
    })
}
