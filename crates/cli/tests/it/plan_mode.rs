//! Plan mode and the check at the end, without a screen.

use rein_testkit::{ModelServer, Project, RecordedRequest, Script, Turn};
use serde_json::json;

use crate::{asking, rein, server};

fn write() -> Turn {
    Turn::call("write", json!({"path": "a.txt", "content": "x\n"}))
}

#[test]
fn a_plan_is_printed_with_what_was_withheld_and_carried_out_by_the_next_run() {
    let turns = [write(), Turn::text("The plan."), write(), Turn::text("Done.")];
    let (project, server) = (Project::new(), server(turns));
    let output = asking(&project, &server).args(["-p", "plan it", "--mode", "plan"]).run();
    output.assert_success();
    assert_eq!(output.stdout, "The plan.\n");
    let told = "plan: 1 call was withheld, and nothing was changed:\n  - write a.txt\nhint: to carry the plan out: \
                rein -p --continue --mode write 'go'\n";
    assert!(output.stderr.ends_with(told), "{output}");
    assert!(!project.exists("a.txt"));
    asking(&project, &server).args(["-p", "--continue", "--mode", "write", "go"]).run().assert_success();
    assert!(project.exists("a.txt"));
    assert!(server.requests()[2].contains("Plan mode is over"));
}

#[test]
fn a_plan_in_json_has_the_list_and_going_on_needs_no_words() {
    let turns = [write(), Turn::text("The plan."), write(), Turn::text("Done.")];
    let (project, server) = (Project::new(), server(turns));
    let output =
        asking(&project, &server).args(["-p", "plan it", "--mode", "plan", "--output", "json"]).run();
    output.assert_success();
    let object = &output.json_lines()[0];
    assert_eq!((&object["stop_reason"], &object["refused"]), (&json!("end_turn"), &json!([])));
    assert_eq!(object["withheld"][0]["title"], "write a.txt");
    let again = asking(&project, &server).args(["-p", "--continue", "--mode", "plan"]).run();
    assert_eq!(again.assert_success().stdout, "The plan.\n");
    let output = asking(&project, &server).args(["-p", "--continue", "--mode", "write"]).run();
    assert_eq!(output.assert_success().stdout, "Done.\n");
    assert!(project.exists("a.txt"));
}

#[test]
fn a_check_that_goes_on_failing_is_no_success_and_one_that_passes_is() {
    let check = |command: &str| {
        [
            format!("verify.command={command}"),
            "verify.mode=enforcing".to_owned(),
            "verify.attempts=1".to_owned(),
        ]
    };
    for (command, code) in [("false", 1), ("true", 0)] {
        let (project, server) = (Project::new(), server([write(), Turn::text("Done.")]));
        let mut run = asking(&project, &server).args(["-p", "go", "--mode", "write"]);
        for setting in check(command) {
            run = run.args(["--config", setting.as_str()]);
        }
        let output = run.args(["--allow", "bash:true", "--allow", "bash:false"]).run();
        output.assert_code(code);
        assert!(output.stderr.contains(&format!("verify: $ {command}")), "{output}");
        assert_eq!(output.stderr.contains("(verify_failed)"), code == 1, "{output}");
    }
}

#[test]
fn a_project_cannot_have_a_check_run() {
    let project = Project::new().file(".rein/config.toml", "[verify]\ncommand = \"touch ran\"\n");
    let server = server([write(), Turn::text("Done.")]);
    let output = asking(&project, &server).args(["-p", "go", "--mode", "free"]).run();
    output.assert_success();
    assert!(output.stderr.contains("it could run a program of its own after every turn"), "{output}");
    assert!(!project.exists("ran"));
}

/// The model asks for the same write until it was told how that ended, and is done after that.
fn writes_once(request: &RecordedRequest) -> Turn {
    match request.tool_results().is_empty() {
        true => write(),
        false => Turn::text("Done."),
    }
}

#[test]
fn killed_at_any_moment_the_work_is_proved_before_it_ends() {
    let settings = ["verify.command=echo checked >> log", "verify.mode=enforcing"];
    let run = |project: &Project, server: &ModelServer| {
        let run = asking(project, server).args(["-p", "--mode", "free"]);
        settings.iter().fold(run, |run, setting| run.args(["--config", setting]))
    };
    let mut killed = 0;
    for moment in 5..20 {
        let project = Project::new();
        let server = ModelServer::start_blocking(Script::reply_with(writes_once));
        let first = run(&project, &server).arg("go").env("REIN_TEST_ABORT_AFTER", moment.to_string()).run();
        if first.signal.is_some() {
            killed += 1;
            run(&project, &server).args(["--continue"]).run().assert_success();
        }
        assert!(project.read("log").lines().all(|line| line == "checked"), "killed after {moment} entries");
        let shown = rein(&project).args(["stats", "--json", "--by", "tool"]).run();
        assert!(shown.assert_success().stdout.contains("\"write\""), "{shown}");
    }
    assert!(killed > 5, "{killed}");
}
