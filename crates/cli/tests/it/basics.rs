//! What needs neither a model nor settings.

use rein_testkit::Project;

use crate::rein;

#[test]
fn the_version_is_one_line() {
    let output = rein(&Project::new()).arg("--version").run();
    output.assert_success();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("rein 0.1.0\n", ""));
}

#[test]
fn help_and_version_need_no_home_and_read_no_settings() {
    let project = Project::new().rein_file("config/config.toml", "this is [not toml");
    for argument in ["--version", "--help", "-h", "help"] {
        rein(&project).env_remove("HOME").arg(argument).run().assert_success();
        rein(&project).env_remove("HOME").env_remove("REIN_HOME").arg(argument).run().assert_success();
    }
}

#[test]
fn the_help_lists_the_exit_codes() {
    let help = rein(&Project::new()).arg("--help").run().stdout;
    for line in ["  0    the model finished", "  3    a call was refused", "  130  interrupted (SIGINT)"] {
        assert!(help.contains(line), "{line} is not in\n{help}");
    }
}

#[test]
fn without_arguments_it_says_what_works() {
    let output = rein(&Project::new()).run();
    output.assert_code(2);
    assert_eq!(output.stdout, "");
    for words in ["there is no terminal to talk at", "rein -p", "rein demo"] {
        assert!(output.stderr.contains(words), "{output}");
    }
}

#[test]
fn a_mistyped_command_is_told_the_right_one() {
    let output = rein(&Project::new()).args(["sesions", "list"]).run();
    output.assert_code(2);
    assert_eq!(output.stderr, "error: there is no command `sesions`\nhint: did you mean `rein sessions`?\n");
}

#[test]
fn wrong_arguments_are_a_usage_error_and_standard_output_stays_empty() {
    for arguments in [
        &["-p", "x", "--mode", "loose"][..],
        &["-p", "x", "--output", "xml"],
        &["-p", "x", "--resume", "a", "--continue"],
        &["-p", "x", "--no-such-option"],
        &["-p", "x", "--max-steps", "many"],
        &["-p", "x", "--allow", "edti:src/*"],
        &["-p", "x", "--config", "mode"],
        &["-p", "x", "--config", "mod=plan"],
        &["-p", "x", "-C", "no-such-directory"],
        &["-p"],
        &["-p", "  "],
        &["sessions", "show"],
        &["--mode", "free", "demo"],
    ] {
        let output = rein(&Project::new()).args(arguments).run();
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{arguments:?}: {output}");
        assert!(output.stderr.starts_with("error: "), "{arguments:?}: {output}");
    }
}
