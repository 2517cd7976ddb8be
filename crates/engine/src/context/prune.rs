//! Which results to leave out, so that nothing has to be summarised yet.
//!
//! Pure: a branch and figures in, the results with their markers out. A result
//! that is left out keeps its place and its call; the marker says how to get it
//! again. Nothing is left out twice, and the results of the last steps never.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallId, CallResult, CallStatus, Content, Effect, EntryBody, Intent, PrunedResult, Timestamp, TodoList,
    ToolCall,
};

use super::size::{Ruler, Size};
use super::view::View;

/// How long providers keep what they have read, at least.
const CACHE_LIFETIME_MS: i64 = 5 * 60 * 1_000;
/// Steps whose results are always kept.
const RECENT_STEPS: usize = 2;

/// How much is left out, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PruneFigures {
    /// Tokens of the newest results that stay.
    pub(crate) protected: u64,
    /// Tokens that must be saved for it to be worth the while.
    pub(crate) least_saving: u64,
    /// Results smaller than this stay.
    pub(crate) smallest: u64,
}

impl PruneFigures {
    /// For a conversation that may have so many tokens.
    pub(crate) fn for_usable(usable: Option<u64>) -> Self {
        let usable = usable.unwrap_or(u64::MAX);
        Self { protected: (usable / 4).min(40_000), least_saving: (usable / 5).min(20_000), smallest: 50 }
    }
}

/// Results to leave out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Prune {
    pub(crate) results: Vec<PrunedResult>,
    /// Tokens that this saves.
    pub(crate) saved: u64,
    /// Tokens from the first of them on that would have to be read anew.
    pub(crate) disturbed: u64,
}

impl Prune {
    /// Whether to do it although there is still room: when what is read anew costs no more than
    /// what is saved, or nothing is kept of it anyway.
    pub(crate) fn pays_off(&self, last_step: Option<Timestamp>, now: Timestamp) -> bool {
        let forgotten = last_step.is_none_or(|last| now.0.saturating_sub(last.0) > CACHE_LIFETIME_MS);
        forgotten || self.saved >= self.disturbed
    }
}

/// A finished call of which the result is still sent.
struct Finished<'a> {
    call: &'a ToolCall,
    intent: Option<&'a Intent>,
    result: &'a CallResult,
    tokens: u64,
    /// Its place among the kept entries.
    place: usize,
}

/// What can be left out now; nothing if it is not worth the while.
pub(crate) fn plan(view: &View<'_>, figures: PruneFigures, ruler: Ruler) -> Option<Prune> {
    let finished = finished(view, ruler);
    let recent = recent_place(view);
    let mut reasons: HashMap<&CallId, String> = superseded(&finished);
    let mut newer = 0_u64;
    for item in finished.iter().rev() {
        newer = newer.saturating_add(item.tokens);
        if newer > figures.protected {
            reasons.entry(&item.call.id).or_insert_with(|| again(item));
        }
    }
    let mut prune = Prune::default();
    let mut first = None;
    for item in &finished {
        let Some(reason) = reasons.get(&item.call.id) else { continue };
        if item.place >= recent || item.tokens < figures.smallest || is_protected(item) {
            continue;
        }
        let marker = format!("[Output left out to make room, about {} tokens. {reason}]", item.tokens);
        let saved = item.tokens.saturating_sub(ruler.tokens_of_text(&marker));
        prune.saved = prune.saved.saturating_add(saved);
        first.get_or_insert(item.place);
        prune.results.push(PrunedResult { call: item.call.id.clone(), marker });
    }
    let suffix = view.kept.get(first?..).unwrap_or_default();
    let size = suffix.iter().fold(Size::default(), |size, entry| size + view.size_of(entry));
    prune.disturbed = ruler.tokens(size).saturating_sub(prune.saved);
    (prune.saved >= figures.least_saving.max(1)).then_some(prune)
}

