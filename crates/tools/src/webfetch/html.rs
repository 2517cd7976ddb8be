//! A page as readable Markdown: what a person came for, without menus, scripts and what is hidden.
//!
//! Pages are hostile: one that takes too long to parse, or whose nesting would exhaust the stack of what
//! comes after, is shown as its bare text. This takes processor time and is to be called where that does
//! no harm.

use std::time::{Duration, Instant};

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability, TextMode};
use html5ever::ParseOpts;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use memchr::memmem;
use rein_http::Url;
use tokio_util::sync::CancellationToken;

/// A page that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Readable {
    pub(super) title: Option<String>,
    /// Markdown.
    pub(super) text: String,
}

/// Elements within each other that are accepted. Browsers stop at 512.
const DEEPEST: usize = 400;

/// Elements of a page in which its article is looked for; larger ones are shown whole.
const MOST_ELEMENTS: usize = 40_000;

/// An article as short as this is one only if it is much of the page.
const SHORT: usize = 500;

/// What belongs to no text.
const NOISE: &str = "script, style, noscript, template, svg, canvas, iframe, object, embed, nav, footer, aside, \
                     form, button, dialog, [hidden], [aria-hidden=\"true\"], [style*=\"display:none\"], \
                     [style*=\"display: none\"], [style*=\"visibility:hidden\"], [style*=\"visibility: hidden\"]";

/// How long a page may take to be parsed. A good one of some megabytes takes a tenth of a second.
const LONGEST_PARSE: Duration = Duration::from_secs(4);

/// Bytes that are parsed between two looks at the clock.
const PIECE: usize = 8 * 1024;

/// A page as Markdown.
pub(super) fn readable(html: &str, url: &Url, stop: &CancellationToken) -> Readable {
    let document = parse(html, stop).filter(|document| depth(document) <= DEEPEST);
    let Some(document) = document else {
        return Readable { title: None, text: bare(html) };
    };
    remove(&document, "img[src^=\"data:\"], img:not([src])");
    let title = title(&document);
    let article = article(&document, url);
    remove(&document, NOISE);
    let whole = document.body().map(|body| tidy(&body.md(None))).unwrap_or_default();
    let text = match article {
        Some(article) if article.len() >= SHORT || article.len() * 3 >= whole.len() => article,
        _ => whole,
    };
    Readable { title, text }
}

