//! Whether a call may run: the policy of this session, and the calls that wait
//! for a person.
//!
//! Deciding is `permission`'s business; here decisions meet the calls that
//! wait for them. Waiting costs a map entry and no task.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rein_config::{Directories, Grants, NewGrant};
use rein_permission::rule::{DOOM_LOOP, READ};
use rein_permission::{
    Action, Broker, Judgement, LayerKind, Outcome, PermissionError, Policy, Presence, Replied, Rule, Source,
    refusal,
};
use rein_protocol::{
    Answer, Ask, AskId, CallId, Decider, Decision, Display, Effect, GivenGrant, Grant, Intent, Mode, Reply,
    Scope, ServiceError, SessionId, TurnId, Verdict as Allowed,
};
use tokio::sync::oneshot;

use super::grants::Keeping;
use super::link::{Gate, GateRequest, Permit};
use crate::options::EngineOptions;
use crate::paths::FileSystemPaths;

/// The session's policy and its open asks.
pub(super) struct Gatekeeper {
    session: SessionId,
    policy: Policy,
    presence: Presence,
    broker: Broker,
    waiting: HashMap<AskId, Waiting>,
    /// A turn that ends as soon as its calls are over: none of them begins any more.
    ending: Option<TurnId>,
    directories: Option<Directories>,
    /// What was allowed for longer than once while the session was open.
    given: Vec<GivenGrant>,
}

struct Waiting {
    request: GateRequest,
    answer: oneshot::Sender<Gate>,
    since: Instant,
    /// The time that a person takes, apart from what the gate takes.
    _span: tracing::Span,
}

/// What the policy says of a call.
pub(super) enum Verdict {
    /// It is decided.
    Settled { decision: Decision, gate: Gate },
    /// A person must say.
    Ask(Ask),
}

/// A call whose fate is decided, to be recorded and then told.
pub(super) struct Settled {
    pub(super) request: GateRequest,
    pub(super) answer: oneshot::Sender<Gate>,
    pub(super) decision: Decision,
    pub(super) gate: Gate,
}

