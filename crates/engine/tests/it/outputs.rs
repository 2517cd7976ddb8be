//! What calls print: bounded for the model, whole in an artifact.

use rein_protocol::{CallStatus, Mode};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, statuses};

/// The artifact that a result names.
fn artifact_in(text: &str) -> String {
    let start = text.find("art_").expect("the result names an artifact");
    text[start..]
        .chars()
        .take_while(|character| character.is_ascii_alphanumeric() || *character == '_')
        .collect()
}

#[tokio::test]
async fn a_long_output_is_cut_in_the_middle_and_can_be_read_whole() {
    let command = "for i in $(seq 1 30000); do echo line $i; done";
    let script =
        Script::new().turn(Turn::call("bash", json!({ "command": command }))).then_reply_with(|request| {
            let results = request.tool_results();
            match results.len() {
                1 => {
                    let path = format!("artifact:{}", artifact_in(results[0].1));
                    Turn::call("grep", json!({"pattern": "^line 15000$", "path": path}))
                        .and_call("read", json!({"path": path, "offset": 20000, "limit": 2}))
                }
                _ => Turn::text("done"),
            }
        });
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; 3]);
    let requests = stage.server.requests();
    let results = requests[2].tool_results();
    let cut = results[0].1;
    assert!(
        cut.len() < 60_000 && cut.contains("line 1\n") && cut.contains("line 30000"),
        "{} bytes",
        cut.len()
    );
    assert!(!cut.contains("line 15000\n"));
    assert!(results[1].1.contains("line 15000"));
    assert!(results[2].1.contains("line 20000"));
}

#[tokio::test]
async fn a_short_output_is_given_as_it_is_and_keeps_no_artifact() {
    let script = Script::new()
        .turn(Turn::call("bash", json!({"command": "printf 'a\\nb\\n'; exit 3"})))
        .turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    stage.run("go").await;
    let requests = stage.server.requests();
    let result = requests[1].tool_results()[0].1.to_owned();
    assert!(result.starts_with("a\nb\n") || result.contains("a\nb\n"), "{result}");
    assert!(result.contains("exit code 3") && !result.contains("art_"), "{result}");
}

#[tokio::test]
async fn output_that_is_no_text_does_not_harm() {
    let script = Script::new()
        .turn(Turn::call("bash", json!({"command": "printf '\\377\\376ok\\n'"})))
        .turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    assert_eq!(stage.run("go").await.answer(), "done");
    assert!(stage.server.requests()[1].tool_results()[0].1.contains("ok"));
}
