//! What holds for all rules, layers, modes and effects.

use proptest::prelude::*;
use rein_permission::judgement::Lift;
use rein_permission::{Action, Judgement, Layer, LayerKind, Policy, Rule};
use rein_protocol::{Effect, Intent, Mode};

fn actions() -> impl Strategy<Value = Action> {
    prop_oneof![Just(Action::Allow), Just(Action::Ask), Just(Action::Deny)]
}

fn rule() -> impl Strategy<Value = Rule> {
    let permission = prop::sample::select(vec![
        "read",
        "edit",
        "bash",
        "webfetch",
        "external_directory",
        "*",
        "e*",
        "doom_loop",
    ]);
    let pattern = prop::sample::select(vec![
        "*",
        "a",
        "src/*",
        "src/a",
        "**/a",
        "/w/*",
        "/etc/*",
        "/etc/a",
        "~/*",
        "ls *",
        "ls",
        "https://a.b/*",
        ".git/config",
        "src/",
    ]);
    (permission, pattern, actions())
        .prop_map(|(permission, pattern, action)| Rule::new(permission, pattern, action, "generated"))
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(), 0..5)
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let kind = prop::sample::select(vec![
        LayerKind::Managed,
        LayerKind::User,
        LayerKind::Project,
        LayerKind::Session,
    ]);
    prop::collection::vec((kind, rules()).prop_map(|(kind, rules)| Layer { kind, rules }), 0..5)
}

fn intents() -> impl Strategy<Value = Intent> {
    let path = prop::sample::select(vec![
        "/w/a",
        "/w/src/a",
        "/w/src",
        "/w",
        "/etc/a",
        "/etc",
        "/home/me/x/a",
        "/w/.git/config",
        "/own/state",
        "/w/../etc/a",
        "/w/we*ird",
        "/w/~/a",
        "/w/ spaced ",
        "/",
    ]);
    let effect = prop_oneof![
        path.clone().prop_map(|path| Effect::Read { path: path.into() }),
        path.clone().prop_map(|path| Effect::Write { path: path.into() }),
        (prop::sample::select(vec!["ls", "ls -la", " rm x"]), path)
            .prop_map(|(command, cwd)| Effect::Execute { command: command.into(), cwd: cwd.into() }),
        prop::sample::select(vec!["https://a.b/c", "https://A.b", "http://c"])
            .prop_map(|url| Effect::Fetch { url: url.into() }),
    ];
    prop::collection::vec(effect, 0..4).prop_map(|effects| Intent { effects, ..Intent::default() })
}

fn modes() -> impl Strategy<Value = Mode> {
    prop::sample::select(Mode::ALL.to_vec())
}

fn policy(layers: Vec<Layer>, mode: Mode) -> Policy {
    Policy {
        layers,
        home: Some("/home/me".into()),
        protected: vec!["/own".into()],
        ..Policy::new("/w", mode)
    }
}

fn policies() -> impl Strategy<Value = Policy> {
    (layers(), modes()).prop_map(|(layers, mode)| policy(layers, mode))
}

/// With the flags that a refusal names.
fn lifted(policy: &Policy, judgement: &Judgement) -> Policy {
    let mut lifted = policy.clone();
    for detail in judgement.deciding() {
        for lift in &detail.lifts {
            if let Lift::Flag(spec) = lift {
                lifted.add_to_session([Rule::parse(spec, Action::Allow, "--allow").unwrap()]);
            }
        }
    }
    lifted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_global_rejects: 200_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_layer_denies_stays_denied(
        layer in rules(),
        last in rule(),
        kind in 0..4_usize,
        others in layers(),
        mode in modes(),
        intent in intents(),
    ) {
        let layer: Vec<Rule> = layer.into_iter().chain([Rule { action: Action::Deny, ..last }]).collect();
        let kind = [LayerKind::Managed, LayerKind::User, LayerKind::Project, LayerKind::Session][kind];
        let layer = Layer { kind, rules: layer };
        let alone = policy(vec![layer.clone()], Mode::Free).judge(&intent).action;
        prop_assume!(alone == Action::Deny);
        for position in [0, others.len()] {
            let mut layers = others.clone();
            layers.insert(position, layer.clone());
            prop_assert_eq!(policy(layers, mode).judge(&intent).action, Action::Deny);
        }
    }

    #[test]
    fn a_grant_lifts_no_denial(policy in policies(), grants in rules(), intent in intents()) {
        prop_assume!(policy.judge(&intent).action == Action::Deny);
        let mut granted = policy;
        granted.add_to_session(grants.into_iter().map(|rule| Rule { action: Action::Allow, ..rule }));
        prop_assert_eq!(granted.judge(&intent).action, Action::Deny);
    }

    #[test]
    fn a_project_never_widens(policy in policies(), project in rules(), intent in intents()) {
        let without = policy.judge(&intent).action;
        let with = policy.with_layer(LayerKind::Project, project).judge(&intent).action;
        prop_assert!(with >= without, "{with:?} {without:?}");
    }

    #[test]
    fn no_rule_runs_a_command_that_the_mode_does_not(policy in policies(), intent in intents()) {
        let runs = intent.effects.iter().any(|effect| matches!(effect, Effect::Execute { .. }));
        prop_assume!(runs && policy.mode != Mode::Free);
        prop_assert_ne!(policy.judge(&intent).action, Action::Allow);
    }

    #[test]
    fn plan_mode_lets_nothing_happen(policy in policies(), intent in intents()) {
        let looks = intent.effects.iter().all(|effect| matches!(effect, Effect::Read { .. }));
        prop_assume!(!looks);
        let planning = Policy { mode: Mode::Plan, ..policy };
        prop_assert_eq!(planning.judge(&intent).action, Action::Deny);
    }

    #[test]
    fn what_always_offers_settles_what_was_asked(policy in policies(), intent in intents()) {
        let judgement = policy.judge(&intent);
        prop_assert_eq!(judgement.items.is_empty(), judgement.action != Action::Ask);
        prop_assume!(!judgement.always.is_empty());
        let mut granted = policy;
        granted.add_to_session(judgement.always.iter().map(Rule::granted));
        prop_assert_eq!(granted.judge(&intent).action, Action::Allow);
    }

    #[test]
    fn the_flags_of_a_refusal_are_enough(policy in policies(), intent in intents()) {
        let judgement = policy.judge(&intent);
        let flagged = judgement.deciding().all(|detail| detail.lifts.iter().any(|lift| matches!(lift, Lift::Flag(_))));
        prop_assume!(judgement.action == Action::Ask && flagged);
        prop_assert_eq!(lifted(&policy, &judgement).judge(&intent).action, Action::Allow);
    }

    #[test]
    fn a_protected_write_is_never_silent_without_an_exact_rule(policy in policies(), effect in prop::sample::select(vec!["/own/state", "/w/.git/hooks/x"])) {
        let intent = Intent { effects: vec![Effect::Write { path: effect.into() }], ..Intent::default() };
        prop_assert_ne!(policy.judge(&intent).action, Action::Allow);
    }
}
