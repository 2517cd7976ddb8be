//! Colours of code, by their marks.

use proptest::prelude::*;
use rein_tui::highlight::{Highlighter, Token};
use rein_tui::line::Line;

use crate::marks::marked;

fn coloured(language: &str, code: &str) -> String {
    let mut highlighter = Highlighter::new(language);
    let lines: Vec<Line> = code.lines().map(|line| Line { spans: highlighter.line(line) }).collect();
    marked(&lines)
}

#[test]
fn rust() {
    insta::assert_snapshot!(coloured(
        "rust",
        r##"/* a
comment */ pub fn main<'a>(x: &'a str) -> Result<u32, Error> { // more
    let s = r#"raw " text"#; let c = '\n'; let n = 0xFF_u8 + 1.5;
    println!("a \" b", MAX_LEN); None
}"##
    ));
}

#[test]
fn python() {
    insta::assert_snapshot!(coloured(
        "py",
        "@cached\ndef f(self, n: int = 3) -> None:\n    \"\"\"Many\n    lines\"\"\"  # why\n    return f'{n}' if True else Foo(n)"
    ));
}

#[test]
fn shell() {
    insta::assert_snapshot!(coloured("bash", "for f in $files; do # all\n  echo \"$f $# ${#x}\" 'it'\ndone"));
}

#[test]
fn data() {
    insta::assert_snapshot!(coloured("json", "{ \"key\": [\"a\", 1.5, true, null] }"));
    insta::assert_snapshot!(coloured(
        "yaml",
        "name: rein # note\nlist:\n  - key: \"value\"\n    at: http://x.y:80"
    ));
    insta::assert_snapshot!(coloured("toml", "# top\n[package]\nname = \"rein\"\nedition = 2024"));
}

#[test]
fn markup_style_and_queries() {
    insta::assert_snapshot!(coloured("html", "<!-- a\nb --><a href=\"x\" class='y'>text</a>\n<br/>"));
    insta::assert_snapshot!(coloured("css", ".card { color: #fff; margin-top: 4px; } /* x */"));
    insta::assert_snapshot!(coloured("sql", "SELECT count(*) FROM t WHERE a = 'x' -- all"));
    insta::assert_snapshot!(coloured("lua", "--[[ a\nb ]] local x = 1 -- c\nreturn x"));
}

#[test]
fn a_diff() {
    insta::assert_snapshot!(coloured("diff", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new"));
}

#[test]
fn names_and_paths_find_their_language() {
    for name in ["RUST", "tsx", "c++", "C#", "Dockerfile", "yml", "patch", "jsonc", "objective-c"] {
        assert!(Highlighter::new(name).is_known(), "{name}");
    }
    for path in ["src/main.rs", "/a/Makefile", "x.tar.yaml", "C:\\a\\b.py"] {
        assert!(Highlighter::for_path(path).is_known(), "{path}");
    }
    assert!(!Highlighter::new("").is_known());
    assert_eq!(Highlighter::new("klingon").tokens("a \"b\""), [(Token::Plain, "a \"b\"")]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn the_pieces_of_a_line_are_the_line(
        language in proptest::sample::select(vec![
            "rust", "python", "js", "go", "c", "java", "bash", "sql", "json", "yaml", "toml", "html", "css", "lua", "ruby",
            "haskell", "nix", "diff", "makefile", "clojure", "php", "swift", "none",
        ]),
        lines in proptest::collection::vec("([a-zA-Z0-9 \"'`#/*<>={}:$@_\\\\-]|\\PC|\"\"\"|/\\*|<!--){0,24}", 0..6),
    ) {
        let mut highlighter = Highlighter::new(language);
        for line in &lines {
            let joined: String = highlighter.tokens(line).into_iter().map(|(_, text)| text).collect();
            prop_assert_eq!(&joined, line);
        }
    }
}
