//! `read`: ranges, the end of a file, encodings, trees, links.

use proptest::prelude::*;
use serde_json::json;
use std::io::{Seek, Write};
use std::os::unix::fs::symlink;

use crate::Stage;

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

#[tokio::test]
async fn several_ranges_are_shown_with_what_is_between_left_out() {
    let stage = Stage::with(&[("a.txt", &numbered(1000))]);
    let shown = stage.done("read", json!({"path": "a.txt", "ranges": "2-3,998-,10"})).await;
    assert_eq!(
        shown,
        "2|line 2\n3|line 3\n…\n10|line 10\n…\n998|line 998\n999|line 999\n1000|line 1000\n[1000 lines in all]"
    );
    let intent = stage.intent("read", json!({"path": "a.txt", "ranges": "2-3,998-"})).await;
    assert_eq!(intent.display.title, "read a.txt:2-3,998-");
    let message = stage.failed("read", json!({"path": "a.txt", "ranges": "1001-"})).await;
    assert_eq!(message, "ranges begin past the end: a.txt has 1000 lines.");
    let complaint = stage.complaint("read", json!({"path": "a.txt", "ranges": "two"})).await;
    assert_eq!(complaint, "`ranges`: two is no range. Write them like 10-40,80-95 or 200-.");
}

#[tokio::test]
async fn what_does_not_fit_is_named_to_go_on_with() {
    let text: String = (1..=300).map(|number| format!("{number} {}\n", "x".repeat(500))).collect();
    let stage = Stage::with(&[("a.txt", &text)]);
    let shown = stage.done("read", json!({"path": "a.txt", "ranges": "1-90,200-250"})).await;
    let (body, note) = shown.rsplit_once('\n').unwrap();
    assert!(body.len() <= 50 * 1024, "{}", body.len());
    let last: u64 = body.lines().last().unwrap().split_once('|').unwrap().0.parse().unwrap();
    assert!((200..250).contains(&last), "{last}");
    let expected = format!("[shown to line {last} of 300: continue with ranges=\"{}-250\"]", last + 1);
    assert_eq!(note, expected);
}

#[tokio::test]
async fn the_end_of_a_file_is_shown() {
    let stage = Stage::with(&[("a.txt", &numbered(10)), ("none.txt", "")]);
    let shown = stage.done("read", json!({"path": "a.txt", "tail": 2})).await;
    assert_eq!(shown, "9|line 9\n10|line 10\n[10 lines in all]");
    let shown = stage.done("read", json!({"path": "a.txt", "ranges": "1,-1"})).await;
    assert_eq!(shown, "1|line 1\n…\n10|line 10\n[10 lines in all]");
    assert_eq!(stage.done("read", json!({"path": "none.txt", "tail": 5})).await, "[empty file]");
}

#[tokio::test]
async fn the_end_of_a_huge_file_is_found_from_the_end() {
    let stage = Stage::new();
    let path = stage.put("huge.log", numbered(2000));
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // A hole: three gigabytes that take no room.
    file.seek(std::io::SeekFrom::Start(3_000_000_000)).unwrap();
    file.write_all(format!("\n{}caf\u{e9}", numbered(5000)).as_bytes()).unwrap();
    drop(file);
    let bytes = std::fs::metadata(&path).unwrap().len();
    let shown = stage.done("read", json!({"path": "huge.log", "tail": 3})).await;
    assert_eq!(
        shown,
        format!(
            "-3|line 4999\n-2|line 5000\n-1|café\n[the last 3 lines of {bytes} bytes, numbered from the end]"
        )
    );
    // As many as fit, and the last ones of them.
    let shown = stage.done("read", json!({"path": "huge.log", "tail": 100_000})).await;
    assert!(shown.len() <= 50 * 1024 + 100 && shown.contains("\n-1|café\n[the last "), "{}", shown.len());
}

#[tokio::test]
async fn a_directory_is_a_tree_that_folds() {
    let stage = Stage::with(&[
        (".gitignore", "target/\n*.log\n"),
        ("Cargo.toml", ""),
        ("src/main.rs", ""),
        ("src/debug.log", ""),
        ("src/deep/er/file", ""),
        ("target/debug/x", ""),
    ]);
    std::fs::create_dir(stage.at(".git")).unwrap();
    for number in 0..40 {
        stage.put(&format!("many/{number:02}"), "");
    }
    let many: String = (0..12).map(|number| format!("  {number:02}\n")).collect();
    assert_eq!(
        stage.read(".").await,
        format!(
            ".git/\n.gitignore\nCargo.toml\nmany/\n{many}  … 28 more\nsrc/\n  deep/\n  main.rs\n  … 1 ignored by git\n\
             target/ (ignored by git)\n"
        )
    );
    // What is asked for itself is shown.
    assert_eq!(stage.read("target").await, "debug/\n  x\n");
    for number in 0..400 {
        stage.put(&format!("wide/{number:03}/x"), "");
    }
    let shown = stage.read("wide").await;
    assert!(
        shown.starts_with("000/\n001/\n")
            && shown.ends_with("299/\n[entries up to 300 of 400: continue with offset=301]")
    );
    let shown = stage.done("read", json!({"path": "wide", "ranges": "2-3"})).await;
    assert_eq!(shown, "001/\n002/\n");
}

