//! What a compaction keeps by structure: the person's own words, the plans of
//! the agent, the files it used, what still runs, what still waits.
//!
//! Pure. It is always taken from the whole branch, never from an earlier
//! compaction, so that nothing fades from one to the next. The exception is the
//! compaction that a session begins with, because another was handed over to it:
//! what that carried is all there is, and counts as said and done here.

use std::collections::HashMap;
use std::path::PathBuf;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallId, CallStatus, Carried, CarriedWords, Content, Effect, Entry, EntryBody, Intent, JobInfo, TodoList,
    Touch, TouchedFile,
};

use super::size::Ruler;

/// Files that are named.
const MOST_FILES: usize = 20;
/// The tool that looks into one file. Others name directories in which they searched.
const READER: &str = "read";

/// What is carried over the end of `before`, with the state at the end of `branch`.
pub(crate) fn carried(
    branch: &[&Entry],
    before: &[&Entry],
    jobs: &[JobInfo],
    room: u64,
    ruler: Ruler,
) -> Carried {
    Carried {
        words: words(before, room, ruler),
        todo: todo(branch).or_else(|| origin(branch)?.todo.clone()).filter(|list| !list.items.is_empty()),
        files: files(branch),
        jobs: jobs.iter().filter(|job| job.state.is_alive()).cloned().collect(),
        asks: asks(branch),
    }
}

/// The first message and the newest ones, as far as they fit.
fn words(before: &[&Entry], room: u64, ruler: Ruler) -> Vec<CarriedWords> {
    let handed = origin(before).map_or(&[][..], |carried| &carried.words);
    let handed = handed.iter().map(|words| (words.text.clone(), words.skipped));
    let here = before.iter().filter_map(|entry| said(&entry.body)).map(|text| (text, 0));
    let (said, skipped): (Vec<String>, Vec<u32>) = handed.chain(here).unzip();
    let mut left = ruler.bytes(room);
    let most = left / 2;
    let mut kept: Vec<(usize, String)> = Vec::new();
    // The first says what it is all about, the last what it came to.
    let order = [0].into_iter().chain((1..said.len()).rev());
    for place in order {
        let Some(text) = said.get(place) else { continue };
        let text = shortened(text, most.min(left));
        if text.is_empty() {
            break;
        }
        left = left.saturating_sub(text.len());
        kept.push((place, text));
    }
    kept.sort_by_key(|(place, _)| *place);
    let mut next = 0;
    let mut words = Vec::with_capacity(kept.len());
    for (place, text) in kept {
        let between = u32::try_from(place - next).unwrap_or(u32::MAX);
        let before: u32 = skipped.get(next..=place).unwrap_or_default().iter().sum();
        words.push(CarriedWords { text, skipped: between.saturating_add(before) });
        next = place + 1;
    }
    words
}

/// What was handed over to a session that began with the record of another.
fn origin<'a>(branch: &[&'a Entry]) -> Option<&'a Carried> {
    let first = branch.iter().find_map(|entry| match &entry.body {
        EntryBody::User { .. } | EntryBody::StepStarted { .. } => Some(None),
        EntryBody::Compacted { compaction } => Some(Some(&compaction.carried)),
        _ => None,
    });
    first.flatten()
}

fn said(body: &EntryBody) -> Option<String> {
    let EntryBody::User { content, .. } = body else { return None };
    let pieces = content.iter().map(|piece| match piece {
        Content::Text { text } => text.trim(),
        Content::Image { .. } => "[a picture, which is no longer shown]",
    });
    let text = Some(pieces.collect::<Vec<&str>>().join("\n")).filter(|text| !text.is_empty());
    // What a check printed is no wish of the person.
    text.filter(|text| !crate::verify::is_report(text))
}

/// At most so many bytes: the beginning and the end. Empty if that would say nothing.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    const MARK: usize = 48;
    if text.len() <= most {
        return text.to_owned();
    }
    if most < 2 * MARK {
        return String::new();
    }
    let half = (most - MARK) / 2;
    let head = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    format!("{head}\n[{} bytes left out here]\n{tail}", text.len() - head.len() - tail.len())
}

fn todo(branch: &[&Entry]) -> Option<TodoList> {
    branch.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::CallEnded { result, .. } if result.status == CallStatus::Completed => {
            TodoList::in_display(&result.display)
        }
        _ => None,
    })
}

