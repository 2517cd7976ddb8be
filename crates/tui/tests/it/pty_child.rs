//! The face as a process of its own: `pty` starts this test on a pty.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use rein_protocol::{Block, Display, ModelRef, OpenSession};
use rein_sandbox::{Status, run_on_terminal};
use rein_testkit::{Act, FakeCall, FakeService, Operation};
use rein_tui::welcome::{Chosen, ProviderOffer, Reception};
use rein_tui::{Ended, Hands, Ink, Letters, Palette, Reflow, TuiOptions};
use serde_json::json;

/// Where drafts are kept.
pub const STATE: &str = "REIN_TUI_TEST_STATE";
/// Which scene to play; without it this test has nothing to do.
pub const SCENE: &str = "REIN_TUI_TEST_SCENE";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started on a pty by the tests in `pty`"]
async fn the_face_of_a_scene() {
    let Ok(scene) = std::env::var(SCENE) else { return };
    if scene == "welcome" {
        return welcomed().await;
    }
    let service = FakeService::new();
    let service = match scene.as_str() {
        "approve" => service.on_prompt([Act::call(command()), Act::say("All clean.")]),
        "long" => {
            let answer: String = (1..=300).map(|number| format!("number {number}\n\n")).collect();
            service.on_prompt([Act::say(answer)])
        }
        "held" | "panic" => service.on_prompt([Act::hold("gate")]),
        _ => service,
    };
    let mut options = TuiOptions::new(OpenSession::default());
    options.reflow = Reflow::Cuts;
    if scene == "auto" {
        options.theme = ("auto".to_owned(), rein_tui::theme::builtin("dark").unwrap());
    }
    options.hands = Arc::new(ShellHands);
    options.state_directory = std::env::var_os(STATE).map(Into::into);
    let bomb = async {
        service.wait_for_calls(Operation::Prompt, 1).await;
        match scene.as_str() {
            "panic" => panic!("the scene says panic"),
            _ => std::future::pending::<()>().await,
        }
    };
    let exit = tokio::select! {
        exit = rein_tui::run(Arc::new(service.clone()), options) => exit.unwrap(),
        () = bomb => return,
    };
    let wanted = match scene.as_str() {
        "held" => matches!(exit.ended, Ended::Terminated | Ended::HungUp | Ended::Quit),
        _ => exit.ended == Ended::Quit,
    };
    assert!(wanted, "{exit:?}");
}

struct Front;

#[async_trait::async_trait]
impl Reception for Front {
    fn providers(&self) -> Vec<ProviderOffer> {
        vec![ProviderOffer { name: "openai".into(), title: "OpenAI".into(), page: None }]
    }

    async fn store(&self, provider: &str, key: &str) -> Result<(), String> {
        assert_eq!((provider, key), ("openai", "sk-0123456789"));
        Ok(())
    }

    async fn servers(&self) -> Vec<ModelRef> {
        Vec::new()
    }
}

async fn welcomed() {
    let palette = Palette { ink: Ink::Colour, letters: Letters::Unicode };
    let chosen = rein_tui::welcome::welcome(Arc::new(Front), palette, Reflow::Cuts).await.unwrap();
    assert_eq!(chosen, Chosen::Provider("openai".into()));
}

/// An editor that looks at the terminal it has, and adds a line.
struct ShellHands;

#[async_trait::async_trait]
impl Hands for ShellHands {
    async fn edit(&self, file: &Path) -> Result<(), String> {
        let script = "stty -a | grep -q ' icanon' && stty -a | grep -q ' echo ' || exit 3
            echo \"the editor has the terminal\"; read word; echo \" $word\" >> \"$1\"";
        let arguments = ["-c", script, "editor"].map(OsString::from).into_iter().chain([file.into()]);
        let arguments: Vec<OsString> = arguments.collect();
        let run = move || run_on_terminal(OsStr::new("sh"), &arguments, Path::new("/"));
        match tokio::task::spawn_blocking(run).await.unwrap() {
            Ok(Status::Code(0)) => Ok(()),
            other => Err(format!("the editor failed: {other:?}")),
        }
    }
}

fn command() -> FakeCall {
    let display = Display::titled("$ rm -rf cache")
        .with_block(Block::Command { command: "rm -rf cache".into(), cwd: "/project".into() });
    FakeCall::new("bash", json!({})).display(display).asks("bash", "rm -rf cache")
}
