//! The questions that wait for a person, as a pure state machine.
//!
//! The engine puts a call aside with [`Broker::ask`], waits in its own way, and
//! goes on with what [`Broker::reply`] returns as settled. An ask is settled
//! exactly once: by its reply, by a reply to another one of its session, or by
//! being withdrawn.

use rein_protocol::ask::Grant;
use rein_protocol::{Answer, Ask, AskId, CallId, Decider, Question, Reply, Said, Selection, SessionId};

use crate::error::PermissionError;
use crate::rule::{Action, Rule};

/// Asks that wait, first to last.
#[derive(Debug, Clone, Default)]
pub struct Broker {
    waiting: Vec<Ask>,
}

/// What a reply led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replied {
    /// Rules to append to the session layer, because the person said "always".
    pub rules: Vec<Rule>,
    /// What no longer waits: the ask replied to first, then the others in their order.
    pub settled: Vec<Settled>,
}

/// An ask that no longer waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The ask.
    pub ask: Ask,
    /// What became of it.
    pub outcome: Outcome,
    /// Who decided: the person who answered this very ask, or what follows from other things.
    pub by: Decider,
}

/// What became of an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The call may run.
    Allowed {
        /// Who said so, as a sentence.
        reason: String,
        /// What was said, if it was a question.
        said: Option<Said>,
    },
    /// The call does not run.
    Rejected {
        /// The person's words to the model about this call.
        message: Option<String>,
        /// The ask whose rejection took this one along; none if this is the one.
        because_of: Option<Box<Ask>>,
    },
}

impl Outcome {
    /// As a sentence for the model and the record.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Allowed { reason, .. } => reason.clone(),
            Self::Rejected { because_of: Some(other), .. } => {
                format!(
                    "rejected because the person rejected `{}`, for which this call was waiting too",
                    other.display.title
                )
            }
            Self::Rejected { message: Some(message), because_of: None } => {
                format!("the person rejected this call and said: {message}")
            }
            Self::Rejected { message: None, because_of: None } => "the person rejected this call".to_owned(),
        }
    }
}

impl Broker {
    /// Puts a question. One with the id of a question that waits takes its place.
    pub fn ask(&mut self, ask: Ask) {
        match self.waiting.iter_mut().find(|waiting| waiting.id == ask.id) {
            Some(waiting) => *waiting = ask,
            None => self.waiting.push(ask),
        }
    }

    /// The questions that wait, first to last.
    pub fn pending(&self) -> impl Iterator<Item = &Ask> {
        self.waiting.iter()
    }

    /// Takes an answer.
    ///
    /// `judge` says what holds for another ask of the same session once the
    /// given rules are added to the session layer; it is called for "always"
    /// only. A rejection, with words or without, takes all other asks of the
    /// session along. "Always" where the ask offered nothing is "once".
    ///
    /// # Errors
    /// If the ask does not wait, or the answer grants something that was not
    /// asked. Nothing has changed then.
    pub fn reply(
        &mut self,
        reply: &Reply,
        judge: impl FnMut(&Ask, &[Rule]) -> Action,
    ) -> Result<Replied, PermissionError> {
        let unknown = || PermissionError::UnknownAsk { ask: reply.ask.clone() };
        let index = self.waiting.iter().position(|ask| ask.id == reply.ask).ok_or_else(unknown)?;
        let ask = self.waiting.get(index).ok_or_else(unknown)?;
        match (&reply.answer, &ask.question) {
            (Answer::Said { said }, Some(question)) => {
                check(ask, question, said)?;
                let reason = "a person answered the question".to_owned();
                let outcome = Outcome::Allowed { reason, said: Some(said.clone()) };
                let ask = self.waiting.remove(index);
                return Ok(Replied {
                    rules: Vec::new(),
                    settled: vec![Settled { ask, outcome, by: Decider::Person }],
                });
            }
            (Answer::Said { .. }, None) | (Answer::Once | Answer::Always { .. }, Some(_)) => {
                return Err(PermissionError::WrongAnswer { ask: reply.ask.clone() });
            }
            (Answer::Once | Answer::Always { .. }, None) | (Answer::Reject { .. }, _) => {}
        }
        match &reply.answer {
            Answer::Said { .. } => Err(unknown()),
            Answer::Once => Ok(Replied {
                rules: Vec::new(),
                settled: vec![self.allow(index, "a person allowed it once")],
            }),
            Answer::Always { grants, scope: _ } => {
                let rules = granted(ask, grants.as_deref())?;
                Ok(self.always(index, rules, judge))
            }
            Answer::Reject { message } => Ok(self.reject(index, message.as_deref())),
        }
    }

