//! `read`.

use proptest::prelude::*;
use rein_protocol::{CallStatus, Effect};
use serde_json::json;
use std::io::{Seek, Write};
use tokio_util::sync::CancellationToken;

use crate::{Stage, make_fifo};

#[tokio::test]
async fn a_file_is_shown_with_line_numbers() {
    let stage = Stage::with(&[("a.txt", "one\n\nthree")]);
    assert_eq!(stage.read("a.txt").await, "1|one\n2|\n3|three\n");
    assert_eq!(stage.read(stage.at("./a.txt").to_str().unwrap()).await, "1|one\n2|\n3|three\n");
    let intent = stage.intent("read", json!({"path": "x/../a.txt", "offset": 2, "limit": 5})).await;
    assert_eq!(intent.effects, [Effect::Read { path: stage.at("a.txt") }]);
    assert_eq!(intent.display.title, "read a.txt:2-6");
}

#[tokio::test]
async fn a_long_file_comes_in_parts_with_the_way_on() {
    let text: String = (1..=1000).map(|number| format!("line {number}\n")).collect();
    let stage = Stage::with(&[("a.txt", &text)]);
    let shown = stage.read("a.txt").await;
    assert!(shown.ends_with("300|line 300\n[lines 1-300 of 1000: continue with offset=301]"), "{shown}");
    let shown = stage.done("read", json!({"path": "a.txt", "offset": 999})).await;
    assert_eq!(shown, "999|line 999\n1000|line 1000\n[end of file, 1000 lines]");
    let shown = stage.done("read", json!({"path": "a.txt", "offset": 0, "limit": 1})).await;
    assert_eq!(shown, "1|line 1\n[lines 1-1 of 1000: continue with offset=2]");
    let message = stage.failed("read", json!({"path": "a.txt", "offset": 1001})).await;
    assert_eq!(message, "offset 1001 is past the end: a.txt has 1000 lines.");
}

#[tokio::test]
async fn bytes_are_bounded_as_well_as_lines() {
    let text: String = (1..=300).map(|number| format!("{number} {}\n", "x".repeat(500))).collect();
    let stage = Stage::with(&[("a.txt", &text)]);
    let shown = stage.read("a.txt").await;
    let (body, note) = shown.rsplit_once('\n').unwrap();
    assert!(body.len() <= 50 * 1024 && body.len() > 49 * 1024, "{}", body.len());
    let last = body.lines().count();
    assert_eq!(note, format!("[lines 1-{last} of 300: continue with offset={}]", last + 1));
}

#[tokio::test]
async fn a_slice_of_a_huge_file_needs_no_reading_of_the_rest() {
    let stage = Stage::new();
    let path = stage.put("huge.log", format!("first\nsecond\n{}", "third\n".repeat(2_000)));
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // A hole: five gigabytes that take no room.
    file.seek(std::io::SeekFrom::Start(5_000_000_000)).unwrap();
    file.write_all(b"end").unwrap();
    let shown = stage.done("read", json!({"path": "huge.log", "offset": 2, "limit": 1})).await;
    assert_eq!(shown, "2|second\n[lines 2-2 of a file of 5000000003 bytes: continue with offset=3]");
}

#[tokio::test]
async fn a_line_without_end_is_cut_and_can_be_interrupted() {
    let stage = Stage::new();
    let long = format!("{}\nnext\n", "é".repeat(100_000));
    stage.put("long.txt", &long);
    let shown = stage.read("long.txt").await;
    assert_eq!(shown, format!("1|{} [… 198464 bytes cut]\n2|next\n", "é".repeat(768)));

    let path = stage.put("endless.txt", "x".repeat(10_000));
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let plan = stage.plan("read", json!({"path": "endless.txt"})).await.unwrap();
    assert_eq!(stage.run(plan, &cancel).await.status, CallStatus::Interrupted);
}

#[tokio::test]
async fn what_is_no_text_is_named_and_not_dumped() {
    let stage = Stage::new();
    stage.put("program", b"\x7fELF\0\0\0\0");
    stage.put("data", b"abc\0def");
    let message = stage.failed("read", json!({"path": "program"})).await;
    assert_eq!(
        message,
        "program is an ELF program or library of 8 bytes, not text. Use a program with bash to look into it."
    );
    assert!(
        stage.failed("read", json!({"path": "data"})).await.starts_with("data is a binary file of 7 bytes")
    );
}

