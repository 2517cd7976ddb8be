//! `rein prompt` and `rein context`.

use rein_testkit::{Project, Turn};
use serde_json::json;

use crate::{asking, rein, server};

#[test]
fn the_prompt_is_shown_as_it_is_sent_and_can_be_replaced_and_added_to() {
    let project =
        Project::new().git().file("AGENTS.md", "Use tabs. See @notes.md.").file("notes.md", "NOTES");
    let own = rein(&project).args(["prompt", "show"]).run();
    own.assert_success();
    assert!(own.stdout.starts_with("You are rein"), "{own}");
    assert!(own.stdout.contains("Use tabs.") && own.stdout.contains("NOTES"), "{own}");
    let project = project
        .rein_file("config/SYSTEM.md", "You are somebody else.")
        .rein_file("config/APPEND_SYSTEM.md", "And kind.");
    let replaced = rein(&project).args(["prompt", "show"]).run();
    assert!(replaced.stdout.starts_with("You are somebody else.\n\nAnd kind.\n"), "{replaced}");
}

#[test]
fn every_part_that_is_sent_is_listed_with_its_tokens_and_why() {
    let project = Project::new().git().file("AGENTS.md", "Use tabs.").file("sub/x", "");
    let listed = rein(&project).args(["context", "show", "-C", "sub"]).run();
    listed.assert_success();
    for part in [
        "what rein tells every model",
        "AGENTS.md (the project's instructions)",
        "tools         read (",
        "tools         webfetch (",
    ] {
        assert!(listed.stdout.contains(part), "{part}: {listed}");
    }
    let json = rein(&project).args(["context", "show", "--json"]).run();
    let parts: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let parts = parts.as_array().unwrap();
    let tokens = |section: &str| -> u64 {
        let found = parts.iter().filter(|part| part["section"] == section);
        found.map(|part| part["tokens"].as_u64().unwrap()).sum()
    };
    assert!(tokens("head") <= 2_000, "{}", tokens("head"));
    assert!(tokens("tools") > 500 && tokens("environment") > 10 && tokens("instructions") > 5);
}

#[test]
fn the_prompt_of_a_family_is_shown_for_its_models() {
    let project = Project::new();
    let shown = |model: &str| rein(&project).args(["prompt", "show", "--model", model]).run();
    let common = rein(&project).args(["prompt", "show"]).run().stdout;
    let head = |text: &str| text.split("<env>").next().unwrap().trim_end().to_owned();
    for (model, word) in
        [("openai/gpt-5", "Keep going until the whole task"), ("anthropic/claude-opus-4", "smallest change")]
    {
        let output = shown(model);
        output.assert_success();
        assert!(output.stdout.starts_with(&head(&common)) && output.stdout.contains(word), "{output}");
    }
    let open = shown("ollama/qwen3:8b");
    assert!(open.stdout.starts_with("You are rein") && !open.stdout.starts_with(&head(&common)), "{open}");
    let unknown = shown("nobody/x");
    unknown.assert_code(2);
    assert!(unknown.stderr.contains("there is no provider `nobody`"), "{unknown}");
}

#[test]
fn of_a_session_the_conversation_is_listed_too() {
    let project = Project::new().file("a.txt", "line\n".repeat(100));
    let server = server([Turn::call("read", json!({"path": "a.txt"})), Turn::text("seen")]);
    let output = asking(&project, &server).args(["-p", "look at it", "--output", "json"]).run();
    let session = output.json_lines()[0]["session"].as_str().unwrap().to_owned();
    let listed = rein(&project).server(&server).args(["context", "show", &session]).run();
    listed.assert_success();
    for part in ["webfetch (", "user (1 message", "answers (1 answer", "results of read (1 result)", "in all"]
    {
        assert!(listed.stdout.contains(part), "{part}: {listed}");
    }
    let json = rein(&project).server(&server).args(["context", "show", &session, "--json"]).run();
    let parts: Vec<rein_protocol::ContextPart> = serde_json::from_str(&json.stdout).unwrap();
    assert!(parts.iter().any(|part| part.name == "results of read" && part.bytes > 500), "{parts:?}");
}

#[test]
fn a_session_is_handed_over_to_a_new_one() {
    let project = Project::new();
    let server = server([
        Turn::text("a red door"),
        Turn::error(500, "down"),
        Turn::error(500, "down"),
        Turn::text("on it"),
    ]);
    let output = asking(&project, &server).args(["-p", "paint the door", "--output", "json"]).run();
    let session = output.json_lines()[0]["session"].as_str().unwrap().to_owned();
    let made = rein(&project).server(&server).args(["sessions", "handoff", &session, "the", "colour"]).run();
    made.assert_success();
    let new = made.stdout.lines().next().unwrap().to_owned();
    assert_ne!(new, session);
    asking(&project, &server).args(["--resume", &new, "-p", "go on"]).run().assert_success();
    let last = server.requests().pop().unwrap();
    assert!(last.contains("paint the door") && last.contains("a red door"), "{last:?}");
    assert_eq!(last.last_user_text(), "go on");
}
