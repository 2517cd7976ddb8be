//! Who comes next when a model cannot answer. Pure: the caller asks, tries
//! again, tells the person and takes the next one.

use std::collections::VecDeque;
use std::fmt;

use rein_protocol::ModelRef;

use crate::error::{ErrorKind, ModelError};
use crate::models::Models;
use crate::role::{Role, RoleModel};

/// The models of a role, from the one that is asked now to the last resort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackChain {
    current: RoleModel,
    rest: VecDeque<RoleModel>,
}

/// One model took the place of another. Showing it says so to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The one that could not answer.
    pub from: ModelRef,
    /// The one that is asked from now on.
    pub to: RoleModel,
    /// Why, for the program.
    pub kind: ErrorKind,
    /// Why, in the provider's words.
    pub reason: String,
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "going on with {}: {} cannot answer ({})", self.to, self.from, self.reason)
    }
}

impl Models {
    /// The chain that begins with a model in a role.
    #[must_use]
    pub fn chain(&self, role: Role, first: RoleModel) -> FallbackChain {
        FallbackChain::new(first, self.fallbacks(role))
    }
}

impl FallbackChain {
    /// A chain of these models.
    pub fn new(first: RoleModel, rest: impl IntoIterator<Item = RoleModel>) -> Self {
        let mut chain = Self { current: first, rest: VecDeque::new() };
        for next in rest {
            if next.model != chain.current.model && chain.rest.iter().all(|known| known.model != next.model) {
                chain.rest.push_back(next);
            }
        }
        chain
    }

    /// The one that is asked now.
    #[must_use]
    pub fn current(&self) -> &RoleModel {
        &self.current
    }

    /// After an error that stayed however often the model was asked: the next one, if there is one and another model
    /// may answer where this one could not.
    pub fn advance(&mut self, error: &ModelError) -> Option<Switch> {
        let reach = Reach::of(error.kind)?;
        loop {
            let next = self.rest.pop_front()?;
            // Who has no money left at a provider has none for its other models.
            if reach == Reach::Provider && next.model.provider == self.current.model.provider {
                continue;
            }
            let from = std::mem::replace(&mut self.current, next.clone());
            return Some(Switch {
                from: from.model,
                to: next,
                kind: error.kind,
                reason: error.message.clone(),
            });
        }
    }
}

/// How far an error reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Another model may answer, also of the same provider.
    Model,
    /// Another provider may answer.
    Provider,
}

impl Reach {
    /// Nothing if no other model would answer, or if it must not be asked: a wrong key or request is to be seen.
    fn of(kind: ErrorKind) -> Option<Self> {
        match kind {
            ErrorKind::RateLimit | ErrorKind::Overloaded | ErrorKind::NotFound | ErrorKind::Stalled => {
                Some(Self::Model)
            }
            ErrorKind::Quota | ErrorKind::Network => Some(Self::Provider),
            ErrorKind::Overflow
            | ErrorKind::Auth
            | ErrorKind::BadRequest
            | ErrorKind::Cut
            | ErrorKind::Protocol
            | ErrorKind::Cancelled
            | ErrorKind::NoModel
            | ErrorKind::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> RoleModel {
        text.parse().unwrap()
    }

    fn chain() -> FallbackChain {
        FallbackChain::new(model("a/x"), ["a/x:high", "a/y", "b/z:low", "a/y", "c/w"].map(model))
    }

    #[test]
    fn the_next_one_is_taken_when_another_may_answer() {
        let mut chain = chain();
        let overloaded = ModelError::new(ErrorKind::Overloaded, "too busy");
        let switch = chain.advance(&overloaded).unwrap();
        assert_eq!(switch.to_string(), "going on with a/y: a/x cannot answer (too busy)");
        assert_eq!(chain.current(), &model("a/y"));
        assert_eq!(chain.advance(&overloaded).map(|switch| switch.to), Some(model("b/z:low")));
        assert_eq!(chain.advance(&overloaded).map(|switch| switch.to), Some(model("c/w")));
        assert_eq!(chain.advance(&overloaded), None);
        assert_eq!(chain.current(), &model("c/w"));
    }

    #[test]
    fn an_empty_account_skips_its_provider() {
        let mut chain = chain();
        let switch = chain.advance(&ModelError::new(ErrorKind::Quota, "no credit")).unwrap();
        assert_eq!((switch.kind, switch.to), (ErrorKind::Quota, model("b/z:low")));
    }

    #[test]
    fn what_another_model_would_not_mend_is_not_passed_on() {
        for kind in [
            ErrorKind::Auth,
            ErrorKind::BadRequest,
            ErrorKind::Overflow,
            ErrorKind::Cancelled,
            ErrorKind::Cut,
        ] {
            let mut chain = chain();
            assert_eq!(chain.advance(&ModelError::new(kind, "no")), None, "{kind:?}");
            assert_eq!(chain.current(), &model("a/x"));
        }
    }
}