fn finished<'a>(view: &View<'a>, ruler: Ruler) -> Vec<Finished<'a>> {
    let mut calls: HashMap<&CallId, (&ToolCall, Option<&Intent>)> = HashMap::new();
    let mut finished = Vec::new();
    for (place, entry) in view.kept.iter().enumerate() {
        match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                calls.insert(&call.id, (call, None));
            }
            EntryBody::CallStarted { call, intent } => {
                if let Some(known) = calls.get_mut(call) {
                    known.1 = Some(intent);
                }
            }
            EntryBody::CallEnded { call, result } if !view.pruned.contains_key(call) => {
                let Some(&(call, intent)) = calls.get(call) else { continue };
                let tokens = ruler.tokens(Size::of_content(&result.content));
                finished.push(Finished { call, intent, result, tokens, place });
            }
            _ => {}
        }
    }
    finished
}

/// From where on results are always kept.
fn recent_place(view: &View<'_>) -> usize {
    let steps = view.kept.iter().enumerate().rev();
    let mut starts = steps.filter(|(_, entry)| matches!(entry.body, EntryBody::StepStarted { .. }));
    starts.nth(RECENT_STEPS - 1).map_or(0, |(place, _)| place)
}

/// What the agent should not forget: its plans, and what a person chose.
fn is_protected(item: &Finished<'_>) -> bool {
    let asked = item
        .intent
        .is_some_and(|intent| intent.effects.iter().any(|effect| matches!(effect, Effect::Consult { .. })));
    asked || TodoList::in_display(&item.result.display).is_some()
}

/// Results that a later one makes worthless, with the reason.
fn superseded<'a>(finished: &[Finished<'a>]) -> HashMap<&'a CallId, String> {
    let mut reasons = HashMap::new();
    let mut written: HashSet<&Path> = HashSet::new();
    let mut read: HashSet<(&str, String)> = HashSet::new();
    let mut said: HashSet<(&str, &str)> = HashSet::new();
    for item in finished.iter().rev() {
        let same_call = (item.call.tool.as_str(), item.call.input.to_json_text());
        let looked = paths(item, |effect| match effect {
            Effect::Read { path } => Some(path.as_path()),
            _ => None,
        });
        let only_looks = item.intent.is_some_and(|intent| {
            !intent.effects.is_empty()
                && intent.effects.iter().all(|effect| matches!(effect, Effect::Read { .. }))
        });
        let text = single_text(item.result);
        if only_looks && looked.first().is_some_and(|path| written.contains(path)) {
            reasons.insert(&item.call.id, "The file was changed after this: read it again.".to_owned());
        } else if only_looks && read.contains(&same_call) {
            reasons.insert(&item.call.id, "The same was read again later: see there.".to_owned());
        } else if text.is_some_and(|text| said.contains(&(item.call.tool.as_str(), text))) {
            reasons.insert(&item.call.id, "A later call returned exactly the same: see there.".to_owned());
        }
        if item.result.status == CallStatus::Completed {
            written.extend(paths(item, |effect| match effect {
                Effect::Write { path } => Some(path.as_path()),
                _ => None,
            }));
            read.insert(same_call);
            said.extend(text.map(|text| (item.call.tool.as_str(), text)));
        }
    }
    reasons
}

fn paths<'a>(item: &Finished<'a>, of: impl Fn(&'a Effect) -> Option<&'a Path>) -> Vec<&'a Path> {
    item.intent.map_or_else(Vec::new, |intent| intent.effects.iter().filter_map(of).collect())
}

fn single_text(result: &CallResult) -> Option<&str> {
    match result.content.as_slice() {
        [Content::Text { text }] => Some(text),
        _ => None,
    }
}

