//! The system prompt: a stable head that providers can cache, the instructions
//! of the user and the project, and a tail with what is particular to this
//! session.
//!
//! All is read once when a session is opened and does not change while it is
//! open, so that every request of a session begins with the same bytes. Only the
//! head depends on the model: families have variants, which the catalog names.
//! The date is that of the session's beginning and comes last.

mod variant;

use std::path::Path;

use rein_protocol::Timestamp;

use crate::context::size::{Ruler, Size};
use crate::instructions::{self, MayRead, Origin};

/// In the user's configuration: in place of the head.
const REPLACEMENT: &str = "SYSTEM.md";
/// In the user's configuration: after the head.
const ADDITION: &str = "APPEND_SYSTEM.md";
/// Bytes of such a file that are used.
const MOST_BYTES: u64 = 256 * 1024;

/// What the system prompt is made from.
pub(crate) struct PromptRequest<'a> {
    pub(crate) workspace: &'a Path,
    /// Where the user's configuration is.
    pub(crate) config: Option<&'a Path>,
    /// When the session began.
    pub(crate) began: Timestamp,
    pub(crate) may_read: MayRead<'a>,
}

/// A piece of what is sent with every request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPart {
    /// Which block of the system prompt it belongs to.
    pub section: PromptSection,
    /// What it is: a name or a path.
    pub name: String,
    /// Why it is sent.
    pub why: String,
    /// As it is sent.
    pub text: String,
    /// About how many tokens that is.
    pub tokens: u64,
}

/// The blocks of what is sent with every request, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptSection {
    /// What rein, or the user in its place, tells every model.
    Head,
    /// Instruction files.
    Instructions,
    /// Where and when the session is.
    Environment,
    /// What tools there are.
    Tools,
}

impl PromptSection {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Instructions => "instructions",
            Self::Environment => "environment",
            Self::Tools => "tools",
        }
    }
}

impl PromptPart {
    pub(crate) fn new(section: PromptSection, name: &str, why: &str, text: String) -> Self {
        let tokens = Ruler::default().tokens(Size::of_text(&text));
        Self { section, name: name.to_owned(), why: why.to_owned(), text, tokens }
    }
}

/// The system prompt of a session, for any model.
#[derive(Debug, Clone)]
pub(crate) struct SystemPrompt {
    /// What the user wrote in place of rein's own head.
    replacement: Option<PromptPart>,
    /// Everything behind the head.
    rest: Vec<PromptPart>,
}

impl SystemPrompt {
    /// Reads what there is to read.
    pub(crate) fn load(request: &PromptRequest<'_>) -> Self {
        let replacement = own_file(request.config, REPLACEMENT).map(|(path, text)| {
            PromptPart::new(PromptSection::Head, &path, "the user's, in place of rein's own", text)
        });
        Self { replacement, rest: rest(request) }
    }

    /// The pieces, in the order in which they are sent to a model that wants this variant.
    pub(crate) fn parts(&self, variant: Option<&str>) -> Vec<PromptPart> {
        let head = match &self.replacement {
            Some(part) => vec![part.clone()],
            None => variant::head(variant),
        };
        head.into_iter().chain(self.rest.iter().cloned()).collect()
    }

    /// The blocks, the stable ones first.
    pub(crate) fn blocks(&self, variant: Option<&str>) -> Vec<(PromptSection, String)> {
        let parts = self.parts(variant);
        let sections = [PromptSection::Head, PromptSection::Instructions, PromptSection::Environment];
        let blocks = sections.into_iter().filter_map(|section| {
            let texts: Vec<&str> =
                parts.iter().filter(|part| part.section == section).map(|part| part.text.as_str()).collect();
            let lead = if section == PromptSection::Instructions { instructions::LEAD } else { "" };
            let text = texts.join("\n\n");
            (!text.is_empty()).then(|| (section, format!("{lead}{text}")))
        });
        blocks.collect()
    }
}

