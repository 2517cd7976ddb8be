//! What is hidden, what is left, and that nothing breaks.

use super::*;
use proptest::prelude::*;

#[test]
fn every_kind_of_secret_is_hidden_and_the_rest_is_left() {
    let cases = [
        // Assignments and names.
        ("API_KEY=hunter2 make", "API_KEY=*** make"),
        ("export DB_PASSWORD='a b c' && run", "export DB_PASSWORD='***' && run"),
        ("env PGPASSWORD=hunter2 psql -U me", "env PGPASSWORD=*** psql -U me"),
        ("MYSQL_PWD=x cmd", "MYSQL_PWD=*** cmd"),
        (r#"{"password": "hunter2", "user": "ada"}"#, r#"{"password": "***", "user": "ada"}"#),
        (r#"echo "{\"clientSecret\": \"hunter2\"}""#, r#"echo "{\"clientSecret\": \"***\"}""#),
        ("token: hunter2\nuser: ada", "token: ***\nuser: ada"),
        (
            "curl 'https://x.io/a?access_token=hunter2&page=2'",
            "curl 'https://x.io/a?access_token=***&page=2'",
        ),
        ("//registry.example/:_authToken=hunter2", "//registry.example/:_authToken=***"),
        ("aws_secret_access_key = hunter2", "aws_secret_access_key = ***"),
        // Headers.
        ("curl -H 'Authorization: Bearer hunter2' x", "curl -H 'Authorization: Bearer ***' x"),
        ("curl -H \"authorization: Basic aGk6aG8=\" x", "curl -H \"authorization: Basic ***\" x"),
        ("curl -H 'X-Api-Key: hunter2' x", "curl -H 'X-Api-Key: ***' x"),
        ("curl -H 'Cookie: a=b; c=d' x", "curl -H 'Cookie: ***' x"),
        // Options.
        ("tool --password hunter2 --verbose", "tool --password *** --verbose"),
        ("tool --password=hunter2", "tool --password=***"),
        ("tool --api-key 'hunter 2' x", "tool --api-key '***' x"),
        ("tool -password hunter2", "tool -password ***"),
        ("mysql -uroot -phunter2 db", "mysql -uroot -p*** db"),
        ("sudo /usr/bin/mysqldump -phunter2 db", "sudo /usr/bin/mysqldump -p*** db"),
        ("sshpass -p hunter2 ssh host", "sshpass -p *** ssh host"),
        ("sshpass -phunter2 ssh host", "sshpass -p*** ssh host"),
        ("docker login -u me -p hunter2 r.io", "docker login -u me -p *** r.io"),
        ("curl -u me:hunter2 https://x.io", "curl -u me:*** https://x.io"),
        ("curl --user=me:hunter2 x", "curl --user=me:*** x"),
        ("redis-cli -a hunter2 ping", "redis-cli -a *** ping"),
        ("openssl rsa -passin pass:hunter2", "openssl rsa -passin pass:***"),
        ("bash -c \"mysql -phunter2 db\"", "bash -c \"mysql -p*** db\""),
        ("unzip -P hunter2 a.zip", "unzip -P *** a.zip"),
        // Addresses.
        ("git clone https://me:hunter2@x.io/r.git", "git clone https://me:***@x.io/r.git"),
        ("psql postgres://me:p%40ss@db:5432/x", "psql postgres://me:***@db:5432/x"),
        ("git clone https://abcdefghijklmnopqrstuvwxyz0123@x.io/r", "git clone https://***@x.io/r"),
        // Shapes.
        ("echo sk-proj-abcdefghijklmnop0123", "echo ***"),
        ("gh ghp_0123456789abcdefghijklmnop!", "gh ***!"),
        ("x AKIAIOSFODNN7EXAMPLE y", "x *** y"),
        ("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_g y", "x *** y"),
        (
            "x -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
            "x -----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
        ),
    ];
    for (text, masked) in cases {
        assert_eq!(secrets(text), masked);
    }
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    for text in [
        "",
        "git log --oneline -5",
        "curl -H \"Authorization: Bearer $TOKEN\" https://x.io",
        "API_KEY=\"$(pass show x)\" run",
        "PASSWORD=`cat x` run",
        "cd \"$PWD\" && OLDPWD=/tmp PWD=/w pwd",
        "run --max-tokens=4096 --tokenizer=fast max_tokens: 10",
        "run --password-file /run/secrets/x --token-ttl 30",
        "docker run -p 8080:80 nginx",
        "mysql -u root -p db",
        "mkdir -p a/b && cp -p a b",
        "git clone ssh://git@github.com/a/b.git",
        "git clone git@github.com:a/b.git",
        "rg 'password' src && rg secret",
        "rein_permission::token::parse(x)",
        "sk-short and task-based-work-in-progress-here",
        "-----BEGIN CERTIFICATE-----\nabc",
        "curl http://localhost:8080/a:b@c",
        "key: value, keys=3, monkey=x",
    ] {
        assert_eq!(secrets(text), text);
        assert!(matches!(secrets(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn a_long_line_takes_no_time() {
    for piece in ["password=x ", "eyJ", "a:b@://", "'\"", "(mysql -p", "-----BEGIN ", "\\\"token\\\":"] {
        let _ = secrets(&piece.repeat(20_000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masking_again_changes_nothing(text in "[-a-z:@/='\" \\\\$;|(\n]{0,40}|((TOKEN|password|--secret|mysql|-p|Authorization: Bearer|https://|sk-|[a-zA-Z0-9]{1,24}|[ =:@\"'/&]){0,12})") {
        let once = secrets(&text).into_owned();
        prop_assert_eq!(secrets(&once), once.as_str());
    }

    #[test]
    fn no_value_of_a_secret_name_is_left(value in "[a-zA-Z0-9_.+/-]{9,30}", quote in "[\"']?") {
        let unlike = format!("zQ{value}");
        for text in [
            format!("MY_TOKEN={quote}{unlike}{quote} run"),
            format!("run --password {quote}{unlike}{quote}"),
            format!("curl https://me:{}@host/", unlike.replace('/', "")),
        ] {
            let masked = secrets(&text).into_owned();
            prop_assert!(!masked.contains(&unlike), "{text} {masked}");
        }
    }
}
