//! Questions that wait, and what each answer does to them.

use rein_permission::{Action, Broker, Outcome, PermissionError, Replied, Rule, Settled};
use rein_protocol::ask::Grant;
use rein_protocol::{
    Answer, Ask, AskId, AskItem, CallId, Choice, Decider, Display, Question, Reply, Said, Scope, SessionId,
    TurnId,
};

fn ask(session: &SessionId, file: &str) -> Ask {
    Ask {
        id: AskId::new(),
        session: session.clone(),
        turn: TurnId::new(),
        call: CallId::new(),
        items: vec![AskItem { permission: "edit".into(), pattern: file.into(), reason: "test".into() }],
        always: vec![Grant { permission: "edit".into(), pattern: file.into() }],
        display: Display::titled(format!("edit {file}")),
        question: None,
    }
}

fn waiting<const N: usize>(asks: [&Ask; N]) -> Broker {
    let mut broker = Broker::default();
    asks.into_iter().for_each(|ask| broker.ask(ask.clone()));
    broker
}

fn reply(ask: &Ask, answer: Answer) -> Reply {
    Reply { ask: ask.id.clone(), answer }
}

fn always() -> Answer {
    Answer::Always { grants: None, scope: Scope::Session }
}

fn reject(message: Option<&str>) -> Answer {
    Answer::Reject { message: message.map(str::to_owned) }
}

fn never(_: &Ask, _: &[Rule]) -> Action {
    panic!("only \"always\" judges again")
}

fn allowed(ask: &Ask, reason: &str) -> Settled {
    Settled {
        ask: ask.clone(),
        outcome: Outcome::Allowed { reason: reason.into(), said: None },
        by: Decider::Person,
    }
}

fn followed(ask: &Ask, reason: &str) -> Settled {
    Settled { by: Decider::Policy, ..allowed(ask, reason) }
}

fn left(broker: &Broker) -> Vec<Ask> {
    broker.pending().cloned().collect()
}

#[test]
fn once_settles_that_ask_alone() {
    let session = SessionId::new();
    let (a, b) = (ask(&session, "a"), ask(&session, "b"));
    let mut broker = waiting([&a, &b]);
    let replied = broker.reply(&reply(&a, Answer::Once), never).unwrap();
    assert_eq!(replied, Replied { rules: vec![], settled: vec![allowed(&a, "a person allowed it once")] });
    assert_eq!(left(&broker), [b]);
}

#[test]
fn always_grants_and_settles_what_is_allowed_by_it_in_the_same_session() {
    let (session, elsewhere) = (SessionId::new(), SessionId::new());
    let (a, b, again) = (ask(&session, "a"), ask(&session, "b"), ask(&session, "a"));
    let other = ask(&elsewhere, "a");
    let mut broker = waiting([&a, &b, &other, &again]);
    let judge = |ask: &Ask, rules: &[Rule]| {
        let covered = |item: &AskItem| rules.iter().any(|rule| rule.pattern == item.pattern);
        if ask.items.iter().all(covered) { Action::Allow } else { Action::Ask }
    };
    let replied = broker.reply(&reply(&a, always()), judge).unwrap();
    let expected = Replied {
        rules: vec![Rule::granted(&a.always[0])],
        settled: vec![
            allowed(&a, "a person allowed it for this session"),
            followed(&again, "a person allowed such calls for this session while this one waited"),
        ],
    };
    assert_eq!(replied, expected);
    assert_eq!(left(&broker), [b, other]);
}

#[test]
fn always_takes_the_grants_that_the_person_chose_among_what_was_asked() {
    let session = SessionId::new();
    let a = ask(&session, "src/a");
    let mut broker = waiting([&a]);
    let chosen = |permission: &str| Answer::Always {
        grants: Some(vec![Grant { permission: permission.into(), pattern: "src/*".into() }]),
        scope: Scope::Session,
    };
    for foreign in ["bash", "*"] {
        let error = broker.reply(&reply(&a, chosen(foreign)), never).unwrap_err();
        assert_eq!(
            error,
            PermissionError::ForeignGrant { ask: a.id.clone(), grant: format!("{foreign}:src/*") }
        );
        assert!(broker.is_waiting(&a.id));
    }
    let replied = broker.reply(&reply(&a, chosen("edit")), never).unwrap();
    assert_eq!(replied.rules, [Rule::new("edit", "src/*", Action::Allow, "allowed for this session")]);
}

#[test]
fn always_where_nothing_is_offered_is_once() {
    let session = SessionId::new();
    let a = Ask { always: vec![], ..ask(&session, "a") };
    let everything = Grant { permission: "edit".into(), pattern: "*".into() };
    let answer = Answer::Always { grants: Some(vec![everything]), scope: Scope::Session };
    let replied = waiting([&a]).reply(&reply(&a, answer), never).unwrap();
    assert_eq!(replied, Replied { rules: vec![], settled: vec![allowed(&a, "a person allowed it once")] });
}

#[test]
fn a_rejection_takes_the_rest_of_the_session_along_and_its_words_stay_with_it() {
    let (session, elsewhere) = (SessionId::new(), SessionId::new());
    for message in [None, Some("use b instead")] {
        let (a, b, other) = (ask(&session, "a"), ask(&session, "b"), ask(&elsewhere, "a"));
        let mut broker = waiting([&b, &a, &other]);
        let replied = broker.reply(&reply(&a, reject(message)), never).unwrap();
        let direct = Outcome::Rejected { message: message.map(str::to_owned), because_of: None };
        let cascade = Outcome::Rejected { message: None, because_of: Some(Box::new(a.clone())) };
        assert_eq!(
            replied,
            Replied {
                rules: vec![],
                settled: vec![
                    Settled { ask: a, outcome: direct, by: Decider::Person },
                    Settled { ask: b, outcome: cascade, by: Decider::Policy },
                ]
            }
        );
        assert_eq!(left(&broker), [other]);
    }
}

