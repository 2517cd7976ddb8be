//! `rein doctor`, and what the command line says of itself to shells and manuals.

use rein_testkit::Project;

use crate::{rein, server};

#[test]
fn doctor_says_what_works() {
    let project = Project::new();
    let server = server([]);
    let output = rein(&project).server(&server).args(["doctor"]).run();
    let told = &output.stdout;
    assert!(told.contains("ok     settings: none written"), "{output}");
    assert!(told.contains("ok     credentials: OpenAI has a key from $OPENAI_API_KEY"), "{output}");
    assert!(told.contains("models: OpenAI"), "{output}");
    assert!(told.contains("ok     store: sessions are kept in"), "{output}");
    assert!(told.contains("ok     shell: "), "{output}");
    assert!(!told.contains("test-key"), "no key is shown: {output}");
}

#[test]
fn doctor_says_what_to_do_without_a_model_and_with_wrong_settings() {
    let project = Project::new();
    let output = rein(&project).args(["doctor"]).run();
    output.assert_code(1);
    assert!(output.stdout.contains("wrong  model: "), "{output}");
    assert!(output.stdout.contains("rein auth login PROVIDER"), "{output}");

    let wrong = Project::new().rein_file("config/config.toml", "mod = \"plan\"\n");
    let output = rein(&wrong).args(["doctor"]).run();
    output.assert_code(1);
    assert!(
        output.stdout.contains("wrong  settings: ") && output.stdout.contains("config.toml:1"),
        "{output}"
    );
    assert!(output.stdout.contains("ok     shell: "), "the rest is looked at all the same: {output}");
}

#[test]
fn doctor_names_the_place_of_keys_and_themes_that_make_no_sense() {
    for (text, told) in [
        (
            "[keys]\nundoo = [\"f2\"]\n",
            "config.toml:2: keys: `undoo` is not an action; the nearest is `undo`",
        ),
        (
            "[keys]\nredraw = [\"f2\"]\nundo = [\"f2\"]\n",
            "config.toml:3: keys: undo: `f2` is given to `redraw` too",
        ),
        ("theme = \"pink\"\n", "config.toml:1: theme `pink`: "),
    ] {
        let project = Project::new().rein_file("config/config.toml", text);
        let output = rein(&project).args(["doctor"]).run();
        output.assert_code(1);
        assert!(output.stdout.contains(told), "{told}: {output}");
    }
    let own = Project::new()
        .rein_file("config/config.toml", "theme = \"pink\"\n")
        .rein_file("config/themes/pink.toml", "accnt = \"#ff00ff\"\n");
    let output = rein(&own).args(["doctor"]).run();
    assert!(output.stdout.contains("pink.toml: line 1: there is no `accnt`"), "{output}");
}

#[test]
fn shells_and_the_manual_know_every_command() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = rein(&project).args(["completions", shell]).run();
        output.assert_success();
        for word in ["doctor", "completions", "max-steps"] {
            assert!(output.stdout.contains(word), "{shell} does not know {word}");
        }
    }
    rein(&project).args(["completions", "tcsh"]).run().assert_code(2);
    let manual = rein(&project).args(["man"]).run();
    manual.assert_success();
    assert!(manual.stdout.starts_with(".TH REIN 1"), "{manual}");
}
