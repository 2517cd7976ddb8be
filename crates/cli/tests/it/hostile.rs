//! What a hostile repository, server, model or user can try, against the real binary.
//!
//! Each test stands for one attack or mishap. Processes that must be gone are known by a named pipe
//! that they hold open: its end is their end.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, pipe};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rein_testkit::{ModelServer, Project, Rein, Said, Signal, Turn};
use serde_json::json;

use crate::{rein, server};

const CANARY: &str = "hunter2-hunter2";
/// None of this takes longer, and a failure must not hold up the others.
const PATIENCE: Duration = Duration::from_secs(3);

fn asking(project: &Project, server: &ModelServer) -> Rein {
    crate::asking(project, server).watchdog(PATIENCE)
}

fn bash(command: &str) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

fn named_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success(), "mkfifo {}", path.display());
}

/// Sends once when somebody opened the pipe for writing, and once more when the last of them is gone.
fn watch(path: PathBuf) -> Receiver<&'static str> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut pipe = File::open(path).unwrap();
        // The test may have ended before.
        let _ = sender.send("opened");
        let _ = pipe.read_to_end(&mut Vec::new());
        let _ = sender.send("closed");
    });
    receiver
}

/// Whether any file below a directory holds these bytes.
fn holds(directory: &Path, text: &str) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn a_directory_whose_name_is_not_utf8_can_be_streamed_from() {
    let (project, server) = (Project::new(), server([Turn::text("hello")]));
    let directory = project.join(std::ffi::OsStr::from_bytes(b"n\xffm"));
    fs::create_dir(&directory).unwrap();
    let output =
        asking(&project, &server).args(["-p", "go", "--output", "stream-json"]).current_dir(&directory).run();
    output.assert_success();
    let lines = output.json_lines();
    assert_eq!((&lines[0]["type"], &lines[lines.len() - 1]["answer"]), (&json!("session"), &json!("hello")));
}

