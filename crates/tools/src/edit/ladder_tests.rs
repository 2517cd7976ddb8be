//! The ladder as a whole: what each rung finds, what it puts there, and what
//! none of them may do.

use proptest::prelude::*;

use super::replace::{ReplaceAll, ReplaceError, replace_bytes, replace_with};
use super::rung::Rung;
use super::work::Work;
use crate::text::LineEnds;

fn found(content: &str, old: &str, new: &str) -> Option<(Rung, String)> {
    let replaced = replace_bytes(content.as_bytes(), old, new, ReplaceAll::No).ok()?;
    Some((replaced.rung, String::from_utf8(replaced.bytes).unwrap()))
}

fn is(rung: Rung, text: &str) -> Option<(Rung, String)> {
    Some((rung, text.to_owned()))
}

#[test]
fn the_strictest_rung_that_fits_is_taken() {
    for (content, old, new, rung, result) in [
        ("a b\n", "a b", "x", Rung::Exact, "x\n"),
        ("one  \ntwo\t\nthree\n", "one\ntwo\n", "1\n", Rung::Trimmed, "1\nthree\n"),
        ("one  \ntwo\t", "one\ntwo", "1", Rung::Trimmed, "1"),
        ("  one\n  two\n", "one\ntwo", "1\n  2", Rung::Indented, "  1\n    2\n"),
        (
            "\tone {\n\t\ttwo\n\t}\n",
            "one {\n    two\n}",
            "one {\n    2\n}",
            Rung::Indented,
            "\tone {\n\t\t2\n\t}\n",
        ),
        ("  hello\n    world\n", "hello\nworld", "good\nbye", Rung::Whitespace, "  good\n  bye\n"),
        ("let x=f( a,b );\n", "let x = f(a, b);", "let y;", Rung::Whitespace, "let y;\n"),
        ("print(\"x\")\n", "print(\\\"x\\\")", "print(\\\"y\\\")", Rung::Escaped, "print(\"y\")\n"),
        ("a\nb\n", "a\\nb", "c\\nd", Rung::Escaped, "c\nd\n"),
        ("say(‘hello’) — 1…\n", "say('hello') - 1...", "say('bye')", Rung::Unicode, "say('bye')\n"),
        ("ＡＢＣ，１\n", "ABC,1", "D", Rung::Unicode, "D\n"),
        ("a\u{a0}= 1\n", "a = 1", "a = 2", Rung::Whitespace, "a = 2\n"),
    ] {
        assert_eq!(found(content, old, new), is(rung, result), "{content:?} {old:?}");
    }
}

#[test]
fn a_block_that_is_remembered_badly_is_found_by_its_ends() {
    let content = "fn a() {\n    let total = sum(first, second);\n    print(total);\n}\n";
    // A line that differs a little, and one that was forgotten in the file.
    let old = "fn a() {\n    let total = sum(first, second)\n    print(total);\n}";
    assert_eq!(found(content, old, "fn a() {}"), is(Rung::Anchored, "fn a() {}\n"));
    // Blank lines are nothing.
    let old = "fn a() {\n\n    let total = sum(first, second);\n\n    print(total)\n}\n";
    assert_eq!(found(content, old, "fn a() {}\n"), is(Rung::Anchored, "fn a() {}\n"));
    // Moved as well.
    let indented = "  fn a() {\n      let total = sum(first, second);\n      print(total);\n  }\n";
    let old = "fn a() {\n    let total = sum(first, second)\n    print(total);\n}";
    assert_eq!(
        found(indented, old, "fn a() {\n    b();\n}"),
        is(Rung::Anchored, "  fn a() {\n      b();\n  }\n")
    );
}

