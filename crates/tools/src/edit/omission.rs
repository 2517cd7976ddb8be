//! Placeholders that stand for code a model left out, like `// … rest
//! unchanged`. Written into a file they delete what they stand for. Pure.
//!
//! A line is one only as a whole: a comment, or something in brackets, that
//! says nothing but that something is not shown. Words elsewhere in a line, in
//! strings or beside code are just words.

use std::collections::HashSet;

/// What may stand before the words.
const OPENERS: &[&str] = &[
    "<!--", "{/*", "/**", "/*", "///", "//!", "//", "##", "#", "--[[", "--", ";;", ";", "%%", "%", "(*", "*",
    "\"\"\"", "'''", "'", "rem ", "REM ", "::", "@*", "{{!--", "{{!", "<%#", "<%--", "\\", "!", "(", "[",
    "{", "<",
];

/// What may stand behind them.
const CLOSERS: &[&str] =
    &["-->", "*/}", "*/", "]]", "*)", "\"\"\"", "'''", "--}}", "}}", "*@", "--%>", "%>", ")", "]", "}", ">"];

/// Words that a placeholder consists of.
const WORDS: &[&str] = &[
    "a",
    "above",
    "additional",
    "after",
    "all",
    "and",
    "are",
    "as",
    "before",
    "below",
    "block",
    "body",
    "brevity",
    "case",
    "cases",
    "change",
    "changed",
    "changes",
    "class",
    "classes",
    "code",
    "component",
    "config",
    "configuration",
    "content",
    "contents",
    "continue",
    "continued",
    "continues",
    "current",
    "data",
    "definition",
    "definitions",
    "elements",
    "elided",
    "else",
    "entries",
    "etc",
    "everything",
    "existing",
    "fields",
    "file",
    "following",
    "for",
    "from",
    "function",
    "functions",
    "goes",
    "here",
    "identical",
    "implementation",
    "implementations",
    "imports",
    "in",
    "is",
    "it",
    "items",
    "its",
    "keep",
    "kept",
    "lines",
    "logic",
    "markup",
    "methods",
    "method",
    "module",
    "more",
    "no",
    "not",
    "of",
    "omitted",
    "on",
    "original",
    "other",
    "others",
    "previous",
    "properties",
    "props",
    "remain",
    "remainder",
    "remaining",
    "remains",
    "removed",
    "rest",
    "routes",
    "rules",
    "same",
    "script",
    "section",
    "sections",
    "see",
    "settings",
    "shown",
    "skipped",
    "snip",
    "snipped",
    "so",
    "stay",
    "stays",
    "stuff",
    "styles",
    "tests",
    "text",
    "that",
    "the",
    "there",
    "these",
    "this",
    "those",
    "to",
    "truncated",
    "types",
    "unchanged",
    "unmodified",
    "untouched",
    "variables",
    "was",
    "were",
    "with",
    "your",
];

/// Words of which one must be there.
const TELLING: &[&str] = &[
    "brevity",
    "elided",
    "existing",
    "identical",
    "omitted",
    "original",
    "previous",
    "remain",
    "remainder",
    "remaining",
    "remains",
    "rest",
    "same",
    "skipped",
    "snip",
    "snipped",
    "stay",
    "stays",
    "truncated",
    "unchanged",
    "unmodified",
    "untouched",
];

/// What says it even without dots.
const PLAIN: &[&str] = &[
    "existing code",
    "existing content",
    "existing imports",
    "for brevity",
    "identical to",
    "no changes",
    "not changed",
    "omitted",
    "remains the same",
    "remain the same",
    "rest is unchanged",
    "rest of",
    "rest remains",
    "rest stays",
    "rest unchanged",
    "same as above",
    "same as before",
    "stays the same",
    "remaining code",
    "unchanged",
    "unmodified",
    "untouched",
];

/// The longest line that is looked at.
const LONGEST: usize = 160;

/// The placeholders in a text: the words of each, in the order of their lines.
#[must_use]
pub fn placeholders(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| words_of(line).map(|(words, _)| words)).collect()
}

/// The first line of `new` that is a placeholder and is no line of `original`, with its number counted
/// from 1.
#[must_use]
pub fn added<'a>(original: &str, new: &'a str) -> Option<(usize, &'a str)> {
    let mut found = new
        .lines()
        .enumerate()
        .filter(|(_, line)| words_of(line).is_some())
        .map(|(index, line)| (index + 1, line.trim()))
        .peekable();
    found.peek()?;
    let known: HashSet<&str> = original.lines().map(str::trim).collect();
    found.find(|(_, line)| !known.contains(line))
}

