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
