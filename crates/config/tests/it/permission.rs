//! Rules come out layer by layer, in the order they are written in.

use rein_config::{Action, Flag, Source};

use crate::Fixture;

/// Layer by layer: who, and permission, pattern, action, line of each rule.
fn rules(fixture: &Fixture) -> Vec<(Source, Vec<String>)> {
    let loaded = fixture.load();
    assert!(
        loaded
            .permission
            .iter()
            .all(|layer| layer.rules.iter().all(|rule| rule.origin.source == layer.source))
    );
    let text = |rule: &rein_config::PermissionRule| {
        let origin = fixture.shorten(&rule.origin.to_string());
        format!("{} {} {} {origin}", rule.permission, rule.pattern, rule.action.name())
    };
    loaded.permission.iter().map(|layer| (layer.source, layer.rules.iter().map(text).collect())).collect()
}

#[test]
fn the_order_of_the_file_is_kept_however_it_is_written() {
    let fixture = Fixture::new().user(
        r#"permission.webfetch = "ask"
[permission]
edit = "allow"
bash = { "z *" = "ask", "*" = "deny", "a *" = "allow" }
"*" = "deny"

[permission.read]
"*" = "allow"
"**/.env" = "deny"
"#,
    );
    // TOML forbids to open a table twice; a dotted key before the header does so.
    assert!(fixture.error().contains("duplicate key"), "{}", fixture.error());

    let fixture = Fixture::new().user(
        r#"[permission]
webfetch = "ask"
bash."z *" = "ask"
edit = "allow"
bash."*" = "deny"
bash."a *" = "allow"
"*" = "deny"

[permission.read]
"*" = "allow"
"**/.env" = "deny"

[permission.doom_loop]
"#,
    );
    assert_eq!(
        rules(&fixture),
        [(
            Source::User,
            [
                "webfetch * ask /home/config/config.toml:2",
                "bash z * ask /home/config/config.toml:3",
                "edit * allow /home/config/config.toml:4",
                "bash * deny /home/config/config.toml:5",
                "bash a * allow /home/config/config.toml:6",
                "* * deny /home/config/config.toml:7",
                "read * allow /home/config/config.toml:10",
                "read **/.env deny /home/config/config.toml:11",
            ]
            .map(str::to_owned)
            .to_vec()
        )]
    );
}

#[test]
fn layers_are_not_merged_and_a_project_cannot_allow() {
    let fixture = Fixture::new()
        .user("permission.bash = { 'git *' = 'allow' }")
        .project(
            "[permission]\nbash = { '*' = 'allow', 'git push *' = 'deny' }\nedit = 'ask'\nread = 'allow'",
        )
        .write("repo/deep/.rein/config.toml", "permission.webfetch = 'deny'")
        .start("repo/deep/er")
        .flag(Flag::new("--allow", ["permission", "bash", "make *"], "allow"))
        .flag(Flag::new("--deny", ["permission", "edit"], "deny"));
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        rules(&fixture),
        [
            (Source::User, texts(&["bash git * allow /home/config/config.toml:1"])),
            (
                Source::Project,
                texts(&[
                    "bash git push * deny /repo/.rein/config.toml:2",
                    "edit * ask /repo/.rein/config.toml:3",
                ])
            ),
            (Source::Project, texts(&["webfetch * deny /repo/deep/.rein/config.toml:1"])),
            (Source::Flag, texts(&["bash make * allow --allow", "edit * deny --deny"])),
        ]
    );
    let why = "is ignored: a project may ask or deny, but not allow; allow it in your own config.toml";
    assert_eq!(
        fixture.warnings(),
        format!(
            "/repo/.rein/config.toml:2: `permission.bash.\"*\"` {why}\n\
             /repo/.rein/config.toml:4: `permission.read` {why}"
        )
    );
}

#[test]
fn a_project_that_only_allows_says_nothing() {
    let fixture = Fixture::new().project("permission.bash = 'allow'");
    assert!(fixture.load().permission.is_empty());
    assert_eq!(fixture.load().warnings.len(), 1);
}

#[test]
fn actions_order_from_mild_to_strict() {
    assert!(Action::Allow < Action::Ask && Action::Ask < Action::Deny);
}

#[test]
fn lists_are_read_entry_by_entry_and_hold_whatever_the_tables_say() {
    let fixture = Fixture::new()
        .user(
            "[permission]\ndeny = [\n  'edit:x',\n]\nbash = 'ask'\nask = ['bash:b']\nallow = ['bash:a', # one\n 'read:c']\n",
        )
        .project("permission.allow = ['edit:p', 'edit:q']\npermission.deny = ['edit:r']")
        .assign("permission.allow=['edit:f']");
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let user = "/home/config/config.toml";
    assert_eq!(
        rules(&fixture),
        [
            (
                Source::User,
                vec![
                    format!("bash a allow {user}:7"),
                    format!("read c allow {user}:8"),
                    format!("bash * ask {user}:5"),
                ]
            ),
            (
                Source::User,
                vec![
                    format!("bash b ask {user}:6"),
                    format!("edit x deny {user}:3"),
                    format!("edit x deny {user}:3"),
                ]
            ),
            (
                Source::Project,
                texts(&["edit r deny /repo/.rein/config.toml:2", "edit r deny /repo/.rein/config.toml:2"])
            ),
            (Source::Flag, texts(&["edit f allow -c"])),
        ]
    );
    let why = "`permission.allow` is ignored: a project may ask or deny, but not allow; allow it in your own config.toml";
    assert_eq!(
        fixture.warnings(),
        format!("/repo/.rein/config.toml:1: {why}\n/repo/.rein/config.toml:1: {why}")
    );
}

#[test]
fn an_entry_that_is_not_understood_is_an_error_with_its_line() {
    let fixture =
        Fixture::new().user("[permission]\ndeny = [\n 'edit:x',\n 'what',\n 7,\n '',\n]\nask = 'bash'\n");
    assert_eq!(
        fixture.error(),
        "/home/config/config.toml:5:2: `permission.deny` must be a string, but it is an integer\n\
         /home/config/config.toml:6:2: `permission.deny` must not be empty\n\
         /home/config/config.toml:8:7: `permission.ask` must be a list of strings, but it is a string\n\
         /home/config/config.toml:4: `permission.deny` has `what`, which cannot be taken: there is no colon in it"
    );
}
