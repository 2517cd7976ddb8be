//! Markdown as rows, construct by construct, whole and in pieces.

use proptest::prelude::*;
use rein_tui::line::Line;
use rein_tui::markdown::{Stream, render};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::marks::{marked, plain, text};

fn shown(source: &str, width: u16) -> String {
    marked(&render(source, width))
}

fn live(source: &str, width: u16) -> String {
    let mut stream = Stream::new();
    stream.push(source);
    let mut lines = stream.settled(width);
    lines.extend(stream.live(width));
    marked(&lines)
}

#[test]
fn headings_and_emphasis() {
    insta::assert_snapshot!(shown(
        "# One `code`\nText with *italic*, **bold**, ***both***, ~~gone~~ and `a  b`.\n## Two\n\nSetext\n---\n#### Four\nend",
        60
    ));
}

#[test]
fn paragraphs_wrap_at_words_and_break_hard() {
    insta::assert_snapshot!(shown(
        "The quick brown fox jumps over\nthe lazy dog and `some code` stays.  \nA hard break.\\\nAnother. Averyveryverylongwordthatdoesnotfit.",
        20
    ));
}

#[test]
fn lists() {
    insta::assert_snapshot!(shown(
        "- one\n- two that is long enough to wrap around\n  - nested with more words to wrap\n    1. deep\n- three\n\n1. first\n1. second\n10. third\n\n- [ ] open\n- [x] done\n\n7) seven\n8) eight",
        24
    ));
}

#[test]
fn loose_lists_with_paragraphs_and_code() {
    insta::assert_snapshot!(shown(
        "1. First\n\n   More of it.\n\n   ```sh\n   ls $x\n   ```\n\n2. Second\n\nAfter.",
        40
    ));
}

#[test]
fn quotes() {
    insta::assert_snapshot!(shown(
        "> A quote that goes over more than a row\nlazily\n>\n> > nested\n> - item\n\nAfter",
        24
    ));
}

#[test]
fn code_is_coloured_and_cut() {
    insta::assert_snapshot!(shown(
        "Look:\n```rust,ignore\nfn main() {\n\n    let text = \"a long line that is cut\";\n}\n```\nand\n\n    indented\n\n~~~\nplain ``` text\n~~~",
        30
    ));
}

#[test]
fn links_and_images() {
    insta::assert_snapshot!(shown(
        "See [the *docs*](https://example.org/a \"t\"), <https://x.y>, https://example.com/a_b_(c). ![alt](https://i.png) [evil](javascript:x) [ref][r]\n\n[r]: https://example.net",
        70
    ));
}

#[test]
fn tables_fit_wrap_or_become_records() {
    let table = "| Name | Meaning | N |\n|:-----|:-------:|--:|\n| `a` | short | 1 |\n| 日本 | a **longer** meaning with words | 1000 |\n";
    insta::assert_snapshot!("table_fits", shown(table, 80));
    insta::assert_snapshot!("table_wraps", shown(table, 36));
    insta::assert_snapshot!("table_records", shown(table, 20));
}

#[test]
fn rules_html_and_footnotes() {
    insta::assert_snapshot!(shown(
        "a\n\n---\n\n<details>\n<summary>Sum</summary>\n</details>\n\nText<br>more [^1].\n\n[^1]: The note.",
        40
    ));
}

#[test]
fn wide_characters_break_anywhere_and_never_in_half() {
    insta::assert_snapshot!(shown("日本語のテキストは、どこでも改行できます。 👩‍👩‍👧👩‍👩‍👧 ok", 15));
}

#[test]
fn escape_sequences_are_only_pictures() {
    let lines = render(
        "a\u{1b}[31mb &#27;[0m `\u{7}`\n\n```\n\u{1b}]0;x\u{7}\n```\n[x](https://a\u{1b}b)\u{202e}",
        40,
    );
    let text = plain(&lines);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    assert!(!text.contains('\u{202e}'));
    let links = lines.iter().flat_map(|line| &line.spans).filter_map(|span| span.style.link.clone());
    assert_eq!(links.collect::<Vec<_>>(), ["https://a".into()]);
    assert!(text.starts_with("a␛[31mb ␛[0m ␇\n"), "{text:?}");
}

#[test]
fn what_is_open_looks_as_it_will() {
    let cases = [
        ("some **bold", "some {b:bold}\n"),
        ("some **", "some\n"),
        ("some **bold*", "some {b:bold}\n"),
        ("some *it", "some {i:it}\n"),
        ("some `co", "some {cyan:co}\n"),
        ("some `", "some\n"),
        ("a [link](https://exa", "a link\n"),
        ("a [link", "a link\n"),
        ("a [link]", "a link\n"),
        ("2 * 3 and a_b", "2 * 3 and a_b\n"),
        ("text\n-", "text\n"),
        ("text\n==", "text\n"),
        ("#", ""),
        ("- ", ""),
        ("- [ ", ""),
        ("1.", ""),
        ("- a\n- ", "• a\n"),
        ("``", ""),
        ("```ru", ""),
        ("```rust\nlet", "  {magenta:let}\n"),
        ("```rust\nlet x\n``", "  {magenta:let} x\n"),
        ("| a | b", "{b:a}{d: │ }{b:b}\n{d:──┼──}\n"),
        ("- item **bo", "• item {b:bo}\n"),
        ("> quo `co", "{d:│ }quo {cyan:co}\n"),
        ("## Head", "{b:Head}\n"),
        ("one\n\ntwo", "one\n\ntwo\n"),
    ];
    for (source, expected) in cases {
        assert_eq!(live(source, 40), expected, "{source:?}");
    }
}

