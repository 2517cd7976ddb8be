//! What holds for every history and every window.

use std::collections::HashSet;

use proptest::prelude::*;
use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallStatus, Compaction, CompactionReason, Cost, Effect, StopReason, SummarySource, TurnId,
};

use super::branch::{Branch, call_of, words};
use super::plan::{Material, Plan, Squeeze, places, plan};
use super::prune::{PruneFigures, plan as prune};
use super::size::{Ruler, Size};
use super::*;

/// A piece of a history.
#[derive(Debug, Clone)]
enum Act {
    Says {
        bytes: usize,
        delivery: Delivery,
    },
    /// Words and calls with results of so many bytes; which come before the step has ended; how many never came.
    Step {
        words: usize,
        results: Vec<usize>,
        early: usize,
        open: bool,
    },
    Turn,
}

fn act() -> impl Strategy<Value = Act> {
    let delivery = prop_oneof![Just(Delivery::Prompt), Just(Delivery::Steer), Just(Delivery::FollowUp)];
    prop_oneof![
        2 => (1_usize..600, delivery).prop_map(|(bytes, delivery)| Act::Says { bytes, delivery }),
        5 => (0_usize..3_000, prop::collection::vec(0_usize..9_000, 0..4), 0_usize..3, prop::bool::weighted(0.1))
            .prop_map(|(words, results, early, open)| Act::Step { words, results, early, open }),
        1 => Just(Act::Turn),
    ]
}

fn history() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 1..40)
}

fn branch_of(acts: &[Act]) -> Branch {
    let mut branch = Branch::new();
    for (index, act) in acts.iter().enumerate() {
        match act {
            Act::Says { bytes, delivery } => {
                branch.user(&format!("<{index}>{}", "u".repeat(*bytes)), *delivery);
            }
            Act::Step { words: bytes, results, early, open } => {
                branch.step().part(words(&"w".repeat(*bytes)));
                let calls: Vec<ToolCall> =
                    results.iter().map(|_| call_of("read", serde_json::json!({ "n": index }))).collect();
                for call in &calls {
                    branch.part(AssistantPart::Call(call.clone()));
                    let effects = vec![Effect::Read { path: format!("/w/{}", index % 5).into() }];
                    let intent = rein_protocol::Intent { effects, ..Default::default() };
                    branch.add(EntryBody::CallStarted { call: call.id.clone(), intent });
                }
                // The last call of a step that died has no result.
                let answered = calls.len() - usize::from(*open && !calls.is_empty());
                let answers: Vec<_> = calls.iter().zip(results).take(answered).collect();
                let (before, after) = answers.split_at((*early).min(answers.len()));
                for (call, bytes) in before {
                    branch.result(call, &"r".repeat(**bytes), CallStatus::Completed);
                }
                branch.end(Finish::ToolCalls);
                for (call, bytes) in after {
                    branch.result(call, &"r".repeat(**bytes), CallStatus::Failed);
                }
            }
            Act::Turn => {
                branch.add(EntryBody::TurnEnded {
                    turn: TurnId::new(),
                    stop: StopReason::EndTurn,
                    message: None,
                });
            }
        }
    }
    branch
}

fn material<'a, 'b>(branch: &'b [&'a Entry], usable: u64, squeeze: Squeeze) -> Material<'a, 'b> {
    Material { branch, jobs: &[], base: 500, usable, ruler: Ruler::default(), squeeze }
}

fn compaction(plan: &Plan<'_>) -> EntryBody {
    let compaction = Compaction {
        reason: CompactionReason::Threshold,
        first_kept: plan.first_kept.clone(),
        summary: "s".to_owned(),
        source: SummarySource::Digest { why: "a test".to_owned() },
        carried: plan.carried.clone(),
        tokens_before: 0,
        tokens_after: 0,
        usage: None,
        cost: Cost::ZERO,
    };
    EntryBody::Compacted { compaction: Box::new(compaction) }
}

