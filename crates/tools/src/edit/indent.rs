//! Indentation: whether one block is another one moved, and moving a block as
//! another was. Pure.
//!
//! `old` as the model wrote it and the block that was found tell how the model
//! sees the indentation of the file; what it wrote as `new` is moved the same
//! way. Tabs become spaces and spaces tabs where they did there.

/// The indentation of a line in `old`, and of the same line in the file.
type Pair<'a> = (&'a str, &'a str);

/// Whether the lines of `found` are those of `old` with every indentation replaced by one other, and
/// deeper ones by deeper ones.
pub(super) fn is_moved(old: &str, found: &str) -> bool {
    let mut pairs = pairs(old, found);
    pairs.sort_by_key(|(old, found)| (old.len(), found.len()));
    pairs.windows(2).all(|pairs| match pairs {
        [one, other] if one.0 == other.0 => one.1 == other.1,
        [one, other] => one.0.len() < other.0.len() && one.1.len() <= other.1.len(),
        _ => true,
    })
}

/// `new` with the indentation that it would have if the model had written `old` as the file has it.
pub(crate) fn moved(old: &str, found: &str, new: &str) -> String {
    let pairs = pairs(old, found);
    let Some((first, others)) = pairs.split_first() else { return new.to_owned() };
    let mut new_lines = new.lines().filter(|line| !is_blank(line));
    let new_first = new_lines.next().map(indentation);
    if pairs.iter().all(|(old, found)| old == found) || new_first == Some(first.1) {
        return new.to_owned();
    }
    // Copied from the middle of its first line on, which only lacks its own indentation then.
    let is_bare = !others.is_empty() && others.iter().all(|(old, found)| old == found);
    if !is_bare {
        return each_line(new, |_, line| translated(line, &pairs));
    }
    let least = others.iter().map(|(old, _)| old.len()).min().unwrap_or(0);
    let goes_on_alike = new_lines.all(|line| indentation(line).len() >= least);
    each_line(new, |index, line| match goes_on_alike && index > 0 {
        true => line.to_owned(),
        false => translated(line, std::slice::from_ref(first)),
    })
}

/// Each line that is not blank, changed.
fn each_line(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    let mut result = String::with_capacity(text.len() + 64);
    let mut index = 0;
    for line in text.split_inclusive('\n') {
        if is_blank(line) {
            result.push_str(line);
        } else {
            result.push_str(&change(index, line));
            index += 1;
        }
    }
    result
}

fn pairs<'a>(old: &'a str, found: &'a str) -> Vec<Pair<'a>> {
    let of = |text: &'a str| text.lines().filter(|line| !is_blank(line)).map(indentation);
    let (old, found): (Vec<&str>, Vec<&str>) = (of(old).collect(), of(found).collect());
    if old.len() == found.len() {
        return old.into_iter().zip(found).collect();
    }
    // Lines are missing somewhere between; the ends belong together.
    [(old.first(), found.first()), (old.last(), found.last())]
        .into_iter()
        .filter_map(|(old, found)| Some((*old?, *found?)))
        .collect()
}

fn translated(line: &str, pairs: &[Pair<'_>]) -> String {
    let (own, body) = line.split_at(indentation(line).len());
    // Of several for one indentation the first counts, which is the last that is looked at here.
    let inner = pairs.iter().rev().filter(|(old, _)| own.starts_with(old)).max_by_key(|(old, _)| old.len());
    let indentation = match inner {
        Some((old, found)) => {
            let more = own.get(old.len()..).unwrap_or_default();
            format!("{found}{}", converted(more, pairs))
        }
        // Less deep than anything in `old`.
        None => match pairs.iter().filter(|(old, _)| old.starts_with(own)).min_by_key(|(old, _)| old.len()) {
            Some((old, found)) => {
                let less = converted(old.get(own.len()..).unwrap_or_default(), pairs);
                found.get(..found.len().saturating_sub(less.len())).unwrap_or_default().to_owned()
            }
            None => own.to_owned(),
        },
    };
    indentation + body
}

/// White space that the model added to an indentation, as the file would have it.
fn converted(more: &str, pairs: &[Pair<'_>]) -> String {
    let Some(style) = pairs.iter().find_map(|(_, found)| found.chars().next()) else {
        return more.to_owned();
    };
    let same_style = more.chars().all(|character| character == style);
    let Some((from, to)) = ratio(pairs, same_style) else {
        return match (same_style, style) {
            (true, _) => more.to_owned(),
            (false, '\t') => "\t".repeat(more.len().div_ceil(4)),
            (false, _) => " ".repeat(more.len() * 4),
        };
    };
    style.to_string().repeat((more.len() * to).div_ceil(from))
}

/// How many characters of indentation in `old` are how many in the file.
fn ratio(pairs: &[Pair<'_>], same_style: bool) -> Option<(usize, usize)> {
    let mut lengths: Vec<(usize, usize)> =
        pairs.iter().map(|(old, found)| (old.len(), found.len())).collect();
    if !same_style {
        lengths.push((0, 0));
    }
    lengths.sort_unstable();
    lengths.windows(2).find_map(|pair| match pair {
        [(old, found), (old_deeper, found_deeper)] if old_deeper > old && found_deeper > found => {
            Some((old_deeper - old, found_deeper - found))
        }
        _ => None,
    })
}

fn indentation(line: &str) -> &str {
    let end = line.find(|character| character != ' ' && character != '\t').unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_moved_as_a_whole() {
        assert!(is_moved("if a {\n    b\n}", "    if a {\n        b\n    }"));
        assert!(is_moved("if a {\n    b\n}", "\tif a {\n\t\tb\n\t}"));
        assert!(!is_moved("a\nb", "  a\n    b"));
        assert!(!is_moved("  a\nb", "a\n  b"));
    }

    #[test]
    fn what_is_new_moves_with_it() {
        for (old, found, new, moved_new) in [
            ("a\nb", "  a\n  b", "x\n  y\n\nz", "  x\n    y\n\n  z"),
            (
                "if a {\n    b\n}",
                "\tif a {\n\t\tb\n\t}",
                "if a {\n    b\n    if c {\n        d\n    }\n}",
                "\tif a {\n\t\tb\n\t\tif c {\n\t\t\td\n\t\t}\n\t}",
            ),
            (
                "  a\n    b",
                "    a\n        b",
                "  a\n    if c\n      b",
                "    a\n        if c\n            b",
            ),
            ("\ta\n\t\tb", "  a\n    b", "\ta\n\t\t\tc", "  a\n      c"),
            // Less deep than anything in `old`.
            ("    a\n    b", "        a\n        b", "  c\n    d", "      c\n        d"),
            // Written as the file has it already.
            ("a\nb", "  a\n  b", "  x\n    y", "  x\n    y"),
            // Copied from the middle of the first line on.
            ("f() {\n    a\n  }", "  f() {\n    a\n  }", "g() {\n    b\n  }", "  g() {\n    b\n  }"),
            ("f() {\n    a\n  }", "  f() {\n    a\n  }", "g() {\n  b\n}", "  g() {\n    b\n  }"),
        ] {
            assert_eq!(moved(old, found, new), moved_new, "{old:?} {found:?} {new:?}");
        }
    }
}
