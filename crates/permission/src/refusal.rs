//! What is said when a call is refused: what, why, and what would allow it.

use rein_protocol::Mode;

use crate::judgement::{Detail, Judgement, Lift, Source};
use crate::policy::LayerKind;
use crate::rule::Action;

/// The longest piece of a command or path that is repeated in a refusal.
const SHOWN: usize = 200;

/// Whether there is somebody to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// A person can answer.
    Person,
    /// Nobody can: a script, a service, a task in the background.
    Nobody,
}

/// The refusal of a call, if it is refused: a denied one always, one that asks
/// only where nobody can answer.
#[must_use]
pub fn refusal(judgement: &Judgement, presence: Presence) -> Option<String> {
    let nobody = match (judgement.action, presence) {
        (Action::Allow, _) | (Action::Ask, Presence::Person) => return None,
        (Action::Ask, Presence::Nobody) => ", and nobody is here to answer",
        (Action::Deny, _) => "",
    };
    let deciding: Vec<&Detail> = judgement.deciding().collect();
    let what: Vec<String> = deciding
        .iter()
        .map(|detail| format!("{} {}", detail.permission, quoted(&shortened(&detail.resource))))
        .collect();
    let why = judgement.reasons.join("; ");
    Some(format!("Refused: {}. Reason: {why}{nobody}. {}", what.join(", "), remedy(&deciding)))
}

/// What would allow all of it.
fn remedy(deciding: &[&Detail]) -> String {
    if let Some(stuck) = deciding.iter().find(|detail| detail.lifts.is_empty()) {
        return match &stuck.source {
            Source::Rule { layer: LayerKind::Managed, .. } => {
                "No flag allows it: the administrator of this machine decides.".to_owned()
            }
            Source::Rule { rule, .. } if rule.origin.is_empty() => {
                "No flag allows it: remove that rule.".to_owned()
            }
            Source::Rule { rule, .. } => format!("No flag allows it: remove that rule from {}.", rule.origin),
            Source::Catastrophic => "Nothing allows it, in no mode.".to_owned(),
            Source::Protected | Source::Hazard(_) | Source::NotUnderstood => {
                "No flag allows it: it takes a person who looks at it.".to_owned()
            }
            Source::Question => {
                "Decide yourself what is most sensible, go on, and say at the end what you assumed."
                    .to_owned()
            }
            Source::Sandbox | Source::Mode(_) | Source::Plan => "Nothing allows it.".to_owned(),
        };
    }
    let rules: Vec<String> = deciding.iter().filter_map(|detail| user_rule(detail)).collect();
    if !rules.is_empty() {
        return format!(
            "No flag allows it: where a person can answer it is asked, and otherwise it takes an `allow` rule \
             in your own settings that names exactly {}.",
            rules.join(" and ")
        );
    }
    format!("To allow it: {}.", options(deciding).join(" or "))
}

/// The flags, as alternatives.
fn options(deciding: &[&Detail]) -> Vec<String> {
    let flags =
        |details: &[&Detail]| -> Vec<String> { details.iter().filter_map(|detail| flag(detail)).collect() };
    let mut options = Vec::new();
    if deciding.iter().all(|detail| flag(detail).is_some()) {
        options.push(distinct(flags(deciding)).join(" "));
    }
    let with_mode: Vec<&Detail> = deciding.iter().copied().filter(|detail| mode(detail).is_some()).collect();
    if let Some(mode) = with_mode.iter().filter_map(|detail| mode(detail)).max_by_key(|mode| breadth(*mode)) {
        let rest: Vec<&Detail> =
            deciding.iter().copied().filter(|detail| self::mode(detail).is_none()).collect();
        let needed = rest.is_empty() || options.is_empty();
        if needed {
            let mut words = vec![format!("--mode {}", mode.name())];
            words.extend(flags(&rest));
            options.push(distinct(words).join(" "));
        }
    }
    options
}

fn flag(detail: &Detail) -> Option<String> {
    detail.lifts.iter().find_map(|lift| match lift {
        Lift::Flag(rule) => Some(format!("--allow {}", quoted(rule))),
        Lift::Mode(_) | Lift::UserRule(_) => None,
    })
}

fn mode(detail: &Detail) -> Option<Mode> {
    detail.lifts.iter().find_map(|lift| match lift {
        Lift::Mode(mode) => Some(*mode),
        Lift::Flag(_) | Lift::UserRule(_) => None,
    })
}

fn user_rule(detail: &Detail) -> Option<String> {
    detail.lifts.iter().find_map(|lift| match lift {
        Lift::UserRule(rule) => Some(quoted(rule)),
        Lift::Flag(_) | Lift::Mode(_) => None,
    })
}

fn breadth(mode: Mode) -> u8 {
    match mode {
        Mode::Plan => 0,
        Mode::Tight => 1,
        Mode::Write => 2,
        Mode::Free => 3,
    }
}

