//! What the operands of a program are, as a table describes them.
//!
//! A description is a list of kinds: `read*`, `text read*`, `read* write`. A
//! star takes as many as are left for it.

use crate::analysis::Usage;
use crate::word::Word;

/// What one operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Data: a pattern, a message, a number.
    Text,
    /// A path.
    Path(Usage),
    /// An address, or a path.
    Address,
    /// Anything: a path if it looks like one.
    Any,
}

fn kind(name: &str) -> Operand {
    match name {
        "list" => Operand::Path(Usage::List),
        "read" => Operand::Path(Usage::Read),
        "write" => Operand::Path(Usage::Write),
        "delete" => Operand::Path(Usage::Delete),
        "execute" => Operand::Path(Usage::Execute),
        "address" => Operand::Address,
        "text" => Operand::Text,
        _ => Operand::Any,
    }
}

/// Names of kinds, for the tests of the tables.
#[cfg(test)]
pub const KINDS: [&str; 8] = ["list", "read", "write", "delete", "execute", "address", "text", "any"];

/// Gives each operand its kind. `pattern` says that the first `text` was given by an option.
pub fn assign<'w>(description: &str, operands: &'w [Word], pattern_given: bool) -> Vec<(&'w Word, Operand)> {
    let mut kinds: Vec<&str> = description.split_whitespace().collect();
    if pattern_given && kinds.first() == Some(&"text") {
        kinds.remove(0);
    }
    if kinds.is_empty() {
        return operands.iter().map(|word| (word, Operand::Any)).collect();
    }
    let star = kinds.iter().position(|kind| kind.ends_with('*'));
    let after = star.map_or(0, |star| kinds.len() - star - 1);
    let mut assigned = Vec::new();
    for (index, word) in operands.iter().enumerate() {
        let left = operands.len() - index;
        let name = match star {
            // The last ones, if there are more operands than kinds before the star.
            Some(star) if index >= star && left <= after && index > 0 => kinds.get(kinds.len() - left),
            Some(star) if index >= star => kinds.get(star),
            _ => kinds.get(index),
        };
        let name = name.map_or("any", |name| name.trim_end_matches('*'));
        assigned.push((word, kind(name)));
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(description: &str, count: usize) -> Vec<Operand> {
        let words = vec![Word::text("x"); count];
        assign(description, &words, false).into_iter().map(|(_, operand)| operand).collect()
    }

    #[test]
    fn stars_take_what_the_others_leave() {
        use Operand::{Any, Path, Text};
        use Usage::{Read, Write};
        assert_eq!(kinds("read*", 2), [Path(Read), Path(Read)]);
        assert_eq!(kinds("text read*", 3), [Text, Path(Read), Path(Read)]);
        assert_eq!(kinds("read* write", 3), [Path(Read), Path(Read), Path(Write)]);
        assert_eq!(kinds("read* write", 1), [Path(Read)]);
        assert_eq!(kinds("read write", 3), [Path(Read), Path(Write), Any]);
        assert_eq!(kinds("", 1), [Any]);
        let words = vec![Word::text("x")];
        assert_eq!(assign("text read*", &words, true), [(&words[0], Path(Read))]);
    }
}
