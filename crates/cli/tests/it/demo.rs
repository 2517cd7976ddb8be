//! The demo is an end-to-end test of everything, without a model.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rein_testkit::{Project, Signal};

use crate::rein;

#[test]
fn the_demo_fixes_the_test_and_leaves_nothing_behind() {
    let project = Project::new().directory("temporary");
    let temporary = project.join("temporary");
    let output = rein(&project).args(["demo", "--fast"]).env("TMPDIR", &temporary).run();
    output.assert_success();
    for words in ["FAIL", "you would be asked here", "allow once", "+printf", "it passes", "$0.0", "rein -p"]
    {
        assert!(output.stdout.contains(words), "{words} is not in {output}");
    }
    assert_eq!(output.stderr, "");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert!(!project.rein_home().exists());
    assert_eq!(fs::read_dir(project.home()).unwrap().count(), 0);
}

#[test]
fn the_demo_needs_no_home_no_settings_and_no_directory_to_write_to() {
    let project = Project::new().directory("read-only").rein_file("config/config.toml", "this is [not toml");
    let read_only = project.join("read-only");
    fs::set_permissions(&read_only, fs::Permissions::from_mode(0o555)).unwrap();
    let output = rein(&project)
        .args(["demo", "--fast"])
        .env_remove("HOME")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .current_dir(&read_only)
        .run();
    output.assert_success();
}

#[test]
fn the_demo_can_be_kept() {
    let project = Project::new().directory("temporary");
    let temporary = project.join("temporary");
    let output = rein(&project).args(["demo", "--fast", "--keep"]).env("TMPDIR", &temporary).run();
    output.assert_success();
    let kept = fs::read_dir(&temporary).unwrap().next().unwrap().unwrap().path();
    assert!(output.stdout.contains(&format!("kept in {}", kept.display())), "{output}");
    assert!(kept.join("project/slug.sh").exists());
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind_either() {
    let project = Project::new().directory("temporary");
    let temporary = project.join("temporary");
    let mut running = rein(&project).arg("demo").env("TMPDIR", &temporary).spawn();
    running.read_stdout_until("→ read slug.sh");
    running.kill(Signal::Interrupt);
    running.wait().assert_code(130);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}
