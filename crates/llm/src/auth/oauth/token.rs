//! What a server of logins is posted and answers: forms out, JSON in.

use rein_http::{BodyEnd, CancellationToken, Client, Method, Request};
use rein_protocol::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::super::AuthError;
use super::super::vault::Login;
use super::{ANSWER_LIMIT, OAuth};
use crate::catalog::percent_encoded;

const LONGEST_ANSWER: usize = 256 * 1024;
const LONGEST_WORDS: usize = 300;

/// What came back.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// A success, as it is.
    Good(Value),
    /// An error by its code, and in words.
    Bad { code: String, said: String },
}

/// Another access token for a refresh token. Is not cancelled: the old token may be void once it is sent.
pub(in super::super) async fn refresh(
    http: &Client,
    oauth: &OAuth,
    token: &SecretString,
) -> Result<Login, AuthError> {
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token.expose_secret()),
        ("client_id", &oauth.client_id),
    ];
    let url = oauth.checked("token_url", &oauth.token_url)?;
    match post(http, url, &fields, &CancellationToken::new()).await? {
        Answer::Good(value) => login(&value),
        Answer::Bad { code, said } => Err(failure(&code, said)),
    }
}

/// A token for something else than a login that is stored here.
pub(in super::super) async fn granted(
    http: &Client,
    url: &str,
    fields: &[(&str, &str)],
    cancel: &CancellationToken,
) -> Result<Login, AuthError> {
    match post(http, url, fields, cancel).await? {
        Answer::Good(value) => login(&value),
        Answer::Bad { said, .. } => Err(AuthError::Refused { said }),
    }
}

/// Posts a form.
pub(super) async fn post(
    http: &Client,
    url: &str,
    fields: &[(&str, &str)],
    cancel: &CancellationToken,
) -> Result<Answer, AuthError> {
    let request = Request::new(Method::Post, url)?
        .with_header("content-type", "application/x-www-form-urlencoded")?
        .with_header("accept", "application/json")?
        .with_body(form(fields))
        .with_idle_timeout(ANSWER_LIMIT);
    let mut response = http.send(request, cancel).await?;
    let status = response.status;
    match response.read_limited(LONGEST_ANSWER).await {
        (_, BodyEnd::Broken(error)) => Err(error.into()),
        (body, BodyEnd::Whole | BodyEnd::Truncated) => Ok(answer(status, &body)),
    }
}

/// Fields as a form, or as the query of an address.
pub(super) fn form(fields: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{}={}", percent_encoded(name), percent_encoded(value));
    fields.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// Fields, and what is asked for if that is anything.
pub(super) fn with_scope<'a>(fields: &[(&'a str, &'a str)], scope: &'a str) -> Vec<(&'a str, &'a str)> {
    let scope = Some(("scope", scope)).filter(|(_, scope)| !scope.is_empty());
    fields.iter().copied().chain(scope).collect()
}

/// An error may come with any status: some servers say 200.
fn answer(status: u16, body: &[u8]) -> Answer {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let text = |name: &str| value.as_ref()?.get(name)?.as_str().map(ToOwned::to_owned);
    if let Some(code) = text("error") {
        let said = text("error_description").unwrap_or_else(|| code.clone());
        return Answer::Bad { code, said: said.chars().take(LONGEST_WORDS).collect() };
    }
    match value {
        Some(value) if (200..300).contains(&status) => Answer::Good(value),
        _ => Answer::Bad { code: String::new(), said: format!("the server answered with status {status}") },
    }
}

/// The login in an answer.
pub(super) fn login(value: &Value) -> Result<Login, AuthError> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let Some(token) = text("access_token") else {
        return Err(AuthError::Refused { said: "the answer holds no token".to_owned() });
    };
    let seconds = value.get("expires_in").and_then(number);
    let expires =
        seconds.map(|seconds| Timestamp(Timestamp::now().0.saturating_add(seconds.saturating_mul(1000))));
    Ok(Login {
        access_token: token.trim().into(),
        refresh_token: text("refresh_token").map(|token| token.trim().into()),
        expires,
    })
}

/// A number, which some servers write as a text.
pub(super) fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| *number >= 0)
}

/// An error by its code.
pub(super) fn failure(code: &str, said: String) -> AuthError {
    match code {
        "access_denied" => AuthError::Denied,
        "expired_token" | "invalid_grant" => AuthError::Expired,
        _ => AuthError::Refused { said },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_escapes_what_has_a_meaning() {
        assert_eq!(form(&[("a b", "c&d=é"), ("x", "")]), "a%20b=c%26d%3D%C3%A9&x=");
    }

    #[test]
    fn an_error_is_one_with_any_status_and_needs_no_words() {
        let bad = |code: &str, said: &str| Answer::Bad { code: code.to_owned(), said: said.to_owned() };
        assert_eq!(answer(200, br#"{"error":"slow_down"}"#), bad("slow_down", "slow_down"));
        assert_eq!(answer(400, br#"{"error":"x","error_description":"why"}"#), bad("x", "why"));
        assert_eq!(answer(502, b"<html>"), bad("", "the server answered with status 502"));
        assert_eq!(answer(200, br#"{"a":1}"#), Answer::Good(json!({"a": 1})));
    }

    #[test]
    fn a_login_shows_no_token() {
        let login =
            login(&json!({"access_token": "hunter2", "refresh_token": "hunter3", "expires_in": "60"}));
        let login = login.unwrap();
        assert!(login.expires.unwrap() > Timestamp::now());
        assert!(!format!("{login:?}").contains("hunter"));
        assert!(super::login(&json!({"access_token": " "})).is_err());
    }
}
