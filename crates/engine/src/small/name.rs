//! The name of a session, from its first words and its last answer.

use std::time::Duration;

use rein_llm::{ModelRequest, Models, Role};
use rein_protocol::message::AssistantPart;
use rein_protocol::{Content, Cost, Entry, EntryBody, Message, ModelRef, Usage};
use tokio_util::sync::CancellationToken;

use crate::context::shortened;

const SYSTEM: &str = include_str!("../prompts/name.md");
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of what was asked for and of what was answered that are shown.
const ASKED: usize = 2_000;
const ANSWERED: usize = 1_000;
/// Characters of a name.
const LONGEST: usize = 60;
/// A model that cannot help thinking has some room for it.
const MOST_TOKENS: u64 = 1_000;

/// A name, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Name {
    pub(crate) title: String,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Cost,
}

/// Whether a session that works with a model is named. Not by that model itself, unless somebody chose it for
/// that: it would cost as much as the work, and a server on this machine would lose what it has in its cache.
pub(crate) fn may_name(models: &Models, current: &ModelRef) -> bool {
    let chosen = [Role::Title, Role::Small].iter().any(|role| models.roles().contains_key(role));
    chosen || models.role(Role::Title, current).model != *current
}

/// What a model is asked for a name. Nothing if nothing was said in words.
pub(crate) fn name_request<'a>(branch: impl IntoIterator<Item = &'a Entry>) -> Option<ModelRequest> {
    let (mut asked, mut answered) = (None, None);
    for entry in branch {
        match &entry.body {
            EntryBody::User { content, .. } if asked.is_none() => asked = words(content),
            EntryBody::Part { body: AssistantPart::Text { text }, .. } => answered = Some(text),
            _ => {}
        }
    }
    let mut text = format!("<asked>\n{}\n</asked>\n", shortened(&asked?, ASKED));
    if let Some(answered) = answered {
        text.push_str(&format!("<answered>\n{}\n</answered>\n", shortened(answered, ANSWERED)));
    }
    text.push_str("Write the name now.");
    Some(ModelRequest {
        system: vec![SYSTEM.trim_end().to_owned()],
        messages: vec![Message::User { content: vec![Content::text(text)] }],
        max_output: Some(MOST_TOKENS),
        ..ModelRequest::default()
    })
}

/// Asks for a name. Nothing if none came in time.
pub(crate) async fn name(models: &Models, current: &ModelRef, request: &ModelRequest) -> Option<Name> {
    let cancel = CancellationToken::new();
    let answer = models.small(Role::Title, current, request, PATIENCE, &cancel).await?;
    let title = cleaned(&answer.text)?;
    Some(Name { title, usage: answer.usage, cost: answer.cost })
}

fn words(content: &[Content]) -> Option<String> {
    let pieces = content.iter().filter_map(|piece| match piece {
        Content::Text { text } => Some(text.trim()),
        Content::Image { .. } => None,
    });
    Some(pieces.collect::<Vec<&str>>().join("\n")).filter(|text| !text.is_empty())
}

/// A name as it can be shown in a line: without the talk, quotes and marks that models put around it.
fn cleaned(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches(['#', '*', '-', ' ']);
    let lower = line.to_lowercase();
    let line = match lower.starts_with("title:") || lower.starts_with("name:") {
        true => line.split_once(':').map_or(line, |(_, rest)| rest),
        false => line,
    };
    let line = line.trim().trim_matches(['"', '\'', '`', '*', '“', '”', '«', '»']).trim_end_matches('.');
    let line = line.split_whitespace().collect::<Vec<&str>>().join(" ");
    let seen: String = line.chars().filter(|character| !character.is_control()).take(LONGEST).collect();
    let name = seen.trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use rein_protocol::{Delivery, Finish};

    use super::*;
    use crate::context::branch::{Branch, words as said};

    #[test]
    fn a_name_is_one_clean_line() {
        for (answer, expected) in [
            ("Fix the login", Some("Fix the login")),
            ("\n  \"Fix the login.\"\nIt is about…", Some("Fix the login")),
            ("Title: **Fix the login**", Some("Fix the login")),
            ("# Fix\tthe   login", Some("Fix the login")),
            ("\u{1b}[31mred\u{7}", Some("[31mred")),
            ("  \n\"\"\n", None),
            ("", None),
        ] {
            assert_eq!(cleaned(answer).as_deref(), expected, "{answer:?}");
        }
        assert_eq!(cleaned(&"ü".repeat(500)).map(|name| name.chars().count()), Some(LONGEST));
    }

    #[test]
    fn a_model_is_shown_the_first_words_and_the_last_answer_and_no_more_than_fits() {
        let mut branch = Branch::new();
        assert_eq!(name_request(branch.view()), None);
        branch.user(&format!("mend {}", "x".repeat(100_000)), Delivery::Prompt);
        branch.step().part(said("first")).end(Finish::Stop).user("thanks", Delivery::Prompt);
        branch.step().part(said("last")).end(Finish::Stop);
        let request = name_request(branch.view()).unwrap();
        let Message::User { content } = &request.messages[0] else { panic!("{request:?}") };
        let Content::Text { text } = &content[0] else { panic!("{content:?}") };
        assert!(text.starts_with("<asked>\nmend x") && text.len() < ASKED + ANSWERED, "{text}");
        assert!(text.contains("<answered>\nlast\n</answered>"), "{text}");
    }
}