impl Gatekeeper {
    pub(super) fn new(options: &EngineOptions, session: &SessionId, workspace: PathBuf, mode: Mode) -> Self {
        let policy = policy(options, workspace, mode).with_layer(LayerKind::Session, Vec::new());
        let presence = options.presence;
        Self {
            session: session.clone(),
            policy,
            presence,
            broker: Broker::default(),
            waiting: HashMap::new(),
            ending: None,
            directories: options.directories.clone(),
            given: Vec::new(),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        self.policy.mode
    }

    /// Changes the mode. Asks that the new mode answers with yes are settled.
    pub(super) fn set_mode(&mut self, mode: Mode) -> Vec<Settled> {
        self.policy.mode = mode;
        let (policy, waiting) = (&self.policy, &self.waiting);
        let reason = format!("mode `{}`, which was chosen while this call waited", mode.name());
        let judge = |ask: &Ask| action_for(policy, waiting, ask);
        let settled = self.broker.settle_allowed(&self.session, &reason, judge);
        self.release(settled)
    }

    pub(super) fn pending(&self) -> Vec<Ask> {
        self.broker.pending().cloned().collect()
    }

    /// Judges a call.
    pub(super) fn judge(&mut self, request: &GateRequest) -> Verdict {
        if self.ending.as_ref() == Some(&request.turn) {
            let reason = "another call ended the turn before this one began".to_owned();
            let text = format!("Not run: {reason}.");
            return Verdict::Settled {
                decision: decision(Allowed::Deny, vec![reason]),
                gate: Gate::Refused { text },
            };
        }
        let verdict = self.verdict(request);
        if let Verdict::Settled { gate: Gate::DoomLoop { .. }, .. } = verdict {
            self.ending = Some(request.turn.clone());
        }
        verdict
    }

    fn verdict(&self, request: &GateRequest) -> Verdict {
        let judgement = self.policy.judge(&request.intent);
        let repeats =
            request.doom.as_ref().map(|finding| (finding, self.policy.judge_named(DOOM_LOOP, &request.tool)));
        let doomed = repeats.filter(|(_, judgement)| judgement.action != Action::Allow);
        if let Some(text) = refusal(&judgement, self.presence) {
            // Plan mode alone is against it.
            let is_withheld = judgement.deciding().all(|detail| detail.source == Source::Plan);
            let decision = decision(Allowed::Deny, judgement.reasons);
            let gate = match doomed {
                // There is nothing that a person could allow.
                Some((finding, _)) => Gate::DoomLoop { text: format!("Stopped: {finding}. {text}") },
                None if is_withheld => Gate::Withheld,
                None => Gate::Refused { text },
            };
            return Verdict::Settled { decision, gate };
        }
        match doomed {
            Some((finding, looped)) if looped.action == Action::Deny || self.presence == Presence::Nobody => {
                let text = format!("Stopped: {finding}, and nobody is there to say that it may go on.");
                let decision = decision(Allowed::Deny, vec![finding.clone()]);
                Verdict::Settled { decision, gate: Gate::DoomLoop { text } }
            }
            Some((finding, looped)) => Verdict::Ask(self.ask(request, judgement, Some((finding, looped)))),
            None if judgement.action == Action::Ask => Verdict::Ask(self.ask(request, judgement, None)),
            None => {
                let decision = decision(Allowed::Allow, judgement.reasons);
                let rights = self.policy.rights(&request.intent);
                let permit = Box::new(Permit { rights, said: None });
                Verdict::Settled { decision, gate: Gate::Go { permit } }
            }
        }
    }

    fn ask(&self, request: &GateRequest, judgement: Judgement, doom: Option<(&String, Judgement)>) -> Ask {
        let mut items = judgement.items;
        let mut always = judgement.always;
        if let Some((finding, looped)) = doom {
            items.extend(
                looped
                    .items
                    .into_iter()
                    .map(|item| rein_protocol::AskItem { reason: finding.clone(), ..item }),
            );
            always.extend(looped.always);
        }
        Ask {
            id: AskId::new(),
            session: self.session.clone(),
            turn: request.turn.clone(),
            call: request.call.clone(),
            items,
            always,
            display: request.intent.display.clone(),
            question: request.intent.effects.iter().find_map(|effect| match effect {
                Effect::Consult { question } => Some(question.clone()),
                _ => None,
            }),
        }
    }

    /// Puts a call aside until a person answers. The ask must be durable.
    pub(super) fn wait(&mut self, ask: Ask, request: GateRequest, answer: oneshot::Sender<Gate>) {
        let span = tracing::info_span!(parent: &request.span, "person", ask = %ask.id, call = %request.call);
        let waiting = Waiting { request, answer, since: Instant::now(), _span: span };
        self.waiting.insert(ask.id.clone(), waiting);
        self.broker.ask(ask);
    }

    /// Takes a person's answer, and everything that follows from it. What is to outlive the session is kept first.
    pub(super) async fn reply(&mut self, reply: &Reply) -> Result<Vec<Settled>, ServiceError> {
        // Tried on a copy: an answer that is wrong, or cannot be kept, changes nothing.
        let tried = answer(&mut self.broker.clone(), &self.policy, &self.waiting, reply)?;
        self.keep(reply, &tried.rules).await?;
        let replied = answer(&mut self.broker, &self.policy, &self.waiting, reply)?;
        if let Answer::Always { scope, .. } = &reply.answer {
            let given = replied.rules.iter().map(|rule| GivenGrant { grant: grant(rule), scope: *scope });
            self.given.extend(given);
        }
        self.policy.add_to_session(replied.rules);
        Ok(self.release(replied.settled))
    }

    /// Writes grants for the project or for everywhere to the user's own file.
    async fn keep(&self, reply: &Reply, rules: &[Rule]) -> Result<(), ServiceError> {
        let Answer::Always { scope, .. } = &reply.answer else { return Ok(()) };
        let Some(directories) = self.directories.clone() else { return Ok(()) };
        let grants: Vec<NewGrant> = match scope {
            Scope::Session => return Ok(()),
            Scope::Project => {
                let workspace = &self.policy.workspace;
                rules
                    .iter()
                    .map(|rule| NewGrant::project(grant(rule), workspace, self.session.clone()))
                    .collect()
            }
            Scope::Everywhere => {
                rules.iter().map(|rule| NewGrant::everywhere(grant(rule), self.session.clone())).collect()
            }
        };
        if grants.is_empty() {
            return Ok(());
        }
        let kept = tokio::task::spawn_blocking(move || Grants::add(&directories, &grants)).await;
        let failed =
            |reason: String| ServiceError::Invalid { message: format!("the grant was not kept: {reason}") };
        match kept {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn keeping(&self) -> Keeping {
        Keeping { directories: self.directories.clone(), workspace: self.policy.workspace.clone() }
    }

    /// What was allowed for longer than once and holds here.
    pub(super) async fn grants(&self) -> Result<Vec<GivenGrant>, ServiceError> {
        let mut grants: Vec<GivenGrant> = self.keeping().list().await?;
        for given in self.given.iter().filter(|given| self.is_of_session(given)) {
            if !grants.contains(given) {
                grants.push(given.clone());
            }
        }
        Ok(grants)
    }

    /// Takes a grant back, from the next call on.
    pub(super) async fn revoke(&mut self, revoked: &GivenGrant) -> Result<(), ServiceError> {
        let kept = match revoked.scope {
            Scope::Session => Vec::new(),
            Scope::Project | Scope::Everywhere => self.keeping().take_back(revoked).await?,
        };
        let given = self.given.iter().position(|given| given == revoked);
        if given.is_none() && kept.is_empty() {
            return Err(super::grants::not_given(&revoked.grant));
        }
        let mut here = given.map(|place| Rule::granted(&self.given.remove(place).grant));
        self.policy.retain_in_session(|rule| {
            // One rule for one grant: the same may have been allowed elsewhere, and stays allowed then.
            let is_given = here.take_if(|given| given == rule).is_some();
            let is_kept = kept.iter().any(|id| rule.origin.ends_with(&format!("({id})")));
            !is_given && !is_kept
        });
        Ok(())
    }

    /// Whether a grant is known to this session only: what is kept is in the file, or has been taken out of it.
    fn is_of_session(&self, given: &GivenGrant) -> bool {
        given.scope == Scope::Session || self.directories.is_none()
    }

    /// Lets the question of a call go unanswered.
    pub(super) fn expire(&mut self, call: &CallId) -> Vec<Settled> {
        let expired = self.broker.expire(call).into_iter().collect();
        self.release(expired)
    }

    /// Lets every waiting call go without running it.
    pub(super) fn withdraw_all(&mut self) {
        self.broker.withdraw_all();
        for (_, waiting) in self.waiting.drain() {
            let _ = waiting.answer.send(Gate::Withdrawn);
        }
    }

    fn release(&mut self, settled: Vec<rein_permission::Settled>) -> Vec<Settled> {
        settled
            .into_iter()
            .filter_map(|settled| {
                let waiting = self.waiting.remove(&settled.ask.id)?;
                let sentence = settled.outcome.sentence();
                let (verdict, gate) = match settled.outcome {
                    Outcome::Allowed { said, .. } => {
                        let rights = self.policy.rights(&waiting.request.intent);
                        (Allowed::Allow, Gate::Go { permit: Box::new(Permit { rights, said }) })
                    }
                    Outcome::Rejected { message, because_of: None } => {
                        if message.is_none() {
                            self.ending = Some(waiting.request.turn.clone());
                        }
                        (Allowed::Deny, Gate::Rejected { message })
                    }
                    Outcome::Rejected { because_of: Some(_), .. } => {
                        (Allowed::Deny, Gate::Refused { text: format!("Not run: {sentence}.") })
                    }
                };
                let mut decision = decision(verdict, vec![sentence]);
                decision.by = settled.by;
                decision.ask = Some(settled.ask.id);
                decision.waited_ms = u64::try_from(waiting.since.elapsed().as_millis()).unwrap_or(u64::MAX);
                Some(Settled { request: waiting.request, answer: waiting.answer, decision, gate })
            })
            .collect()
    }
}

fn grant(rule: &Rule) -> Grant {
    Grant { permission: rule.permission.clone(), pattern: rule.pattern.clone() }
}

fn answer(
    broker: &mut Broker,
    policy: &Policy,
    waiting: &HashMap<AskId, Waiting>,
    reply: &Reply,
) -> Result<Replied, ServiceError> {
    let judge = |ask: &Ask, rules: &[Rule]| {
        let mut policy = policy.clone();
        policy.add_to_session(rules.iter().cloned());
        action_for(&policy, waiting, ask)
    };
    broker.reply(reply, judge).map_err(|error| match error {
        PermissionError::UnknownAsk { ask } => ServiceError::UnknownAsk { ask },
        other => ServiceError::Invalid { message: other.to_string() },
    })
}

fn policy(options: &EngineOptions, workspace: PathBuf, mode: Mode) -> Policy {
    let policy = Policy {
        home: options.home.clone(),
        protected: options.protected.clone(),
        paths: Arc::new(FileSystemPaths),
        confinement: options.commands.confinement(),
        network: options.commands.network(),
        ..Policy::new(workspace, mode)
    };
    policy.with_layers(options.layers.clone())
}

/// Whether a file that a search meets may be read. Leave to search a directory is not leave for what rules say
/// otherwise about below it; nobody is asked for each file.
pub(super) fn read_filter(
    options: &EngineOptions,
    workspace: &Path,
) -> Arc<dyn Fn(&Path) -> bool + Send + Sync> {
    let policy = policy(options, workspace.to_owned(), Mode::Tight);
    Arc::new(move |path| {
        let effects = vec![Effect::Read { path: path.to_owned() }];
        let judgement = policy.judge(&Intent { effects, display: Display::default() });
        judgement.details.iter().all(|detail| detail.permission != READ || detail.action == Action::Allow)
    })
}

/// What holds by now for a call that waits.
fn action_for(policy: &Policy, waiting: &HashMap<AskId, Waiting>, ask: &Ask) -> Action {
    let Some(waiting) = waiting.get(&ask.id) else { return Action::Ask };
    let judged = policy.judge(&waiting.request.intent).action;
    match waiting.request.doom {
        Some(_) => judged.max(policy.judge_named(DOOM_LOOP, &waiting.request.tool).action),
        None => judged,
    }
}

fn decision(verdict: Allowed, reasons: Vec<String>) -> Decision {
    Decision { verdict, reasons, ask: None, by: Decider::Policy, waited_ms: 0 }
}
