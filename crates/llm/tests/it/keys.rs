//! Where keys come from, what happens to one that is turned away, and what an error advises.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rein_http::CancellationToken;
use rein_llm::auth::{
    FileVault, KeySource, KeyState, SecretCommandFuture, StoredCredential, StoredSecret, Vault, update,
};
use rein_llm::{
    AuthError, Catalog, ErrorKind, Keychain, ModelEvent, ModelRequest, Models, NextKey, ProviderConfig,
    SecretCommand,
};
use rein_protocol::{ModelRef, Timestamp};
use rein_testkit::{ModelServer, Script, Turn};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinHandle;

use crate::server::{answer, answer_always, listen, models, read_request};

const GOOD: &str = "sk-good-0123456789abcdef";

fn model() -> ModelRef {
    "openai/gpt-5".parse().unwrap()
}

fn vault(directory: &TempDir) -> Arc<FileVault> {
    Arc::new(FileVault::in_directory(directory.path().join("data")))
}

fn store(vault: &FileVault, secret: StoredSecret) {
    let credential =
        StoredCredential { provider: "openai".to_owned(), secret, added: Timestamp(1_700_000_000_000) };
    update(vault, |credentials| credentials.push(credential)).unwrap();
}

fn stored_key(key: &str) -> StoredSecret {
    StoredSecret::Key(key.into())
}

/// Turns every key but one away, and says which came.
async fn picky(status: &'static str) -> (String, JoinHandle<Vec<String>>) {
    let (listener, url) = listen().await;
    let task = tokio::spawn(async move {
        let mut seen = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = read_request(&mut stream).await;
            let key = request.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
            let key = key.unwrap_or_default().to_owned();
            seen.push(key.clone());
            let bytes = match key.as_str() {
                GOOD => answer("200 OK", "content-type: text/event-stream\r\n", "data: [DONE]\n\n"),
                _ => answer(status, "", "{\"error\":{\"message\":\"no\"}}"),
            };
            stream.write_all(bytes.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            if key == GOOD || key == "last" {
                return seen;
            }
        }
    });
    (url, task)
}

async fn ask(models: &Models) -> Result<(), rein_llm::ModelError> {
    models.stream(&model(), &ModelRequest::default(), CancellationToken::new()).await.map(|_| ())
}

/// Prints these, one after the other.
struct Printer(Vec<&'static str>, AtomicUsize);

impl SecretCommand for Printer {
    fn run<'a>(&'a self, command: &'a str, _: &'a CancellationToken) -> SecretCommandFuture<'a> {
        assert_eq!(command, "print it");
        let count = self.1.fetch_add(1, Ordering::SeqCst);
        let printed = self.0.get(count).copied().unwrap_or("the last one");
        Box::pin(async move { Ok(format!("{printed}\n").into_bytes()) })
    }
}

#[tokio::test]
async fn a_key_that_is_turned_away_makes_room_for_the_next() {
    for status in ["401 No", "402 Pay", "403 No"] {
        let (url, server) = picky(status).await;
        let directory = tempfile::tempdir().unwrap();
        let vault = vault(&directory);
        store(&vault, stored_key("sk-second-0123456789"));
        store(&vault, stored_key(GOOD));
        let environment = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-first-0123456789")];
        let models = models(Catalog::bundled(), &environment).with_keychain(Keychain::open(vault).unwrap());
        ask(&models).await.unwrap();
        assert_eq!(server.await.unwrap(), ["sk-first-0123456789", "sk-second-0123456789", GOOD], "{status}");
        let report: Vec<(KeySource, KeyState)> =
            models.key_report("openai").into_iter().map(|key| (key.source, key.state)).collect();
        assert_eq!(
            report,
            [
                (KeySource::Variable("OPENAI_API_KEY".to_owned()), KeyState::Rejected),
                (KeySource::Stored, KeyState::Rejected),
                (KeySource::Stored, KeyState::Used),
            ]
        );
        assert!(!format!("{models:?} {report:?}").contains("0123456789"));
    }
}

#[tokio::test]
async fn a_rate_limit_is_not_answered_with_another_key() {
    let (url, server) = answer_always(answer("429 Slow", "", "{}")).await;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    store(&vault, stored_key(GOOD));
    let environment = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-first-0123456789")];
    let models = models(Catalog::bundled(), &environment).with_keychain(Keychain::open(vault).unwrap());
    assert_eq!(ask(&models).await.unwrap_err().kind, ErrorKind::RateLimit);
    assert_eq!(models.key_report("openai")[0].state, KeyState::Used);
    server.abort();
}

