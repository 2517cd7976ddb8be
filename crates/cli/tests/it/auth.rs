//! Keys and logins through the real binary, and that no key is ever seen where it does not belong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rein_testkit::{Project, Turn};
use serde_json::json;

use crate::{rein, server};

const STORED: &str = "canary-stored-0123456789";
const VARIABLE: &str = "canary-variable-0123456789";
const SETTING: &str = "canary-setting-0123456789";
const PRINTED: &str = "canary-printed-0123456789";
const HEADER: &str = "canary-header-0123456789";
const CANARIES: [&str; 5] = [STORED, VARIABLE, SETTING, PRINTED, HEADER];

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
    for (provider, key) in
        [("stored", STORED), ("variable", VARIABLE), ("setting", SETTING), ("printed", PRINTED)]
    {
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
            address("printed", "key = \"!cat $HOME/secret-file; echo noise >&2\""),
        ]
        .concat();
        let project =
            Project::new().rein_file("config/config.toml", settings).home_file("secret-file", PRINTED);
        login(&project, "stored", STORED);
        let run = |words: &str| {
            rein(&project)
                .args(["-p", words, "--mode", "free", "--output", "stream-json", "--model"])
                .arg(format!("{provider}/m"))
                .env("PLAIN_NAME", VARIABLE)
                .env("COPY_OF_STORED", STORED)
                .env("COPY_OF_SETTING", SETTING)
                .env("COPY_OF_PRINTED", PRINTED)
                .env("COPY_OF_HEADER", HEADER)
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
            // A command has run only if its provider was asked: before, nobody knows what it prints.
            let known = canary != PRINTED || provider == "printed";
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
