//! The editor, by keys.

use std::path::Path;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use rein_tui::editor::{
    Attachment, Completion, CompletionKind, Editing, Editor, History, Keymap, Reaction, Submission,
    SubmissionKind, VimMode,
};
use unicode_width::UnicodeWidthStr;

use crate::marks::{marked, plain, text};

pub fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

pub fn press(editor: &mut Editor, keys: &str) -> Reaction {
    keys.split(' ').fold(Reaction::None, |_, name| editor.handle(chord(name)))
}

fn chord(name: &str) -> KeyEvent {
    let (modifier, name) = match name.split_once('-') {
        Some(("ctrl", rest)) => (KeyModifiers::CONTROL, rest),
        Some(("alt", rest)) => (KeyModifiers::ALT, rest),
        Some(("shift", rest)) => (KeyModifiers::SHIFT, rest),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        name => KeyCode::Char(name.chars().next().unwrap_or(' ')),
    };
    KeyEvent::new(code, modifier)
}

fn type_in(editor: &mut Editor, text: &str) {
    for c in text.chars() {
        match c {
            '\n' => editor.handle(chord("ctrl-j")),
            c => editor.handle(key(KeyCode::Char(c))),
        };
    }
}

fn with(text: &str) -> Editor {
    let mut editor = Editor::new();
    type_in(&mut editor, text);
    editor
}

/// The text with `|` at the cursor.
fn shown(editor: &Editor) -> String {
    let mut probe = Editor::new();
    probe.restore(editor.draft());
    probe.handle(key(KeyCode::Char('|')));
    probe.text()
}

fn prompt(text: &str) -> Submission {
    Submission { text: text.to_owned(), attachments: vec![], kind: SubmissionKind::Prompt }
}

#[test]
fn motions_and_deletions_go_by_what_a_person_sees() {
    let cases = [
        ("one two", "alt-b", "one |two"),
        ("one two", "alt-b alt-b alt-f", "one| two"),
        ("one\ntwo", "home", "one\n|two"),
        ("one\ntwo", "up", "one|\ntwo"),
        ("one\ntwo", "up ctrl-a down", "one\n|two"),
        ("a👩‍👩‍👧b", "left left", "a|👩‍👩‍👧b"),
        ("a👩‍👩‍👧", "backspace", "a|"),
        ("e\u{301}x", "left left delete", "|x"),
        ("path/to/file", "alt-backspace", "path/to/|"),
        ("path/to/file x", "ctrl-w ctrl-w", "|"),
        ("日本語", "left backspace", "日|語"),
    ];
    for (typed, keys, expected) in cases {
        let mut editor = with(typed);
        press(&mut editor, keys);
        assert_eq!(shown(&editor), expected, "{typed:?} {keys}");
    }
}

#[test]
fn kills_in_a_row_come_back_as_one_and_turn_around() {
    let mut editor = with("one two three");
    press(&mut editor, "ctrl-w ctrl-w");
    assert_eq!(shown(&editor), "one |");
    press(&mut editor, "ctrl-a ctrl-k ctrl-y");
    assert_eq!(shown(&editor), "one |");
    press(&mut editor, "alt-y");
    assert_eq!(shown(&editor), "two three|");
    press(&mut editor, "alt-y");
    assert_eq!(shown(&editor), "one |");
    assert_eq!(press(&mut editor, "left alt-y"), Reaction::None);
}

#[test]
fn enter_sends_and_newlines_have_three_ways() {
    let mut editor = with("one");
    press(&mut editor, "shift-enter");
    type_in(&mut editor, "two\nthree\\");
    assert_eq!(press(&mut editor, "enter"), Reaction::Changed);
    type_in(&mut editor, "four  ");
    assert_eq!(press(&mut editor, "enter"), Reaction::Submit(prompt("one\ntwo\nthree\nfour")));
    assert_eq!(editor.text(), "");
    assert_eq!(press(&mut editor, "enter"), Reaction::None);
    type_in(&mut editor, "later");
    assert_eq!(press(&mut editor, "alt-enter"), Reaction::FollowUp(prompt("later")));
    type_in(&mut editor, "at once");
    assert_eq!(press(&mut editor, "alt-s"), Reaction::Now(prompt("at once")));
    assert_eq!(press(&mut editor, "esc"), Reaction::Cancel);
}

