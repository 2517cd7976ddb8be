//! `read`: what is no plain text.

use std::io::{Cursor, Write};
use std::sync::LazyLock;

use proptest::prelude::*;
use rein_tools::ImageSupport;
use serde_json::json;

use crate::Stage;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image::RgbImage::new(width, height).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn a_picture_goes_to_a_model_that_can_see_it() {
    let mut stage = Stage::new();
    // What it is called does not matter.
    stage.put("logo.txt", png(3, 2));
    let called = stage.call("read", json!({"path": "logo.txt"})).await;
    let bytes = png(3, 2);
    assert_eq!(called.text, format!("[PNG image of {} bytes]", bytes.len()));
    assert_eq!(called.pictures, [rein_tools::Picture { media_type: "image/png", bytes }]);
    stage.put("wide.png", png(2000, 10));
    let called = stage.call("read", json!({"path": "wide.png"})).await;
    let image = image::load_from_memory(&called.pictures[0].bytes).unwrap();
    assert_eq!((image.width(), image.height()), (1568, 8));
    stage.put("broken.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let message = stage.failed("read", json!({"path": "broken.png"})).await;
    assert!(
        message.starts_with("broken.png cannot be shown as an image: it is a broken PNG image"),
        "{message}"
    );
    stage.scene.images = ImageSupport::Refused;
    let message = stage.failed("read", json!({"path": "logo.txt"})).await;
    assert!(
        message.contains("is a PNG image of") && message.contains("this model cannot look at images"),
        "{message}"
    );
}

/// A document with a page for each text, whose lines are at heights of their own.
fn pdf(pages: &[&str]) -> Vec<u8> {
    use lopdf::content::{Content, Operation};
    use lopdf::{Document, Object, Stream, dictionary};
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font =
        document.add_object(dictionary! {"Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier"});
    let resources = document.add_object(dictionary! {"Font" => dictionary! {"F1" => font}});
    let kids: Vec<Object> = pages
        .iter()
        .map(|text| {
            let mut operations =
                vec![Operation::new("BT", vec![]), Operation::new("Tf", vec!["F1".into(), 12.into()])];
            for line in text.lines() {
                operations.push(Operation::new("Td", vec![0.into(), (-14).into()]));
                operations.push(Operation::new("Tj", vec![Object::string_literal(line)]));
            }
            operations.push(Operation::new("ET", vec![]));
            let content = Content { operations }.encode().unwrap();
            let content = document.add_object(Stream::new(dictionary! {}, content));
            document
                .add_object(dictionary! {"Type" => "Page", "Parent" => tree, "Contents" => content})
                .into()
        })
        .collect();
    let pages = dictionary! {
        "Type" => "Pages", "Count" => kids.len() as u32, "Kids" => kids, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    };
    document.objects.insert(tree, Object::Dictionary(pages));
    let catalog = document.add_object(dictionary! {"Type" => "Catalog", "Pages" => tree});
    document.trailer.set("Root", catalog);
    document.compress();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn the_pages_of_a_pdf_document_are_shown() {
    let stage = Stage::new();
    stage.put("a.pdf", pdf(&["First page\nof three", "Second", "Third"]));
    assert_eq!(
        stage.read("a.pdf").await,
        "--- page 1 ---\nFirst page\nof three\n--- page 2 ---\nSecond\n--- page 3 ---\nThird\n[PDF document; 3 pages]"
    );
    let shown = stage.done("read", json!({"path": "a.pdf", "ranges": "2"})).await;
    assert_eq!(shown, "--- page 2 ---\nSecond\n[PDF document; 3 pages]");
    let shown = stage.done("read", json!({"path": "a.pdf", "offset": 1, "limit": 1})).await;
    assert!(shown.ends_with("[PDF document; pages up to 1 of 3: continue with offset=2]"), "{shown}");
    let message = stage.failed("read", json!({"path": "a.pdf", "ranges": "7"})).await;
    assert_eq!(message, "There is no page 7: there are 3.");
    stage.put("scan.pdf", pdf(&[""]));
    assert!(stage.read("scan.pdf").await.contains("the pages are probably pictures"));
    stage.put("broken.pdf", b"%PDF-1.7\nnothing else");
    let message = stage.failed("read", json!({"path": "broken.pdf"})).await;
    assert!(message.starts_with("broken.pdf is a PDF document that cannot be opened"), "{message}");
}

#[tokio::test]
async fn a_long_pdf_document_comes_in_parts() {
    let stage = Stage::new();
    let text = "some words that fill a line of the page\n".repeat(400);
    stage.put("a.pdf", pdf(&[text.as_str(); 5]));
    let shown = stage.read("a.pdf").await;
    assert!(shown.len() < 51 * 1024);
    assert!(
        shown.ends_with("[PDF document; pages up to 3 of 5: continue with ranges=\"4-\"]"),
        "{}",
        &shown[shown.len() - 200..]
    );
}

#[tokio::test]
async fn a_notebook_is_shown_as_its_cells() {
    let stage = Stage::new();
    let long = "y\n".repeat(100);
    let notebook = json!({
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "words"], "metadata": {}},
            {"cell_type": "code", "execution_count": 3, "source": "print('x')", "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["x\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["…"]},
                {"output_type": "stream", "name": "stdout", "text": long},
            ]},
        ],
        "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5,
    });
    stage.put("a.ipynb", notebook.to_string());
    let shown = stage.read("a.ipynb").await;
    let twenty = "y\n".repeat(20);
    assert_eq!(
        shown,
        format!(
            "# %% [markdown] cell 1\n# Title\nwords\n# %% [code] cell 2 In [3]\nprint('x')\n# output:\nx\n\
             # output:\n(image/png, 4 bytes)\n<Figure>\n# output:\nValueError: no\n# output:\n{twenty}[… 160 bytes cut]\n\
             [2 cells; python; cells of a notebook, outputs shortened; to edit its JSON read it with offset=1]"
        )
    );
    let shown = stage.done("read", json!({"path": "a.ipynb", "ranges": "1"})).await;
    assert!(shown.starts_with("# %% [markdown] cell 1\n# Title\nwords\n["), "{shown}");
    // Only its text counts as read.
    let write = json!({"path": "a.ipynb", "content": "{}"});
    assert!(stage.complaint("write", write.clone()).await.contains("has not been read"));
    let shown = stage.done("read", json!({"path": "a.ipynb", "offset": 1})).await;
    assert!(shown.starts_with("1|{\"cells\":[{"), "{shown}");
    stage.done("write", write).await;
    assert_eq!(stage.read("a.ipynb").await, "1|{}\n", "what is none is shown as text");
}

