//! How well a query fits a text, and which characters fit.
//!
//! Words of the query may come in any order, their letters with gaps; letter case counts if the word has a capital. Letters
//! that begin words, follow one another or begin the text weigh more.

/// What a query looks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    letters: Vec<char>,
    /// The letters as bytes, if they all are ASCII.
    bytes: Option<Vec<u8>>,
    case: Case,
    has_slash: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Ignored,
    Counts,
}

const HIT: i32 = 16;
const BOUNDARY: i32 = 9;
const CAMEL: i32 = 7;
const CONSECUTIVE: i32 = 6;
/// Every letter of a run without gaps is worth this much more.
const WHOLE: i32 = 6;
const GAP_BEGINS: i32 = 3;
const GAP_GOES_ON: i32 = 1;
/// A hit in the last part of a path is worth this much more.
const IN_NAME: i32 = 24;

/// A letter of a text, ASCII or not.
trait Letter: Copy + Eq {
    fn lower(self) -> Self;
    fn kind(self) -> Kind;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Separator,
    Lower,
    Upper,
    Digit,
}

impl Letter for u8 {
    fn lower(self) -> Self {
        self.to_ascii_lowercase()
    }

    fn kind(self) -> Kind {
        match self {
            b'a'..=b'z' => Kind::Lower,
            b'A'..=b'Z' => Kind::Upper,
            b'0'..=b'9' => Kind::Digit,
            _ => Kind::Separator,
        }
    }
}

impl Letter for char {
    fn lower(self) -> Self {
        self.to_lowercase().next().unwrap_or(self)
    }

    fn kind(self) -> Kind {
        match self {
            c if c.is_uppercase() => Kind::Upper,
            c if c.is_numeric() => Kind::Digit,
            c if c.is_alphabetic() => Kind::Lower,
            _ => Kind::Separator,
        }
    }
}

impl Pattern {
    /// The pattern of a query.
    pub fn new(query: &str) -> Self {
        let term = |word: &str| {
            let case = if word.chars().any(char::is_uppercase) { Case::Counts } else { Case::Ignored };
            let letters: Vec<char> = match case {
                Case::Counts => word.chars().collect(),
                Case::Ignored => word.chars().map(Letter::lower).collect(),
            };
            let bytes = letters.iter().map(|c| u8::try_from(*c).ok().filter(u8::is_ascii)).collect();
            Term { has_slash: word.contains('/'), letters, bytes, case }
        };
        Self { terms: query.split_whitespace().map(term).collect() }
    }

    /// Whether everything fits.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How well the text fits; none if it does not.
    pub fn score(&self, text: &str) -> Option<i32> {
        self.terms.iter().try_fold(0, |sum, term| Some(sum + term.find(text)?.score))
    }

    /// How well a path fits: its last part counts for more.
    pub fn score_path(&self, path: &str) -> Option<i32> {
        self.terms.iter().try_fold(0, |sum, term| Some(sum + term.find_in_path(path)?.0.score))
    }

    /// The byte offsets of the characters that fit, in order.
    pub fn positions(&self, text: &str) -> Vec<usize> {
        self.collect(text, |term| term.find(text).map(|found| (found, 0)))
    }

    /// The byte offsets of the characters of a path that fit, in order.
    pub fn path_positions(&self, path: &str) -> Vec<usize> {
        self.collect(path, |term| term.find_in_path(path))
    }