#[test]
fn blank_words_are_no_words() {
    let a = ask(&SessionId::new(), "a");
    let replied = waiting([&a]).reply(&reply(&a, reject(Some("  \n"))), never).unwrap();
    assert_eq!(replied.settled[0].outcome, Outcome::Rejected { message: None, because_of: None });
}

#[test]
fn an_ask_that_does_not_wait_is_an_error_and_changes_nothing() {
    let session = SessionId::new();
    let (a, b) = (ask(&session, "a"), ask(&session, "b"));
    let mut broker = waiting([&a]);
    for answer in [Answer::Once, always(), reject(None)] {
        let error = broker.reply(&reply(&b, answer), never).unwrap_err();
        assert_eq!(error, PermissionError::UnknownAsk { ask: b.id.clone() });
    }
    assert_eq!(left(&broker), std::slice::from_ref(&a));
    broker.reply(&reply(&a, Answer::Once), never).unwrap();
    assert!(broker.reply(&reply(&a, Answer::Once), never).is_err());
}

#[test]
fn a_withdrawn_ask_cannot_be_answered() {
    let session = SessionId::new();
    let (a, b, c) = (ask(&session, "a"), ask(&session, "b"), ask(&session, "c"));
    let mut broker = waiting([&a, &b, &c]);
    assert_eq!(broker.withdraw(&b.call), Some(b.clone()));
    assert_eq!(broker.withdraw(&b.call), None);
    assert!(broker.reply(&reply(&b, Answer::Once), never).is_err());
    assert_eq!(broker.withdraw_all(), [a, c]);
    assert_eq!(left(&broker), []);
}

#[test]
fn a_change_of_mode_settles_what_it_allows() {
    let session = SessionId::new();
    let (a, b) = (ask(&session, "a"), ask(&session, "b"));
    let mut broker = waiting([&a, &b]);
    let judge = |ask: &Ask| if ask.id == b.id { Action::Allow } else { Action::Deny };
    assert_eq!(
        broker.settle_allowed(&session, "mode `write` allows it", judge),
        [followed(&b, "mode `write` allows it")]
    );
    assert_eq!(left(&broker), [a]);
}

#[test]
fn an_outcome_reads_as_a_sentence() {
    let a = ask(&SessionId::new(), "a");
    let rejected = |message: Option<&str>, because_of: Option<&Ask>| {
        Outcome::Rejected {
            message: message.map(str::to_owned),
            because_of: because_of.map(|ask| Box::new(ask.clone())),
        }
        .sentence()
    };
    assert_eq!(rejected(None, None), "the person rejected this call");
    assert_eq!(rejected(Some("no"), None), "the person rejected this call and said: no");
    assert_eq!(
        rejected(None, Some(&a)),
        "rejected because the person rejected `edit a`, for which this call was waiting too"
    );
}

fn question(session: &SessionId) -> Ask {
    let choice = |label: &str| Choice { label: label.into(), description: None };
    let question = Question {
        text: "Which?".into(),
        choices: vec![choice("one"), choice("two")],
        selection: rein_protocol::Selection::One,
        timeout: Some(5),
    };
    Ask { always: vec![], question: Some(question), ..ask(session, "question") }
}

#[test]
fn a_question_takes_its_choices_or_words_and_nothing_else() {
    let asked = question(&SessionId::new());
    let said = |chosen: &[&str], text: Option<&str>| Said {
        chosen: chosen.iter().map(|label| (*label).to_owned()).collect(),
        text: text.map(str::to_owned),
    };
    for fitting in [said(&["two"], None), said(&[], Some("neither")), said(&["one"], Some("for now"))] {
        let replied = waiting([&asked]).reply(&reply(&asked, Answer::Said { said: fitting.clone() }), never);
        let settled = replied.unwrap().settled;
        let outcome =
            Outcome::Allowed { reason: "a person answered the question".into(), said: Some(fitting) };
        assert_eq!(settled, [Settled { ask: asked.clone(), outcome, by: Decider::Person }]);
    }
    let wrong = [said(&[], None), said(&[], Some("  ")), said(&["three"], None), said(&["one", "two"], None)];
    let answers = wrong.map(|said| Answer::Said { said }).into_iter().chain([Answer::Once, always()]);
    for answer in answers {
        let mut broker = waiting([&asked]);
        let refused = broker.reply(&reply(&asked, answer), never);
        assert_eq!(refused, Err(PermissionError::WrongAnswer { ask: asked.id.clone() }));
        assert_eq!(left(&broker), std::slice::from_ref(&asked));
    }
    let permission = ask(&SessionId::new(), "a");
    let words = Answer::Said { said: said(&[], Some("yes")) };
    let refused = waiting([&permission]).reply(&reply(&permission, words), never);
    assert_eq!(refused, Err(PermissionError::WrongAnswer { ask: permission.id }));
}

#[test]
fn a_question_expires_without_an_answer_and_a_permission_does_not() {
    let session = SessionId::new();
    let (asked, permission) = (question(&session), ask(&session, "a"));
    let mut broker = waiting([&asked, &permission]);
    assert_eq!(broker.expire(&permission.call), None);
    let expired = broker.expire(&asked.call).unwrap();
    assert_eq!(expired.by, Decider::Policy);
    assert!(matches!(expired.outcome, Outcome::Allowed { said: Some(said), .. } if said.is_empty()));
    assert_eq!(left(&broker), [permission]);
}
