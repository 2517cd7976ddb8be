//! What is on the terminal, and the bytes that make it what it should be.
//!
//! Two surfaces. The *inline* one is the terminal's own buffer: committed lines
//! are written once and never touched again, and below them is the live region,
//! which is rewritten line by line where it differs. The *overlay* is the
//! alternate screen. Pure: it makes bytes, somebody else writes them.
//!
//! The cursor is always inside the live region after a draw, so every move is
//! relative and nothing is ever asked of the terminal. Live lines are never wider
//! than the terminal, so that a line is a row; a committed one may be, if the
//! terminal became narrower since it was laid out.

use std::fmt::Write as _;

use crate::graphics::Placed;
use crate::line::Line;
use crate::paint::Palette;
use crate::theme::Theme;

/// Rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Cells in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// Such a terminal; one without any size counts as 80 × 24.
    #[must_use]
    pub fn new(columns: u16, rows: u16) -> Self {
        match (columns, rows) {
            (0, _) | (_, 0) => Self { columns: 80, rows: 24 },
            (columns, rows) => Self { columns, rows },
        }
    }
}

/// What a terminal does with long rows when it becomes narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflow {
    /// It breaks them into several.
    Wraps,
    /// It cuts them.
    Cuts,
}

impl Reflow {
    /// As the environment has it: the terminals that are known to cut.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let inside_tmux = set("TMUX");
        let cuts = set("XTERM_VERSION") || variable("TERM").is_some_and(|name| name == "linux");
        if cuts && !inside_tmux { Self::Cuts } else { Self::Wraps }
    }
}

/// Where an overlay is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cover {
    /// On the alternate screen.
    #[default]
    Alternate,
    /// On the terminal's only screen: what is on it moves into the scrollback first.
    Same,
}

impl Cover {
    /// As the environment has it: GNU screen has no alternate screen unless its settings say so. Whether it or a
    /// tmux is the inner one is told by `TERM`.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let terminal = variable("TERM").unwrap_or_default();
        let inside_screen = variable("STY").is_some_and(|value| !value.is_empty());
        match terminal.starts_with("screen.") || (inside_screen && !terminal.starts_with("tmux")) {
            true => Self::Same,
            false => Self::Alternate,
        }
    }
}

/// What should be on the terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The live region.
    pub live: Vec<Line>,
    /// Column and row of the cursor in the live region or the overlay; hidden if absent.
    pub cursor: Option<(u16, u16)>,
    /// What covers everything.
    pub overlay: Option<Vec<Line>>,
}

/// What is on the terminal.
#[derive(Debug)]
pub struct Screen {
    size: Size,
    palette: Palette,
    theme: Theme,
    reflow: Reflow,
    cover: Cover,
    /// The live region as it was painted.
    rows: Vec<Row>,
    /// Where the cursor is in it.
    row: usize,
    cursor: Option<(u16, u16)>,
    /// The overlay as it was painted.
    overlay: Option<Vec<Row>>,
    overlay_cursor: Option<(u16, u16)>,
    /// The terminal changed its size under the overlay.
    stale: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    bytes: String,
    cells: usize,
}

const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HIDE: &str = "\u{1b}[?25l";
const SHOW: &str = "\u{1b}[?25h";
const ENTER_OVERLAY: &str = "\u{1b}[?1049h\u{1b}[2J\u{1b}[H";
const LEAVE_OVERLAY: &str = "\u{1b}[?1049l";

impl Screen {
    /// A terminal on which the cursor is at the beginning of an empty row.
    #[must_use]
    pub fn new(size: Size, palette: Palette, reflow: Reflow) -> Self {
        Self {
            size,
            palette,
            theme: Theme::default(),
            reflow,
            cover: Cover::default(),
            rows: Vec::new(),
            row: 0,
            cursor: None,
            overlay: None,
            overlay_cursor: None,
            stale: false,
        }
    }

    /// With overlays where the terminal can have them.
    #[must_use]
    pub fn with_cover(mut self, cover: Cover) -> Self {
        self.cover = cover;
        self
    }