#[tokio::test]
async fn a_directory_of_long_names_stays_small() {
    let stage = Stage::new();
    for number in 0..300 {
        stage.put(&format!("d/{number:03}{}", "x".repeat(240)), "");
    }
    let shown = stage.read("d").await;
    assert!(shown.len() < 51 * 1024 && shown.contains("of 300: continue with offset="), "{}", shown.len());
}

#[tokio::test]
async fn a_link_out_of_the_workspace_is_told() {
    let stage = Stage::new();
    let outside = stage.root.parent().unwrap().join("outside.txt");
    std::fs::write(&outside, "far\n").unwrap();
    symlink(&outside, stage.at("link")).unwrap();
    stage.put("inside.txt", "near\n");
    symlink("inside.txt", stage.at("other")).unwrap();
    let shown = stage.read("link").await;
    assert_eq!(shown, format!("1|far\n[link leads to {}, outside of the workspace]", outside.display()));
    assert_eq!(stage.read("other").await, "1|near\n");
    assert_eq!(stage.read(outside.to_str().unwrap()).await, "1|far\n");
}

#[tokio::test]
async fn an_address_on_the_web_is_for_another_tool() {
    let stage = Stage::new();
    let complaint = stage.complaint("read", json!({"path": "https://example.com/a"})).await;
    assert_eq!(complaint, "https://example.com/a is no file. Use webfetch to read from the web.");
}

#[tokio::test]
async fn encodings_are_read_and_written_back() {
    let stage = Stage::new();
    let bare: Vec<u8> = "plain é\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    stage.put("bare.txt", bare);
    stage.put("latin1.txt", b"caf\xe9\n");
    let shown = stage.read("bare.txt").await;
    assert!(shown.starts_with("1|plain é\n[CRLF line ends; UTF-16 without a mark"), "{shown}");
    let told = stage.done("write", json!({"path": "bare.txt", "content": "more é\n"})).await;
    assert_eq!(told, "Replaced bare.txt (kept its CRLF line ends, kept its encoding, UTF-16).");
    let expected: Vec<u8> = "more é\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(stage.get("bare.txt"), expected);
    stage.read("latin1.txt").await;
    let told = stage.done("write", json!({"path": "latin1.txt", "content": "thé\n"})).await;
    assert_eq!(told, "Replaced latin1.txt (kept its encoding, Windows-1252).");
    assert_eq!(stage.get("latin1.txt"), b"th\xe9\n");
    let told = stage.done("write", json!({"path": "latin1.txt", "content": "π\n"})).await;
    assert_eq!(
        told,
        "Replaced latin1.txt (now UTF-8, because its old encoding does not have all the characters)."
    );
    assert_eq!(stage.get("latin1.txt"), "π\n".as_bytes());
}

#[tokio::test]
async fn a_large_file_in_another_encoding_needs_no_memory_for_it() {
    let stage = Stage::new();
    let line: Vec<u8> = "un café\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut bytes = vec![0xff, 0xfe];
    bytes.extend(line.repeat(60 * 1024 * 1024 / line.len()));
    let count = (bytes.len() - 2) / line.len();
    stage.put("large.txt", bytes);
    let shown = stage.done("read", json!({"path": "large.txt", "offset": 3, "limit": 1})).await;
    assert!(shown.starts_with("3|un café\n[lines 3-3 of a file of "), "{shown}");
    let shown = stage.done("read", json!({"path": "large.txt", "tail": 1})).await;
    assert!(shown.starts_with(&format!("{count}|un café\n")), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the text and the ranges: each line that is asked for is shown once, as it is, under its number.
    #[test]
    fn ranges_show_exactly_their_lines(
        lines in proptest::collection::vec("[a-z|é\u{1F600}\t ]{0,30}", 1..60),
        ending in "\n?",
        ranges in proptest::collection::vec((1_usize..70, 0_usize..30), 1..6),
        tail in proptest::option::of(1_usize..20),
    ) {
        let text = lines.join("\n") + &ending;
        let expected: Vec<&str> = text.split_terminator('\n').collect();
        let stage = Stage::with(&[("a.txt", &text)]);
        let written: Vec<String> = ranges.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect();
        let mut arguments = json!({"path": "a.txt", "ranges": written.join(",")});
        if let Some(tail) = tail {
            arguments["tail"] = tail.into();
        }
        let wanted: Vec<usize> = (1..=expected.len())
            .filter(|number| {
                let in_tail = tail.is_some_and(|tail| number + tail > expected.len());
                in_tail || ranges.iter().any(|(first, more)| (*first..=first + more).contains(number))
            })
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let called = runtime.block_on(stage.call("read", arguments));
        let shown: Vec<(usize, String)> = called
            .text
            .split_terminator('\n')
            .filter(|line| *line != "…")
            .filter_map(|line| line.split_once('|'))
            .filter_map(|(number, line)| Some((number.parse().ok()?, line.to_owned())))
            .collect();
        let wanted: Vec<(usize, String)> =
            wanted.into_iter().map(|number| (number, expected[number - 1].to_owned())).collect();
        prop_assert_eq!(shown, wanted, "{}", called.text);
    }
}
