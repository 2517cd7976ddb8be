//! Roles: which model does what.
//!
//! A person may choose a model for each role, with others to fall back to.
//! Where nobody chose, data decide: small work is done by the cheapest model of
//! the same provider, the rest by the model of the session. A model that cannot
//! be asked, for lack of a key, is passed over.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rein_protocol::ModelRef;

use crate::catalog::{ImageSupport, Prices, Provider};
use crate::models::Models;
use crate::request::Effort;

/// What a model is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The work itself.
    Default,
    /// What should be quick and cheap.
    Small,
    /// What deserves the best.
    Slow,
    /// Planning.
    Plan,
    /// Looking at images.
    Vision,
    /// Naming sessions.
    Title,
    /// Messages of commits.
    Commit,
    /// Work that is handed to an agent of its own.
    Task,
    /// A second opinion.
    Advisor,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 9] = [
        Role::Default,
        Role::Small,
        Role::Slow,
        Role::Plan,
        Role::Vision,
        Role::Title,
        Role::Commit,
        Role::Task,
        Role::Advisor,
    ];

    /// The word in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Small => "small",
            Self::Slow => "slow",
            Self::Plan => "plan",
            Self::Vision => "vision",
            Self::Title => "title",
            Self::Commit => "commit",
            Self::Task => "task",
            Self::Advisor => "advisor",
        }
    }

    /// The role whose model does it if nobody chose one.
    fn stand_in(self) -> Option<Self> {
        match self {
            Self::Default => None,
            Self::Title | Self::Commit => Some(Self::Small),
            Self::Small | Self::Slow | Self::Plan | Self::Vision | Self::Task | Self::Advisor => {
                Some(Self::Default)
            }
        }
    }
}

/// A model, and perhaps how much it should think: `provider/model[:effort]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RoleModel {
    /// The model.
    pub model: ModelRef,
    /// How much it should think; as it does by itself if absent.
    pub effort: Option<Effort>,
}

/// Why a text does not name a model for a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` does not name a model: write `provider/model` or `provider/model:effort`, for example `openai/gpt-5:high`"
)]
pub struct InvalidRoleModel(pub String);

impl FromStr for RoleModel {
    type Err = InvalidRoleModel;

    /// What stands behind the last colon is an effort only if it is the word for one: names of models hold colons.
    fn from_str(text: &str) -> Result<Self, InvalidRoleModel> {
        let named = text.rsplit_once(':').and_then(|(model, word)| Some((model, Effort::from_name(word)?)));
        let (model, effort) = named.map_or((text, None), |(model, effort)| (model, Some(effort)));
        let model = model.trim().parse().map_err(|_| InvalidRoleModel(text.to_owned()))?;
        Ok(Self { model, effort })
    }
}

impl fmt::Display for RoleModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.model)?;
        self.effort.map_or(Ok(()), |effort| write!(f, ":{}", effort.name()))
    }
}

impl From<ModelRef> for RoleModel {
    fn from(model: ModelRef) -> Self {
        Self { model, effort: None }
    }
}

/// What was chosen for a role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoleChoice {
    /// The model.
    pub model: Option<RoleModel>,
    /// Those to go on with when it cannot answer, in this order.
    pub fallback: Vec<RoleModel>,
}

/// What was chosen for roles.
pub type Roles = BTreeMap<Role, RoleChoice>;

impl Models {
    /// The model for a role, in a session that works with `current`. It can be asked, unless not even `current` can.
    #[must_use]
    pub fn role(&self, role: Role, current: &ModelRef) -> RoleModel {
        let mut next = Some(role);
        while let Some(role) = next {
            let mut chosen = self.chosen_for(role, current).into_iter();
            if let Some(found) = chosen.find(|chosen| self.can_be_asked(&chosen.model)) {
                return found;
            }
            if let Some(found) = self.by_data(role, current) {
                return found.into();
            }
            next = role.stand_in();
        }
        current.clone().into()
    }

    /// Those to go on with when the model of a role cannot answer: those of the role, or else those of the default.
    /// Only such as can be asked.
    #[must_use]
    pub fn fallbacks(&self, role: Role) -> Vec<RoleModel> {
        let of = |role| self.roles().get(&role).map(|choice| choice.fallback.clone()).unwrap_or_default();
        let own = of(role);
        let all = if own.is_empty() { of(Role::Default) } else { own };
        all.into_iter().filter(|fallback| self.can_be_asked(&fallback.model)).collect()
    }

