//! What modes, layers and guards do, case by case.

use rein_permission::{Action, LayerKind, Policy, Rule, Source};
use rein_protocol::ask::Grant;
use rein_protocol::{AskItem, Effect, Intent, Mode};

use Action::{Allow, Ask, Deny};
use LayerKind::{Managed, Project, Session, User};

fn intent(effects: &[Effect]) -> Intent {
    Intent { effects: effects.to_vec(), ..Intent::default() }
}

fn read(path: &str) -> Effect {
    Effect::Read { path: path.into() }
}

fn write(path: &str) -> Effect {
    Effect::Write { path: path.into() }
}

fn run(command: &str) -> Effect {
    Effect::Execute { command: command.into(), cwd: "/home/me/w".into(), prelude: String::new() }
}

fn fetch(url: &str) -> Effect {
    Effect::Fetch { url: url.into() }
}

fn policy(mode: Mode) -> Policy {
    Policy { home: Some("/home/me".into()), ..Policy::new("/home/me/w", mode) }
}

fn rule(spec: &str, action: Action) -> Rule {
    Rule::parse(spec, action, "test").unwrap()
}

fn judged(policy: &Policy, effect: &Effect) -> Action {
    policy.judge(&intent(std::slice::from_ref(effect))).action
}

#[test]
fn each_mode_has_its_defaults() {
    let table = [
        // tight, write, free, plan
        (read("/home/me/w/a"), [Allow, Allow, Allow, Allow]),
        (read("/etc/hosts"), [Ask, Ask, Allow, Ask]),
        (write("/home/me/w/a"), [Ask, Allow, Allow, Deny]),
        (write("/srv/hosts"), [Ask, Ask, Allow, Deny]),
        (write("/etc/hosts"), [Ask, Ask, Ask, Deny]),
        (run("ls"), [Allow, Allow, Allow, Deny]),
        (run("make"), [Ask, Ask, Allow, Deny]),
        (run("mkdir x"), [Ask, Allow, Allow, Deny]),
        (run("cat /etc/hosts"), [Ask, Ask, Allow, Deny]),
        (fetch("https://example.com"), [Ask, Ask, Allow, Deny]),
        (write("/home/me/w/.git/hooks/pre-commit"), [Ask, Ask, Ask, Deny]),
        (write("/home/me/w/.rein/config.toml"), [Ask, Ask, Ask, Deny]),
        (read("/home/me/w/.git/config"), [Allow, Allow, Allow, Allow]),
    ];
    for (effect, expected) in table {
        let found = Mode::ALL.map(|mode| judged(&policy(mode), &effect));
        assert_eq!(found, expected, "{effect:?}");
    }
    for mode in Mode::ALL {
        assert_eq!(policy(mode).judge(&Intent::default()).action, Allow);
        assert_eq!(policy(mode).judge_named("doom_loop", "bash").action, Ask);
    }
}

#[test]
fn a_judgement_says_what_is_asked_why_and_what_always_would_cover() {
    let judgement = policy(Mode::Tight).judge(&intent(&[read("/home/me/w/b"), write("/home/me/w/src/a.rs")]));
    assert_eq!(judgement.action, Ask);
    assert_eq!(judgement.reasons, ["mode `tight` asks before a file is changed"]);
    let expected = AskItem {
        permission: "edit".into(),
        pattern: "src/a.rs".into(),
        reason: "mode `tight` asks before a file is changed".into(),
    };
    assert_eq!(judgement.items, [expected]);
    assert_eq!(judgement.always, [Grant { permission: "edit".into(), pattern: "src/a.rs".into() }]);
    let actions: Vec<Action> = judgement.details.iter().map(|detail| detail.action).collect();
    assert_eq!(actions, [Allow, Ask]);
}

#[test]
fn always_is_offered_for_all_of_a_call_or_not_at_all() {
    let judgement = policy(Mode::Tight).judge(&intent(&[run("rg --pre x y"), write("/home/me/w/a")]));
    assert_eq!(judgement.action, Ask);
    assert_eq!(judgement.always, []);
}

