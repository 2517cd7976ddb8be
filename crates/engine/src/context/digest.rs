//! A conversation as text: for a model that is to summarise it, and, where no
//! model gives a usable summary, as a digest made from the entries alone.
//!
//! Pure, and bounded whatever the entries hold.

use std::collections::HashMap;

use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, CallResult, CallStatus, Content, Entry, EntryBody, Finish, ToolCall};

use super::carry::shortened;
use super::summary;

/// Bytes of a piece of conversation that a summariser is shown.
const SAID: usize = 4_000;
const ARGUMENTS: usize = 600;
const RESULT: usize = 1_500;
/// Calls that a digest lists.
const MOST_CALLS: usize = 40;

/// The conversation for a summariser, one text an entry.
pub(crate) fn pieces(head: &[&Entry]) -> Vec<String> {
    let mut tools: HashMap<&CallId, &str> = HashMap::new();
    let mut pieces = Vec::new();
    for entry in head {
        match &entry.body {
            EntryBody::User { content, .. } => {
                pieces.push(format!("[user] {}", shortened(&text_of(content), SAID)))
            }
            EntryBody::Part { body: AssistantPart::Text { text }, .. } => {
                pieces.push(format!("[agent] {}", shortened(text, SAID)));
            }
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                tools.insert(&call.id, &call.tool);
                let arguments = shortened(&call.input.to_json_text(), ARGUMENTS);
                pieces.push(format!("[call] {} {arguments}", call.tool));
            }
            EntryBody::CallEnded { call, result } => {
                let tool = tools.get(call).copied().unwrap_or("a call");
                let failed = if result.status.is_error() { " failed" } else { "" };
                let text = shortened(&text_of(&result.content), RESULT);
                pieces.push(format!("[result of {tool}{failed}] {text}"));
            }
            EntryBody::PersonRan { command, result, .. } => {
                let (command, text) =
                    (shortened(command, ARGUMENTS), shortened(&text_of(&result.content), RESULT));
                pieces.push(format!("[the user ran] $ {command}\n{text}"));
            }
            EntryBody::StepEnded { finish: Finish::Interrupted, .. } => {
                pieces.push("[the user interrupted here]".to_owned());
            }
            _ => {}
        }
    }
    pieces
}

/// Pieces joined into texts of at most so many bytes; a piece that is larger stands alone.
pub(crate) fn chunks(pieces: &[String], most: usize) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    for piece in pieces {
        let piece = shortened(piece, most.max(200));
        match chunks.last_mut() {
            Some(last) if last.len() + piece.len() < most => {
                last.push('\n');
                last.push_str(&piece);
            }
            _ => chunks.push(piece),
        }
    }
    chunks
}

/// A summary without a model, in the same sections, of at most so many bytes.
pub(crate) fn digest(head: &[&Entry], previous: Option<&str>, most: usize) -> String {
    let most = most.max(600);
    let earlier = previous.map(|previous| shortened(&flattened(previous), most / 2)).unwrap_or_default();
    let done = shortened_lines(done(head), most / 3);
    let next = last_words(head).map(|text| shortened(&text, most / 8)).unwrap_or_default();
    let or_nothing = |text: String| if text.is_empty() { "Nothing is recorded.".to_owned() } else { text };
    let contents = [
        "What the user said, word for word, is above.".to_owned(),
        "The user's own words above hold.".to_owned(),
        or_nothing(earlier),
        or_nothing(done),
        "The files used are listed above.".to_owned(),
        if next.is_empty() {
            "Go on with what the user asked for.".to_owned()
        } else {
            format!("The agent last said: {next}")
        },
    ];
    let sections = summary::SECTIONS.iter().zip(contents);
    sections.map(|(name, content)| format!("## {name}\n{content}")).collect::<Vec<String>>().join("\n")
}

