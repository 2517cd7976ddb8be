//! What one command leaves behind for the next.

use rein_protocol::{CallStatus, Effect};
use serde_json::json;

use crate::Stage;

async fn run(stage: &Stage, command: &str) -> String {
    stage.call("bash", json!({"command": command})).await.text
}

#[tokio::test]
async fn the_directory_exported_variables_and_functions_stay() {
    let stage = Stage::with(&[("sub/a.txt", "")]);
    assert_eq!(run(&stage, "cd sub; export GREETING=\"it's\nme\"; LOCAL=1; greet() { echo \"$GREETING $1\"; }; shopt -s nullglob; alias x=y").await, "[no output]");
    assert_eq!(
        run(&stage, "pwd; ls; greet you; echo ${LOCAL-unset}; shopt -q nullglob || echo off").await,
        format!("{}\na.txt\nit's\nme you\nunset\noff\n", stage.at("sub").display())
    );
    run(&stage, "unset GREETING; unset -f greet; cd ..").await;
    assert_eq!(
        run(&stage, "pwd; echo ${GREETING-unset}; greet 2>&1").await,
        format!("{}\nunset\nbash: line 1: greet: command not found\n[exit code 127]", stage.root.display())
            .replace("bash:", &format!("{}:", stage.scene.shell.display()))
    );
}

#[tokio::test]
async fn nothing_of_it_shows_and_exit_codes_are_those_of_the_command() {
    let stage = Stage::new();
    let shell = stage.scene.shell.display().to_string();
    assert_eq!(run(&stage, "set -x; true").await, "++ true\n");
    assert_eq!(run(&stage, "set -eu; export A=1; false; echo not reached").await, "[exit code 1; no output]");
    assert_eq!(run(&stage, "echo $A").await, "1\n");
    assert_eq!(run(&stage, "export A=2; exit 3").await, "[exit code 3; no output]");
    assert_eq!(run(&stage, "echo $A $# $0").await, format!("2 0 {shell}\n"));
    assert_eq!(run(&stage, "false; (exit 4)").await, "[exit code 4; no output]");
    assert_eq!(run(&stage, "set -C; set -f; IFS=x; export A=3").await, "[no output]");
    assert_eq!(
        run(&stage, "echo $A; nope").await,
        format!("3\n{shell}: line 1: nope: command not found\n[exit code 127]")
    );
    assert_eq!(
        run(&stage, "echo one\nnope").await,
        format!("one\n{shell}: line 2: nope: command not found\n[exit code 127]")
    );
    let text = run(&stage, "if").await;
    assert!(text.contains("syntax error") && text.contains("[exit code 2]"), "{text}");
    assert_eq!(run(&stage, "trap 'echo err' ERR; false").await, "err\n[exit code 1]");
    assert_eq!(run(&stage, "trap 'echo each' DEBUG; true; true").await, "each\neach\n");
    assert_eq!(run(&stage, "cat <<END\nheredoc\nEND").await, "heredoc\n");
    assert_eq!(
        run(&stage, "declare -F; env | grep -i rein_ | grep -v ^REIN_RUN").await,
        "declare -f __rein_end\ndeclare -f __rein_functions\ndeclare -f __rein_variables\n[exit code 1]"
    );
}

#[tokio::test]
async fn a_trap_of_the_command_still_runs() {
    let stage = Stage::new();
    assert_eq!(run(&stage, "trap 'echo bye $?' EXIT; export B=1; (exit 5)").await, "bye 5\n[exit code 5]");
    assert_eq!(run(&stage, "echo $B").await, "1\n");
    assert_eq!(
        run(&stage, "trap 'echo bye' EXIT; export B=2; exit 6").await,
        "bye\n[exit code 6]\n[the shell ended early: directory, variables and functions stay as before]"
    );
    assert_eq!(run(&stage, "echo $B").await, "1\n");
}

#[tokio::test]
async fn a_shell_that_is_lost_leaves_things_as_they_were() {
    let stage = Stage::new();
    run(&stage, "export KEPT=1").await;
    let note = "[the shell ended early: directory, variables and functions stay as before]";
    assert_eq!(run(&stage, "export KEPT=2; exec true").await, format!("[no output]\n{note}"));
    let text = run(&stage, "export KEPT=3; kill -KILL $$").await;
    assert!(text.ends_with(note), "{text}");
    let called = stage.call("bash", json!({"command": "export KEPT=4; sleep 1000", "timeout": 1})).await;
    assert_eq!(called.status, CallStatus::Failed);
    assert!(["1\n", "4\n"].contains(&run(&stage, "echo $KEPT").await.as_str()));
    assert_eq!(run(&stage, "mkdir gone; cd gone; rmdir ../gone").await, "[no output]");
    assert_eq!(
        run(&stage, "pwd").await,
        format!(
            "{}\n[{} is gone, so it ran in the workspace]",
            stage.root.display(),
            stage.at("gone").display()
        )
    );
    assert_eq!(run(&stage, "pwd").await, format!("{}\n", stage.root.display()));
}

