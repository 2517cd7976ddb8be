//! Markdown as it streams: words in, rows out.
//!
//! Owns when a block is settled and how blocks look. Writing rows to a terminal is for others.
//! Invariants: rows that were drained never change; the same text gives the same rows however it was cut; a push costs what
//! was pushed, and a block is parsed once when it is drained, besides the open one that is drawn live.

mod live;
mod render;
mod scan;
mod table;
mod tree;
mod wrap;

use crate::highlight::Highlighter;
use crate::line::{Line, Span, Style};
use scan::{Fence, Start, indent_of, is_underline};
use wrap::{Breaking, Indent, Piece};

/// Code is set in by this much.
const CODE_INDENT: &str = "  ";

/// An answer that is still being written.
#[derive(Debug, Default)]
pub struct Stream {
    /// The line that has no newline yet.
    partial: String,
    state: State,
    ready: Vec<Ready>,
}

/// Whether there is a blank row before a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Gap {
    #[default]
    None,
    Row,
}

/// What never changes again.
#[derive(Debug, Clone)]
enum Ready {
    Block(Block),
    Code { gap: Gap, spans: Vec<Span> },
}

/// The source of one top-level block, or of one item of a top-level list.
#[derive(Debug, Clone)]
struct Block {
    source: String,
    gap: Gap,
    /// The number of an ordered item.
    ordinal: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    Quote,
    Item { content: usize },
    Indented,
}

/// What is open between two lines.
#[derive(Debug, Clone, Default)]
struct State {
    open: Open,
    /// Blank lines were seen since the last block.
    blank: bool,
    /// Something was settled or is open.
    begun: bool,
    /// The list that the last item belongs to: its sign and the number after the last.
    list: Option<(char, Option<u64>)>,
}

#[derive(Debug, Clone, Default)]
enum Open {
    #[default]
    Nothing,
    Block(Kind, Block),
    Code {
        fence: Fence,
        gap: Gap,
        highlighter: Highlighter,
    },
}

impl Stream {
    /// An empty answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what has come.
    pub fn push(&mut self, delta: &str) {
        let mut pieces = delta.split('\n');
        self.partial.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let line = std::mem::replace(&mut self.partial, piece.to_owned());
            self.state.take(line.trim_end_matches('\r'), &mut self.ready);
        }
    }

    /// Says that nothing more will come: everything is settled.
    pub fn finish(&mut self) {
        let line = std::mem::take(&mut self.partial);
        if !line.trim().is_empty() {
            self.state.take(line.trim_end_matches('\r'), &mut self.ready);
        }
        self.state.close(&mut self.ready);
    }

    /// The rows of what can never change again, once.
    pub fn settled(&mut self, width: u16) -> Vec<Line> {
        std::mem::take(&mut self.ready).iter().flat_map(|ready| ready.lines(width)).collect()
    }

    /// The rows of what is still open, as it looks now. What is settled and not drained is not among them.
    pub fn live(&self, width: u16) -> Vec<Line> {
        let mut state = self.state.clone();
        let mut ready = Vec::new();
        if let Some(partial) = live::visible(&self.partial, &state.open) {
            state.take(partial, &mut ready);
        }
        if let Open::Block(_, block) = &mut state.open {
            block.source = live::completed(&block.source);
        }
        state.close(&mut ready);
        ready.iter().flat_map(|ready| ready.lines(width)).collect()
    }

    /// Bytes that are parsed again whenever the open block is drawn.
    pub fn open_bytes(&self) -> usize {
        let block = match &self.state.open {
            Open::Block(_, block) => block.source.len(),
            Open::Nothing | Open::Code { .. } => 0,
        };
        block + self.partial.len()
    }
}

/// A whole text as rows.
pub fn render(text: &str, width: u16) -> Vec<Line> {
    let mut stream = Stream::new();
    stream.push(text);
    stream.finish();
    stream.settled(width)
}