    fn collect(&self, text: &str, find: impl Fn(&Term) -> Option<(Found, usize)>) -> Vec<usize> {
        let mut positions = Vec::new();
        for term in &self.terms {
            let Some((found, offset)) = find(term) else { return Vec::new() };
            let part = text.get(offset..).unwrap_or_default();
            let mut wanted = term.letters.iter().peekable();
            for (at, c) in part.char_indices().skip(found.start) {
                let Some(letter) = wanted.peek() else { break };
                if same(c, **letter, term.case) {
                    positions.push(offset + at);
                    wanted.next();
                }
            }
        }
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

/// A fit: its score and the first letter of it.
#[derive(Debug, Clone, Copy)]
struct Found {
    score: i32,
    start: usize,
}

impl Term {
    fn find(&self, text: &str) -> Option<Found> {
        match &self.bytes {
            Some(bytes) if text.is_ascii() => find(text.as_bytes(), bytes, self.case),
            None if text.is_ascii() => None,
            _ => find(&text.chars().collect::<Vec<char>>(), &self.letters, self.case),
        }
    }

    fn find_in_path(&self, path: &str) -> Option<(Found, usize)> {
        let name = path.strip_suffix('/').unwrap_or(path).rfind('/').map_or(0, |slash| slash + 1);
        let in_name = (!self.has_slash).then(|| self.find(path.get(name..)?)).flatten();
        match in_name {
            Some(found) => Some((Found { score: found.score + IN_NAME, ..found }, name)),
            None => Some((self.find(path)?, 0)),
        }
    }
}

fn same<T: Letter>(letter: T, wanted: T, case: Case) -> bool {
    letter == wanted || (case == Case::Ignored && letter.lower() == wanted)
}

/// The shortest fit that ends where the first fit ends.
fn find<T: Letter>(text: &[T], term: &[T], case: Case) -> Option<Found> {
    let mut wanted = term.iter();
    let mut next = wanted.next()?;
    let mut end = None;
    for (at, letter) in text.iter().enumerate() {
        if same(*letter, *next, case) {
            match wanted.next() {
                Some(letter) => next = letter,
                None => {
                    end = Some(at);
                    break;
                }
            }
        }
    }
    let end = end?;
    let mut start = end + 1;
    let mut remaining = term.iter().rev().peekable();
    while let Some(wanted) = remaining.peek() {
        start = start.checked_sub(1)?;
        if same(*text.get(start)?, **wanted, case) {
            remaining.next();
        }
    }
    // A run of the very word further on is better than letters strewn before it.
    let strewn = (end + 1 - start > term.len()).then(|| whole(text, term, case)).flatten();
    let start = strewn.unwrap_or(start);
    Some(Found { score: weigh(text, start, term, case), start })
}

fn whole<T: Letter>(text: &[T], term: &[T], case: Case) -> Option<usize> {
    text.windows(term.len())
        .position(|window| window.iter().zip(term).all(|(letter, wanted)| same(*letter, *wanted, case)))
}

fn weigh<T: Letter>(text: &[T], start: usize, term: &[T], case: Case) -> i32 {
    let mut score = 0;
    let mut wanted = term.iter().peekable();
    let mut gaps = 0;
    let mut gap = 0;
    let mut run_bonus = 0;
    let mut previous =
        start.checked_sub(1).and_then(|at| text.get(at)).map_or(Kind::Separator, |letter| letter.kind());
    for (index, letter) in text.iter().enumerate().skip(start) {
        let Some(next) = wanted.peek() else { break };
        let kind = letter.kind();
        if same(*letter, **next, case) {
            let bonus = match (previous, kind) {
                (Kind::Separator, kind) if kind != Kind::Separator => BOUNDARY,
                (Kind::Lower, Kind::Upper) => CAMEL,
                (before, Kind::Digit) if before != Kind::Digit => CAMEL,
                _ => 0,
            };
            let consecutive = if gap == 0 && index > start { run_bonus.max(CONSECUTIVE) } else { 0 };
            score += HIT + bonus.max(consecutive) + if index == start { bonus } else { 0 };
            run_bonus = if gap == 0 && index > start { run_bonus.max(bonus) } else { bonus };
            gap = 0;
            wanted.next();
        } else {
            score -= if gap == 0 { GAP_BEGINS } else { GAP_GOES_ON };
            gap += 1;
            gaps += 1;
        }
        previous = kind;
    }
    match gaps {
        0 if term.len() > 1 => score + WHOLE * i32::try_from(term.len()).unwrap_or(0),
        _ => score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(query: &str, texts: &[&'a str]) -> Vec<&'a str> {
        let pattern = Pattern::new(query);
        let mut hits: Vec<(i32, &str)> =
            texts.iter().filter_map(|text| Some((pattern.score_path(text)?, *text))).collect();
        hits.sort_by_key(|(score, text)| (-score, text.len()));
        hits.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn names_and_word_beginnings_come_first() {
        assert_eq!(
            best("main", &["domain/x.rs", "main/lib.rs", "src/main.rs", "m/a/i/n.rs"]),
            ["src/main.rs", "main/lib.rs", "domain/x.rs", "m/a/i/n.rs"]
        );
        assert_eq!(
            best("fb", &["src/foobar.rs", "src/foo_bar.rs", "src/fooBar.rs"]),
            ["src/foo_bar.rs", "src/fooBar.rs", "src/foobar.rs"]
        );
        assert_eq!(
            best("src/mod", &["src/a/mod.rs", "lib/mod.rs", "src/mod.rs"]),
            ["src/mod.rs", "src/a/mod.rs"]
        );
    }

    #[test]
    fn words_come_in_any_order_and_a_capital_counts() {
        assert_eq!(best("rs edit", &["src/editor.rs", "src/editor.py"]), ["src/editor.rs"]);
        assert_eq!(best("Edit", &["editor", "Editor"]), ["Editor"]);
        assert_eq!(best("é", &["cafe", "CAFÉ"]), ["CAFÉ"]);
    }

    #[test]
    fn positions_are_those_of_the_letters() {
        assert_eq!(Pattern::new("fb").positions("foo_bar"), [0, 4]);
        assert_eq!(Pattern::new("日b").positions("a日xb"), [1, 5]);
        assert_eq!(Pattern::new("main").path_positions("domain/main.rs"), [7, 8, 9, 10]);
        assert_eq!(Pattern::new("zz").positions("abc"), [] as [usize; 0]);
    }
}