#[test]
fn across_layers_the_strictest_wins_and_within_one_the_last() {
    let a = write("/home/me/w/a");
    type Layers<'a> = &'a [(LayerKind, &'a [Rule])];
    let table: [(Layers<'_>, Action); 11] = [
        (&[(User, &[rule("edit:*", Deny), rule("edit:a", Allow)])], Allow),
        (&[(User, &[rule("edit:a", Allow), rule("edit:*", Deny)])], Deny),
        (&[(Managed, &[rule("edit", Allow)]), (User, &[rule("edit:a", Deny)])], Deny),
        (&[(Managed, &[rule("edit", Deny)]), (User, &[rule("edit:a", Allow)])], Deny),
        (&[(User, &[rule("edit", Allow)]), (Project, &[rule("edit:a", Ask)])], Ask),
        (&[(Project, &[rule("edit", Allow)])], Ask),
        (&[(Project, &[rule("edit", Deny), rule("edit:a", Allow)])], Deny),
        (&[(User, &[rule("edit", Ask)]), (Session, &[rule("edit:a", Allow)])], Allow),
        (&[(Project, &[rule("edit", Ask)]), (Session, &[rule("edit:a", Allow)])], Allow),
        (&[(Managed, &[rule("edit", Ask)]), (Session, &[rule("edit:a", Allow)])], Ask),
        (&[(Session, &[rule("edit", Deny), rule("edit:a", Allow)])], Deny),
    ];
    for (layers, expected) in table {
        let mut policy = policy(Mode::Tight);
        for (kind, rules) in layers {
            policy = policy.with_layer(*kind, rules.to_vec());
        }
        assert_eq!(judged(&policy, &a), expected, "{layers:?}");
    }
}

#[test]
fn a_rule_that_asks_asks_in_mode_free() {
    let policy =
        policy(Mode::Free).with_layer(User, vec![rule("bash:git push *", Ask), rule("read:.env", Ask)]);
    assert_eq!(judged(&policy, &run("git push")), Ask);
    assert_eq!(judged(&policy, &run("git pull")), Allow);
    assert_eq!(judged(&policy, &read("/home/me/w/.env")), Ask);
}

#[test]
fn patterns_allow_the_commands_that_they_cover_and_forbid_them() {
    for kind in [Managed, User, Session] {
        let policy = policy(Mode::Tight).with_layer(kind, vec![rule("bash:git push *", Allow)]);
        let judgement = policy.judge(&intent(&[run("git push origin main")]));
        assert_eq!(judgement.action, Allow);
        let expected = format!("the {} rule `allow bash:git push *` (test) allows it", kind.name());
        assert_eq!(judgement.reasons, [expected]);
        assert_eq!(judged(&policy, &run("git push; make")), Ask);
        assert_eq!(judged(&policy, &run("make; git push")), Ask);
    }
    let rules = vec![rule("bash:rm *", Deny), rule("bash:make *", Allow)];
    let policy = policy(Mode::Free).with_layer(User, rules);
    assert_eq!(judged(&policy, &run("rm -rf x")), Deny);
    assert_eq!(judged(&policy, &run("  rm -rf x")), Deny);
    assert_eq!(judged(&policy, &run("ls")), Allow);
}

#[test]
fn plan_mode_is_lifted_by_nothing() {
    let everything = vec![rule("*", Allow), rule("edit:a", Allow)];
    let policy = policy(Mode::Plan).with_layer(User, everything.clone()).with_layer(Session, everything);
    let judgement = policy.judge(&intent(&[write("/home/me/w/a")]));
    assert_eq!(judgement.action, Deny);
    assert_eq!(judgement.reasons, ["plan mode: no file is changed until the plan is approved"]);
    assert_eq!(judged(&policy, &run("ls")), Deny);
    assert_eq!(judged(&policy, &read("/etc/hosts")), Allow);
}

#[test]
fn a_protected_place_takes_an_exact_rule_of_the_user() {
    let hook = write("/home/me/w/.git/hooks/pre-commit");
    let own = write("/home/me/.config/rein/config.toml");
    let exact = "edit:.git/hooks/pre-commit";
    let table: [(LayerKind, &str, Action); 7] = [
        (User, exact, Allow),
        (Managed, exact, Allow),
        (User, "edit:~/w/.git/hooks/pre-commit", Allow),
        (User, "edit:.git/hooks/*", Ask),
        (User, "edit", Ask),
        (User, "*:.git/hooks/pre-commit", Ask),
        (Session, exact, Ask),
    ];
    for (kind, spec, expected) in table {
        let policy = policy(Mode::Free).with_layer(kind, vec![rule(spec, Allow)]);
        let judgement = policy.judge(&intent(std::slice::from_ref(&hook)));
        assert_eq!(judgement.action, expected, "{kind:?} {spec}");
        assert_eq!(judgement.always, [], "{kind:?} {spec}");
    }
    let guarded = Policy { protected: vec!["/home/me/.config/rein".into()], ..policy(Mode::Free) };
    let judgement = guarded.judge(&intent(&[own]));
    assert_eq!(judgement.action, Ask);
    assert_eq!(judgement.reasons, ["protected: `/home/me/.config/rein` holds what rein itself relies on"]);
    assert_eq!(judgement.deciding().next().unwrap().source, Source::Protected);
}

#[test]
fn a_grant_lifts_the_same_call_and_not_its_neighbour() {
    let mut policy = policy(Mode::Tight);
    let call = intent(&[write("/srv/data/a"), fetch("https://example.com/x")]);
    let judgement = policy.judge(&call);
    assert_eq!(judgement.action, Ask);
    policy.add_to_session(judgement.always.iter().map(Rule::granted));
    assert_eq!(policy.judge(&call).action, Allow);
    assert_eq!(judged(&policy, &write("/srv/data/b")), Ask);
    assert_eq!(judged(&policy, &read("/srv/data/b")), Allow);
    assert_eq!(judged(&policy, &fetch("https://example.com/y")), Allow);
    assert_eq!(judged(&policy, &fetch("https://example.com.evil.org/")), Ask);
    assert_eq!(judged(&policy, &fetch("https://example.com@evil.org/")), Ask);
}
