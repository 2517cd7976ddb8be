//! Edits by line number, with files.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use rein_tools::Snapshots;
use rein_tools::hashline::{Kind, Operation, apply, keep, render, tag};
use serde_json::json;

use crate::Stage;

#[derive(Default)]
struct Kept(Mutex<HashMap<String, String>>);

impl Snapshots for Kept {
    fn keep(&self, key: &str, text: &str) {
        self.0.lock().unwrap().insert(key.to_owned(), text.to_owned());
    }

    fn find(&self, key: &str) -> Option<String> {
        self.0.lock().unwrap().get(key).cloned()
    }
}

fn stage(files: &[(&str, &str)]) -> Stage {
    let mut stage = Stage::with(files);
    stage.scene.snapshots = Arc::new(Kept::default());
    stage
}

/// The header of a file as a model was shown it.
async fn shown(stage: &Stage, path: &str) -> String {
    stage.read(path).await;
    let text = String::from_utf8(stage.get(path)).unwrap();
    format!("[{path}#{}]", keep(&stage.scene, &text))
}

fn made(text: &str, kind: Kind, body: &[&str]) -> Result<String, String> {
    let body = body.iter().map(|line| (*line).to_owned()).collect();
    let applied = apply("a.rs", text, &[Operation { kind, body, line: 1 }]);
    applied.map(|applied| applied.text).map_err(|error| error.to_string())
}

#[test]
fn a_tag_follows_from_the_content_but_not_from_its_line_ends() {
    assert_eq!(tag("a\nb\n"), tag("a\r\nb\r\n"));
    assert_ne!(tag("a\nb\n"), tag("a\nb"));
    assert!(tag("").len() == 8 && tag("").chars().all(|character| character.is_ascii_alphanumeric()));
    let tags: HashSet<String> = (0..10_000).map(|number| tag(&number.to_string())).collect();
    assert_eq!(tags.len(), 10_000);
    assert_eq!(render("a.rs", "a\r\nb\nc", 2..=9), format!("[a.rs#{}]\n2:b\n3:c\n", tag("a\nb\nc")));
}

#[test]
fn each_operation_does_what_it_says() {
    let ok = |text: &str| Ok(text.to_owned());
    let block = "fn a() {\n    b();\n}\n";
    assert_eq!(made("a\nb\nc\n", Kind::Swap(2, 3), &["x"]), ok("a\nx\n"));
    assert_eq!(made("a\nb\nc", Kind::Swap(3, 3), &["x", "y"]), ok("a\nb\nx\ny"));
    assert_eq!(made("a\nb\nc", Kind::Delete(2, 3), &[]), ok("a"));
    assert_eq!(made("a\r\nb\r\n", Kind::Before(2), &["x"]), ok("a\r\nx\r\nb\r\n"));
    assert_eq!(made("a\r\nb", Kind::Tail, &["x"]), ok("a\r\nb\r\nx"));
    assert_eq!(made("a\n", Kind::After(1), &["x"]), ok("a\nx\n"));
    assert_eq!(made("a\n", Kind::Head, &["x"]), ok("x\na\n"));
    assert_eq!(made("", Kind::Tail, &["x"]), ok("x\n"));
    assert_eq!(made(&format!("{block}c\n"), Kind::SwapBlock(1), &["x"]), ok("x\nc\n"));
    assert_eq!(made(&format!("{block}\nfn c() {{}}\n"), Kind::DeleteBlock(1), &[]), ok("\nfn c() {}\n"));
    assert_eq!(made(block, Kind::AfterBlock(3), &["x"]), ok(&format!("{block}x\n")));
    assert!(made("a\n", Kind::Swap(3, 3), &["x"]).unwrap_err().contains("the file has 1 lines"));
    assert!(made("a\n", Kind::Swap(1, 0), &["x"]).unwrap_err().contains("ends before it begins"));
    assert!(made("a\n", Kind::Before(0), &["x"]).is_err());
    assert!(made("a b\n", Kind::SwapBlock(1), &["x"]).unwrap_err().contains("SWAP 1.=LAST:"));
}

#[tokio::test]
async fn files_are_edited_by_their_lines_and_the_new_tags_are_told() {
    let stage = stage(&[("a.rs", "one\ntwo\nthree\nfour\nfive\n"), ("b.txt", "x\r\ny\r\n")]);
    let (a, b) = (shown(&stage, "a.rs").await, shown(&stage, "b.txt").await);
    let input = format!("{a}\nSWAP 2.=3:\n+2\nINS.POST 5:\n+six\nDEL 4\n{b}\nINS.HEAD:\n+w");
    let told = stage.done("edit", json!({"input": input})).await;
    assert_eq!(stage.get("a.rs"), b"one\n2\nfive\nsix\n");
    assert_eq!(stage.get("b.txt"), b"w\r\nx\r\ny\r\n");
    let (a, b) = (tag("one\n2\nfive\nsix\n"), tag("w\nx\ny\n"));
    assert_eq!(told, format!("[a.rs#{a}]\n1:one\n2:2\n3:five\n4:six\n[b.txt#{b}]\n1:w\n2:x\n3:y"));
    // The tag that was told is good for the next edit.
    stage.done("edit", json!({"input": format!("[a.rs#{a}]\nDEL 1")})).await;
    assert_eq!(stage.get("a.rs"), b"2\nfive\nsix\n");
}

