//! Words that say that something is not finished.

use std::path::PathBuf;

use super::Finding;

// In two pieces, so that this file does not find itself.
const WORDS: [&str; 3] = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")];

/// Every line with such a word.
pub fn check(files: &[(PathBuf, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in files {
        for (index, line) in text.lines().enumerate() {
            for word in WORDS.iter().filter(|word| line.contains(**word)) {
                findings.push(Finding::new(
                    file,
                    index + 1,
                    format!("has `{word}…)`: finish it or leave it out"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_found_with_its_line() {
        let text = format!("fine\nlet x = {}x);\n{}", WORDS[2], WORDS[0]);
        let found: Vec<(usize, bool)> = check(&[("a".into(), text)])
            .into_iter()
            .map(|finding| (finding.line, finding.message.contains("finish it")))
            .collect();
        assert_eq!(found, [(2, true), (3, true)]);
        assert_eq!(check(&[("a".into(), "a list of todos".to_owned())]), []);
    }
}
