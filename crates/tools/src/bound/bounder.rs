//! Output of any size in constant memory: all of it while it is small, then
//! its beginning and its end.
//!
//! Bytes go through three stages: what is not UTF-8 is replaced, lines that are
//! too long are cut, and the rest is collected. As long as nothing was left out
//! the whole is here; at the first byte that is left out it is handed over once.
//!
//! What a program prints on a terminal goes through a [`Terminal`] instead of the
//! first two stages; what is handed over is still what was printed.

use rein_protocol::ArtifactId;

use super::cut::{ceil, head, tail};
use super::{LINE_CHARS, OUTPUT_BYTES, OUTPUT_LINES, TERMINAL_LINE_CHARS};
use crate::terminal::Terminal;

/// Bytes are taken in pieces of this size, so that a giant write needs no giant memory.
const PIECE: usize = 16 * 1024;

/// So much is kept of an output that is drawn over again and again before it is handed over.
const DRAWN_OVER: usize = 256 * 1024;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Lines, if all is shown.
    pub lines: usize,
    /// Bytes, if all is shown.
    pub bytes: usize,
    /// Lines at each end, if not.
    pub edge_lines: usize,
    /// Bytes at each end, if not.
    pub edge_bytes: usize,
    /// Characters of a line.
    pub line_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lines: OUTPUT_LINES,
            bytes: OUTPUT_BYTES,
            edge_lines: 1_000,
            edge_bytes: 20 * 1024,
            line_chars: LINE_CHARS,
        }
    }
}

/// What the owner of a [`Bounder`] has to keep after a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spill {
    /// Nothing: all of it is still here.
    Nothing,
    /// From now on something is left out: these bytes, which came before, and then those just written.
    Begin(Vec<u8>),
    /// The bytes just written.
    Continue,
}

/// Collects output.
#[derive(Debug)]
pub struct Bounder {
    limits: Limits,
    /// Everything so far, until it has been handed over.
    whole: Option<Vec<u8>>,
    bytes: u64,
    /// The beginning of a character that is not complete.
    partial: Vec<u8>,
    line: Line,
    /// Makes text of the bytes, if they are what a terminal is sent.
    terminal: Option<Box<Terminal>>,
    has_cut_lines: bool,
    /// All that is to be shown, or its beginning once there is an end.
    text: String,
    line_ends: usize,
    end: Option<End>,
}

/// The line that is being collected.
#[derive(Debug, Default)]
struct Line {
    chars: usize,
    cut: usize,
}

/// The end of an output that is too large.
#[derive(Debug)]
struct End {
    text: String,
    head_line_ends: usize,
}

