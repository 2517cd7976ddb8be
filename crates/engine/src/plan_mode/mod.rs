//! Plan mode: what was withheld, what the model is told about it, and the
//! question whether the plan may be carried out.
//!
//! Pure: entries in, words out. Withholding is the gatekeeper's business and
//! asking is `closing`'s. Everything is read from the journal, so that a plan
//! outlives its process, an interrupt and a compaction. What the model is told
//! of the mode goes with what the person says, never into the head of a prompt.

mod reminders;

use std::collections::HashSet;
use std::fmt::Write;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    Block, CallId, CallStatus, Choice, Display, Effect, Entry, EntryBody, Intent, Mode, Question, Said,
    Selection,
};

pub(crate) use reminders::Reminders;

/// How many withheld calls are listed: the last ones.
const MOST_LISTED: usize = 40;
/// Bytes of a plan that are carried on.
const LONGEST_PLAN: usize = 16 << 10;

/// What the model is told about a call that was withheld.
pub(crate) const WITHHELD: &str = "Withheld: this is plan mode. It was not done; it will be carried out when the plan is \
     approved. Go on planning as if it will succeed, and do not repeat this call.";

const KEEP_PLANNING: &str = "Keep planning";

/// A call that waits for the plan to be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithheldCall {
    /// The tool.
    pub(crate) tool: String,
    /// What it would do, in a line.
    pub(crate) title: String,
}

/// What the person wants done with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Carry it out, in this mode.
    Approved(Mode),
    /// Go on planning, with these words in mind.
    Changed(String),
    /// Leave it as it is.
    Nothing,
}

