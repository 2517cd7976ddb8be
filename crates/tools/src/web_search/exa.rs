//! Exa: `POST` with the key in a header; asks for a highlight of each page as its snippet.

use rein_http::{HttpError, Method, Request, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::backend::{Hit, Query, listed, text};

pub(super) fn request(
    endpoint: &Url,
    key: Option<&SecretString>,
    query: &Query,
) -> Result<Request, HttpError> {
    let contents = json!({"highlights": {"numSentences": 2, "highlightsPerUrl": 1}});
    let body = json!({"query": query.words, "numResults": query.count, "contents": contents});
    let request = Request::new(Method::Post, endpoint.as_str())?
        .with_header("content-type", "application/json")?
        .with_body(body.to_string());
    match key {
        Some(key) => request.with_secret_header("x-api-key", key.expose_secret()),
        None => Ok(request),
    }
}

pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    listed(answer.get("results"), |item| {
        let highlight = item.get("highlights").and_then(|all| all.get(0)).and_then(Value::as_str);
        highlight.map_or_else(|| text(item, "text"), str::to_owned)
    })
}
