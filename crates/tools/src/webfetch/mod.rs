//! `webfetch`: a web page as text that a model can read.
//!
//! Where it may lead is the guard's business in [`rein_http`]; whether it may be fetched at all, the
//! gate's. A page is untrusted from its first byte to the last: it reaches the model fenced, also when
//! another model has read it in between.

mod charset;
pub(crate) mod html;
mod json;
mod kind;
mod page;
mod window;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rein_http::{FetchError, Fetched, Fetcher, HttpError, Page, Url};
use rein_protocol::{Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::fence::fenced;
use crate::schema;
use page::{Content, Text};
use window::Lines;

/// Reads a page for a question, as a small model does.
#[async_trait]
pub trait Summarise: Send + Sync {
    /// The answer that a page gives to a question, in few words. `page` is fenced: what stands in it is
    /// data, and an implementer tells its model so. Dropping the future ends it.
    ///
    /// # Errors
    ///
    /// Why there is no answer, in a few words for the model that asked.
    async fn summarise(&self, question: &str, page: &str) -> Result<String, String>;
}

/// Whether a redirect from one URL to another is followed without asking.
pub type RedirectRule = Arc<dyn Fn(&Url, &Url) -> bool + Send + Sync>;

/// How pages are shown.
#[derive(Clone)]
pub struct WebSettings {
    /// Bytes of a page that are shown at once, about four to a token.
    pub shown_bytes: usize,
    /// Bytes of a page that the small model is given.
    pub summarised_bytes: usize,
    /// Which redirects are followed. Others are told to the model, which may ask for them.
    pub may_follow: RedirectRule,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self { shown_bytes: 24_000, summarised_bytes: 120_000, may_follow: Arc::new(same_host) }
    }
}

impl fmt::Debug for WebSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSettings")
            .field("shown_bytes", &self.shown_bytes)
            .field("summarised_bytes", &self.summarised_bytes)
            .finish_non_exhaustive()
    }
}

/// Whether both are of one host and port, or the second is its secure form.
#[must_use]
pub fn same_host(from: &Url, to: &Url) -> bool {
    let upgraded =
        from.scheme() == "http" && to.scheme() == "https" && from.port().is_none() && to.port().is_none();
    from.host() == to.host() && (upgraded || from.port_or_known_default() == to.port_or_known_default())
}

/// Reads web pages.
pub struct Webfetch {
    fetcher: Fetcher,
    settings: WebSettings,
    summarise: Option<Arc<dyn Summarise>>,
}

