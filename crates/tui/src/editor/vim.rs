//! Normal mode of vi: motions, operators, registers.
//!
//! Owns the grammar of commands and the register; insert mode is the plain editor. Keys with Ctrl or Alt, Enter and
//! arrows go through the keymap in both modes. Invariant: in normal mode the cursor stands on a character of its line.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::buffer::{EditKind, is_word};
use super::keymap::Action;
use super::{Buffer, Editor, Reaction};

/// Whether keys write or command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VimMode {
    /// Keys write.
    #[default]
    Insert,
    /// Keys command.
    Normal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Shape {
    #[default]
    Characters,
    Lines,
}

/// The state of vi editing.
#[derive(Debug, Clone, Default)]
pub(super) struct Vim {
    mode: VimMode,
    count: Option<usize>,
    operator: Option<Operator>,
    /// A `g` or `r` that waits for its second key.
    prefix: Option<char>,
    register: String,
    shape: Shape,
}

impl Vim {
    pub(super) fn mode(&self) -> VimMode {
        self.mode
    }

    pub(super) fn after_submit(&mut self) {
        self.mode = VimMode::Insert;
        self.forget();
        self.register.retain(|c| !super::chips::is_sentinel(c));
    }

    fn forget(&mut self) {
        self.count = None;
        self.operator = None;
        self.prefix = None;
    }
}

/// Where a motion leads and what an operator takes with it.
struct Motion {
    to: usize,
    shape: Shape,
    /// The character at the end is part of it.
    inclusive: bool,
}

impl Motion {
    fn to(to: usize) -> Self {
        Self { to, shape: Shape::Characters, inclusive: false }
    }

    fn lines(to: usize) -> Self {
        Self { to, shape: Shape::Lines, inclusive: false }
    }
}

impl Editor {
    pub(super) fn leave_insert(&mut self) -> Reaction {
        let at = self.buffer.cursor();
        if at > self.buffer.line_start(at) {
            self.go(self.buffer.previous(at));
        }
        if let Some(vim) = &mut self.vim {
            vim.mode = VimMode::Normal;
            vim.forget();
        }
        self.stand_on_character()
    }

    /// What a key does in normal mode; none if it means the same in both modes.
    pub(super) fn handle_normal(&mut self, key: KeyEvent) -> Option<Reaction> {
        let vim = self.vim.as_mut()?;
        let c = match key.code {
            KeyCode::Char('r') if key.modifiers == KeyModifiers::CONTROL => {
                self.perform(Action::Redo);
                return Some(self.stand_on_character());
            }
            KeyCode::Esc if vim.count.is_some() || vim.operator.is_some() || vim.prefix.is_some() => {
                vim.forget();
                return Some(Reaction::Changed);
            }
            KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => c,
            KeyCode::Backspace => 'h',
            _ => {
                vim.forget();
                return None;
            }
        };
        Some(self.command(c))
    }

