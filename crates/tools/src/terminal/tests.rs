//! Texts as programs print them.

use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    plain(text.as_bytes(), 40)
}

#[test]
fn plain_text_stays_as_it_is() {
    for text in ["", "a", "a\n", "\n", "a\n\n", "tab\tbed\n", "é😀\nlast", " indented  \n"] {
        assert_eq!(shown(text), text);
    }
}

#[test]
fn line_ends_of_any_kind_become_one() {
    assert_eq!(shown("a\r\nb\r\r\nc\r\n"), "a\nb\nc\n");
}

#[test]
fn a_progress_bar_is_one_line_with_its_last_state() {
    let bar: String = (0..=100).map(|done| format!("\r{done:3}% [{}]", "=".repeat(done / 10))).collect();
    assert_eq!(shown(&format!("start{bar}\ndone\n")), "100% [==========]\ndone\n");
    assert_eq!(shown("Loading 1\x1b[K\rLoading 22\x1b[K\rok\x1b[K\n"), "ok\n");
    assert_eq!(shown("a longer line\rshort\n"), "shortger line\n", "as a terminal shows it");
    assert_eq!(shown("spin |\x08/\x08-\x08\\\x08done\n"), "spin done\n");
}

#[test]
fn colours_titles_and_links_are_nothing() {
    assert_eq!(shown("\x1b[1;31merror\x1b[0m: \x1b[38;5;12mno\x1b[m"), "error: no");
    assert_eq!(shown("\x1b]0;title\x07a\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\b"), "alinkb");
    assert_eq!(shown("\x1bPq#0;2;0~~@@\n-\x1b\\after\x1b(B\x1b=\x1b>"), "after");
    assert_eq!(shown("\x1b[?25l\x1b[?2026hx\x1b[?25h\x1b[>4;1m"), "x");
}

#[test]
fn several_lines_are_drawn_again_as_builders_do() {
    let cargo = "   Compiling a\n    Building [>    ] 0/2: a\r\x1b[K   Compiling b\n    Building [==>  ] 1/2: b\r\x1b[K    Finished\n";
    assert_eq!(shown(cargo), "   Compiling a\n   Compiling b\n    Finished\n");
    let docker = "[+] 0/2\n one waiting\n two waiting\n\x1b[3A\x1b[2K[+] 1/2\r\n\x1b[2K one done\r\n\x1b[2K two waiting\r\n\
                  \x1b[3A\x1b[2K[+] 2/2\n\x1b[2K one done\n\x1b[2K two done\n";
    assert_eq!(shown(docker), "[+] 2/2\n one done\n two done\n");
    let npm = "idealTree: one\x1b[1G\x1b[0Kreify: two\x1b[1G\x1b[0Kadded 3 packages\n";
    assert_eq!(shown(npm), "added 3 packages\n");
    assert_eq!(shown("a\nb\nc\n\x1b[2A\x1b[Jx\n"), "a\nx\n");
    assert_eq!(shown("a\nb\n\x1b[1F\x1b[2Kz\x1b[1E!"), "a\nz\n!");
}

#[test]
fn a_screen_that_is_drawn_again_and_again_is_shown_as_it_was_last() {
    let watch: String = (0..9).map(|count| format!("\x1b[H\x1b[2J\x1b[3Jcount {count}\nline\n")).collect();
    assert_eq!(shown(&format!("before\n{watch}")), "before\ncount 8\nline\n");
    assert_eq!(shown("\x1b[2J\x1b[1;1Htitle\x1b[3;5Hat\x1b[2;1Hin"), "title\nin\n    at");
    assert_eq!(shown("before\n\x1b[?1049h\x1b[Hvim\n~\n~\x1b[?1049lafter\n"), "before\nafter\n");
}

#[test]
fn other_control_characters_are_dropped_and_nul_is_shown() {
    assert_eq!(shown("a\x07b\x01c\x7fd\u{9b}e"), "abcde");
    assert_eq!(shown("one\0two\0"), "one␀two␀");
}

