//! Temporary projects.

use rein_testkit::Project;

#[test]
fn files_are_written_read_and_listed() {
    let project = Project::new()
        .file("src/main.rs", "fn main() {}\r\n")
        .file("raw.bin", [0xff, 0x00])
        .directory("empty");
    project.write("a.txt", "one");
    assert_eq!(project.files(), ["a.txt", "raw.bin", "src/main.rs"]);
    assert_eq!(project.read("src/main.rs"), "fn main() {}\r\n");
    assert_eq!(project.read_bytes("raw.bin"), [0xff, 0x00]);
    assert!(project.exists("empty") && project.exists("src") && !project.exists("src/lib.rs"));
    assert!(!project.exists("a.txt/below"));
}

#[test]
fn a_link_to_nowhere_exists_and_is_not_followed() {
    let project = Project::new().symlink("link", "/nowhere/at/all");
    assert!(project.exists("link"));
    assert_eq!(project.files(), ["link"]);
}

#[test]
fn homes_are_inside_the_temporary_directory_and_go_away_with_it() {
    let project = Project::new().home_file(".config/x", "1");
    let (path, home, rein_home) =
        (project.path().to_owned(), project.home().to_owned(), project.rein_home().to_owned());
    assert_eq!(path.parent(), home.parent());
    assert_eq!(path.parent(), rein_home.parent());
    assert!(home.join(".config/x").exists() && !rein_home.exists());
    let project = project.rein_file("config.toml", "x = 1");
    assert_eq!(std::fs::read_to_string(rein_home.join("config.toml")).unwrap(), "x = 1");
    drop(project);
    assert!(!path.exists() && !home.exists() && !rein_home.exists());
}

#[test]
fn a_repository_has_what_was_there_committed_and_nothing_else() {
    let project = Project::new().file("a.txt", "one\n").executable("run.sh", "#!/bin/sh\necho ran\n").git();
    assert_eq!(project.run_git(["status", "--porcelain"]), "");
    assert_eq!(project.run_git(["ls-files", "--stage"]).matches("100755").count(), 1);
    assert_eq!(project.run_git(["log", "--format=%an %s %D"]), "Test first HEAD -> main\n");
    project.write("a.txt", "two\n");
    assert_eq!(project.run_git(["status", "--porcelain"]), " M a.txt\n");
    project.commit("second");
    assert_eq!(project.run_git(["log", "--format=%s"]), "second\nfirst\n");
    assert_eq!(project.files(), ["a.txt", "run.sh"]);
}
