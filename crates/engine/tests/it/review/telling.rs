//! What sessions tell, and what they keep to themselves.

use std::os::unix::fs::MetadataExt;

use rein_protocol::transcript::Transcript;
use rein_protocol::{CallStatus, EventBody, Mode};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, statuses};

#[tokio::test]
async fn a_snapshot_holds_an_open_part_once_however_small_its_deltas_were() {
    let long = "0123456789".repeat(200);
    let turn = Turn::text(long.clone()).delta_size(1).split_every(300).gate("rest").and_text("!");
    let stage = Stage::new(Script::new().turn(turn)).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer().len() == long.len()).await;
    let snapshot = stage.service.get(&stage.session).await.unwrap();
    let [open] = snapshot.open.as_slice() else { panic!("{} open events", snapshot.open.len()) };
    assert!(matches!(&open.body, EventBody::PartDelta { delta, .. } if *delta == long));
    let mut transcript = Transcript::of(&snapshot.entries);
    transcript.apply(open);
    assert_eq!(transcript.answer(), long);
    stage.server.open_gate("rest");
    run.finish().await;
}

#[tokio::test]
async fn a_file_that_was_replaced_by_an_older_one_must_be_read_again() {
    let project = Project::new().file("a.txt", "one\n").file("old.txt", "one and more\n");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    std::fs::File::options()
        .write(true)
        .open(project.join("old.txt"))
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})))
        .turn(Turn::text("read"))
        .turn(Turn::call("edit", json!({"path": "a.txt", "old": "one", "new": "two"})))
        .turn(Turn::text("no"));
    let stage = Stage::with(project, script, Setup::mode(Mode::Write)).await;
    stage.run("read").await;
    let read = stage.entries().await.last().unwrap().at.0;
    // The clock of files is a coarse one.
    let name = |turn: u32| if turn.is_multiple_of(2) { "old.txt" } else { "older.txt" };
    for turn in 0.. {
        std::fs::rename(stage.project.join(name(turn)), stage.project.join(name(turn + 1))).unwrap();
        let metadata = std::fs::metadata(stage.project.join(name(turn + 1))).unwrap();
        if metadata.ctime() * 1_000 + metadata.ctime_nsec() / 1_000_000 > read + 1 {
            std::fs::rename(stage.project.join(name(turn + 1)), stage.project.join("a.txt")).unwrap();
            break;
        }
    }
    let stage = stage.reopened().await;
    assert_eq!(statuses(&stage.run("edit").await), [CallStatus::Completed, CallStatus::Failed]);
    assert_eq!(stage.project.read("a.txt"), "one and more\n");
}

#[tokio::test]
async fn an_artifact_of_another_session_cannot_be_read() {
    let command = "seq 1 30000";
    let script =
        Script::new().turn(Turn::call("bash", json!({ "command": command }))).turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    stage.run("go").await;
    let requests = stage.server.requests();
    let result = requests[1].tool_results()[0].1.to_owned();
    let start = result.find("artifact:").unwrap();
    let path: String = result[start..].chars().take_while(|character| *character != '"').collect();

    let script = Script::new().turn(Turn::call("read", json!({ "path": path }))).turn(Turn::text("no"));
    let other = stage.in_a_new_session(script).await;
    assert_eq!(statuses(&other.run("go").await), [CallStatus::Failed]);
}