impl State {
    /// Takes a line that is complete.
    fn take(&mut self, line: &str, ready: &mut Vec<Ready>) {
        if let Open::Code { fence, gap, highlighter } = &mut self.open {
            if fence.closed_by(line) {
                self.open = Open::Nothing;
            } else {
                let spans = highlighter.line(fence.code(line));
                ready.push(Ready::Code { gap: std::mem::take(gap), spans });
            }
            return;
        }
        let start = Start::of(line);
        if start == Start::Blank {
            self.take_blank(line, ready);
        } else if !self.goes_on(line, &start) {
            self.close(ready);
            self.begin(line, start, ready);
        } else if let Open::Block(kind, block) = &mut self.open {
            block.source.push_str(line);
            block.source.push('\n');
            self.blank = false;
            if *kind == Kind::Paragraph && is_underline(line) {
                self.close(ready);
            }
        }
    }

    fn take_blank(&mut self, line: &str, ready: &mut Vec<Ready>) {
        self.blank = true;
        match &mut self.open {
            Open::Block(Kind::Item { .. } | Kind::Indented, block) => {
                block.source.push_str(line);
                block.source.push('\n');
            }
            _ => self.close(ready),
        }
    }

    /// Whether a line that is not blank belongs to the open block.
    fn goes_on(&self, line: &str, start: &Start) -> bool {
        let Open::Block(kind, _) = &self.open else { return false };
        match kind {
            Kind::Paragraph => is_underline(line) || !start.interrupts(),
            Kind::Quote => *start == Start::Quote || !start.interrupts(),
            Kind::Indented => *start == Start::Indented,
            Kind::Item { content } => {
                indent_of(line) >= *content
                    || (!self.blank && !start.interrupts() && !matches!(start, Start::Item(_)))
            }
        }
    }

    fn begin(&mut self, line: &str, start: Start, ready: &mut Vec<Ready>) {
        let wants_gap = self.blank || start == Start::Heading;
        let gap = if wants_gap && self.begun { Gap::Row } else { Gap::None };
        self.blank = false;
        self.begun = true;
        let list = self.list.take();
        let mut block = Block { source: format!("{line}\n"), gap, ordinal: None };
        match start {
            Start::Fence(fence) => {
                let highlighter = Highlighter::new(fence.language());
                self.open = Open::Code { fence, gap, highlighter };
            }
            Start::Heading | Start::Rule => ready.push(Ready::Block(block)),
            Start::Quote => self.open = Open::Block(Kind::Quote, block),
            Start::Indented => self.open = Open::Block(Kind::Indented, block),
            Start::Item(marker) => {
                let next = list
                    .filter(|(sign, next)| *sign == marker.sign && next.is_some() == marker.number.is_some());
                block.ordinal = next.map_or(marker.number, |(_, next)| next);
                self.list = Some((marker.sign, block.ordinal.map(|ordinal| ordinal.saturating_add(1))));
                self.open = Open::Block(Kind::Item { content: marker.content }, block);
            }
            Start::Text | Start::Blank => self.open = Open::Block(Kind::Paragraph, block),
        }
    }

    fn close(&mut self, ready: &mut Vec<Ready>) {
        if let Open::Block(_, block) = std::mem::take(&mut self.open) {
            ready.push(Ready::Block(block));
        }
    }
}

impl Ready {
    fn lines(&self, width: u16) -> Vec<Line> {
        let width = usize::from(width.max(1));
        let (gap, lines) = match self {
            Self::Block(block) => {
                let blocks = tree::parse(&block.source);
                (block.gap, render::blocks(&blocks, block.ordinal, width))
            }
            Self::Code { gap, spans } => (*gap, code_line(spans, &Indent::default(), width)),
        };
        let blank = (gap == Gap::Row && !lines.is_empty()).then(Line::default);
        blank.into_iter().chain(lines).collect()
    }
}

/// A line of code, cut where it is too long.
fn code_line(spans: &[Span], indent: &Indent, width: usize) -> Vec<Line> {
    let space = Span { text: CODE_INDENT.to_owned(), style: Style::default() };
    let indent = indent.then(space.clone(), space, width);
    let pieces: Vec<Piece> = spans.iter().cloned().map(Piece::Text).collect();
    wrap::wrap(&pieces, &indent, width, Breaking::Anywhere)
}