    /// A model with a larger window to go on with when this one is full; data say which. Only if it can be asked.
    #[must_use]
    pub fn promotion(&self, model: &ModelRef) -> Option<ModelRef> {
        let info = self.info(model);
        let wanted = info.promote?;
        let provider = self.catalog().provider(&model.provider)?;
        let larger = match provider.model(&wanted) {
            Some(_) => ModelRef { provider: model.provider.clone(), model: wanted },
            None => wanted.parse().ok()?,
        };
        (self.limits(&larger).context > info.context && self.can_be_asked(&larger)).then_some(larger)
    }

    /// What somebody chose. The model of a session is the default, whatever was chosen when it began; how much it
    /// should think may have been chosen too.
    fn chosen_for(&self, role: Role, current: &ModelRef) -> Vec<RoleModel> {
        let Some(choice) = self.roles().get(&role) else { return Vec::new() };
        let all = choice.model.iter().chain(&choice.fallback);
        all.filter(|chosen| role != Role::Default || chosen.model == *current).cloned().collect()
    }

    fn by_data(&self, role: Role, current: &ModelRef) -> Option<ModelRef> {
        let provider = self.catalog().provider(&current.provider)?;
        match role {
            Role::Small => {
                let limit = self.pricing(current).map(|prices| weight(&prices))?;
                self.cheapest(provider, |_| true).filter(|(cost, _)| *cost < limit).map(|(_, model)| model)
            }
            Role::Vision if self.sees(provider, &current.model) => None,
            Role::Vision => self.cheapest(provider, |id| self.sees(provider, id)).map(|(_, model)| model),
            Role::Default
            | Role::Slow
            | Role::Plan
            | Role::Title
            | Role::Commit
            | Role::Task
            | Role::Advisor => None,
        }
    }

    /// The cheapest model of a provider whose price is known and that is big enough for small work.
    fn cheapest(&self, provider: &Provider, fits: impl Fn(&str) -> bool) -> Option<(f64, ModelRef)> {
        const SMALLEST_WINDOW: u64 = 16_000;
        provider
            .models
            .iter()
            .filter(|model| model.context.is_none_or(|context| context >= SMALLEST_WINDOW) && fits(&model.id))
            .filter_map(|model| {
                let model = ModelRef { provider: provider.name.clone(), model: model.id.clone() };
                Some((weight(&self.pricing(&model)?), model))
            })
            .min_by(|(one, _), (other, _)| one.total_cmp(other))
            .filter(|(_, model)| self.can_be_asked(model))
    }

    fn sees(&self, provider: &Provider, model: &str) -> bool {
        match self.catalog().info(provider, model).images {
            Some(ImageSupport::Yes | ImageSupport::FromPersons) => true,
            Some(ImageSupport::No) | None => false,
        }
    }

    fn can_be_asked(&self, model: &ModelRef) -> bool {
        self.resolve(model).is_ok()
    }
}

/// How prices compare for small work, which reads more than it writes.
fn weight(prices: &Prices) -> f64 {
    4.0 * prices.input + prices.output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effort_is_told_from_a_name_with_a_colon() {
        for (text, model, effort) in [
            ("openai/gpt-5", "openai/gpt-5", None),
            ("openai/gpt-5:high", "openai/gpt-5", Some(Effort::High)),
            ("ollama/qwen3:8b", "ollama/qwen3:8b", None),
            ("ollama/qwen3:8b:off", "ollama/qwen3:8b", Some(Effort::Off)),
            ("openrouter/z-ai/glm-4.6:exacto", "openrouter/z-ai/glm-4.6:exacto", None),
        ] {
            let read: RoleModel = text.parse().unwrap();
            assert_eq!((read.model.to_string().as_str(), read.effort), (model, effort));
            assert_eq!(read.to_string(), text);
        }
        for wrong in ["", "gpt-5", ":high", "/x", "openai/:high"] {
            assert_eq!(wrong.parse::<RoleModel>(), Err(InvalidRoleModel(wrong.to_owned())));
        }
    }
}
