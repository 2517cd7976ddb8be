//! `rein config`, and settings that are wrong.

use rein_testkit::Project;

use crate::rein;

#[test]
fn show_says_what_holds_and_where_it_comes_from() {
    let project = Project::new().rein_file("config/config.toml", "max_steps = 7\n");
    let output = rein(&project).args(["config", "show", "--origin", "--config", "bash.timeout=5"]).run();
    output.assert_success();
    let file = project.rein_home().join("config/config.toml");
    assert!(output.stdout.contains(&format!("max_steps = 7  # {}:1\n", file.display())), "{output}");
    assert!(output.stdout.contains("bash.timeout = 5  # --config\n"), "{output}");
    assert!(output.stdout.contains("mode = \"tight\"  # default\n"), "{output}");
    let plain = rein(&project).args(["config", "show"]).run();
    assert!(plain.stdout.contains("max_steps = 7\n") && !plain.stdout.contains("  # "), "{plain}");
    let json = rein(&project).args(["config", "show", "--json"]).run();
    assert!(serde_json::from_str::<serde_json::Value>(&json.stdout).unwrap()["settings"].is_array());
}

#[test]
fn the_schema_is_json_and_the_path_is_where_the_file_goes() {
    let project = Project::new();
    let schema = rein(&project).args(["config", "schema"]).run();
    assert!(
        serde_json::from_str::<serde_json::Value>(&schema.stdout).unwrap()["properties"]["mode"].is_object()
    );
    let path = rein(&project).args(["config", "path"]).run();
    path.assert_success();
    assert!(
        path.stdout.contains(&project.rein_home().join("config/config.toml").display().to_string()),
        "{path}"
    );
    assert!(path.stdout.contains(&project.join(".rein/config.toml").display().to_string()), "{path}");
}

#[test]
fn wrong_settings_are_named_with_their_place() {
    let project = Project::new().rein_file("config/config.toml", "\nmax_stpes = 7\n");
    for arguments in [&["config", "show"][..], &["-p", "x"], &["sessions", "list"]] {
        let output = rein(&project).args(arguments).run();
        output.assert_code(2);
        assert!(output.stderr.contains("config.toml:2") && output.stderr.contains("max_steps"), "{output}");
    }
    rein(&project).args(["config", "path"]).run().assert_success();
    rein(&project).args(["config", "schema"]).run().assert_success();
}

#[test]
fn without_any_home_it_says_what_to_set() {
    let output = rein(&Project::new()).env_remove("HOME").env_remove("REIN_HOME").args(["-p", "x"]).run();
    output.assert_code(2);
    assert!(output.stderr.contains("REIN_HOME"), "{output}");
}