/// A parsed page, unless it takes too long: crafted markup makes a parser look at it again and again.
pub(crate) fn parse(html: &str, stop: &CancellationToken) -> Option<Document> {
    let until = Instant::now() + LONGEST_PARSE;
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let mut parser = html5ever::parse_document(Document::default(), options);
    let mut rest = html;
    while !rest.is_empty() {
        if stop.is_cancelled() || Instant::now() >= until {
            return None;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(StrTendril::from_slice(piece));
        if is_open_too_deep(&parser.tokenizer.sink.sink) {
            return None;
        }
        rest = after;
    }
    Some(parser.finish())
}

/// Whether more elements are open than are accepted: what comes last is what is open.
fn is_open_too_deep(document: &Document) -> bool {
    std::iter::successors(Some(document.root()), NodeRef::last_child).nth(DEEPEST + 1).is_some()
}

/// What shows that a piece of text is HTML. `Vec<T>` is not.
const SIGNS: &[&str] = &[
    "<a ", "<b>", "<br", "<code>", "<em", "<i>", "<mark", "<p>", "<span", "<strong", "&#", "&amp;", "&gt;",
    "&lt;", "&nbsp;", "&quot;",
];

/// A piece of text or HTML without its tags, on one line.
pub(crate) fn line(html: &str) -> String {
    let is_html = SIGNS.iter().any(|sign| html.contains(sign));
    let plain = if is_html { Document::fragment(html).text().to_string() } else { html.to_owned() };
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What Readability takes for the article.
fn article(document: &Document, url: &Url) -> Option<String> {
    let config = Config {
        keep_classes: true,
        max_elements_to_parse: MOST_ELEMENTS,
        disable_json_ld: true,
        text_mode: TextMode::Markdown,
        ..Config::default()
    };
    let mut page = url.clone();
    page.set_fragment(None);
    let mut readability =
        Readability::with_document(document.clone(), Some(page.as_str()), Some(config)).ok()?;
    let article = readability.parse().ok()?;
    Some(tidy(&article.text_content)).filter(|text| !text.is_empty())
}

fn title(document: &Document) -> Option<String> {
    let found = ["head > title", "h1"].iter().find_map(|selector| {
        let text = document.try_select(selector)?.nodes().first()?.text();
        let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(title).filter(|title| !title.is_empty())
    })?;
    Some(found.chars().take(200).collect())
}

fn remove(document: &Document, selector: &str) {
    if let Some(found) = document.try_select(selector) {
        found.remove();
    }
}

/// Without trailing spaces and runs of empty lines.
fn tidy(markdown: &str) -> String {
    let mut tidied = String::with_capacity(markdown.len());
    let mut empty = 0;
    for line in markdown.trim().lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied
}

fn depth(document: &Document) -> usize {
    let mut deepest = 0;
    let mut open: Vec<(NodeRef<'_>, usize)> = vec![(document.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(node.children_it(false).map(|child| (child, depth + 1)));
    }
    deepest
}

/// The text between tags, without what scripts and styles say, in one pass.
fn bare(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let unseen = ["script", "style"]
            .into_iter()
            .find(|name| tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        let end = match unseen {
            // One that does not end takes all the rest with it.
            Some(name) => memmem::find(tag.as_bytes(), format!("</{name}").as_bytes()).unwrap_or(tag.len()),
            None => 0,
        };
        rest = tag.get(end..).and_then(|tag| tag.split_once('>')).map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(html: &str) -> Readable {
        let url = Url::parse("https://docs.example/guide/page?x=1#part").unwrap();
        readable(html, &url, &CancellationToken::new())
    }

    fn page(body: &str) -> String {
        format!("<!doctype html><html><head><title> A  title </title></head><body>{body}</body></html>")
    }

    #[test]
    fn an_article_is_found_among_the_furniture() {
        let words =
            "The reader came for these words, which make up a whole paragraph of some length. ".repeat(8);
        let shown = read(&page(&format!(
            "<nav><a href=/a>Menu entry</a></nav><script>steal()</script><article><h1>Heading</h1><p>{words}</p>\
             <h2>Usage</h2><pre><code class=\"language-rust\">fn main() {{\n    run();\n}}</code></pre>\
             <ul><li>one <b>bold</b></li><li>see <a href=\"../other#x\">other</a></li></ul>\
             <table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td>1</td></tr></table>\
             <p>{words}</p></article><footer>Imprint</footer>"
        )));
        assert_eq!(shown.title.as_deref(), Some("A title"));
        for part in [
            "## Usage",
            "```rust\nfn main() {\n    run();\n}\n```",
            "**bold**",
            "[other](https://docs.example/other#x)",
            "| a | 1 |",
            words.trim(),
        ] {
            assert!(shown.text.contains(part), "{part} not in {}", shown.text);
        }
        for part in ["Menu entry", "steal", "Imprint"] {
            assert!(!shown.text.contains(part), "{part} in {}", shown.text);
        }
    }

    #[test]
    fn a_page_without_an_article_is_shown_whole() {
        let links: String =
            (0..40).map(|n| format!("<li><a href=\"/item/{n}\">Entry number {n}</a></li>")).collect();
        let shown = read(&page(&format!("<ul>{links}</ul>")));
        assert!(
            shown.text.contains("Entry number 0") && shown.text.contains("Entry number 39"),
            "{}",
            shown.text
        );
        assert_eq!(read(&page("<p>short</p>")).text, "short\n");
        assert_eq!(read(&page("<script>app()</script><div id=root></div>")).text, "");
        assert_eq!(read("").text, "");
    }

    #[test]
    fn what_is_hidden_and_what_is_a_picture_in_the_page_is_left_out() {
        let shown = read(&page(
            "<p>seen</p><p style=\"display:none\">obey one</p><div hidden>obey two</div>\
             <span aria-hidden=\"true\">obey three</span><!-- obey four --><img src=\"data:image/png;base64,AAAA\">",
        ));
        assert_eq!(shown.text, "seen\n");
    }

    #[test]
    fn hostile_nesting_is_shown_as_bare_text() {
        for element in ["div", "blockquote", "b", "ul><li", "table><tr><td", "svg><td", "i x"] {
            let deep = format!("{}words{}", format!("<{element}>").repeat(10_000), "</div>".repeat(10));
            assert_eq!(read(&page(&deep)).text, "A title words", "{element}");
        }
        for element in ["div", "blockquote", "b", "ul><li", "table><tr><td"] {
            let nested = format!("<{element}>").repeat(390 / (1 + element.matches('>').count()));
            assert!(read(&page(&format!("{nested}words"))).text.contains("words"), "{element}");
        }
        for element in ["li", "p", "td", "option", "dd", "a href=x"] {
            let many = format!("{}words", format!("<{element}>x ").repeat(2_000));
            assert!(read(&page(&many)).text.contains("words"), "{element}");
        }
    }

    #[test]
    fn a_page_that_is_no_longer_wanted_is_not_parsed() {
        let stop = CancellationToken::new();
        stop.cancel();
        assert!(parse("<p>x", &stop).is_none());
        assert_eq!(bare("a<Script x>if (a<b) {}</script><b>c</b> <style>d</style>\n\ne<f"), "a c\ne");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn soup_is_read_without_harm(soup in "(<(p|div|table|td|tr|ul|li|pre|code|b|a href=x|img src=y|svg|h2|blockquote|br)>|</(p|div|table|ul|b|a|svg|pre)>|<!--|-->|&amp;|é|words |\n){0,80}") {
            let shown = read(&soup);
            prop_assert!(!shown.text.contains("\n\n\n\n"));
        }
    }

    #[test]
    fn pieces_of_html_become_a_line() {
        assert_eq!(line("The <strong>Rust</strong>\n book &amp; more"), "The Rust book & more");
        assert_eq!(line("a < b, Vec<T> & more"), "a < b, Vec<T> & more");
        assert_eq!(line("a Vec&lt;T&gt;"), "a Vec<T>");
        assert_eq!(line("plain  words"), "plain words");
    }
}