#[tokio::test]
async fn other_encodings_and_line_ends_are_noted() {
    let stage = Stage::new();
    stage.put("crlf.txt", "a\r\nb\r\n");
    assert_eq!(stage.read("crlf.txt").await, "1|a\n2|b\n[CRLF line ends]");
    stage.put("mixed.txt", "a\r\nb\n");
    assert_eq!(stage.read("mixed.txt").await, "1|a\n2|b\n[CRLF and LF line ends mixed]");
    stage.put("latin1.txt", b"caf\xe9\n");
    assert_eq!(
        stage.read("latin1.txt").await,
        "1|café\n[Windows-1252 (Latin-1), shown converted; edit and write keep it]"
    );
    stage.put("broken.txt", b"caf\xe9 caf\xc3\xa9\n");
    assert_eq!(
        stage.read("broken.txt").await,
        "1|caf\u{FFFD} café\n[not UTF-8: what is not is shown as \u{FFFD}]"
    );
    stage.put("bom.txt", "\u{feff}a\n");
    assert_eq!(stage.read("bom.txt").await, "1|a\n[UTF-8 with a byte order mark; edit and write keep it]");
    let utf16: Vec<u8> = "\u{feff}é\nb".encode_utf16().flat_map(u16::to_le_bytes).collect();
    stage.put("utf16.txt", utf16);
    assert_eq!(stage.read("utf16.txt").await, "1|é\n2|b\n[UTF-16, shown converted; edit and write keep it]");
    stage.put("empty.txt", "");
    assert_eq!(stage.read("empty.txt").await, "[empty file]");
}

#[tokio::test]
async fn a_directory_is_listed() {
    let stage = Stage::with(&[("b.txt", ""), ("a/c", ""), (".hidden", ""), ("new\nline", "")]);
    std::os::unix::fs::symlink("b.txt", stage.at("link")).unwrap();
    assert_eq!(stage.read(".").await, ".hidden\na/\n  c\nb.txt\nlink@\nnew\\nline\n");
    let shown = stage.done("read", json!({"path": ".", "offset": 2, "limit": 2})).await;
    assert_eq!(shown, "a/\n  c\nb.txt\n[entries up to 3 of 5: continue with offset=4]");
    std::fs::create_dir(stage.at("empty")).unwrap();
    assert_eq!(stage.read("empty").await, "[empty directory]");
}

#[tokio::test]
async fn a_missing_file_gets_the_nearest_names() {
    let stage = Stage::with(&[("src/main.rs", ""), ("src/lib.rs", "")]);
    let message = stage.failed("read", json!({"path": "src/mian.rs"})).await;
    assert_eq!(message, "src/mian.rs does not exist. Did you mean src/main.rs?");
    let message = stage.failed("read", json!({"path": "src/main.ts"})).await;
    assert_eq!(message, "src/main.ts does not exist. Did you mean src/main.rs?");
    let message = stage.failed("read", json!({"path": "scr/main.rs"})).await;
    assert_eq!(message, "scr/main.rs does not exist. Did you mean src/main.rs?");
    let message = stage.failed("read", json!({"path": "/nowhere/project/src/lib.rs"})).await;
    assert_eq!(message, "/nowhere/project/src/lib.rs does not exist. Did you mean src/lib.rs?");
    let message = stage.failed("read", json!({"path": "scr/other.rs"})).await;
    assert_eq!(message, "scr/other.rs does not exist. There is no directory scr either.");
    let message = stage.failed("read", json!({"path": "src/main.rs/x"})).await;
    assert_eq!(message, "src/main.rs/x does not exist.");
}

