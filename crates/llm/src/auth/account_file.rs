//! Tokens for an account that a file describes: that of a service, whose key
//! signs a claim (RFC 7523), or that of a person, who logged in with another
//! program.
//!
//! Files of the kind that `GOOGLE_APPLICATION_CREDENTIALS` names. Which variable
//! names one, and what is asked for, is data of the provider. The file is read
//! when a token is needed, and nothing of it is kept but the token.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use rein_http::{CancellationToken, Client};
use rein_protocol::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::oauth::{self, OAuth};
use super::{AuthError, Keychain, Login};

/// More than this is no description of an account.
const LONGEST: u64 = 64 * 1024;
/// For how long a token is asked for.
const LIFETIME_SECONDS: i64 = 3600;

/// What the file holds.
#[derive(Deserialize)]
struct Account {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    client_email: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    private_key: Option<SecretString>,
    #[serde(default)]
    private_key_id: Option<String>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    client_secret: Option<SecretString>,
    #[serde(default, deserialize_with = "secret")]
    refresh_token: Option<SecretString>,
    #[serde(default = "usual_address")]
    token_uri: String,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}

fn usual_address() -> String {
    "https://oauth2.googleapis.com/token".to_owned()
}

impl Keychain {
    /// Fetches a token for the account of a file, unless there is one that is good for a while.
    pub(super) async fn mint(
        &self,
        http: &Client,
        file: &str,
        scope: &str,
        cancel: &CancellationToken,
    ) -> Result<(), AuthError> {
        if self.minted(file).is_some_and(|login| !super::refresh::is_due(login.expires)) {
            return Ok(());
        }
        let login = token(http, Path::new(file), scope, cancel).await?;
        self.note_minted(file, login);
        Ok(())
    }
}

/// A token for the account of a file.
async fn token(
    http: &Client,
    file: &Path,
    scope: &str,
    cancel: &CancellationToken,
) -> Result<Login, AuthError> {
    let wrong = |reason: &str| AuthError::Unfit { path: file.to_owned(), reason: reason.to_owned() };
    let account = read(file)?;
    let address = OAuth::default().checked("token_uri", &account.token_uri)?.to_owned();
    match account.kind.as_str() {
        "service_account" => {
            let assertion = assertion(&account, scope, Timestamp::now()).map_err(wrong)?;
            let fields = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("assertion", assertion.expose_secret()),
            ];
            oauth::granted(http, &address, &fields, cancel).await
        }
        "authorized_user" => {
            let text = |secret: &Option<SecretString>| {
                secret.as_ref().map(|secret| secret.expose_secret().to_owned()).unwrap_or_default()
            };
            let (secret, token) = (text(&account.client_secret), text(&account.refresh_token));
            let fields = [
                ("grant_type", "refresh_token"),
                ("client_id", account.client_id.as_deref().unwrap_or_default()),
                ("client_secret", &secret),
                ("refresh_token", &token),
            ];
            oauth::granted(http, &address, &fields, cancel).await
        }
        _ => Err(wrong(
            "it describes neither the account of a service nor that of a person; store a command that prints a token \
             instead, for example with --command 'gcloud auth print-access-token'",
        )),
    }
}

fn read(file: &Path) -> Result<Account, AuthError> {
    let failed = |error: std::io::Error| AuthError::File {
        path: file.to_owned(),
        what: "read",
        reason: error.to_string(),
    };
    let unfit = |reason: &str| AuthError::Unfit { path: PathBuf::from(file), reason: reason.to_owned() };
    let metadata = fs::metadata(file).map_err(failed)?;
    // Opening a pipe would wait for its other end.
    if !metadata.is_file() || metadata.len() > LONGEST {
        return Err(unfit("it is no file that describes an account"));
    }
    let text = fs::read(file).map_err(failed)?;
    serde_json::from_slice(&text).map_err(|_| unfit("it is not the JSON that describes an account"))
}

/// The claim to be a service, signed.
fn assertion(account: &Account, scope: &str, now: Timestamp) -> Result<SecretString, &'static str> {
    let email =
        account.client_email.as_deref().ok_or("it does not say whose account it is (client_email)")?;
    let key = account.private_key.as_ref().ok_or("it holds no private_key")?;
    let key = key_pair(key.expose_secret()).ok_or("its private_key is no RSA key that can be read")?;
    let issued = now.0 / 1000;
    let header = json!({"alg": "RS256", "typ": "JWT", "kid": account.private_key_id});
    let claims = json!({
        "iss": email, "scope": scope, "aud": account.token_uri, "iat": issued, "exp": issued + LIFETIME_SECONDS,
    });
    let encoded = |text: String| BASE64_URL_SAFE_NO_PAD.encode(text);
    let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature)
        .map_err(|_| "nothing can be signed with its private_key")?;
    Ok(format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)).into())
}

fn key_pair(pem: &str) -> Option<RsaKeyPair> {
    let inner: String = pem.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
    let bytes = BASE64_STANDARD.decode(inner).ok()?;
    RsaKeyPair::from_pkcs8(&bytes).or_else(|_| RsaKeyPair::from_der(&bytes)).ok()
}

#[cfg(test)]
mod tests;
