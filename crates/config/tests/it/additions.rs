//! Rules that are added to a file: nothing else in it changes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use rein_config::{Action, ConfigError, RuleAdditions};

use crate::Fixture;

fn lists() -> RuleAdditions {
    RuleAdditions {
        allow: vec!["bash:git log *".to_owned(), "edit:docs/**".to_owned()],
        ask: vec!["bash:git push *".to_owned()],
        deny: vec!["read:**/\"x\"".to_owned()],
        ordered: Vec::new(),
    }
}

fn ordered() -> RuleAdditions {
    let rule = |permission: &str, pattern: &str, action| (permission.to_owned(), pattern.to_owned(), action);
    RuleAdditions {
        ordered: vec![
            rule("*", "*", Action::Allow),
            rule("bash", "git *", Action::Allow),
            rule("edit", "*", Action::Deny),
            rule("bash", "git push *", Action::Deny),
            rule("*", "*", Action::Ask),
        ],
        ..RuleAdditions::default()
    }
}

#[test]
fn a_new_file_holds_them_as_they_are_shown() {
    let fixture = Fixture::new();
    let file = fixture.directories().user_file();
    let both = RuleAdditions { ordered: ordered().ordered, ..lists() };
    let written = both.write(&file).unwrap();
    assert_eq!((written.added, written.backup), (9, None));
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, both.to_toml());
    assert_snapshot!(text, @r#"
    [permission]
    allow = [
        "bash:git log *",
        "edit:docs/**",
    ]
    ask = [
        "bash:git push *",
    ]
    deny = [
        "read:**/\"x\"",
    ]
    bash."git *" = "allow"
    edit."*" = "deny"
    bash."git push *" = "deny"
    "*"."*" = "ask"
    "#);
    let rules: Vec<String> = fixture
        .load()
        .permission
        .iter()
        .flat_map(|layer| {
            layer
                .rules
                .iter()
                .map(|rule| format!("{} {}:{}", rule.action.name(), rule.permission, rule.pattern))
        })
        .collect();
    assert_eq!(
        rules,
        [
            "allow bash:git log *",
            "allow edit:docs/**",
            "allow bash:git *",
            "deny edit:*",
            "deny bash:git push *",
            "ask *:*",
            "ask bash:git push *",
            "deny read:**/\"x\"",
            "deny read:**/\"x\"",
        ]
    );
}

#[test]
fn comments_order_and_what_is_there_are_kept() {
    let before = "# mine\nmode = \"tight\" # careful\n\n[permission] # rules\nallow = [\"bash:git log *\"] # few\nbash.\"*\" = 'ask'\n\n[store]\n# last\n";
    let fixture = Fixture::new().user(before);
    let file = fixture.directories().user_file();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let written = lists().write(&file).unwrap();
    assert_eq!(written.added, 3);
    assert_eq!(fs::read_to_string(written.backup.unwrap()).unwrap(), before);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert_snapshot!(fs::read_to_string(&file).unwrap(), @r#"
    # mine
    mode = "tight" # careful

    [permission] # rules
    allow = ["bash:git log *",
        "edit:docs/**",
    ] # few
    bash."*" = 'ask'
    ask = [
        "bash:git push *",
    ]
    deny = [
        'read:**/"x"',
    ]

    [store]
    # last
    "#);
    fixture.load();
    let again = lists().write(&file).unwrap();
    assert_eq!((again.added, again.backup), (0, None));
    let more = RuleAdditions { deny: vec!["edit:x".to_owned()], ..RuleAdditions::default() };
    assert!(more.write(&file).unwrap().backup.unwrap().ends_with("config.toml.bak1"));
}

#[test]
fn they_are_appended_to_a_file_without_rules() {
    let fixture = Fixture::new().user("mode = 'plan'");
    let file = fixture.directories().user_file();
    ordered().write(&file).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("mode = 'plan'\n\n[permission]\nbash.\"git *\" = \"allow\"\n"), "{text}");
    fixture.load();
}

#[test]
fn rules_whose_order_matters_are_not_mixed_with_others_and_a_wrong_file_is_left_alone() {
    for (before, is_order) in [
        ("[permission]\nedit = 'deny'\n", true),
        ("permission.bash.x = 'ask'\n", true),
        ("modle = 1\n", false),
        ("[permission]\nallow = 'x'\n", false),
    ] {
        let fixture = Fixture::new().user(before);
        let file = fixture.directories().user_file();
        let error = ordered().write(&file).unwrap_err();
        assert_eq!(matches!(error, ConfigError::OrderMatters { .. }), is_order, "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
    // Lists can be added to whatever is there.
    for before in [
        "permission = { edit = 'deny' }\n",
        "permission.bash.x = 'ask'\n",
        "[permission.bash]\nx = 'ask'\n[store]\n",
    ] {
        let fixture = Fixture::new().user(before);
        assert_eq!(lists().write(&fixture.directories().user_file()).unwrap().added, 4, "{before}");
        fixture.load();
    }
}