/// The words of a line that is a placeholder, in small letters.
fn words_of(line: &str) -> Option<(String, Mark)> {
    let line = line.trim();
    if line.len() > LONGEST || line.is_empty() {
        return None;
    }
    let (body, mark) = unwrapped(line);
    let lower = body.to_lowercase().replace('…', "...");
    let has_dots = lower.contains("...") || lower.split_whitespace().any(|word| word == "..");
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric() && character != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let is_placeholder = match words.as_slice() {
        // `...` alone is code in some languages; in a comment it stands for what was left out.
        [] => mark == Mark::Comment && has_dots && lower.chars().all(|character| ".. ".contains(character)),
        words => {
            let says_only_that = words.iter().all(|word| WORDS.contains(word));
            let says_that = words.iter().any(|word| TELLING.contains(word));
            let phrase = words.join(" ");
            says_only_that
                && says_that
                && match mark {
                    Mark::Comment => has_dots || PLAIN.iter().any(|plain| is_said(&phrase, plain)),
                    // Dots before a single name are code.
                    Mark::Brackets => has_dots && words.len() > 1,
                    Mark::None => words.len() > 2 && (lower.starts_with("...") || lower.ends_with("...")),
                }
        }
    };
    is_placeholder.then(|| (lower.split_whitespace().collect::<Vec<_>>().join(" "), mark))
}

fn is_said(phrase: &str, plain: &str) -> bool {
    format!(" {phrase} ").contains(&format!(" {plain} "))
}

/// What is around the words of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// The signs of a comment.
    Comment,
    /// Brackets.
    Brackets,
    /// Nothing.
    None,
}

fn unwrapped(line: &str) -> (&str, Mark) {
    let mut body = line;
    let mut mark = Mark::None;
    while let Some((opener, rest)) =
        OPENERS.iter().find_map(|opener| body.strip_prefix(opener).map(|rest| (*opener, rest)))
    {
        mark = match mark {
            Mark::Comment => Mark::Comment,
            _ if ["(", "[", "{", "<"].contains(&opener) => Mark::Brackets,
            _ => Mark::Comment,
        };
        body = rest.trim_start();
    }
    while let Some(rest) = CLOSERS.iter().find_map(|closer| body.strip_suffix(closer)) {
        body = rest.trim_end();
    }
    (body, mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_for_code_are_found_in_many_languages() {
        for line in [
            "// … rest unchanged",
            "// ... existing code ...",
            "# ... existing code ...",
            "    # rest of the function remains the same",
            "<!-- rest of file -->",
            "/* unchanged */",
            "{/* ... rest of the component ... */}",
            "-- (rest of the code stays the same)",
            "(rest of methods ...)",
            "(unchanged code ...)",
            "[... remaining lines unchanged ...]",
            "// ...",
            "/* ... */",
            "# ...",
            "; ... rest unchanged",
            "% ... rest of the file ...",
            "(* rest unchanged *)",
            "... rest of the file unchanged ...",
            "// Rest of the code remains unchanged...",
            "// (other methods unchanged)",
            "// same as before",
            "// ... omitted for brevity",
            "//...snip...",
            "<%-- existing code --%>",
        ] {
            assert_eq!(placeholders(line).len(), 1, "{line}");
        }
    }

    #[test]
    fn words_that_stand_for_themselves_are_not() {
        for line in [
            "return value; // rest of methods ...",
            "const msg = \"(rest of methods ...)\";",
            "...",
            "pass  # unchanged",
            "// Keeps the existing connection alive.",
            "# Returns the rest of the tokens after the first.",
            "// the remaining bytes",
            "for x in rest {",
            "(...)",
            "let [first, ...rest] = list;",
            "unchanged",
            "// existing",
            "other = same",
            "}",
            "",
            "* The rest of the words",
            "...rest,",
            "...existing,",
            "{ ...previous }",
            "## Unchanged behaviour",
        ] {
            assert_eq!(placeholders(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_line_that_was_there_before_may_stay() {
        let original = "a\n  // ... existing code ...\nb\n";
        assert_eq!(added(original, "x\n// ... existing code ...\ny"), None);
        assert_eq!(
            added("a\nb\n", "x\n  // ... existing code ...\ny"),
            Some((2, "// ... existing code ..."))
        );
        assert_eq!(
            added(original, "// ... existing code ...\n# rest unchanged"),
            Some((2, "# rest unchanged"))
        );
        assert_eq!(added("", "nothing"), None);
    }
}