    /// From now on everything is painted in this theme; what is committed stays as it is.
    pub fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
    }

    /// The bytes that commit lines and show a frame; empty if everything is as it should be.
    /// While an overlay is shown nothing may be committed.
    pub fn draw(&mut self, committed: &[Line], frame: &Frame) -> String {
        self.draw_with(committed, &[], frame)
    }

    /// The same, with pictures among the committed lines.
    pub fn draw_with(&mut self, committed: &[Line], pictures: &[Placed], frame: &Frame) -> String {
        let mut out = String::new();
        match (&frame.overlay, self.overlay.is_some()) {
            (Some(lines), shown) => {
                if !shown {
                    match self.cover {
                        Cover::Alternate => out.push_str(ENTER_OVERLAY),
                        Cover::Same => out.push_str(&self.clear()),
                    }
                    self.overlay = Some(Vec::new());
                    self.overlay_cursor = Some((0, 0));
                }
                self.draw_overlay(&mut out, lines, frame.cursor);
            }
            (None, shown) => {
                if shown {
                    out.push_str(&self.uncovering());
                    out.push_str(if self.cursor.is_some() { SHOW } else { HIDE });
                    self.overlay = None;
                    if std::mem::take(&mut self.stale) {
                        self.take_away(&mut out);
                    }
                }
                self.draw_live(&mut out, committed, pictures, frame);
            }
        }
        if out.is_empty() { out } else { format!("{BEGIN}{out}{END}") }
    }

    /// The bytes for a terminal that changed its size: the live region is taken away, to be drawn anew.
    pub fn resize(&mut self, size: Size) -> String {
        let above = self.rows_above(size);
        self.size = size;
        let mut out = String::new();
        if let Some(overlay) = &mut self.overlay {
            // Under the overlay the terminal keeps the rest; it is put right when the overlay goes.
            overlay.clear();
            self.row = above;
            self.stale = true;
            return match self.cover {
                Cover::Alternate => "\u{1b}[2J".to_owned(),
                Cover::Same => self.erasing(),
            };
        }
        self.row = above;
        self.take_away(&mut out);
        out
    }

    fn take_away(&mut self, out: &mut String) {
        up(out, self.row.min(usize::from(self.size.rows.saturating_sub(1))));
        out.push_str("\r\u{1b}[J");
        self.rows.clear();
        self.row = 0;
    }

    /// The bytes that take the live region away for good, leaving the cursor where it began.
    pub fn leave(&mut self) -> String {
        let mut out = String::new();
        if self.overlay.take().is_some() {
            out.push_str(&self.uncovering());
        }
        self.take_away(&mut out);
        out.push_str(SHOW);
        self.cursor = None;
        out
    }

    fn uncovering(&self) -> String {
        match self.cover {
            Cover::Alternate => LEAVE_OVERLAY.to_owned(),
            Cover::Same => self.erasing(),
        }
    }

    /// The bytes that erase every row. At once would be shorter, but screen keeps what is erased so.
    fn erasing(&self) -> String {
        let mut out = String::new();
        for row in 1..=self.size.rows {
            let _ = write!(out, "\u{1b}[{row};1H\u{1b}[2K");
        }
        out.push_str("\u{1b}[H");
        out
    }

    /// The bytes for an empty screen. What was committed moves into the scrollback: erasing would take it.
    pub fn clear(&mut self) -> String {
        let mut out = self.leave();
        let below = usize::from(self.size.rows.saturating_sub(1));
        out.extend(std::iter::repeat_n('\n', below));
        out.push_str("\u{1b}[H");
        self.forget();
        out
    }

    /// Forgets what is on the terminal: somebody else wrote to it, and the cursor is in an empty row.
    pub fn forget(&mut self) {
        self.rows.clear();
        self.row = 0;
        self.cursor = None;
        self.overlay = None;
    }

    /// Rows between the beginning of the live region and the cursor, on a terminal of that size.
    fn rows_above(&self, size: Size) -> usize {
        let columns = usize::from(size.columns).max(1);
        let height = |row: &Row| match self.reflow {
            Reflow::Wraps => row.cells.div_ceil(columns).max(1),
            Reflow::Cuts => 1,
        };
        let column = self.cursor.map_or(0, |(column, _)| usize::from(column));
        let within = match self.reflow {
            Reflow::Wraps => column / columns,
            Reflow::Cuts => 0,
        };
        self.rows.iter().take(self.row).map(height).sum::<usize>() + within
    }

    fn paint(&self, line: &Line) -> Row {
        let columns = usize::from(self.size.columns);
        let cells = line.width();
        if cells <= columns {
            return Row { bytes: self.palette.paint_in(&self.theme, line), cells };
        }
        let line = line.clone().truncated(columns, "…");
        Row { bytes: self.palette.paint_in(&self.theme, &line), cells: line.width() }
    }

    fn put(&self, out: &mut String, row: &Row) {
        out.push_str(&row.bytes);
        // In a full row the cursor stands on the last cell, and erasing would take it.
        if row.cells < usize::from(self.size.columns) {
            out.push_str("\u{1b}[K");
        }
    }

    fn draw_live(&mut self, out: &mut String, committed: &[Line], pictures: &[Placed], frame: &Frame) {
        let height = usize::from(self.size.rows).max(1);
        let start = frame.live.len().saturating_sub(height);
        let rows: Vec<Row> = frame.live.iter().skip(start).map(|line| self.paint(line)).collect();
        let cursor = frame
            .cursor
            .map(|(column, row)| (column.min(self.size.columns.saturating_sub(1)), row))
            .and_then(|(column, row)| Some((column, row.checked_sub(u16::try_from(start).ok()?)?)));
        if committed.is_empty() && rows == self.rows {
            if cursor != self.cursor {
                self.place(out, cursor);
            }
            return;
        }
        if self.cursor.is_some() {
            out.push_str(HIDE);
        }
        if committed.is_empty() && rows.len() >= self.rows.len() && !self.rows.is_empty() {
            self.rewrite(out, &rows);
        } else {
            self.write_all(out, committed, pictures, &rows);
        }
        self.rows = rows;
        self.cursor = None;
        self.place(out, cursor);
    }

    /// Rewrites the rows that differ; there are as many as before or more.
    fn rewrite(&mut self, out: &mut String, rows: &[Row]) {
        for (index, row) in rows.iter().enumerate() {
            if self.rows.get(index) == Some(row) {
                continue;
            }
            if index < self.rows.len() {
                self.go(out, index);
                out.push('\r');
            } else {
                self.go(out, index.saturating_sub(1));
                out.push_str("\r\n");
                self.row = index;
            }
            self.put(out, row);
        }
    }

    /// Writes everything from the beginning of the live region on.
    fn write_all(&mut self, out: &mut String, committed: &[Line], pictures: &[Placed], rows: &[Row]) {
        self.go(out, 0);
        out.push('\r');
        let columns = usize::from(self.size.columns);
        let too_wide = |line: &Line| line.width() > columns;
        if committed.len() + rows.len() < self.rows.len() || committed.iter().any(too_wide) {
            out.push_str("\u{1b}[J");
        }
        for (index, line) in committed.iter().enumerate() {
            match too_wide(line) {
                // The terminal breaks it; cut, its end would be lost.
                true => out.push_str(&self.palette.paint_in(&self.theme, line)),
                false => self.put(out, &self.paint(line)),
            }
            out.push_str("\r\n");
            for picture in pictures.iter().filter(|picture| picture.line == index) {
                // The rows are there already: whatever the picture does to the cursor is undone.
                let Placed { rows, sequence, .. } = picture;
                let _ = write!(out, "\u{1b}7\u{1b}[{rows}A{sequence}\u{1b}8");
            }
        }
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                out.push_str("\r\n");
            }
            self.put(out, row);
        }
        self.row = rows.len().saturating_sub(1);
    }

    fn go(&mut self, out: &mut String, row: usize) {
        if row < self.row {
            up(out, self.row - row);
        } else if row > self.row {
            let _ = write!(out, "\u{1b}[{}B", row - self.row);
        }
        self.row = row;
    }

    fn place(&mut self, out: &mut String, cursor: Option<(u16, u16)>) {
        match cursor {
            Some((column, row)) => {
                self.go(out, usize::from(row));
                let _ = write!(out, "\u{1b}[{}G", column + 1);
                if self.cursor.is_none() {
                    out.push_str(SHOW);
                }
            }
            None if self.cursor.is_some() => out.push_str(HIDE),
            None => {}
        }
        self.cursor = cursor;
    }

    fn draw_overlay(&mut self, out: &mut String, lines: &[Line], cursor: Option<(u16, u16)>) {
        let rows: Vec<Row> =
            lines.iter().take(usize::from(self.size.rows)).map(|line| self.paint(line)).collect();
        let shown = self.overlay.take().unwrap_or_default();
        let mut changed = false;
        for index in 0..rows.len().max(shown.len()) {
            let (new, old) = (rows.get(index), shown.get(index));
            if new == old {
                continue;
            }
            changed = true;
            let _ = write!(out, "\u{1b}[{};1H", index + 1);
            match new {
                Some(row) => self.put(out, row),
                None => out.push_str("\u{1b}[K"),
            }
        }
        if changed || cursor != self.overlay_cursor {
            match cursor {
                Some((column, row)) => {
                    let _ = write!(out, "\u{1b}[{};{}H{SHOW}", row + 1, column + 1);
                }
                None => out.push_str(HIDE),
            }
        }
        self.overlay = Some(rows);
        self.overlay_cursor = cursor;
    }
}

fn up(out: &mut String, rows: usize) {
    if rows > 0 {
        let _ = write!(out, "\u{1b}[{rows}A");
    }
}