#[tokio::test]
async fn when_no_key_is_left_the_error_is_told_and_the_first_is_tried_again_next_time() {
    let (url, server) = answer_always(answer("401 No", "", "{\"error\":{\"message\":\"no\"}}")).await;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    store(&vault, stored_key("sk-second-0123456789"));
    let environment = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-first-0123456789")];
    let models = models(Catalog::bundled(), &environment).with_keychain(Keychain::open(vault).unwrap());
    let error = ask(&models).await.unwrap_err();
    assert_eq!(
        error.hint.as_deref(),
        Some(
            "check the stored key, or replace it: rein auth login openai (keys: https://platform.openai.com/api-keys)"
        )
    );
    assert_eq!(models.key_report("openai")[0].state, KeyState::Used);
    server.abort();
}

#[tokio::test]
async fn a_command_runs_once_and_again_when_its_key_was_turned_away() {
    let (url, server) = picky("401 No").await;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    store(&vault, StoredSecret::Command("print it".to_owned()));
    let printer = Arc::new(Printer(vec!["sk-stale-0123456789", GOOD], AtomicUsize::new(0)));
    let keychain = Keychain::open(vault).unwrap().with_command(printer.clone());
    let models = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url)]).with_keychain(keychain);
    assert_eq!(models.key_report("openai")[0].state, KeyState::Pending);
    models.resolve(&model()).unwrap();
    assert_eq!(printer.1.load(Ordering::SeqCst), 0, "nothing runs before it is needed");
    ask(&models).await.unwrap();
    assert_eq!(server.await.unwrap(), ["sk-stale-0123456789", GOOD]);
    assert_eq!(printer.1.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_command_in_settings_is_a_key_and_one_in_a_variable_is_text() {
    let config = ProviderConfig {
        name: "openai".to_owned(),
        key: Some("!print it".into()),
        ..ProviderConfig::default()
    };
    let catalog = Catalog::bundled().with_provider(config).unwrap();
    let bare = models(catalog, &[("OPENAI_API_KEY", "!touch /tmp/x")]);
    let sources: Vec<KeySource> = bare.key_report("openai").into_iter().map(|key| key.source).collect();
    assert_eq!(sources, [KeySource::SettingsCommand, KeySource::Variable("OPENAI_API_KEY".to_owned())]);
    let endpoint = bare.resolve(&model()).unwrap();
    assert_eq!(endpoint.key_source, Some(KeySource::Variable("OPENAI_API_KEY".to_owned())));
}

#[tokio::test]
async fn a_command_that_was_never_needed_is_run_when_the_key_before_it_is_turned_away() {
    let (url, server) = picky("402 Pay").await;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    store(&vault, StoredSecret::Command("print it".to_owned()));
    let printer = Arc::new(Printer(vec![GOOD], AtomicUsize::new(0)));
    let keychain = Keychain::open(vault).unwrap().with_command(printer);
    let environment = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-empty-0123456789")];
    let models = models(Catalog::bundled(), &environment).with_keychain(keychain);
    ask(&models).await.unwrap();
    assert_eq!(server.await.unwrap(), ["sk-empty-0123456789", GOOD]);
}

#[tokio::test]
async fn a_command_that_prints_the_same_again_is_sent_no_third_time() {
    let (url, server) = picky("401 No").await;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    store(&vault, StoredSecret::Command("print it".to_owned()));
    let printer = Arc::new(Printer(vec!["sk-stale-0123456789"; 9], AtomicUsize::new(0)));
    let keychain = Keychain::open(vault).unwrap().with_command(printer.clone());
    let models = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url)]).with_keychain(keychain);
    assert_eq!(ask(&models).await.unwrap_err().kind, ErrorKind::Auth);
    assert_eq!(printer.1.load(Ordering::SeqCst), 2);
    server.abort();
}

