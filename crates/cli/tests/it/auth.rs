//! Keys and logins through the real binary, and that no key is ever seen where it does not belong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rein_testkit::{ModelServer, Project, Rein, Script, Turn};
use serde_json::json;

use crate::{rein, server};

const STORED: &str = "canary-stored-0123456789";
const VARIABLE: &str = "canary-variable-0123456789";
const SETTING: &str = "canary-setting-0123456789";
const PRINTED: &str = "canary-printed-0123456789";
const HEADER: &str = "canary-header-0123456789";
const KEPT: &str = "canary-kept-in-keyring-0123456789";
const CANARIES: [&str; 6] = [STORED, VARIABLE, SETTING, PRINTED, HEADER, KEPT];

/// A keyring that keeps everything in files beside it, and fails as it is told to.
const KEYRING: &str = r#"#!/bin/sh
mode=$(cat "$0.mode" 2>/dev/null)
case "$mode" in
    locked) echo "it is locked" >&2; exit 1;;
    hanging) exec sleep 60;;
    lossy) [ "$1" = store ] && cat > /dev/null; exit 0;;
esac
echo "$@" >> "$0.log"
for account; do :; done
case "$1" in
    store) cat > "$0.$account";;
    lookup) [ -f "$0.$account" ] || exit 1; cat "$0.$account";;
    clear) rm -f "$0.$account";;
esac
"#;

/// A project whose keyring is that one; the variables are those of a desktop.
fn with_keyring(project: Project) -> (Project, String) {
    let project = project.home_file("tools/secret-tool", KEYRING);
    let program = project.home().join("tools/secret-tool");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    (project, path)
}

fn on_a_desktop(project: &Project, path: &str) -> Rein {
    rein(project).env("PATH", path).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
}

#[test]
fn a_keyring_is_used_where_there_is_one_and_what_it_holds_is_in_no_file() {
    let server = server([Turn::text("hello")]);
    let settings = format!("[provider.kept]\nbase_url = \"{}\"\n", server.base_url());
    let (project, path) = with_keyring(Project::new().rein_file("config/config.toml", settings));
    let desktop = || on_a_desktop(&project, &path);
    let login = desktop().args(["auth", "login", "kept", "--key-from-stdin"]).stdin(KEPT).run();
    login.assert_success();
    assert_eq!(login.stdout, "stored for kept in the keyring of your desktop (secret-tool)\n");
    assert_eq!(holders(project.rein_home(), KEPT), Vec::<String>::new());
    let listed = desktop().args(["auth", "list"]).run();
    assert!(listed.stdout.starts_with("kept             key      in the keyring"), "{listed}");
    let status = desktop().args(["auth", "status", "kept"]).run();
    assert_eq!(status.stdout, "kept             pending   the key in your keyring (not fetched yet)\n");
    let run = desktop().args(["-p", "go", "--model", "kept/m"]).run();
    run.assert_success();
    assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {KEPT}").as_str()));
    // Elsewhere, without a desktop, one is told what to do.
    let elsewhere = rein(&project).args(["-p", "go", "--model", "kept/m"]).run();
    elsewhere.assert_code(1);
    assert!(elsewhere.stderr.contains("rein auth login kept --file"), "{elsewhere}");
    // What takes its place, and what is removed, is gone from the keyring too.
    let file = desktop().args(["auth", "login", "kept", "--key-from-stdin", "--file"]).stdin(KEPT).run();
    assert!(file.stdout.contains("credentials.toml (a file that only you can read"), "{file}");
    let entries = || {
        let names = fs::read_dir(project.home().join("tools")).unwrap();
        names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("kept-")).count()
    };
    assert_eq!(entries(), 0);
    desktop().args(["auth", "login", "kept", "--key-from-stdin"]).stdin(KEPT).run().assert_success();
    assert_eq!(entries(), 1);
    let logout = desktop().args(["auth", "logout", "kept"]).run();
    assert!(logout.stdout.ends_with(", 1 of which the keyring held\n"), "{logout}");
    assert_eq!(entries(), 0);
    let log = fs::read_to_string(project.home().join("tools/secret-tool.log")).unwrap();
    assert!(
        log.contains("store --label=rein: kept service rein account kept-") && !log.contains(KEPT),
        "{log}"
    );
}

#[test]
fn a_keyring_that_is_locked_or_loses_things_makes_room_for_a_file_and_that_is_said() {
    for (mode, reason) in [("locked", "it may be locked"), ("lossy", "what was put into it is not there")] {
        let (project, path) = with_keyring(Project::new().home_file("tools/secret-tool.mode", mode));
        let login = on_a_desktop(&project, &path)
            .args(["auth", "login", "groq", "--key-from-stdin"])
            .stdin(STORED)
            .run();
        login.assert_success();
        assert!(login.stderr.contains(reason) && login.stderr.contains("kept in a file instead"), "{login}");
        assert!(login.stdout.contains("credentials.toml (a file that only you can read"), "{login}");
        let status = on_a_desktop(&project, &path).args(["auth", "status", "groq"]).run();
        assert_eq!(status.stdout, "groq             used      the stored key (…6789)\n");
    }
}

