//! Tokens for an account that a file describes, and keys where nobody looks at them.

use std::sync::Arc;
use std::time::Duration;

use rein_http::CancellationToken;
use rein_llm::auth::SecretCommandFuture;
use rein_llm::retry::Patience;
use rein_llm::{
    Catalog, ErrorKind, Keychain, ModelRequest, Models, ModelsOptions, ProviderConfig, SecretCommand,
};

use crate::login::answers;
use crate::server::models;

const PERSON: &str =
    r#"{"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"#;

fn vertex(base_url: &str, file: &str) -> Models {
    let config = ProviderConfig {
        name: "vertex".to_owned(),
        base_url: Some(base_url.to_owned()),
        ..ProviderConfig::default()
    };
    let catalog = Catalog::bundled().with_provider(config).unwrap();
    models(catalog, &[("GOOGLE_APPLICATION_CREDENTIALS", file)])
}

async fn ask(models: &Models, model: &str) -> Result<(), rein_llm::ModelError> {
    let model = model.parse().unwrap();
    models.stream(&model, &ModelRequest::default(), CancellationToken::new()).await.map(|_| ())
}

#[tokio::test]
async fn a_token_for_an_account_is_fetched_once_and_sent() {
    let (login_url, logins) =
        answers(&[("200 OK", r#"{"access_token":"ya29.token","expires_in":3600}"#)]).await;
    let (url, asked) = answers(&[("200 OK", "data: {}\n\n"), ("200 OK", "data: {}\n\n")]).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("account.json");
    std::fs::write(&file, format!("{PERSON}\", \"token_uri\": \"{login_url}/token\"}}")).unwrap();
    let models = vertex(&url, file.to_str().unwrap());
    ask(&models, "vertex/gemini-3.8-flash").await.unwrap();
    ask(&models, "vertex/gemini-3.8-flash").await.unwrap();
    let logins = logins.await.unwrap();
    assert!(
        logins[0].ends_with("grant_type=refresh_token&client_id=c&client_secret=s&refresh_token=r"),
        "{}",
        logins[0]
    );
    for request in asked.await.unwrap() {
        assert!(request.contains("authorization: Bearer ya29.token\r\n"), "{request}");
    }
}

#[tokio::test]
async fn an_account_that_cannot_be_used_is_told_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("account.json");
    let name = file.to_str().unwrap();
    let told = async || {
        let error = ask(&vertex("http://127.0.0.1:9", name), "vertex/gemini-3.8-flash").await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Auth);
        error.message
    };
    assert_eq!(told().await, format!("{name} cannot be read: No such file or directory (os error 2)"));
    std::fs::write(&file, r#"{"type": "external_account"}"#).unwrap();
    let other = told().await;
    assert!(other.contains("--command 'gcloud auth print-access-token'"), "{other}");
    std::fs::write(&file, format!("{PERSON}\", \"token_uri\": \"http://login.example.com/token\"}}"))
        .unwrap();
    let clear = told().await;
    assert!(clear.contains("token_uri must begin with https://"), "{clear}");
}

/// A command that must not run.
struct Alarm;

impl SecretCommand for Alarm {
    fn run<'a>(&'a self, _: &'a str, _: &'a CancellationToken) -> SecretCommandFuture<'a> {
        panic!("a command ran for a key that nobody looks at");
    }
}

#[tokio::test]
async fn what_is_played_back_runs_no_command_for_its_key() {
    let (url, asked) = answers(&[("200 OK", "data: [DONE]\n\n")]).await;
    let config = ProviderConfig {
        name: "mine".to_owned(),
        base_url: Some(url),
        key: Some("!print it".into()),
        ..ProviderConfig::default()
    };
    let options = ModelsOptions { patience: Patience::Replayed, ..ModelsOptions::default() };
    let models = models(Catalog::empty().with_provider(config).unwrap(), &[])
        .with_options(options)
        .with_keychain(Keychain::default().with_command(Arc::new(Alarm)));
    tokio::time::timeout(Duration::from_secs(20), ask(&models, "mine/m")).await.unwrap().unwrap();
    assert!(!asked.await.unwrap()[0].contains("authorization"));
}