/// How to get a result again.
fn again(item: &Finished<'_>) -> String {
    if let Some(artifact) = &item.result.artifact {
        return format!("The whole is kept: read artifact:{artifact}.");
    }
    let read = item.intent.and_then(|intent| match intent.effects.as_slice() {
        [Effect::Read { path }, ..] => Some(path),
        _ => None,
    });
    match read {
        Some(path) => format!("Read {} again if you need it.", path.display()),
        None => "Make the call again if you need it and it changes nothing.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rein_protocol::{Delivery, Finish};

    use super::*;
    use crate::context::branch::{Branch, call_of, display};

    fn figures(protected: u64, least_saving: u64) -> PruneFigures {
        PruneFigures { protected, least_saving, smallest: 50 }
    }

    /// A step that reads a file with so many bytes.
    fn read(branch: &mut Branch, path: &str, bytes: usize) -> ToolCall {
        let call = call_of("read", serde_json::json!({ "path": path }));
        branch.called(&call, &[Effect::Read { path: path.into() }], &"x".repeat(bytes));
        call
    }

    fn write(branch: &mut Branch, path: &str) -> ToolCall {
        let call = call_of("write", serde_json::json!({ "path": path, "content": "" }));
        branch.called(&call, &[Effect::Write { path: path.into() }], "written");
        call
    }

    fn pruned(branch: &Branch, figures: PruneFigures) -> Vec<CallId> {
        let entries = branch.view();
        let prune = plan(&View::of(&entries), figures, Ruler::default()).unwrap_or_default();
        prune.results.into_iter().map(|result| result.call).collect()
    }

    #[test]
    fn the_oldest_results_go_and_the_newest_stay() {
        let mut branch = Branch::new();
        branch.user("go", Delivery::Prompt);
        let calls: Vec<ToolCall> =
            (0..6).map(|index| read(&mut branch, &format!("/w/{index}"), 3_500 + index)).collect();
        let gone: Vec<CallId> = calls[..3].iter().map(|call| call.id.clone()).collect();
        assert_eq!(pruned(&branch, figures(3_100, 2_000)), gone);
        assert_eq!(pruned(&branch, figures(3_100, 4_000)), [], "it must be worth the while");
        assert_eq!(pruned(&branch, figures(0, 1)).len(), 4, "the last two steps stay");
    }

    #[test]
    fn small_results_and_plans_stay() {
        let mut branch = Branch::new();
        branch.user("go", Delivery::Prompt);
        read(&mut branch, "/w/small", 80);
        let todo = call_of("todo", serde_json::json!({}));
        branch.step().part(AssistantPart::Call(todo.clone())).end(Finish::ToolCalls);
        branch.result_shown(&todo, &"t".repeat(9_000), display::todo());
        for index in 0..3 {
            read(&mut branch, &format!("/w/{index}"), 3_500 + index);
        }
        assert_eq!(pruned(&branch, figures(0, 1)).len(), 1);
    }

    #[test]
    fn what_was_changed_read_again_or_repeated_goes_first() {
        let mut branch = Branch::new();
        branch.user("go", Delivery::Prompt);
        let stale = read(&mut branch, "/w/a", 3_500);
        let twice = read(&mut branch, "/w/b", 3_501);
        let (first, second) =
            (call_of("bash", serde_json::json!({"n": 1})), call_of("bash", serde_json::json!({"n": 2})));
        branch.called(&first, &[], &"same".repeat(1_000));
        write(&mut branch, "/w/a");
        read(&mut branch, "/w/b", 3_502);
        branch.called(&second, &[], &"same".repeat(1_000));
        read(&mut branch, "/w/c", 3_503);
        read(&mut branch, "/w/d", 3_504);
        let everything_protected = figures(u64::MAX, 1);
        assert_eq!(pruned(&branch, everything_protected), [stale.id, twice.id, first.id]);
    }

    #[test]
    fn nothing_is_left_out_twice() {
        let mut branch = Branch::new();
        branch.user("go", Delivery::Prompt);
        for index in 0..5 {
            read(&mut branch, &format!("/w/{index}"), 3_500 + index);
        }
        let entries = branch.view();
        let prune = plan(&View::of(&entries), figures(0, 1), Ruler::default()).unwrap();
        assert!(prune.results[0].marker.contains("Read /w/0 again"), "{}", prune.results[0].marker);
        branch.add(EntryBody::Pruned { results: prune.results });
        assert_eq!(pruned(&branch, figures(0, 1)), []);
    }

    #[test]
    fn with_room_left_it_waits_until_the_cache_is_cold_or_little_would_be_read_anew() {
        let now = Timestamp(10_000_000);
        let dear = Prune { saved: 100, disturbed: 5_000, results: Vec::new() };
        assert!(!dear.pays_off(Some(Timestamp(now.0 - 1_000)), now));
        assert!(dear.pays_off(Some(Timestamp(now.0 - CACHE_LIFETIME_MS - 1)), now));
        assert!(Prune { disturbed: 100, ..dear }.pays_off(Some(now), now));
    }
}
