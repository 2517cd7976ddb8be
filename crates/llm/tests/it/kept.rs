//! Secrets in a keyring: fetched when they are needed, renewed where they are, and missed with words that help.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rein_http::CancellationToken;
use rein_llm::auth::{
    FileVault, KeySource, KeyState, Keyring, KeyringFuture, Login, StoredCredential, StoredSecret, keyring,
    update,
};
use rein_llm::{AuthError, Catalog, Keychain, ModelRequest, Models, OAuth, ProviderConfig};
use rein_protocol::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;

use crate::login::answers;
use crate::server::models;

/// A keyring in memory, and how often it was asked for something.
#[derive(Default)]
struct Drawer {
    held: Mutex<HashMap<String, String>>,
    recalled: Mutex<usize>,
    locked: bool,
}

impl Keyring for Drawer {
    fn keep<'a>(
        &'a self,
        name: &'a str,
        _: &'a str,
        secret: &'a SecretString,
        _: &'a CancellationToken,
    ) -> KeyringFuture<'a, ()> {
        self.held.lock().unwrap().insert(name.to_owned(), secret.expose_secret().to_owned());
        Box::pin(async { Ok(()) })
    }

    fn recall<'a>(
        &'a self,
        name: &'a str,
        _: &'a CancellationToken,
    ) -> KeyringFuture<'a, Option<SecretString>> {
        *self.recalled.lock().unwrap() += 1;
        let found = self.held.lock().unwrap().get(name).cloned().map(SecretString::from);
        let locked = self.locked;
        Box::pin(async move {
            match locked {
                true => Err(AuthError::Keyring { reason: "it is locked".to_owned() }),
                false => Ok(found),
            }
        })
    }

    fn forget<'a>(&'a self, name: &'a str, _: &'a CancellationToken) -> KeyringFuture<'a, ()> {
        self.held.lock().unwrap().remove(name);
        Box::pin(async { Ok(()) })
    }

    fn place(&self) -> String {
        "a drawer".to_owned()
    }
}

async fn stored(directory: &TempDir, drawer: &Drawer, secret: StoredSecret) -> Arc<FileVault> {
    let vault = Arc::new(FileVault::in_directory(directory.path()));
    let kept = keyring::keep(drawer, "test", &secret, &CancellationToken::new()).await.unwrap().unwrap();
    let credential = StoredCredential { provider: "test".to_owned(), secret: kept, added: Timestamp(1) };
    update(&*vault, |credentials| credentials.push(credential)).unwrap();
    vault
}

fn process(vault: &Arc<FileVault>, drawer: Arc<Drawer>, base_url: &str, login_url: &str) -> Models {
    let oauth =
        OAuth { client_id: "client".to_owned(), token_url: format!("{login_url}/token"), ..OAuth::default() };
    let config = ProviderConfig {
        name: "test".to_owned(),
        base_url: Some(base_url.to_owned()),
        oauth: Some(oauth),
        ..ProviderConfig::default()
    };
    let catalog = Catalog::empty().with_provider(config).unwrap();
    let keychain = Keychain::open(vault.clone()).unwrap().with_keyring(Some(drawer));
    models(catalog, &[]).with_keychain(keychain)
}

async fn ask(models: &Models) -> Result<(), rein_llm::ModelError> {
    let model = "test/m".parse().unwrap();
    models.stream(&model, &ModelRequest::default(), CancellationToken::new()).await.map(|_| ())
}

#[tokio::test]
async fn a_key_is_fetched_once_when_it_is_needed_and_is_in_no_file() {
    let (directory, drawer) = (tempfile::tempdir().unwrap(), Arc::new(Drawer::default()));
    let vault = stored(&directory, &drawer, StoredSecret::Key("sk-in-a-drawer-0123456789".into())).await;
    assert!(!std::fs::read_to_string(vault.path()).unwrap().contains("sk-in-a-drawer"));
    *drawer.recalled.lock().unwrap() = 0;
    let (url, asked) = answers(&[("200 OK", "data: [DONE]\n\n"), ("200 OK", "data: [DONE]\n\n")]).await;
    let models = process(&vault, drawer.clone(), &url, "http://127.0.0.1:9");
    let report = &models.key_report("test")[0];
    assert_eq!(
        (&report.source, report.state, &report.masked),
        (&KeySource::Keyring, KeyState::Pending, &None)
    );
    assert_eq!(*drawer.recalled.lock().unwrap(), 0, "nothing is asked before it is needed");
    ask(&models).await.unwrap();
    ask(&models).await.unwrap();
    assert_eq!(*drawer.recalled.lock().unwrap(), 1);
    for request in asked.await.unwrap() {
        assert!(request.contains("authorization: Bearer sk-in-a-drawer-0123456789\r\n"), "{request}");
    }
    assert_eq!(models.key_report("test")[0].masked.as_deref(), Some("…6789"));
}

#[tokio::test]
async fn a_login_is_renewed_where_it_is_kept() {
    let (directory, drawer) = (tempfile::tempdir().unwrap(), Arc::new(Drawer::default()));
    let login = Login {
        access_token: "old-access".into(),
        refresh_token: Some("refresh-0".into()),
        expires: Some(Timestamp(1)),
    };
    let vault = stored(&directory, &drawer, StoredSecret::Login(login)).await;
    const TOKENS_OF_NOW: &str =
        r#"{"access_token":"access-1","refresh_token":"refresh-1","expires_in":3600}"#;
    let (login_url, logins) = answers(&[("200 OK", TOKENS_OF_NOW)]).await;
    let (url, asked) = answers(&[("200 OK", "data: [DONE]\n\n"), ("200 OK", "data: [DONE]\n\n")]).await;
    let models = process(&vault, drawer.clone(), &url, &login_url);
    ask(&models).await.unwrap();
    // Another process finds what this one left.
    ask(&process(&vault, drawer.clone(), &url, &login_url)).await.unwrap();
    assert_eq!(logins.await.unwrap().len(), 1);
    for request in asked.await.unwrap() {
        assert!(request.contains("authorization: Bearer access-1\r\n"), "{request}");
    }
    let held: Vec<String> = drawer.held.lock().unwrap().values().cloned().collect();
    assert_eq!(held, [r#"{"access_token":"access-1","refresh_token":"refresh-1"}"#]);
    let file = std::fs::read_to_string(vault.path()).unwrap();
    assert!(!file.contains("access-") && !file.contains("refresh-"), "{file}");
}

#[tokio::test]
async fn a_keyring_that_does_not_open_is_told_with_what_to_do() {
    let (directory, drawer) = (tempfile::tempdir().unwrap(), Drawer::default());
    let vault = stored(&directory, &drawer, StoredSecret::Key("sk-1".into())).await;
    let locked = Arc::new(Drawer { locked: true, ..Drawer::default() });
    let error =
        ask(&process(&vault, locked, "http://127.0.0.1:9/v1", "http://127.0.0.1:9")).await.unwrap_err();
    assert_eq!(
        error.message,
        "what is stored for `test` is in the keyring of the system, and that cannot be asked: it is locked; unlock it, \
         or store the key in a file with `rein auth login test --file`"
    );
    let forgetful = Arc::new(Drawer::default());
    let error =
        ask(&process(&vault, forgetful, "http://127.0.0.1:9/v1", "http://127.0.0.1:9")).await.unwrap_err();
    assert!(error.message.contains("it is not in it, or it is locked"), "{}", error.message);
}
