//! Which layer wins, and that every value says where it comes from.

use insta::assert_snapshot;
use rein_config::{Durability, Flag, Origin, Settings, ShowOrigin, Source};
use rein_protocol::Mode;

use crate::Fixture;

#[test]
fn each_layer_wins_over_the_ones_before_it() {
    let name = |fixture: &Fixture| {
        let loaded = fixture.load();
        let origin = &loaded.origins["max_steps"];
        (loaded.settings.max_steps, origin.source, fixture.shorten(&origin.to_string()))
    };
    let mut fixture = Fixture::new();
    assert_eq!(name(&fixture), (125, Source::Default, "default".to_owned()));
    fixture = fixture.user("# mine\nmax_steps = 50\n");
    assert_eq!(name(&fixture), (50, Source::User, "/home/config/config.toml:2".to_owned()));
    fixture = fixture.project("max_steps = 40");
    assert_eq!(name(&fixture), (40, Source::Project, "/repo/.rein/config.toml:1".to_owned()));
    fixture = fixture.variable("REIN_MAX_STEPS", "30");
    assert_eq!(name(&fixture), (30, Source::Environment, "$REIN_MAX_STEPS".to_owned()));
    fixture = fixture.assign("max_steps=20");
    assert_eq!(name(&fixture), (20, Source::Flag, "-c".to_owned()));
    fixture = fixture.flag(Flag::new("--max-steps", ["max_steps"], "0"));
    assert_eq!(name(&fixture), (0, Source::Flag, "--max-steps".to_owned()));
}

