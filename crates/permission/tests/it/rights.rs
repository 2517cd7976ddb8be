//! Which rights a command gets, and what needs a yes whatever the mode is.

use rein_permission::{
    Action, Confinement, LayerKind, Network, NetworkSetting, Policy, Presence, Rights, Rule, Walls, refusal,
};
use rein_protocol::{Effect, Intent, Mode, Right};

fn run(command: &str) -> Intent {
    let effect =
        Effect::Execute { command: command.into(), cwd: "/home/me/w".into(), prelude: String::new() };
    Intent { effects: vec![effect], ..Intent::default() }
}

fn widened(command: &str, right: Right) -> Intent {
    let mut intent = run(command);
    intent.effects.push(Effect::Widen { right });
    intent
}

fn policy(mode: Mode) -> Policy {
    let confinement = Confinement::Confined;
    Policy { home: Some("/home/me".into()), confinement, ..Policy::new("/home/me/w", mode) }
}

fn network(policy: &Policy, command: &str) -> Network {
    policy.rights(&run(command)).network
}

#[test]
fn the_network_follows_the_mode_and_what_the_command_is_for() {
    for (command, in_write) in [
        ("cargo test", Network::Off),
        ("ls", Network::Off),
        ("curl localhost:3000", Network::Off),
        ("npm install", Network::On),
        ("make && curl https://example.com", Network::On),
        ("git push", Network::On),
    ] {
        assert_eq!(network(&policy(Mode::Write), command), in_write, "{command}");
        assert_eq!(network(&policy(Mode::Free), command), Network::On, "{command}");
        let set = |network| Policy { network, ..policy(Mode::Free) };
        assert_eq!(network(&set(NetworkSetting::Off), command), Network::Off, "{command}");
        let on = Policy { network: NetworkSetting::On, ..policy(Mode::Tight) };
        assert_eq!(network(&on, command), Network::On, "{command}");
    }
}

#[test]
fn what_was_named_and_allowed_is_open_and_nothing_else() {
    let rights =
        policy(Mode::Write).rights(&run("cp a.txt /srv/out/b.txt; cat ~/.ssh/config; rm $x; echo > *"));
    assert_eq!(
        rights,
        Rights {
            network: Network::Off,
            walls: Walls::Up,
            writable: vec!["/srv/out/b.txt".into()],
            readable: vec!["/home/me/w/a.txt".into(), "/home/me/.ssh/config".into()],
        }
    );
}

#[test]
fn wider_rights_are_asked_for_in_every_mode_and_only_their_own_rule_allows_them() {
    let rights = [Right::Network, Right::Write { path: "/srv/out".into() }, Right::Unconfined];
    for right in rights {
        let intent = widened("cargo test", right.clone());
        for mode in [Mode::Tight, Mode::Write, Mode::Free] {
            let judged = policy(mode).judge(&intent);
            assert_eq!(judged.action, Action::Ask, "{right:?} {mode:?}");
            assert!(judged.items.iter().any(|item| item.permission == "sandbox"), "{judged:#?}");
            assert_eq!(judged.always, [], "it is asked each time");
            assert!(refusal(&judged, Presence::Nobody).is_some());
        }
        assert_eq!(policy(Mode::Plan).judge(&intent).action, Action::Deny);
        let with = |spec: &str| {
            let rules = vec![Rule::parse(spec, Action::Allow, "test").unwrap()];
            policy(Mode::Free).with_layer(LayerKind::User, rules).judge(&intent).action
        };
        assert_eq!(with("*"), Action::Ask, "leave for everything is not leave for this");
        assert_eq!(with(&format!("sandbox:{}", right.resource())), Action::Allow);
    }
    let given = policy(Mode::Write).rights(&widened("make", Right::Unconfined));
    assert_eq!(given.walls, Walls::Down);
    let given = policy(Mode::Write).rights(&widened("make", Right::Network));
    assert_eq!(given.network, Network::On);
}

#[test]
fn what_only_works_outside_says_so_before_it_runs() {
    for command in ["docker run x", "sudo ls", "pkill node"] {
        let policy = policy(Mode::Free);
        let judged = policy.judge(&run(command));
        assert!(judged.items.iter().any(|item| item.permission == "sandbox"), "{command}: {judged:#?}");
        assert_eq!(policy.rights(&run(command)).walls, Walls::Down, "{command}");
        let unconfined = Policy { confinement: Confinement::Unconfined, ..policy };
        let judged = unconfined.judge(&run(command));
        assert!(judged.details.iter().all(|detail| detail.permission != "sandbox"), "{command}");
    }
}

#[test]
fn without_the_means_every_command_asks_until_somebody_says_that_it_may_run_so() {
    let policy = Policy { confinement: Confinement::Unavailable, ..policy(Mode::Free) };
    let judged = policy.judge(&run("ls"));
    assert_eq!(judged.action, Action::Ask);
    assert_eq!(judged.always.len(), 1);
    let told = refusal(&judged, Presence::Nobody).unwrap();
    assert!(told.contains("rein sandbox status") && told.contains("--allow 'sandbox:off'"), "{told}");
    let rules = vec![Rule::parse("sandbox:off", Action::Allow, "test").unwrap()];
    let policy = policy.with_layer(LayerKind::Session, rules);
    assert_eq!(policy.judge(&run("ls")).action, Action::Allow);
}

#[test]
fn what_the_shell_remembers_is_part_of_what_a_line_means() {
    let remembered = |prelude: &str, command: &str| {
        let effect =
            Effect::Execute { command: command.into(), cwd: "/home/me/w".into(), prelude: prelude.into() };
        Intent { effects: vec![effect], ..Intent::default() }
    };
    let policy = policy(Mode::Write);
    assert_eq!(policy.judge(&remembered("", "ls")).action, Action::Allow);
    assert_eq!(policy.judge(&remembered("ls() { rm -rf /; }", "ls")).action, Action::Deny);
    assert_eq!(policy.judge(&remembered("PATH=./bin", "ls")).action, Action::Ask);
    let judged = policy.judge(&remembered("target=/etc/hosts", "rm $target"));
    assert_eq!(judged.action, Action::Ask);
    let spans: Vec<_> = judged.details.iter().filter_map(|detail| detail.span).collect();
    assert!(spans.iter().all(|span| span.end <= "rm $target".len()), "{spans:?}");
    let rights = policy.rights(&remembered("target=/srv/x", "touch $target"));
    assert_eq!(rights.writable, [std::path::PathBuf::from("/srv/x")]);
}
