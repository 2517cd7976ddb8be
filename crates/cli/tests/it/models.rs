//! `rein models`: what there is, what can be used, and newer tables.

use rein_testkit::{Project, Rein, Turn};
use serde_json::Value;

use crate::{rein, server};

fn listing(run: Rein) -> Vec<Value> {
    let output = run.run();
    output.assert_success();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

#[test]
fn the_list_says_what_can_be_used_and_what_is_missing() {
    let project = Project::new();
    let output = rein(&project).env("GROQ_API_KEY", "gsk-secret").args(["models", "gpt-oss-120b"]).run();
    output.assert_success();
    assert!(output.stdout.contains("Groq: usable\ngroq/openai/gpt-oss-120b "), "{output}");
    assert!(output.stdout.contains("Together AI: no key: TOGETHER_API_KEY is not set\n"), "{output}");
    assert!(!output.stdout.contains("claude") && !output.stdout.contains('\u{1b}'), "{output}");
    assert!(!output.stdout.contains("gsk-secret"), "{output}");
    let groq = output.stdout.find("Groq:").unwrap();
    assert!(groq < output.stdout.find("Together AI:").unwrap(), "what can be used comes first: {output}");
    for line in output.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn names_are_found_letter_by_letter_and_what_is_not_found_is_said() {
    let project = Project::new();
    let found = listing(rein(&project).args(["models", "--json", "opnai/g5nan"]));
    assert!(found.iter().any(|row| row["model"] == "openai/gpt-5-nano"), "{found:?}");
    let output = rein(&project).args(["models", "no-such-model-anywhere"]).run();
    output.assert_code(1);
    assert!(output.stderr.contains("`no-such-model-anywhere`"), "{output}");
    assert_eq!(
        listing(rein(&project).args(["models", "--json", "no-such-model-anywhere"])),
        Vec::<Value>::new()
    );
}

#[test]
fn machines_are_told_everything() {
    let project = Project::new().rein_file(
        "config/config.toml",
        "[provider.mine]\nbase_url = \"http://127.0.0.1:9/v1\"\n[provider.mine.models.own]\ncontext = 5\nimages = true\n",
    );
    let all = listing(rein(&project).args(["models", "--json"]));
    assert!(all.len() >= 150);
    let own = all.iter().find(|row| row["model"] == "mine/own").unwrap();
    assert_eq!((&own["context"], &own["images"], &own["usable"]), (&5.into(), &true.into(), &true.into()));
    let unusable = all.iter().find(|row| row["model"] == "deepseek/deepseek-v4-flash").unwrap();
    assert_eq!(unusable["reason"], "no key: DEEPSEEK_API_KEY is not set");
    assert_eq!((&unusable["family"], &unusable["edit"]), (&"deepseek".into(), &"replace".into()));
    let usable = listing(rein(&project).args(["models", "--json", "--usable"]));
    assert!(
        usable.iter().all(|row| row["usable"] == true) && usable.iter().any(|row| row["provider"] == "mine")
    );
}

const TABLE: &str =
    "date = \"2099-01-01\"\n[[models]]\nprovider = \"groq\"\nid = \"fresh\"\ncontext = 4242\n";

#[test]
fn a_newer_table_holds_from_then_on_and_a_bad_one_changes_nothing() {
    let project =
        Project::new().file("table.toml", TABLE).file("bad.toml", TABLE.replace("4242", "\"many\""));
    let fresh = || listing(rein(&project).args(["models", "--json", "groq/fresh"]));
    let output = rein(&project).args(["models", "refresh", "table.toml"]).run();
    output.assert_success();
    assert!(output.stdout.starts_with("1 models of 1 providers, as of 2099-01-01\n"), "{output}");
    assert_eq!(fresh()[0]["context"], 4242);
    let bad = rein(&project).args(["models", "refresh", "bad.toml"]).run();
    bad.assert_code(2);
    assert!(bad.stderr.contains("line 5, column 11") && bad.stderr.contains("nothing was changed"), "{bad}");
    assert_eq!(fresh()[0]["context"], 4242);
    rein(&project).args(["models", "refresh", "nowhere.toml"]).run().assert_code(2);
    // A stored table that was damaged is no reason not to work.
    std::fs::write(project.rein_home().join("data/models.toml"), "date = ").unwrap();
    let warned = rein(&project).args(["models", "groq"]).run();
    warned.assert_success();
    assert!(warned.stderr.contains("models.toml is ignored"), "{warned}");
}

#[test]
fn a_table_can_be_fetched() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/table?token=hunter2", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut seen = [0; 4096];
        let _ = std::io::Read::read(&mut stream, &mut seen).unwrap();
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{TABLE}", TABLE.len());
        std::io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
    });
    let project = Project::new();
    let output = rein(&project).args(["models", "refresh", &address]).run();
    output.assert_success();
    server.join().unwrap();
    let stored = std::fs::read_to_string(project.rein_home().join("data/models.toml")).unwrap();
    assert!(stored.contains("4242") && !stored.contains("hunter2"), "{stored}");
}

