//! Choosing from a list that shrinks while one types.
//!
//! Owns the filter, the selection and how the list looks. What the items are and what a choice does is for others.
//! Invariant: the selection is one of the items that fit, if any do.

pub mod files;
mod fuzzy;
mod ranking;
mod row;

use std::cell::Cell;
use std::collections::BTreeSet;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use fuzzy::Pattern;
use ranking::Ranking;

use crate::editor::{Buffer, EditKind};
use crate::line::{Color, Line, Span, Style};

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<T> {
    /// What it is called.
    pub title: String,
    /// What else is to be said about it.
    pub detail: String,
    /// Why it cannot be chosen, if so.
    pub disabled: Option<String>,
    /// What is chosen.
    pub value: T,
}

impl<T> Item<T> {
    /// An item that can be chosen.
    pub fn new(title: impl Into<String>, detail: impl Into<String>, value: T) -> Self {
        Self { title: title.into(), detail: detail.into(), disabled: None, value }
    }

    fn searched(&self) -> String {
        format!("{} {}", self.title, self.detail)
    }
}

/// How many items can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// One.
    One,
    /// Any number, marked with Tab.
    Many,
}

/// What a key came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerReaction {
    /// Nothing.
    None,
    /// Draw again.
    Changed,
    /// These items were chosen, by their indexes, in their order.
    Chosen(Vec<usize>),
    /// Nothing was chosen and nothing will be.
    Cancel,
}

/// Says more about an item, in rows of a width.
pub type Preview<T> = Box<dyn Fn(&Item<T>, u16) -> Vec<Line> + Send>;

/// A list with a filter.
pub struct Picker<T> {
    heading: String,
    items: Vec<Item<T>>,
    searched: Vec<String>,
    choice: Choice,
    filter: Buffer,
    ranking: Ranking,
    /// The place of the selection among the hits.
    place: usize,
    marked: BTreeSet<usize>,
    preview: Option<Preview<T>>,
    /// The first place that is shown, and how many are.
    view: Cell<(usize, usize)>,
}

/// More than any score: a title that fits comes before what fits only with its detail.
const IN_TITLE: i32 = 1 << 20;
/// A list gets a preview beside it if there is this much room.
const PREVIEW_WIDTH: u16 = 72;

impl<T> Picker<T> {
    /// A list of items.
    pub fn new(heading: impl Into<String>, items: Vec<Item<T>>, choice: Choice) -> Self {
        let mut picker = Self {
            heading: heading.into(),
            items: Vec::new(),
            searched: Vec::new(),
            choice,
            filter: Buffer::default(),
            ranking: Ranking::default(),
            place: 0,
            marked: BTreeSet::new(),
            preview: None,
            view: Cell::new((0, 10)),
        };
        picker.set_items(items);
        picker
    }

    /// The same list with more about the selection beside it.
    pub fn with_preview(self, preview: Preview<T>) -> Self {
        Self { preview: Some(preview), ..self }
    }

    /// Replaces the items; the filter stays, marks do not.
    pub fn set_items(&mut self, items: Vec<Item<T>>) {
        self.searched = items.iter().map(Item::searched).collect();
        self.items = items;
        self.marked.clear();
        self.ranking = Ranking::default();
        self.rank();
    }

    /// Selects an item by its index, if it fits the filter.
    pub fn select(&mut self, index: usize) {
        if let Some(place) = self.ranking.indexes().position(|hit| hit == index) {
            self.place = place;
        }
    }

    /// Replaces the filter.
    pub fn set_filter(&mut self, filter: &str) {
        let filter: String = filter.chars().filter(|c| !c.is_control()).collect();
        self.filter = Buffer::with(filter.clone(), filter.len());
        self.rank();
    }

    /// What is typed.
    pub fn filter(&self) -> &str {
        self.filter.text()
    }

    /// Every item.
    pub fn items(&self) -> &[Item<T>] {
        &self.items
    }

    /// The index of the selection.
    pub fn selected(&self) -> Option<usize> {
        self.ranking.get(self.place)
    }

    /// The item under the selection.
    pub fn selected_item(&self) -> Option<&Item<T>> {
        self.items.get(self.selected()?)
    }

