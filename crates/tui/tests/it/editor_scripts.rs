//! The editor with every script, at the edge of the screen, and with megabytes.

use crossterm::event::KeyCode;
use rein_tui::editor::Editor;

use crate::editor::{key, press};

/// The text of the rows, and the cell of the cursor.
fn drawn(text: &str, width: u16) -> (Vec<String>, (u16, u16)) {
    let mut editor = Editor::new();
    editor.paste(text);
    let rendered = editor.render(width, 10);
    (rendered.lines.iter().map(|line| line.text().trim_end().to_owned()).collect(), rendered.cursor)
}

#[test]
fn the_cursor_is_where_the_text_goes_in_every_script() {
    // A family is one cluster of two cells; an accent takes none; Hebrew is laid out in logical order.
    assert_eq!(drawn("👩\u{200d}👩\u{200d}👧!", 10).1, (3, 0));
    assert_eq!(drawn("e\u{301}e\u{301}", 10).1, (2, 0));
    assert_eq!(drawn("שלום", 10), (vec!["שלום".to_owned()], (4, 0)));
    assert_eq!(drawn("🇩🇪x", 10).1, (3, 0));
    assert_eq!(drawn("한글", 10).1, (4, 0));
}

#[test]
fn a_wide_character_at_the_right_edge_goes_to_the_next_row_whole() {
    assert_eq!(drawn("abc日", 4), (vec!["abc".to_owned(), "日".to_owned()], (2, 1)));
    // A full row puts the cursor at the beginning of the next one.
    assert_eq!(drawn("日本", 4).1, (0, 1));
    assert_eq!(drawn("日本語", 4), (vec!["日本".to_owned(), "語".to_owned()], (2, 1)));
}

#[test]
fn a_cluster_is_one_step_and_one_deletion() {
    let mut editor = Editor::new();
    editor.paste("a👩\u{200d}👩\u{200d}👧e\u{301}b");
    press(&mut editor, "left");
    press(&mut editor, "left");
    assert_eq!(editor.render(20, 1).cursor, (3, 0));
    press(&mut editor, "backspace");
    assert_eq!(editor.text(), "ae\u{301}b");
    press(&mut editor, "delete");
    assert_eq!(editor.text(), "ab");
}

#[test]
fn five_megabytes_are_a_placeholder_and_typing_goes_on() {
    let mut editor = Editor::new();
    let text = "0123456789abcde\n".repeat(5_000_000 / 16);
    editor.paste(&text);
    let mut drafts = Vec::new();
    for _ in 0..200 {
        editor.handle(key(KeyCode::Char('x')));
        drafts.push(editor.draft());
        editor.render(80, 10);
    }
    assert_eq!(editor.shown(), format!("[pasted 312 500 lines]{}", "x".repeat(200)));
    assert_eq!(editor.text().len(), text.len() + 200);
    press(&mut editor, "home");
    press(&mut editor, "delete");
    assert_eq!(editor.text(), "x".repeat(200));
}
