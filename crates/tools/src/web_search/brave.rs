//! Brave Search: `GET` with the key in a header; results below `web`, with `<strong>` in their snippets.

use rein_http::{HttpError, Method, Request, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::backend::{Hit, Query, listed, text, with_parameters};

pub(super) fn request(
    endpoint: &Url,
    key: Option<&SecretString>,
    query: &Query,
) -> Result<Request, HttpError> {
    let url = with_parameters(endpoint, &[("q", &query.words), ("count", &query.count.to_string())]);
    let request = Request::new(Method::Get, url.as_str())?.with_header("accept", "application/json")?;
    match key {
        Some(key) => request.with_secret_header("x-subscription-token", key.expose_secret()),
        None => Ok(request),
    }
}

pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    // Without results there is no `web`, but the answer still says what it is.
    if answer.get("web").is_none() && answer.get("type").is_some_and(|kind| kind == "search") {
        return Some(Vec::new());
    }
    listed(answer.get("web").and_then(|web| web.get("results")), |item| text(item, "description"))
}
