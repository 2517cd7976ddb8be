//! A file is read, or it is said why not; only one that is not there is no file.

use std::fs;
use std::os::unix::fs::symlink;

use crate::Fixture;

const USER: &str = "home/config/config.toml";

fn with_config_directory() -> Fixture {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("home/config")).unwrap();
    fixture
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_fine() {
    let fixture = Fixture::new().user("\u{feff}max_steps = 5\r\n\r\n[bash]\r\ntimeout = 6\r\n");
    let loaded = fixture.load();
    assert_eq!((loaded.settings.max_steps, loaded.settings.bash.timeout), (5, 6));
    assert_eq!(loaded.origins["bash.timeout"].line, Some(4));

    let fixture = Fixture::new().user("\u{feff}modle = 5\r\nmode = 'x'\r\n");
    assert_eq!(
        fixture.error(),
        "/home/config/config.toml:1:1: unknown key `modle`; did you mean `model`?\n\
         /home/config/config.toml:2:8: `mode` must be `tight`, `write`, `free` or `plan`, but it is `x`"
    );
}

#[test]
fn an_empty_file_is_a_file() {
    let fixture = Fixture::new().user("");
    assert_eq!(fixture.load().files, [fixture.path(USER)]);
}

#[test]
fn bytes_that_are_not_utf8_are_an_error_with_their_line() {
    let message = "line 2 is not UTF-8: save the file in that encoding";
    assert_eq!(
        Fixture::new().user(b"max_steps = 1\n# caf\xe9\n").error(),
        format!("/home/config/config.toml: {message}")
    );
    assert_eq!(
        Fixture::new().project(b"max_steps = 1\n# caf\xe9\n").error(),
        format!("/repo/.rein/config.toml: {message}")
    );
    // "UTF-16", as some editors save.
    assert_eq!(
        Fixture::new().user(b"\xff\xfem\0o\0").error(),
        "/home/config/config.toml: line 1 is not UTF-8: save the file in that encoding"
    );
}

#[test]
fn a_directory_a_device_and_too_large_a_file_are_errors() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path(USER)).unwrap();
    assert_eq!(fixture.error(), "/home/config/config.toml: is a directory, not a file");

    let fixture = with_config_directory();
    symlink("/dev/zero", fixture.path(USER)).unwrap();
    assert_eq!(fixture.error(), "/home/config/config.toml: is not a regular file");

    let fixture = Fixture::new().user("#".repeat(1_000_001));
    assert_eq!(
        fixture.error(),
        "/home/config/config.toml: is larger than 1000000 bytes: this is hardly a file of settings"
    );
    Fixture::new().user("#".repeat(1_000_000)).load();
}

#[test]
fn links_are_followed_and_broken_ones_are_errors() {
    let fixture = with_config_directory().write("elsewhere.toml", "max_steps = 5");
    symlink(fixture.path("elsewhere.toml"), fixture.path(USER)).unwrap();
    assert_eq!(fixture.load().settings.max_steps, 5);

    let fixture = with_config_directory();
    symlink("nothing", fixture.path(USER)).unwrap();
    assert_eq!(
        fixture.error(),
        "/home/config/config.toml: is a symbolic link to a file that does not exist: mend or remove it"
    );

    let fixture = with_config_directory();
    symlink("config.toml", fixture.path(USER)).unwrap();
    let error = fixture.error();
    assert!(error.starts_with("/home/config/config.toml: cannot be read: "), "{error}");
}

#[test]
fn a_file_where_a_directory_should_be_is_an_error() {
    let fixture = Fixture::new().write("home/config", "").write("repo/file", "");
    let error = fixture.error();
    assert!(error.starts_with("/home/config/config.toml: cannot be read: "), "{error}");
}

#[test]
fn a_path_cannot_drive_the_terminal() {
    let fixture =
        Fixture::new().write("repo/\u{1b}[2J/.rein/config.toml", "modle = 1").start("repo/\u{1b}[2J");
    assert_eq!(
        fixture.error(),
        "/repo/\\u001B[2J/.rein/config.toml:1:1: unknown key `modle`; did you mean `model`?"
    );
}
