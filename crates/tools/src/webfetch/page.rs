//! What an answer is to a reader: text, or the reason why it is none.

use rein_http::{Ending, Page};
use tokio_util::sync::CancellationToken;

use super::charset;
use super::html;
use super::json;
use super::kind::Kind;

/// What a page holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Text(Text),
    /// Something else, and what to do with it.
    NotText(String),
}

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) title: Option<String>,
    pub(super) body: String,
}

/// What becomes of a page's markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// It is shown as it came.
    Kept,
    /// It is read, and what it says is shown.
    Read,
}

/// What a page holds. Takes processor time, less of it after `stop` is cancelled.
pub(super) fn read(page: &Page, markup: Markup, stop: &CancellationToken) -> Content {
    let content_type = page.headers.get("content-type");
    let kind = Kind::of(content_type, &page.body);
    let plain = |body: String| Content::Text(Text { title: None, body });
    let text = || charset::decode(&page.body, content_type);
    match (kind, markup) {
        (Kind::Html | Kind::Json | Kind::Text, Markup::Kept) | (Kind::Text, Markup::Read) => plain(text()),
        (Kind::Json, Markup::Read) => {
            let text = text();
            plain(json::indented(&text).unwrap_or(text))
        }
        (Kind::Html, Markup::Read) => {
            let readable = html::readable(&text(), &page.url, stop);
            Content::Text(Text { title: readable.title, body: readable.text })
        }
        (Kind::Pdf, _) => not_text(page, "a PDF document", "download it with bash and read the file"),
        (Kind::Image(name), _) => not_text(
            page,
            &format!("a picture ({name})"),
            "download it with bash and read the file to look at it",
        ),
        (Kind::Binary(name), _) => {
            not_text(page, &format!("no text ({name})"), "download it with bash if the file is needed")
        }
    }
}

fn not_text(page: &Page, what: &str, hint: &str) -> Content {
    if page.status >= 400 {
        return Content::NotText(refusal(page.status));
    }
    let announced = page.headers.get("content-length").and_then(|length| length.parse::<u64>().ok());
    let bytes = announced.unwrap_or(page.body.len() as u64);
    let least = if announced.is_none() && page.ending != Ending::Whole { "at least " } else { "" };
    Content::NotText(format!(
        "{} is {what} of {least}{bytes} bytes, which webfetch does not show; {hint}.",
        page.url
    ))
}

/// What the model is told of a status that means failure.
pub(super) fn refusal(status: u16) -> String {
    let (what, hint) = match status {
        401 | 407 => ("a login is needed", "use a page that is public"),
        403 | 406 | 451 => ("the server refuses this page", "try another source"),
        404 | 410 => ("there is no such page", "check the URL or search for it"),
        408 | 425 | 429 => {
            ("the server wants fewer requests", "wait before you try again, or use another source")
        }
        500..=599 => ("the server has a problem", "try again later or use another source"),
        _ => ("the server refuses the request", "check the URL"),
    };
    format!("The server answered {status}: {what}; {hint}.")
}

/// What there is to say about a page that is not all there.
pub(super) fn notes(page: &Page, limit: usize) -> Vec<String> {
    match &page.ending {
        Ending::Whole => Vec::new(),
        Ending::TooLarge => vec![format!("the page is larger than {limit} bytes and the rest was not read")],
        Ending::TooSlow => vec!["the server was too slow and the end of the page is missing".to_owned()],
        Ending::Broken(error) => vec![format!("the end of the page is missing: {error}")],
    }
}
