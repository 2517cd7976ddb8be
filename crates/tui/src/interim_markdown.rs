//! A small Markdown stream that stands in until the real one is there.

use crate::line::{Color, Line, Style};
use crate::neutral::{Sequences, neutral};

/// Markdown as it comes.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    pending: String,
    finished: bool,
    fence: bool,
}

impl Stream {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// More of it.
    pub fn push(&mut self, text: &str) {
        self.pending.push_str(text);
    }

    /// Nothing more comes.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Lines that never change again, handed over once.
    pub fn settled(&mut self, width: u16) -> Vec<Line> {
        let end = match self.finished {
            true => self.pending.len(),
            false => self.pending.rfind('\n').map_or(0, |at| at + 1),
        };
        let done: String = self.pending.drain(..end).collect();
        let mut fence = self.fence;
        let lines = done.lines().flat_map(|line| lay_out(line, &mut fence, width)).collect();
        self.fence = fence;
        lines
    }

    /// Lines that may still change.
    pub fn live(&self, width: u16) -> Vec<Line> {
        let mut fence = self.fence;
        self.pending.lines().flat_map(|line| lay_out(line, &mut fence, width)).collect()
    }
}

fn lay_out(text: &str, fence: &mut bool, width: u16) -> Vec<Line> {
    let text = neutral(text, Sequences::Dropped).into_owned();
    let columns = usize::from(width);
    if text.trim_start().starts_with("```") {
        *fence = !*fence;
        return vec![Line::styled(text, Style::dimmed())];
    }
    if *fence {
        return Line::styled(text, Style::colored(Color::Cyan)).wrapped(columns, 0);
    }
    if text.starts_with('#') {
        return Line::styled(text.trim_start_matches('#').trim(), Style::heavy()).wrapped(columns, 0);
    }
    Line::plain(text).wrapped(columns, 0)
}