#[test]
fn a_keyring_that_does_not_answer_is_waited_for_ten_seconds() {
    let (project, path) = with_keyring(Project::new().home_file("tools/secret-tool.mode", "hanging"));
    let login =
        on_a_desktop(&project, &path).args(["auth", "login", "groq", "--key-from-stdin"]).stdin(STORED).run();
    login.assert_success();
    assert!(login.stderr.contains("it did not answer within 10 s"), "{login}");
    assert!(login.stdout.contains("credentials.toml (a file that only you can read"), "{login}");
}

fn login(project: &Project, provider: &str, key: &str) {
    let output = rein(project).args(["auth", "login", provider, "--key-from-stdin"]).stdin(key).run();
    output.assert_success();
    assert!(output.stdout.contains("credentials.toml (a file that only you can read"), "{output}");
    assert!(!output.stdout.contains(key.trim()) && !output.stderr.contains(key.trim()), "{output}");
}

/// The files below a directory that hold a text.
fn holders(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holders(&path, text));
        } else if fs::read(&path)
            .unwrap_or_default()
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn a_key_is_stored_listed_used_and_removed() {
    let project = Project::new();
    login(&project, "groq", &format!("{STORED}\n"));
    let file = project.rein_home().join("data/credentials.toml");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = rein(&project).args(["auth", "list"]).run();
    assert!(listed.stdout.starts_with("groq             key      …6789"), "{listed}");
    let status = rein(&project).args(["auth", "status", "groq"]).run();
    assert_eq!(status.stdout, "groq             used      the stored key (…6789)\n");
    let both = rein(&project).args(["auth", "status", "--json"]).env("GROQ_API_KEY", VARIABLE).run();
    let shown: serde_json::Value = serde_json::from_str(&both.stdout).unwrap();
    assert_eq!(
        shown[0]["keys"],
        json!([
            {"source": "variable", "variable": "GROQ_API_KEY", "masked": "…6789", "state": "used"},
            {"source": "stored", "variable": null, "masked": "…6789", "state": "spare"},
        ])
    );
    rein(&project).args(["auth", "logout", "groq"]).run().assert_success();
    assert!(!fs::read_to_string(&file).unwrap().contains(STORED));
    let none = rein(&project).args(["auth", "status", "groq"]).run();
    assert!(none.stdout.contains("no key: export GROQ_API_KEY=… or run `rein auth login groq`"), "{none}");
}

#[test]
fn wrong_words_are_usage_errors_that_name_the_right_ones() {
    let project = Project::new();
    let typo = rein(&project).args(["auth", "login", "opnai", "--key-from-stdin"]).stdin("x").run();
    typo.assert_code(2);
    assert_eq!(typo.stderr.lines().next(), Some("error: there is no provider `opnai`"));
    assert!(typo.stderr.contains("did you mean openai"), "{typo}");
    for arguments in [
        &["auth", "login"][..],
        &["auth", "login", "openai"],
        &["auth", "login", "openai", "--key-from-stdin"],
        &["auth", "login", "openai", "--browser"],
        &["auth", "logout"],
        &["auth", "status", "nobody-at-all"],
    ] {
        rein(&project).args(arguments).run().assert_code(2);
    }
    assert!(!project.rein_home().join("data/credentials.toml").exists());
}

