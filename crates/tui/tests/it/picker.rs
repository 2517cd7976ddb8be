//! The picker, by keys and rows.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use rein_tui::line::{Line, Span};
use rein_tui::picker::{Choice, Item, Picker, PickerReaction};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::marks::{marked, plain, text};

fn press(picker: &mut Picker<u32>, code: KeyCode) -> PickerReaction {
    picker.handle(KeyEvent::new(code, KeyModifiers::NONE))
}

fn type_in(picker: &mut Picker<u32>, text: &str) {
    for c in text.chars() {
        press(picker, KeyCode::Char(c));
    }
}

fn models(choice: Choice) -> Picker<u32> {
    let mut locked = Item::new("gemini-pro", "google", 4);
    locked.disabled = Some("no key".to_owned());
    let items = vec![
        Item::new("claude-opus", "anthropic", 1),
        Item::new("claude-sonnet", "anthropic", 2),
        Item::new("gpt", "openai", 3),
        locked,
        Item::new("日本語モデル", "local", 5),
    ];
    Picker::new("Model", items, choice)
}

#[test]
fn typing_filters_and_marks_what_fits() {
    let mut picker = models(Choice::One);
    insta::assert_snapshot!("picker_whole", marked(&picker.render(40, 8)));
    type_in(&mut picker, "son");
    insta::assert_snapshot!("picker_filtered", marked(&picker.render(40, 8)));
    assert_eq!(picker.cursor(40, 8), (5, 1));
    assert_eq!(press(&mut picker, KeyCode::Enter), PickerReaction::Chosen(vec![1]));
    type_in(&mut picker, "xyz");
    assert_eq!(plain(&picker.render(40, 3)), "> sonxyz\n  nothing fits\n");
    assert_eq!(press(&mut picker, KeyCode::Enter), PickerReaction::None);
    assert_eq!(press(&mut picker, KeyCode::Esc), PickerReaction::Cancel);
}

#[test]
fn what_is_disabled_says_why_and_is_not_chosen() {
    let mut picker = models(Choice::One);
    type_in(&mut picker, "gem");
    insta::assert_snapshot!(marked(&picker.render(40, 3)), @"
    {cyan:> }gem
    {cyan:› }{u green:gem}{d:ini-pro}  {d:google}{d yellow:  (no key)}
    ");
    assert_eq!(press(&mut picker, KeyCode::Enter), PickerReaction::None);
}

#[test]
fn keys_move_around_the_list() {
    let mut picker = models(Choice::One);
    let steps = [
        (KeyCode::Up, 4),
        (KeyCode::Down, 0),
        (KeyCode::Down, 1),
        (KeyCode::End, 4),
        (KeyCode::Home, 0),
        (KeyCode::PageDown, 2),
        (KeyCode::PageDown, 4),
        (KeyCode::PageUp, 2),
    ];
    picker.render(40, 3);
    for (code, expected) in steps {
        press(&mut picker, code);
        assert_eq!(picker.selected(), Some(expected), "{code:?}");
        picker.render(40, 3);
    }
    press(&mut picker, KeyCode::End);
    assert_eq!(plain(&picker.render(40, 3)), "> \n  gemini-pro  google  (no key)\n› 日本語モデル  local\n");
}

#[test]
fn several_are_marked_and_chosen_in_their_order() {
    let mut picker = models(Choice::Many);
    press(&mut picker, KeyCode::Down);
    press(&mut picker, KeyCode::Tab);
    press(&mut picker, KeyCode::Home);
    press(&mut picker, KeyCode::Tab);
    insta::assert_snapshot!(plain(&picker.render(40, 7)), @"
    Model  5/5, 2 marked
    > 
      [x] claude-opus  anthropic
    › [x] claude-sonnet  anthropic
      [ ] gpt  openai
      [ ] gemini-pro  google  (no key)
      [ ] 日本語モデル  local
    ");
    assert_eq!(press(&mut picker, KeyCode::Enter), PickerReaction::Chosen(vec![0, 1]));
}

#[test]
fn a_preview_stands_beside_a_wide_list() {
    let preview = |item: &Item<u32>, width: u16| {
        let line = |text: String| Line { spans: vec![Span { text, ..Span::default() }] };
        vec![line(format!("value {}", item.value)), line(format!("width {width}"))]
    };
    let picker = models(Choice::One).with_preview(Box::new(preview));
    insta::assert_snapshot!(plain(&picker.render(80, 6)));
    assert!(!plain(&picker.render(60, 6)).contains("value"));
}

#[test]
fn rows_are_cut_where_they_are_too_wide() {
    let picker = models(Choice::One);
    insta::assert_snapshot!(plain(&picker.render(12, 8)), @"
    Model  5/5
    > 
    › claude-op…
      claude-so…
      gpt  open…
      gemini-pr…
      日本語モ…
    ");
}

#[test]
fn the_filter_is_edited_like_text() {
    let mut picker = models(Choice::One);
    type_in(&mut picker, "gpu");
    press(&mut picker, KeyCode::Backspace);
    press(&mut picker, KeyCode::Left);
    type_in(&mut picker, "x");
    assert_eq!(picker.filter(), "gxp");
    picker.handle(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
    assert_eq!(picker.filter(), "p");
    picker.set_filter("opus\u{1b}");
    assert_eq!((picker.filter(), picker.selected()), ("opus", Some(0)));
}

#[test]
fn a_hundred_thousand_items_are_filtered() {
    let items = (0..100_000).map(|n| Item::new(format!("src/module_{n}/file.rs"), "", n)).collect();
    let mut picker = Picker::new("Files", items, Choice::One);
    type_in(&mut picker, "module_99999/");
    assert_eq!(picker.selected_item().map(|item| item.value), Some(99_999));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_keys_and_sizes_stay_in_bounds(
        titles in proptest::collection::vec("\\PC{0,12}|日本\u{1b}\\[0m", 0..20),
        keys in proptest::collection::vec(proptest::sample::select(vec![
            KeyCode::Up, KeyCode::Down, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home, KeyCode::End, KeyCode::Tab, KeyCode::Enter,
            KeyCode::Backspace, KeyCode::Delete, KeyCode::Left, KeyCode::Right, KeyCode::Char('a'), KeyCode::Char(' '), KeyCode::Char('日'),
        ]), 0..30),
        width in 0_u16..100,
        height in 0_u16..12,
        many: bool,
    ) {
        let count = titles.len();
        let items = titles.into_iter().zip(0..).map(|(title, n)| Item::new(title, "detail", n)).collect();
        let mut picker = Picker::new("Some", items, if many { Choice::Many } else { Choice::One })
            .with_preview(Box::new(|item, _| vec![Line { spans: vec![Span { text: item.title.clone(), ..Span::default() }] }]));
        for code in keys {
            if let PickerReaction::Chosen(chosen) = press(&mut picker, code) {
                prop_assert!(chosen.iter().all(|index| *index < count));
            }
            let lines = picker.render(width, height);
            prop_assert!(lines.len() <= usize::from(height));
            for line in &lines {
                let text = text(line);
                let cells: usize = text.graphemes(true).map(UnicodeWidthStr::width).sum();
                prop_assert!(cells <= usize::from(width), "{:?} in {}", text, width);
                prop_assert!(!text.contains(|c: char| c.is_control()));
            }
            prop_assert!(picker.selected().is_none_or(|index| index < count));
        }
    }
}
