//! From the parser's events to a small tree of blocks.
//!
//! Invariant: the tree is at most [`DEPTH`] deep however deeply the text nests; deeper blocks join their ancestor.

use std::sync::Arc;

use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream,
};

use super::scan;
use super::wrap::{Piece, safe};
use crate::line::{Color, Span, Style};

const DEPTH: usize = 12;

/// A block.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Paragraph(Vec<Piece>),
    Heading(u8, Vec<Piece>),
    Code { language: String, text: String },
    Quote(Vec<Node>),
    List { start: Option<u64>, items: Vec<Vec<Node>> },
    Table(Table),
    Rule,
    Note(String, Vec<Node>),
}

/// A table; every row has as many cells as there are columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) head: Vec<Vec<Piece>>,
    pub(super) rows: Vec<Vec<Vec<Piece>>>,
}

enum Container {
    Root,
    Quote,
    List(Option<u64>, Vec<Vec<Node>>),
    Item,
    Note(String),
}

struct Frame {
    container: Container,
    nodes: Vec<Node>,
}

struct Builder {
    frames: Vec<Frame>,
    /// Containers that are too deep to have a frame.
    skipped: usize,
    styles: Vec<Style>,
    pieces: Vec<Piece>,
    code: Option<(String, String)>,
    table: Table,
    row: Vec<Vec<Piece>>,
}

/// The blocks of a text.
pub(super) fn parse(source: &str) -> Vec<Node> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let parser = Parser::new_ext(source, options);
    let mut definitions: Vec<(usize, String)> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (definition.span.start, format!("{label}: {}", definition.dest)))
        .collect();
    definitions.sort();
    let mut builder = Builder {
        frames: vec![Frame { container: Container::Root, nodes: Vec::new() }],
        skipped: 0,
        styles: vec![Style::default()],
        pieces: Vec::new(),
        code: None,
        table: Table::default(),
        row: Vec::new(),
    };
    for event in TextMergeStream::new(parser) {
        builder.take(event);
    }
    // A definition is nothing to see for a reader of HTML; here it is the only place that shows the address.
    for (_, definition) in definitions {
        builder.text(&definition);
        builder.flush();
    }
    builder.finish()
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => {
                let style = Style { color: Some(Color::Cyan), ..self.style() };
                self.pieces.push(Piece::Text(Span { text: text.into_string(), style }));
            }
            Event::Html(text) | Event::InlineHtml(text) => self.verbatim(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.verbatim(&text),
            Event::FootnoteReference(label) => self.verbatim(&format!("[^{label}]")),
            Event::SoftBreak => self.plain(" "),
            Event::HardBreak => self.pieces.push(Piece::Break),
            Event::Rule => {
                self.flush();
                self.push(Node::Rule);
            }
            Event::TaskListMarker(done) => self.plain(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } | Tag::HtmlBlock | Tag::TableHead | Tag::TableRow => {
                self.flush()
            }
            Tag::BlockQuote(_) => self.enter(Container::Quote),
            Tag::List(start) => self.enter(Container::List(start, Vec::new())),
            Tag::Item => self.enter(Container::Item),
            Tag::FootnoteDefinition(label) => self.enter(Container::Note(label.into_string())),
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => scan::language(info),
                    CodeBlockKind::Indented => "",
                };
                self.code = Some((language.to_owned(), String::new()));
            }
            Tag::Table(alignments) => {
                self.flush();
                self.table = Table { alignments, ..Table::default() };
            }
            Tag::Emphasis => self.styled(|style| Style { italic: true, ..style }),
            Tag::Strong => self.styled(|style| Style { bold: true, ..style }),
            Tag::Strikethrough => self.styled(|style| Style { strike: true, ..style }),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.styled(|style| linked(style, &dest_url))
            }
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(level) => {
                let pieces = std::mem::take(&mut self.pieces);
                self.push(Node::Heading(depth(level), pieces));
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.leave()
            }
            TagEnd::CodeBlock => {
                if let Some((language, text)) = self.code.take() {
                    self.push(Node::Code { language, text });
                }
            }
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.pieces)),
            TagEnd::TableHead => self.table.head = std::mem::take(&mut self.row),
            TagEnd::TableRow => self.table.rows.push(std::mem::take(&mut self.row)),
            TagEnd::Table => {
                let table = std::mem::take(&mut self.table);
                self.push(Node::Table(table));
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
            }
            _ => {}
        }
    }

    fn enter(&mut self, container: Container) {
        self.flush();
        if self.frames.len() > DEPTH {
            self.skipped += 1;
        } else {
            self.frames.push(Frame { container, nodes: Vec::new() });
        }
    }

    fn leave(&mut self) {
        self.flush();
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if self.frames.len() < 2 {
            return;
        }
        let Some(Frame { container, nodes }) = self.frames.pop() else { return };
        match container {
            Container::Root => {}
            Container::Quote => self.push(Node::Quote(nodes)),
            Container::Note(label) => self.push(Node::Note(label, nodes)),
            Container::List(start, mut items) => {
                // Blocks of items that were too deep for their own frame.
                if !nodes.is_empty() {
                    items.push(nodes);
                }
                self.push(Node::List { start, items });
            }
            Container::Item => match self.frames.last_mut() {
                Some(Frame { container: Container::List(_, items), .. }) => items.push(nodes),
                Some(frame) => frame.nodes.extend(nodes),
                None => {}
            },
        }
    }

    fn push(&mut self, node: Node) {
        if let Some(frame) = self.frames.last_mut() {
            frame.nodes.push(node);
        }
    }

    fn flush(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        while pieces.pop_if(|piece| *piece == Piece::Break).is_some() {}
        if !pieces.is_empty() {
            self.push(Node::Paragraph(pieces));
        }
    }

    fn finish(mut self) -> Vec<Node> {
        self.flush();
        while self.frames.len() > 1 {
            self.leave();
        }
        self.frames.pop().map(|frame| frame.nodes).unwrap_or_default()
    }

    fn style(&self) -> Style {
        self.styles.last().cloned().unwrap_or_default()
    }

    fn styled(&mut self, change: impl FnOnce(Style) -> Style) {
        let style = change(self.style());
        self.styles.push(style);
    }

    fn plain(&mut self, text: &str) {
        let style = self.style();
        self.pieces.push(Piece::Text(Span { text: text.to_owned(), style }));
    }

    fn verbatim(&mut self, text: &str) {
        for (index, line) in text.lines().enumerate() {
            if index > 0 {
                self.pieces.push(Piece::Break);
            }
            self.plain(line);
        }
        if text.ends_with('\n') {
            self.pieces.push(Piece::Break);
        }
    }

    /// Words, with bare addresses made links.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while self.style().link.is_none()
            && let Some((before, url, after)) = next_address(rest)
        {
            self.plain(before);
            let style = linked(self.style(), url);
            self.pieces.push(Piece::Text(Span { text: url.to_owned(), style }));
            rest = after;
        }
        if !rest.is_empty() {
            self.plain(rest);
        }
    }
}

