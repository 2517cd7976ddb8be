//! Finds model servers on this machine.
//!
//! Other things listen on the same ports: only what answers with a list of
//! models is a model server. No key is sent anywhere.

use std::time::Duration;

use rein_http::{BodyEnd, CancellationToken, Client, Method, Request};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

const LONGEST_LIST: usize = 1024 * 1024;

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The provider that it is, by its name in the catalog.
    pub provider: String,
    /// Where its API begins.
    pub base_url: String,
    /// The models that it has, in its order.
    pub models: Vec<String>,
}

/// Asks the given candidates, name and address each, all at once and for no
/// longer than `timeout`. Who has answered by then is there, in the given order.
pub async fn local(http: &Client, candidates: &[(String, String)], timeout: Duration) -> Vec<LocalServer> {
    let deadline = Instant::now() + timeout;
    let mut asked = JoinSet::new();
    for (place, (provider, base_url)) in candidates.iter().cloned().enumerate() {
        let http = http.clone();
        asked.spawn(async move {
            let models = ask(&http, &base_url, timeout).await?;
            Some((place, LocalServer { provider, base_url, models }))
        });
    }
    let mut found = Vec::new();
    // What has not answered in time is aborted with the set.
    while let Ok(Some(answer)) = tokio::time::timeout_at(deadline, asked.join_next()).await {
        found.extend(answer.ok().flatten());
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, server)| server).collect()
}

async fn ask(http: &Client, base_url: &str, timeout: Duration) -> Option<Vec<String>> {
    let request = Request::new(Method::Get, &format!("{base_url}/models")).ok()?.with_idle_timeout(timeout);
    let mut response = http.send(request, &CancellationToken::new()).await.ok()?;
    if response.status != 200 {
        return None;
    }
    match response.read_limited(LONGEST_LIST).await {
        (body, BodyEnd::Whole) => model_ids(&body),
        (_, BodyEnd::Truncated | BodyEnd::Broken(_)) => None,
    }
}

/// The ids in a list of models; nothing if it is none.
pub(crate) fn model_ids(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = match &value {
        Value::Array(list) => list,
        other => match other.get("data").or_else(|| other.get("models"))? {
            Value::Array(list) => list,
            // An empty list is null to some.
            Value::Null if other.get("object").and_then(Value::as_str) == Some("list") => {
                return Some(Vec::new());
            }
            _ => return None,
        },
    };
    // Some have names with what they are before a slash.
    let named = |model: &Value| Some(model.get("name")?.as_str()?.strip_prefix("models/")?.to_owned());
    let id = |model: &Value| model.get("id")?.as_str().map(ToOwned::to_owned);
    list.iter().map(|model| id(model).or_else(|| named(model))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_of_models_are_lists_of_models() {
        let ids = |text: &str| model_ids(text.as_bytes());
        assert_eq!(
            ids(r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#),
            Some(vec!["a".into(), "b".into()])
        );
        assert_eq!(ids(r#"[{"id":"a"}]"#), Some(vec!["a".into()]));
        assert_eq!(ids(r#"{"models":[{"name":"models/a"}]}"#), Some(vec!["a".into()]));
        assert_eq!(ids(r#"{"object":"list","data":null}"#), Some(vec![]));
        for other in
            ["", "<html>", "{}", r#"{"data":[{"name":"user"}]}"#, r#"{"data":"x"}"#, r#"{"data":null}"#, "7"]
        {
            assert_eq!(ids(other), None, "{other}");
        }
    }
}