/// Every result follows an answer with its call, and none comes twice.
fn is_paired(messages: &[Message]) -> bool {
    let (mut calls, mut seen) = (HashSet::new(), HashSet::new());
    messages.iter().all(|message| match message {
        Message::Assistant { parts, .. } => {
            calls.extend(parts.iter().filter_map(|part| match part {
                AssistantPart::Call(call) => Some(call.id.clone()),
                _ => None,
            }));
            true
        }
        Message::Tool { call, .. } => calls.contains(call) && seen.insert(call.clone()),
        Message::User { .. } => true,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_compacted_conversation_is_valid_and_ends_as_it_did(acts in history(), usable in 2_000_u64..60_000) {
        let mut branch = branch_of(&acts);
        let before = messages(&branch.entries);
        let body = {
            let entries = branch.view();
            let Some(plan) = plan(&material(&entries, usable, Squeeze::Usual)) else { return Ok(()) };
            compaction(&plan)
        };
        branch.add(body);
        let after = messages(&branch.entries);
        prop_assert!(is_paired(&after));
        // The record, then a part of what was sent before, byte for byte.
        prop_assert!(before.ends_with(&after[1..]));
        prop_assert!(after.len() <= before.len());
        let entries = branch.view();
        prop_assert!(plan(&material(&entries, usable, Squeeze::Usual)).is_none(), "it is stable");
    }

    #[test]
    fn every_entry_is_summarised_or_kept_and_none_is_both(
        acts in history(), usable in 2_000_u64..60_000, hard in any::<bool>(),
    ) {
        let squeeze = if hard { Squeeze::Hard } else { Squeeze::Usual };
        let mut branch = branch_of(&acts);
        let ids = |entries: &[&Entry]| -> Vec<rein_protocol::EntryId> {
            entries.iter().map(|entry| entry.id.clone()).collect()
        };
        let (body, head, all) = {
            let entries = branch.view();
            let Some(plan) = plan(&material(&entries, usable, squeeze)) else { return Ok(()) };
            // The same entries give the same plan.
            let again = super::plan::plan(&material(&entries, usable, squeeze)).unwrap();
            prop_assert_eq!(ids(&plan.head), ids(&again.head));
            prop_assert_eq!(&plan.carried, &again.carried);
            (compaction(&plan), ids(&plan.head), ids(&View::of(&entries).kept))
        };
        branch.add(body);
        let kept = ids(&View::of(&branch.view()).kept);
        prop_assert_eq!([head, kept].concat(), all);
    }

    #[test]
    fn every_path_through_a_tree_is_a_valid_conversation(
        trunk in history(),
        forks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), history()), 1..5),
        usable in 2_000_u64..60_000,
    ) {
        let mut branch = branch_of(&trunk);
        for (place, compacts, acts) in forks {
            // Anywhere, also between a call and its result.
            let left = place.index(branch.entries.len() + 1);
            branch.entries.truncate(left);
            let body = plan(&material(&branch.view(), usable, Squeeze::Usual)).as_ref().map(compaction);
            if let Some(body) = body.filter(|_| compacts) {
                branch.add(body);
            }
            branch.entries.extend(branch_of(&acts).entries);
            let sent = messages(&branch.entries);
            prop_assert!(is_paired(&sent));
            let entries = branch.view();
            let view = View::of(&entries);
            let figures = PruneFigures { protected: 500, least_saving: 1, smallest: 50 };
            if let Some(planned) = prune(&view, figures, Ruler::default()) {
                let calls: HashSet<&CallId> = planned.results.iter().map(|result| &result.call).collect();
                prop_assert_eq!(calls.len(), planned.results.len(), "no result is left out twice");
            }
            if let Some(planned) = plan(&material(&entries, usable, Squeeze::Usual)) {
                let first = planned.first_kept.as_ref();
                prop_assert!(first.is_none_or(|first| view.kept.iter().any(|entry| entry.id == *first)));
            }
        }
    }

    #[test]
    fn the_tail_keeps_to_its_bounds(acts in history(), usable in 2_000_u64..60_000) {
        let branch = branch_of(&acts);
        let entries = branch.view();
        let Some(plan) = plan(&material(&entries, usable, Squeeze::Usual)) else { return Ok(()) };
        let start = plan.first_kept.as_ref().map_or(entries.len(), |first| {
            entries.iter().position(|entry| entry.id == *first).unwrap()
        });
        prop_assert!(start == entries.len() || places(&entries).contains(&start));
        let view = View::of(&entries);
        let tail = entries[start..].iter().fold(Size::default(), |size, entry| size + view.size_of(entry));
        let most = (usable - 500) / 2;
        // Pieces are rounded up one by one.
        prop_assert!(Ruler::default().tokens(tail) <= most.min(16_000) + 100);
    }

    #[test]
    fn what_a_person_said_is_carried_or_kept(acts in history(), usable in 40_000_u64..90_000) {
        let mut branch = branch_of(&acts);
        let body = {
            let entries = branch.view();
            let Some(plan) = plan(&material(&entries, usable, Squeeze::Hard)) else { return Ok(()) };
            compaction(&plan)
        };
        branch.add(body);
        let sent = messages(&branch.entries).iter().map(|message| match message {
            Message::User { content } => match &content[content.len() - 1] {
                Content::Text { text } => text.clone(),
                Content::Image { .. } => String::new(),
            },
            _ => String::new(),
        }).collect::<String>();
        for (index, act) in acts.iter().enumerate() {
            if let Act::Says { bytes, .. } = act {
                let said = format!("<{index}>{}", "u".repeat(*bytes));
                // All of it fits: forty messages of six hundred bytes are less than an eighth of the window.
                prop_assert_eq!(sent.matches(&said).count(), 1, "{}", said);
            }
        }
    }

    #[test]
    fn nothing_fades_from_one_compaction_to_the_next(
        parts in prop::collection::vec(history(), 2..4), usable in 60_000_u64..90_000,
    ) {
        let mut branch = Branch::new();
        let mut said = Vec::new();
        for (part, acts) in parts.iter().enumerate() {
            for (index, act) in acts.iter().enumerate() {
                if let Act::Says { delivery, .. } = act {
                    let text = format!("<{part}.{index}>");
                    branch.user(&text, *delivery);
                    said.push(text);
                } else {
                    branch.entries.extend(branch_of(std::slice::from_ref(act)).entries);
                }
            }
            let body = plan(&material(&branch.view(), usable, Squeeze::Hard)).as_ref().map(compaction);
            if let Some(body) = body {
                branch.add(body);
            }
        }
        let sent = messages(&branch.entries);
        prop_assert!(is_paired(&sent));
        let text = serde_json::to_string(&sent).unwrap();
        for words in said {
            prop_assert_eq!(text.matches(&words).count(), 1, "{}", words);
        }
    }

    #[test]
    fn a_pruned_conversation_has_the_same_shape_and_is_smaller(acts in history(), protected in 0_u64..10_000) {
        let mut branch = branch_of(&acts);
        let before = messages(&branch.entries);
        let figures = PruneFigures { protected, least_saving: 1, smallest: 50 };
        let planned = prune(&View::of(&branch.view()), figures, Ruler::default());
        let Some(planned) = planned else { return Ok(()) };
        let size = View::of(&branch.view()).size();
        branch.add(EntryBody::Pruned { results: planned.results.clone() });
        let after = messages(&branch.entries);
        prop_assert!(is_paired(&after));
        prop_assert_eq!(after.len(), before.len());
        let changed = before.iter().zip(&after).filter(|(one, other)| one != other).count();
        // A result that the conversation does not show is no change of it.
        prop_assert!(changed <= planned.results.len());
        prop_assert!(View::of(&branch.view()).size().bytes < size.bytes);
        prop_assert!(prune(&View::of(&branch.view()), figures, Ruler::default()).is_none(), "it is stable");
    }
}

#[test]
fn planning_over_ten_thousand_entries_looks_at_each_a_few_times() {
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt);
    for index in 0..2_500 {
        let call = call_of("read", serde_json::json!({ "path": index }));
        branch.called(&call, &[Effect::Read { path: format!("/w/{index}").into() }], &"x".repeat(400));
    }
    let entries = branch.view();
    assert!(entries.len() > 10_000);
    let plan = plan(&material(&entries, 150_000, Squeeze::Usual)).unwrap();
    assert_eq!(plan.carried.files.len(), 20);
    assert!(plan.head.len() > 10_000);
    assert!(prune(&View::of(&entries), PruneFigures::for_usable(Some(150_000)), Ruler::default()).is_some());
}