#[tokio::test]
async fn what_is_carried_over_is_told_to_the_gate_and_nothing_else_is() {
    let stage = Stage::new();
    run(&stage, "inner() { echo \"inner $1\"; }; outer() { inner x; }; ls() { rm -rf /; }; export V='a b' PATH=/opt/x:$PATH; export MY_TOKEN=secret LD_PRELOAD=").await;
    let prelude =
        async |command: &str| match stage.intent("bash", json!({"command": command})).await.effects.remove(0)
        {
            Effect::Execute { prelude, .. } => prelude,
            other => panic!("{other:?}"),
        };
    let path = std::env::var("PATH").unwrap();
    let variables = prelude("true").await;
    let mut lines: Vec<&str> = variables.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [format!("export PATH='/opt/x:{path}'").as_str(), "export V='a b'"]);
    let told = prelude("outer").await;
    assert!(told.contains("outer () ") && told.contains("inner () ") && !told.contains("ls () "), "{told}");
    assert!(prelude("ls -l").await.contains("rm -rf /"));
    assert_eq!(run(&stage, "type -t ls; outer").await, "function\ninner x\n", "named, so it is there");
    assert_eq!(
        run(&stage, "x=s; type -t l$x; echo $PATH | cut -d: -f1; echo [$MY_TOKEN]").await,
        "file\n/opt/x\n[]\n"
    );
}

#[tokio::test]
async fn a_forged_state_is_data() {
    let stage = Stage::new();
    let forged = "f=$__rein_file; trap - EXIT; __rein_done=1; printf ' C/\\0A;touch pwned=1\\0B=$(touch pwned)\\0 Fx;touch pwned\\0x(){ :;}\\0 Fcommand_not_found_handle\\0x\\0 E\\0' >| $f.after";
    assert_eq!(run(&stage, forged).await, "[no output]");
    let intent = stage.intent("bash", json!({"command": "nope x touch"})).await;
    assert_eq!(
        intent.effects,
        [Effect::Execute {
            command: "nope x touch".into(),
            cwd: "/".into(),
            prelude: "export B='$(touch pwned)'\n".into()
        }]
    );
    run(&stage, &format!("cd {}; echo $B", stage.root.display())).await;
    assert!(!stage.at("pwned").exists());
}

#[tokio::test]
async fn a_plain_shell_keeps_the_directory_and_variables() {
    let mut stage = Stage::with(&[("sub/a", "")]);
    stage.scene.shell = "/bin/sh".into();
    assert_eq!(run(&stage, "cd sub; export C='1 2'; exit 7").await, "[exit code 7; no output]");
    assert_eq!(
        run(&stage, "pwd; echo $C; echo $0").await,
        format!("{}\n1 2\n/bin/sh\n", stage.at("sub").display())
    );
}

#[tokio::test]
async fn a_leading_directory_is_where_it_runs() {
    let stage = Stage::with(&[("sub/deep/a.txt", "")]);
    let intent = stage.intent("bash", json!({"command": "cd sub/deep && ls"})).await;
    assert_eq!(
        intent.effects,
        [Effect::Execute { command: "ls".into(), cwd: stage.at("sub/deep"), prelude: String::new() }]
    );
    assert_eq!(intent.display.title, "$ ls (in sub/deep)");
    assert_eq!(run(&stage, "cd sub/deep && ls").await, "a.txt\n");
    assert_eq!(
        run(&stage, "pwd; cd .. && pwd").await,
        format!("{}\n{}\n", stage.at("sub/deep").display(), stage.at("sub").display())
    );
}

#[tokio::test]
async fn a_link_is_followed_as_a_shell_does() {
    let stage = Stage::with(&[("real/deep/a", "")]);
    std::os::unix::fs::symlink("real/deep", stage.at("link")).unwrap();
    run(&stage, "cd link").await;
    let intent = stage.intent("bash", json!({"command": "cd .. && pwd"})).await;
    let Effect::Execute { cwd, .. } = &intent.effects[0] else { panic!("{intent:?}") };
    assert_eq!(*cwd, stage.root, "`..` of a link is where the link is");
    assert_eq!(run(&stage, "pwd").await, format!("{}\n", stage.at("link").display()));
    let intent = stage.intent("bash", json!({"command": "pwd"})).await;
    assert!(matches!(&intent.effects[0], Effect::Execute { cwd, .. } if *cwd == stage.at("real/deep")));
}

#[tokio::test]
async fn too_much_is_not_kept_and_that_is_said() {
    let stage = Stage::new();
    let text = run(&stage, "cd /; export BIG=$(head -c 70000 /dev/zero | tr '\\0' x)").await;
    assert!(text.contains("[variables and functions are kept as before this command:"), "{text}");
    assert_eq!(run(&stage, "pwd; echo ${#BIG}").await, "/\n0\n");
}

#[tokio::test]
async fn hints_are_given_once_of_a_kind() {
    let stage = Stage::with(&[("a.txt", "text\n")]);
    assert_eq!(run(&stage, "cat a.txt").await, "text\n[hint: read shows files with line numbers]");
    assert_eq!(run(&stage, "cat a.txt").await, "text\n");
    let text = run(&stage, "echo 'the input device is not a TTY' >&2; exit 1").await;
    assert!(text.contains("[exit code 1]\n[hint: nothing can be typed here:"), "{text}");
    assert_eq!(run(&stage, "cat; echo over").await, "over\n", "the input is empty");
}