#[test]
fn a_line_that_the_model_never_named_is_never_deleted() {
    let content = "fn a() {\n    one();\n    precious();\n    two();\n}\n";
    assert_eq!(found(content, "fn a() {\n    one();\n    two();\n}", "fn a() {}"), None);
    // Another line in the place of one that was named.
    assert_eq!(found(content, "fn a() {\n    one();\n    elsewhere(1);\n    two();\n}", "fn a() {}"), None);
    // One pair of ends and nothing in common between.
    assert_eq!(found("start\nx1\ny2\nend\n", "start\nalpha\nbeta\nend", ""), None);
}

#[test]
fn a_first_line_that_differs_a_little_is_found_by_the_others() {
    let content = "fn compute(first: u32, second: u32) {\n    one();\n    two();\n    three();\n}\n";
    let old = "fn compute(first: u32, second: u64) {\n    one();\n    two();\n    three();\n}";
    assert_eq!(found(content, old, "x"), is(Rung::Context, "x\n"));
    let old = "fn other(first: Text) {\n    one();\n    two();\n    three();\n}";
    assert_eq!(found(content, old, "x"), None);
    // One line is never found by likeness.
    assert_eq!(found("function foo() {}\n", "function bar() {}", "x"), None);
}

#[test]
fn several_places_on_a_rung_are_named_and_no_looser_one_is_tried() {
    let content = "  a;\n  b;\n\n    a;\n    b;\n";
    assert_eq!(
        replace_bytes(content.as_bytes(), "a;\nb;", "c;", ReplaceAll::No),
        Err(ReplaceError::Ambiguous { count: 2, lines: vec![1, 4], rung: Rung::Indented })
    );
    let all = replace_bytes(content.as_bytes(), "a;\nb;", "c;", ReplaceAll::Yes).unwrap();
    assert_eq!(String::from_utf8(all.bytes).unwrap(), "  c;\n\n    c;\n");
    // Alike is not the same, so there is no replacing all of it.
    let block = |name: &str| format!("begin\n    call({name}, argument)\n    done({name})\nend\n");
    let content = format!("{}{}", block("x1"), block("x2"));
    let old = "begin\n    call(x, argument)\n    done(x)\nend\n";
    assert_eq!(
        replace_bytes(content.as_bytes(), old, "", ReplaceAll::Yes),
        Err(ReplaceError::Ambiguous { count: 2, lines: vec![1, 5], rung: Rung::Anchored })
    );
}

#[test]
fn a_word_is_never_cut() {
    assert_eq!(found("maximum  =  1\n", "mum = 1", "x"), None);
    assert_eq!(found("a  =  10\n", "a = 1", "x"), None);
    assert_eq!(found("max  = 1; x  = 1;\n", "x = 1;", "y"), is(Rung::Whitespace, "max  = 1; y\n"));
}

#[test]
fn what_is_already_there_is_said_to_be() {
    assert_eq!(
        replace_bytes(b"  a;\n  b;\n", "a;\nb;", "  a;\n  b;", ReplaceAll::No),
        Err(ReplaceError::Unchanged { line: 1 })
    );
}

/// Steps of comparing that an edit took, or nothing if there were not enough.
fn steps(content: &str, old: &str) -> Option<u64> {
    const ENOUGH: u64 = 1_000_000;
    let mut work = Work::of(ENOUGH);
    let replaced = replace_with(content.as_bytes(), old, "", ReplaceAll::No, &mut work);
    if work.left() == 0 {
        assert_eq!(replaced, Err(ReplaceError::NotFound), "what was not compared to the end is not found");
        return None;
    }
    Some(ENOUGH - work.left())
}

/// A content and an `old` of a size.
type Family = fn(usize) -> (String, String);

