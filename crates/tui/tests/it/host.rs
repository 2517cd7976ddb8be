//! A program around the face that only tests have.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rein_protocol::Snapshot;
use rein_tui::host::{Finding, FindingState, Host, HostError, ModelChoice, OwnTheme, RuleLine, Setting};
use rein_tui::theme::Theme;

/// What was asked of it is kept.
#[derive(Default)]
pub struct TestHost {
    pub set: Mutex<Vec<(String, Option<String>)>>,
    pub exported: Mutex<Vec<Option<PathBuf>>>,
}

impl TestHost {
    pub fn shared() -> Arc<Self> {
        Arc::new(Self::default())
    }
}

impl Host for TestHost {
    fn models(&self) -> Result<Vec<ModelChoice>, HostError> {
        let choice = |name: &str, detail: &str, unusable: Option<&str>| ModelChoice {
            model: name.parse().unwrap(),
            detail: detail.to_owned(),
            unusable: unusable.map(str::to_owned),
        };
        Ok(vec![
            choice("dear/large", "200k · $3/$15", Some("no key: DEAR_KEY is not set")),
            choice("fake/model", "128k", None),
            choice("fake/small", "32k", None),
        ])
    }

    fn settings(&self) -> Result<Vec<Setting>, HostError> {
        let setting = |key: &str, value: Option<&str>, origin: &str, about: &str, choices: &[&str]| Setting {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            origin: origin.to_owned(),
            about: about.to_owned(),
            takes: "a word".to_owned(),
            choices: choices.iter().map(|word| (*word).to_owned()).collect(),
        };
        Ok(vec![
            setting("model", None, "default", "The model to use.", &[]),
            setting(
                "mode",
                Some("\"tight\""),
                "/home/me/config.toml:3",
                "How much runs without asking.",
                &["tight", "write", "free", "plan"],
            ),
            setting("max_steps", Some("125"), "default", "After how many steps a turn ends.", &[]),
        ])
    }

    fn set(&self, key: &str, value: Option<&str>) -> Result<String, HostError> {
        self.set.lock().unwrap().push((key.to_owned(), value.map(str::to_owned)));
        match value {
            Some("nonsense") => Err(HostError(format!("{key}: `nonsense` cannot be understood"))),
            _ => Ok(format!("{key} is set from the next start on")),
        }
    }

    fn rules(&self) -> Result<Vec<RuleLine>, HostError> {
        Ok(vec![RuleLine { text: "deny read: *.env".into(), origin: "/home/me/config.toml:9".into() }])
    }

    fn doctor(&self) -> Result<Vec<Finding>, HostError> {
        let finding = |state, what: &str, next: Option<&str>| Finding {
            state,
            what: what.to_owned(),
            next: next.map(str::to_owned),
        };
        Ok(vec![
            finding(FindingState::Good, "settings: /home/me/config.toml", None),
            finding(FindingState::Bad, "sandbox: bwrap is missing", Some("install bubblewrap")),
            finding(FindingState::Note, "terminal: 256 colours", Some("COLORTERM=truecolor says more")),
        ])
    }

    fn export(&self, session: &Snapshot, file: Option<PathBuf>) -> Result<PathBuf, HostError> {
        self.exported.lock().unwrap().push(file.clone());
        assert!(!session.entries.is_empty());
        Ok(file.unwrap_or_else(|| "/project/session.md".into()))
    }

    fn themes(&self) -> Vec<OwnTheme> {
        vec![
            OwnTheme { name: "mine".into(), theme: Ok(Theme::read("accent = \"#010203\"\n").unwrap()) },
            OwnTheme { name: "wrong".into(), theme: Err("line 1: there is no `accnt`".into()) },
        ]
    }
}
