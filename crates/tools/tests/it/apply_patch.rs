//! `apply_patch`, with files.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use proptest::prelude::*;
use rein_protocol::{CallStatus, Effect};
use rein_tools::apply_patch::{PatchError, apply, parse};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Stage;

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch")
}

fn one(content: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("a".to_owned(), content.to_owned())])
}

fn update(content: &str, body: &str) -> Result<String, String> {
    let applied = apply(&one(content), &patch(&format!("*** Update File: a\n{body}")));
    applied.map(|files| files["a"].clone()).map_err(|error| error.to_string())
}

fn is(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

#[test]
fn a_patch_of_every_kind_of_section_is_applied() {
    let files = [("gone", "x\n"), ("old", "one\ntwo\n"), ("same", "stays\n")];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let text = patch(
        "*** Add File: new/file\n+first\n+\n+third\n*** Delete File: gone\n\
         *** Update File: old\n*** Move to: moved\n@@\n one\n-two\n+2",
    );
    let expected = [("moved", "one\n2\n"), ("new/file", "first\n\nthird\n"), ("same", "stays\n")];
    assert_eq!(
        apply(&files, &text),
        Ok(expected.map(|(name, text)| (name.to_owned(), text.to_owned())).into())
    );
}

#[test]
fn a_hunk_is_found_leniently_and_lines_that_stay_keep_their_bytes() {
    assert_eq!(update("a  \nb\n", "@@\n a\n-b\n+c"), is("a  \nc\n"));
    assert_eq!(update("say “a”\nb\n", " say \"a\"\n-b\n+c"), is("say “a”\nc\n"));
    assert_eq!(update("    a\n    b\n", "-b\n+c\n+  d"), is("    a\n    c\n      d\n"));
    assert_eq!(update("a\r\nb\r\n", "-b\n+c\n+d"), is("a\r\nc\r\nd\r\n"));
    assert_eq!(update("a\nb", "-b\n+c"), is("a\nc\n"));
    assert_eq!(update("a\nb", "-a\n+c"), is("c\nb"), "the last line was not touched");
    assert_eq!(update("\u{feff}a\n", "-a\n+b"), is("\u{feff}b\n"));
    assert_eq!(update("a\n", "+b"), is("a\nb\n"));
    assert_eq!(update("a\nb\n", "-a\n+c\n\n"), is("c\nb\n"), "space before the next marker is no line");
}

#[test]
fn headers_and_the_end_of_the_file_tell_where_a_hunk_is() {
    let content = "fn a() {\n    x\n}\nfn b() {\n    x\n}\n";
    let second = "fn a() {\n    x\n}\nfn b() {\n    y\n}\n";
    assert_eq!(update(content, "@@ fn b() {\n-    x\n+    y"), is(second));
    assert_eq!(update(content, "@@ -5,1 +5,1 @@\n-    x\n+    y"), is(second));
    assert_eq!(update("x\ny\nx\n", "-x\n+z\n*** End of File"), is("x\ny\nz\n"));
    let inserted = "fn a() {\n    first\n    x\n}\nfn b() {\n    x\n}\n";
    assert_eq!(update(content, "@@ fn a\n+    first"), is(inserted));
    assert_eq!(update("a\nb\nc\n", "@@ b\n-c\n+C\n@@ a\n-b\n+B"), is("a\nB\nC\n"), "in any order");
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    for (content, body, words) in [
        ("x\ny\nx\n", "-x\n+z", "more than once, at lines 1, 3"),
        ("alpha beta gamma\n", "-alpha beta delta\n+z", "1|alpha beta gamma"),
        ("x\nx\n", "@@ nowhere\n-x\n+z", "no line of the file is \"nowhere\""),
        ("a\nb\nc\n", " a\n-b\n@@\n-b\n+x", "another hunk changes the same lines"),
    ] {
        let error = update(content, body).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let nothing = BTreeMap::new();
    assert_eq!(apply(&nothing, "nothing"), Err(PatchError::NoBegin));
    assert_eq!(apply(&nothing, "*** Begin Patch\n*** Add File: a\n+x"), Err(PatchError::NoEnd));
    assert_eq!(apply(&nothing, &patch("")), Err(PatchError::Empty));
    assert!(matches!(parse(&patch("*** Frobnicate File: a")), Err(PatchError::Line { line: 2, .. })));
    assert!(matches!(parse(&patch("*** Add File: a\nno plus")), Err(PatchError::Line { line: 3, .. })));
    let path = || "a".to_owned();
    assert_eq!(parse(&patch("*** Update File: a")), Err(PatchError::NoHunks { line: 2, path: path() }));
    assert_eq!(apply(&nothing, &patch("*** Delete File: a")), Err(PatchError::Missing { path: path() }));
}

#[tokio::test]
async fn every_file_is_named_before_and_told_of_after() {
    let stage = Stage::with(&[("a.txt", "one\ntwo\n"), ("gone.txt", "x\n"), ("tool.sh", "run\n")]);
    std::fs::set_permissions(stage.at("tool.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    let arguments = json!({"patch": patch(
        "*** Update File: a.txt\n-two\n+2\n*** Delete File: gone.txt\n*** Add File: d/new.txt\n+n\n\
         *** Update File: tool.sh\n*** Move to: bin/tool.sh\n-run\n+RUN",
    )});
    let intent = stage.intent("apply_patch", arguments.clone()).await;
    let paths = ["a.txt", "gone.txt", "d/new.txt", "tool.sh", "bin/tool.sh"];
    assert_eq!(intent.effects, paths.map(|path| Effect::Write { path: stage.at(path) }));
    let called = stage.call("apply_patch", arguments).await;
    assert_eq!(
        (called.status, called.text.as_str()),
        (CallStatus::Completed, "Applied:\nM a.txt\nD gone.txt\nA d/new.txt\nR tool.sh -> bin/tool.sh")
    );
    assert_eq!(called.display.summary.as_deref(), Some("+3 -3"));
    assert_eq!(stage.get("a.txt"), b"one\n2\n");
    assert_eq!(stage.get("bin/tool.sh"), b"RUN\n");
    assert_eq!(std::fs::metadata(stage.at("bin/tool.sh")).unwrap().mode() & 0o7777, 0o755);
    assert!(!stage.at("gone.txt").exists() && !stage.at("tool.sh").exists());
    assert_eq!(names(&stage), ["a.txt", "bin", "d"], "nothing is left beside them");
}

fn names(stage: &Stage) -> Vec<String> {
    let entries = std::fs::read_dir(&stage.root).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn nothing_is_written_unless_everything_fits() {
    let stage = Stage::with(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let text = patch(
        "*** Update File: a.txt\n-one\n+1\n*** Add File: c.txt\n+c\n*** Update File: b.txt\n-three\n+3",
    );
    let complaint = stage.complaint("apply_patch", json!({"input": text})).await;
    let expected = "Nothing was changed. The hunk at line 8 of the patch does not fit b.txt:";
    assert!(complaint.starts_with(expected), "{complaint}");
    assert_eq!(stage.get("a.txt"), b"one\n");
    assert!(!stage.at("c.txt").exists());
    // What replaces a whole file must have been read.
    let whole = json!({"patch": patch("*** Add File: a.txt\n+1")});
    let complaint = stage.complaint("apply_patch", whole).await;
    assert!(complaint.contains("has not been read"), "{complaint}");
    let missing = json!({"patch": patch("*** Update File: a.tx\n-one\n+1")});
    assert_eq!(
        stage.complaint("apply_patch", missing).await,
        "Nothing was changed. a.tx does not exist. Did you mean a.txt?"
    );
}

#[tokio::test]
async fn a_failure_in_the_middle_is_undone() {
    let stage = Stage::with(&[("a.txt", "one\n"), ("gone.txt", "x\n"), ("file", "f\n")]);
    let inode = std::fs::metadata(stage.at("gone.txt")).unwrap().ino();
    let text = patch(
        "*** Update File: a.txt\n-one\n+1\n*** Delete File: gone.txt\n\
         *** Add File: d/e/new.txt\n+n\n*** Add File: file/below\n+x",
    );
    let called = stage.call("apply_patch", json!({"patch": text})).await;
    assert_eq!(called.status, CallStatus::Failed);
    assert!(called.text.starts_with("file/below could not be written: "), "{}", called.text);
    assert!(called.text.ends_with("Nothing was changed in the other files."), "{}", called.text);
    assert_eq!((stage.get("a.txt"), stage.get("gone.txt")), (b"one\n".to_vec(), b"x\n".to_vec()));
    assert_eq!(std::fs::metadata(stage.at("gone.txt")).unwrap().ino(), inode);
    assert_eq!(names(&stage), ["a.txt", "file", "gone.txt"]);
}

#[tokio::test]
async fn a_file_that_changes_while_the_call_waits_stops_all_of_it() {
    let stage = Stage::with(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let text = patch("*** Update File: a.txt\n-one\n+1\n*** Update File: b.txt\n-two\n+2");
    let plan = stage.plan("apply_patch", json!({"patch": text})).await;
    stage.put("b.txt", "three\n");
    let plan = plan.map_err(|complaint| complaint.0).unwrap();
    let called = stage.run(plan, &CancellationToken::new()).await;
    assert_eq!(called.status, CallStatus::Failed);
    assert_eq!((stage.get("a.txt"), stage.get("b.txt")), (b"one\n".to_vec(), b"three\n".to_vec()));
}

#[tokio::test]
async fn what_changed_since_it_was_read_is_told_with_the_result() {
    let stage = Stage::new();
    stage.done("write", json!({"path": "a.txt", "content": "one\ntwo\n"})).await;
    stage.put("a.txt", "one\ntwo\nthree\n");
    let arguments = json!({"patch": patch("*** Update File: a.txt\n-one\n+1")});
    let told = stage.done("apply_patch", arguments).await;
    assert!(told.starts_with("Applied:\nM a.txt\nNote: a.txt had changed since it was read:\n@@"), "{told}");
    assert_eq!(stage.get("a.txt"), b"1\ntwo\nthree\n");
}

proptest! {
    #[test]
    fn nothing_panics(text in any::<String>(), content in "[ab \r\n]{0,30}") {
        for patch in [text.clone(), patch(&text), patch(&format!("*** Update File: a\n{text}"))] {
            let _ = apply(&one(&content), &patch);
        }
    }

    #[test]
    fn nothing_panics_on_what_is_alike(
        text in "(\\*\\*\\* |Update File: a|Move to: b|End of File|Begin Patch|@@|[-+ab @0-9,\n]){0,25}",
        content in "[ab \r\n]{0,30}",
    ) {
        let _ = apply(&one(&content), &patch(&format!("*** Update File: a\n{text}")));
    }

    #[test]
    fn a_patch_changes_its_lines_or_nothing(
        content in proptest::collection::vec("[a-c]{1,2}", 1..12),
        at in 0_usize..12,
        count in 1_usize..4,
        around in 0_usize..4,
    ) {
        let lines: Vec<&str> = content.iter().map(String::as_str).collect();
        let start = at % lines.len();
        let end = (start + count).min(lines.len());
        let (from, to) = (start.saturating_sub(around), (end + around).min(lines.len()));
        let mut body = String::from("*** Update File: a\n@@\n");
        for (index, line) in lines.iter().enumerate().take(to).skip(from) {
            body.push_str(&format!("{}{line}\n", if (start..end).contains(&index) { '-' } else { ' ' }));
        }
        body.push_str("+NEW");
        let files = one(&(content.join("\n") + "\n"));
        if let Ok(after) = apply(&files, &patch(&body)) {
            // A hunk that is applied was in one place only, so it is where it was made.
            let mut expected: Vec<&str> = lines[..start].to_vec();
            expected.extend(&lines[end..to]);
            expected.push("NEW");
            expected.extend(&lines[to..]);
            prop_assert_eq!(&after["a"], &(expected.join("\n") + "\n"));
        }
        let broken = format!("{body}\n*** Update File: missing\n-x\n+y");
        let failed = apply(&files, &patch(&broken));
        prop_assert!(failed.is_err());
    }
}
