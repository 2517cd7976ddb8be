//! What runs when nobody can be asked, and what is said about the rest.

use rein_testkit::{Project, Turn};
use serde_json::json;

use crate::{asking, server, session_in};

fn edit() -> Turn {
    Turn::call("write", json!({"path": "new.txt", "content": "written\n"}))
}

fn command(command: &str) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

#[test]
fn an_edit_is_refused_with_the_reason_and_the_flag_that_allows_it() {
    let (project, server) = (Project::new(), server([edit(), Turn::text("I could not.")]));
    let output = asking(&project, &server).args(["-p", "write it"]).run();
    output.assert_code(3);
    assert_eq!(output.stdout, "I could not.\n");
    assert!(output.stderr.contains("--allow 'edit:new.txt'"), "{output}");
    assert!(output.stderr.contains("mode `tight`"), "{output}");
    assert!(!project.exists("new.txt"));
    session_in(&output.stderr);
}

#[test]
fn the_flag_that_a_refusal_names_allows_it() {
    let (project, server) = (Project::new(), server([edit(), Turn::text("Done.")]));
    let output = asking(&project, &server).args(["-p", "write it", "--allow", "edit:new.txt"]).run();
    output.assert_success();
    assert_eq!(project.read("new.txt"), "written\n");
}

#[test]
fn a_pattern_allows_what_it_covers_and_nothing_else() {
    let other = Turn::call("write", json!({"path": "other/x", "content": "x"}));
    let inside = Turn::call("write", json!({"path": "src/deep/x", "content": "x"}));
    let (project, server) = (Project::new(), server([other, inside, Turn::text("Half.")]));
    let output = asking(&project, &server).args(["-p", "write", "--allow", "edit:src/**"]).run();
    output.assert_code(3);
    assert_eq!(project.files(), ["src/deep/x"]);
}

#[test]
fn a_denial_beats_the_mode() {
    let (project, server) = (Project::new(), server([edit(), Turn::text("No.")]));
    let output =
        asking(&project, &server).args(["-p", "write it", "--mode", "free", "--deny", "edit:*.txt"]).run();
    output.assert_code(3);
    assert!(!project.exists("new.txt"));
    assert!(output.stderr.contains("edit:*.txt"), "{output}");
}

#[test]
fn mode_write_runs_code_of_the_project_only_where_it_is_confined() {
    let turns =
        || [edit(), command("mkdir made && touch made/x"), command("sh ./new.txt"), Turn::text("Half.")];
    let (project, model) = (Project::new(), server(turns()));
    let output = asking(&project, &model).args(["-p", "go", "--mode", "write"]).run();
    output.assert_code(0);
    assert!(output.stderr.contains("→ $ sh ./new.txt"), "{output}");
    let (project, model) = (Project::new(), server(turns()));
    let unconfined = ["-p", "go", "--mode", "write", "--config", "sandbox.confine=off"];
    let output = asking(&project, &model).args(unconfined).run();
    output.assert_code(3);
    assert_eq!(project.files(), ["made/x", "new.txt"]);
    assert!(output.stderr.contains("--mode free"), "{output}");
}

#[test]
fn mode_free_runs_commands() {
    let (project, server) = (Project::new(), server([command("echo out; touch ran"), Turn::text("Done.")]));
    asking(&project, &server).args(["-p", "go", "--mode", "free"]).run().assert_success();
    assert_eq!(project.files(), ["ran"]);
    assert!(server.requests()[1].tool_results()[0].1.contains("out"));
}

#[test]
fn mode_plan_withholds_what_would_change_something() {
    let (project, server) = (Project::new(), server([edit(), command("touch ran"), Turn::text("The plan.")]));
    let output = asking(&project, &server).args(["-p", "go", "--mode", "plan", "--allow", "edit"]).run();
    output.assert_success();
    assert_eq!((project.files().len(), output.stdout.as_str()), (0, "The plan.\n"));
}

#[test]
fn an_allow_rule_for_commands_lets_them_run_and_no_others() {
    let turns = || [command("git status; echo out"), command("git stash"), Turn::text("Half.")];
    let (project, refusing) = (Project::new(), server(turns()));
    let output = asking(&project, &refusing).args(["-p", "go"]).run();
    output.assert_code(3);
    assert!(output.stderr.contains("--allow 'bash:git status *'"), "{output}");
    let allowing = server(turns());
    let output = asking(&project, &allowing).args(["-p", "go", "--allow", "bash:git status *"]).run();
    output.assert_code(3);
    assert!(allowing.requests()[1].tool_results()[0].1.contains("out"), "{output}");
    assert!(output.stderr.contains("git stash"), "{output}");
}

#[test]
fn a_project_cannot_widen_what_runs() {
    let project =
        Project::new().file(".rein/config.toml", "mode = \"free\"\n[permission]\nedit = \"allow\"\n");
    let server = server([edit(), Turn::text("No.")]);
    let output = asking(&project, &server).args(["-p", "write it"]).run();
    output.assert_code(3);
    assert!(!project.exists("new.txt"));
    assert_eq!(output.stderr.matches("warning: ").count(), 2, "{output}");
}

#[test]
fn the_users_own_rules_count() {
    let project =
        Project::new().rein_file("config/config.toml", "[permission.edit]\n\"*.txt\" = \"allow\"\n");
    let server = server([edit(), Turn::text("Done.")]);
    asking(&project, &server).args(["-p", "write it"]).run().assert_success();
    assert!(project.exists("new.txt"));
}