#[test]
fn the_first_character_says_what_a_submission_is() {
    use SubmissionKind::{Command, Prompt, Remember, Shell};
    let cases = [
        ("/model sonnet", Command, "model sonnet"),
        ("/usr/bin/env is missing", Prompt, "/usr/bin/env is missing"),
        ("/", Prompt, "/"),
        ("! ls -l", Shell, "ls -l"),
        ("# tabs, not spaces", Remember, "tabs, not spaces"),
        ("## A heading", Prompt, "## A heading"),
        ("# A title\nand text", Prompt, "# A title\nand text"),
        (" !not a command", Prompt, " !not a command"),
    ];
    for (typed, kind, text) in cases {
        let mut editor = with(typed);
        let expected = Submission { text: text.to_owned(), attachments: vec![], kind };
        assert_eq!(press(&mut editor, "enter"), Reaction::Submit(expected), "{typed}");
    }
}

#[test]
fn a_paste_of_megabytes_is_a_chip_that_goes_as_one() {
    let pasted = "0123456789\r\n".repeat(200_000);
    let mut editor = with("see ");
    editor.paste(&pasted);
    assert_eq!(editor.shown(), "see [pasted 200 000 lines]");
    press(&mut editor, "backspace");
    assert_eq!(editor.text(), "see ");
    press(&mut editor, "ctrl-_");
    assert_eq!(press(&mut editor, "enter"), {
        let text = format!("see {}", pasted.replace("\r\n", "\n").trim_end());
        Reaction::Submit(prompt(&text))
    });
    assert_eq!(editor.history().entries(), ["see [pasted 200 000 lines]"]);
    press(&mut editor, "ctrl-y up");
    assert_eq!(editor.text(), "see [pasted 200 000 lines]");
}

#[test]
fn a_dropped_image_is_attached_and_another_path_is_text() {
    let mut editor = Editor::new().with_image_probe(Box::new(probe));
    editor.paste("'/tmp/a b.png' ");
    editor.paste("/tmp/notes.txt");
    assert_eq!(editor.text(), "[image 1 png] /tmp/notes.txt");
    let attachment = Attachment { label: "[image 1 png]".to_owned(), path: "/tmp/a b.png".into() };
    let expected = Submission { attachments: vec![attachment], ..prompt("[image 1 png] /tmp/notes.txt") };
    assert_eq!(press(&mut editor, "enter"), Reaction::Submit(expected));
}

fn probe(path: &Path) -> Option<String> {
    (path.extension() == Some("png".as_ref())).then(|| "png".to_owned())
}

#[test]
fn an_image_can_be_deleted_and_comes_back_with_what_was_not_sent() {
    let mut editor = Editor::new().with_image_probe(Box::new(probe));
    editor.paste("/tmp/a.png");
    editor.paste("file:///tmp/b%20c.png");
    assert_eq!(editor.shown(), "[image 1 png] [image 2 png] ");
    press(&mut editor, "backspace");
    press(&mut editor, "backspace");
    assert_eq!(editor.shown(), "[image 1 png] ");
    let second = Attachment { label: "[image 2 png]".to_owned(), path: "/tmp/b c.png".into() };
    editor.take_back("look at [image 2 png] now", std::slice::from_ref(&second));
    assert_eq!(
        (editor.shown(), editor.attachments()),
        ("look at [image 2 png] now".to_owned(), vec![second])
    );
    press(&mut editor, "ctrl-_");
    press(&mut editor, "ctrl-_");
    assert_eq!(editor.shown(), "[image 1 png] ");
    editor.paste("/tmp/d.png");
    assert_eq!(editor.shown(), "[image 1 png] [image 3 png] ");
}