impl Default for Bounder {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Bounder {
    /// An empty one. Limits for the ends that are more than half of those for the whole are taken as half.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let limits = Limits {
            edge_lines: limits.edge_lines.min(limits.lines / 2),
            edge_bytes: limits.edge_bytes.min(limits.bytes / 2),
            ..limits
        };
        Self {
            limits,
            whole: Some(Vec::new()),
            bytes: 0,
            partial: Vec::new(),
            line: Line::default(),
            terminal: None,
            has_cut_lines: false,
            text: String::new(),
            line_ends: 0,
            end: None,
        }
    }

    /// What is written from now on is what a program prints on a terminal: control sequences do what they
    /// do there or nothing, lines that are drawn over are shown as they were last, and lines are shorter.
    pub fn expect_terminal(&mut self) {
        if self.terminal.is_none() {
            let chars = self.limits.line_chars.min(TERMINAL_LINE_CHARS);
            self.terminal = Some(Box::new(Terminal::new(chars)));
        }
    }

    /// Takes output, and says what its owner has to keep of it.
    #[must_use = "what is to be kept is lost otherwise"]
    pub fn write(&mut self, bytes: &[u8]) -> Spill {
        for piece in bytes.chunks(PIECE) {
            match self.terminal.take() {
                Some(terminal) => self.draw(terminal, piece),
                None => {
                    self.bytes += piece.len() as u64;
                    self.take(piece);
                }
            }
        }
        let leaves_out = self.end.is_some() || self.has_cut_lines || self.may_leave_out(bytes.len());
        match (self.whole.take(), leaves_out) {
            (None, _) => Spill::Continue,
            (Some(whole), true) => Spill::Begin(whole),
            (Some(mut whole), false) => {
                whole.extend_from_slice(bytes);
                self.whole = Some(whole);
                Spill::Nothing
            }
        }
    }

    /// Whether something is left out of what will be shown.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.whole.is_none()
    }

    /// What is shown, with a remark where something is left out that says where the whole is.
    #[must_use]
    pub fn finish(mut self, artifact: Option<&ArtifactId>) -> String {
        if let Some(terminal) = self.terminal.take() {
            let mut settled = String::new();
            terminal.finish(&mut settled);
            self.collect_drawn(&settled);
        }
        // Nobody could keep the whole any more, so half a character must not be what makes it too large.
        if !self.partial.is_empty() && (self.whole.is_none() || self.has_room_for_a_character()) {
            self.collect_line("\u{FFFD}");
        }
        self.end_line();
        let Some(end) = self.end else {
            return match artifact {
                Some(id) if self.has_cut_lines => {
                    format!("{}\n[long lines are cut; {}]", self.text.trim_end_matches('\n'), whole_is(id))
                }
                _ => self.text,
            };
        };
        let begin = &self.text;
        let end_text = tail(&end.text, self.limits.edge_lines, self.limits.edge_bytes);
        let kept_lines = end.head_line_ends + memchr::memchr_iter(b'\n', end_text.as_bytes()).count();
        // The line end that the beginning lost is there again.
        let kept_bytes = (begin.len() + 1 + end_text.len()) as u64;
        let lines = self.line_ends.saturating_sub(kept_lines);
        let bytes = self.bytes.saturating_sub(kept_bytes);
        let source = artifact.map(|id| format!("; {}", whole_is(id))).unwrap_or_default();
        format!("{begin}\n[… {lines} lines, {bytes} bytes omitted{source}]\n{end_text}")
    }

    /// Collects what a terminal shows of bytes.
    fn draw(&mut self, mut terminal: Box<Terminal>, piece: &[u8]) {
        let mut settled = String::new();
        terminal.write(piece, &mut settled);
        self.has_cut_lines |= terminal.has_cut_lines();
        self.terminal = Some(terminal);
        self.collect_drawn(&settled);
    }

    fn collect_drawn(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.collect(text, memchr::memchr_iter(b'\n', text.as_bytes()).count());
    }

    /// Whether lines that are still drawn would be too many, or too much has been drawn over to be kept.
    fn may_leave_out(&self, written: usize) -> bool {
        let Some(terminal) = &self.terminal else { return false };
        let (lines, bytes) = terminal.pending();
        let kept = self.whole.as_ref().map_or(0, Vec::len) + written;
        kept > DRAWN_OVER
            || self.lines() + lines > self.limits.lines
            || self.text.len() + bytes > self.limits.bytes
    }

    /// Makes text of bytes. What is not UTF-8 becomes the replacement character.
    fn take(&mut self, piece: &[u8]) {
        let mut bytes = std::mem::take(&mut self.partial);
        bytes.extend_from_slice(piece);
        let mut rest = bytes.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.take_text(text),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.take_text(std::str::from_utf8(valid).unwrap_or_default());
                    let Some(invalid) = error.error_len() else {
                        self.partial = after.to_vec();
                        return;
                    };
                    self.take_text("\u{FFFD}");
                    rest = after.get(invalid..).unwrap_or_default();
                }
            }
        }
    }

    fn take_text(&mut self, text: &str) {
        if let Some(last) = self.all_fit(text) {
            self.line.chars = last;
            return self.collect(text, memchr::memchr_iter(b'\n', text.as_bytes()).count());
        }
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                Some(line) => {
                    self.collect_line(line);
                    self.end_line();
                    self.line = Line::default();
                    self.collect("\n", 1);
                }
                None => self.collect_line(piece),
            }
        }
    }

    /// If no line of a text needs to be cut, the characters of its last line. Most text is like that.
    fn all_fit(&self, text: &str) -> Option<usize> {
        let mut chars = self.line.chars;
        let mut start = 0;
        // A text has at least as many bytes as characters, and seldom many more.
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            if chars + (end - start) > self.limits.line_chars {
                return None;
            }
            (chars, start) = (0, end + 1);
        }
        let last = text.get(start..)?;
        (self.line.cut == 0 && chars + last.len() <= self.limits.line_chars)
            .then(|| chars + last.chars().count())
    }

    /// A piece of a line, as far as the line may go.
    fn collect_line(&mut self, piece: &str) {
        let room = self.limits.line_chars.saturating_sub(self.line.chars);
        let end = piece.char_indices().nth(room).map_or(piece.len(), |(at, _)| at);
        let (shown, cut) = piece.split_at(end);
        self.line.chars += shown.chars().count();
        self.line.cut += cut.chars().count();
        self.has_cut_lines |= !cut.is_empty();
        self.collect(shown, 0);
    }

    fn end_line(&mut self) {
        if self.line.cut > 0 {
            self.collect(&format!(" [… {} chars cut]", self.line.cut), 0);
        }
    }

    fn has_room_for_a_character(&self) -> bool {
        let begins_a_line = self.text.is_empty() || self.text.ends_with('\n');
        self.text.len() + '\u{FFFD}'.len_utf8() <= self.limits.bytes
            && self.lines() + usize::from(begins_a_line) <= self.limits.lines
    }

    fn lines(&self) -> usize {
        self.line_ends + usize::from(!self.text.is_empty() && !self.text.ends_with('\n'))
    }

    fn collect(&mut self, text: &str, line_ends: usize) {
        self.line_ends += line_ends;
        match &mut self.end {
            Some(end) => end.push(text, self.limits.edge_bytes),
            None => {
                self.text.push_str(text);
                if self.text.len() > self.limits.bytes || self.lines() > self.limits.lines {
                    self.overflow();
                }
            }
        }
    }

    fn overflow(&mut self) {
        let begin = head(&self.text, self.limits.edge_lines, self.limits.edge_bytes).to_owned();
        let head_line_ends = memchr::memchr_iter(b'\n', begin.as_bytes()).count() + 1;
        self.end = Some(End { text: std::mem::replace(&mut self.text, begin), head_line_ends });
    }
}

impl End {
    fn push(&mut self, text: &str, kept: usize) {
        self.text.push_str(text);
        // Seldom, so that a byte is moved only a few times.
        if self.text.len() > 4 * kept + PIECE {
            let from = ceil(&self.text, self.text.len() - kept);
            self.text.drain(..from);
        }
    }
}

fn whole_is(artifact: &ArtifactId) -> String {
    format!("the whole output is \"artifact:{artifact}\": use that as path of read or grep")
}

#[cfg(test)]
mod tests;