fn next_address(text: &str) -> Option<(&str, &str, &str)> {
    let start = ["https://", "http://"].iter().filter_map(|scheme| text.find(scheme)).min()?;
    let (before, rest) = text.split_at_checked(start)?;
    let end = rest
        .find(|c: char| c.is_whitespace() || c.is_control() || "<>\"'`|".contains(c))
        .unwrap_or(rest.len());
    let mut url = rest.get(..end)?;
    loop {
        let closes_itself = url.ends_with(')') && url.matches('(').count() >= url.matches(')').count();
        match url.strip_suffix(['.', ',', ';', ':', '!', '?', ')', ']', '。', '、']) {
            Some(shorter) if !closes_itself => url = shorter,
            _ => break,
        }
    }
    let address = url.split_once("://").is_some_and(|(_, host)| !host.is_empty());
    address.then(|| (before, url, rest.get(url.len()..).unwrap_or_default()))
}

fn linked(style: Style, url: &str) -> Style {
    let lower = url.to_ascii_lowercase();
    let known = ["http://", "https://", "mailto:", "file://"].iter().any(|scheme| lower.starts_with(scheme));
    let clean = !url.is_empty() && safe(url) == url && !url.contains(char::is_whitespace);
    let link = (known && clean).then(|| Arc::from(url));
    Style { underline: true, color: Some(Color::Blue), link, ..style }
}

fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
