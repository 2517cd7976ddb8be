//! What to say when a text is not in a file: what there is instead that is most
//! like it. The cost is bounded, so that a large file is no trap.

/// Lines of the file that are shown.
const SHOWN_LINES: usize = 12;

/// Characters of a line that are compared and shown.
const LINE_CHARS: usize = 200;

/// Steps of comparing characters in all.
const MOST_WORK: usize = 4_000_000;

/// How alike lines must be to be worth showing, from 0 to 1.
const ALIKE: f64 = 0.6;

/// Says that `old`, called so, is not in `content`, and what might be meant.
pub(crate) fn explain(content: &str, old: &str, called: &str) -> String {
    if has_line_numbers(old) {
        return format!(
            "{called} does not occur in it. It begins with line numbers as read shows them; leave them out."
        );
    }
    let lines: Vec<&str> = content.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    if let Some(start) = same_but_for_space(&lines, &wanted) {
        let shown = quote(&lines, start, wanted.len());
        return format!(
            "{called} differs from the file in white space only. Copy the lines as they are:\n{shown}"
        );
    }
    match most_alike(&lines, &wanted) {
        Some(start) => {
            let shown = quote(&lines, start, wanted.len());
            format!(
                "{called} does not occur in it. The nearest lines are:\n{shown}\nRead them and copy them exactly."
            )
        }
        None => format!("{called} does not occur in it, and nothing like it does. Read the file again."),
    }
}

fn has_line_numbers(old: &str) -> bool {
    let mut lines = old.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some()
        && lines.all(|line| {
            line.trim_start().split_once('|').is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        })
}

/// Where the lines are the same if white space does not count.
fn same_but_for_space(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return None;
    }
    let same = |(one, other): (&&str, &&str)| one.split_whitespace().eq(other.split_whitespace());
    lines.windows(wanted.len()).position(|window| window.iter().zip(wanted).all(same))
}

/// Where the lines would have to start so that the most telling one of them is where it is most alike.
fn most_alike(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (offset, telling) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let telling: String = telling.trim().chars().take(LINE_CHARS).collect();
    let mut work = 0;
    let mut best: Option<(f64, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        // Of lines that differ much in length, no comparing makes more of.
        if line.len() * 2 < telling.len() || telling.len() * 2 < line.len() {
            continue;
        }
        work += line.len() * telling.len();
        if work > MOST_WORK {
            break;
        }
        let likeness = strsim::normalized_levenshtein(line, &telling);
        if likeness >= ALIKE && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, index));
        }
    }
    best.map(|(_, index)| index.saturating_sub(offset))
}

/// Lines with their numbers, as `read` shows them.
fn quote(lines: &[&str], start: usize, count: usize) -> String {
    let shown: Vec<String> = lines
        .iter()
        .enumerate()
        .skip(start)
        .take(count.clamp(1, SHOWN_LINES))
        .map(|(index, line)| format!("{}|{}", index + 1, line.chars().take(LINE_CHARS).collect::<String>()))
        .collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    fn explain(content: &str, old: &str) -> String {
        super::explain(content, old, "`old`")
    }

    const CONTENT: &str = "fn main() {\n    let total = sum(1, 2);\n    println!(\"{total}\");\n}\n";

    #[test]
    fn different_white_space_is_recognised() {
        assert_eq!(
            explain(CONTENT, "let total = sum(1, 2);\n  println!(\"{total}\");"),
            "`old` differs from the file in white space only. Copy the lines as they are:\n\
             2|    let total = sum(1, 2);\n3|    println!(\"{total}\");"
        );
    }

    #[test]
    fn line_numbers_are_recognised() {
        assert!(explain(CONTENT, "1|fn main() {\n2|    let").contains("line numbers"));
        assert!(!explain(CONTENT, "a | b").contains("line numbers"));
    }

    #[test]
    fn the_nearest_lines_are_shown() {
        assert_eq!(
            explain(CONTENT, "fn main() {\n    let total = add(1, 2);"),
            "`old` does not occur in it. The nearest lines are:\n\
             1|fn main() {\n2|    let total = sum(1, 2);\nRead them and copy them exactly."
        );
        assert!(explain(CONTENT, "something else entirely, and long").contains("nothing like it"));
        assert!(explain("", "a").contains("nothing like it"));
        assert!(explain("a", "\n\n").contains("nothing like it"));
    }

    #[test]
    fn a_large_file_is_not_compared_to_its_end() {
        let content = "abcdefghij klmnopqrst uvwxyz 0123456789\n".repeat(250_000);
        assert!(explain(&content, "zyxwvutsrq ponmlkjihg fedcba 9876543210").contains("nothing like it"));
    }
}