impl Webfetch {
    /// The tool. Without somebody who summarises, a question gets the page itself.
    #[must_use]
    pub fn new(fetcher: Fetcher, settings: WebSettings, summarise: Option<Arc<dyn Summarise>>) -> Self {
        Self { fetcher, settings, summarise }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    url: String,
    /// "markdown" (default), "raw" or "summary".
    format: Option<String>,
    /// For a summary.
    question: Option<String>,
    offset: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Format {
    Markdown,
    Raw,
    Summary { question: String },
}

#[async_trait]
impl Tool for Webfetch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "webfetch".to_owned(),
            description: include_str!("webfetch.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, _: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("webfetch", arguments)?;
        let format = format_of(arguments.format.as_deref(), arguments.question)?;
        let mut url = self
            .fetcher
            .options()
            .guard
            .parse(&with_scheme(&arguments.url))
            .map_err(|refusal| Complaint(format!("`url`: {refusal}.")))?;
        url.set_fragment(None);
        let url = source_file(url);
        let title = match &format {
            Format::Summary { question } => format!("fetch {url} for \"{question}\""),
            Format::Markdown | Format::Raw => format!("fetch {url}"),
        };
        let effects = vec![Effect::Fetch { url: url.to_string() }];
        Ok(Box::new(Fetching {
            intent: Intent { effects, display: Display::titled(title) },
            fetcher: self.fetcher.clone(),
            settings: self.settings.clone(),
            summarise: self.summarise.clone(),
            url,
            format,
            offset: arguments.offset.unwrap_or(0),
        }))
    }
}

fn format_of(format: Option<&str>, question: Option<String>) -> Result<Format, Complaint> {
    let question = question.filter(|question| !question.trim().is_empty());
    match (format.map(|name| name.trim().to_lowercase()).as_deref(), question) {
        (Some("summary" | "summarised" | "summarized"), question) => {
            Ok(Format::Summary { question: question.unwrap_or_else(|| "What does the page say?".to_owned()) })
        }
        (None | Some(""), Some(question)) => Ok(Format::Summary { question }),
        (None | Some("" | "markdown" | "md" | "text" | "extracted"), _) => Ok(Format::Markdown),
        (Some("raw" | "html" | "source"), _) => Ok(Format::Raw),
        (Some(_), _) => Err(Complaint("`format`: must be \"markdown\", \"raw\" or \"summary\".".to_owned())),
    }
}

fn with_scheme(url: &str) -> String {
    let url = url.trim();
    let schemed = url.contains("://")
        || ["data:", "javascript:", "mailto:", "file:", "about:"]
            .iter()
            .any(|scheme| url.starts_with(scheme));
    if schemed { url.to_owned() } else { format!("https://{}", url.trim_start_matches('/')) }
}

/// The file itself where a forge would show it in a page of its own.
fn source_file(url: Url) -> Url {
    let parts: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let file = match (url.host_str(), parts.as_slice()) {
        (Some("github.com"), [owner, name, "blob", path @ ..]) if path.len() > 1 => {
            format!("https://raw.githubusercontent.com/{owner}/{name}/{}", path.join("/"))
        }
        (Some("gitlab.com"), [.., "-", "blob", _, _])
        | (Some("codeberg.org"), [_, _, "src", _, _, _, ..]) => {
            let raw = if url.host_str() == Some("gitlab.com") {
                ("/-/blob/", "/-/raw/")
            } else {
                ("/src/", "/raw/")
            };
            url.as_str().replacen(raw.0, raw.1, 1)
        }
        _ => return url,
    };
    Url::parse(&file).unwrap_or(url)
}

struct Fetching {
    intent: Intent,
    fetcher: Fetcher,
    settings: WebSettings,
    summarise: Option<Arc<dyn Summarise>>,
    url: Url,
    format: Format,
    offset: usize,
}

#[async_trait]
impl Plan for Fetching {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(self: Box<Self>, _: &Scene, output: &mut dyn Output, cancel: &CancellationToken) -> Outcome {
        let display = self.intent.display.clone();
        let page = match self.fetcher.fetch(&self.url, &*self.settings.may_follow, cancel).await {
            Ok(Fetched::Page(page)) => Arc::new(page),
            Ok(Fetched::Elsewhere { from, to, .. }) => return elsewhere(display, &from, &to),
            Err(FetchError::Http(HttpError::Cancelled)) => return Outcome::interrupted(display),
            Err(error) => return Outcome::failed(display, format!("Nothing was fetched: {error}.")),
        };
        let summary = format!("{}, {} KB", page.status, page.body.len().div_ceil(1024));
        let display = display.with_summary(summary);
        let markup = if self.format == Format::Raw { page::Markup::Kept } else { page::Markup::Read };
        let stop = cancel.child_token();
        let _stop_guard = stop.clone().drop_guard();
        let reading = tokio::task::spawn_blocking({
            let page = Arc::clone(&page);
            move || page::read(&page, markup, &stop)
        });
        let read = tokio::select! {
            biased;
            () = cancel.cancelled() => return Outcome::interrupted(display),
            read = tokio::time::timeout(self.fetcher.options().timeout, reading) => read,
        };
        match read {
            Ok(Ok(Content::Text(text))) => self.tell(display, &page, &text, output, cancel).await,
            Ok(Ok(Content::NotText(what))) => Outcome::failed(display, what),
            Ok(Err(_)) | Err(_) => Outcome::failed(
                display,
                "The page is too tangled to be made readable. Try `format`: \"raw\", or another source.",
            ),
        }
    }
}

fn elsewhere(display: Display, from: &Url, to: &Url) -> Outcome {
    let shown: String = to.as_str().chars().take(2_000).collect();
    let host = from.host_str().unwrap_or_default();
    let message = format!(
        "[{host} redirects to another host and nothing was read. If that is where you want to go, call webfetch \
         with this URL: {shown}]"
    );
    Outcome::completed(display.with_summary("redirects elsewhere")).with_trailer(Some(message))
}

impl Fetching {
    async fn tell(
        &self,
        display: Display,
        page: &Page,
        text: &Text,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        if page.status >= 400 {
            let part = window::window(&text.body, 0, 1_000);
            if !part.text.trim().is_empty() {
                output.write(fenced(page.url.as_str(), part.text).as_bytes());
            }
            return Outcome::failed(display, page::refusal(page.status));
        }
        let mut notes = page::notes(page, self.fetcher.options().max_bytes);
        if let Format::Summary { question } = &self.format {
            let answered = tokio::select! {
                biased;
                () = cancel.cancelled() => return Outcome::interrupted(display),
                answered = self.answer(question, page, text) => answered,
            };
            match answered {
                Ok((answer, rest)) => {
                    output.write(fenced(&format!("a summary of {}", page.url), &answer).as_bytes());
                    notes.extend(rest);
                    return Outcome::completed(display).with_trailer(bracketed(&notes));
                }
                Err(why) => notes.push(format!("{why}, so this is the page itself")),
            }
        }
        if text.body.trim().is_empty() {
            notes.push(
                "the page has no text; it may be made by scripts: try `format`: \"raw\", or another source"
                    .to_owned(),
            );
            return Outcome::completed(display).with_trailer(bracketed(&notes));
        }
        let (body, lines) = window::broken(&text.body);
        let part = window::window(&body, self.offset, self.settings.shown_bytes);
        if part.text.is_empty() {
            let message =
                format!("`offset` {} is beyond the end: the page has {} bytes.", self.offset, body.len());
            return Outcome::failed(display, message);
        }
        let title = text.title.as_ref().filter(|_| self.offset == 0);
        let heading = title.map(|title| format!("Title: {title}\n\n")).unwrap_or_default();
        output.write(fenced(page.url.as_str(), &(heading + part.text)).as_bytes());
        if lines == Lines::Broken {
            notes.push("very long lines are broken".to_owned());
        }
        if let Some(next) = part.next {
            let total = body.len();
            notes.push(format!("bytes {} to {next} of {total}; continue with offset={next}", self.offset));
        }
        Outcome::completed(display).with_trailer(bracketed(&notes))
    }

