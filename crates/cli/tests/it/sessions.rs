//! Going on with sessions, and looking at them.

use rein_protocol::Entry;
use rein_testkit::{Project, Turn};
use serde_json::json;

use crate::{asking, rein, server};

#[test]
fn continue_goes_on_with_the_last_session_of_the_directory() {
    let project = Project::new().directory("elsewhere");
    let server = server([Turn::text("One."), Turn::text("Other."), Turn::text("Two.")]);
    asking(&project, &server).args(["-p", "first"]).run().assert_success();
    asking(&project, &server).args(["-p", "unrelated words", "-C", "elsewhere"]).run().assert_success();
    asking(&project, &server).args(["-c", "-p", "second"]).run().assert_success();
    let said = format!("{:?}", server.requests()[2].said);
    assert!(said.contains("first") && said.contains("One.") && said.contains("second"), "{said}");
    assert!(!said.contains("unrelated words"), "{said}");
}

#[test]
fn continue_without_a_session_says_so() {
    let (project, server) = (Project::new(), server([]));
    let output = asking(&project, &server).args(["--continue", "-p", "x"]).run();
    output.assert_code(2);
    assert!(output.stderr.contains("there is no session of"), "{output}");
}

#[test]
fn resume_goes_on_where_the_session_was() {
    let project = Project::new().file("sub/a.txt", "content");
    let read = Turn::call("read", json!({"path": "a.txt"}));
    let server = server([Turn::text("One."), read, Turn::text("Two.")]);
    let output = asking(&project, &server).args(["-p", "x", "-C", "sub", "--output", "json"]).run();
    let session = output.json_lines()[0]["session"].as_str().unwrap().to_owned();
    let output =
        asking(&project, &server).args(["--resume", &session[session.len() - 10..], "-p", "y"]).run();
    output.assert_success();
    assert!(server.requests()[2].tool_results()[0].1.contains("content"));
}

#[test]
fn a_session_in_which_another_process_works_is_left_alone() {
    let (project, server) = (Project::new(), server([Turn::text("words").gate("end")]));
    let mut working = asking(&project, &server).args(["-p", "x"]).spawn();
    working.read_stdout_until("words");
    let output = asking(&project, &server).args(["--continue", "-p", "y"]).run();
    output.assert_code(1);
    assert!(
        output.stderr.contains(&format!("in use by another rein process (pid {})", working.pid())),
        "{output}"
    );
    server.open_gate("end");
    working.wait().assert_success();
}

#[test]
fn resume_of_a_finished_session_gives_its_answer_without_asking_the_model() {
    let (project, server) = (Project::new(), server([Turn::text("One.")]));
    let output = asking(&project, &server).args(["-p", "x", "--output", "json"]).run();
    let session = output.json_lines()[0]["session"].as_str().unwrap().to_owned();
    let output = asking(&project, &server).args(["--resume", &session]).run();
    output.assert_success();
    assert_eq!(output.stdout, "One.\n");
    asking(&project, &server).args(["--resume", "ses_nothing", "-p", "x"]).run().assert_code(2);
    server.assert_done();
}

#[test]
fn sessions_can_be_listed_shown_and_exported_without_a_model() {
    let project = Project::new().file("a.txt", "content\n").directory("elsewhere");
    let server =
        server([Turn::text("I look.").and_call("read", json!({"path": "a.txt"})), Turn::text("Fine.")]);
    asking(&project, &server).args(["-p", "what is\nin it?"]).run().assert_success();

    let list = rein(&project).args(["sessions", "list"]).run();
    list.assert_success();
    assert_eq!(list.stdout.lines().count(), 1, "{list}");
    assert!(list.stdout.contains("what is"), "{list}");
    let all = rein(&project).args(["sessions", "list", "--json"]).run();
    let all: serde_json::Value = serde_json::from_str(&all.stdout).unwrap();
    let id = all[0]["id"].as_str().unwrap();
    assert!(list.stdout.starts_with(id));
    let elsewhere = rein(&project).args(["sessions", "list", "-C", "elsewhere"]).run();
    assert!(elsewhere.stdout.starts_with("no sessions here yet"), "{elsewhere}");
    let everywhere = rein(&project).args(["sessions", "list", "--all", "-C", "elsewhere"]).run();
    assert!(everywhere.stdout.contains(id), "{everywhere}");

    let shown = rein(&project).args(["sessions", "show", id]).run();
    shown.assert_success();
    for words in ["> what is\n> in it?", "I look.", "✓ read a.txt", "Fine.", "openai/test-model"] {
        assert!(shown.stdout.contains(words), "{words} is not in {shown}");
    }

    let exported = rein(&project).args(["sessions", "export", id]).run();
    let entries: Vec<Entry> =
        exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.len() as u64, all[0]["entries"].as_u64().unwrap());
    let file = project.join("session.md");
    rein(&project)
        .args(["sessions", "export", id, "--format", "markdown", "-o", file.to_str().unwrap()])
        .run()
        .assert_success();
    let document = project.read("session.md");
    assert!(document.starts_with("# what is") && document.contains("\n## Agent\n\nFine.\n"), "{document}");
}

#[test]
fn a_session_is_forked_and_renamed_and_its_tree_shown_without_a_model() {
    let project = Project::new();
    let server = server([Turn::text("One."), Turn::text("Two."), Turn::text("Three.")]);
    asking(&project, &server).args(["-p", "first"]).run().assert_success();
    asking(&project, &server).args(["-c", "-p", "second"]).run().assert_success();
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&rein(&project).args(arguments).run().stdout).unwrap()
    };
    let list = || json(&["sessions", "list", "--json"]);
    let id = list()[0]["id"].as_str().unwrap().to_owned();
    let tree = json(&["sessions", "tree", &id, "--json"]);
    let texts: Vec<&str> =
        tree.as_array().unwrap().iter().map(|node| node["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["first", "One.", "second", "Two."]);
    let shown = rein(&project).args(["sessions", "tree", &id]).run();
    shown.assert_success();
    assert_eq!(shown.stdout.lines().count(), 4, "{shown}");
    assert!(shown.stdout.contains("you: first") && shown.stdout.contains("agent: Two."), "{shown}");

    let at = tree[1]["entry"].as_str().unwrap();
    let fork = json(&["sessions", "fork", &id, "--at", at, "--json"]);
    let fork = fork["id"].as_str().unwrap();
    assert_eq!(list()[0]["title"], "fork of first");
    rein(&project).args(["sessions", "rename", fork, "another", "way"]).run().assert_success();
    assert_eq!(list()[0]["title"], "another way");
    asking(&project, &server).args(["--resume", fork, "-p", "third"]).run().assert_success();
    let said = format!("{:?}", server.requests()[2].said);
    assert!(said.contains("One.") && said.contains("third") && !said.contains("second"), "{said}");
    let wrong = rein(&project).args(["sessions", "fork", &id, "--at", "nonsense"]).run();
    wrong.assert_code(2);
}