#[tokio::test]
async fn pipes_sockets_and_devices_do_not_block() {
    let stage = Stage::new();
    make_fifo(&stage.at("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(stage.at("socket")).unwrap();
    let message = stage.failed("read", json!({"path": "fifo"})).await;
    assert_eq!(message, "fifo is a named pipe. Only files and directories can be read.");
    assert!(stage.failed("read", json!({"path": "socket"})).await.contains("a socket"));
    assert!(stage.failed("read", json!({"path": "/dev/zero"})).await.contains("a device"));
}

#[tokio::test]
async fn a_file_that_may_not_be_read_says_so() {
    if rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: root may read everything; run as another user to test refused permission");
        return;
    }
    let stage = Stage::with(&[("secret", "x")]);
    std::fs::set_permissions(stage.at("secret"), std::os::unix::fs::PermissionsExt::from_mode(0o0)).unwrap();
    let message = stage.failed("read", json!({"path": "secret"})).await;
    assert_eq!(message, "secret may not be read: permission denied.");
}

#[tokio::test]
async fn an_artifact_is_read_like_a_file_and_touches_nothing() {
    let stage = Stage::new();
    let id = stage.keep("one\ntwo\n");
    let path = format!("artifact:{id}");
    assert_eq!(stage.read(&path).await, "1|one\n2|two\n");
    assert_eq!(stage.intent("read", json!({"path": path})).await.effects, []);
    // Where artifacts are kept may be reached by a link.
    let kept = stage.artifacts.0.lock().unwrap().remove(&id).unwrap();
    std::os::unix::fs::symlink(stage.root.parent().unwrap(), stage.at("store")).unwrap();
    stage.artifacts.0.lock().unwrap().insert(id.clone(), stage.at("store").join(kept.file_name().unwrap()));
    assert_eq!(stage.read(&path).await, "1|one\n2|two\n");
    let other = rein_protocol::ArtifactId::new();
    let message = stage.failed("read", json!({"path": format!("artifact:{other}")})).await;
    assert_eq!(message, format!("There is no artifact:{other} in this conversation."));
    assert!(
        stage
            .complaint("read", json!({"path": "artifact:../../etc/passwd"}))
            .await
            .contains("is no artifact id")
    );
}

#[tokio::test]
async fn wrong_arguments_get_a_complaint() {
    let stage = Stage::new();
    assert_eq!(
        stage.complaint("read", json!({"offset": "x", "lines": 3})).await,
        "The arguments of `read` do not fit:\n\
         - `lines`: there is no such field\n\
         - `path`: missing, a string is required\n\
         - `offset`: must be an integer, not the string \"x\"\n\
         Call `read` again with this shape: {\"path\": string, \"offset\"?: integer, \"limit\"?: integer, \
          \"ranges\"?: string, \"tail\"?: integer}\n\
         For example: {\"path\":\"<path>\"}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn ranges_put_together_are_the_file(
        lines in proptest::collection::vec("[a-z|é\u{1F600} ]{0,30}", 0..60), ending in "\n?", limit in 1_u64..20,
    ) {
        let text = if lines.is_empty() { String::new() } else { lines.join("\n") + &ending };
        let stage = Stage::with(&[("a.txt", &text)]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut found: Vec<String> = Vec::new();
        let mut offset = 1;
        loop {
            let shown = runtime.block_on(stage.done("read", json!({"path": "a.txt", "offset": offset, "limit": limit})));
            let note = shown.lines().last().filter(|line| line.starts_with('[')).unwrap_or_default();
            for line in shown.lines().filter(|line| !line.starts_with('[')) {
                let (number, line) = line.split_once('|').unwrap();
                found.push(line.to_owned());
                prop_assert_eq!(number.parse::<usize>().unwrap(), found.len());
            }
            match note.rsplit_once("continue with offset=") {
                Some((_, next)) => offset = next.trim_end_matches(']').parse::<u64>().unwrap(),
                None => break,
            }
        }
        let expected: Vec<String> = text.lines().map(str::to_owned).collect();
        prop_assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn what_a_confined_command_left_in_its_own_tmp_is_looked_at_with_bash() {
    let mut stage = Stage::new();
    let path = "/tmp/rein-was-never-here/x";
    assert!(!stage.failed("read", json!({ "path": path })).await.contains("with bash"));
    let jail = rein_tools::jail::Jail::standard(&rein_tools::jail::JailRequest::new(&stage.root));
    stage.scene.jail = Some(rein_tools::Walls::new(move || jail));
    assert!(stage.failed("read", json!({ "path": path })).await.contains("a /tmp of their own"));
}