#[tokio::test]
async fn archives_are_listed() {
    let stage = Stage::new();
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.add_directory("src/", stored).unwrap();
    zip.start_file("src/é.txt", stored).unwrap();
    zip.write_all(b"hello").unwrap();
    zip.start_file("large.txt", stored.large_file(true)).unwrap();
    zip.write_all(b"hello again").unwrap();
    let zip = zip.finish().unwrap().into_inner();
    let listed = "           src/\n         5 src/é.txt\n        11 large.txt\n[ZIP archive, 16 bytes unpacked; 3 entries]";
    stage.put("a.zip", &zip);
    assert_eq!(stage.read("a.zip").await, listed);
    // Whose directory is not where it says, because something stands before it.
    stage.put("b.zip", [&zip[..30], zip.as_slice()].concat());
    assert_eq!(stage.read("b.zip").await, listed);

    let long = format!("{}name.txt", "directory/".repeat(20));
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(5);
    header.set_mode(0o644);
    header.set_cksum();
    tar.append_data(&mut header.clone(), "short.txt", &b"hello"[..]).unwrap();
    tar.append_data(&mut header.clone(), &long, &b"hello"[..]).unwrap();
    let mut link = tar::Header::new_ustar();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    tar.append_link(&mut link, "link", "short.txt").unwrap();
    let tar = tar.into_inner().unwrap();
    stage.put("a.tar", &tar);
    let lines = format!("         5 short.txt\n         5 {long}\n      link link -> short.txt\n");
    assert_eq!(stage.read("a.tar").await, format!("{lines}[tar archive, 10 bytes unpacked; 3 entries]"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&tar).unwrap();
    let packed = gzip.finish().unwrap();
    stage.put("a.tgz", &packed);
    assert_eq!(
        stage.read("a.tgz").await,
        format!("{lines}[tar archive packed by gzip, 10 bytes unpacked; 3 entries]")
    );
    stage.put("cut.tar", &tar[..1600]);
    let shown = stage.read("cut.tar").await;
    assert!(shown.contains("short.txt") && shown.contains("broken or cut after this"), "{shown}");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"only a text").unwrap();
    stage.put("text.gz", gzip.finish().unwrap());
    assert!(stage.failed("read", json!({"path": "text.gz"})).await.contains("gzip data of"));
}

