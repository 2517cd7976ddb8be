//! Tools, turns and servers that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use rein_protocol::{CallStatus, Display, Intent, StopReason, ToolSpec};
use rein_testkit::{Project, Script, Turn};
use rein_tools::{Complaint, Outcome, Output, Plan, Registry, Scene, Tool};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{is_valid_conversation, prints};
use crate::stage::{Setup, Stage, kinds, statuses};

/// How a tool misbehaves.
#[derive(Clone, Copy)]
enum Fault {
    PanicsInPlan,
    PanicsInRun,
    HangsInPlan,
    DoesNotStop,
}

struct Faulty(&'static str, Fault);

struct FaultyPlan(Intent, Fault);

#[async_trait]
impl Tool for Faulty {
    fn spec(&self) -> ToolSpec {
        let input_schema = json!({"type": "object", "properties": {}});
        ToolSpec { name: self.0.to_owned(), description: "fails".to_owned(), input_schema }
    }

    async fn plan(&self, _: Value, _: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        match self.1 {
            Fault::PanicsInPlan => panic!("as the test wants it, in a plan"),
            Fault::HangsInPlan => std::future::pending().await,
            Fault::PanicsInRun | Fault::DoesNotStop => {}
        }
        Ok(Box::new(FaultyPlan(Intent { effects: Vec::new(), display: Display::titled(self.0) }, self.1)))
    }
}

#[async_trait]
impl Plan for FaultyPlan {
    fn intent(&self) -> &Intent {
        &self.0
    }

    async fn run(self: Box<Self>, _: &Scene, output: &mut dyn Output, _: &CancellationToken) -> Outcome {
        output.write(b"before\n");
        match self.1 {
            Fault::PanicsInRun => panic!("as the test wants it, in a run"),
            _ => std::future::pending().await,
        }
    }
}

fn faulty(faults: &[(&'static str, Fault)]) -> Setup {
    let tools = faults.iter().map(|(name, fault)| Arc::new(Faulty(name, *fault)) as Arc<dyn Tool>);
    Setup { tools: Registry::of(tools), ..Setup::default() }
}

#[tokio::test]
async fn a_tool_that_panics_fails_alone() {
    let setup = faulty(&[("plan", Fault::PanicsInPlan), ("run", Fault::PanicsInRun)]);
    let script = Script::new()
        .turn(Turn::call("plan", json!({})).and_call("run", json!({})))
        .turn(Turn::text("I see"))
        .expect(is_valid_conversation);
    let stage = Stage::with(Project::new(), script, setup).await;
    let transcript = stage.run("go").await;
    assert_eq!(transcript.answer(), "I see");
    assert_eq!(statuses(&transcript), [CallStatus::Failed; 2]);
    assert_eq!(stage.server.failures(), Vec::<String>::new());
}

#[tokio::test]
async fn a_tool_that_does_not_stop_is_left_behind() {
    let setup = faulty(&[("plan", Fault::HangsInPlan), ("run", Fault::DoesNotStop)]);
    let script = Script::new().turn(Turn::call("run", json!({})).and_call("plan", json!({})));
    let stage = Stage::with(Project::new(), script, setup).await;
    let mut run = stage.start("go").await;
    run.until(prints("before")).await;
    stage.service.interrupt(&stage.session).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(statuses(&transcript), [CallStatus::Interrupted, CallStatus::NotRun]);
    assert_eq!(transcript.stop.unwrap().0, StopReason::Interrupted);
}

/// A tool that panics when it is described for the given time.
struct Unspeakable(AtomicUsize, usize);

#[async_trait]
impl Tool for Unspeakable {
    fn spec(&self) -> ToolSpec {
        assert_ne!(self.0.fetch_add(1, Ordering::SeqCst), self.1, "as the test wants it, in a turn");
        Faulty("unspeakable", Fault::HangsInPlan).spec()
    }

    async fn plan(&self, _: Value, _: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        Err(Complaint("no".to_owned()))
    }
}

#[tokio::test]
async fn a_turn_that_panics_is_ended_as_such_and_the_session_goes_on() {
    let tool: Arc<dyn Tool> = Arc::new(Unspeakable(AtomicUsize::new(0), 1));
    let setup = Setup { tools: Registry::of([tool]), ..Setup::default() };
    let stage = Stage::with(Project::new(), Script::new().turn(Turn::text("ok")), setup).await;
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::InternalError);
    assert_eq!(
        kinds(&stage.entries().await),
        ["user", "step_started", "step_ended", "turn_ended"],
        "what had begun is closed"
    );
    assert_eq!(stage.run("again").await.answer(), "ok");
}

#[tokio::test]
async fn a_wait_of_an_hour_can_be_interrupted() {
    let script = Script::new().turn(Turn::error(429, "later").header("retry-after", "3600"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until_retry().await;
    stage.service.interrupt(&stage.session).await.unwrap();
    assert_eq!(run.finish().await.stop.unwrap().0, StopReason::Interrupted);
}

#[tokio::test]
async fn an_answer_that_is_always_cut_is_given_up() {
    let stage = Stage::new(Script::always(Turn::text("half").no_finish().no_done())).await;
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::ModelError);
    assert_eq!(stage.server.requests().len(), 3);
}

#[tokio::test]
async fn what_is_said_after_a_cut_answer_is_not_told_to_go_on() {
    let script = Script::new()
        .turns([1, 2, 3].map(|_| Turn::text("half").no_finish().no_done()))
        .turn(Turn::text("as you say"));
    let stage = Stage::new(script).await;
    stage.run("go").await;
    stage.run("forget it").await;
    let requests = stage.server.requests();
    let said = requests[3].last_user_text();
    assert!(said.contains("cut off") && said.ends_with("forget it"), "{said}");
    assert!(!said.contains("Go on"), "{said}");
}
