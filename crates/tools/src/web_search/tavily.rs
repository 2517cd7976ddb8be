//! Tavily: `POST` with a bearer key.

use rein_http::{HttpError, Method, Request, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::backend::{Hit, Query, listed, text};

pub(super) fn request(
    endpoint: &Url,
    key: Option<&SecretString>,
    query: &Query,
) -> Result<Request, HttpError> {
    let body = json!({"query": query.words, "max_results": query.count, "search_depth": "basic"});
    let request = Request::new(Method::Post, endpoint.as_str())?
        .with_header("content-type", "application/json")?
        .with_body(body.to_string());
    match key {
        Some(key) => request.with_secret_header("authorization", &format!("Bearer {}", key.expose_secret())),
        None => Ok(request),
    }
}

pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    listed(answer.get("results"), |item| text(item, "content"))
}