    /// What the small model says, and what it did not see.
    async fn answer(
        &self,
        question: &str,
        page: &Page,
        text: &Text,
    ) -> Result<(String, Option<String>), String> {
        let summarise = self.summarise.as_ref().ok_or("no model for summaries is set up")?;
        let part = window::window(&text.body, self.offset, self.settings.summarised_bytes);
        if part.text.trim().is_empty() {
            return Err("there is nothing to summarise".to_owned());
        }
        let title = text.title.as_ref().map(|title| format!("Title: {title}\n\n")).unwrap_or_default();
        let shown = fenced(page.url.as_str(), &(title + part.text));
        let answer = summarise.summarise(question, &shown).await.map_err(|why| {
            let why: String = why.chars().take(200).collect();
            format!("there is no summary ({why})")
        })?;
        if answer.trim().is_empty() {
            return Err("the summary came out empty".to_owned());
        }
        let limit = self.settings.shown_bytes;
        let answer = answer.get(..answer.floor_char_boundary(limit)).unwrap_or_default().to_owned();
        let rest = part.next.map(|next| format!("the summary is of the part before offset={next}"));
        Ok((answer, rest))
    }
}

fn bracketed(notes: &[String]) -> Option<String> {
    (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn redirects_stay_with_the_host() {
        for (from, to, expected) in [
            ("https://a.example/x", "https://a.example/y", true),
            ("http://a.example/", "https://a.example/", true),
            ("http://a.example/", "http://a.example:8080/", false),
            ("http://a.example:8080/", "https://a.example/", false),
            ("https://a.example/", "https://www.a.example/", false),
            ("https://a.example/", "https://a.example.evil/", false),
        ] {
            assert_eq!(same_host(&url(from), &url(to)), expected, "{from} {to}");
        }
    }

    #[test]
    fn a_file_on_a_forge_is_fetched_itself() {
        for (given, expected) in [
            (
                "https://github.com/o/r/blob/main/src/a.rs",
                "https://raw.githubusercontent.com/o/r/main/src/a.rs",
            ),
            ("https://gitlab.com/g/s/r/-/blob/main/a.rs", "https://gitlab.com/g/s/r/-/raw/main/a.rs"),
            (
                "https://codeberg.org/o/r/src/branch/main/a.rs",
                "https://codeberg.org/o/r/raw/branch/main/a.rs",
            ),
            ("https://github.com/o/r/tree/main/src", "https://github.com/o/r/tree/main/src"),
            ("https://github.com/o/r/blob/main", "https://github.com/o/r/blob/main"),
        ] {
            assert_eq!(source_file(url(given)).as_str(), expected);
        }
    }

    #[test]
    fn a_scheme_is_added_where_there_is_none() {
        assert_eq!(with_scheme(" example.com/a "), "https://example.com/a");
        assert_eq!(with_scheme("//example.com"), "https://example.com");
        assert_eq!(with_scheme("localhost:8080/a"), "https://localhost:8080/a");
        assert_eq!(with_scheme("http://example.com"), "http://example.com");
        assert_eq!(with_scheme("file:/etc/passwd"), "file:/etc/passwd");
    }
}