#[test]
fn a_file_that_others_can_read_is_not_used_and_a_run_goes_on_without_it() {
    let project = Project::new();
    login(&project, "groq", STORED);
    let file = project.rein_home().join("data/credentials.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let status = rein(&project).args(["auth", "status"]).run();
    status.assert_code(1);
    assert!(status.stderr.contains("chmod 600"), "{status}");
    let server = server([Turn::text("hello")]);
    let run = crate::asking(&project, &server).args(["-p", "go"]).run();
    run.assert_success();
    assert!(run.stderr.contains("chmod 600"), "{run}");
}

#[test]
fn a_check_asks_the_provider_and_says_what_it_said() {
    let (project, server) = (Project::new(), server([]));
    let output = rein(&project)
        .args(["auth", "status", "openai", "--check"])
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_API_KEY", VARIABLE)
        .run();
    output.assert_success();
    assert!(output.stdout.contains("accepted  it lists "), "{output}");
    let gone = rein(&project)
        .args(["auth", "status", "openai", "--check"])
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .env("OPENAI_API_KEY", VARIABLE)
        .run();
    gone.assert_code(1);
    assert!(gone.stdout.contains("failed    127.0.0.1:1 refused the connection"), "{gone}");
}

/// Every way for a key to come in, a session with a failing request and a command that prints its environment,
/// and then a look everywhere.
#[test]
fn no_key_is_seen_in_the_store_the_output_the_conversation_or_a_child() {
    for (provider, key) in [
        ("stored", STORED),
        ("variable", VARIABLE),
        ("setting", SETTING),
        ("printed", PRINTED),
        ("kept", KEPT),
    ] {
        let echo = json!({"error": {"message": format!("bad key {key} and {HEADER}")}}).to_string();
        let server = server([
            Turn::call("bash", json!({"command": "env"})),
            Turn::text("done"),
            Turn::status(400, echo),
        ]);
        let address = |name: &str, more: &str| {
            format!(
                "[provider.{name}]\nbase_url = \"{}\"\nheaders = {{ x-extra = \"{HEADER}\" }}\n{more}\n",
                server.base_url()
            )
        };
        let settings = [
            address("stored", ""),
            address("variable", "key_env = \"PLAIN_NAME\""),
            address("setting", &format!("key = \"{SETTING}\"")),
            address("kept", ""),
            address("printed", "key = \"!cat $HOME/secret-file; echo noise >&2\""),
        ]
        .concat();
        let project =
            Project::new().rein_file("config/config.toml", settings).home_file("secret-file", PRINTED);
        login(&project, "stored", STORED);
        let (project, path) = with_keyring(project);
        let kept = on_a_desktop(&project, &path)
            .args(["auth", "login", "kept", "--key-from-stdin"])
            .stdin(KEPT)
            .run();
        assert!(kept.stdout.contains("the keyring of your desktop"), "{kept}");
        let run = |words: &str| {
            on_a_desktop(&project, &path)
                .args(["-p", words, "--mode", "free", "--output", "stream-json", "--model"])
                .arg(format!("{provider}/m"))
                .env("PLAIN_NAME", VARIABLE)
                .env("COPY_OF_STORED", STORED)
                .env("COPY_OF_SETTING", SETTING)
                .env("COPY_OF_PRINTED", PRINTED)
                .env("COPY_OF_HEADER", HEADER)
                .env("COPY_OF_KEPT", KEPT)
                .run()
        };
        let good = run("go");
        good.assert_success();
        let bad = run("fail");
        bad.assert_code(1);
        assert!(bad.stdout.contains("bad key ***") || bad.stderr.contains("bad key ***"), "{bad}");
        let requests = server.requests();
        assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {key}").as_str()), "{provider}");
        let result = &requests[1].tool_results()[0].1;
        assert!(result.contains("PATH="), "{result}");
        for canary in CANARIES {
            // A command has run, and a keyring was asked, only if its provider was: before, nobody knows what it is.
            let known = match canary {
                PRINTED => provider == "printed",
                KEPT => provider == "kept",
                _ => true,
            };
            let place = format!("{canary} of {provider}");
            assert!(!known || !result.contains(canary), "{place} in a child's environment");
            for output in [&good, &bad] {
                assert!(!known || !output.stdout.contains(canary), "{place} in standard output");
                assert!(!output.stderr.contains(canary), "{place} in standard error");
            }
            let allowed: &[&str] = match canary {
                STORED => &["credentials.toml"],
                SETTING | HEADER => &["config.toml"],
                _ => &[],
            };
            let found = holders(project.rein_home(), canary);
            assert!(
                !known || found.iter().all(|name| allowed.contains(&name.as_str())),
                "{place} in {found:?}"
            );
        }
    }
}

#[test]
fn a_key_that_runs_out_within_a_turn_makes_room_for_the_next_and_that_is_told() {
    let quota =
        json!({"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}});
    let server = ModelServer::start_blocking(Script::reply_with(move |request| {
        match (request.header("authorization"), request.tool_results().is_empty()) {
            (Some("Bearer first-key"), true) => Turn::call("bash", json!({"command": "echo hi"})),
            (Some("Bearer first-key"), false) => Turn::text("half an answer").data(&quota),
            _ => Turn::text("the whole answer"),
        }
    }));
    let settings =
        format!("[provider.two]\nbase_url = \"{}\"\nkey_env = [\"FIRST\", \"SECOND\"]\n", server.base_url());
    let project = Project::new().rein_file("config/config.toml", settings);
    let run = rein(&project)
        .args(["-p", "go", "--mode", "free", "--output", "stream-json", "--model", "two/m"])
        .env("FIRST", "first-key")
        .env("SECOND", "second-key")
        .run();
    run.assert_success();
    let keys: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.header("authorization").unwrap_or_default().to_owned())
        .collect();
    assert_eq!(keys, ["Bearer first-key", "Bearer first-key", "Bearer second-key"]);
    assert!(run.stdout.contains("the whole answer") && run.stdout.contains("the next key is used"), "{run}");
}
