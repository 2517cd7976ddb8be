//! The guided choice when no model can be used.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rein_tui::screen::Size;
use rein_tui::welcome::{Chosen, ProviderOffer, Step, Welcome, lines};

fn offers() -> Vec<ProviderOffer> {
    let offer = |name: &str, title: &str| ProviderOffer {
        name: name.into(),
        title: title.into(),
        page: Some(format!("https://{name}.example/keys")),
    };
    vec![offer("anthropic", "Anthropic"), offer("openai", "OpenAI"), offer("mistral", "Mistral")]
}

fn press(welcome: &mut Welcome, code: KeyCode) -> Step {
    welcome.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn shown(welcome: &Welcome, columns: u16, rows: u16) -> String {
    let (lines, _) = lines(welcome, Size::new(columns, rows));
    assert!(lines.iter().all(|line| line.width() <= usize::from(columns)));
    let lines: Vec<String> = lines.iter().map(|line| line.text().trim_end().to_owned()).collect();
    lines.join("\n").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn a_key_is_pasted_for_a_provider_and_never_shown() {
    let mut welcome = Welcome::new(offers());
    insta::assert_snapshot!("ways_to_begin", shown(&welcome, 80, 24));
    press(&mut welcome, KeyCode::Enter);
    for letter in "open".chars() {
        press(&mut welcome, KeyCode::Char(letter));
    }
    insta::assert_snapshot!("whose_key", shown(&welcome, 60, 24));
    press(&mut welcome, KeyCode::Enter);
    assert_eq!(press(&mut welcome, KeyCode::Enter), Step::Stays);
    assert!(shown(&welcome, 60, 24).contains("paste the key first"));
    welcome.paste(" sk-secret-0123456789\n");
    insta::assert_snapshot!("the_key", shown(&welcome, 60, 24));
    assert!(!format!("{welcome:?}").contains("sk-secret"));
    assert_eq!(press(&mut welcome, KeyCode::Enter), Step::Stores { provider: "openai".into() });
    assert_eq!(welcome.secret(), "sk-secret-0123456789");
    assert_eq!(welcome.stored("openai".into(), Err("the disk is full\u{1b}[2J".into())), None);
    assert!(shown(&welcome, 60, 24).contains("the disk is full"));
    assert_eq!(welcome.stored("openai".into(), Ok(())), Some(Chosen::Provider("openai".into())));
}

#[test]
fn a_server_that_is_found_can_be_taken() {
    let mut welcome = Welcome::new(offers());
    assert_eq!(press(&mut welcome, KeyCode::Char('2')), Step::Looks);
    welcome.found(Vec::new());
    assert!(shown(&welcome, 60, 24).contains("no server was found"));
    let model: rein_protocol::ModelRef = "ollama/qwen3:8b".parse().unwrap();
    welcome.found(vec![model.clone()]);
    insta::assert_snapshot!("a_server", shown(&welcome, 60, 24));
    assert_eq!(press(&mut welcome, KeyCode::Enter), Step::Ends(Chosen::Model(model)));
}

#[test]
fn there_is_a_way_out_and_a_demo_and_a_small_terminal_will_do() {
    let mut welcome = Welcome::new(offers());
    assert_eq!(press(&mut welcome, KeyCode::Esc), Step::Ends(Chosen::Nothing));
    press(&mut welcome, KeyCode::Up);
    press(&mut welcome, KeyCode::Up);
    assert_eq!(press(&mut welcome, KeyCode::Enter), Step::Ends(Chosen::Demo));
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(welcome.key(control_c), Step::Ends(Chosen::Nothing));
    press(&mut welcome, KeyCode::Char('1'));
    shown(&welcome, 20, 6);
    press(&mut welcome, KeyCode::Esc);
    shown(&welcome, 20, 6);
}