/// The first key has no credit left, which the server says before its answer or in the middle of it.
#[tokio::test]
async fn a_key_that_runs_out_in_the_middle_of_an_answer_makes_room_for_the_next() {
    let quota =
        json!({"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}});
    let script = Script::reply_with(move |request| match request.header("authorization") {
        Some("Bearer sk-first-0123456789") => Turn::text("half an answer").data(&quota),
        _ => Turn::text("whole"),
    });
    let server = ModelServer::start(script).await;
    let url = server.base_url();
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    store(&vault, stored_key("sk-second-0123456789"));
    let environment = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-first-0123456789")];
    let models = models(Catalog::bundled(), &environment).with_keychain(Keychain::open(vault).unwrap());
    let told = async |models: &Models| {
        let request = ModelRequest::default();
        let mut stream = models.stream(&model(), &request, CancellationToken::new()).await.unwrap();
        let mut words = String::new();
        loop {
            match stream.next().await {
                Ok(None) => return (words, None),
                Err(error) => return (words, Some(error)),
                Ok(Some(events)) => words.extend(events.into_iter().filter_map(|event| match event {
                    ModelEvent::TextDelta { delta, .. } => Some(delta),
                    _ => None,
                })),
            }
        }
    };
    let (words, error) = told(&models).await;
    let error = error.unwrap();
    assert_eq!((words.as_str(), error.kind), ("half an answer", ErrorKind::Quota));
    // Whoever asks again, as the engine does with what is retryable, asks with the next key and at once.
    assert!(error.retryable());
    assert_eq!((error.next, error.retry_after), (NextKey::Another, Some(Duration::ZERO)));
    assert_eq!(error.hint.as_deref(), Some("the next key is used"));
    assert_eq!(told(&models).await, ("whole".to_owned(), None));
    let keys: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.header("authorization").unwrap_or_default().to_owned())
        .collect();
    assert_eq!(keys, ["Bearer sk-first-0123456789", "Bearer sk-second-0123456789"]);
}

#[tokio::test]
async fn every_status_says_what_to_do_next() {
    const PAGE: &str = "https://platform.openai.com/api-keys";
    let cases = [
        (
            "401 No",
            "gpt-5",
            format!("check the key in OPENAI_API_KEY, or replace it: export OPENAI_API_KEY=… (keys: {PAGE})"),
        ),
        (
            "403 No",
            "gpt-5",
            format!(
                "check that the key in OPENAI_API_KEY may use this model, and that the provider serves your region (keys: {PAGE})"
            ),
        ),
        (
            "402 Pay",
            "gpt-5",
            format!(
                "check plan and credit of your account at {PAGE}, use another key (export OPENAI_API_KEY=…), or choose another model with --model"
            ),
        ),
        (
            "400 Bad",
            "gpt-5",
            "openai did not accept the request; try another model with --model, or check the settings of this provider"
                .to_owned(),
        ),
    ];
    for (status, name, hint) in cases {
        let (url, server) = answer_always(answer(status, "", "{\"error\":{\"message\":\"no\"}}")).await;
        let models = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", GOOD)]);
        let reference = ModelRef { provider: "openai".to_owned(), model: name.to_owned() };
        let asked = models.stream(&reference, &ModelRequest::default(), CancellationToken::new()).await;
        assert_eq!(asked.map(|_| ()).unwrap_err().hint, Some(hint), "{status}");
        server.abort();
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told_with_those_whose_names_are_alike() {
    let (url, server) = answer_always(answer("404 No", "", "{\"error\":{\"message\":\"no\"}}")).await;
    let models = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url)]);
    let hint = async |name: &str| {
        let reference = ModelRef { provider: "openai".to_owned(), model: name.to_owned() };
        let asked = models.stream(&reference, &ModelRequest::default(), CancellationToken::new()).await;
        asked.map(|_| ()).unwrap_err().hint.unwrap()
    };
    let near = hint("gpt-5-mimi").await;
    assert!(near.starts_with("did you mean openai/gpt-5-mini"), "{near}");
    assert_eq!(
        hint("zzz").await,
        format!("check the model's name (--model openai/NAME) and the address {url}")
    );
    server.abort();
}

#[test]
fn a_stored_file_is_private_whole_and_read_back_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    assert!(vault.read().unwrap().is_empty());
    store(&vault, stored_key(GOOD));
    store(&vault, StoredSecret::Command("pass show \"x\"".to_owned()));
    let mode = std::fs::metadata(vault.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let read = vault.read().unwrap();
    let kinds: Vec<&str> = read.iter().map(|credential| credential.secret.kind()).collect();
    assert_eq!(kinds, ["key", "command"]);
    assert!(!format!("{read:?}").contains("sk-good"));
    let names: Vec<String> = std::fs::read_dir(vault.path().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".new"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_file_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    store(&vault, stored_key(GOOD));
    std::fs::set_permissions(vault.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
    let error = vault.read().unwrap_err();
    assert_eq!(error, AuthError::Permissions { path: vault.path(), mode: 0o640 });
    assert!(error.to_string().contains(&format!("chmod 600 {}", vault.path().display())), "{error}");
}

#[test]
fn a_file_that_is_none_or_makes_no_sense_is_refused_without_showing_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    std::fs::create_dir_all(vault.path()).unwrap();
    assert!(matches!(vault.read(), Err(AuthError::Unfit { .. })));
    std::fs::remove_dir(vault.path()).unwrap();
    for (text, line) in [("x = \n\n", 1), ("\n\n[[credential]]\nprovider = 1\nsecret = 'hunter2'\n", 4)] {
        std::fs::write(vault.path(), text).unwrap();
        std::fs::set_permissions(vault.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(vault.read().unwrap_err(), AuthError::Damaged { path: vault.path(), line }, "{text}");
    }
    std::fs::write(vault.path(), "[[credential]]\nprovider='x'\nkind='later'\nsecret='hunter2'\nadded=1\n")
        .unwrap();
    let error = vault.read().unwrap_err();
    assert!(matches!(error, AuthError::Unfit { .. }) && !error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn whoever_stores_at_the_same_time_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let vault = vault(&directory);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let vault = &vault;
            scope.spawn(move || store(vault, stored_key(&format!("sk-{number}-0123456789"))));
        }
    });
    assert_eq!(vault.read().unwrap().len(), 8);
}