#[test]
fn a_table_is_a_table_from_its_first_row_on() {
    let table = "| aa | bb |\n| --- | --- |\n| cc | dd |\n";
    for end in 5..=table.len() {
        let lines = live(&table[..end], 40);
        assert!(!lines.contains("---") && !lines.contains('|'), "{end}: {lines}");
    }
}

/// Marks that would be seen for a moment and then be gone.
#[test]
fn no_prefix_shows_a_marker_that_goes_away() {
    let source = "Some **bold words** and `code here` with *italic* text and [a link](https://x.y/z) at last.\n\n- item **one**\n- item `two`\n\n```rust\nfn main() {}\n```\n\n> quote **bold**\n";
    for (end, _) in source.char_indices() {
        let text: String = live(&source[..end], 80);
        let plain_text = text.replace("{b:", "").replace("{i:", "");
        for marker in ["**", "`", "](", "*"] {
            assert!(!plain_text.contains(marker), "{marker:?} after {:?}: {text}", &source[..end]);
        }
    }
}

#[test]
fn settled_rows_come_once_and_code_comes_line_by_line() {
    let mut stream = Stream::new();
    stream.push("One\n\nTwo");
    assert_eq!(plain(&stream.settled(40)), "One\n");
    assert_eq!(plain(&stream.settled(40)), "");
    assert_eq!(plain(&stream.live(40)), "\nTwo\n");
    stream.push("\n```sh\nls\necho");
    assert_eq!(plain(&stream.settled(40)), "\nTwo\n  ls\n");
    assert_eq!(plain(&stream.live(40)), "  echo\n");
    stream.push("\n```\n- a\n- b");
    assert_eq!(plain(&stream.settled(40)), "  echo\n");
    stream.push("\n");
    assert_eq!(plain(&stream.settled(40)), "• a\n");
    stream.finish();
    assert_eq!(plain(&stream.settled(40)), "• b\n");
    assert_eq!(plain(&stream.live(40)), "");
}

#[test]
fn a_long_answer_keeps_only_its_open_block() {
    let mut stream = Stream::new();
    let mut rows = 0;
    let mut largest = 0;
    for n in 0..3_000 {
        for piece in [
            format!("Paragraph {n} with **words**."),
            "\n\n- item\n".into(),
            "- item\n\n```rust\nlet x = 1;\n".into(),
            "}\n".repeat(5),
            "```\n\n".into(),
        ] {
            stream.push(&piece);
            largest = largest.max(stream.open_bytes());
            rows += stream.settled(80).len();
        }
    }
    assert!(largest < 64, "{largest} bytes open");
    assert!(rows > 3_000 * 9);
}

#[test]
fn nesting_without_end_is_drawn_within_its_width() {
    for source in [
        ">".repeat(5_000) + " x",
        "- ".repeat(3_000) + "x",
        "*a ".repeat(2_000),
        "[".repeat(5_000),
        "`a``".repeat(2_000),
    ] {
        let lines = render(&source, 20);
        assert!(lines.iter().all(|line| cells(line) <= 20));
        let mut stream = Stream::new();
        stream.push(&source);
        assert!(stream.live(20).iter().all(|line| cells(line) <= 20));
    }
}

fn cells(line: &Line) -> usize {
    text(line).graphemes(true).map(UnicodeWidthStr::width).sum()
}

fn markdown() -> impl Strategy<Value = String> {
    let bits = proptest::sample::select(vec![
        "word ",
        "日本語",
        "**",
        "*",
        "_",
        "`",
        "```",
        "```rust\n",
        "\n",
        "\n\n",
        "- ",
        "  - ",
        "1. ",
        "> ",
        "# ",
        "---\n",
        "| a | b |\n",
        "|---|---|\n",
        "[x](https://y)",
        "[",
        "](",
        "<b>",
        "&amp;",
        "\\",
        "    code\n",
        "~~",
        "👩‍👩‍👧",
        "\t",
        "\r\n",
        "[^1]: n\n",
        "===\n",
        "![",
        ")",
        "x",
    ]);
    proptest::collection::vec(bits, 0..40).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn any_cut_gives_the_same_rows(source in markdown(), cuts in proptest::collection::vec(0_usize..200, 0..12), width in 1_u16..60) {
        let whole = render(&source, width);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| source.floor_char_boundary(cut)).collect();
        cuts.extend([0, source.len()]);
        cuts.sort_unstable();
        let mut stream = Stream::new();
        let mut lines = Vec::new();
        for pair in cuts.windows(2) {
            stream.push(&source[pair[0]..pair[1]]);
            lines.extend(stream.settled(width));
            stream.live(width);
        }
        stream.finish();
        lines.extend(stream.settled(width));
        prop_assert_eq!(lines, whole);
    }

    #[test]
    fn rows_are_never_too_wide(source in markdown(), width in 1_u16..40) {
        let mut stream = Stream::new();
        stream.push(&source);
        let mut lines = stream.live(width);
        lines.extend(render(&source, width));
        for line in &lines {
            prop_assert!(cells(line) <= usize::from(width), "{:?}", text(line));
            prop_assert!(!text(line).contains(|c: char| c.is_control()));
        }
    }

    #[test]
    fn every_word_is_shown(words in proptest::collection::vec("[a-z]{1,12}", 1..40), width in 20_u16..60) {
        let source = words.join(" ");
        let joined = plain(&render(&source, width)).split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(joined, source);
    }
}
