//! Brace expansion: `a{b,c}` and `{1..5}`, before anything else is expanded.

use crate::syntax::tree::Part;

/// How many words one word may become.
const WORDS: usize = 256;

/// How many braces a word may have before they are not followed.
const BRACES: usize = 48;

/// How deep braces may nest.
const DEPTH: usize = 8;

/// How much text all words together may have.
const SIZE: usize = 64 * 1024;

/// What braces make of a word.
pub enum Braces {
    /// There are none.
    None,
    /// These words, one or more.
    Words(Vec<Vec<Part>>),
    /// Numbers, too many to list.
    Numbers,
    /// Too much to follow.
    TooMany,
}

#[derive(Clone, Copy)]
enum Item<'p> {
    Character(char),
    Part(&'p Part),
}

/// The words that a word becomes.
pub fn expand(parts: &[Part]) -> Braces {
    let bare = |part: &Part, wanted: char| matches!(part, Part::Text(text) if text.contains(wanted));
    if !parts.iter().any(|part| bare(part, '{')) || !parts.iter().any(|part| bare(part, '}')) {
        return Braces::None;
    }
    let items = items(parts);
    let braces = items.iter().filter(|item| matches!(item, Item::Character('{'))).count();
    if braces > BRACES {
        return Braces::TooMany;
    }
    if long_sequence(&items) {
        return Braces::Numbers;
    }
    match product(&items, 0) {
        Some(words) => Braces::Words(words.iter().map(|word| rebuilt(word)).collect()),
        None => Braces::TooMany,
    }
}

fn items(parts: &[Part]) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => items.extend(text.chars().map(Item::Character)),
            other => items.push(Item::Part(other)),
        }
    }
    items
}

fn rebuilt(items: &[Item<'_>]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for item in items {
        match (item, parts.last_mut()) {
            (Item::Character(character), Some(Part::Text(text))) => text.push(*character),
            (Item::Character(character), _) => parts.push(Part::Text(character.to_string())),
            (Item::Part(part), _) => parts.push((*part).clone()),
        }
    }
    parts
}

/// All combinations, left to right.
fn product<'p>(items: &[Item<'p>], depth: usize) -> Option<Vec<Vec<Item<'p>>>> {
    let mut words: Vec<Vec<Item<'p>>> = vec![Vec::new()];
    let mut index = 0;
    let mut size = 0;
    while let Some(item) = items.get(index) {
        let group = if matches!(item, Item::Character('{')) { group(items, index) } else { None };
        let Some((end, alternatives)) = group else {
            size += words.len();
            words.iter_mut().for_each(|word| word.push(*item));
            if size > SIZE {
                return None;
            }
            index += 1;
            continue;
        };
        if depth >= DEPTH {
            return None;
        }
        let mut expanded = Vec::new();
        for alternative in alternatives {
            expanded.extend(product(&alternative, depth + 1)?);
        }
        let mut next = Vec::new();
        for word in &words {
            for alternative in &expanded {
                size += word.len() + alternative.len();
                if next.len() >= WORDS || size > SIZE {
                    return None;
                }
                next.push(word.iter().chain(alternative).copied().collect());
            }
        }
        words = next;
        index = end + 1;
    }
    Some(words)
}

/// The alternatives of the group that opens at `start`, and where it closes. None if it is not a group.
fn group<'p>(items: &[Item<'p>], start: usize) -> Option<(usize, Vec<Vec<Item<'p>>>)> {
    let mut depth = 0_usize;
    let mut alternatives = vec![Vec::new()];
    for (index, item) in items.iter().enumerate().skip(start + 1) {
        match item {
            Item::Character('}') if depth == 0 => {
                if alternatives.len() > 1 {
                    return Some((index, alternatives));
                }
                let only = alternatives.into_iter().next()?;
                return sequence(&only).map(|words| (index, words));
            }
            Item::Character(',') if depth == 0 => {
                alternatives.push(Vec::new());
                continue;
            }
            Item::Character('{') => depth += 1,
            Item::Character('}') => depth -= 1,
            _ => {}
        }
        alternatives.last_mut()?.push(*item);
    }
    None
}

/// `1..5`, `a..e` and both with a step.
fn sequence<'p>(items: &[Item<'_>]) -> Option<Vec<Vec<Item<'p>>>> {
    let text = plain(items)?;
    let (first, last, step) = bounds(&text)?;
    let mut words = Vec::new();
    match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => {
            let padded = |text: &str| text.trim_start_matches('-').starts_with('0') && text.len() > 1;
            let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
            for number in steps(from, to, step)? {
                words.push(format!("{number:0width$}").chars().map(Item::Character).collect());
            }
        }
        _ => {
            let (from, to) = (letter(first)?, letter(last)?);
            for code in steps(i64::from(from), i64::from(to), step)? {
                let character = char::from(u8::try_from(code).ok()?);
                words.push(vec![Item::Character(character)]);
            }
        }
    }
    Some(words)
}

fn plain(items: &[Item<'_>]) -> Option<String> {
    items
        .iter()
        .map(|item| match item {
            Item::Character(character) => Some(*character),
            Item::Part(_) => None,
        })
        .collect()
}

fn bounds(text: &str) -> Option<(&str, &str, i64)> {
    let mut bounds = text.split("..");
    let (first, last, step) = (bounds.next()?, bounds.next()?, bounds.next());
    if first.is_empty() || last.is_empty() || bounds.next().is_some() {
        return None;
    }
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?;
    Some((first, last, step.checked_abs()?.max(1)))
}

fn letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    }
}

fn steps(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    let distance = from.checked_sub(to)?.checked_abs()?;
    let count = usize::try_from(distance / step).ok()? + 1;
    if count > WORDS {
        return None;
    }
    let sign = if from <= to { step } else { -step };
    (0..count).map(|index| i64::try_from(index).ok().map(|index| from + sign * index)).collect()
}

/// Whether the whole word is a sequence of more numbers than are listed.
fn long_sequence(items: &[Item<'_>]) -> bool {
    let Some(text) = plain(items) else { return false };
    let Some(inside) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else { return false };
    let Some((first, last, step)) = bounds(inside) else { return false };
    match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => steps(from, to, step).is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        match expand(&[Part::Text(text.into())]) {
            Braces::None => vec![text.to_owned()],
            Braces::Words(words) => words
                .into_iter()
                .map(|parts| match parts.as_slice() {
                    [] => String::new(),
                    [Part::Text(text)] => text.clone(),
                    other => panic!("{other:?}"),
                })
                .collect(),
            Braces::Numbers => vec!["numbers".into()],
            Braces::TooMany => vec!["too many".into()],
        }
    }

    #[test]
    fn words_are_those_of_bash() {
        for (text, expected) in [
            ("a{b,c}d", "abd acd"),
            ("{a,b}{c,d}", "ac ad bc bd"),
            ("x{,y}", "x xy"),
            ("{a,{b,c}}", "a b c"),
            ("{1..4}", "1 2 3 4"),
            ("{4..1..2}", "4 2"),
            ("{08..10}", "08 09 10"),
            ("{a..e..2}", "a c e"),
            ("{a}", "{a}"),
            ("{}", "{}"),
            ("a{b", "a{b"),
            ("{a,b", "{a,b"),
            ("{1..x}", "{1..x}"),
            ("{1..100000}", "numbers"),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn what_would_explode_is_not_followed() {
        assert_eq!(words(&"{a,b}".repeat(20)), ["too many"]);
        assert_eq!(words(&format!("{}{}", "{".repeat(60), "}".repeat(60))), ["too many"]);
    }
}
