//! What a provider can keep from one request to the next.

use rein_protocol::{Delivery, Mode, Prompt, SessionChange};
use rein_testkit::{Project, RecordedRequest, Script, Turn};
use serde_json::{Value, json};

use crate::stage::{Setup, Stage};

fn messages(request: &RecordedRequest) -> &[Value] {
    request.body["messages"].as_array().unwrap()
}

/// Everything of a request but its conversation.
fn head(request: &RecordedRequest) -> Value {
    let mut body = request.body.clone();
    body.as_object_mut().unwrap().remove("messages");
    body
}

#[tokio::test]
async fn every_request_of_a_long_session_begins_with_the_one_before() {
    let script = Script::reply_with(|request| {
        let said = request.assistant_messages();
        match said % 10 {
            9 => Turn::text(format!("done with {said}")),
            3 => Turn::call("write", json!({"path": format!("f{said}.txt"), "content": "x\n"})),
            5 => Turn::text("look").and_call("read", json!({"path": "a.txt"})),
            7 => Turn::call("grep", json!({"pattern": "nothing like it"})),
            _ => Turn::call("read", json!({"path": "a.txt", "offset": said + 1})),
        }
    });
    let project = Project::new().file("a.txt", "line\n".repeat(200)).file("AGENTS.md", "Be kind.");
    let setup = Setup { window: Some(1_000_000), ..Setup::mode(Mode::Write) };
    let mut stage = Stage::with(project, script, setup).await;
    for round in 0..5 {
        let mut run = stage.start(&format!("round {round}")).await;
        let steer = Prompt { delivery: Delivery::Steer, ..Prompt::text("and be quick") };
        stage.service.prompt(&stage.session, steer).await.unwrap();
        run.finish().await;
        let mode = if round % 2 == 0 { Mode::Free } else { Mode::Write };
        let change = SessionChange { mode: Some(mode), ..SessionChange::default() };
        stage.service.change(&stage.session, change).await.unwrap();
        // The instructions of a session are those of its beginning, also when it is opened again.
        if round == 2 {
            stage = stage.reopened().await;
        }
    }
    let requests = stage.server.requests();
    assert!(requests.len() >= 50, "{}", requests.len());
    for pair in requests.windows(2) {
        let (one, next) = (messages(&pair[0]), messages(&pair[1]));
        assert!(next.len() > one.len());
        assert_eq!(next[..one.len()], *one);
        assert_eq!(head(&pair[0]), head(&pair[1]));
    }
}
