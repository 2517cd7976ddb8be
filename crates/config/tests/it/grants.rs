//! What was allowed for good: kept, listed, taken back, and never lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rein_config::{ConfigError, Grants, KeptGrant, NewGrant, Source};
use rein_protocol::{Grant, SessionId};

use crate::Fixture;

fn grant(permission: &str, pattern: &str) -> Grant {
    Grant { permission: permission.to_owned(), pattern: pattern.to_owned() }
}

fn patterns(grants: &[KeptGrant]) -> Vec<&str> {
    grants.iter().map(|kept| kept.grant.pattern.as_str()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_grant_is_kept_and_holds_where_it_was_given() {
    let fixture = Fixture::new();
    let directories = fixture.directories();
    assert_eq!(Grants::load(&directories).unwrap().list(), []);
    let session = SessionId::new();
    let odd = "echo \"a\\b\" \u{1b}[2J # *";
    let kept = Grants::add(
        &directories,
        &[
            NewGrant::project(grant("bash", "git log *"), fixture.path("repo"), session.clone()),
            NewGrant::project(grant("edit", "src/*"), "/elsewhere", session.clone()),
            NewGrant::everywhere(grant("bash", odd), session.clone()),
        ],
    )
    .unwrap();
    let all = Grants::load(&directories).unwrap();
    assert_eq!(all.list(), kept);
    assert_eq!(patterns(all.list()), ["git log *", "src/*", odd]);
    assert!(kept.iter().all(|one| one.session == session && one.when.0 > 1_700_000_000_000));
    assert_eq!(mode(&directories.grants_file()), 0o600);
    assert_eq!(mode(&directories.config), 0o700);

    let here = fixture.load().grants;
    assert_eq!(here, all.for_workspace(&fixture.path("repo")));
    let text: Vec<String> = here
        .iter()
        .map(|rule| {
            format!(
                "{} {} {}",
                rule.permission,
                rule.action.name(),
                fixture.shorten(&rule.origin.to_string())
            )
        })
        .collect();
    assert_eq!(
        text,
        [
            format!("bash allow /home/config/grants.toml:3 ({})", kept[0].id),
            format!("bash allow /home/config/grants.toml:21 ({})", kept[2].id),
        ]
    );
    assert!(here.iter().all(|rule| rule.origin.source == Source::Grant));
    assert_eq!(all.for_workspace(Path::new("/elsewhere")).len(), 2);
    assert_eq!(all.for_workspace(&fixture.path("repo/deeper")).len(), 1);
}

#[test]
fn the_same_grant_is_kept_once_under_the_same_id() {
    let fixture = Fixture::new();
    let directories = fixture.directories();
    let new = |pattern: &str| NewGrant::everywhere(grant("bash", pattern), SessionId::new());
    let first = Grants::add(&directories, &[new("a"), new("a")]).unwrap();
    let again = Grants::add(&directories, &[new("b"), new("a")]).unwrap();
    assert_eq!(first[0], first[1]);
    assert_eq!(first[0], again[1]);
    assert_eq!(patterns(Grants::load(&directories).unwrap().list()), ["a", "b"]);
    // Where it holds is a part of what it is.
    Grants::add(&directories, &[NewGrant::project(grant("bash", "a"), "/w", SessionId::new())]).unwrap();
    assert_eq!(patterns(Grants::load(&directories).unwrap().list()), ["a", "b", "a"]);
}

#[test]
fn a_grant_is_taken_back_by_its_id() {
    let fixture = Fixture::new();
    let directories = fixture.directories();
    let new = |pattern: &str| NewGrant::everywhere(grant("bash", pattern), SessionId::new());
    let kept = Grants::add(&directories, &[new("a"), new("b"), new("c")]).unwrap();
    let ids = [kept[0].id.clone(), kept[2].id.clone(), "gnone".to_owned()];
    assert_eq!(patterns(&Grants::revoke(&directories, &ids).unwrap()), ["a", "c"]);
    assert_eq!(patterns(Grants::load(&directories).unwrap().list()), ["b"]);
    assert_eq!(Grants::revoke(&directories, &ids).unwrap(), []);
}

#[test]
fn many_who_add_at_once_lose_nothing() {
    let fixture = Fixture::new();
    let directories = fixture.directories();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let directories = &directories;
            scope.spawn(move || {
                for number in 0..10 {
                    let pattern = format!("w{writer} n{number}");
                    Grants::add(
                        directories,
                        &[NewGrant::everywhere(grant("bash", &pattern), SessionId::new())],
                    )
                    .unwrap();
                }
            });
        }
    });
    assert_eq!(Grants::load(&directories).unwrap().list().len(), 80);
    let names: Vec<String> = fs::read_dir(&directories.config)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".rein-"))
        .collect();
    assert_eq!(names, [""; 0]);
}

