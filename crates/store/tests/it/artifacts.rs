//! Artifacts and blobs.

use std::fs;
use std::path::Path;

use rein_protocol::{ArtifactId, BlobId, SessionId};
use rein_store::{ArtifactRecord, Durability, Store, StoreError, StoreOptions};

use crate::child::Actor;
use crate::sample::{open, session};

fn count(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[tokio::test]
async fn an_artifact_reads_back_and_equal_ones_share_a_file() {
    for durability in [Durability::Second, Durability::Every] {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions { durability, ..StoreOptions::new(directory.path()) }).unwrap();
        let id = session(&store).await;
        let chunk: Vec<u8> = (0..=255).collect();
        let content = chunk.repeat(1_000);
        let mut finished = Vec::new();
        for size in [1, 1_000, 200_000] {
            let mut writer = store.artifact_writer(&id).unwrap();
            for piece in content.chunks(size) {
                writer.write(piece).unwrap();
            }
            assert_eq!((writer.bytes(), writer.dropped()), (content.len() as u64, 0));
            finished.push(writer.finish().await.unwrap());
        }
        store.flush().await.unwrap();
        let path = store.artifact_path(&finished[0]).await.unwrap().unwrap();
        assert!(fs::read(&path).unwrap() == content);
        let blob = BlobId(blake3::hash(&content).to_hex().to_string());
        for artifact in finished {
            let record = store.artifact(&artifact).await.unwrap().unwrap();
            let (bytes, created) = (content.len() as u64, record.created);
            assert_eq!(
                record,
                ArtifactRecord {
                    id: artifact.clone(),
                    session: id.clone(),
                    blob: blob.clone(),
                    bytes,
                    created
                }
            );
            assert_eq!(store.artifact_path(&artifact).await.unwrap().unwrap(), path);
        }
        assert_eq!(count(&directory.path().join("temp")), 0);
        assert_eq!(count(&directory.path().join("blobs")), 1);
        assert_eq!(store.artifact_path(&ArtifactId::new()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn what_is_beyond_the_cap_is_counted_and_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { artifact_cap: 100_000, ..StoreOptions::new(directory.path()) };
    let store = Store::open(options).unwrap();
    let id = session(&store).await;
    let mut writer = store.artifact_writer(&id).unwrap();
    for _ in 0..5 {
        writer.write(&[b'x'; 30_000]).unwrap();
    }
    assert_eq!((writer.bytes(), writer.dropped()), (100_000, 50_000));
    let artifact = writer.finish().await.unwrap();
    let path = store.artifact_path(&artifact).await.unwrap().unwrap();
    assert!(fs::read(path).unwrap() == vec![b'x'; 100_000]);
}

#[tokio::test]
async fn a_hundred_megabytes_pass_through_a_small_buffer() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let mut writer = store.artifact_writer(&id).unwrap();
    let chunk = vec![7; 1 << 20];
    for written in 1..=100_u64 {
        writer.write(&chunk).unwrap();
        // All but what fits into the buffer is in the file already.
        let in_file = fs::metadata(writer.path()).unwrap().len();
        assert!(in_file + (64 << 10) >= written << 20);
    }
    let artifact = writer.finish().await.unwrap();
    let path = store.artifact_path(&artifact).await.unwrap().unwrap();
    assert_eq!(fs::metadata(path).unwrap().len(), 100 << 20);
}

#[tokio::test]
async fn an_artifact_can_be_read_while_it_is_written_and_leaves_nothing_if_it_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let mut writer = store.artifact_writer(&id).unwrap();
    writer.write(b"so far").unwrap();
    writer.flush().unwrap();
    assert_eq!(fs::read(writer.path()).unwrap(), b"so far");
    // Another opening of the store must not take it for a stale one.
    drop(open(directory.path()));
    assert!(writer.path().exists());
    drop(writer);
    assert_eq!(count(&directory.path().join("temp")), 0);
    assert_eq!(count(&directory.path().join("blobs")), 0);
}

#[tokio::test]
async fn what_dead_processes_were_writing_is_removed_at_the_next_opening() {
    let directory = tempfile::tempdir().unwrap();
    let temp = directory.path().join("temp");
    let mut child = Actor::start("hold", directory.path(), &SessionId::new(), 0);
    assert_eq!(child.next().as_deref(), Some("holding"));
    drop(open(directory.path()));
    assert_eq!(count(&temp), 1);
    child.kill();
    drop(open(directory.path()));
    assert_eq!(count(&temp), 0);
}

#[tokio::test]
async fn an_artifact_of_a_session_that_is_not_there_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let writer = store.artifact_writer(&SessionId::new()).unwrap();
    assert!(matches!(writer.finish().await, Err(StoreError::UnknownSession { .. })));
}

#[tokio::test]
async fn a_blob_reads_back_and_its_name_cannot_be_a_path() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for content in [Vec::new(), b"png".to_vec(), vec![0; 1 << 20]] {
        let id = store.put_blob(content.clone()).await.unwrap();
        assert_eq!(store.put_blob(content.clone()).await.unwrap(), id);
        assert!(store.blob(&id).await.unwrap() == Some(content));
    }
    assert_eq!(store.blob(&BlobId("0".repeat(64))).await.unwrap(), None);
    let outside = format!("{:.<64}", "../../../etc/passwd");
    for bad in [outside, String::new(), "A".repeat(64), "0".repeat(63), "0".repeat(65), "é".repeat(32)] {
        let error = store.blob(&BlobId(bad.clone())).await.unwrap_err();
        assert!(matches!(&error, StoreError::InvalidBlob { text } if *text == bad), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_blob_is_noticed_and_one_cut_short_is_mended() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = store.put_blob(b"content".to_vec()).await.unwrap();
    let path = directory.path().join("blobs").join(&id.0[..2]).join(&id.0);
    for damage in ["c0ntent", "cont"] {
        fs::write(&path, damage).unwrap();
        let error = store.blob(&id).await.unwrap_err();
        assert!(matches!(&error, StoreError::DamagedBlob { path: named } if *named == path), "{error}");
    }
    assert_eq!(store.put_blob(b"content".to_vec()).await.unwrap(), id);
    assert_eq!(store.blob(&id).await.unwrap().unwrap(), b"content");
}