/// One line a call or a command of the person, the newest last.
fn done(head: &[&Entry]) -> Vec<String> {
    let mut calls: HashMap<&CallId, &ToolCall> = HashMap::new();
    let mut lines = Vec::new();
    for entry in head {
        match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                calls.insert(&call.id, call);
            }
            EntryBody::CallEnded { call, result } => {
                let title = match (result.display.title.is_empty(), calls.get(call)) {
                    (true, Some(call)) => call.tool.as_str(),
                    _ => result.display.title.as_str(),
                };
                lines.push(line(&one_line(title), result));
            }
            EntryBody::PersonRan { command, result, .. } => {
                lines.push(line(&format!("the user ran `{}`", one_line(command)), result));
            }
            _ => {}
        }
    }
    let older = lines.len().saturating_sub(MOST_CALLS);
    lines.drain(..older);
    if older > 0 {
        lines.insert(0, format!("- {older} earlier calls"));
    }
    lines
}

fn line(what: &str, result: &CallResult) -> String {
    let outcome = match result.status {
        CallStatus::Completed => "done",
        CallStatus::Failed => "failed",
        CallStatus::Refused | CallStatus::Rejected => "not allowed",
        CallStatus::Interrupted | CallStatus::Unknown => "interrupted, effects unknown",
        CallStatus::NotRun => "not run",
        CallStatus::Withheld => "withheld until the plan is approved",
    };
    let summary = one_line(result.display.summary.as_deref().unwrap_or_default());
    format!("- {what}: {outcome} {summary}").trim_end().to_owned()
}

/// The newest lines that fit.
fn shortened_lines(lines: Vec<String>, most: usize) -> String {
    let mut left = most;
    let newest = lines.iter().rev().take_while(|line| {
        let fits = line.len() < left;
        left = left.saturating_sub(line.len() + 1);
        fits
    });
    let mut kept: Vec<&str> = newest.map(String::as_str).collect();
    kept.reverse();
    kept.join("\n")
}

fn last_words(head: &[&Entry]) -> Option<String> {
    head.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Part { body: AssistantPart::Text { text }, .. } if !text.trim().is_empty() => {
            Some(text.trim().to_owned())
        }
        _ => None,
    })
}

/// A summary as a text within another: its headings are no headings any more.
fn flattened(text: &str) -> String {
    let lines = text.lines().map(|line| match line.trim_start().strip_prefix('#') {
        Some(heading) => format!("({})", heading.trim_start_matches('#').trim()),
        None => line.to_owned(),
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn one_line(text: &str) -> String {
    shortened(&text.split_whitespace().collect::<Vec<&str>>().join(" "), 160).replace('\n', " ")
}

fn text_of(content: &[Content]) -> String {
    let pieces = content.iter().map(|piece| match piece {
        Content::Text { text } => text.as_str(),
        Content::Image { .. } => "[a picture]",
    });
    pieces.collect::<Vec<&str>>().join("\n")
}

#[cfg(test)]
mod tests {
    use rein_protocol::{Delivery, Effect};

    use super::*;
    use crate::context::branch::{Branch, call_of, words};

    fn branch() -> Branch {
        let mut branch = Branch::new();
        branch.user("build it", Delivery::Prompt);
        for index in 0..60 {
            let call = call_of("write", serde_json::json!({ "path": format!("f{index}") }));
            branch.called(
                &call,
                &[Effect::Write { path: format!("/w/f{index}").into() }],
                &"x".repeat(9_000),
            );
        }
        branch.step().part(words("now the tests")).end(Finish::Stop);
        branch
    }

    #[test]
    fn a_digest_has_every_section_and_fits() {
        let branch = branch();
        for most in [600, 2_000, 20_000] {
            let first = digest(&branch.view(), None, most);
            assert_eq!(summary::check(&first, 10_000), Ok(first.clone()), "{first}");
            assert!(first.len() <= most + 400, "{} {most}", first.len());
            let second = digest(&branch.view(), Some(&first), most);
            assert_eq!(summary::check(&second, 10_000), Ok(second.clone()), "{second}");
            assert!(second.len() <= most + 400, "{} {most}", second.len());
            assert!(second.contains("now the tests"));
        }
    }

    #[test]
    fn a_conversation_for_a_summariser_is_bounded_and_cut_between_pieces() {
        let branch = branch();
        let pieces = pieces(&branch.view());
        assert!(pieces.iter().all(|piece| piece.len() < 5_000));
        assert_eq!(pieces.len(), 1 + 60 * 2 + 1);
        let chunks = chunks(&pieces, 6_000);
        assert!(chunks.iter().all(|chunk| chunk.len() <= 6_000));
        assert_eq!(chunks.join("\n"), pieces.join("\n"));
    }
}
