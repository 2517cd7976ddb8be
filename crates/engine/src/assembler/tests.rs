//! Decoded events, and the parts and deltas that they give.

use super::*;

fn run(events: Vec<ModelEvent>) -> (Assembler, Vec<Step>) {
    let mut assembler = Assembler::new(TurnId::new());
    let mut steps = Vec::new();
    for event in events {
        assembler.push(event, &mut steps);
    }
    assembler.close(&mut steps);
    (assembler, steps)
}

/// What the steps amount to: `~` a delta, `=` a part that became durable.
fn outline(steps: &[Step]) -> Vec<String> {
    let part = |body: &EntryBody| match body {
        EntryBody::Part { body: AssistantPart::Text { text }, .. } => format!("text {text}"),
        EntryBody::Part { body: AssistantPart::Reasoning { text, .. }, .. } => format!("reasoning {text}"),
        EntryBody::Part { body: AssistantPart::Call(call), .. } => {
            format!("{} {}", call.tool, call.input.to_json_text())
        }
        other => panic!("{other:?}"),
    };
    steps
        .iter()
        .map(|step| match step {
            Step::Delta(EventBody::PartDelta { delta, .. }) => format!("~ {delta}"),
            Step::Part(body) | Step::Call(body, _) => format!("= {}", part(body)),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn text(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part, delta: delta.to_owned() }
}
fn reasoning(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::ReasoningDelta { part, delta: delta.to_owned() }
}
fn started(part: u32, tool: &str) -> ModelEvent {
    ModelEvent::CallStarted { part, wire_id: format!("w{part}"), tool: tool.to_owned() }
}
fn arguments(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::CallDelta { part, delta: delta.to_owned() }
}
fn completed(part: u32, tool: &str, arguments: &str) -> ModelEvent {
    let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
    ModelEvent::CallCompleted { part, wire_id: format!("w{part}"), tool, arguments }
}

#[test]
fn words_become_durable_when_something_else_begins() {
    let (_, steps) = run(vec![reasoning(0, "hm"), text(1, "I "), text(1, "see"), started(2, "read")]);
    assert_eq!(outline(&steps), ["~ hm", "= reasoning hm", "~ I ", "~ see", "= text I see", "~ "]);
}

#[test]
fn a_part_keeps_its_id_from_its_first_delta_to_its_entry() {
    let (_, steps) =
        run(vec![text(0, "a"), started(1, "read"), arguments(1, "{}"), completed(1, "read", "{}")]);
    let ids: Vec<&PartId> = steps
        .iter()
        .map(|step| match step {
            Step::Delta(EventBody::PartDelta { part, .. }) => part,
            Step::Part(EntryBody::Part { part, .. }) | Step::Call(EntryBody::Part { part, .. }, _) => part,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!((ids[2], ids[3]), (ids[4], ids[4]));
    assert_ne!(ids[0], ids[4]);
}

#[test]
fn interleaved_calls_keep_apart_and_go_in_the_order_in_which_they_began() {
    let (_, steps) = run(vec![
        started(0, "read"),
        started(1, "grep"),
        arguments(0, "{\"a\""),
        arguments(1, "{}"),
        completed(1, "grep", "{}"),
        arguments(0, ":1}"),
        completed(0, "read", "{\"a\":1}"),
    ]);
    let durable: Vec<String> = outline(&steps).into_iter().filter(|step| step.starts_with('=')).collect();
    assert_eq!(durable, ["= read {\"a\":1}", "= grep {}"]);
}

#[test]
fn a_call_that_never_came_whole_is_not_a_call() {
    let (assembler, steps) = run(vec![text(0, "x"), started(1, "write"), arguments(1, "{\"pa")]);
    assert_eq!(outline(&steps), ["~ x", "= text x", "~ ", "~ {\"pa"]);
    assert!(assembler.produced());
}

#[test]
fn a_complete_call_is_not_held_up_for_ever_by_one_that_never_comes_whole() {
    let (_, steps) =
        run(vec![started(0, "read"), arguments(0, "{\"pa"), started(1, "grep"), completed(1, "grep", "{}")]);
    let durable: Vec<String> = outline(&steps).into_iter().filter(|step| step.starts_with('=')).collect();
    assert_eq!(durable, ["= grep {}"]);
}

#[test]
fn words_that_go_on_after_a_call_are_a_part_of_their_own() {
    let (_, steps) = run(vec![text(0, "a"), completed(1, "read", ""), text(0, "b")]);
    assert_eq!(outline(&steps), ["~ a", "= text a", "= read {}", "~ b", "= text b"]);
}

#[test]
fn usage_and_finish_are_remembered_and_are_no_output() {
    let usage = Usage { input: 3, output: 4, ..Usage::default() };
    let (assembler, steps) = run(vec![ModelEvent::Usage(usage), ModelEvent::Finished(Finish::Stop)]);
    assert_eq!(
        (assembler.usage(), assembler.finish(), assembler.produced()),
        (Some(usage), Some(&Finish::Stop), false)
    );
    assert_eq!(steps, []);
}

#[test]
fn what_the_provider_wants_to_see_again_is_kept_with_its_reasoning() {
    let opaque = |part, value: &str| ModelEvent::ReasoningOpaque { part, opaque: value.into() };
    let (_, steps) = run(vec![reasoning(0, "hm"), opaque(0, "signed"), opaque(1, "sealed"), text(2, "Hi")]);
    let kept: Vec<(String, Option<Value>)> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Part(EntryBody::Part { body: AssistantPart::Reasoning { text, opaque }, .. }) => {
                Some((text.clone(), opaque.clone()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(kept, [("hm".to_owned(), Some("signed".into())), (String::new(), Some("sealed".into()))]);
}