#[test]
fn completion_is_offered_while_typing_and_accepted_in_place() {
    let mut editor = with("see @sr");
    let completion = Completion { kind: CompletionKind::File, prefix: "src".to_owned(), range: 4..8 };
    assert_eq!(editor.handle(key(KeyCode::Char('c'))), Reaction::Complete(completion.clone()));
    assert_eq!(press(&mut editor, "tab"), Reaction::Complete(completion));
    assert_eq!(editor.accept_completion("src/main.rs"), Reaction::Changed);
    assert_eq!(shown(&editor), "see @src/main.rs |");
    press(&mut editor, "ctrl-_");
    assert_eq!(shown(&editor), "see @src|");
    assert_eq!(Editor::new().accept_completion("x"), Reaction::None);
}

fn history() -> History {
    History::load("cargo test\ngit log\ncargo build\\nnow\ngit status\n")
}

#[test]
fn history_walks_by_prefix_and_comes_back_to_what_was_typed() {
    let mut editor = Editor::new().with_history(history());
    type_in(&mut editor, "git");
    press(&mut editor, "up");
    assert_eq!(shown(&editor), "git status|");
    press(&mut editor, "up up");
    assert_eq!(shown(&editor), "git log|");
    press(&mut editor, "down down");
    assert_eq!(shown(&editor), "git|");
    assert_eq!(press(&mut editor, "down"), Reaction::None);
    press(&mut editor, "ctrl-u up up");
    assert_eq!(shown(&editor), "cargo build\nnow|");
    press(&mut editor, "up up");
    assert_eq!(shown(&editor), "git log|");
}

