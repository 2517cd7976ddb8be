//! A login by a code that a person types into a page on any device.

use std::time::Duration;

use rein_http::{CancellationToken, Client, HttpError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::Instant;

use super::super::AuthError;
use super::super::vault::Login;
use super::OAuth;
use super::token::{Answer, failure, login, number, post, with_scope};

/// How often is asked if the server does not say, and how much more slowly if it says so.
const USUAL_INTERVAL: Duration = Duration::from_secs(5);
/// If the server does not say.
const USUAL_LIFETIME: i64 = 15 * 60;
const LONGEST_LIFETIME: i64 = 60 * 60;

/// A login that waits for a person. Showing it shows no secrets.
#[derive(Debug)]
pub struct DeviceLogin {
    /// What the person types in.
    pub code: String,
    /// Where.
    pub page: String,
    /// Where with the code filled in, if there is such a page.
    pub complete_page: Option<String>,
    device_code: SecretString,
    interval: Duration,
    end: Instant,
}

impl DeviceLogin {
    /// Asks the provider for a code.
    pub async fn begin(
        http: &Client,
        provider: &str,
        oauth: &OAuth,
        cancel: &CancellationToken,
    ) -> Result<Self, AuthError> {
        let missing = || AuthError::NotConfigured { provider: provider.to_owned(), missing: "device_url" };
        let url = oauth.checked("device_url", oauth.device_url.as_deref().ok_or_else(missing)?)?;
        oauth.checked("token_url", &oauth.token_url)?;
        let scope = oauth.scopes.join(" ");
        let fields = with_scope(&[("client_id", oauth.client(provider)?)], &scope);
        match post(http, url, &fields, cancel).await? {
            Answer::Good(value) => Self::read(&value),
            Answer::Bad { code, said } => Err(failure(&code, said)),
        }
    }

    /// Waits until the person is done, or says no, or the time is over.
    pub async fn finish(
        mut self,
        http: &Client,
        oauth: &OAuth,
        cancel: &CancellationToken,
    ) -> Result<Login, AuthError> {
        let url = oauth.checked("token_url", &oauth.token_url)?;
        loop {
            tokio::select! {
                () = cancel.cancelled() => return Err(HttpError::Cancelled.into()),
                () = tokio::time::sleep(self.interval) => {}
            }
            if Instant::now() >= self.end {
                return Err(AuthError::Expired);
            }
            let fields = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", self.device_code.expose_secret()),
                ("client_id", &oauth.client_id),
            ];
            let answered = post(http, url, &fields, cancel).await;
            if let Some(done) = self.heard(answered) {
                return done;
            }
        }
    }

    fn read(value: &Value) -> Result<Self, AuthError> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let page = text("verification_uri").or_else(|| text("verification_url"));
        let (Some(device_code), Some(code), Some(page)) = (text("device_code"), text("user_code"), page)
        else {
            return Err(AuthError::Refused { said: "the answer holds no code".to_owned() });
        };
        let seconds = |name: &str| value.get(name).and_then(number);
        let interval = seconds("interval").and_then(|seconds| u64::try_from(seconds).ok());
        let lifetime = seconds("expires_in").unwrap_or(USUAL_LIFETIME).clamp(0, LONGEST_LIFETIME);
        Ok(Self {
            code: code.to_owned(),
            page: page.to_owned(),
            complete_page: text("verification_uri_complete").map(ToOwned::to_owned),
            device_code: device_code.into(),
            interval: interval.map_or(USUAL_INTERVAL, Duration::from_secs),
            end: Instant::now() + Duration::from_secs(u64::try_from(lifetime).unwrap_or_default()),
        })
    }

    /// What an answer means: that it is over, or to go on asking.
    fn heard(&mut self, answered: Result<Answer, AuthError>) -> Option<Result<Login, AuthError>> {
        match answered {
            Ok(Answer::Good(value)) => Some(login(&value)),
            Ok(Answer::Bad { code, said }) => match code.as_str() {
                "authorization_pending" => None,
                "slow_down" => {
                    self.interval += USUAL_INTERVAL;
                    None
                }
                _ => Some(Err(failure(&code, said))),
            },
            // A person who types a code does not notice that the network was away.
            Err(AuthError::Http(
                HttpError::ConnectTimeout { .. } | HttpError::Cut { .. } | HttpError::Stalled { .. },
            )) => {
                self.interval += USUAL_INTERVAL;
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn begun() -> DeviceLogin {
        DeviceLogin::read(&json!({
            "device_code": "hunter2", "user_code": "ABCD-EFGH", "verification_uri": "https://x/device",
            "interval": 1, "expires_in": 900,
        }))
        .unwrap()
    }

    fn bad(code: &str) -> Result<Answer, AuthError> {
        Ok(Answer::Bad { code: code.to_owned(), said: code.to_owned() })
    }

    #[test]
    fn a_server_that_wants_to_be_asked_less_often_is() {
        let mut login = begun();
        assert!(login.heard(bad("authorization_pending")).is_none());
        assert_eq!(login.interval, Duration::from_secs(1));
        assert!(login.heard(bad("slow_down")).is_none());
        assert!(login.heard(bad("slow_down")).is_none());
        assert_eq!(login.interval, Duration::from_secs(11));
        assert!(login.heard(Err(HttpError::Cut { host: "x".to_owned() }.into())).is_none());
        assert_eq!(login.interval, Duration::from_secs(16));
    }

    #[test]
    fn every_other_answer_is_the_end_of_it() {
        let end = |answer| begun().heard(answer).unwrap().map(|_| ());
        assert_eq!(end(bad("access_denied")), Err(AuthError::Denied));
        assert_eq!(end(bad("expired_token")), Err(AuthError::Expired));
        assert_eq!(end(bad("invalid_client")), Err(AuthError::Refused { said: "invalid_client".to_owned() }));
        assert_eq!(end(Ok(Answer::Good(json!({"access_token": "t"})))), Ok(()));
    }

    #[test]
    fn what_waits_for_a_person_shows_no_secret() {
        assert!(!format!("{:?}", begun()).contains("hunter2"));
        assert!(DeviceLogin::read(&json!({"user_code": "x"})).is_err());
    }
}
