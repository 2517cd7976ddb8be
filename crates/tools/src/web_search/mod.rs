//! `web_search`: candidates for `webfetch`, from the search back end that a setting names.
//!
//! Whatever goes wrong with a back end is a result for the model with a next step. A key is sent to the
//! back end and shown nowhere. What is found is untrusted and reaches the model fenced.

mod backend;
mod brave;
mod duckduckgo;
mod exa;
mod searxng;
mod tavily;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use rein_http::{BodyEnd, Client, HttpError, Reach, Request, Url};
use rein_protocol::{Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::fence::fenced;
use crate::schema;
use crate::webfetch::html;

pub use backend::{Backend, UnknownBackend};
use backend::{Hit, Query, Unreadable};

/// Results when the model does not say how many.
const USUAL: usize = 5;

/// Results at most.
const MOST: usize = 10;

/// Bytes of an answer that are read.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;

/// Where searches go.
#[derive(Clone, Default)]
pub struct SearchSettings {
    /// Who searches. Without one the tool says how to set it.
    pub backend: Option<Backend>,
    /// Where, if not at the back end's usual address.
    pub endpoint: Option<String>,
    /// The key for it.
    pub key: Option<SecretString>,
    /// How long a search may take; nothing means 30 s.
    pub timeout: Option<Duration>,
}

impl fmt::Debug for SearchSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An endpoint may hold credentials by mistake.
        f.debug_struct("SearchSettings").field("backend", &self.backend).finish_non_exhaustive()
    }
}

/// Searches the web.
pub struct WebSearch {
    client: Client,
    settings: SearchSettings,
}

impl WebSearch {
    /// The tool.
    #[must_use]
    pub fn new(client: Client, settings: SearchSettings) -> Self {
        Self { client, settings }
    }

    /// The back end and where it is, if the settings make sense.
    fn target(&self) -> Result<(Backend, Url), String> {
        let Some(backend) = self.settings.backend else {
            return Err(format!(
                "Web search is not set up. Fetch a page that you know with webfetch instead, or tell the user to set \
                 `web.search.backend` to one of {}.",
                Backend::NAMES.join(", ")
            ));
        };
        let given = self.settings.endpoint.as_deref().or(backend.usual_endpoint());
        let given = given.ok_or_else(|| {
            format!(
                "The search back end {backend} needs its address; the user has to set `web.search.endpoint`."
            )
        })?;
        let bad = "The setting `web.search.endpoint` is no address like https://host/path without a user name; the \
                   user has to correct it.";
        let endpoint = Url::parse(given).map_err(|_| bad.to_owned())?;
        let plain = matches!(endpoint.scheme(), "http" | "https")
            && endpoint.username().is_empty()
            && endpoint.password().is_none();
        if !plain {
            return Err(bad.to_owned());
        }
        if backend.needs_key() && self.settings.key.is_none() {
            return Err(format!(
                "The search back end {backend} needs a key; the user has to name the environment variable that \
                 holds it in `web.search.key_env`."
            ));
        }
        let open = endpoint.scheme() == "http" && Reach::of(endpoint.as_str()) == Reach::Public;
        if open && self.settings.key.is_some() {
            return Err("The key for the search would be sent unencrypted; the user has to set \
                        `web.search.endpoint` to an https address."
                .to_owned());
        }
        Ok((backend, endpoint))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    query: String,
    /// Results, 5 by default, at most 10.
    count: Option<usize>,
}

#[async_trait]
impl Tool for WebSearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "web_search".to_owned(),
            description: include_str!("web_search.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, _: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("web_search", arguments)?;
        let words = arguments.query.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() || words.chars().count() > 400 {
            return Err(Complaint("`query`: must have from 1 to 400 characters.".to_owned()));
        }
        let (backend, endpoint) = self.target().map_err(Complaint)?;
        let query = Query { words, count: arguments.count.unwrap_or(USUAL).clamp(1, MOST) };
        let request = backend
            .request(&endpoint, self.settings.key.as_ref(), &query)
            .map_err(|error| Complaint(format!("The search cannot be made: {error}.")))?;
        let mut shown = endpoint;
        shown.set_query(None);
        shown.set_fragment(None);
        let display = Display::titled(format!("search {backend} for \"{}\"", query.words));
        Ok(Box::new(Searching {
            intent: Intent { effects: vec![Effect::Fetch { url: shown.into() }], display },
            client: self.client.clone(),
            timeout: self.settings.timeout.unwrap_or(Duration::from_secs(30)),
            backend,
            request,
            query,
        }))
    }
}

struct Searching {
    intent: Intent,
    client: Client,
    timeout: Duration,
    backend: Backend,
    request: Request,
    query: Query,
}

