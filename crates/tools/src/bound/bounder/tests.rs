//! Outputs of all sizes.

use super::*;
use proptest::prelude::*;

const SMALL: Limits = Limits { lines: 10, bytes: 200, edge_lines: 3, edge_bytes: 60, line_chars: 30 };

/// What is shown, and what an owner would have kept of it.
fn bound(limits: Limits, pieces: &[&[u8]]) -> (String, Option<Vec<u8>>) {
    let mut bounder = Bounder::new(limits);
    let mut kept: Option<Vec<u8>> = None;
    for piece in pieces {
        match bounder.write(piece) {
            Spill::Nothing => assert_eq!(kept, None),
            Spill::Begin(before) => kept = Some([&before, *piece].concat()),
            Spill::Continue => kept.as_mut().unwrap().extend_from_slice(piece),
        }
        assert_eq!(bounder.overflowed(), kept.is_some());
    }
    (bounder.finish(None), kept)
}

#[test]
fn small_output_is_shown_as_it_is() {
    assert_eq!(bound(SMALL, &[b"one\n", b"tw", b"o\n"]), ("one\ntwo\n".to_owned(), None));
    assert_eq!(bound(SMALL, &[]), (String::new(), None));
    let ten = "x\n".repeat(10);
    assert_eq!(bound(SMALL, &[ten.as_bytes()]), (ten, None));
}

#[test]
fn of_too_many_lines_the_first_and_the_last_are_shown() {
    let text: String = (0..100).map(|number| format!("line {number}\n")).collect();
    let id = ArtifactId::new();
    let mut bounder = Bounder::new(SMALL);
    assert_eq!(bounder.write(text.as_bytes()), Spill::Begin(Vec::new()));
    assert_eq!(
        bounder.finish(Some(&id)),
        format!(
            "line 0\nline 1\nline 2\n[… 94 lines, 745 bytes omitted; the whole output is \"artifact:{id}\": \
             use that as path of read or grep]\nline 97\nline 98\nline 99\n"
        )
    );
}

#[test]
fn a_long_line_is_cut_and_the_whole_is_handed_over() {
    let long = "é".repeat(50);
    let (shown, kept) = bound(SMALL, &[b"first\n", long.as_bytes(), b"\nlast\n"]);
    assert_eq!(shown, format!("first\n{} [… 20 chars cut]\nlast\n", "é".repeat(30)));
    assert_eq!(kept, Some(format!("first\n{long}\nlast\n").into_bytes()));
}

#[test]
fn a_line_without_an_end_costs_no_memory() {
    let mut bounder = Bounder::default();
    for _ in 0..2_000 {
        let _ = bounder.write(&[b'x'; 10_000]);
    }
    assert!(bounder.text.capacity() < 100_000);
    assert_eq!(bounder.finish(None), format!("{} [… 19998000 chars cut]", "x".repeat(2_000)));
}

#[test]
fn a_flood_of_lines_costs_no_memory() {
    let piece = "some line of output\n".repeat(1_000);
    let mut bounder = Bounder::default();
    for _ in 0..1_000 {
        let _ = bounder.write(piece.as_bytes());
    }
    assert!(bounder.end.as_ref().unwrap().text.capacity() < 400_000);
    let shown = bounder.finish(None);
    assert!(
        shown.contains("[… 998000 lines, 19960000 bytes omitted]"),
        "{}",
        shown.lines().nth(1000).unwrap()
    );
}

#[test]
fn what_is_drawn_over_for_ever_costs_no_memory_and_is_handed_over() {
    let mut bounder = Bounder::default();
    bounder.expect_terminal();
    let mut handed_over = 0;
    for number in 0..200_000 {
        let piece = format!("\r{number:>6} of 200000");
        match bounder.write(piece.as_bytes()) {
            Spill::Nothing => {}
            Spill::Begin(before) => handed_over += before.len() + piece.len(),
            Spill::Continue => handed_over += piece.len(),
        }
        assert!(bounder.whole.as_ref().is_none_or(|whole| whole.len() <= DRAWN_OVER));
    }
    assert_eq!(handed_over, 200_000 * 17);
    assert_eq!(bounder.finish(None), "199999 of 200000");
}

#[test]
fn what_is_not_utf8_is_replaced_also_when_it_is_split() {
    let (shown, kept) = bound(SMALL, &[b"a\xffb\xe2\x82", b"\xac\xf0\x9f\x98", b"\x80 \xe2\x82"]);
    assert_eq!((shown.as_str(), kept), ("a\u{FFFD}b€😀 \u{FFFD}", None));
}

#[test]
fn half_a_character_at_the_end_does_not_overflow() {
    let full = format!("{}\n", "x".repeat(19)).repeat(10);
    assert_eq!(full.len(), 200);
    assert_eq!(bound(SMALL, &[full.as_bytes(), b"\xe2"]), (full, None));
}

fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        4 => "[a-zé\u{1F600}\n]{0,40}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..40)
}

proptest! {
    #[test]
    fn limits_hold_and_nothing_is_lost(pieces in pieces()) {
        let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let whole = slices.concat();
        let (shown, kept) = bound(SMALL, &slices);
        prop_assert!(shown.len() <= SMALL.bytes, "{} bytes", shown.len());
        prop_assert!(shown.lines().count() <= SMALL.lines);
        match kept {
            Some(kept) => prop_assert_eq!(kept, whole),
            None => {
                // Half a character at the end may have been left out.
                let all = String::from_utf8_lossy(&whole).into_owned();
                prop_assert!(shown == all || Some(shown.as_str()) == all.strip_suffix('\u{FFFD}'), "{shown:?}");
            }
        }
    }

    #[test]
    fn on_a_terminal_limits_hold_and_nothing_is_lost(
        pieces in proptest::collection::vec("[a-zé\r\n\u{8}]{0,40}|\u{1b}\\[[0-9]{0,1}[ABJKmH]", 0..60),
    ) {
        let mut bounder = Bounder::new(SMALL);
        bounder.expect_terminal();
        let mut kept: Option<Vec<u8>> = None;
        for piece in &pieces {
            match bounder.write(piece.as_bytes()) {
                Spill::Nothing => prop_assert!(kept.is_none()),
                Spill::Begin(before) => kept = Some([before.as_slice(), piece.as_bytes()].concat()),
                Spill::Continue => kept.as_mut().unwrap().extend_from_slice(piece.as_bytes()),
            }
        }
        let shown = bounder.finish(None);
        let whole = pieces.concat();
        prop_assert!(shown.len() <= SMALL.bytes, "{} bytes", shown.len());
        prop_assert!(shown.lines().count() <= SMALL.lines);
        match kept {
            Some(kept) => prop_assert_eq!(kept, whole.into_bytes()),
            None => prop_assert_eq!(shown, crate::terminal::plain(whole.as_bytes(), SMALL.line_chars)),
        }
    }

    #[test]
    fn the_ends_are_true_ones_and_pieces_do_not_matter(
        lines in proptest::collection::vec("[a-zé]{0,25}", 12..60), size in 1_usize..50,
    ) {
        let text = lines.join("\n");
        let (shown, _) = bound(SMALL, &text.as_bytes().chunks(size).collect::<Vec<_>>());
        prop_assert_eq!(&shown, &bound(SMALL, &[text.as_bytes()]).0);
        let (begin, rest) = shown.split_once("\n[… ").unwrap();
        let (_, end) = rest.split_once(" omitted]\n").unwrap();
        prop_assert!(text.starts_with(begin) && text.ends_with(end), "{shown}");
        prop_assert!(begin.len() + end.len() < text.len());
    }
}
