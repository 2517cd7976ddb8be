//! The conversation that a branch gives.

use rein_protocol::CallStatus;
use rein_protocol::message::AssistantPart;

use super::branch::{Branch, call, model, words};
use super::*;

fn user(texts: &[&str]) -> Message {
    Message::User { content: texts.iter().map(|text| Content::text(*text)).collect() }
}

fn assistant(parts: &[AssistantPart]) -> Message {
    Message::Assistant { model: model(), parts: parts.to_vec() }
}

fn tool(call: &ToolCall, text: &str, is_error: bool) -> Message {
    Message::Tool {
        call: call.id.clone(),
        wire_id: call.wire_id.clone(),
        tool: call.tool.clone(),
        content: vec![Content::text(text)],
        is_error,
    }
}

#[test]
fn results_follow_the_answer_in_the_order_of_its_calls_whenever_they_came() {
    let (one, two) = (call("1"), call("2"));
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt).step().part(words("both"));
    branch.part(AssistantPart::Call(one.clone())).part(AssistantPart::Call(two.clone()));
    branch.result(&two, "second", CallStatus::Completed).end(Finish::ToolCalls);
    branch.result(&one, "first", CallStatus::Failed);
    branch.step().part(words("done")).end(Finish::Stop);
    let parts = [words("both"), AssistantPart::Call(one.clone()), AssistantPart::Call(two.clone())];
    assert_eq!(
        messages(&branch.entries),
        [
            user(&["go"]),
            assistant(&parts),
            tool(&one, "first", true),
            tool(&two, "second", false),
            assistant(&[words("done")]),
        ]
    );
}

#[test]
fn an_answer_without_content_leaves_no_message() {
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt).step().end(Finish::Error { message: "503".to_owned() });
    branch.step().part(words("here")).end(Finish::Stop);
    assert_eq!(messages(&branch.entries), [user(&["go"]), assistant(&[words("here")])]);
}

#[test]
fn a_cut_answer_is_kept_and_the_model_is_asked_to_go_on() {
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt).step().part(words("half of")).end(Finish::Died);
    let sent = messages(&branch.entries);
    assert_eq!(sent, [user(&["go"]), assistant(&[words("half of")]), user(&[GO_ON])]);
    branch.step().part(words("it")).end(Finish::Stop);
    let later = messages(&branch.entries);
    assert_eq!(later[..3], sent[..], "what was sent before stays as it was");
    assert_eq!(later[3..], [assistant(&[words("it")])]);
}

#[test]
fn a_person_who_speaks_after_a_cut_answer_says_what_to_do_next() {
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt).step().part(words("half of")).end(Finish::Died);
    branch.user("forget it", Delivery::Prompt);
    assert_eq!(messages(&branch.entries)[2..], [user(&[CUT_OFF, "forget it"])]);
}

#[test]
fn an_interruption_is_told_with_the_next_words() {
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt).step().part(words("I will")).end(Finish::Interrupted);
    branch.user("stop that", Delivery::Prompt);
    assert_eq!(
        messages(&branch.entries),
        [user(&["go"]), assistant(&[words("I will")]), user(&[INTERRUPTED, "stop that"])]
    );
}

#[test]
fn a_steering_message_is_marked_as_such() {
    let one = call("1");
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt).step().part(AssistantPart::Call(one.clone())).end(Finish::Stop);
    branch.result(&one, "x", CallStatus::Completed).user("not there", Delivery::Steer);
    assert_eq!(messages(&branch.entries)[3], user(&[STEER_BEFORE, "not there"]));
}

#[test]
fn a_longer_branch_only_adds_to_the_end() {
    let (one, two) = (call("1"), call("2"));
    let mut branch = Branch::new();
    branch.user("go", Delivery::Prompt).step().part(AssistantPart::Call(one.clone())).end(Finish::ToolCalls);
    branch.result(&one, "x", CallStatus::Unknown);
    let mut sent = messages(&branch.entries);
    let later: [&dyn Fn(&mut Branch); 4] = [
        &|branch| {
            branch.user("and", Delivery::Steer);
        },
        &|branch| {
            branch.step().part(AssistantPart::Call(two.clone())).end(Finish::Stop);
        },
        &|branch| {
            branch.result(&two, "y", CallStatus::Completed);
        },
        &|branch| {
            branch.step().part(words("done")).end(Finish::Stop);
        },
    ];
    for (index, step) in later.iter().enumerate() {
        step(&mut branch);
        // Between a call and its result nothing is sent.
        if index == 1 {
            continue;
        }
        let now = messages(&branch.entries);
        assert_eq!(now[..sent.len()], sent[..]);
        sent = now;
    }
}
