//! What is wrong is said all at once, with its place and what was probably meant.

use insta::assert_snapshot;

use crate::Fixture;

#[test]
fn all_problems_of_all_layers_are_reported_together() {
    let fixture = Fixture::new()
        .user(
            r#"modle = 1
mode = "tigth"
max_steps = "a"
shell = "./x"
timeout = 3
colours = "dark"
edit = "allow"

[bash]
timeout = 0
"#,
        )
        .project("mode = 'wild'\nmax_steps = 4294967296")
        .variable("REIN_MODE", "fre")
        .variable("REIN_MAX_STEPS", "many")
        .variable("REIN_BASH_TIMEOUT", "1.5")
        .assign("bash.timeuot=5")
        .assign("model.name=5");
    assert_snapshot!(fixture.error(), @r"
    /home/config/config.toml:1:1: unknown key `modle`; did you mean `model`?
    /home/config/config.toml:2:8: `mode` must be `tight`, `write`, `free` or `plan`, but it is `tigth`; did you mean `tight`?
    /home/config/config.toml:3:13: `max_steps` must be an integer from 0, but it is a string
    /home/config/config.toml:4:9: `shell` must be an absolute path, or a name without `/`
    /home/config/config.toml:5:1: unknown key `timeout`; did you mean `bash.timeout`?
    /home/config/config.toml:6:1: unknown key `colours`; there are `model`, `mode`, `max_steps`, `budget`, `verify`, `shell`, `bash`, `sandbox`, `network`, `retry`, `store`, `web`, `log`, `otlp`, `compaction`, `titles`, `theme`, `vim`, `status_line`, `thoughts`, `keys`, `provider`, `roles` and `permission`
    /home/config/config.toml:7:1: unknown key `edit`; did you mean `permission.edit`?
    /home/config/config.toml:10:11: `bash.timeout` must be an integer from 1 to 3600, but it is 0
    /repo/.rein/config.toml:1:8: `mode` must be `tight`, `write`, `free` or `plan`, but it is `wild`
    /repo/.rein/config.toml:2:13: `max_steps` must be an integer from 0 to 4294967295, but it is 4294967296
    $REIN_MODE: `mode` must be `tight`, `write`, `free` or `plan`, but it is `fre`; did you mean `free`?
    $REIN_MAX_STEPS: `max_steps` must be an integer from 0, but it is a string
    $REIN_BASH_TIMEOUT: `bash.timeout` must be an integer from 1 to 3600, but it is a float
    -c: unknown key `bash.timeuot`; did you mean `bash.timeout`?
    -c: unknown key `model.name`
    ");
}

#[test]
fn wrong_values_say_what_is_wanted() {
    for (line, message) in [
        ("model = 5", "1:9: `model` must be a string, but it is an integer"),
        ("model = ''", "1:9: `model` must not be empty"),
        (
            "model = 'gpt'",
            "1:9: `model` must be written `provider/model`, for example `openai/gpt-5`, but it is `gpt`",
        ),
        ("model = true", "1:9: `model` must be a string, but it is a boolean"),
        ("[model]", "1:1: `model` must be a string, but it is a table"),
        ("bash = 5", "1:8: `bash` must be a table, but it is an integer"),
        ("[[bash]]\ntimeout = 1", "1:1: `bash` must be a table, but it is a list"),
        ("max_steps = -1", "1:13: `max_steps` must be an integer from 0, but it is -1"),
        (
            "max_steps = 99999999999999999999",
            "1:13: `max_steps` must be an integer from 0 to 4294967295, but it is 99999999999999999999",
        ),
        ("max_steps = 2026-01-01", "1:13: `max_steps` must be an integer from 0, but it is a date or time"),
        ("bash.timeout = 0xFFFF", "1:16: `bash.timeout` must be an integer from 1 to 3600, but it is 0xFFFF"),
        (
            "store.durability = 'never'",
            "1:20: `store.durability` must be `second` or `every`, but it is `never`",
        ),
        ("permission = 'allow'", "1:14: `permission` must be a table, but it is a string"),
        (
            "permission.bash = 1",
            "1:19: `permission.bash` must be `allow`, `ask` or `deny` or a table, but it is an integer",
        ),
        (
            "permission.bash = 'no'",
            "1:19: `permission.bash` must be `allow`, `ask` or `deny`, but it is `no`",
        ),
        (
            "permission.bash.x = {}",
            "1:21: `permission.bash.x` must be `allow`, `ask` or `deny`, but it is a table",
        ),
        ("permission.bash.'' = 'ask'", "1:17: `permission.bash.\"\"` must have a name"),
        ("permission.bahs = 'deny'", "1:12: unknown key `permission.bahs`; did you mean `permission.bash`?"),
        ("provider.x.wrie = ''", "1:12: unknown key `provider.x.wrie`; did you mean `provider.x.wire`?"),
        (
            "provider.x.models.y.price = 1",
            "1:21: unknown key `provider.x.models.y.price`; there are `context`, `output`, `images`, `tools`, `family`, `dialect`, `teach`, `promote`, `input_price`, \
             `output_price`, `cache_read_price` and `cache_write_price`",
        ),
        (
            "provider.'a/b'.wire = 'x'",
            "1:10: `provider.\"a/b\"` must not have a `/` in its name, because a model is named `provider/model`",
        ),
        (
            "provider.x.models.y.input_price = nan",
            "1:35: `provider.x.models.y.input_price` must be a number from 0, but it is nan",
        ),
        (
            "provider.x.models.y.input_price = -0.1",
            "1:35: `provider.x.models.y.input_price` must be a number from 0, but it is -0.1",
        ),
        (
            "provider.x.models.y.context = 0",
            "1:31: `provider.x.models.y.context` must be an integer from 1, but it is 0",
        ),
        (
            "provider.x.key_env = 5",
            "1:22: `provider.x.key_env` must be a string or a list of strings, but it is an integer",
        ),
        (
            "provider.x.key_env = ['A', 5]",
            "1:22: `provider.x.key_env` must be a string, but it is an integer",
        ),
        (
            "network.proxy = 'localhost:80'",
            "1:17: `network.proxy` must be an address that begins with `http://`, `https://`, `socks5://` or `socks5h://`",
        ),
        (
            "model = '\\e[2J'\n\"\\u001b[2J\" = 1",
            "1:9: `model` must be written `provider/model`, for example `openai/gpt-5`, but it is `\\e[2J`\n/home/config/config.toml:2:1: unknown key `\"\\u001B[2J\"`; there are `model`, `mode`, `max_steps`, `budget`, `verify`, `shell`, `bash`, `sandbox`, `network`, `retry`, `store`, `web`, `log`, `otlp`, `compaction`, `titles`, `theme`, `vim`, `status_line`, `thoughts`, `keys`, `provider`, `roles` and `permission`",
        ),
    ] {
        assert_eq!(
            Fixture::new().user(line).error(),
            format!("/home/config/config.toml:{message}"),
            "{line}"
        );
    }
}

#[test]
fn no_message_repeats_a_secret() {
    for line in [
        "provider.x.key = \"hunter2\\u0007\"",
        "provider.x.key = ['hunter2']",
        "provider.x.key_env = 'sk-hunter2'",
        "provider.x.base_url = 'ftp://ada:hunter2@host'",
        "provider.x.base_url = 'https://ada:hunter2@'",
        "network.proxy = 'ada:hunter2@proxy:80'",
        "provider.x.headers.Authorization = \"hunter2\\n\"",
        "provider.x.keey = 'hunter2'",
        "provider.x.key = \"hunter2",
        "provider.x.key = hunter2",
        "provider.x.key = 'hunter2' x",
    ] {
        let fixture = Fixture::new().user(line);
        let error = fixture.try_load().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{line}: {error}");
    }
}

#[test]
fn every_syntax_error_has_its_place_and_nothing_else_is_guessed() {
    let fixture = Fixture::new().user("mode = 'tight\nmodle = 1\nmax_steps = 1 2\nmax_steps = 3\n[bash\n");
    assert_snapshot!(fixture.error(), @r"
    /home/config/config.toml:1:14: invalid literal string, expected `'`
    /home/config/config.toml:3:13: string values must be quoted, expected literal string
    /home/config/config.toml:4:1: duplicate key
    /home/config/config.toml:5:6: unclosed table, expected `]`
    ");
}

#[test]
fn a_variable_that_is_not_text_is_named() {
    use std::os::unix::ffi::OsStringExt;
    let value = std::ffi::OsString::from_vec(vec![b'a', 0xff]);
    let fixture = Fixture::new().variable("REIN_MODEL", value);
    assert_eq!(fixture.error(), "$REIN_MODEL: the value is not UTF-8");
}

#[test]
fn a_hostile_file_gets_a_bounded_answer() {
    let long = "k".repeat(400_000);
    let error = Fixture::new().user(format!("{long} = 1\nmode = '{long}'")).error();
    assert!(error.len() < 1_000, "{}", error.len());

    let keys: String = (0..50_000).map(|index| format!("k{index} = 1, ")).collect();
    let error = Fixture::new().user(format!("bash = {{ {keys} }}")).error();
    assert_eq!(error.lines().count(), 100);
}

#[test]
fn deep_nesting_is_refused_before_it_can_exhaust_the_stack() {
    let keys = ["a"; 79].join(".");
    let nested = (0..79).fold("1".to_owned(), |inner, _| format!("{{ {keys} = {inner} }}"));
    let too_deep = "brackets are nested more than 8 deep, or some are not closed";
    assert_eq!(
        Fixture::new().user(format!("x = {nested}")).error(),
        format!("/home/config/config.toml:1:{}: {too_deep}", 5 + 8 * (keys.len() + 5))
    );
    let unclosed = "[".repeat(100_000);
    assert_eq!(Fixture::new().user(unclosed).error(), format!("/home/config/config.toml:1:9: {too_deep}"));
    // Brackets in strings are not nesting.
    Fixture::new().user("[permission.bash]\n\"[[[[[[[[[[ {{{{{{{{{{\" = 'ask' # ]]]] {{{{{{{{{{{{{").load();
}
