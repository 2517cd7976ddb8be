//! Logins against a server of logins on loopback.

use std::sync::Arc;

use rein_http::{CancellationToken, Client, ClientOptions};
use rein_llm::auth::oauth::{BrowserLogin, DeviceLogin};
use rein_llm::auth::{FileVault, Login, StoredCredential, StoredSecret, update};
use rein_llm::{AuthError, Catalog, ErrorKind, Keychain, ModelRequest, Models, OAuth, ProviderConfig};
use rein_protocol::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::server::{answer, listen, models, read_request};

fn http() -> Client {
    Client::new(ClientOptions::default()).unwrap()
}

fn oauth(base: &str) -> OAuth {
    OAuth {
        client_id: "test client".to_owned(),
        token_url: format!("{base}/token"),
        device_url: Some(format!("{base}/device")),
        authorize_url: Some(format!("{base}/authorize?x=1")),
        scopes: vec!["read".to_owned(), "write".to_owned()],
        ..OAuth::default()
    }
}

/// Answers one request after the other, and hands back what it was sent.
pub async fn answers(bodies: &'static [(&'static str, &'static str)]) -> (String, JoinHandle<Vec<String>>) {
    let (listener, url) = listen().await;
    let task = tokio::spawn(async move {
        let mut seen = Vec::new();
        for (status, body) in bodies {
            let (mut stream, _) = listener.accept().await.unwrap();
            seen.push(read_request(&mut stream).await);
            stream.write_all(answer(status, "connection: close\r\n", body).as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
        seen
    });
    (url, task)
}

const CODE: &str = r#"{"device_code":"dc","user_code":"ABCD","verification_uri":"https://x/d","interval":0,"expires_in":600}"#;
const TOKENS: &str = r#"{"access_token":"access-0123456789","refresh_token":"refresh-1","expires_in":3600}"#;
const PENDING: (&str, &str) = ("400 Bad", r#"{"error":"authorization_pending"}"#);

async fn by_device(
    bodies: &'static [(&'static str, &'static str)],
) -> (Result<Login, AuthError>, Vec<String>) {
    let (url, server) = answers(bodies).await;
    let (http, oauth, cancel) = (http(), oauth(&url), CancellationToken::new());
    let begun = DeviceLogin::begin(&http, "test", &oauth, &cancel).await.unwrap();
    assert_eq!((begun.code.as_str(), begun.page.as_str()), ("ABCD", "https://x/d"));
    (begun.finish(&http, &oauth, &cancel).await, server.await.unwrap())
}

#[tokio::test]
async fn a_code_on_another_device_ends_in_a_login() {
    let (login, seen) = by_device(&[("200 OK", CODE), PENDING, PENDING, ("200 OK", TOKENS)]).await;
    let login = login.unwrap();
    assert!(login.expires.unwrap() > Timestamp::now() && login.refresh_token.is_some());
    assert!(!format!("{login:?}").contains("access-"));
    assert!(seen[0].starts_with("POST /v1/device "), "{}", seen[0]);
    assert!(seen[0].ends_with("client_id=test%20client&scope=read%20write"), "{}", seen[0]);
    assert!(seen[3].contains("device_code=dc&client_id=test%20client"), "{}", seen[3]);
}

#[tokio::test]
async fn a_login_that_is_denied_or_expires_says_so() {
    let denied = by_device(&[("200 OK", CODE), PENDING, ("200 OK", r#"{"error":"access_denied"}"#)]).await.0;
    assert_eq!(denied.map(|_| ()), Err(AuthError::Denied));
    let expired = by_device(&[("200 OK", CODE), ("400 No", r#"{"error":"expired_token"}"#)]).await.0;
    assert_eq!(expired.map(|_| ()), Err(AuthError::Expired));
}

async fn visit(port: u16, target: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// A field of the address that a person is sent to.
fn field(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("{name}=")).unwrap();
    rest.split('&').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_browser_comes_back_with_the_right_state_only() {
    let (url, server) = answers(&[("200 OK", TOKENS)]).await;
    let (http, oauth) = (http(), oauth(&url));
    let begun = BrowserLogin::begin("test", &oauth).await.unwrap();
    let page = begun.page().to_owned();
    assert!(
        page.contains("/authorize?x=1&response_type=code&client_id=test%20client&redirect_uri="),
        "{page}"
    );
    assert_eq!(field(&page, "code_challenge_method"), "S256");
    let redirect = field(&page, "redirect_uri");
    let port: u16 = redirect.trim_end_matches("%2Fcallback").rsplit("%3A").next().unwrap().parse().unwrap();
    let state = field(&page, "state");
    let person = async {
        for wrong in
            ["/callback?code=evil&state=guess", "/callback?code=evil", "/favicon.ico", "/callback?error=x"]
        {
            let said = visit(port, wrong).await;
            assert!(said.starts_with("HTTP/1.1 400 "), "{wrong}: {said}");
        }
        visit(port, &format!("/callback?code=the%2Fcode&state={state}")).await
    };
    let cancel = CancellationToken::new();
    let (login, said) = tokio::join!(begun.finish(&http, &oauth, &cancel), person);
    login.unwrap();
    assert!(said.contains("You are logged in"), "{said}");
    let seen = server.await.unwrap();
    assert!(seen[0].contains("code=the%2Fcode&redirect_uri=http%3A%2F%2F127.0.0.1%3A"), "{}", seen[0]);
    assert!(seen[0].contains("&code_verifier=") && !seen[0].contains("evil"), "{}", seen[0]);
}

#[tokio::test]
async fn a_person_who_says_no_in_the_browser_ends_the_login() {
    let oauth = oauth("http://127.0.0.1:9");
    let begun = BrowserLogin::begin("test", &oauth).await.unwrap();
    let page = begun.page().to_owned();
    let port: u16 = field(&page, "redirect_uri")
        .trim_end_matches("%2Fcallback")
        .rsplit("%3A")
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let target = format!("/callback?error=access_denied&state={}", field(&page, "state"));
    let (http, cancel) = (http(), CancellationToken::new());
    let (login, _) = tokio::join!(begun.finish(&http, &oauth, &cancel), visit(port, &target));
    assert_eq!(login.map(|_| ()), Err(AuthError::Denied));
}

#[tokio::test]
async fn a_login_without_its_data_names_what_is_missing() {
    let (http, cancel) = (http(), CancellationToken::new());
    let none = OAuth { device_url: None, ..oauth("https://x") };
    let missing = |missing| AuthError::NotConfigured { provider: "test".to_owned(), missing };
    assert_eq!(DeviceLogin::begin(&http, "test", &none, &cancel).await.unwrap_err(), missing("device_url"));
    let clear = OAuth { token_url: "http://login.example/token".to_owned(), ..oauth("https://x") };
    let error = BrowserLogin::begin("test", &clear).await.unwrap_err();
    assert_eq!(error, AuthError::Insecure { field: "token_url" });
    let unnamed = OAuth { client_id: String::new(), ..oauth("https://x") };
    assert_eq!(BrowserLogin::begin("test", &unnamed).await.unwrap_err(), missing("client_id"));
}

/// Models of one provider with a login, as another process would have them.
fn process(vault: &Arc<FileVault>, base_url: &str, login_url: &str) -> Models {
    let config = ProviderConfig {
        name: "test".to_owned(),
        base_url: Some(base_url.to_owned()),
        oauth: Some(oauth(login_url)),
        ..ProviderConfig::default()
    };
    let catalog = Catalog::empty().with_provider(config).unwrap();
    models(catalog, &[]).with_keychain(Keychain::open(vault.clone()).unwrap())
}

fn expired(vault: &FileVault) {
    let login = Login {
        access_token: "old-access".into(),
        refresh_token: Some("refresh-0".into()),
        expires: Some(Timestamp(1)),
    };
    let secret = StoredSecret::Login(login);
    let credential = StoredCredential { provider: "test".to_owned(), secret, added: Timestamp(1) };
    update(vault, |credentials| credentials.push(credential)).unwrap();
}

async fn ask(models: &Models) -> Result<(), rein_llm::ModelError> {
    let model = "test/m".parse().unwrap();
    models.stream(&model, &ModelRequest::default(), CancellationToken::new()).await.map(|_| ())
}

#[tokio::test]
async fn processes_that_need_a_new_token_at_once_fetch_one() {
    let directory = tempfile::tempdir().unwrap();
    let vault = Arc::new(FileVault::in_directory(directory.path()));
    expired(&vault);
    // A second request to it would be refused: nobody accepts it.
    let (login_url, logins) = answers(&[("200 OK", TOKENS)]).await;
    let (base_url, asked) = answers(&[
        ("200 OK", "data: [DONE]\n\n"),
        ("200 OK", "data: [DONE]\n\n"),
        ("200 OK", "data: [DONE]\n\n"),
    ])
    .await;
    let processes: Vec<Models> = (0..3).map(|_| process(&vault, &base_url, &login_url)).collect();
    let (a, b, c) = tokio::join!(ask(&processes[0]), ask(&processes[1]), ask(&processes[2]));
    assert_eq!((a, b, c), (Ok(()), Ok(()), Ok(())));
    let logins = logins.await.unwrap();
    assert_eq!(logins.len(), 1);
    assert!(logins[0].contains("grant_type=refresh_token&refresh_token=refresh-0"), "{}", logins[0]);
    for request in asked.await.unwrap() {
        assert!(request.contains("authorization: Bearer access-0123456789\r\n"), "{request}");
    }
    let stored = std::fs::read_to_string(vault.path()).unwrap();
    assert!(stored.contains("refresh-1") && !stored.contains("refresh-0"));
}

#[tokio::test]
async fn a_login_that_was_ended_elsewhere_says_how_to_log_in_again() {
    let directory = tempfile::tempdir().unwrap();
    let vault = Arc::new(FileVault::in_directory(directory.path()));
    expired(&vault);
    let (login_url, logins) = answers(&[("400 Bad", r#"{"error":"invalid_grant"}"#)]).await;
    let error = ask(&process(&vault, "http://127.0.0.1:9/v1", &login_url)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Auth);
    assert_eq!(error.message, "the login at `test` has ended: run `rein auth login test`");
    logins.await.unwrap();
}