fn files(branch: &[&Entry]) -> Vec<TouchedFile> {
    let mut tools: HashMap<&CallId, &str> = HashMap::new();
    let mut intents: HashMap<&CallId, &Intent> = HashMap::new();
    let mut touched: HashMap<&PathBuf, (i64, Touch)> = HashMap::new();
    let handed = origin(branch).map_or(&[][..], |carried| &carried.files);
    touched.extend(handed.iter().zip(1..).map(|(file, place)| (&file.path, (-place, file.touch))));
    for (place, entry) in (0_i64..).zip(branch) {
        match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                tools.insert(&call.id, &call.tool);
            }
            EntryBody::CallStarted { call, intent } => {
                intents.insert(call, intent);
            }
            EntryBody::CallEnded { call, result } if result.status == CallStatus::Completed => {
                let reads = tools.get(call) == Some(&READER);
                for effect in intents.get(call).map_or(&[][..], |intent| &intent.effects) {
                    let (path, touch) = match effect {
                        Effect::Write { path } => (path, Touch::Write),
                        Effect::Read { path } if reads => (path, Touch::Read),
                        _ => continue,
                    };
                    let known = touched.entry(path).or_insert((place, touch));
                    *known = (place, known.1.and(touch));
                }
            }
            _ => {}
        }
    }
    let mut newest: Vec<(&PathBuf, (i64, Touch))> = touched.into_iter().collect();
    newest.sort_by(|(path, (place, _)), (other, (later, _))| later.cmp(place).then_with(|| path.cmp(other)));
    newest.truncate(MOST_FILES);
    newest.into_iter().map(|(path, (_, touch))| TouchedFile { path: path.clone(), touch }).collect()
}

fn asks(branch: &[&Entry]) -> Vec<String> {
    let mut open: Vec<(&CallId, String)> = Vec::new();
    for entry in branch {
        match &entry.body {
            EntryBody::Asked { ask } => open.push((&ask.call, ask.display.title.clone())),
            EntryBody::Decided { call, .. } | EntryBody::CallEnded { call, .. } => {
                open.retain(|(waiting, _)| *waiting != call);
            }
            EntryBody::TurnEnded { .. } | EntryBody::Recovered { .. } => open.clear(),
            _ => {}
        }
    }
    open.into_iter().map(|(_, title)| title).collect()
}

#[cfg(test)]
mod tests {
    use rein_protocol::Delivery;

    use super::*;
    use crate::context::branch::{Branch, call_of, display};

    fn all(branch: &Branch, room: u64) -> Carried {
        let entries = branch.view();
        carried(&entries, &entries, &[], room, Ruler::default())
    }

    #[test]
    fn everything_the_person_said_is_carried_verbatim_if_it_fits() {
        let mut branch = Branch::new();
        let said = ["build it", "not with that library", "and keep\nthe  format"];
        for text in said {
            branch.user(text, Delivery::Prompt);
        }
        let words: Vec<String> = all(&branch, 1_000).words.into_iter().map(|words| words.text).collect();
        assert_eq!(words, said);
    }

    #[test]
    fn without_room_the_first_and_the_newest_words_stay() {
        let mut branch = Branch::new();
        for index in 0..10 {
            branch.user(&format!("{index} {}", "x".repeat(98)), Delivery::Prompt);
        }
        let carried = all(&branch, 100);
        let told: Vec<(u32, &str)> =
            carried.words.iter().map(|words| (words.skipped, &words.text[..1])).collect();
        assert_eq!(told, [(0, "0"), (7, "8"), (0, "9")]);
        assert!(carried.words.iter().map(|words| words.text.len()).sum::<usize>() <= 350);
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let text = format!("begin{}end", "é".repeat(1_000));
        let short = shortened(&text, 300);
        assert!(short.starts_with("begin") && short.ends_with("end") && short.len() <= 300, "{short}");
        assert_eq!(shortened(&text, 50), "");
    }

    #[test]
    fn files_have_the_mark_of_how_they_were_used_and_the_last_comes_first() {
        let mut branch = Branch::new();
        branch.user("go", Delivery::Prompt);
        let touch = |branch: &mut Branch, tool: &str, effect: Effect| {
            branch.called(&call_of(tool, serde_json::json!({})), &[effect], "ok");
        };
        touch(&mut branch, "read", Effect::Read { path: "/w/a".into() });
        touch(&mut branch, "read", Effect::Read { path: "/w/b".into() });
        touch(&mut branch, "grep", Effect::Read { path: "/w".into() });
        touch(&mut branch, "write", Effect::Write { path: "/w/c".into() });
        touch(&mut branch, "edit", Effect::Write { path: "/w/a".into() });
        let told: Vec<(PathBuf, &str)> =
            all(&branch, 100).files.into_iter().map(|file| (file.path, file.touch.mark())).collect();
        assert_eq!(told, [("/w/a".into(), "RW"), ("/w/c".into(), "Write"), ("/w/b".into(), "Read")]);
        for index in 0..30 {
            touch(&mut branch, "read", Effect::Read { path: format!("/w/{index}").into() });
        }
        assert_eq!(all(&branch, 100).files.len(), MOST_FILES);
    }

    #[test]
    fn the_last_list_of_things_to_do_is_carried() {
        let mut branch = Branch::new();
        let call = call_of("todo", serde_json::json!({}));
        branch.user("go", Delivery::Prompt).step().part(AssistantPart::Call(call.clone()));
        branch.result_shown(&call, "ok", display::todo());
        assert_eq!(all(&branch, 100).todo, TodoList::in_display(&display::todo()));
    }
}