#[tokio::test]
async fn an_older_tag_is_followed_to_where_its_lines_are_now() {
    let stage = stage(&[("a.txt", "a\nb\nc\nd\n")]);
    let header = shown(&stage, "a.txt").await;
    stage.put("a.txt", "new\na\nb\nc\nd\n");
    let told = stage.done("edit", json!({"input": format!("{header}\nSWAP 3:\n+C")})).await;
    assert_eq!(stage.get("a.txt"), b"new\na\nb\nC\nd\n");
    assert!(told.contains("the edits were moved"), "{told}");
}

#[tokio::test]
async fn an_edit_beside_what_somebody_else_changed_is_refused_with_the_lines_as_they_are() {
    let stage = stage(&[("a.txt", "a\nb\nc\nd\n")]);
    let header = shown(&stage, "a.txt").await;
    stage.put("a.txt", "a\nb\nC\nd\n");
    let complaint = stage.complaint("edit", json!({"input": format!("{header}\nSWAP 3:\n+x")})).await;
    assert!(complaint.contains("has changed since"), "{complaint}");
    let now = format!("[a.txt#{}]\n1:a\n2:b\n3:C\n4:d", tag("a\nb\nC\nd\n"));
    assert!(complaint.ends_with(&now), "{complaint}");
    assert_eq!(stage.get("a.txt"), b"a\nb\nC\nd\n");
}

#[tokio::test]
async fn a_tag_that_was_never_shown_is_refused_and_shows_nothing_of_an_unread_file() {
    let stage = stage(&[("a.txt", "secret\n")]);
    let input = json!({"input": "[a.txt#00000000]\nDEL 1"});
    let complaint = stage.complaint("edit", input.clone()).await;
    assert!(complaint.contains("has not been read") && !complaint.contains("secret"), "{complaint}");
    stage.read("a.txt").await;
    assert!(stage.complaint("edit", input).await.contains("1:secret"));
    assert_eq!(stage.get("a.txt"), b"secret\n");
}

#[tokio::test]
async fn all_sections_are_applied_or_none_and_nothing_new_is_refused() {
    let stage = stage(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let (a, b) = (shown(&stage, "a.txt").await, shown(&stage, "b.txt").await);
    for (input, words) in [
        (format!("{a}\nSWAP 1:\n+x\n{b}\nDEL 7"), "the file has 1 lines"),
        (format!("{a}\nSWAP 1:\n+a"), "what a.txt has there already"),
        (format!("{a}\nSWAP 1:\n+x\nINS.PRE 1:\n+y\nDEL 1"), "is about lines that line 2 of it changes"),
        (format!("{a}\nSWAP 1:\n+// ... existing code ..."), "stands for text that was left out"),
        ("[c.txt#00000000]\nINS.HEAD:\n+x".to_owned(), "c.txt does not exist"),
    ] {
        let complaint = stage.complaint("edit", json!({"input": input})).await;
        assert!(complaint.contains(words), "{complaint}");
        assert_eq!(stage.get("a.txt"), b"a\n");
    }
}

proptest! {
    #[test]
    fn lines_in_no_range_keep_their_bytes(
        lines in proptest::collection::vec("[ab]{0,3}\r?", 1..10),
        first in 1_usize..10,
        length in 0_usize..3,
        end in "\n?",
    ) {
        let text = lines.join("\n") + &end;
        let pieces: Vec<&str> = text.split_inclusive('\n').collect();
        let last = first + length;
        let operation = Operation { kind: Kind::Swap(first, last), body: vec!["NEW".into()], line: 1 };
        match apply("a.txt", &text, &[operation]) {
            Ok(applied) => {
                let before = pieces[..first - 1].concat();
                let after = pieces.get(last..).unwrap_or_default().concat();
                let middle = applied.text.strip_prefix(&before).and_then(|rest| rest.strip_suffix(&after));
                prop_assert_eq!(middle.map(str::trim_end), Some("NEW"), "{:?} {:?}", text, applied.text);
            }
            Err(_) => prop_assert!(last > pieces.len(), "{:?}", text),
        }
    }

    #[test]
    fn nothing_panics(text in any::<String>(), first in any::<usize>(), last in any::<usize>(), body in any::<String>()) {
        for kind in [
            Kind::Swap(first, last),
            Kind::Delete(first, last),
            Kind::Before(first),
            Kind::After(last),
            Kind::Head,
            Kind::Tail,
            Kind::SwapBlock(first % 10),
            Kind::DeleteBlock(first % 10),
            Kind::AfterBlock(last % 10),
        ] {
            let _ = apply("a.rs", &text, &[Operation { kind, body: vec![body.clone()], line: 1 }]);
        }
    }
}
