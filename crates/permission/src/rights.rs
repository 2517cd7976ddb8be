//! Which rights a command gets in its sandbox, once it is allowed to run.
//!
//! The sandbox follows the judgement: a path outside of the workspace that the
//! command line names to write, and that was allowed, is open, and nothing else
//! there is. The network is there for a line with a command that needs it, in
//! mode `free`, or where the user said so. What works only outside of a sandbox
//! needs a yes of its own. The model decides none of this.

use std::path::{Path, PathBuf};

use rein_protocol::{Effect, Intent, Mode, Right};
use rein_shell::{Analysis, Effect as Doing, Usage};

use crate::decide::detail;
use crate::judgement::{Detail, Lift, Source};
use crate::policy::{Confinement, NetworkSetting, Policy};
use crate::resource::{Need, Target};
use crate::rule::{Action, Rule, SANDBOX};

/// What a command may do beyond what every confined command may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights {
    /// Whether it reaches other machines.
    pub network: Network,
    /// Whether it is confined at all.
    pub walls: Walls,
    /// Places outside of what is writable, or protected inside of it, that it may change.
    pub writable: Vec<PathBuf>,
    /// Secret places that it may read.
    pub readable: Vec<PathBuf>,
}

/// Whether other machines can be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// They can.
    On,
    /// They cannot; this machine's own addresses can.
    #[default]
    Off,
}

/// Whether there is a sandbox around a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Walls {
    /// There is.
    #[default]
    Up,
    /// A person allowed it to run without.
    Down,
}

impl Policy {
    /// The rights of a call that is allowed to run.
    #[must_use]
    pub fn rights(&self, intent: &Intent) -> Rights {
        let mut rights = Rights { network: self.usual_network(), ..Rights::default() };
        for effect in &intent.effects {
            match effect {
                Effect::Widen { right } => match right {
                    Right::Network => rights.network = Network::On,
                    Right::Write { path } => rights.writable.push(self.paths.resolve(path)),
                    Right::Unconfined => rights.walls = Walls::Down,
                },
                Effect::Execute { command, cwd, prelude } => {
                    let text = crate::command::in_full(prelude, command);
                    self.add_rights(&self.analysis(&text, cwd), &mut rights);
                }
                Effect::Read { .. }
                | Effect::Write { .. }
                | Effect::Fetch { .. }
                | Effect::Consult { .. } => {}
            }
        }
        rights
    }

    fn usual_network(&self) -> Network {
        match (self.network, self.mode) {
            (NetworkSetting::On, _) | (NetworkSetting::AsNeeded, Mode::Free) => Network::On,
            (NetworkSetting::Off | NetworkSetting::AsNeeded, _) => Network::Off,
        }
    }

    fn add_rights(&self, analysis: &Analysis, rights: &mut Rights) {
        let reaches = analysis.commands.iter().any(|command| needs_network(command.loudest()));
        if reaches && self.network == NetworkSetting::AsNeeded {
            rights.network = Network::On;
        }
        if outside(analysis).is_some() {
            rights.walls = Walls::Down;
        }
        for used in &analysis.paths {
            let Some(path) = used.path.as_deref().filter(|_| !used.glob) else { continue };
            let path = self.paths.resolve(Path::new(path));
            match used.usage {
                Usage::Write | Usage::Delete | Usage::DeleteTree => rights.writable.push(path),
                Usage::Read | Usage::Execute => rights.readable.push(path),
                Usage::List | Usage::Unknown => {}
            }
        }
    }

    /// What a right beyond the usual needs: a person, whatever the mode is.
    pub(crate) fn widened(&self, right: &Right) -> Vec<Detail> {
        let shown = match right {
            Right::Network => "the network is reachable for this command",
            Right::Write { .. } => "this becomes writable for this command",
            Right::Unconfined => "this command runs without a sandbox, with all of your rights",
        };
        let named = Need::named(SANDBOX, &right.resource(), rein_protocol::Tier::Exec);
        let mut details = vec![self.always_asked(&named, shown)];
        if let Right::Write { path } = right {
            // A protected place stays one.
            let places = Need::of_path(
                crate::rule::EDIT,
                path,
                crate::resource::Reach::Tree,
                crate::resource::Hand::Command,
                self.places(),
            );
            let inner = places.iter().filter(|need| !matches!(need.target, Target::Text));
            details.extend(inner.map(|need| self.decide(need)));
        }
        details
    }

    /// Details that a command line needs because of how it is confined.
    pub(crate) fn confinement_details(&self, analysis: &Analysis) -> Option<Detail> {
        let off = || Need::named(SANDBOX, &Right::Unconfined.resource(), rein_protocol::Tier::Exec);
        match self.confinement {
            Confinement::Unconfined => None,
            Confinement::Confined => {
                let why = outside(analysis)?;
                let reason = format!("it {why}, which only works without a sandbox, with all of your rights");
                Some(self.always_asked(&off(), &reason))
            }
            Confinement::Unavailable => {
                let need = off();
                let reason = "commands cannot be confined on this machine (`rein sandbox status` says why), \
                              so this one runs with all of your rights";
                let mut detail = self.always_asked(&need, reason);
                if detail.action == Action::Ask {
                    detail.grants = vec![rein_protocol::Grant {
                        permission: SANDBOX.to_owned(),
                        pattern: need.resource.clone(),
                    }];
                }
                Some(detail)
            }
        }
    }

    /// A rule of the user, the administrator or this session can speak; no mode does, except that plan mode denies.
    fn always_asked(&self, need: &Need, reason: &str) -> Detail {
        let judged = self.decide(need);
        // Leave for everything was not meant for this.
        let unmeant = |rule: &Rule| rule.action == Action::Allow && rule.permission != SANDBOX;
        match &judged.source {
            Source::Rule { rule, .. } if !unmeant(rule) => judged,
            Source::Rule { .. } | Source::Mode(_) => {
                let lifts = vec![Lift::Flag(format!("{SANDBOX}:{}", need.resource))];
                detail(need, Action::Ask, reason.to_owned(), Source::Sandbox, lifts)
            }
            _ => judged,
        }
    }
}

/// Whether a command with this effect is of no use without other machines.
fn needs_network(effect: Doing) -> bool {
    match effect {
        Doing::Network
        | Doing::Install
        | Doing::Database
        | Doing::Container
        | Doing::Cloud
        | Doing::Publish
        | Doing::Remote
        | Doing::Agent => true,
        Doing::Shell
        | Doing::Read
        | Doing::Guarded
        | Doing::Write
        | Doing::Stage
        | Doing::Loopback
        | Doing::Project
        | Doing::History
        | Doing::Discard
        | Doing::Process
        | Doing::Desktop
        | Doing::Secret
        | Doing::System
        | Doing::Privilege
        | Doing::Unknown => false,
    }
}

/// What a line does that no sandbox lets through, if it does such a thing.
fn outside(analysis: &Analysis) -> Option<Doing> {
    let loudest = analysis.commands.iter().map(rein_shell::SimpleCommand::loudest);
    loudest
        .filter(|effect| {
            matches!(
                effect,
                Doing::Process | Doing::Container | Doing::Desktop | Doing::System | Doing::Privilege
            )
        })
        .max()
}
