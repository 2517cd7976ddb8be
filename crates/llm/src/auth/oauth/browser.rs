//! A login in a browser on this machine, which comes back to a port of it.
//!
//! Whatever comes to that port without the state that was sent out is answered
//! with a refusal and does not end the login: any web page can send it there.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rein_http::{CallbackListener, CancellationToken, Client, HttpError};
use ring::rand::SecureRandom;
use secrecy::{ExposeSecret, SecretString};

use super::super::AuthError;
use super::super::vault::Login;
use super::OAuth;
use super::token::{Answer, failure, form, login, post, with_scope};

/// How long the person may take.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
const USUAL_PATH: &str = "/callback";
const DONE: &str = "You are logged in. You can close this page and go back to the terminal.";
const FAILED: &str = "The login failed. Go back to the terminal to see why.";
const STRANGE: &str = "This is not part of a login that rein began.";

/// A login that waits for a browser. Showing it shows no secrets.
pub struct BrowserLogin {
    page: String,
    listener: CallbackListener,
    path: String,
    redirect: String,
    state: SecretString,
    verifier: SecretString,
}

impl fmt::Debug for BrowserLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrowserLogin").field("redirect", &self.redirect).finish_non_exhaustive()
    }
}

impl BrowserLogin {
    /// Opens the port to come back to.
    pub async fn begin(provider: &str, oauth: &OAuth) -> Result<Self, AuthError> {
        let missing = || AuthError::NotConfigured { provider: provider.to_owned(), missing: "authorize_url" };
        let url = oauth.checked("authorize_url", oauth.authorize_url.as_deref().ok_or_else(missing)?)?;
        oauth.checked("token_url", &oauth.token_url)?;
        let client = oauth.client(provider)?;
        let listener = CallbackListener::bind(oauth.redirect_port.unwrap_or(0)).await?;
        let path = oauth.redirect_path.clone().unwrap_or_else(|| USUAL_PATH.to_owned());
        let redirect = format!("http://127.0.0.1:{}{path}", listener.port());
        let (state, verifier) = (random()?, random()?);
        let challenge = challenge(&verifier);
        let scope = oauth.scopes.join(" ");
        let mut fields = with_scope(
            &[
                ("response_type", "code"),
                ("client_id", client),
                ("redirect_uri", &redirect),
                ("state", &state),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
            ],
            &scope,
        );
        fields.extend(oauth.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let joint = if url.contains('?') { '&' } else { '?' };
        let page = format!("{url}{joint}{}", form(&fields));
        Ok(Self { page, listener, path, state: state.into(), verifier: verifier.into(), redirect })
    }

    /// Where the person goes. Good for this login only.
    #[must_use]
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Waits until the browser comes back, and fetches the tokens.
    pub async fn finish(
        mut self,
        http: &Client,
        oauth: &OAuth,
        cancel: &CancellationToken,
    ) -> Result<Login, AuthError> {
        let end = tokio::time::Instant::now() + LONGEST_WAIT;
        loop {
            let next = tokio::time::timeout_at(end, self.listener.next(cancel));
            let callback = next.await.map_err(|_| AuthError::Expired)??;
            let query = Query::read(callback.query());
            let ours = callback.path() == self.path
                && query.get("state").is_some_and(|state| same(state, self.state.expose_secret()));
            if !ours {
                callback.answer(400, STRANGE).await;
                continue;
            }
            if let Some(error) = query.get("error") {
                callback.answer(200, FAILED).await;
                let said = query.get("error_description").unwrap_or(error).chars().take(300).collect();
                return Err(failure(error, said));
            }
            let Some(code) = query.get("code") else {
                callback.answer(400, STRANGE).await;
                continue;
            };
            let exchanged = self.exchange(http, oauth, code, cancel).await;
            callback.answer(200, if exchanged.is_ok() { DONE } else { FAILED }).await;
            return exchanged;
        }
    }

    async fn exchange(
        &self,
        http: &Client,
        oauth: &OAuth,
        code: &str,
        cancel: &CancellationToken,
    ) -> Result<Login, AuthError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect),
            ("client_id", &oauth.client_id),
            ("code_verifier", self.verifier.expose_secret()),
        ];
        match post(http, &oauth.token_url, &fields, cancel).await? {
            Answer::Good(value) => login(&value),
            Answer::Bad { code, said } => Err(failure(&code, said)),
        }
    }
}

/// The fields of a query.
struct Query(Vec<(String, String)>);

impl Query {
    fn read(text: &str) -> Self {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        Self(pairs.map(|(name, value)| (decoded(name), decoded(value))).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let escaped = hex.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether two texts are the same, found out in the same time wherever they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

fn challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes()))
}

fn random() -> Result<String, AuthError> {
    let mut bytes = [0; 32];
    ring::rand::SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| HttpError::Setup { detail: "the system has no random numbers".to_owned() })?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn a_query_is_read_with_its_escapes() {
        let query = Query::read("code=a%2Fb%zz+c&state=&x&error=%");
        assert_eq!(
            (query.get("code"), query.get("state"), query.get("x")),
            (Some("a/b%zz c"), Some(""), None)
        );
        assert_eq!(query.get("error"), Some("%"));
    }

    #[test]
    fn no_two_logins_are_alike() {
        assert_ne!(random().unwrap(), random().unwrap());
        assert_eq!(random().unwrap().len(), 43);
    }
}