#[test]
fn a_role_that_does_not_exist_is_a_wrong_setting() {
    let project = Project::new().rein_file("config/config.toml", "[roles.smal]\nmodel = \"openai/gpt-5\"\n");
    let output = rein(&project).args(["models"]).run();
    output.assert_code(2);
    assert!(output.stderr.contains("roles.smal") && output.stderr.contains("small"), "{output}");
}

#[test]
fn when_a_model_has_no_quota_left_the_next_one_answers_and_that_is_told() {
    let empty = server([Turn::error(402, "Insufficient Balance")]);
    let good = server([Turn::text("from the second")]);
    let settings = format!(
        "model = \"one/m\"\n[roles.default]\nfallback = [\"one/other\", \"two/m\"]\n\
         [provider.one]\nbase_url = \"{}\"\n[provider.two]\nbase_url = \"{}\"\n",
        empty.base_url(),
        good.base_url()
    );
    let project = Project::new().rein_file("config/config.toml", &settings);
    let output = rein(&project).args(["-p", "hello"]).run();
    output.assert_success();
    assert_eq!(output.stdout, "from the second\n", "{output}");
    assert!(
        output.stderr.contains("going on with two/m: one/m cannot answer (Insufficient Balance)"),
        "{output}"
    );
    assert_eq!((empty.requests().len(), good.requests().len()), (1, 1));
    assert_eq!(good.requests()[0].model(), "m");
    good.assert_done();
}

#[test]
fn the_effort_of_the_default_role_is_asked_for() {
    let server = server([Turn::text("done")]);
    let settings = format!(
        "[roles.default]\nmodel = \"groq/openai/gpt-oss-120b:high\"\n[provider.groq]\nbase_url = \"{}\"\nkey = \"k\"\n",
        server.base_url()
    );
    let project = Project::new().rein_file("config/config.toml", &settings);
    rein(&project).args(["-p", "hello"]).run().assert_success();
    let requests = server.requests();
    assert_eq!(
        (requests[0].model(), requests[0].contains("\"reasoning_effort\":\"high\"")),
        ("openai/gpt-oss-120b", true)
    );
}

#[test]
fn a_wrong_key_is_told_and_not_passed_on() {
    let locked = server([Turn::error(401, "Incorrect API key provided")]);
    let good = server([]);
    let settings = format!(
        "model = \"one/m\"\n[roles.default]\nfallback = [\"two/m\"]\n\
         [provider.one]\nbase_url = \"{}\"\n[provider.two]\nbase_url = \"{}\"\n",
        locked.base_url(),
        good.base_url()
    );
    let project = Project::new().rein_file("config/config.toml", &settings);
    let output = rein(&project).args(["-p", "hello"]).run();
    assert!(output.stderr.contains("Incorrect API key provided"), "{output}");
    assert!(output.stdout.is_empty() && good.requests().is_empty(), "{output}");
}