    fn command(&mut self, c: char) -> Reaction {
        let Some(vim) = self.vim.as_mut() else { return Reaction::None };
        match (vim.prefix.take(), c) {
            (Some('r'), c) => return self.replace_character(c),
            (Some(_), 'g') => return self.move_or_operate(Motion::lines(0)),
            (Some(_), _) => {
                vim.forget();
                return Reaction::Changed;
            }
            (None, 'g' | 'r') => {
                vim.prefix = Some(c);
                return Reaction::Changed;
            }
            (None, _) => {}
        }
        if let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || vim.count.is_some()) {
            let count = vim.count.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize);
            vim.count = Some(count.min(9_999));
            return Reaction::Changed;
        }
        if let Some(motion) = self.motion(c) {
            return self.move_or_operate(motion);
        }
        self.edit_command(c)
    }

    fn motion(&self, c: char) -> Option<Motion> {
        let vim = self.vim.as_ref()?;
        let buffer = &self.buffer;
        let at = buffer.cursor();
        let count = vim.count.unwrap_or(1);
        let times = |step: &dyn Fn(usize) -> usize| (0..count).fold(at, |at, _| step(at));
        let changing = vim.operator == Some(Operator::Change);
        let on_word = buffer.tail(at).chars().next().is_some_and(|c| !c.is_whitespace());
        Some(match c {
            'h' => Motion::to(times(&|at| buffer.previous(at)).max(buffer.line_start(at))),
            'l' | ' ' => Motion::to(times(&|at| buffer.next(at)).min(buffer.line_end(at))),
            '0' => Motion::to(buffer.line_start(at)),
            '^' => Motion::to(first_character(buffer, at)),
            '$' => Motion::to(buffer.line_end(at)),
            'w' if changing && on_word => {
                Motion { inclusive: true, ..Motion::to(times(&|at| word_end(buffer, at, Start::Here))) }
            }
            'w' => {
                let to = times(&|at| next_word(buffer, at));
                let end = buffer.line_end(at);
                Motion::to(if vim.operator.is_some() && count == 1 { to.min(end.max(at)) } else { to })
            }
            'b' => Motion::to(times(&|at| previous_word(buffer, at))),
            'e' => Motion { inclusive: true, ..Motion::to(times(&|at| word_end(buffer, at, Start::Next))) },
            'G' => Motion::lines(buffer.text().len()),
            'j' if vim.operator.is_some() => {
                Motion::lines(times(&|at| (buffer.line_end(at) + 1).min(buffer.text().len())))
            }
            'k' if vim.operator.is_some() => {
                Motion::lines(times(&|at| buffer.line_start(buffer.line_start(at).saturating_sub(1))))
            }
            _ => return None,
        })
    }

    fn move_or_operate(&mut self, motion: Motion) -> Reaction {
        let Some(vim) = self.vim.as_mut() else { return Reaction::None };
        let operator = vim.operator;
        vim.forget();
        let Some(operator) = operator else {
            let to = match motion.shape {
                Shape::Lines => first_character(&self.buffer, motion.to),
                Shape::Characters => motion.to,
            };
            self.go(to);
            return self.stand_on_character();
        };
        let at = self.buffer.cursor();
        let (start, mut end) = (at.min(motion.to), at.max(motion.to));
        if motion.inclusive {
            end = self.buffer.next(end);
        }
        self.operate(operator, start, end, motion.shape)
    }

    fn operate(&mut self, operator: Operator, start: usize, end: usize, shape: Shape) -> Reaction {
        let (start, end) = match shape {
            Shape::Characters => (start, end),
            Shape::Lines => (self.buffer.line_start(start), self.buffer.line_end(end)),
        };
        let taken = self.buffer.text().get(start..end).unwrap_or_default().to_owned();
        if let Some(vim) = &mut self.vim {
            vim.register = taken;
            vim.shape = shape;
        }
        match (operator, shape) {
            (Operator::Yank, _) => {
                self.go(start);
                self.stand_on_character()
            }
            (Operator::Change, _) => {
                self.buffer.replace(EditKind::Alone, start..end, "");
                self.enter_insert()
            }
            (Operator::Delete, Shape::Characters) => {
                self.buffer.replace(EditKind::Alone, start..end, "");
                self.settle();
                self.stand_on_character()
            }
            (Operator::Delete, Shape::Lines) => {
                // The newline after the lines goes with them, or the one before if they are the last.
                let whole = match end < self.buffer.text().len() {
                    true => start..end + 1,
                    false => start.saturating_sub(1)..end,
                };
                self.buffer.replace(EditKind::Alone, whole, "");
                self.settle();
                let to = first_character(&self.buffer, self.buffer.cursor());
                self.go(to);
                self.stand_on_character()
            }
        }
    }

    fn edit_command(&mut self, c: char) -> Reaction {
        let at = self.buffer.cursor();
        let (line_start, line_end) = (self.buffer.line_start(at), self.buffer.line_end(at));
        let Some(vim) = self.vim.as_mut() else { return Reaction::None };
        let operator = match c {
            'd' => Some(Operator::Delete),
            'c' => Some(Operator::Change),
            'y' => Some(Operator::Yank),
            _ => None,
        };
        if let Some(operator) = operator {
            if vim.operator != Some(operator) {
                vim.operator = Some(operator);
                return Reaction::Changed;
            }
            let count = vim.count.unwrap_or(1);
            vim.forget();
            let end = (1..count)
                .fold(line_end, |end, _| self.buffer.line_end((end + 1).min(self.buffer.text().len())));
            return self.operate(operator, at, end, Shape::Lines);
        }
        let count = vim.count.unwrap_or(1);
        vim.forget();
        let right = (0..count).fold(at, |at, _| self.buffer.next(at)).min(line_end);
        let left = (0..count).fold(at, |at, _| self.buffer.previous(at)).max(line_start);
        match c {
            'i' => self.insert_at(at),
            'a' => self.insert_at(self.buffer.next(at).min(line_end)),
            'I' => self.insert_at(first_character(&self.buffer, at)),
            'A' => self.insert_at(line_end),
            'o' => self.open_line(line_end, line_end + 1),
            'O' => self.open_line(line_start, line_start),
            'x' => self.operate(Operator::Delete, at, right, Shape::Characters),
            'X' => self.operate(Operator::Delete, left, at, Shape::Characters),
            's' => self.operate(Operator::Change, at, right, Shape::Characters),
            'D' => self.operate(Operator::Delete, at, line_end, Shape::Characters),
            'C' => self.operate(Operator::Change, at, line_end, Shape::Characters),
            'p' | 'P' => self.put(c),
            'u' => {
                self.perform(Action::Undo);
                self.stand_on_character()
            }
            'j' => (0..count).fold(Reaction::None, |_, _| self.stand_after(Action::MoveDown)),
            'k' => (0..count).fold(Reaction::None, |_, _| self.stand_after(Action::MoveUp)),
            _ => Reaction::Changed,
        }
    }

    fn stand_after(&mut self, action: Action) -> Reaction {
        self.perform(action);
        let column = self.column;
        let walk = self.walk.take();
        let reaction = self.stand_on_character();
        self.column = column;
        self.walk = walk;
        reaction
    }

    fn insert_at(&mut self, to: usize) -> Reaction {
        self.go(to);
        self.enter_insert()
    }

    fn enter_insert(&mut self) -> Reaction {
        if let Some(vim) = &mut self.vim {
            vim.mode = VimMode::Insert;
        }
        self.settle();
        Reaction::Changed
    }

    fn open_line(&mut self, at: usize, cursor: usize) -> Reaction {
        self.buffer.replace(EditKind::Alone, at..at, "\n");
        self.buffer.move_to(cursor);
        self.enter_insert()
    }

    fn put(&mut self, c: char) -> Reaction {
        let at = self.buffer.cursor();
        let Some(vim) = self.vim.as_ref().filter(|vim| !vim.register.is_empty()) else {
            return Reaction::None;
        };
        let after = c == 'p';
        match vim.shape {
            Shape::Characters => {
                let place = if after { self.buffer.next(at).min(self.buffer.line_end(at)) } else { at };
                let text = vim.register.clone();
                self.buffer.replace(EditKind::Alone, place..place, &text);
                let last = self.buffer.previous(self.buffer.cursor());
                self.go(last);
            }
            Shape::Lines => {
                let (place, text, start) = match after {
                    true => {
                        let end = self.buffer.line_end(at);
                        (end, format!("\n{}", vim.register), end + 1)
                    }
                    false => {
                        let start = self.buffer.line_start(at);
                        (start, format!("{}\n", vim.register), start)
                    }
                };
                self.buffer.replace(EditKind::Alone, place..place, &text);
                self.go(first_character(&self.buffer, start));
            }
        }
        self.settle();
        self.stand_on_character()
    }

    fn replace_character(&mut self, c: char) -> Reaction {
        if let Some(vim) = &mut self.vim {
            vim.forget();
        }
        let at = self.buffer.cursor();
        if at < self.buffer.line_end(at) {
            let end = self.buffer.next(at);
            self.buffer.replace(EditKind::Alone, at..end, &super::chips::clean(&c.to_string()));
            self.go(at);
        }
        self.settle();
        Reaction::Changed
    }

    fn stand_on_character(&mut self) -> Reaction {
        let at = self.buffer.cursor();
        if self.vim_mode() == Some(VimMode::Normal)
            && at == self.buffer.line_end(at)
            && at > self.buffer.line_start(at)
        {
            self.go(self.buffer.previous(at));
        }
        Reaction::Changed
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Here,
    Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Mark,
}