    /// Takes a key.
    pub fn handle(&mut self, key: KeyEvent) -> PickerReaction {
        if key.kind == KeyEventKind::Release {
            return PickerReaction::None;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = self.view.get().1.max(1);
        match key.code {
            KeyCode::Esc => PickerReaction::Cancel,
            KeyCode::Char('c') if control => PickerReaction::Cancel,
            KeyCode::Enter => self.choose(),
            KeyCode::Tab if self.choice == Choice::Many => self.mark(),
            KeyCode::Up | KeyCode::BackTab => self.step(-1),
            KeyCode::Char('p') if control => self.step(-1),
            KeyCode::Down | KeyCode::Tab => self.step(1),
            KeyCode::Char('n') if control => self.step(1),
            KeyCode::PageUp => self.go(self.place.saturating_sub(page)),
            KeyCode::PageDown => self.go(self.place + page),
            KeyCode::Home => self.go(0),
            KeyCode::End => self.go(usize::MAX),
            _ => self.edit(key),
        }
    }

    fn edit(&mut self, key: KeyEvent) -> PickerReaction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let at = self.filter.cursor();
        let (range, inserted) = match key.code {
            KeyCode::Left => {
                self.filter.move_to(self.filter.previous(at));
                return PickerReaction::Changed;
            }
            KeyCode::Right => {
                self.filter.move_to(self.filter.next(at));
                return PickerReaction::Changed;
            }
            KeyCode::Backspace if control || alt => (self.filter.word_left(at)..at, None),
            KeyCode::Backspace => (self.filter.previous(at)..at, None),
            KeyCode::Delete => (at..self.filter.next(at), None),
            KeyCode::Char('u') if control => (0..at, None),
            KeyCode::Char('w') if control => (self.filter.blank_left(at)..at, None),
            KeyCode::Char(c) if !control && !alt && !c.is_control() => (at..at, Some(c)),
            _ => return PickerReaction::None,
        };
        if range.is_empty() && inserted.is_none() {
            return PickerReaction::None;
        }
        self.filter.replace(EditKind::Type, range, &inserted.map(String::from).unwrap_or_default());
        self.rank();
        PickerReaction::Changed
    }

    fn rank(&mut self) {
        let (searched, items) = (&self.searched, &self.items);
        self.ranking.update(self.filter.text(), searched.len(), |pattern, index| {
            // What it is called counts more than what is said about it.
            let title = items.get(index).and_then(|item| pattern.score(&item.title));
            title.map(|score| score.saturating_add(IN_TITLE)).or_else(|| pattern.score(searched.get(index)?))
        });
        self.place = 0;
    }

    fn step(&mut self, by: isize) -> PickerReaction {
        let count = self.ranking.len();
        match count {
            0 => PickerReaction::None,
            // Around the ends, a step at a time.
            _ => self.go(self.place.checked_add_signed(by).map_or(count - 1, |place| place % count)),
        }
    }

    fn go(&mut self, place: usize) -> PickerReaction {
        let place = place.min(self.ranking.len().saturating_sub(1));
        if place == self.place {
            return PickerReaction::None;
        }
        self.place = place;
        PickerReaction::Changed
    }

    fn mark(&mut self) -> PickerReaction {
        let Some(index) = self.selected().filter(|index| self.can_choose(*index)) else {
            return PickerReaction::None;
        };
        if !self.marked.remove(&index) {
            self.marked.insert(index);
        }
        self.go(self.place + 1);
        PickerReaction::Changed
    }

    fn can_choose(&self, index: usize) -> bool {
        self.items.get(index).is_some_and(|item| item.disabled.is_none())
    }

    fn choose(&mut self) -> PickerReaction {
        if !self.marked.is_empty() {
            return PickerReaction::Chosen(self.marked.iter().copied().collect());
        }
        match self.selected().filter(|index| self.can_choose(*index)) {
            Some(index) => PickerReaction::Chosen(vec![index]),
            None => PickerReaction::None,
        }
    }