#[test]
fn nothing_set_is_the_defaults() {
    let fixture = Fixture::new();
    let loaded = fixture.load();
    assert_eq!(loaded.settings, Settings::default());
    assert!(loaded.origins.values().all(|origin| *origin == Origin::default_value()));
    assert_eq!((loaded.files, loaded.permission, loaded.warnings), (vec![], vec![], vec![]));
    assert_eq!((loaded.grants, loaded.mode_limit), (vec![], None));
    assert_snapshot!(fixture.load().show(ShowOrigin::Yes), @r#"
    mode = "tight"  # default
    max_steps = 125  # default
    budget.cost = 0.0  # default
    budget.tokens = 0  # default
    budget.time = 0  # default
    budget.unknown_cost = "refuse"  # default
    budget.day.cost = 0.0  # default
    budget.day.tokens = 0  # default
    verify.mode = "advisory"  # default
    verify.attempts = 3  # default
    verify.timeout_s = 120  # default
    bash.timeout = 120  # default
    bash.background_after = 60  # default
    bash.most_jobs = 16  # default
    bash.output_mb = 1024  # default
    sandbox.confine = "on"  # default
    sandbox.unavailable = "ask"  # default
    sandbox.network = "as_needed"  # default
    sandbox.means = "auto"  # default
    sandbox.caches = true  # default
    sandbox.writable = []  # default
    sandbox.hidden = []  # default
    sandbox.keep_variables = []  # default
    sandbox.temporary_mb = 4096  # default
    sandbox.processes = 1024  # default
    network.connect_timeout = 10  # default
    network.idle_timeout = 120  # default
    retry.attempts = 5  # default
    retry.base_delay_ms = 2000  # default
    store.durability = "second"  # default
    web.allow_private = []  # default
    web.timeout = 30  # default
    web.size_mb = 5  # default
    log.level = "warn"  # default
    compaction.model = "same"  # default
    compaction.threshold = 100  # default
    compaction.idle = 0  # default
    compaction.promote = false  # default
    titles = true  # default
    theme = "terminal"  # default
    vim = false  # default
    status_line = ["mode", "model", "effort", "directory", "branch", "context", "cost", "cache", "jobs", "queue", "help"]  # default
    thoughts = "line"  # default
    # model is not set
    # verify.command is not set
    # shell is not set
    # network.proxy is not set
    # web.search.backend is not set
    # web.search.endpoint is not set
    # web.search.key_env is not set
    # otlp.endpoint is not set
    "#);
}

const VARIABLES: &[(&str, &str)] = &[
    ("REIN_MODEL", "openai/gpt-5"),
    ("REIN_MODE", "plan"),
    ("REIN_MAX_STEPS", "1"),
    ("REIN_BUDGET_COST", "1.5"),
    ("REIN_BUDGET_TOKENS", "13"),
    ("REIN_BUDGET_TIME", "14"),
    ("REIN_BUDGET_UNKNOWN_COST", "accept"),
    ("REIN_BUDGET_DAY_COST", "2"),
    ("REIN_BUDGET_DAY_TOKENS", "15"),
    ("REIN_VERIFY_COMMAND", "make check"),
    ("REIN_VERIFY_MODE", "enforcing"),
    ("REIN_VERIFY_ATTEMPTS", "2"),
    ("REIN_VERIFY_TIMEOUT_S", "16"),
    ("REIN_SHELL", "/bin/dash"),
    ("REIN_BASH_TIMEOUT", "2"),
    ("REIN_BASH_BACKGROUND_AFTER", "0"),
    ("REIN_BASH_MOST_JOBS", "7"),
    ("REIN_BASH_OUTPUT_MB", "8"),
    ("REIN_SANDBOX_CONFINE", "off"),
    ("REIN_SANDBOX_UNAVAILABLE", "refuse"),
    ("REIN_SANDBOX_NETWORK", "on"),
    ("REIN_SANDBOX_MEANS", "builtin"),
    ("REIN_SANDBOX_CACHES", "false"),
    ("REIN_SANDBOX_TEMPORARY_MB", "9"),
    ("REIN_SANDBOX_PROCESSES", "10"),
    ("REIN_WEB_TIMEOUT", "11"),
    ("REIN_WEB_SIZE_MB", "12"),
    ("REIN_WEB_SEARCH_BACKEND", "searxng"),
    ("REIN_WEB_SEARCH_ENDPOINT", "http://localhost:8888"),
    ("REIN_WEB_SEARCH_KEY_ENV", "SEARCH_KEY"),
    ("REIN_NETWORK_CONNECT_TIMEOUT", "3"),
    ("REIN_NETWORK_IDLE_TIMEOUT", "4"),
    ("REIN_NETWORK_PROXY", "socks5://ada:hunter2@localhost:1080"),
    ("REIN_RETRY_ATTEMPTS", "5"),
    ("REIN_RETRY_BASE_DELAY_MS", "6"),
    ("REIN_STORE_DURABILITY", "every"),
    ("REIN_LOG_LEVEL", "info"),
    ("REIN_OTLP_ENDPOINT", "http://localhost:4318"),
    ("REIN_THEME", "dark"),
    ("REIN_VIM", "true"),
    ("REIN_THOUGHTS", "whole"),
    ("REIN_COMPACTION_MODEL", "small"),
    ("REIN_COMPACTION_THRESHOLD", "80"),
    ("REIN_COMPACTION_IDLE", "13"),
    ("REIN_COMPACTION_PROMOTE", "true"),
    ("REIN_TITLES", "false"),
    // Not ours, and not said to be wrong.
    ("REIN_HOME", "/elsewhere"),
    ("REIN_PERMISSION_BASH", "allow"),
    ("REIN_NO_SUCH_THING", "x"),
];

#[test]
fn every_single_value_without_a_made_up_name_has_a_variable() {
    let mut fixture = Fixture::new();
    for (name, value) in VARIABLES {
        fixture = fixture.variable(name, value);
    }
    let loaded = fixture.load();
    // A list has its place in a file.
    let lists =
        ["sandbox.writable", "sandbox.hidden", "sandbox.keep_variables", "web.allow_private", "status_line"];
    for (key, origin) in &loaded.origins {
        let expected = if lists.contains(&key.as_str()) { Source::Default } else { Source::Environment };
        assert_eq!(origin.source, expected, "{key}");
    }
    assert!(loaded.permission.is_empty());
    assert_eq!(loaded.settings.mode, Mode::Plan);
    assert_eq!(loaded.settings.store.durability, Durability::Every);
    assert_snapshot!(loaded.show(ShowOrigin::Yes), @r#"
    model = "openai/gpt-5"  # $REIN_MODEL
    mode = "plan"  # $REIN_MODE
    max_steps = 1  # $REIN_MAX_STEPS
    budget.cost = 1.5  # $REIN_BUDGET_COST
    budget.tokens = 13  # $REIN_BUDGET_TOKENS
    budget.time = 14  # $REIN_BUDGET_TIME
    budget.unknown_cost = "accept"  # $REIN_BUDGET_UNKNOWN_COST
    budget.day.cost = 2.0  # $REIN_BUDGET_DAY_COST
    budget.day.tokens = 15  # $REIN_BUDGET_DAY_TOKENS
    verify.command = "make check"  # $REIN_VERIFY_COMMAND
    verify.mode = "enforcing"  # $REIN_VERIFY_MODE
    verify.attempts = 2  # $REIN_VERIFY_ATTEMPTS
    verify.timeout_s = 16  # $REIN_VERIFY_TIMEOUT_S
    shell = "/bin/dash"  # $REIN_SHELL
    bash.timeout = 2  # $REIN_BASH_TIMEOUT
    bash.background_after = 0  # $REIN_BASH_BACKGROUND_AFTER
    bash.most_jobs = 7  # $REIN_BASH_MOST_JOBS
    bash.output_mb = 8  # $REIN_BASH_OUTPUT_MB
    sandbox.confine = "off"  # $REIN_SANDBOX_CONFINE
    sandbox.unavailable = "refuse"  # $REIN_SANDBOX_UNAVAILABLE
    sandbox.network = "on"  # $REIN_SANDBOX_NETWORK
    sandbox.means = "builtin"  # $REIN_SANDBOX_MEANS
    sandbox.caches = false  # $REIN_SANDBOX_CACHES
    sandbox.writable = []  # default
    sandbox.hidden = []  # default
    sandbox.keep_variables = []  # default
    sandbox.temporary_mb = 9  # $REIN_SANDBOX_TEMPORARY_MB
    sandbox.processes = 10  # $REIN_SANDBOX_PROCESSES
    network.connect_timeout = 3  # $REIN_NETWORK_CONNECT_TIMEOUT
    network.idle_timeout = 4  # $REIN_NETWORK_IDLE_TIMEOUT
    network.proxy = "socks5://********@localhost:1080"  # $REIN_NETWORK_PROXY
    retry.attempts = 5  # $REIN_RETRY_ATTEMPTS
    retry.base_delay_ms = 6  # $REIN_RETRY_BASE_DELAY_MS
    store.durability = "every"  # $REIN_STORE_DURABILITY
    web.allow_private = []  # default
    web.timeout = 11  # $REIN_WEB_TIMEOUT
    web.size_mb = 12  # $REIN_WEB_SIZE_MB
    web.search.backend = "searxng"  # $REIN_WEB_SEARCH_BACKEND
    web.search.endpoint = "http://localhost:8888"  # $REIN_WEB_SEARCH_ENDPOINT
    web.search.key_env = "SEARCH_KEY"  # $REIN_WEB_SEARCH_KEY_ENV
    log.level = "info"  # $REIN_LOG_LEVEL
    otlp.endpoint = "http://localhost:4318"  # $REIN_OTLP_ENDPOINT
    compaction.model = "small"  # $REIN_COMPACTION_MODEL
    compaction.threshold = 80  # $REIN_COMPACTION_THRESHOLD
    compaction.idle = 13  # $REIN_COMPACTION_IDLE
    compaction.promote = true  # $REIN_COMPACTION_PROMOTE
    titles = false  # $REIN_TITLES
    theme = "dark"  # $REIN_THEME
    vim = true  # $REIN_VIM
    status_line = ["mode", "model", "effort", "directory", "branch", "context", "cost", "cache", "jobs", "queue", "help"]  # default
    thoughts = "whole"  # $REIN_THOUGHTS
    "#);
}

#[test]
fn an_empty_variable_is_not_set() {
    let fixture = Fixture::new().user("mode = 'plan'").variable("REIN_MODE", "");
    assert_eq!(fixture.load().settings.mode, Mode::Plan);
}

const PROVIDER: &str = r#"
model = "local/qwen3"

[provider.local]
wire = "openai-chat"
base_url = "http://ada:hunter2@localhost:8080/v1"
key = "sk-hunter2"
key_env = ["LOCAL_KEY", "OTHER_KEY"]
headers = { Authorization = "Bearer hunter2" }

[provider.local.models.qwen3]
context = 32768
output = 4_096
input_price = 3
cache_read_price = 0.3

[provider.local.models."org/small model"]
"#;

#[test]
fn providers_are_read_whole_and_shown_without_their_secrets() {
    let fixture = Fixture::new().user(PROVIDER);
    let loaded = fixture.load();

    let local = &loaded.settings.provider["local"];
    assert_eq!(local.key.as_ref().unwrap().expose(), "sk-hunter2");
    assert_eq!(local.headers["Authorization"].expose(), "Bearer hunter2");
    assert_eq!(local.base_url.as_ref().unwrap().expose(), "http://ada:hunter2@localhost:8080/v1");
    assert_eq!(local.key_env.as_ref().unwrap().names().collect::<Vec<_>>(), ["LOCAL_KEY", "OTHER_KEY"]);
    assert_eq!(local.models.keys().collect::<Vec<_>>(), ["org/small model", "qwen3"]);
    assert_eq!(local.models["qwen3"].input_price, Some(3.0));

    let shown = [
        loaded.show(ShowOrigin::Yes),
        loaded.show(ShowOrigin::No),
        loaded.show_json().to_string(),
        format!("{loaded:?}"),
        serde_json::to_string(&loaded.settings).unwrap(),
    ];
    for text in &shown {
        assert!(text.contains("********") && !text.contains("hunter2"), "{text}");
    }
    let provider: Vec<&str> = shown[0].lines().filter(|line| line.starts_with("provider")).collect();
    assert_snapshot!(fixture.shorten(&provider.join("\n")), @r#"
    provider.local.wire = "openai-chat"  # /home/config/config.toml:5
    provider.local.base_url = "http://********@localhost:8080/v1"  # /home/config/config.toml:6
    provider.local.key = "********"  # /home/config/config.toml:7
    provider.local.key_env = ["LOCAL_KEY", "OTHER_KEY"]  # /home/config/config.toml:8
    provider.local.headers.Authorization = "********"  # /home/config/config.toml:9
    provider.local.models."org/small model" = {}  # /home/config/config.toml:17
    provider.local.models.qwen3.context = 32768  # /home/config/config.toml:12
    provider.local.models.qwen3.output = 4096  # /home/config/config.toml:13
    provider.local.models.qwen3.input_price = 3.0  # /home/config/config.toml:14
    provider.local.models.qwen3.cache_read_price = 0.3  # /home/config/config.toml:15
    "#);
}

#[test]
fn what_is_shown_can_be_read_again() {
    let shown = Fixture::new()
        .user(format!("shell = 'a\\u001b\"b'\n{PROVIDER}\n[permission.bash]\n\"git \\\"x\\\" *\" = 'ask'"))
        .load()
        .show(ShowOrigin::Yes);
    let again = Fixture::new().user(&shown);
    assert_eq!(again.load().settings.shell.as_ref().unwrap().to_str(), Some("a\\u001b\"b"));
    assert_eq!(again.load().permission[0].rules[0].pattern, "git \"x\" *");
}

#[test]
fn flags_reach_every_key_and_need_quotes_only_in_keys() {
    let fixture = Fixture::new()
        .user("[provider.x]\nkey_env = 'A'\nmodels.m.context = 1")
        .assign("provider.x.models.m.context=2")
        .assign("provider.x.key_env=['B', 'C']")
        .assign(r#"provider.y.models."org/m"={}"#)
        .assign("model='a/b'")
        .assign(r#"permission.bash."git *"=ask"#)
        .assign("permission.bash={ 'rm *' = 'deny', '*' = 'allow' }");
    let loaded = fixture.load();
    assert_eq!(loaded.settings.model.as_ref().unwrap().to_string(), "a/b");
    assert_eq!(loaded.settings.provider["x"].models["m"].context, Some(2));
    assert_eq!(
        loaded.settings.provider["x"].key_env.as_ref().unwrap().names().collect::<Vec<_>>(),
        ["B", "C"]
    );
    assert!(loaded.settings.provider["y"].models.contains_key("org/m"));
    let rules: Vec<(&str, &str)> =
        loaded.permission[0].rules.iter().map(|rule| (rule.pattern.as_str(), rule.action.name())).collect();
    assert_eq!(rules, [("git *", "ask"), ("rm *", "deny"), ("*", "allow")]);
}

#[test]
fn a_table_that_only_says_that_it_exists_keeps_what_another_layer_says() {
    let fixture = Fixture::new().user("[provider.x]\nmodels.m.context = 1").assign("provider.x={}");
    assert_eq!(fixture.load().settings.provider["x"].models["m"].context, Some(1));
}

#[test]
fn programs_get_the_same_as_json() {
    let fixture = Fixture::new()
        .user("max_steps = 5\nprovider.x.key = 'hunter2'\npermission.edit = 'ask'")
        .project("shell = 'zsh'")
        .variable("REIN_MODE", "plan");
    let text = serde_json::to_string_pretty(&fixture.load().show_json()).unwrap();
    let mut shown: serde_json::Value = serde_json::from_str(&fixture.shorten(&text)).unwrap();
    let settings = shown["settings"].as_array_mut().unwrap();
    settings.retain(|setting| setting["origin"]["source"] != "default");
    assert_eq!(
        shown,
        serde_json::json!({
            "workspace": "/repo",
            "files": ["/home/config/config.toml", "/repo/.rein/config.toml"],
            "settings": [
                { "key": "mode", "value": "plan", "origin": { "source": "environment", "name": "REIN_MODE" } },
                {
                    "key": "max_steps", "value": 5,
                    "origin": { "source": "user", "file": "/home/config/config.toml", "line": 1 },
                },
                {
                    "key": "provider.x.key", "value": "********",
                    "origin": { "source": "user", "file": "/home/config/config.toml", "line": 2 },
                },
            ],
            "permission": [{
                "permission": "edit", "pattern": "*", "action": "ask",
                "origin": { "source": "user", "file": "/home/config/config.toml", "line": 3 },
            }],
            "grants": [],
            "warnings": [
                "/repo/.rein/config.toml:1: `shell` is ignored: a project may not set it, because it could run \
                 a program of its own with every command; set it in your own config.toml"
            ],
        })
    );
}