fn class(c: char) -> Class {
    match c {
        c if c.is_whitespace() => Class::Blank,
        c if is_word(c) => Class::Word,
        _ => Class::Mark,
    }
}

fn first_character(buffer: &Buffer, at: usize) -> usize {
    let start = buffer.line_start(at);
    let line = buffer.text().get(start..buffer.line_end(at)).unwrap_or_default();
    start + line.len() - line.trim_start().len()
}

fn next_word(buffer: &Buffer, at: usize) -> usize {
    let tail = buffer.tail(at);
    let Some(first) = tail.chars().next().map(class) else { return at };
    let rest = match first {
        Class::Blank => tail,
        first => tail.trim_start_matches(|c| class(c) == first),
    };
    buffer.snap(buffer.text().len() - rest.trim_start().len())
}

fn previous_word(buffer: &Buffer, at: usize) -> usize {
    let head = buffer.head(at).trim_end();
    let Some(last) = head.chars().next_back().map(class) else { return 0 };
    buffer.snap(head.trim_end_matches(|c| class(c) == last).len())
}

/// The last character of a word: of the one at `at`, or of the next one if `at` is its end already.
fn word_end(buffer: &Buffer, at: usize, start: Start) -> usize {
    let from = if start == Start::Next { buffer.next(at) } else { at };
    let tail = buffer.tail(from).trim_start();
    let Some(first) = tail.chars().next().map(class) else { return at };
    let rest = tail.trim_start_matches(|c| class(c) == first);
    buffer.previous(buffer.text().len() - rest.len())
}
