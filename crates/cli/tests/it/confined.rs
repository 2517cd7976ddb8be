//! Commands of a run are held by the kernel, and what they were refused is told.

use rein_testkit::{Project, Turn};
use serde_json::{Value, json};

use crate::{asking, rein, server};

fn command(line: &str) -> Turn {
    Turn::call("bash", json!({ "command": line }))
}

#[test]
fn a_script_of_the_project_reaches_nothing_outside_and_the_model_is_told() {
    let outside = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let evil = outside.path().join("evil");
    let script = format!(
        "echo in > inside; echo out > {evil}; echo x > .git/hooks/pre-commit; mkdir -p .rein; echo x > .rein/config.toml; touch {evil}",
        evil = evil.display()
    );
    let project = Project::new().file("run.sh", &script);
    std::fs::create_dir_all(project.path().join(".git/hooks")).unwrap();
    let server = server([command("sh run.sh"), Turn::text("Done.")]);
    let output = asking(&project, &server).args(["-p", "go", "--mode", "write"]).run();
    output.assert_code(0);
    assert!(project.exists("inside"), "{output}");
    assert!(
        !evil.exists() && !project.exists(".git/hooks/pre-commit") && !project.exists(".rein"),
        "{output}"
    );
    let requests = server.requests();
    let told = requests[1].tool_results()[0].1.to_owned();
    assert!(told.contains("Read-only file system") && told.contains("widen: [\"write "), "{told}");
}

#[test]
fn wider_rights_are_refused_where_nobody_can_be_asked() {
    let server = server([
        Turn::call("bash", json!({"command": "true", "widen": ["network"]})),
        Turn::call("bash", json!({"command": "true", "widen": ["off"]})),
        Turn::text("No."),
    ]);
    let project = Project::new();
    let output = asking(&project, &server).args(["-p", "go", "--mode", "free"]).run();
    output.assert_code(3);
    let requests = server.requests();
    for (index, right) in [(1, "sandbox 'network'"), (2, "sandbox 'off'")] {
        let told = requests[index].tool_results().last().unwrap().1.to_owned();
        assert!(told.contains("Refused") && told.contains(right), "{told}");
    }
}

#[test]
fn what_is_enforced_can_be_asked_for() {
    let project = Project::new();
    let output = rein(&project).args(["sandbox", "status", "--json"]).run();
    output.assert_success();
    let status: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&status["confine"], &status["way"]), (&json!("on"), &json!("built_in")), "{status:#}");
    let off = rein(&project).args(["--config", "sandbox.confine=off", "sandbox", "status"]).run();
    off.assert_success();
    assert!(off.stdout.starts_with("Commands are not confined"), "{off}");
}
