//! The lines that a program can still draw over.
//!
//! There is no width: a line is as long as it was written, up to what is shown
//! of it. Characters are counted, whatever their width on a real screen; what is
//! drawn over is nearly always drawn over from the beginning of its line.

use std::collections::VecDeque;

use super::escape::Sequence;

/// Lines that can still be drawn over: more than the terminals of programs have.
pub(super) const LINES: usize = 64;

/// As long as a line end and a remark about what was cut can be.
const REMARK: usize = 48;

/// A line, of which only the beginning is kept.
#[derive(Debug, Default, Clone)]
struct Line {
    text: String,
    chars: usize,
    /// Characters that were written beyond what is kept.
    beyond: usize,
}

#[derive(Debug)]
pub(super) struct Screen {
    lines: VecDeque<Line>,
    /// Where the next character goes.
    row: usize,
    column: usize,
    /// The first line of what a program draws that uses the whole screen.
    top: Option<usize>,
    saved: Option<(usize, usize)>,
    line_chars: usize,
    has_cut_lines: bool,
}

impl Screen {
    pub(super) fn new(line_chars: usize) -> Self {
        let lines = VecDeque::from([Line::default()]);
        Self { lines, row: 0, column: 0, top: None, saved: None, line_chars, has_cut_lines: false }
    }

    pub(super) fn has_cut_lines(&self) -> bool {
        self.has_cut_lines
    }

    pub(super) fn print(&mut self, text: &str) {
        let (column, most) = (self.column, self.line_chars);
        let count = text.chars().count();
        if let Some(line) = self.lines.get_mut(self.row) {
            line.write(column, text, count, most);
            self.has_cut_lines |= line.beyond > 0;
        }
        self.column = column.saturating_add(count);
    }

    pub(super) fn line_feed(&mut self, settled: &mut String) {
        self.row += 1;
        self.column = 0;
        if self.row >= self.lines.len() {
            self.lines.push_back(Line::default());
        }
        self.settle(settled);
    }

    /// Whether what is printed next comes after all that was printed before.
    pub(super) fn can_scroll(&self) -> bool {
        self.row + 1 == self.lines.len()
    }

    /// At the beginning of the last line: whole lines that will be out of reach together with all that is
    /// here. Not done if one is to be cut.
    pub(super) fn scroll(&mut self, flood: &str, settled: &mut String) -> bool {
        if !flood.split('\n').all(|line| line.len() <= self.line_chars) {
            return false;
        }
        self.lines.pop_back();
        for line in self.lines.drain(..) {
            line.put(settled);
            settled.push('\n');
        }
        settled.push_str(flood);
        self.lines.push_back(Line::default());
        (self.row, self.column) = (0, 0);
        self.top = self.top.map(|_| 0);
        self.saved = self.saved.map(|(_, column)| (0, column));
        true
    }

    pub(super) fn carriage_return(&mut self) {
        self.column = 0;
    }

    pub(super) fn backspace(&mut self) {
        self.column = self.column.saturating_sub(1);
    }

    pub(super) fn sequence(&mut self, sequence: Sequence) {
        let count = sequence.number(0).max(1);
        match (sequence.private, sequence.last) {
            (None, 'A') => self.go_to(self.row.saturating_sub(count), self.column),
            (None, 'B' | 'e') => self.go_to(self.row + count, self.column),
            (None, 'C' | 'a') => self.column = self.column.saturating_add(count).min(self.line_chars),
            (None, 'D') => self.column = self.column.saturating_sub(count),
            (None, 'E') => self.go_to(self.row + count, 0),
            (None, 'F') => self.go_to(self.row.saturating_sub(count), 0),
            (None, 'G' | '`') => self.column = (count - 1).min(self.line_chars),
            (None, 'H' | 'f') => {
                let top = self.whole_screen();
                self.go_to(top + count - 1, (sequence.number(1).max(1) - 1).min(self.line_chars));
            }
            (None, 'd') => {
                let top = self.whole_screen();
                self.go_to(top + count - 1, self.column);
            }
            (None, 'J') => self.erase_screen(sequence.number(0)),
            (None, 'K') => self.erase_line(sequence.number(0)),
            (None, 'P') => self.delete(count),
            (None, 'M') => self.delete_lines(count),
            (None, 's') | (Some('\u{1b}'), '7') => self.saved = Some((self.row, self.column)),
            (None, 'u') | (Some('\u{1b}'), '8') => {
                if let Some((row, column)) = self.saved {
                    self.go_to(row, column);
                }
            }
            (Some('\u{1b}'), 'M') => self.go_to(self.row.saturating_sub(1), self.column),
            (Some('\u{1b}'), 'E') => self.go_to(self.row + 1, 0),
            (Some('?'), 'h' | 'l') if matches!(sequence.number(0), 47 | 1047 | 1049) => {
                self.other_screen(sequence.last);
            }
            _ => {}
        }
    }

    /// Hands on the lines that are out of reach.
    pub(super) fn settle(&mut self, settled: &mut String) {
        while self.lines.len() > LINES {
            let Some(line) = self.lines.pop_front() else { return };
            line.put(settled);
            settled.push('\n');
            self.row = self.row.saturating_sub(1);
            self.top = self.top.map(|top| top.saturating_sub(1));
            self.saved = self.saved.map(|(row, column)| (row.saturating_sub(1), column));
        }
    }