/// A file with one grant, with a line of it replaced.
fn file(replaced: &str, by: &str) -> String {
    let good = "# mine\n[[grant]]\nid = \"g1\"\npermission = \"bash\"\npattern = \"ls *\"\nscope = \"project\"\n\
                workspace = \"/w\"\nwhen = 2026-01-31T12:00:00Z\nsession = \"ses_00000000000000000000000001\"\n";
    assert!(good.contains(replaced), "{replaced}");
    if replaced.is_empty() { good.to_owned() } else { good.replace(replaced, by) }
}

#[test]
fn a_file_that_is_wrong_is_an_error_with_its_line_and_is_left_alone() {
    for (replaced, by, message) in [
        ("\"bash\"", "\"bsh\"", "4:14: `grant.permission` is `bsh`, which is not one permission"),
        ("\"bash\"", "\"*\"", "4:14: `grant.permission` is `*`, which is not one permission"),
        ("\"ls *\"", "\" \"", "5:11: `grant.pattern` must not be empty"),
        ("\"ls *\"", "7", "5:11: invalid type: integer `7`, expected a string"),
        ("\"project\"", "\"planet\"", "6:9: unknown variant `planet`, expected `project` or `everywhere`"),
        (
            "\"project\"",
            "\"everywhere\"",
            "7:13: `grant.workspace` must not be there, because the grant holds everywhere",
        ),
        (
            "workspace = \"/w\"\n",
            "",
            "3:6: `grant.workspace` must be there, because the grant holds for one project",
        ),
        ("\"/w\"", "\"w\"", "7:13: `grant.workspace` must be an absolute path"),
        (
            "2026-01-31T12:00:00Z",
            "2026-01-31",
            "8:8: `grant.when` must be a date and a time with its zone, for example 2026-01-31T12:00:00Z",
        ),
        ("id = \"g1\"\n", "", "2:1: missing field `id`"),
        ("[[grant]]", "[[grants]]", "2:3: unknown field `grants`, expected `grant`"),
        ("\"g1\"", "\"g1", "3:9: invalid basic string, expected `\"`"),
    ] {
        let fixture = Fixture::new().write("home/config/grants.toml", file(replaced, by));
        let text = fixture.error();
        assert_eq!(text, format!("/home/config/grants.toml:{message}"));
        let directories = fixture.directories();
        let new = NewGrant::everywhere(grant("bash", "x"), SessionId::new());
        assert!(Grants::add(&directories, &[new]).is_err());
        assert!(Grants::revoke(&directories, &["g1".to_owned()]).is_err());
        assert_eq!(fs::read_to_string(directories.grants_file()).unwrap(), file(replaced, by));
    }
    let twice = file("", "").repeat(2);
    let fixture = Fixture::new().write("home/config/grants.toml", twice);
    assert_eq!(
        fixture.error(),
        "/home/config/grants.toml:11:1: `grant.id` is `g1`, as that of a grant above"
    );
    let deep = Fixture::new().write("home/config/grants.toml", "[".repeat(100_000));
    assert!(deep.error().contains("nested"), "{}", deep.error());
}

#[test]
fn a_file_by_hand_is_read_and_one_that_others_can_write_is_not() {
    let fixture = Fixture::new().write("home/config/grants.toml", file("", ""));
    let directories = fixture.directories();
    assert_eq!(patterns(Grants::load(&directories).unwrap().list()), ["ls *"]);
    fs::set_permissions(directories.grants_file(), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(
        fixture.error(),
        "/home/config/grants.toml: can be written by others: make it yours with `chmod go-w`"
    );
}

#[test]
fn a_link_to_the_file_stays_a_link() {
    let fixture = Fixture::new().write("dotfiles/grants.toml", file("", "")).user("");
    let directories = fixture.directories();
    std::os::unix::fs::symlink("../../dotfiles/grants.toml", directories.grants_file()).unwrap();
    Grants::add(&directories, &[NewGrant::everywhere(grant("bash", "x"), SessionId::new())]).unwrap();
    assert!(directories.grants_file().is_symlink());
    assert!(fs::read_to_string(fixture.path("dotfiles/grants.toml")).unwrap().contains("\"x\""));
}

#[test]
fn what_cannot_be_written_down_or_at_all_changes_nothing() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new();
    let directories = fixture.directories();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"/w\xff"));
    let new = NewGrant::project(grant("bash", "x"), odd, SessionId::new());
    assert!(matches!(Grants::add(&directories, &[new]), Err(ConfigError::UnwritableWorkspace { .. })));
    let empty = NewGrant::everywhere(grant("bash", ""), SessionId::new());
    assert!(matches!(Grants::add(&directories, &[empty]), Err(ConfigError::Invalid(_))));
    let long = NewGrant::everywhere(grant("bash", &"x".repeat(1_000_000)), SessionId::new());
    assert!(matches!(Grants::add(&directories, &[long]), Err(ConfigError::TooLarge { .. })));
    assert!(!directories.grants_file().exists());

    let blocked = Fixture::new().write("home", "a file in the way");
    let new = NewGrant::everywhere(grant("bash", "x"), SessionId::new());
    assert!(matches!(Grants::add(&blocked.directories(), &[new]), Err(ConfigError::Write { .. })));
}