#[async_trait]
impl Plan for Searching {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(self: Box<Self>, _: &Scene, output: &mut dyn Output, cancel: &CancellationToken) -> Outcome {
        let Self { intent, client, timeout, backend, request, query } = *self;
        let display = intent.display;
        let searching = search(&client, backend, request, cancel);
        let found = match tokio::time::timeout(timeout, searching).await {
            Ok(found) => found,
            Err(_) => Err(Failure::Told(format!(
                "{backend} did not answer within {} s. Try again later, or fetch a page that you know with webfetch.",
                timeout.as_secs_f32()
            ))),
        };
        match found {
            Ok(hits) => tell(display, backend, hits, query.count, output),
            Err(Failure::Cancelled) => Outcome::interrupted(display),
            Err(Failure::Told(message)) => Outcome::failed(display, message),
        }
    }
}

enum Failure {
    Cancelled,
    Told(String),
}

async fn search(
    client: &Client,
    backend: Backend,
    request: Request,
    cancel: &CancellationToken,
) -> Result<Vec<Hit>, Failure> {
    let failed = |error: HttpError| match error {
        HttpError::Cancelled => Failure::Cancelled,
        error => Failure::Told(format!("The search failed: {error}.")),
    };
    let mut response = client.send(request, cancel).await.map_err(failed)?;
    let (body, end) = response.read_limited(LONGEST_ANSWER).await;
    if let BodyEnd::Broken(error) = end {
        return Err(failed(error));
    }
    let blocked = response.status == 202 && backend == Backend::DuckDuckGo;
    if !(200..300).contains(&response.status) || blocked {
        let wait = response.headers.get("retry-after").and_then(|seconds| seconds.parse::<u32>().ok());
        return Err(Failure::Told(refusal(backend, response.status, wait)));
    }
    let stop = cancel.child_token();
    let _stop_guard = stop.clone().drop_guard();
    let read = tokio::task::spawn_blocking(move || backend.hits(&body, &stop)).await;
    match read {
        Ok(Ok(hits)) => Ok(hits),
        Ok(Err(Unreadable::Blocked)) => Err(Failure::Told(refusal(backend, 429, None))),
        Ok(Err(Unreadable::Garbage)) | Err(_) => Err(Failure::Told(format!(
            "{backend} answered with something that is no list of results. Fetch a page that you know with webfetch, \
             and tell the user to check `web.search.endpoint`."
        ))),
    }
}

fn refusal(backend: Backend, status: u16, wait: Option<u32>) -> String {
    let (what, hint) = match status {
        300..=399 => ("it is at another address", "the user has to correct `web.search.endpoint`".to_owned()),
        403 if backend == Backend::SearXng => (
            "it does not give results as JSON",
            "whoever runs it has to add `json` to `search.formats` in its settings".to_owned(),
        ),
        401 | 403 => ("it does not accept the key", "the user has to check `web.search.key_env`".to_owned()),
        402 | 432 | 433 => ("the plan is used up", "the user has to look at the account".to_owned()),
        404 | 405 => {
            ("there is no search at this address", "the user has to check `web.search.endpoint`".to_owned())
        }
        202 | 429 => {
            let wait = wait.map_or_else(|| "wait".to_owned(), |seconds| format!("wait {seconds} s"));
            ("it wants fewer searches", format!("{wait}, or fetch a page that you know with webfetch"))
        }
        500..=599 => ("it has a problem", "try again later".to_owned()),
        _ => ("it refuses the search", "try other words".to_owned()),
    };
    format!("The search back end {backend} answered {status}: {what}; {hint}.")
}

fn tell(
    display: Display,
    backend: Backend,
    hits: Vec<Hit>,
    count: usize,
    output: &mut dyn Output,
) -> Outcome {
    let mut seen: Vec<String> = Vec::new();
    let mut list = String::new();
    for hit in hits {
        let Some(url) = public_url(&hit.url).filter(|url| !seen.contains(url)) else { continue };
        let title = Some(shortened(&hit.title, 150)).filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| url.clone());
        let snippet = shortened(&hit.snippet, 300);
        let snippet = if snippet.is_empty() { snippet } else { format!("   {snippet}\n") };
        seen.push(url);
        let (number, url) = (seen.len(), seen.last().map_or("", String::as_str));
        list.push_str(&format!("{number}. {title}\n   {url}\n{snippet}"));
        if seen.len() == count {
            break;
        }
    }
    let display = display.with_summary(format!("{} results", seen.len()));
    if seen.is_empty() {
        return Outcome::completed(display).with_trailer(Some("[no results; try other words]".to_owned()));
    }
    output.write(fenced(&format!("a search with {backend}"), &list).as_bytes());
    Outcome::completed(display)
}

/// The address of a result, if it is one that could be fetched.
fn public_url(url: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok()?;
    let fits = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
        && url.as_str().len() <= 1_000;
    fits.then(|| url.into())
}

/// A piece of HTML as one line of at most so many characters.
fn shortened(html: &str, most: usize) -> String {
    let head: String = html.chars().take(most * 8).collect();
    let line = html::line(&head);
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain(['…']).collect()
}