fn rest(request: &PromptRequest<'_>) -> Vec<PromptPart> {
    let mut parts = Vec::new();
    if let Some((path, text)) = own_file(request.config, ADDITION) {
        parts.push(PromptPart::new(PromptSection::Head, &path, "the user adds it", text));
    }
    for file in instructions::load(request.config, request.workspace, request.may_read) {
        let whose = match file.origin {
            Origin::User => "the user's instructions",
            Origin::Project => "the project's instructions",
        };
        let why = match file.imports.len() {
            0 => whose.to_owned(),
            1 => format!("{whose}, with 1 import"),
            count => format!("{whose}, with {count} imports"),
        };
        let (name, text) = (file.path.display().to_string(), instructions::fenced(&file));
        parts.push(PromptPart::new(PromptSection::Instructions, &name, &why, text));
    }
    let environment = environment(request.workspace, request.began);
    let why = "where and when the session began";
    parts.push(PromptPart::new(PromptSection::Environment, "environment", why, environment));
    parts
}

/// A file of the user's configuration with something in it.
fn own_file(config: Option<&Path>, name: &str) -> Option<(String, String)> {
    use std::io::Read;
    let path = config?.join(name);
    if !std::fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(&path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then(|| (path.display().to_string(), text))
}

fn environment(workspace: &Path, began: Timestamp) -> String {
    let root = instructions::root_of(workspace);
    let is_repository = root.join(".git").symlink_metadata().is_ok();
    let worktree = match is_repository {
        true => format!("\nworktree: {}\ngit repository: yes", root.display()),
        false => "\ngit repository: no".to_owned(),
    };
    let date = jiff::Timestamp::from_millisecond(began.0)
        .map(|moment| moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d").to_string())
        .unwrap_or_default();
    format!(
        "<env>\nworking directory: {}{worktree}\nplatform: {}\ndate: {date}\n</env>",
        workspace.display(),
        std::env::consts::OS,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt_in(workspace: &Path, config: &Path) -> SystemPrompt {
        let began = Timestamp(1_700_000_000_000);
        SystemPrompt::load(&PromptRequest { workspace, config: Some(config), began, may_read: &|_| true })
    }

    fn texts(prompt: &SystemPrompt, variant: Option<&str>) -> Vec<String> {
        prompt.blocks(variant).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn the_head_is_short_and_the_same_everywhere() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for variant in [None, Some("claude"), Some("gpt"), Some("gemini"), Some("open"), Some("of nobody")] {
            let parts = |path| prompt_in(path, one.path()).parts(variant);
            let (here, there) = (parts(one.path()), parts(other.path()));
            let head = |parts: &[PromptPart]| -> Vec<PromptPart> {
                parts.iter().filter(|part| part.section == PromptSection::Head).cloned().collect()
            };
            assert_eq!(head(&here), head(&there));
            assert!(!head(&here).is_empty());
            assert_ne!(here.last(), there.last());
        }
    }

    #[test]
    fn with_the_core_tools_every_head_has_at_most_two_thousand_tokens() {
        let core = ["read", "edit", "write", "bash", "grep", "glob"];
        let tools = rein_tools::Registry::builtin();
        let described: u64 = core
            .iter()
            .filter_map(|name| tools.get(name))
            .map(|tool| Ruler::default().tokens_of_text(&tool.spec().description))
            .sum();
        assert!(described > 100, "{described}");
        let work = tempfile::tempdir().unwrap();
        for variant in [None, Some("claude"), Some("gpt"), Some("gemini"), Some("open")] {
            let parts = prompt_in(work.path(), work.path()).parts(variant);
            let head = parts.iter().filter(|part| part.section == PromptSection::Head);
            let tokens = described + head.map(|part| part.tokens).sum::<u64>();
            assert!(tokens <= 2_000, "{variant:?}: {tokens}");
        }
    }

    #[test]
    fn the_user_can_replace_the_head_and_add_to_it() {
        let (work, config) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(config.path().join(ADDITION), "And be kind.\n").unwrap();
        let plain = texts(&prompt_in(work.path(), work.path()), Some("gpt"));
        let added = texts(&prompt_in(work.path(), config.path()), Some("gpt"));
        assert_eq!(added[0], format!("{}\n\nAnd be kind.", plain[0]));
        std::fs::write(config.path().join(REPLACEMENT), "You are somebody else.\n").unwrap();
        std::fs::write(config.path().join("AGENTS.md"), "Use tabs.").unwrap();
        let replaced = texts(&prompt_in(work.path(), config.path()), Some("gpt"));
        assert_eq!(replaced[0], "You are somebody else.\n\nAnd be kind.");
        assert!(replaced[1].contains("Use tabs."));
        assert!(
            replaced[2].starts_with("<env>") && replaced[2].contains("date: 2023-11-1"),
            "{}",
            replaced[2]
        );
        assert_eq!(replaced.len(), 3);
    }
}
