//! Whatever is drawn, what was committed stays as it was written: once, whole,
//! in order, with the live region below it.

use proptest::prelude::*;
use rein_tui::line::Line;
use rein_tui::screen::{Cover, Frame, Reflow, Screen, Size};

use crate::stage::{PALETTE, history};

#[derive(Debug, Clone)]
enum Step {
    Draw { committed: Vec<usize>, live: Vec<usize>, cursor: bool },
    Cover(u8),
    Wider(u16),
    Taller(u16),
    Clear,
    Again,
}

fn step() -> impl Strategy<Value = Step> {
    let length = || 0usize..40;
    prop_oneof![
        6 => (prop::collection::vec(length(), 0..4), prop::collection::vec(length(), 1..6), any::<bool>())
            .prop_map(|(committed, live, cursor)| Step::Draw { committed, live, cursor }),
        1 => (0u8..9).prop_map(Step::Cover),
        1 => (1u16..9).prop_map(Step::Wider),
        1 => (1u16..4).prop_map(Step::Taller),
        1 => Just(Step::Clear),
        1 => Just(Step::Again),
    ]
}

/// A line of so many cells, unlike any other.
fn line(length: usize, number: usize, columns: u16) -> Line {
    let text = format!("{number}:{}", "日x".repeat(length));
    Line::plain(text).truncated(usize::from(columns), "…")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn committed_lines_are_there_once_and_in_order(
        mut columns in 8u16..50,
        mut rows in 6u16..20,
        steps in prop::collection::vec(step(), 1..60),
        cover in prop_oneof![Just(Cover::Alternate), Just(Cover::Same)],
    ) {
        let mut screen = Screen::new(Size::new(columns, rows), PALETTE, Reflow::Cuts).with_cover(cover);
        let mut emulator = vt100::Parser::new(rows, columns, 100_000);
        let mut committed: Vec<String> = Vec::new();
        let mut frame = Frame { live: vec![Line::plain("start")], cursor: Some((0, 0)), overlay: None };
        let mut number = 0;
        for step in steps {
            let mut now = Vec::new();
            match step {
                Step::Draw { committed: lengths, live, cursor } => {
                    let mut made = |length: &usize| { number += 1; line(*length, number, columns) };
                    now = lengths.iter().map(&mut made).collect();
                    let live: Vec<Line> = live.iter().map(&mut made).collect();
                    let last = u16::try_from(live.len() - 1).unwrap();
                    frame = Frame { live, cursor: cursor.then_some((3, last)), overlay: None };
                }
                Step::Cover(rows) => {
                    let lines = (0..rows).map(|row| Line::plain(format!("over {row}"))).collect();
                    let over = Frame { live: Vec::new(), cursor: None, overlay: Some(lines) };
                    emulator.process(screen.draw(&[], &over).as_bytes());
                    prop_assert_eq!(emulator.screen().alternate_screen(), cover == Cover::Alternate);
                }
                Step::Wider(by) => {
                    columns += by;
                    emulator.screen_mut().set_size(rows, columns);
                    emulator.process(screen.resize(Size::new(columns, rows)).as_bytes());
                }
                Step::Taller(by) => {
                    rows += by;
                    emulator.screen_mut().set_size(rows, columns);
                    emulator.process(screen.resize(Size::new(columns, rows)).as_bytes());
                }
                Step::Clear => emulator.process(screen.clear().as_bytes()),
                Step::Again => {}
            }
            emulator.process(screen.draw(&now, &frame).as_bytes());
            committed.extend(now.iter().map(Line::text));
            let mut wanted = committed.clone();
            wanted.extend(frame.live.iter().map(Line::text));
            let mut shown = history(&mut emulator);
            while shown.last().is_some_and(String::is_empty) && shown.len() > wanted.len() {
                shown.pop();
            }
            prop_assert_eq!(shown, wanted);
            prop_assert_eq!(screen.draw(&[], &frame), "", "a frame that is shown costs nothing");
        }
    }
}

#[test]
fn a_picture_is_drawn_over_the_rows_that_are_reserved_for_it() {
    use rein_tui::graphics::Placed;
    let size = Size::new(40, 10);
    let mut screen = Screen::new(size, PALETTE, Reflow::Cuts);
    let mut emulator = vt100::Parser::new(10, 40, 100);
    let live = |text: &str| Frame { live: vec![Line::plain(text)], cursor: Some((0, 0)), overlay: None };
    emulator.process(screen.draw(&[Line::plain("before")], &live("editor")).as_bytes());
    // What stands for a picture here is text that also moves the cursor.
    let sequence = "PICTURE\r\nmore".to_owned();
    let committed = [Line::empty(), Line::empty(), Line::empty(), Line::plain("after")];
    let placed = [Placed { line: 2, rows: 3, sequence }];
    emulator.process(screen.draw_with(&committed, &placed, &live("editor")).as_bytes());
    assert_eq!(history(&mut emulator)[..6], ["before", "PICTURE", "more", "", "after", "editor"]);
}

#[test]
fn the_environment_says_where_an_overlay_can_be() {
    let of = |pairs: &'static [(&str, &str)]| {
        Cover::detect(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    };
    assert_eq!(of(&[("TERM", "xterm-256color")]), Cover::Alternate);
    assert_eq!(of(&[("TERM", "screen"), ("STY", "1.x"), ("TMUX", "outer")]), Cover::Same);
    assert_eq!(of(&[("TERM", "screen.xterm-256color")]), Cover::Same);
    assert_eq!(of(&[("TERM", "tmux-256color"), ("STY", "outer"), ("TMUX", "x")]), Cover::Alternate);
    // As an older tmux is called.
    assert_eq!(of(&[("TERM", "screen-256color"), ("TMUX", "x")]), Cover::Alternate);
}

#[test]
fn a_line_from_before_the_terminal_became_narrower_is_whole() {
    let mut screen = Screen::new(Size::new(20, 8), PALETTE, Reflow::Cuts);
    let mut emulator = vt100::Parser::new(8, 20, 100);
    let live = |text: &str| Frame { live: vec![Line::plain(text); 3], cursor: Some((0, 0)), overlay: None };
    emulator.process(screen.draw(&[], &live("old old old old old")).as_bytes());
    let committed = [Line::plain("a line of thirty cells, or so."), Line::plain("after")];
    emulator.process(screen.draw(&committed, &live("editor")).as_bytes());
    let shown = ["a line of thirty cel", "ls, or so.", "after", "editor", "editor", "editor", "", ""];
    assert_eq!(history(&mut emulator), shown);
}
