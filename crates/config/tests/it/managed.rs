//! The administrator's file: above everything, and never silently absent.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rein_config::{Flag, Source};
use rein_protocol::Mode;

use crate::Fixture;

#[test]
fn its_rules_are_a_layer_of_their_own_before_all_others() {
    let fixture = Fixture::new()
        .managed(
            "\n[permission]\ndeny = [\"bash:git push *\"]\nedit.\"/srv/*\" = \"ask\"\nread = \"allow\"\n",
        )
        .user("permission.edit = 'allow'");
    let loaded = fixture.load();
    let rules: Vec<String> = loaded
        .permission
        .iter()
        .flat_map(|layer| layer.rules.iter().map(move |rule| (layer.source, rule)))
        .map(|(source, rule)| {
            let origin = fixture.shorten(&rule.origin.to_string());
            format!("{source:?} {} {} {} {origin}", rule.permission, rule.pattern, rule.action.name())
        })
        .collect();
    assert_eq!(
        rules,
        [
            "Managed edit /srv/* ask /etc/managed.toml:4",
            "Managed read * allow /etc/managed.toml:5",
            "Managed bash git push * deny /etc/managed.toml:3",
            "Managed bash git push * deny /etc/managed.toml:3",
            "User edit * allow /home/config/config.toml:1",
        ]
    );
    assert_eq!(loaded.files[0], fixture.path("etc/managed.toml"));
}

#[test]
fn its_mode_caps_whoever_chooses_another() {
    let fixture = Fixture::new().managed("# ours\nmode = \"write\"\n").user("mode = 'free'");
    let loaded = fixture.load();
    assert_eq!(loaded.settings.mode, Mode::Write);
    assert_eq!(loaded.origins["mode"].source, Source::Managed);
    assert_eq!(
        fixture.warnings(),
        "/home/config/config.toml:1: `mode` is ignored: \"free\" allows more than the administrator does, which is \
         \"write\" (/etc/managed.toml:2)"
    );
    let limit = loaded.mode_limit.unwrap();
    assert_eq!(
        Mode::ALL.map(|mode| limit.applied_to(mode)),
        [Mode::Tight, Mode::Write, Mode::Write, Mode::Plan]
    );

    let flagged = Fixture::new().managed("mode = 'tight'").flag(Flag::new("--mode", ["mode"], "free"));
    assert_eq!((flagged.load().settings.mode, flagged.load().warnings.len()), (Mode::Tight, 1));
    let stricter = Fixture::new().managed("mode = 'free'").user("mode = 'plan'");
    assert_eq!((stricter.load().settings.mode, stricter.load().warnings.len()), (Mode::Plan, 0));
    let default = Fixture::new().managed("mode = 'plan'");
    assert_eq!((default.load().settings.mode, default.load().warnings.len()), (Mode::Plan, 0));
}

#[test]
fn it_can_set_nothing_else() {
    let fixture = Fixture::new().managed("model = 'a/b'\npermision.bash = 'deny'\n");
    assert_eq!(
        fixture.error(),
        "/etc/managed.toml:1:1: unknown key `model`; did you mean `mode`?\n\
         /etc/managed.toml:2:1: unknown key `permision`; did you mean `permission`?"
    );
}

#[test]
fn one_that_cannot_be_read_or_understood_is_an_error() {
    let broken = Fixture::new().managed("[permission]\nbash = \"deny\n");
    assert!(broken.error().starts_with("/etc/managed.toml:2:"), "{}", broken.error());
    let wrong = Fixture::new().managed("permission.deny = ['nonsense']");
    assert_eq!(
        wrong.error(),
        "/etc/managed.toml:1: `permission.deny` has `nonsense`, which cannot be taken: there is no colon in it"
    );
    let binary = Fixture::new().managed(b"\xff\xfe");
    assert!(binary.error().contains("is not UTF-8"), "{}", binary.error());
    let link = Fixture::new().managed("");
    fs::remove_file(link.path("etc/managed.toml")).unwrap();
    std::os::unix::fs::symlink("absent", link.path("etc/managed.toml")).unwrap();
    assert!(link.error().contains("symbolic link"), "{}", link.error());
    let directory = Fixture::new().write("etc/managed.toml/x", "");
    assert!(directory.error().contains("is a directory"), "{}", directory.error());
    let below = Fixture::new().write("etc", "");
    assert!(below.error().contains("cannot be read"), "{}", below.error());

    let closed = Fixture::new().managed("mode = 'tight'");
    let file = closed.path("etc/managed.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads it all the same.
    if fs::File::open(&file).is_err() {
        assert!(closed.error().contains("cannot be read"), "{}", closed.error());
    }
}