#[test]
fn history_is_searched_while_typing() {
    let mut editor = Editor::new().with_history(history());
    type_in(&mut editor, "draft");
    assert_eq!(press(&mut editor, "ctrl-r c a"), Reaction::HistorySearch);
    insta::assert_snapshot!(marked(&editor.render(20, 5).lines), @r"
    cargo build
    now
    {d:history: ca}
    ");
    assert_eq!(editor.render(20, 5).cursor, (11, 2));
    press(&mut editor, "ctrl-r");
    assert_eq!(editor.search().unwrap().found, Some("cargo test"));
    press(&mut editor, "x");
    assert_eq!(editor.search().unwrap().found, None);
    press(&mut editor, "esc");
    assert_eq!((shown(&editor).as_str(), editor.search()), ("draft|", None));
    press(&mut editor, "ctrl-r l o g enter");
    assert_eq!(shown(&editor), "git log|");
}

#[test]
fn a_draft_survives_with_its_pastes() {
    let mut editor = with("a ");
    editor.paste(&"x\n".repeat(50));
    press(&mut editor, "left");
    let kept = serde_json::to_string(&editor.draft()).unwrap();
    let mut other = Editor::new();
    other.restore(serde_json::from_str(&kept).unwrap());
    assert_eq!(other.text(), editor.text());
    type_in(&mut other, "b");
    assert_eq!(other.shown(), "a b[pasted 50 lines]");
}

#[test]
fn vim_commands_do_what_they_do_in_vi() {
    let cases = [
        ("one two three", "0 w d w", "one |three"),
        ("one two three", "0 2 d w", "|three"),
        ("one two", "0 c w X esc", "|X two"),
        ("one two", "b d $", "one| "),
        ("one\ntwo\nthree", "g g d d", "|two\nthree"),
        ("one\ntwo\nthree", "d d", "one\n|two"),
        ("one\ntwo\nthree", "g g d j", "|three"),
        ("one\ntwo", "y y p", "one\ntwo\n|two"),
        ("one\ntwo", "k y y P", "|one\none\ntwo"),
        ("abc", "0 x p", "b|ac"),
        ("abc", "0 3 x u", "|abc"),
        ("abc", "x u ctrl-r", "a|b"),
        ("one two", "0 e a X esc", "one|X two"),
        ("one", "O X esc", "|X\none"),
        ("one", "o X esc", "one\n|X"),
        ("  one", "I X esc", "  |Xone"),
        ("one", "0 A X esc", "one|X"),
        ("one.two", "0 w", "one|.two"),
        ("one two", "0 D", "|"),
        ("one two", "b b C X esc", "|X"),
        ("a\nb\nc", "g g G", "a\nb\n|c"),
        ("abc", "h h r X", "|Xbc"),
        ("日本語", "0 l x", "日|語"),
    ];
    for (typed, keys, expected) in cases {
        let mut editor = Editor::new();
        editor.set_editing(Editing::Vim);
        type_in(&mut editor, typed);
        press(&mut editor, "esc");
        assert_eq!(editor.vim_mode(), Some(VimMode::Normal));
        press(&mut editor, keys);
        assert_eq!(shown(&editor), expected, "{typed:?} {keys}");
    }
}

#[test]
fn rows_wrap_at_words_and_never_split_a_wide_character() {
    let editor = with("the quick brown fox jumps over 日本語日本語日本語日本語");
    let rendered = editor.render(20, 10);
    insta::assert_snapshot!(plain(&rendered.lines), @r"
    the quick brown fox 
    jumps over 
    日本語日本語日本語日
    本語
    ");
    assert_eq!(rendered.cursor, (4, 3));
    let narrow = editor.render(3, 100);
    assert!(narrow.lines.iter().all(|line| text(line).width() <= 3));
}

#[test]
fn the_view_follows_the_cursor() {
    let mut editor = with(&(1..=30).map(|n| format!("row {n}\n")).collect::<String>());
    let rendered = editor.render(20, 3);
    assert_eq!((plain(&rendered.lines).as_str(), rendered.cursor), ("row 29\nrow 30\n\n", (0, 2)));
    press(&mut editor, "up up up");
    let rendered = editor.render(20, 3);
    assert_eq!((plain(&rendered.lines).as_str(), rendered.cursor), ("row 28\nrow 29\nrow 30\n", (0, 0)));
}

#[test]
fn a_full_row_has_its_cursor_on_the_next() {
    let editor = with("0123456789");
    let rendered = editor.render(10, 5);
    assert_eq!((plain(&rendered.lines).as_str(), rendered.cursor), ("0123456789\n\n", (0, 1)));
}

#[test]
fn chips_are_drawn_in_one_colour() {
    let mut editor = with("a ");
    editor.paste(&"x\n".repeat(1_234));
    assert_eq!(marked(&editor.render(40, 5).lines), "a {cyan:[pasted 1 234 lines]}\n");
}

#[test]
fn other_keys_do_what_a_configuration_says() {
    let keymap = Keymap::parse([("enter", "newline"), ("ctrl-s", "submit")]).unwrap();
    let mut editor = Editor::new().with_keymap(keymap);
    type_in(&mut editor, "a");
    press(&mut editor, "enter b");
    assert_eq!(press(&mut editor, "ctrl-s"), Reaction::Submit(prompt("a\nb")));
}

fn any_key() -> impl Strategy<Value = KeyEvent> {
    let characters = prop_oneof![
        proptest::char::range(' ', '~'),
        proptest::sample::select(vec![
            '日',
            '\u{301}',
            '👩',
            '\u{200d}',
            '👧',
            '🇩',
            '\u{100000}',
            '\t',
            '\u{1b}',
            'é',
            '語'
        ]),
    ];
    let codes = prop_oneof![
        6 => characters.prop_map(KeyCode::Char),
        3 => proptest::sample::select(vec![
            KeyCode::Left, KeyCode::Right, KeyCode::Up, KeyCode::Down, KeyCode::Home, KeyCode::End,
            KeyCode::Backspace, KeyCode::Delete, KeyCode::Tab, KeyCode::Esc, KeyCode::Insert,
        ]),
    ];
    let modifiers = proptest::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
    ]);
    (codes, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

#[derive(Debug, Clone)]
enum Step {
    Key(KeyEvent),
    Enter(KeyModifiers),
    Paste(String),
    Accept,
    Render(u16, u16),
}

fn any_step() -> impl Strategy<Value = Step> {
    let enter = proptest::sample::select(vec![KeyModifiers::NONE, KeyModifiers::ALT, KeyModifiers::SHIFT]);
    prop_oneof![
        20 => any_key().prop_map(Step::Key),
        1 => enter.prop_map(Step::Enter),
        1 => "(\\PC|\n|\r\n|\u{1b}){0,30}".prop_map(Step::Paste),
        1 => (11_usize..30).prop_map(|lines| Step::Paste("long 日本\n".repeat(lines))),
        1 => Just(Step::Accept),
        2 => (0_u16..40, 0_u16..8).prop_map(|(width, height)| Step::Render(width, height)),
    ]
}

fn take(editor: &mut Editor, step: &Step) -> Reaction {
    match step {
        Step::Key(key) => editor.handle(*key),
        Step::Enter(modifiers) => editor.handle(KeyEvent::new(KeyCode::Enter, *modifiers)),
        Step::Paste(text) => editor.paste(text),
        Step::Accept => editor.accept_completion("some path/file"),
        Step::Render(width, height) => {
            let rendered = editor.render(*width, *height);
            let (column, row) = rendered.cursor;
            assert!(column < (*width).max(1), "column {column} of {width}");
            assert!(usize::from(row) < rendered.lines.len());
            assert!(rendered.lines.len() <= usize::from((*height).max(1)));
            for line in &rendered.lines {
                let text = text(line);
                let cells: usize = unicode_segmentation::UnicodeSegmentation::graphemes(text.as_str(), true)
                    .map(|g| g.width())
                    .sum();
                assert!(cells <= usize::from((*width).max(1)), "{text:?} in {width}");
                assert!(!text.contains(|c: char| c.is_control()), "{text:?}");
            }
            Reaction::None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_keys_leave_the_editor_whole(steps in proptest::collection::vec(any_step(), 0..80), vim: bool) {
        let mut editor = Editor::new().with_history(history());
        if vim {
            editor.set_editing(Editing::Vim);
        }
        for step in &steps {
            take(&mut editor, step);
            take(&mut editor, &Step::Render(20, 6));
            let mut copy = Editor::new();
            copy.restore(editor.draft());
            prop_assert_eq!(copy.draft(), editor.draft());
        }
    }

    #[test]
    fn undoing_everything_gives_the_first_text_and_redoing_the_last(
        first in "[a-z 日\n]{0,20}",
        steps in proptest::collection::vec(any_step(), 0..60),
    ) {
        let mut editor = Editor::new();
        editor.paste(&first);
        let mut fresh = Editor::new();
        fresh.restore(editor.draft());
        for step in &steps {
            let undoes = matches!(step, Step::Key(key) if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT));
            if !matches!(step, Step::Enter(_)) && !undoes {
                take(&mut fresh, step);
            }
        }
        fresh.handle(chord("esc"));
        let last = fresh.shown();
        let mut steps_back = 0;
        while fresh.handle(chord("ctrl-_")) != Reaction::None {
            steps_back += 1;
        }
        prop_assert_eq!(fresh.text(), first);
        for _ in 0..steps_back {
            fresh.handle(chord("alt-_"));
        }
        prop_assert_eq!(fresh.shown(), last);
    }

    #[test]
    fn history_survives_its_file(entries in proptest::collection::vec("(\\PC|\n|\\\\|\r){0,12}", 0..20)) {
        let mut history = History::default();
        for entry in &entries {
            history.push(entry);
        }
        prop_assert_eq!(History::load(&history.save()), history);
    }
}