#[test]
fn what_is_not_utf8_is_replaced() {
    assert_eq!(plain(b"a\xffb\xe2\x82", 40), "a\u{FFFD}b\u{FFFD}");
}

#[test]
fn a_sequence_that_never_ends_does_not_swallow_the_rest() {
    assert_eq!(shown("\x1b]0;title\nnext\n"), "\nnext\n");
    let endless = format!("\x1bP{}", "x".repeat(5 << 20));
    assert!(shown(&endless).starts_with("xxxx"));
    assert_eq!(shown(&format!("\x1b[{}mend", "1".repeat(300))).get(40..), Some(" [… 7 chars cut]"));
}

#[test]
fn a_long_line_is_cut_and_what_is_missing_is_said() {
    assert_eq!(shown(&"é".repeat(45)), format!("{} [… 5 chars cut]", "é".repeat(40)));
    assert_eq!(shown(&format!("{}\rshort\x1b[K\n", "x".repeat(45))), "short\n", "it was drawn over");
}

#[test]
fn a_line_without_an_end_costs_no_memory() {
    let mut terminal = Terminal::new(768);
    let mut text = String::new();
    for _ in 0..1_000 {
        terminal.write(&[b'x'; 100_000], &mut text);
        assert_eq!(text.len(), 0);
        assert!(terminal.pending().1 < 1_000);
    }
    terminal.finish(&mut text);
    assert_eq!(text, format!("{} [… 99999232 chars cut]", "x".repeat(768)));
}

#[test]
fn what_is_far_above_is_handed_on() {
    let mut terminal = Terminal::new(768);
    let mut text = String::new();
    for number in 0..1_000 {
        terminal.write(format!("{number}\n").as_bytes(), &mut text);
    }
    assert_eq!(text.lines().count(), 1_001 - 64);
    terminal.write(b"\x1b[999Atop", &mut text);
    terminal.finish(&mut text);
    assert!(text.contains("\n936\ntop\n938\n"), "{text}");
}

#[test]
fn a_flood_is_the_same_in_one_piece_and_in_many() {
    let flood: String = (0..500).map(|number| format!("line {number}\n")).collect();
    let long = format!("{}\n", "x".repeat(60));
    for text in [
        format!("begin \x1b7{flood}\x1b8back\x1b[70Aup\x1b[2Bdown"),
        format!("\x1b[2J\x1b[Hscreen\n{flood}\x1b[Hhome"),
        format!("{flood}{long}{flood}\x1b[99A{flood}!"),
        format!("a\nb\nc\n\x1b[2A{flood}tail"),
    ] {
        let mut terminal = Terminal::new(40);
        let mut in_many = String::new();
        text.as_bytes().iter().for_each(|byte| terminal.write(&[*byte], &mut in_many));
        terminal.finish(&mut in_many);
        assert_eq!(plain(text.as_bytes(), 40), in_many);
    }
}

/// Text as a rude program would print it.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => "[a-zé😀 ]{0,12}".prop_map(String::into_bytes),
        2 => "\r|\n|\r\n|\t|\u{8}|\u{0}".prop_map(String::into_bytes),
        3 => "\u{1b}\\[[?>]?[0-9]{0,2}(;[0-9]{1,2})?[A-Za-z]".prop_map(String::into_bytes),
        1 => "\u{1b}[\\]P7-8M(_][a-z;]{0,5}(\u{7}|\u{1b}\\\\)?".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pieces_do_not_matter(bytes in soup(), sizes in proptest::collection::vec(1_usize..9, 1..9)) {
        let mut terminal = Terminal::new(20);
        let (mut text, mut rest, mut turn) = (String::new(), bytes.as_slice(), 0);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(sizes[turn % sizes.len()].min(rest.len()));
            terminal.write(piece, &mut text);
            (rest, turn) = (after, turn + 1);
        }
        terminal.finish(&mut text);
        prop_assert_eq!(&text, &plain(&bytes, 20));
        prop_assert!(!text.contains(['\u{1b}', '\r', '\0', '\u{8}']), "{text:?}");
        prop_assert!(text.lines().all(|line| line.chars().count() <= 20 + 40), "{text:?}");
    }
}