#[tokio::test]
async fn the_schema_of_a_database_is_shown_and_nothing_is_written_beside_it() {
    let stage = Stage::new();
    std::fs::create_dir(stage.at("db")).unwrap();
    let path = stage.at("db/a \u{e9}?.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
             INSERT INTO person (name) VALUES ('a'), ('b');
             CREATE TABLE \"odd \"\"name\" (x); INSERT INTO \"odd \"\"name\" VALUES (1);
             CREATE INDEX by_name ON person (name);
             CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n;",
        )
        .unwrap();
    drop(database);
    let shown = stage.read("db/a \u{e9}?.sqlite").await;
    let (schema, note) = shown.rsplit_once('\n').unwrap();
    assert_eq!(
        schema,
        "CREATE TABLE \"odd \"\"name\" (x); -- 1 row\n\
         CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT); -- 2 rows\n\
         CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n;\n\
         CREATE INDEX by_name ON person (name);"
    );
    assert!(note.starts_with("[SQLite database of ") && note.ends_with("; 4 objects]"), "{note}");
    let names = || std::fs::read_dir(stage.at("db")).unwrap().count();
    assert_eq!(names(), 1);

    // With a log that nobody has open, and with one that somebody has.
    let log = stage.at("db/log.sqlite");
    let database = rusqlite::Connection::open(&log).unwrap();
    database
        .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE kept (x); INSERT INTO kept VALUES (1);")
        .unwrap();
    let shown = stage.read("db/log.sqlite").await;
    assert!(shown.starts_with("CREATE TABLE kept (x); -- 1 row\n["), "{shown}");
    drop(database);
    assert_eq!(names(), 2);
    let shown = stage.read("db/log.sqlite").await;
    assert!(shown.starts_with("CREATE TABLE kept (x); -- 1 row\n["), "{shown}");
    assert_eq!(names(), 2, "neither log nor lock is made");
}

fn broken(valid: &[u8], at: prop::sample::Index, noise: &[u8], cut: prop::sample::Index) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    let from = at.index(bytes.len());
    for (byte, new) in bytes.iter_mut().skip(from).zip(noise) {
        *byte = *new;
    }
    bytes.truncate(cut.index(bytes.len() * 2).max(8));
    bytes
}

static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(samples);

fn samples() -> Vec<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(
        "a",
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored),
    )
    .unwrap();
    zip.write_all(b"hello").unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(5);
    header.set_cksum();
    tar.append_data(&mut header, "a".repeat(150), &b"hello"[..]).unwrap();
    let tar = tar.into_inner().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&tar).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.sqlite");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE a (x); INSERT INTO a VALUES (1)")
        .unwrap();
    vec![
        zip.finish().unwrap().into_inner(),
        tar,
        gzip.finish().unwrap(),
        std::fs::read(path).unwrap(),
        pdf(&["one", "two"]),
        br#"{"cells":[{"cell_type":"code","source":["x"],"outputs":[{"output_type":"stream","text":"y"}]}]}"#
            .to_vec(),
        png(5, 4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// A reader may say that it does not understand; a call always ends with a sentence.
    #[test]
    fn no_reader_is_brought_down_by_what_it_reads(
        which in 0_usize..7,
        at in any::<prop::sample::Index>(),
        noise in proptest::collection::vec(any::<u8>(), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let stage = Stage::new();
        stage.put("file.ipynb", broken(&SAMPLES[which], at, &noise, cut));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let called = runtime.block_on(stage.call("read", json!({"path": "file.ipynb"})));
        prop_assert!(!called.text.contains("internal error"), "{}", called.text);
        // A panic that was caught.
        prop_assert!(!called.text.contains("cannot be understood"), "{which} {}", called.text);
    }
}
