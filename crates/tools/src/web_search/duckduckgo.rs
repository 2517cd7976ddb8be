//! DuckDuckGo's page for browsers without scripts: a form is sent, and the results are read from the
//! page. Its classes are its only structure, so what lacks them is skipped and not guessed.

use rein_http::{HttpError, Method, Request, Url};
use tokio_util::sync::CancellationToken;

use super::backend::{Hit, Query, Unreadable, with_parameters};
use crate::webfetch::html;

pub(super) fn request(endpoint: &Url, query: &Query) -> Result<Request, HttpError> {
    let mut form = endpoint.clone();
    form.set_query(None);
    let form = with_parameters(&form, &[("q", &query.words)]);
    Request::new(Method::Post, endpoint.as_str())?
        .with_header("content-type", "application/x-www-form-urlencoded")?
        .with_header("accept", "text/html")
        .map(|request| request.with_body(form.query().unwrap_or_default().to_owned()))
}

pub(super) fn hits(html: &str, stop: &CancellationToken) -> Result<Vec<Hit>, Unreadable> {
    let document = html::parse(html, stop).ok_or(Unreadable::Garbage)?;
    let text = |node: &dom_query::Selection<'_>, selector: &str| {
        node.try_select(selector).and_then(|found| found.nodes().first().map(|node| node.text().to_string()))
    };
    let mut hits = Vec::new();
    if let Some(results) = document.try_select(".result:not(.result--ad)") {
        for result in results.iter() {
            let Some(link) = result.try_select("a.result__a[href]") else { continue };
            let Some(url) = link.attr("href").and_then(|href| destination(&href)) else { continue };
            let title = text(&result, "a.result__a").unwrap_or_default();
            let snippet = text(&result, ".result__snippet").unwrap_or_default();
            hits.push(Hit { title: escaped(&title), url, snippet: escaped(&snippet) });
        }
    }
    if !hits.is_empty() {
        return Ok(hits);
    }
    if html.contains("anomaly-modal") || html.contains("challenge-form") {
        return Err(Unreadable::Blocked);
    }
    let is_search = document.try_select(".no-results, #links, .results, .result--ad").is_some();
    if is_search { Ok(hits) } else { Err(Unreadable::Garbage) }
}

/// Text that is read as HTML once more.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Where a link leads behind DuckDuckGo's own redirect.
fn destination(href: &str) -> Option<String> {
    let url = Url::parse("https://duckduckgo.com/").ok()?.join(href).ok()?;
    let own =
        url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !own {
        return Some(url.into());
    }
    url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, target)| target.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(html: &str) -> Result<Vec<Hit>, Unreadable> {
        super::hits(html, &CancellationToken::new())
    }

    const PAGE: &str = r#"<html><body><div id="links" class="results">
        <div class="result results_links result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Buy</a></div>
        <div class="result results_links"><h2><a rel="nofollow" class="result__a"
          href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fdoc.example%2Fbook%3Fa%3D1&amp;rut=abc">The <b>Book</b></a></h2>
          <a class="result__snippet" href="x">All about &lt;T&gt; &amp; more</a></div>
        <div class="result"><a class="result__a" href="https://direct.example/">Direct</a></div>
        <div class="result"><span>no link</span></div>
        <div class="result"><a class="result__a" href="//duckduckgo.com/settings">Own</a></div>
        </div></body></html>"#;

    #[test]
    fn results_are_read_from_the_page() {
        assert_eq!(
            hits(PAGE),
            Ok(vec![
                Hit {
                    title: "The Book".to_owned(),
                    url: "https://doc.example/book?a=1".to_owned(),
                    snippet: "All about &lt;T> &amp; more".to_owned()
                },
                Hit {
                    title: "Direct".to_owned(),
                    url: "https://direct.example/".to_owned(),
                    snippet: String::new()
                },
            ])
        );
    }

    #[test]
    fn a_page_without_results_is_told_from_one_that_is_something_else() {
        assert_eq!(hits("<div id=links><div class=no-results>No results.</div></div>"), Ok(Vec::new()));
        assert_eq!(hits("<form id=challenge-form>Select all ducks</form>"), Err(Unreadable::Blocked));
        assert_eq!(hits("<p>Welcome to the hotel network"), Err(Unreadable::Garbage));
        assert_eq!(hits(&"<div>".repeat(10_000)), Err(Unreadable::Garbage));
        assert_eq!(hits(""), Err(Unreadable::Garbage));
    }
}
