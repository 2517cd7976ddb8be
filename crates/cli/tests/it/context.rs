//! `rein prompt` and `rein context`.

use rein_testkit::Project;

use crate::rein;

#[test]
fn the_prompt_is_shown_as_it_is_sent_and_can_be_replaced_and_added_to() {
    let project =
        Project::new().git().file("AGENTS.md", "Use tabs. See @notes.md.").file("notes.md", "NOTES");
    let own = rein(&project).args(["prompt", "show"]).run();
    own.assert_success();
    assert!(own.stdout.starts_with("You are rein"), "{own}");
    assert!(own.stdout.contains("Use tabs.") && own.stdout.contains("NOTES"), "{own}");
    let project = project
        .rein_file("config/SYSTEM.md", "You are somebody else.")
        .rein_file("config/APPEND_SYSTEM.md", "And kind.");
    let replaced = rein(&project).args(["prompt", "show"]).run();
    assert!(replaced.stdout.starts_with("You are somebody else.\n\nAnd kind.\n"), "{replaced}");
}

#[test]
fn every_part_that_is_sent_is_listed_with_its_tokens_and_why() {
    let project = Project::new().git().file("AGENTS.md", "Use tabs.").file("sub/x", "");
    let listed = rein(&project).args(["context", "show", "-C", "sub"]).run();
    listed.assert_success();
    for part in
        ["what rein tells every model", "AGENTS.md (the project's instructions)", "tools         read ("]
    {
        assert!(listed.stdout.contains(part), "{part}: {listed}");
    }
    let json = rein(&project).args(["context", "show", "--json"]).run();
    let parts: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let parts = parts.as_array().unwrap();
    let tokens = |section: &str| -> u64 {
        let found = parts.iter().filter(|part| part["section"] == section);
        found.map(|part| part["tokens"].as_u64().unwrap()).sum()
    };
    assert!(tokens("head") <= 2_000, "{}", tokens("head"));
    assert!(tokens("tools") > 500 && tokens("environment") > 10 && tokens("instructions") > 5);
}