    /// Column and row where the filter is being written, as [`Picker::render`] drew it.
    pub fn cursor(&self, width: u16, height: u16) -> (u16, u16) {
        let column = row::width_of("> ") + row::width_of(self.filter.before());
        (u16::try_from(column).unwrap_or(u16::MAX).min(width.saturating_sub(1)), u16::from(height >= HEADED))
    }

    /// The list in at most `height` rows of at most `width` columns.
    pub fn render(&self, width: u16, height: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        if height >= HEADED {
            let count = format!("  {}/{}", self.ranking.len(), self.items.len());
            let marked = match self.marked.len() {
                0 => String::new(),
                marked => format!(", {marked} marked"),
            };
            let bold = Style { bold: true, ..Style::default() };
            let heading = [(self.heading.as_str(), bold), (&count, row::dim()), (&marked, row::dim())];
            lines.push(row::fitted(heading.map(|(text, style)| span(text, style)), width));
        }
        if height > 0 {
            let prompt = span("> ", Style { color: Some(Color::Cyan), ..Style::default() });
            lines.push(row::fitted([prompt, span(self.filter.text(), Style::default())], width));
        }
        let rows = usize::from(height).saturating_sub(lines.len());
        let beside = self.preview.as_ref().filter(|_| width >= PREVIEW_WIDTH);
        let list_width = if beside.is_some() { width / 2 } else { width };
        let mut list = self.list(list_width, rows);
        if let (Some(preview), Some(item)) = (beside, self.selected_item()) {
            let preview_width = width - list_width - 3;
            let preview = preview(item, preview_width);
            row::beside(&mut list, preview, list_width, preview_width, rows);
        }
        lines.extend(list);
        lines
    }

    fn list(&self, width: u16, rows: usize) -> Vec<Line> {
        if self.ranking.len() == 0 && rows > 0 {
            return vec![row::fitted([span("  nothing fits", row::dim())], width)];
        }
        let lowest = (self.place + 1).saturating_sub(rows);
        let top = self.view.get().0.clamp(lowest, self.place.max(lowest));
        self.view.set((top, rows));
        let shown = (top..self.ranking.len()).take(rows);
        shown.filter_map(|place| Some(self.row(place, self.ranking.get(place)?, width))).collect()
    }

    fn row(&self, place: usize, index: usize, width: u16) -> Line {
        let Some(item) = self.items.get(index) else { return Line::default() };
        let selected = place == self.place;
        let pointer = if selected { "› " } else { "  " };
        let mark = match (self.choice, self.marked.contains(&index)) {
            (Choice::One, _) => "",
            (Choice::Many, true) => "[x] ",
            (Choice::Many, false) => "[ ] ",
        };
        let base = match (selected, item.disabled.is_some()) {
            (_, true) => row::dim(),
            (true, false) => Style { bold: true, ..Style::default() },
            (false, false) => Style::default(),
        };
        let searched = self.searched.get(index).map(String::as_str).unwrap_or_default();
        let pattern = self.ranking.pattern();
        let positions = match pattern.score(&item.title) {
            Some(_) => pattern.positions(&item.title),
            None => pattern.positions(searched),
        };
        let split = item.title.len();
        let (in_title, in_detail): (Vec<usize>, Vec<usize>) =
            positions.into_iter().partition(|at| *at < split);
        let in_detail: Vec<usize> =
            in_detail.into_iter().filter_map(|at| at.checked_sub(split + 1)).collect();
        let mut spans = vec![
            span(pointer, Style { color: Some(Color::Cyan), ..Style::default() }),
            span(mark, base.clone()),
        ];
        spans.extend(row::with_marks(&item.title, &in_title, &base));
        if !item.detail.is_empty() {
            spans.push(span("  ", Style::default()));
            spans.extend(row::with_marks(&item.detail, &in_detail, &row::dim()));
        }
        if let Some(reason) = &item.disabled {
            spans.push(span(&format!("  ({reason})"), Style { color: Some(Color::Yellow), ..row::dim() }));
        }
        row::fitted(spans, width)
    }
}

/// From this height on there is a heading.
const HEADED: u16 = 4;

fn span(text: &str, style: Style) -> Span {
    Span { text: text.to_owned(), style }
}