    pub(super) fn finish(mut self, settled: &mut String) {
        let last = self.lines.pop_back();
        for line in &self.lines {
            line.put(settled);
            settled.push('\n');
        }
        if let Some(last) = last {
            last.put(settled);
        }
    }

    /// At most how many lines and bytes [`Self::finish`] would hand on.
    pub(super) fn pending(&self) -> (usize, usize) {
        let bytes = self.lines.iter().map(|line| line.text.len() + REMARK).sum();
        (self.lines.len(), bytes)
    }

    /// A line below the last one appears only when it is written to, but not for further than a screen.
    fn go_to(&mut self, row: usize, column: usize) {
        let lowest = self.top.unwrap_or_default().max(self.lines.len().saturating_sub(1));
        self.row = row.min(lowest.max(self.top.map_or(lowest, |top| top + LINES - 1)));
        self.column = column;
        while self.lines.len() <= self.row {
            self.lines.push_back(Line::default());
        }
    }

    /// The first line of the whole screen. What was printed before one was needed stays above it.
    fn whole_screen(&mut self) -> usize {
        match self.top {
            Some(top) => top,
            None => {
                if self.lines.back().is_some_and(|line| !line.is_empty()) {
                    self.lines.push_back(Line::default());
                }
                let top = self.lines.len().saturating_sub(1);
                self.top = Some(top);
                (self.row, self.column) = (top, 0);
                top
            }
        }
    }

    fn erase_screen(&mut self, what: usize) {
        match what {
            0 => {
                self.erase_line(0);
                self.lines.truncate(self.row + 1);
            }
            1 => {
                let from = self.top.unwrap_or(self.row);
                for row in from..self.row {
                    self.clear(row);
                }
                self.erase_line(1);
            }
            2 => {
                let top = self.whole_screen();
                self.lines.truncate(top + 1);
                self.clear(top);
                // A program that goes home first is there already; another one will say where it writes.
                self.go_to(top, 0);
            }
            _ => {}
        }
    }

    fn erase_line(&mut self, what: usize) {
        let column = self.column;
        let Some(line) = self.lines.get_mut(self.row) else { return };
        match what {
            0 => line.truncate(column),
            1 => line.blank(column + 1),
            _ => *line = Line::default(),
        }
    }

    fn delete(&mut self, count: usize) {
        let column = self.column;
        if let Some(line) = self.lines.get_mut(self.row) {
            line.delete(column, count);
        }
    }

    fn delete_lines(&mut self, count: usize) {
        for _ in 0..count.min(self.lines.len().saturating_sub(self.row)) {
            self.lines.remove(self.row);
        }
        self.column = 0;
        while self.lines.len() <= self.row {
            self.lines.push_back(Line::default());
        }
    }

    fn clear(&mut self, row: usize) {
        if let Some(line) = self.lines.get_mut(row) {
            *line = Line::default();
        }
    }

    /// What a program draws on the other screen is gone when it leaves it.
    fn other_screen(&mut self, last: char) {
        if last == 'h' {
            self.top = None;
            self.whole_screen();
        } else if let Some(top) = self.top.take() {
            self.lines.truncate(top + 1);
            self.clear(top);
            (self.row, self.column) = (top, 0);
        }
    }
}

impl Line {
    fn is_empty(&self) -> bool {
        self.chars == 0
    }

    fn write(&mut self, column: usize, text: &str, count: usize, most: usize) {
        if column == self.chars && count <= most - self.chars.min(most) {
            self.text.push_str(text);
            self.chars += count;
            return;
        }
        let end = column.saturating_add(count);
        self.beyond = self.beyond.max(end.saturating_sub(most));
        let room = most.saturating_sub(column);
        if room == 0 {
            return;
        }
        while self.chars < column {
            self.text.push(' ');
            self.chars += 1;
        }
        let shown = text.get(..offset(text, room)).unwrap_or(text);
        let range = offset(&self.text, column)..offset(&self.text, end.min(most));
        self.text.replace_range(range, shown);
        self.chars = self.chars.max(end.min(most));
    }

    fn truncate(&mut self, column: usize) {
        if column <= self.chars {
            self.text.truncate(offset(&self.text, column));
            self.chars = column;
            self.beyond = 0;
        }
    }

    fn blank(&mut self, columns: usize) {
        let columns = columns.min(self.chars);
        self.text.replace_range(..offset(&self.text, columns), &" ".repeat(columns));
    }

    fn delete(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count).min(self.chars);
        if column < end {
            self.text.replace_range(offset(&self.text, column)..offset(&self.text, end), "");
            self.chars -= end - column;
        }
    }

    fn put(&self, settled: &mut String) {
        settled.push_str(&self.text);
        if self.beyond > 0 {
            settled.push_str(&format!(" [… {} chars cut]", self.beyond));
        }
    }
}

/// Where the character at a column begins.
fn offset(text: &str, column: usize) -> usize {
    if text.is_ascii() {
        return column.min(text.len());
    }
    text.char_indices().nth(column).map_or(text.len(), |(at, _)| at)
}
