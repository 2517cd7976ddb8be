//! SearXNG: `GET /search?format=json`. An instance may be anybody's, and old: missing fields are empty.

use rein_http::{HttpError, Method, Request, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::backend::{Hit, Query, listed, text, with_parameters};

pub(super) fn request(
    endpoint: &Url,
    key: Option<&SecretString>,
    query: &Query,
) -> Result<Request, HttpError> {
    let mut endpoint = endpoint.clone();
    let path = endpoint.path().trim_end_matches('/').to_owned();
    if !path.ends_with("/search") {
        endpoint.set_path(&format!("{path}/search"));
    }
    let url = with_parameters(&endpoint, &[("q", &query.words), ("format", "json")]);
    let request = Request::new(Method::Get, url.as_str())?.with_header("accept", "application/json")?;
    match key {
        // Instances behind a gate take a bearer token.
        Some(key) => request.with_secret_header("authorization", &format!("Bearer {}", key.expose_secret())),
        None => Ok(request),
    }
}

pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    listed(answer.get("results"), |item| text(item, "content"))
}
