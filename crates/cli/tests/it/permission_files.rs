//! Rules in files: listed, explained, tested, imported, granted and revoked
//! through the real binary, and what was decided exported again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rein_config::{Directories, Environment, Grants, NewGrant};
use rein_protocol::{Grant, SessionId};
use rein_testkit::{Project, Turn};
use serde_json::{Value, json};

use crate::{asking, rein, server};

fn directories(project: &Project) -> Directories {
    let environment: Environment = [("REIN_HOME", project.rein_home())].into_iter().collect();
    Directories::find(&environment).unwrap()
}

fn user_file(project: &Project) -> PathBuf {
    project.rein_home().join("config/config.toml")
}

fn grant(permission: &str, pattern: &str) -> Grant {
    Grant { permission: permission.to_owned(), pattern: pattern.to_owned() }
}

fn here(project: &Project) -> PathBuf {
    project.path().canonicalize().unwrap()
}

/// What a run prints as one JSON value.
fn json_of(project: &Project, arguments: &[&str]) -> Value {
    let output = rein(project).args(arguments).run();
    output.assert_success();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn home_file(project: &Project, name: &str, text: &str) {
    let file = project.home().join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn is_private(file: &Path) -> bool {
    fs::metadata(file).unwrap().permissions().mode() & 0o777 == 0o600
}

#[test]
fn list_shows_every_rule_with_its_place_and_the_mode() {
    let project = Project::new()
        .rein_file(
            "config/config.toml",
            "mode = \"write\"\n[permission]\nallow = [\"edit:docs/**\"]\ndeny = [\"Read(./.env)\"]\nedit.\"x\" = \"ask\"\n",
        )
        .file(".rein/config.toml", "permission.webfetch = 'deny'\n");
    let session = SessionId::new();
    let kept = Grants::add(
        &directories(&project),
        &[
            NewGrant::project(grant("edit", "src/*"), here(&project), session.clone()),
            NewGrant::project(grant("edit", "other/*"), "/elsewhere", session),
        ],
    )
    .unwrap();
    let list = rein(&project).args(["permission", "list"]).run();
    list.assert_success();
    let (user, own) = (user_file(&project).display().to_string(), project.join(".rein/config.toml"));
    for line in [
        format!("mode write  ({user}:1)\n"),
        format!("  allow edit:docs/**  ({user}:3)\n  ask   edit:x  ({user}:5)\n"),
        format!("  deny  read:**/.env  ({user}:4)\n"),
        format!("  deny  webfetch:*  ({}:1)\n", own.canonicalize().unwrap().display()),
        format!("  {:<8} edit:src/*  (in {}, since ", kept[0].id, here(&project).display()),
    ] {
        assert!(list.stdout.contains(&line), "{line} is not in {list}");
    }
    assert!(!list.stdout.contains("other/*"), "{list}");
    let all = json_of(&project, &["permission", "list", "--all", "--json"]);
    assert_eq!(all["mode"]["value"], "write");
    assert_eq!(all["layers"].as_array().unwrap().len(), 3);
    let grants = all["grants"].as_array().unwrap();
    assert_eq!(
        grants.iter().map(|grant| (&grant["pattern"], &grant["holds_here"])).collect::<Vec<_>>(),
        [(&json!("src/*"), &json!(true)), (&json!("other/*"), &json!(false))]
    );
}

#[test]
fn a_grant_counts_until_it_is_revoked() {
    let write = || Turn::call("write", json!({"path": "src/new.txt", "content": "x"}));
    let project = Project::new();
    let new = NewGrant::project(grant("edit", "src/*"), here(&project), SessionId::new());
    let kept = Grants::add(&directories(&project), &[new]).unwrap();
    assert!(is_private(&directories(&project).grants_file()));
    let model = server([write(), Turn::text("Done.")]);
    asking(&project, &model).args(["-p", "write"]).run().assert_success();
    assert_eq!(project.read("src/new.txt"), "x");

    let revoked = rein(&project).args(["permission", "revoke", &kept[0].id]).run();
    revoked.assert_success();
    assert!(revoked.stdout.starts_with(&format!("revoked {}  edit:src/*  (in ", kept[0].id)), "{revoked}");
    fs::remove_file(project.join("src/new.txt")).unwrap();
    let model = server([write(), Turn::text("No.")]);
    asking(&project, &model).args(["-p", "write"]).run().assert_code(3);
    assert!(!project.exists("src/new.txt"));
    rein(&project).args(["permission", "revoke", &kept[0].id]).run().assert_code(2);
}

#[test]
fn a_grant_lifts_no_deny() {
    let project = Project::new().rein_file("config/config.toml", "permission.deny = ['edit:src/*']\n");
    Grants::add(&directories(&project), &[NewGrant::everywhere(grant("edit", "src/*"), SessionId::new())])
        .unwrap();
    let explained = json_of(&project, &["permission", "explain", "--edit", "src/a", "--json"]);
    assert_eq!(explained["action"], "deny");
    let actions: Vec<&Value> =
        explained["rules"].as_array().unwrap().iter().map(|rule| &rule["action"]).collect();
    assert_eq!(actions, ["deny", "allow"]);
}

#[test]
fn revoke_asks_which_one_is_meant() {
    let project = Project::new();
    let (one, other) = (
        NewGrant::everywhere(grant("edit", "src/*"), SessionId::new()),
        NewGrant::project(grant("edit", "src/*"), "/elsewhere", SessionId::new()),
    );
    Grants::add(&directories(&project), &[one.clone(), other]).unwrap();
    let output = rein(&project).args(["permission", "revoke", "src/*"]).run();
    output.assert_code(2);
    assert!(output.stderr.contains("2 times") && output.stderr.contains("--all"), "{output}");
    rein(&project).args(["permission", "revoke", "edit:src/*", "--all"]).run().assert_success();
    assert_eq!(Grants::load(&directories(&project)).unwrap().list(), []);
    Grants::add(&directories(&project), &[one]).unwrap();
    rein(&project).args(["permission", "revoke"]).run().assert_code(2);
    rein(&project).args(["permission", "revoke", "--all"]).run().assert_success();
    assert_eq!(Grants::load(&directories(&project)).unwrap().list(), []);
}

#[test]
fn corrupt_grants_and_rules_stop_everything_that_could_have_an_effect() {
    for (file, text, place) in [
        ("config/grants.toml", "[[grant]]\nid = 7\n", "grants.toml:2"),
        ("config/config.toml", "\n[permission]\ndeny = [\n  'Bash(a && b)',\n]\n", "config.toml:4"),
    ] {
        let project = Project::new().rein_file(file, text);
        let model = server([]);
        for arguments in
            [&["-p", "x", "--mode", "free"][..], &["permission", "explain", "ls"], &["permission", "list"]]
        {
            let output = rein(&project).server(&model).args(arguments).run();
            output.assert_code(2);
            assert!(output.stderr.contains(place), "{output}");
        }
        model.assert_done();
    }
    // What is wrong elsewhere does not keep anybody from taking something back.
    let project = Project::new().rein_file("config/config.toml", "nonsense = 1\n");
    Grants::add(&directories(&project), &[NewGrant::everywhere(grant("edit", "a"), SessionId::new())])
        .unwrap();
    rein(&project).args(["permission", "revoke", "a"]).run().assert_success();
}

#[test]
fn explain_says_what_would_happen_and_why() {
    let project = Project::new().rein_file(
        "config/config.toml",
        "[permission.edit]\n\"docs/*\" = \"allow\"\n\"docs/secret\" = \"deny\"\n",
    );
    let explain = |arguments: &[&str]| {
        let output = rein(&project).args(["permission", "explain"]).args(arguments).run();
        output.assert_success();
        output.stdout
    };
    let denied = explain(&["--edit", "docs/secret"]);
    assert!(denied.starts_with("deny: edit docs/secret\n  deny  edit docs/secret\n"), "{denied}");
    let file = user_file(&project).display().to_string();
    for rule in ["user allow edit:docs/*", "user deny edit:docs/secret"] {
        assert!(denied.contains(&format!("rule    {rule}  ({file}:")), "{rule} is not in {denied}");
    }
    assert!(denied.ends_with("mode    tight\n"), "{denied}");
    assert!(explain(&["--edit", "docs/a"]).starts_with("allow: edit docs/a\n"));
    assert!(explain(&["--edit", "src/a"]).contains("lifted by --allow 'edit:src/a', or by --mode write\n"));
    assert!(explain(&["--edit", "src/a"]).contains("always  edit:src/a\n"));
    assert!(explain(&["--edit", "src/a"]).contains("rule    none matches\n"));
    assert!(explain(&["--edit", "src/a", "--mode", "write"]).starts_with("allow: "));
    assert!(explain(&["--read", "src/a"]).starts_with("allow: read src/a\n"));
    assert!(explain(&["--fetch", "https://x.io/a"]).contains("always  webfetch:https://x.io/*\n"));
    assert!(explain(&["rm -rf x", "--mode", "plan"]).starts_with("deny: rm -rf x\n"));
    rein(&project).args(["permission", "explain"]).run().assert_code(2);
    rein(&project).args(["permission", "explain", "ls", "--read", "x"]).run().assert_code(2);
}

#[test]
fn explain_for_programs_has_every_part() {
    let project = Project::new().rein_file("config/config.toml", "permission.ask = ['Bash(git push:*)']\n");
    let explained =
        json_of(&project, &["permission", "explain", "git push origin", "--json", "--mode", "free"]);
    assert_eq!((&explained["action"], &explained["mode"]), (&json!("ask"), &json!("free")));
    assert_eq!(explained["subject"], "git push origin");
    let rule = &explained["rules"][0];
    assert_eq!((&rule["layer"], &rule["pattern"]), (&json!("user"), &json!("git push *")));
    assert_eq!(rule["origin"], format!("{}:1", user_file(&project).display()));
    let asking =
        explained["details"].as_array().unwrap().iter().find(|detail| detail["action"] == "ask").unwrap();
    assert_eq!((&asking["permission"], &asking["source"]["type"]), (&json!("bash"), &json!("rule")));
}

#[test]
fn a_path_is_explained_as_it_leads() {
    let project = Project::new().file("inside/x", "");
    std::os::unix::fs::symlink("/etc", project.join("link")).unwrap();
    let explained = json_of(&project, &["permission", "explain", "--read", "link/hosts", "--json"]);
    let resources: Vec<&Value> =
        explained["details"].as_array().unwrap().iter().map(|detail| &detail["resource"]).collect();
    assert_eq!(resources, ["/etc/hosts", "/etc/hosts"]);
    let explained = json_of(&project, &["permission", "explain", "--read", "inside/../inside/x", "--json"]);
    assert_eq!(explained["details"][0]["resource"], "inside/x");
}

#[test]
fn own_expectations_are_checked_in_both_forms() {
    let project = Project::new()
        .rein_file("config/config.toml", "permission.deny = ['edit:secret/**']\n")
        .file(
            "cases.toml",
            "[[case]]\nedit = \"secret/a\"\nexpect = \"deny\"\n\n\
             [[case]]\nedit = \"src/a\"\nexpect = \"allow\"\nmode = \"write\"\n\n\
             [[case]]\nedit = \"secret/a\"\nexpect = \"allow\"\nrules = [\"allow Edit(secret/**)\"]\n\n\
             [[case]]\npermission = \"edit\"\npattern = \"src/a\"\nmust = \"ask\"\n\n\
             [[case]]\nfetch = \"https://x.io\"\nexpect = \"ask\"\n\n\
             [[case]]\npermission = \"doom_loop\"\npattern = \"bash\"\nexpect = \"ask\"\n",
        )
        .file(
            "cases.jsonl",
            "{\"read\": \"a\", \"expect\": \"allow\"}\n# a note\n\n\
             {\"edit\": \"a\", \"must\": \"never-auto-allow\", \"kind\": \"x\", \"given\": \"y\", \"rules\": []}\n\
             {\"edit\": \"b\", \"expect\": \"allow\", \"why\": \"it is mine\"}\n\
             {\"edit\": \"c\", \"must\": \"deny\", \"rules\": [{\"permission\": \"edit\", \"pattern\": \"c\", \"action\": \"ask\"}]}\n",
        );
    let good = rein(&project).args(["permission", "test", "cases.toml"]).run();
    good.assert_success();
    assert_eq!(good.stdout, "6 as expected\n");
    let bad = rein(&project).args(["permission", "test", "cases.jsonl"]).run();
    bad.assert_code(1);
    assert!(
        bad.stdout.starts_with(
            "cases.jsonl:5: edit b\n  expected allow, but it is ask: mode `tight` asks before a file is changed\n  why      it is mine\n\
             cases.jsonl:6: edit c\n  expected deny, but it is ask: the user rule `ask edit:c` (case at line 6) asks first\n"
        ),
        "{bad}"
    );
    assert!(bad.stdout.ends_with("2 of 4 not as expected\n"), "{bad}");
    let json = rein(&project).args(["permission", "test", "cases.jsonl", "--json"]).run();
    json.assert_code(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let ok: Vec<bool> = json.as_array().unwrap().iter().map(|one| one["ok"].as_bool().unwrap()).collect();
    assert_eq!(ok, [true, true, false, false]);
}

#[test]
fn a_file_of_expectations_that_is_wrong_is_told_with_its_line() {
    for (name, text, message) in [
        ("a.toml", "[[case]]\ncmd = 'ls'\nexpct = 'allow'\n", "a.toml:3: unknown field `expct`"),
        ("a.toml", "[[case]]\ncmd = 'ls'\n", "a.toml:1: a case has either `expect` or `must`"),
        ("a.toml", "\n[[case]]\nexpect = 'ask'\n", "a.toml:2: a case has one of `cmd`"),
        ("a.toml", "[[case]]\ncmd = 'ls'\nedit = 'x'\nexpect = 'ask'\n", "a.toml:1: a case has one of `cmd`"),
        (
            "a.toml",
            "[[case]]\nedit = 'x'\nexpect = 'ask'\nrules = ['Bash(*)']\n",
            "does not begin with allow, ask or deny",
        ),
        (
            "a.toml",
            "[[case]]\nedit = 'x'\nexpect = 'ask'\nrules = ['allow Bash(*)']\n",
            "a.toml:1: `allow Bash(*)`: ",
        ),
        ("a.toml", "", "a.toml:1: there is no case in it"),
        ("a.jsonl", "{\"cmd\": \"ls\", \"expect\": \"allow\"}\n{\"cmd\": \n", "a.jsonl:2: "),
        (
            "a.jsonl",
            "{\"permission\": \"bash\", \"expect\": \"allow\"}\n",
            "`permission` and `pattern` go together",
        ),
    ] {
        let project = Project::new().file(name, text);
        let output = rein(&project).args(["permission", "test", name]).run();
        output.assert_code(2);
        assert!(output.stderr.contains(message), "{message} is not in {output}");
    }
    rein(&Project::new()).args(["permission", "test", "absent"]).run().assert_code(2);
}

const CLAUDE: &str = r#"{
  // mine
  "permissions": {
    "allow": [
      "Bash(git log:*)",
      "Bash(*)",
      "WebFetch(domain:docs.rs)",
      "Bash(curl -H 'Authorization: Bearer hunter2hunter2' x)",
      "mcp__x__y",
    ],
    "deny": ["Read(./secrets/**)", "Bash(a | b)"],
    "defaultMode": "acceptEdits",
  },
}"#;

const OPENCODE: &str = r#"{
  "permission": { "bash": { "*": "ask", "git *": "allow" }, "edit": "deny" },
}"#;

const RULES: &str = "prefix_rule(pattern=[\"gh\", \"pr\", [\"view\", \"list\"]])\nprefix_rule(pattern=['rm'], decision='forbidden')\n";

fn with_other_agents() -> Project {
    let project = Project::new().file(
        ".claude/settings.json",
        r#"{"permissions": {"allow": ["Bash(make:*)"], "ask": ["Edit(migrations/**)"]}}"#,
    );
    home_file(&project, ".claude/settings.json", CLAUDE);
    home_file(&project, ".config/opencode/opencode.jsonc", OPENCODE);
    home_file(&project, ".codex/rules/default.rules", RULES);
    home_file(&project, ".codex/config.toml", "model = 'x'\nsandbox_mode = \"workspace-write\"\n");
    project
}

#[test]
fn import_shows_what_it_understood_and_writes_nothing() {
    let project = with_other_agents();
    let output = rein(&project).args(["permission", "import"]).run();
    output.assert_success();
    let home = project.home().display().to_string();
    for words in [
        "     5  same       allow  Bash(git log:*)\n        → bash:git log *\n",
        "     6  not taken  allow  Bash(*)\n        it allows everything of its kind",
        "     7  stricter   allow  WebFetch(domain:docs.rs)\n        → webfetch:https://docs.rs/*\n        only over https",
        "Authorization: Bearer ***' x)\n        it has what looks like a secret in it\n",
        "        `mcp__x__y` is a tool of an MCP server",
        "    11  not taken  deny   Bash(a | b)\n",
        "the nearest is mode = \"write\"",
        "     1  not taken  allow  Bash(make:*)\n        a project may ask or deny, but not allow\n",
        "     2  same       deny   prefix_rule([rm])\n        → bash:rm *\n",
        "8 with the same meaning, 1 stricter, 7 not taken\n",
        "1 of those not taken ask or deny: look at them before you rely on the rest\n",
    ] {
        assert!(output.stdout.contains(words), "{words} is not in {output}");
    }
    assert!(!output.stdout.contains("hunter2"), "{output}");
    let toml = "\n\n[permission]\nallow = [\n    \"bash:git log *\",\n    \"webfetch:https://docs.rs/*\",\n    \"bash:gh pr view *\",\n    \
                \"bash:gh pr list *\",\n]\ndeny = [\n    \"read:secrets/**\",\n    \"bash:rm *\",\n]\nbash.\"*\" = \"ask\"\nbash.\"git *\" = \"allow\"\n\
                edit.\"*\" = \"deny\"\n";
    assert!(output.stdout.contains(&format!("\nFor {}:{toml}", user_file(&project).display())), "{output}");
    let own = here(&project).join(".rein/config.toml");
    assert!(
        output.stdout.ends_with(&format!(
            "\nFor {}:\n\n[permission]\nask = [\n    \"edit:migrations/**\",\n]\n",
            own.display()
        )),
        "{output}"
    );
    assert!(output.stdout.starts_with(&format!("{home}/.claude/settings.json\n")), "{output}");
    assert!(!user_file(&project).exists() && !own.exists());
}

#[test]
fn import_writes_once_and_keeps_what_is_there() {
    let project = with_other_agents().rein_file("config/config.toml", "# mine\nmode = \"tight\" # careful\n");
    let output = rein(&project).args(["permission", "import", "--write"]).run();
    output.assert_success();
    let text = fs::read_to_string(user_file(&project)).unwrap();
    assert!(text.starts_with("# mine\nmode = \"tight\" # careful\n\n[permission]\nallow = ["), "{text}");
    let backup = user_file(&project).with_extension("toml.bak");
    assert_eq!(fs::read_to_string(backup).unwrap(), "# mine\nmode = \"tight\" # careful\n");
    let explained = json_of(&project, &["permission", "explain", "--read", "secrets/a", "--json"]);
    assert_eq!(explained["action"], "deny");

    // Lists can be added again; rules whose order matters cannot.
    let again = rein(&project).args(["permission", "import", "--from", "claude", "--write"]).run();
    again.assert_success();
    assert!(again.stdout.ends_with("config.toml has all of this already\n"), "{again}");
    let mixed = rein(&project).args(["permission", "import", "--from", "opencode", "--write"]).run();
    mixed.assert_code(2);
    assert!(mixed.stderr.contains("the order of rules matters"), "{mixed}");
    assert_eq!(fs::read_to_string(user_file(&project)).unwrap(), text);
}

#[test]
fn import_for_programs_and_from_one_agent() {
    let project = with_other_agents();
    let all = json_of(&project, &["permission", "import", "--from", "codex", "--json"]);
    let files = all["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(files[1]["entries"][0]["rules"], json!(["bash:gh pr view *", "bash:gh pr list *"]));
    assert_eq!(
        all["toml"],
        "[permission]\nallow = [\n    \"bash:gh pr view *\",\n    \"bash:gh pr list *\",\n]\ndeny = [\n    \"bash:rm *\",\n]\n"
    );
    assert_eq!((&all["project_toml"], &all["written"]), (&Value::Null, &Value::Null));
    let none = rein(&Project::new()).args(["permission", "import"]).run();
    none.assert_success();
    assert!(none.stdout.starts_with("no file of another agent was found; looked in\n"), "{none}");
}

#[test]
fn import_of_a_broken_file_says_where_it_is_broken() {
    for (name, text, place) in [
        (".claude/settings.json", "{\n  \"permissions\": {\n    allow: []\n}}", "settings.json:3: "),
        (".config/opencode/opencode.json", "{", "opencode.json:1: "),
        (".codex/config.toml", "a = 1\nb =\n", "config.toml:2: "),
    ] {
        let project = Project::new();
        home_file(&project, name, text);
        let output = rein(&project).args(["permission", "import", "--write"]).run();
        output.assert_code(2);
        assert!(output.stderr.contains(place), "{output}");
        assert!(!user_file(&project).exists());
    }
}

#[test]
fn the_forms_of_others_count_in_our_own_settings_and_flags() {
    let write = Turn::call("write", json!({"path": "docs/new.txt", "content": "x"}));
    let project = || Project::new().rein_file("config/config.toml", "permission.allow = ['Edit(docs/**)']\n");
    let model = server([write.clone(), Turn::text("Done.")]);
    asking(&project(), &model).args(["-p", "write"]).run().assert_success();
    let project = project();
    let model = server([write, Turn::text("No.")]);
    asking(&project, &model).args(["-p", "write", "--deny", "Write(docs/new.txt)"]).run().assert_code(3);
    let output = asking(&project, &server([])).args(["-p", "x", "--deny", "Bash(a; b)"]).run();
    output.assert_code(2);
    assert!(output.stderr.contains("--deny: `Bash(a; b)` cannot be taken: it is more than one"), "{output}");
}

#[test]
fn audit_exports_what_was_asked_decided_and_done_without_secrets() {
    let project = Project::new().directory("elsewhere");
    let run = Turn::call("bash", json!({"command": "API_TOKEN=hunter2 true"}));
    let refused = Turn::call("write", json!({"path": "a", "content": "x"}));
    let model = server([run, refused, Turn::text("Done."), Turn::text("Other.")]);
    asking(&project, &model).args(["-p", "go", "--mode", "free", "--deny", "edit"]).run().assert_code(3);
    asking(&project, &model).args(["-p", "nothing", "-C", "elsewhere"]).run().assert_success();

    let output = rein(&project).args(["audit", "--json"]).run();
    output.assert_success();
    assert!(!output.stdout.contains("hunter2"), "{output}");
    let lines = output.json_lines();
    let events: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["event"].as_str().unwrap(), line["tool"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        events,
        [
            ("decided", "bash"),
            ("started", "bash"),
            ("ended", "bash"),
            ("decided", "write"),
            ("ended", "write")
        ]
    );
    assert_eq!(
        (&lines[0]["verdict"], &lines[0]["by"], &lines[0]["ask"]),
        (&json!("allow"), &json!("mode"), &Value::Null)
    );
    assert_eq!(lines[1]["effects"][0]["command"], "API_TOKEN=*** true");
    assert_eq!((&lines[2]["status"], &lines[2]["call"]), (&json!("completed"), &lines[0]["call"]));
    assert_eq!(
        (&lines[3]["verdict"], &lines[3]["by"], &lines[3]["waited_ms"]),
        (&json!("deny"), &json!("rule"), &json!(0))
    );
    assert_eq!(lines[4]["status"], "refused");
    assert!(lines.iter().all(|line| line["workspace"] == here(&project).display().to_string()));

    let session = lines[0]["session"].as_str().unwrap();
    let one = rein(&project).args(["audit", "--json", "--session", &session[session.len() - 8..]]).run();
    assert_eq!(one.stdout, output.stdout);
    assert_eq!(rein(&project).args(["audit", "--json", "--since", "2999-01-01"]).run().stdout, "");
    assert_eq!(rein(&project).args(["audit", "--json", "--since", "1h"]).run().stdout, output.stdout);
    let table = rein(&project).args(["audit"]).run();
    assert_eq!(table.stdout.lines().count(), 5, "{table}");
    assert!(table.stdout.contains("started    bash      $ API_TOKEN=*** true\n"), "{table}");
    rein(&project).args(["audit", "--since", "soon"]).run().assert_code(2);
    rein(&project).args(["audit", "--session", "zzzz"]).run().assert_code(2);
}