/// The calls that were withheld since plan mode began, without repetitions; the last ones.
pub(crate) fn withheld<'a>(branch: impl IntoIterator<Item = &'a Entry>) -> Vec<WithheldCall> {
    let mut calls: Vec<(CallId, WithheldCall)> = Vec::new();
    let mut tools = std::collections::HashMap::new();
    for entry in branch {
        match &entry.body {
            EntryBody::ModeChanged { mode } if *mode != Mode::Plan => calls.clear(),
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                tools.insert(&call.id, &call.tool);
            }
            EntryBody::CallEnded { call, result } if result.status == CallStatus::Withheld => {
                let tool = tools.get(call).map_or_else(String::new, |tool| (*tool).clone());
                calls.push((call.clone(), WithheldCall { tool, title: result.display.title.clone() }));
            }
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    let mut last: Vec<WithheldCall> = calls
        .into_iter()
        .rev()
        .filter(|(_, call)| seen.insert((call.tool.clone(), call.title.clone())))
        .map(|(_, call)| call)
        .take(MOST_LISTED)
        .collect();
    last.reverse();
    last
}

/// The question at the end of a plan, as a call would put it.
pub(crate) fn question(plan: &str, withheld: &[WithheldCall], modes: &[Mode]) -> Intent {
    let approve = |mode: Mode| Choice {
        label: label(mode),
        description: Some(
            match mode {
                Mode::Write => "carry the plan out; edits in the workspace run without asking",
                _ => "carry the plan out; whatever changes something asks first",
            }
            .to_owned(),
        ),
    };
    let offered = [Mode::Tight, Mode::Write].into_iter().filter(|mode| modes.contains(mode));
    let keep = Choice {
        label: KEEP_PLANNING.to_owned(),
        description: Some("nothing is carried out; say in your own words what to change".to_owned()),
    };
    let question = Question {
        text: "Carry this plan out?".to_owned(),
        choices: offered.map(approve).chain([keep]).collect(),
        selection: Selection::One,
        timeout: None,
    };
    let mut display = Display::titled("the plan is ready");
    if !plan.trim().is_empty() {
        display = display.with_block(Block::Text { text: plan.trim().to_owned() });
    }
    if !withheld.is_empty() {
        display =
            display.with_block(Block::Text { text: format!("Withheld until then:\n{}", list(withheld)) });
    }
    Intent { effects: vec![Effect::Consult { question }], display }
}

/// What an answer to that question means.
pub(crate) fn wanted(said: Option<&Said>) -> Wanted {
    let Some(said) = said else { return Wanted::Nothing };
    let words = said.text.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let approved = [Mode::Tight, Mode::Write]
        .into_iter()
        .find(|mode| said.chosen.iter().any(|chosen| *chosen == label(*mode)));
    match (approved, words) {
        (Some(mode), _) => Wanted::Approved(mode),
        (None, Some(words)) => Wanted::Changed(words.to_owned()),
        (None, None) => Wanted::Nothing,
    }
}

/// What the model goes on with when its plan is approved. The plan is in it, because what the person says is
/// carried through compactions.
pub(crate) fn approval(mode: Mode, plan: &str, withheld: &[WithheldCall], words: Option<&str>) -> String {
    let mut text = format!(
        "[The user approved the plan: mode `{}` holds from now on. Carry it out now, completely, and prove it.]",
        mode.name()
    );
    if let Some(words) = words.map(str::trim).filter(|words| !words.is_empty()) {
        let _ = write!(text, "\n\n{words}");
    }
    let plan = plan.trim();
    if !plan.is_empty() {
        let end = plan.floor_char_boundary(LONGEST_PLAN.min(plan.len()));
        let more = if end < plan.len() { "\n[…]" } else { "" };
        let _ = write!(text, "\n\n<plan>\n{}{more}\n</plan>", plan.get(..end).unwrap_or_default());
    }
    if !withheld.is_empty() {
        let _ = write!(
            text,
            "\n\nThese calls were withheld and have not been done; make those again that still belong to it:\n{}",
            list(withheld)
        );
    }
    text
}

/// What a person is told who was not there to be asked.
pub(crate) fn left_undone(withheld: &[WithheldCall]) -> Option<String> {
    let what = match withheld.len() {
        0 => return None,
        1 => "1 call was withheld".to_owned(),
        many => format!("{many} calls were withheld"),
    };
    Some(format!(
        "{what}, and nothing was changed:\n{}\nhint: to carry the plan out: rein -p --continue --mode write 'go'",
        list(withheld)
    ))
}

fn label(mode: Mode) -> String {
    format!("Approve (mode {})", mode.name())
}

fn list(withheld: &[WithheldCall]) -> String {
    let lines: Vec<String> = withheld.iter().map(|call| format!("- {}", one_line(&call.title))).collect();
    lines.join("\n")
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(title: &str) -> WithheldCall {
        WithheldCall { tool: "write".to_owned(), title: title.to_owned() }
    }

    #[test]
    fn only_modes_that_are_permitted_are_offered() {
        let labels = |modes: &[Mode]| -> Vec<String> {
            match question("", &[], modes).effects.into_iter().next() {
                Some(Effect::Consult { question }) => {
                    question.choices.into_iter().map(|choice| choice.label).collect()
                }
                _ => Vec::new(),
            }
        };
        assert_eq!(labels(&Mode::ALL), ["Approve (mode tight)", "Approve (mode write)", "Keep planning"]);
        assert_eq!(labels(&[Mode::Tight, Mode::Plan]), ["Approve (mode tight)", "Keep planning"]);
        assert_eq!(labels(&[Mode::Plan]), ["Keep planning"]);
    }

    #[test]
    fn an_answer_says_what_is_wanted() {
        let said = |chosen: &[&str], text: Option<&str>| {
            let chosen = chosen.iter().map(|label| (*label).to_owned()).collect();
            wanted(Some(&Said { chosen, text: text.map(str::to_owned) }))
        };
        assert_eq!(said(&["Approve (mode write)"], None), Wanted::Approved(Mode::Write));
        assert_eq!(said(&["Approve (mode tight)"], Some("fast")), Wanted::Approved(Mode::Tight));
        assert_eq!(said(&["Keep planning"], Some(" use b ")), Wanted::Changed("use b".to_owned()));
        assert_eq!(said(&["Keep planning"], None), Wanted::Nothing);
        assert_eq!(wanted(None), Wanted::Nothing);
    }

    #[test]
    fn an_approval_carries_the_plan_and_what_was_withheld() {
        let text = approval(Mode::Write, "1. do it\n", &[call("write a"), call("$ make")], None);
        assert!(text.contains("<plan>\n1. do it\n</plan>"), "{text}");
        assert!(text.ends_with("- write a\n- $ make"), "{text}");
        let long = approval(Mode::Write, &"é".repeat(20_000), &[], Some("quickly"));
        assert!(long.len() < 17 << 10 && long.contains("\n\nquickly\n\n<plan>"), "{}", long.len());
    }
}