fn distinct(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        if !kept.contains(&word) {
            kept.push(word);
        }
    }
    kept
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A word for a shell. What has control characters in it is written with escapes.
fn quoted(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let escaped: String = text
        .chars()
        .map(|character| match character {
            '\\' | '\'' => format!("\\{character}"),
            '\n' => r"\n".to_owned(),
            '\t' => r"\t".to_owned(),
            '\r' => r"\r".to_owned(),
            control if control.is_control() => format!("\\u{:04x}", u32::from(control)),
            plain => plain.to_string(),
        })
        .collect();
    format!("$'{escaped}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::rule::Rule;
    use rein_protocol::{Effect, Intent};

    fn intent(effects: &[Effect]) -> Intent {
        Intent { effects: effects.to_vec(), ..Intent::default() }
    }

    fn write(path: &str) -> Effect {
        Effect::Write { path: path.into() }
    }

    fn run(command: &str) -> Effect {
        Effect::Execute { command: command.into(), cwd: "/w".into(), prelude: String::new() }
    }

    fn refused(policy: &Policy, effects: &[Effect]) -> String {
        refusal(&policy.judge(&intent(effects)), Presence::Nobody).unwrap()
    }

    fn policy(mode: Mode) -> Policy {
        Policy::new("/w", mode)
    }

    #[test]
    fn an_edit_names_the_flag_and_the_mode() {
        assert_eq!(
            refused(&policy(Mode::Tight), &[write("/w/src/main.rs")]),
            "Refused: edit 'src/main.rs'. Reason: mode `tight` asks before a file is changed, and nobody is here \
             to answer. To allow it: --allow 'edit:src/main.rs' or --mode write."
        );
    }

    #[test]
    fn an_edit_outside_names_both_permissions() {
        assert_eq!(
            refused(&policy(Mode::Write), &[write("/srv/it's")]),
            r"Refused: edit '/srv/it'\''s', external_directory '/srv/it'\''s'. Reason: mode `write` asks before a file outside of the workspace is changed; mode `write` asks before anything outside of the workspace is touched, and nobody is here to answer. To allow it: --allow 'edit:/srv/it'\''s' --allow 'external_directory:/srv/it'\''s' or --mode free."
        );
    }

    #[test]
    fn a_command_names_a_flag_for_its_like_and_the_mode() {
        let text = refused(&policy(Mode::Tight), &[run("git push origin")]);
        let start =
            "Refused: bash 'git push origin'. Reason: mode `tight` asks before a command runs: it publishes";
        assert!(text.starts_with(start), "{text}");
        let end = ", and nobody is here to answer. To allow it: --allow 'bash:git push *' or --mode free.";
        assert!(text.ends_with(end), "{text}");
        let text = refused(&policy(Mode::Tight), &[run("make && git push -q")]);
        assert!(
            text.ends_with("To allow it: --allow 'bash:make *' --allow 'bash:git push *' or --mode free."),
            "{text}"
        );
    }

    #[test]
    fn what_only_a_flag_and_what_only_a_mode_allows_are_named_together() {
        let rules = vec![Rule::new("edit", "a", Action::Ask, "~/.config/rein/config.toml")];
        let policy = policy(Mode::Tight).with_layer(LayerKind::User, rules);
        let text = refused(&policy, &[run("$x"), write("/w/a")]);
        assert!(text.ends_with("To allow it: --mode free --allow 'edit:a'."), "{text}");
    }

    #[test]
    fn what_no_flag_allows_says_who_can() {
        let deny = |kind: LayerKind, origin: &str| {
            let rules = vec![Rule::new("edit", "*", Action::Deny, origin)];
            let text = refused(&policy(Mode::Free).with_layer(kind, rules), &[write("/w/a")]);
            text.split_once(". ").unwrap().1.to_owned()
        };
        assert_eq!(
            deny(LayerKind::User, "~/.config/rein/config.toml"),
            "Reason: the user rule `deny edit:*` (~/.config/rein/config.toml) denies it. \
             No flag allows it: remove that rule from ~/.config/rein/config.toml."
        );
        assert_eq!(
            deny(LayerKind::Managed, ""),
            "Reason: the managed rule `deny edit:*` denies it. \
             No flag allows it: the administrator of this machine decides."
        );
        let text = refused(&policy(Mode::Free), &[write("/w/.git/config")]);
        assert!(text.ends_with("that names exactly 'edit:.git/config'."), "{text}");
    }

    #[test]
    fn plan_mode_is_refused_to_a_person_too_and_what_asks_is_not() {
        let judged = policy(Mode::Plan).judge(&intent(&[write("/w/a")]));
        assert_eq!(
            refusal(&judged, Presence::Person).as_deref(),
            Some(
                "Refused: edit 'a'. Reason: plan mode: no file is changed until the plan is approved. \
                 To allow it: --mode write."
            )
        );
        let asked = policy(Mode::Tight).judge(&intent(&[write("/w/a")]));
        assert_eq!(refusal(&asked, Presence::Person), None);
        assert_eq!(refusal(&policy(Mode::Write).judge(&intent(&[write("/w/a")])), Presence::Nobody), None);
    }

    #[test]
    fn a_long_command_is_shortened() {
        let text = refused(&policy(Mode::Tight), &[run(&format!("x{}", "é".repeat(5_000)))]);
        assert!(text.len() < 1_000, "{}", text.len());
    }
}