#[test]
fn no_input_takes_work_by_the_square_of_its_size() {
    fn block(lines: usize) -> String {
        format!("begin\n{}end", "line of something else\n".repeat(lines))
    }
    let families: [(&str, Family); 5] = [
        ("the same line again and again", |size| {
            ("x = compute(x)\n".repeat(size * 10), "x = compute(x)\n".repeat(size) + "y")
        }),
        ("many blocks with the same ends", |size| {
            let frames = (0..size).map(|index| format!("begin\nline {index} of many\nend\n")).collect();
            (frames, block(1))
        }),
        ("all begins before all ends", |size| ("begin\n".repeat(size) + &"end\n".repeat(size), block(size))),
        ("one long word", |size| ("a".repeat(size * 100), "a".repeat(size * 50) + "\nb\nc")),
        ("one long line", |size| ("ab ".repeat(size * 30) + "\n", "ab  ".repeat(size * 10) + "\nx\ny")),
    ];
    for (name, family) in families {
        let measured = [200, 400, 800].map(|size| {
            let (content, old) = family(size);
            steps(&content, &old)
        });
        if let [Some(one), Some(two), Some(four)] = measured {
            assert!(two <= one * 3 + 10_000 && four <= two * 3 + 10_000, "{name}: {measured:?}");
        }
    }
}

#[test]
fn without_work_nothing_is_found_by_likeness_and_everything_else_is() {
    let content = "fn a() {\n    one(1);\n    two(2);\n}\n";
    let alike = "fn a() {\n    one(11);\n    two(2);\n}";
    let with = |steps: u64, old: &str| {
        replace_with(content.as_bytes(), old, "x", ReplaceAll::No, &mut Work::of(steps))
            .map(|found| found.rung)
    };
    assert_eq!(with(0, alike), Err(ReplaceError::NotFound));
    assert_eq!(with(100_000, alike), Ok(Rung::Anchored));
    assert_eq!(with(0, "fn a() {\n  one(1);"), Ok(Rung::Indented));
}

/// Every byte before and after one piece is as it was, and the piece had the letters of `old`.
fn only_one_piece_changed(content: &str, result: &str, old: &str) -> bool {
    let letters = |text: &str| -> String {
        let plain = LineEnds::Lf.applied_to(text.as_bytes());
        String::from_utf8_lossy(&plain).chars().filter(|character| !character.is_whitespace()).collect()
    };
    let (content_bytes, result_bytes) = (content.as_bytes(), result.as_bytes());
    (0..=content.len()).any(|start| {
        content_bytes[..start] == result_bytes[..start.min(result.len())]
            && (start..=content.len()).any(|end| {
                result.len() >= start + (content.len() - end)
                    && result_bytes.ends_with(&content_bytes[end..])
                    && content.is_char_boundary(start)
                    && content.is_char_boundary(end)
                    && letters(&content[start..end]) == letters(old)
            })
    })
}

proptest! {
    #[test]
    fn bytes_outside_of_the_match_never_change(
        before in "[ab \r\n]{0,20}", old in "[abc \t\n]{1,8}", new in "[abd \n]{0,8}", after in "[ab \r\n]{0,20}",
        spaces in "[ \t]{0,2}",
    ) {
        let content = format!("{before}{spaces}{old}{after}");
        let asked = old.replace("c", " c");
        if let Ok(replaced) = replace_bytes(content.as_bytes(), &asked, &new, ReplaceAll::No) {
            let result = String::from_utf8(replaced.bytes).unwrap();
            prop_assert!(only_one_piece_changed(&content, &result, &asked), "{content:?} {asked:?} {result:?}");
        }
    }

    #[test]
    fn nothing_panics(content in any::<String>(), old in any::<String>(), new in any::<String>()) {
        for all in [ReplaceAll::No, ReplaceAll::Yes] {
            let _ = replace_bytes(content.as_bytes(), &old, &new, all);
        }
    }

    #[test]
    fn nothing_panics_on_text_that_is_alike(
        content in "[ab{}’…\u{a0}\r\n\t \\\\\"]{0,80}", old in "[ab{}'. \r\n\t\\\\\"n]{0,30}", new in "[ab\n\t ]{0,20}",
    ) {
        for all in [ReplaceAll::No, ReplaceAll::Yes] {
            let _ = replace_bytes(content.as_bytes(), &old, &new, all);
        }
    }
}