#[test]
fn token_counts_that_do_not_fit_are_no_crash() {
    let counts = json!({"choices": [], "usage": {"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX}});
    let project = Project::new().file("a", "1");
    let turns = [
        Turn::call("read", json!({"path": "a"})).no_usage().data(&counts),
        Turn::text("done").no_usage().data(&counts),
    ];
    let server = server(turns);
    let output = asking(&project, &server).args(["-p", "go", "--output", "json"]).run();
    output.assert_success();
    let object = &output.json_lines()[0];
    assert_eq!(object["answer"], "done");
    let session = object["session"].as_str().unwrap();
    rein(&project).args(["sessions", "show", session]).run().assert_success();
}

#[test]
fn going_on_with_a_session_does_not_widen_what_it_may() {
    let project = Project::new();
    let server = server([Turn::text("Begun."), bash("touch ran"), Turn::text("Done.")]);
    let begun = asking(&project, &server).args(["-p", "go", "--mode", "free", "--deny", "bash"]).run();
    begun.assert_success();
    asking(&project, &server).args(["-p", "on", "--continue"]).run().assert_code(3);
    assert!(!project.exists("ran"), "a command ran that had been denied, in a mode that was not asked for");
}

#[test]
fn a_mode_that_the_project_narrows_holds_for_old_sessions_too() {
    let project = Project::new();
    let server = server([Turn::text("Begun."), bash("touch ran"), Turn::text("Done.")]);
    asking(&project, &server).args(["-p", "go", "--mode", "free"]).run().assert_success();
    project.write(".rein/config.toml", "mode = \"plan\"\n");
    let output = asking(&project, &server).args(["-p", "on", "--continue"]).run();
    assert!(output.assert_success().stderr.contains("$ touch ran (withheld)"), "{output}");
    assert!(!project.exists("ran"));
}

#[test]
fn a_file_that_may_not_be_read_is_not_shown_by_a_search_either() {
    let project = Project::new().file(".env", format!("TOKEN={CANARY}\n")).file("other", "TOKEN=none\n");
    let server = server([
        Turn::call("grep", json!({"pattern": "TOKEN"})),
        Turn::call("grep", json!({"pattern": "TOKEN", "glob": ".env"})),
        Turn::text("done"),
    ]);
    asking(&project, &server).args(["-p", "go", "--mode", "free", "--deny", "read:.env"]).run();
    let requests = server.requests();
    assert!(!requests.iter().any(|request| request.contains(CANARY)), "the model was told a denied file");
    let results = requests.last().unwrap().tool_results();
    assert!(results[0].1.contains("TOKEN=none"), "{results:?}");
}

#[test]
fn the_settings_of_rein_are_not_read_to_the_model_although_they_lie_in_the_workspace() {
    let settings = format!("[provider.mine]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"{CANARY}\"\n");
    let project = Project::new().home_file(".config/rein/config.toml", settings);
    let server = server([
        Turn::call("read", json!({"path": ".config/rein/config.toml"})),
        Turn::call("grep", json!({"pattern": "key"})),
        Turn::text("done"),
    ]);
    asking(&project, &server).args(["-p", "go"]).env_remove("REIN_HOME").current_dir(project.home()).run();
    assert_eq!(server.requests().len(), 3);
    assert!(!server.requests().iter().any(|request| request.contains(CANARY)), "the model was told a key");
}

#[test]
fn an_address_with_a_secret_in_it_is_refused_before_anything_begins() {
    let (project, server) = (Project::new(), server([]));
    let address = server.base_url();
    for wrong in [
        address.replace("://", &format!("://user:{CANARY}@")),
        format!("{address}?key={CANARY}"),
        format!("user:{CANARY}@host"),
    ] {
        let output = asking(&project, &server)
            .args(["-p", "go", "--output", "json"])
            .env("OPENAI_BASE_URL", wrong)
            .run();
        output.assert_code(2);
        assert!(!output.stdout.contains(CANARY) && !output.stderr.contains(CANARY), "{output}");
        assert!(output.stderr.contains("OPENAI_BASE_URL"), "{output}");
    }
    assert_eq!(server.requests().len(), 0);
    assert!(!holds(project.rein_home(), CANARY));
}

#[test]
fn settings_are_shown_without_the_secrets_in_addresses() {
    let settings = format!("[provider.mine]\nbase_url = \"http://user:{CANARY}@host/v1?key={CANARY}\"\n");
    let project = Project::new().rein_file("config/config.toml", settings);
    for arguments in [&["config", "show"][..], &["config", "show", "--json"]] {
        let output = rein(&project).args(arguments).run();
        output.assert_success();
        assert!(output.stdout.contains("@host/v1?") && !output.stdout.contains(CANARY), "{output}");
    }
}

#[test]
fn a_key_that_settings_name_does_not_reach_commands_whatever_it_is_called() {
    let server = server([bash("env"), Turn::text("done")]);
    let settings = format!("[provider.mine]\nbase_url = \"{}\"\nkey_env = \"LLM\"\n", server.base_url());
    let project = Project::new().rein_file("config/config.toml", settings);
    let output = rein(&project)
        .args(["-p", "go", "--mode", "free", "--model", "mine/model"])
        .env("LLM", CANARY)
        .env("A_COPY", CANARY)
        .run();
    output.assert_success();
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    let results = requests[1].tool_results();
    assert!(!results[0].1.contains(CANARY), "{}", results[0].1);
}

#[test]
fn an_ignore_file_that_is_no_file_does_not_hold_up_a_search() {
    let project = Project::new().file("a", "needle\n");
    named_pipe(&project.join(".gitignore"));
    named_pipe(&project.join(".ignore"));
    let server = server([
        Turn::call("glob", json!({"pattern": "*"})),
        Turn::call("grep", json!({"pattern": "needle"})),
        Turn::text("done"),
    ]);
    let output = asking(&project, &server).args(["-p", "go"]).run();
    output.assert_success();
    assert!(server.requests()[2].tool_results()[1].1.contains("needle"));
}

#[test]
fn a_file_that_is_write_protected_is_left_as_it_is() {
    let project = Project::new().file("protected", "old\n");
    let path = project.join("protected");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    // For the superuser nothing is protected.
    let expected = if OpenOptions::new().append(true).open(&path).is_ok() { "new\n" } else { "old\n" };
    let server = server([
        Turn::call("read", json!({"path": "protected"})),
        Turn::call("edit", json!({"path": "protected", "old": "old", "new": "new"})),
        Turn::text("done"),
    ]);
    asking(&project, &server).args(["-p", "go", "--mode", "write"]).run().assert_success();
    assert_eq!(project.read("protected"), expected);
}

#[test]
fn a_second_signal_leaves_no_process_behind() {
    let project = Project::new();
    named_pipe(&project.join("alive"));
    let watched = watch(project.join("alive"));
    let server = server([bash("trap '' INT TERM; sleep 60 > alive & wait; wait")]);
    let mut running = asking(&project, &server).args(["-p", "go", "--mode", "free"]).spawn();
    assert_eq!(watched.recv_timeout(PATIENCE), Ok("opened"));
    running.kill(Signal::Interrupt);
    running.read_stderr_until("once more to quit at once");
    running.kill(Signal::Interrupt);
    running.wait().assert_code(130);
    assert_eq!(watched.recv_timeout(PATIENCE), Ok("closed"), "a process was left behind");
}

#[test]
fn the_demo_ends_quietly_when_nobody_reads_it() {
    let project = Project::new();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_rein"))
        .args(["demo", "--fast"])
        .current_dir(project.path())
        .env("HOME", project.home())
        .env("REIN_HOME", project.rein_home())
        .stdin(Stdio::null())
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn machine_formats_escape_what_a_terminal_would_obey() {
    let words = "a\u{9b}31mb\u{7f}c\u{85}d";
    for format in ["json", "stream-json"] {
        let (project, server) = (Project::new(), server([Turn::text(words)]));
        let output = asking(&project, &server).args(["-p", "go", "--output", format]).run();
        output.assert_success();
        assert_eq!(output.json_lines().last().unwrap()["answer"], words);
        let obeyed: Vec<char> =
            output.stdout.chars().filter(|one| one.is_control() && *one != '\n').collect();
        assert_eq!(obeyed, [], "{output}");
        let lines = output.json_lines();
        let session = lines.last().unwrap()["session"].as_str().unwrap();
        for arguments in [["show", session, "--json"], ["export", session, "--format=jsonl"]] {
            let output = rein(&project).arg("sessions").args(arguments).run();
            output.assert_success();
            assert!(output.stdout.contains("\\u009b31m"), "{output}");
            assert!(!output.stdout.chars().any(|one| one.is_control() && one != '\n'), "{output}");
        }
    }
}

#[test]
fn an_answer_that_goes_on_after_a_lost_connection_is_one_answer() {
    let project = Project::new();
    let server = server(
        [(); 2].iter().flat_map(|()| [Turn::text("It is par").no_finish().no_done(), Turn::text("tial.")]),
    );
    let asking = || asking(&project, &server).env("REIN_RETRY_BASE_DELAY_MS", "1");
    let told = asking().args(["-p", "go"]).run();
    told.assert_success();
    assert_eq!(told.stdout, "It is partial.\n");
    let object = asking().args(["-p", "go", "--output", "json"]).run();
    object.assert_success();
    assert_eq!(object.json_lines()[0]["answer"], "It is partial.");
    // Once more, from the store.
    let again = asking().args(["--continue", "--output", "json"]).run();
    again.assert_success();
    assert_eq!(again.json_lines()[0]["answer"], "It is partial.");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn an_attempt_that_was_lost_is_not_counted_against_the_cap_on_steps() {
    let lost = || Turn::text("lost").no_finish().no_done();
    let (project, server) = (Project::new(), server([lost(), lost(), Turn::text("done")]));
    let output = asking(&project, &server)
        .args(["-p", "go", "--max-steps", "1"])
        .env("REIN_RETRY_BASE_DELAY_MS", "1")
        .run();
    output.assert_success();
}

#[test]
fn a_tool_name_that_no_provider_accepts_is_not_sent_back_as_it_was() {
    let long = "x".repeat(200);
    for name in ["", "read it \u{1b}[31m", long.as_str()] {
        let (project, server) = (Project::new(), server([Turn::call(name, json!({})), Turn::text("done")]));
        asking(&project, &server).args(["-p", "go"]).run();
        let requests = server.requests();
        let Some(Said::Assistant { calls, .. }) =
            requests[1].said.iter().find(|said| matches!(said, Said::Assistant { .. }))
        else {
            panic!("no call in {:?}", requests[1].said);
        };
        let sent = &calls[0].tool;
        let fits = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == '-';
        assert!(
            (1..=64).contains(&sent.len()) && sent.chars().all(fits),
            "`{name:.20}` went back as `{sent:.80}`"
        );
    }
}

#[test]
fn a_character_that_is_split_over_two_events_arrives() {
    let half = |escape: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{escape}"}}}}]}}"#);
    let project = Project::new();
    let server = server([Turn::empty().garbage(half("\\ud83d")).garbage(half("\\ude00 hi"))]);
    let output = asking(&project, &server).args(["-p", "go"]).run();
    output.assert_success();
    assert!(output.stdout.ends_with(" hi\n"), "{output}");
}

#[test]
fn an_empty_answer_is_told_to_the_person_too() {
    let (project, server) = (Project::new(), server([Turn::empty()]));
    let output = asking(&project, &server).args(["-p", "go"]).run();
    assert!(output.stderr.contains("empty answer"), "{output}");
}

#[test]
fn three_questions_about_different_numbers_that_find_nothing_are_no_loop() {
    let project = Project::new().file("ports", "1\n");
    let server = server([
        bash("grep ':3000' ports"),
        bash("grep ':8080' ports"),
        bash("grep ':5432' ports"),
        Turn::text("None of them is used."),
    ]);
    let output = asking(&project, &server).args(["-p", "go", "--mode", "free"]).run();
    output.assert_success();
    assert_eq!(output.stdout, "None of them is used.\n");
}
