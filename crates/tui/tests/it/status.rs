//! The status line: its parts, their order, and what is left of it where there is little room.

use rein_protocol::{ContextUse, Cost, Effort, Mode, Seq, SessionId, SessionInfo, SessionState, Snapshot};
use rein_protocol::{Timestamp, Usage};
use rein_tui::model::{Message, Model};
use rein_tui::{Size, StatusPart, view};

fn snapshot() -> Snapshot {
    Snapshot {
        info: SessionInfo {
            id: SessionId::new(),
            workspace: "/home/me/project".into(),
            title: String::new(),
            model: "fake/model".parse().ok(),
            mode: Mode::Write,
            effort: Some(Effort::High),
            created: Timestamp(0),
            updated: Timestamp(0),
            entries: 0,
            seq: Seq::START,
            state: SessionState::Idle,
        },
        entries: Vec::new(),
        asks: Vec::new(),
        context: Some(ContextUse { used: 50_000, base: 1_000, window: Some(200_000), usable: None }),
        jobs: Vec::new(),
        open: Vec::new(),
        seq: Seq::START,
        usage: Usage { input: 1_000, cache_read: 9_000, output: 10, ..Usage::default() },
        cost: Cost::Known { micro_usd: 1_230_000 },
    }
}

fn line(columns: u16, parts: Option<Vec<StatusPart>>) -> String {
    let mut model = Model::new(Size::new(columns, 12));
    if let Some(parts) = parts {
        model = model.with_status(parts);
    }
    model.update(std::time::Duration::ZERO, Message::Opened(Box::new(snapshot())));
    model.update(std::time::Duration::ZERO, Message::Branch(Some("topic/one".into())));
    view::frame(&model).live.last().unwrap().text()
}

#[test]
fn what_matters_stays_where_there_is_little_room() {
    assert_eq!(
        line(120, None),
        "write · model · effort high · project · topic/one · 25% of 200k · $1.23 · cache 90% · ? for help"
    );
    assert_eq!(line(80, None), "write · model · effort high · project · topic/one · 25% of 200k · $1.23");
    assert_eq!(line(50, None), "write · model · project · 25% of 200k · $1.23");
    assert_eq!(line(20, None), "write · model");
    assert_eq!(line(4, None), "wri…");
}

#[test]
fn settings_choose_parts_and_their_order() {
    let parts = ["branch", "context", "mode"].map(|name| StatusPart::from_name(name).unwrap());
    assert_eq!(line(80, Some(parts.to_vec())), "topic/one · 25% of 200k · write");
    assert_eq!(line(80, Some(Vec::new())), "");
}

#[test]
fn keys_that_do_not_write_are_told() {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    let mut model = Model::new(Size::new(80, 12))
        .with_keys(rein_tui::Bindings::default(), rein_tui::Editing::Vim)
        .with_status(vec![StatusPart::Mode]);
    let status = |model: &Model| view::frame(model).live.last().unwrap().text();
    assert_eq!(status(&model), "tight");
    for code in [KeyCode::Char('a'), KeyCode::Esc] {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        model.update(std::time::Duration::ZERO, Message::Key(key));
    }
    assert_eq!(status(&model), "NORMAL · tight");
}
