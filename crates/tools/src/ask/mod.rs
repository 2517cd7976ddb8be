//! `ask`: a question to the person.
//!
//! The tool only says what is asked. Putting the question, waiting for it and
//! giving up are the gate's business, like with everything that waits for a
//! person; what was said is in [`Scene::said`] when the call runs.

use async_trait::async_trait;
use rein_protocol::{Block, Choice, Display, Effect, Intent, Question, Said, Selection, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::schema;

/// More choices are a list to look through, not a question.
const MOST_CHOICES: usize = 10;

/// Characters of a question, and of a choice.
const LONGEST_QUESTION: usize = 4_000;
const LONGEST_CHOICE: usize = 400;

/// Puts a question.
pub(crate) struct AskUser;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    question: String,
    #[serde(default)]
    choices: Vec<Offered>,
    /// More than one choice may be taken.
    #[serde(default)]
    several: bool,
    /// Seconds after which you go on without an answer.
    #[schemars(range(min = 5, max = 86400))]
    timeout: Option<u64>,
}

/// A choice as the model writes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Offered {
    Label(String),
    Described {
        label: String,
        // Models are told to give one, and some leave it out.
        #[schemars(required)]
        description: Option<String>,
    },
}

#[async_trait]
impl Tool for AskUser {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask".to_owned(),
            description: include_str!("ask.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, _: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("ask", arguments)?;
        let question = understood(arguments)?;
        let shown: Vec<String> =
            question.choices.iter().map(|choice| format!("- {}", choice.label)).collect();
        let title: String = question.text.lines().next().unwrap_or_default().chars().take(120).collect();
        let text = [vec![question.text.clone()], shown].concat().join("\n");
        let display = Display::titled(format!("ask {title}")).with_block(Block::Text { text });
        let intent = Intent { effects: vec![Effect::Consult { question: question.clone() }], display };
        Ok(Box::new(Asking { intent, question }))
    }
}

fn understood(arguments: Arguments) -> Result<Question, Complaint> {
    let text = arguments.question.trim().to_owned();
    if text.is_empty() {
        return Err(Complaint("`question` is empty. Write the question.".to_owned()));
    }
    if text.chars().count() > LONGEST_QUESTION {
        return Err(Complaint(format!(
            "`question` is longer than {LONGEST_QUESTION} characters. Ask shortly."
        )));
    }
    if arguments.choices.len() > MOST_CHOICES {
        return Err(Complaint(format!("`choices` has more than {MOST_CHOICES}. Offer the likeliest few.")));
    }
    let mut choices: Vec<Choice> = Vec::new();
    for offered in arguments.choices {
        let (label, description) = match offered {
            Offered::Label(label) => (label, None),
            Offered::Described { label, description } => (label, description),
        };
        let label = label.trim().to_owned();
        if label.is_empty() || label.chars().count() > LONGEST_CHOICE {
            let wrong = "a choice is empty or too long. A choice is a few words.";
            return Err(Complaint(format!("In `choices`, {wrong}")));
        }
        if choices.iter().any(|choice| choice.label == label) {
            return Err(Complaint(format!("In `choices`, \"{label}\" is there twice. Name each once.")));
        }
        let description = description.map(|text| text.chars().take(LONGEST_CHOICE).collect());
        choices.push(Choice { label, description });
    }
    let selection = if arguments.several { Selection::Several } else { Selection::One };
    Ok(Question {
        text,
        choices,
        selection,
        timeout: arguments.timeout.map(|seconds| seconds.clamp(5, 86_400)),
    })
}

struct Asking {
    intent: Intent,
    question: Question,
}

#[async_trait]
impl Plan for Asking {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(self: Box<Self>, scene: &Scene, output: &mut dyn Output, _: &CancellationToken) -> Outcome {
        let display = self.intent.display;
        let Some(said) = &scene.said else {
            return Outcome::failed(
                display,
                "The question was not answered. Decide yourself and say what you assumed.",
            );
        };
        if said.is_empty() {
            let seconds = self.question.timeout.unwrap_or_default();
            let told = format!(
                "Nobody answered within {seconds} s. Decide yourself what is most sensible and say what you assumed."
            );
            return Outcome::failed(display, told);
        }
        let words = words(said);
        output.write(format!("The user answered: {words}").as_bytes());
        let summary: String = words.lines().next().unwrap_or_default().chars().take(60).collect();
        Outcome::completed(display.with_summary(summary))
    }
}

fn words(said: &Said) -> String {
    let text = said.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let chosen = said.chosen.join("; ");
    match (chosen.is_empty(), text) {
        (false, Some(text)) => format!("{chosen}\n{text}"),
        (false, None) => chosen,
        (true, text) => text.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_choice_is_a_label_with_or_without_a_description() {
        let choices = json!(["tabs", {"label": "spaces"}, {"label": "both", "description": "as it comes"}]);
        let given = json!({"question": "How?", "choices": choices});
        let question = understood(arguments::parse("ask", given).unwrap()).unwrap();
        let choice = |label: &str, description: Option<&str>| Choice {
            label: label.to_owned(),
            description: description.map(str::to_owned),
        };
        let expected = [choice("tabs", None), choice("spaces", None), choice("both", Some("as it comes"))];
        assert_eq!(question.choices, expected);
    }
}
