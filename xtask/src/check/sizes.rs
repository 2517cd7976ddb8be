//! Sizes of files and functions, and the header that every file opens with.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::source::Source;

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 100;

/// Files and functions past their limit, and files without a header.
pub fn check(sources: &[(PathBuf, String)]) -> Vec<Finding> {
    sources.iter().flat_map(|(file, text)| check_one(file, text)).collect()
}

fn check_one(file: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > FILE_LINES {
        let message = format!("{lines} lines, {FILE_LINES} are the limit: split it into modules");
        findings.push(Finding::new(file, FILE_LINES + 1, message));
    }
    if !text.starts_with("//!") {
        let message = "does not open with `//!`: say what the file owns and the invariant it keeps";
        findings.push(Finding::new(file, 1, message));
    }
    match Source::parse(text) {
        Err((line, error)) => findings.push(Finding::new(file, line, format!("is not Rust: {error}"))),
        Ok(source) => {
            findings.extend(source.functions.iter().filter(|function| function.lines > FUNCTION_LINES).map(
                |function| {
                    let message = format!(
                        "`fn {}` has {} lines, {FUNCTION_LINES} are the limit",
                        function.name, function.lines
                    );
                    Finding::new(file, function.line, message)
                },
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check(&[("a.rs".into(), text.to_owned())]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_at_the_limits_passes() {
        let body = "    a();\n".repeat(98);
        let text = format!("//! Header.\nfn f() {{\n{body}}}\n");
        let padding = "// why\n".repeat(FILE_LINES - text.lines().count());
        assert_eq!(messages(&format!("{text}{padding}")), [""; 0]);
    }

    #[test]
    fn what_is_past_a_limit_is_named_with_its_line() {
        let body = "    a();\n".repeat(99);
        assert_eq!(
            messages(&format!("\nfn f() {{\n{body}}}\n")),
            [
                "a.rs:1: does not open with `//!`: say what the file owns and the invariant it keeps",
                "a.rs:2: `fn f` has 101 lines, 100 are the limit",
            ]
        );
        assert_eq!(
            messages(&format!("//! Header.\n{}", "\n".repeat(FILE_LINES))),
            ["a.rs:501: 501 lines, 500 are the limit: split it into modules"]
        );
    }
}