    /// Settles the asks of a session that are allowed by now, for example because the mode changed.
    pub fn settle_allowed(
        &mut self,
        session: &SessionId,
        reason: &str,
        mut judge: impl FnMut(&Ask) -> Action,
    ) -> Vec<Settled> {
        self.take(|ask| ask.session == *session && judge(ask) == Action::Allow)
            .into_iter()
            .map(|ask| Settled {
                ask,
                outcome: Outcome::Allowed { reason: reason.to_owned(), said: None },
                by: Decider::Policy,
            })
            .collect()
    }

    /// Lets a question of a call go unanswered, because its time is over.
    pub fn expire(&mut self, call: &CallId) -> Option<Settled> {
        let index = self.waiting.iter().position(|ask| ask.call == *call && ask.question.is_some())?;
        let reason = "nobody answered the question in time".to_owned();
        let outcome = Outcome::Allowed { reason, said: Some(Said::default()) };
        Some(Settled { ask: self.waiting.remove(index), outcome, by: Decider::Policy })
    }

    /// Takes back the question of a call, because the call is no longer wanted.
    pub fn withdraw(&mut self, call: &CallId) -> Option<Ask> {
        let index = self.waiting.iter().position(|ask| ask.call == *call)?;
        Some(self.waiting.remove(index))
    }

    /// Takes back every question.
    pub fn withdraw_all(&mut self) -> Vec<Ask> {
        std::mem::take(&mut self.waiting)
    }

    /// Whether an ask waits.
    #[must_use]
    pub fn is_waiting(&self, ask: &AskId) -> bool {
        self.waiting.iter().any(|waiting| waiting.id == *ask)
    }

    fn allow(&mut self, index: usize, reason: &str) -> Settled {
        Settled {
            ask: self.waiting.remove(index),
            outcome: Outcome::Allowed { reason: reason.to_owned(), said: None },
            by: Decider::Person,
        }
    }

    fn always(
        &mut self,
        index: usize,
        rules: Vec<Rule>,
        mut judge: impl FnMut(&Ask, &[Rule]) -> Action,
    ) -> Replied {
        let reason = if rules.is_empty() {
            "a person allowed it once"
        } else {
            "a person allowed it for this session"
        };
        let first = self.allow(index, reason);
        let session = first.ask.session.clone();
        let mut settled = vec![first];
        if !rules.is_empty() {
            let reason = "a person allowed such calls for this session while this one waited";
            settled.extend(self.settle_allowed(&session, reason, |ask| judge(ask, &rules)));
        }
        Replied { rules, settled }
    }

    fn reject(&mut self, index: usize, message: Option<&str>) -> Replied {
        let ask = self.waiting.remove(index);
        let message = message.map(str::trim).filter(|message| !message.is_empty()).map(str::to_owned);
        let others = self.take(|other| other.session == ask.session);
        let cascade = others.into_iter().map(|other| Settled {
            ask: other,
            outcome: Outcome::Rejected { message: None, because_of: Some(Box::new(ask.clone())) },
            by: Decider::Policy,
        });
        let cascade: Vec<Settled> = cascade.collect();
        let outcome = Outcome::Rejected { message, because_of: None };
        let first = Settled { ask, outcome, by: Decider::Person };
        Replied { rules: Vec::new(), settled: std::iter::once(first).chain(cascade).collect() }
    }

    fn take(&mut self, mut wanted: impl FnMut(&Ask) -> bool) -> Vec<Ask> {
        let (taken, left) = std::mem::take(&mut self.waiting).into_iter().partition(|ask| wanted(ask));
        self.waiting = left;
        taken
    }
}

/// Whether what was said answers the question.
fn check(ask: &Ask, question: &Question, said: &Said) -> Result<(), PermissionError> {
    let known = |label: &String| question.choices.iter().any(|choice| choice.label == *label);
    let too_many = question.selection == Selection::One && said.chosen.len() > 1;
    if said.is_empty() || too_many || !said.chosen.iter().all(known) {
        return Err(PermissionError::WrongAnswer { ask: ask.id.clone() });
    }
    Ok(())
}

/// The rules that an "always" stands for.
fn granted(ask: &Ask, chosen: Option<&[Grant]>) -> Result<Vec<Rule>, PermissionError> {
    if ask.always.is_empty() {
        return Ok(Vec::new());
    }
    let grants = chosen.unwrap_or(&ask.always);
    let asked = |grant: &Grant| {
        !grant.pattern.trim().is_empty() && ask.items.iter().any(|item| item.permission == grant.permission)
    };
    match grants.iter().find(|grant| !asked(grant)) {
        Some(grant) => Err(PermissionError::ForeignGrant {
            ask: ask.id.clone(),
            grant: format!("{}:{}", grant.permission, grant.pattern),
        }),
        None => Ok(grants.iter().map(Rule::granted).collect()),
    }
}
