//! Tokens and what they cost.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens of one model call, or of many added up.
///
/// The counts are disjoint except that `reasoning` is part of `output` and
/// `cache_write_hour` of `cache_write`: `input` excludes what was read from or
/// written to a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens that no cache served.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Output tokens spent on reasoning.
    #[serde(default)]
    pub reasoning: u64,
    /// Input tokens served from a cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Input tokens written to a cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Of those, the ones that the cache keeps for an hour, at another price.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_hour: u64,
}

/// serde hands over a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Everything that occupies the model's window after this call.
    #[must_use]
    pub fn total(&self) -> u64 {
        // Servers can count anything; a sum must not overflow.
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_hour = self.cache_write_hour.saturating_add(other.cache_write_hour);
    }
}

/// How much of a request the provider's cache served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheReport {
    /// Percent of the request's tokens that came from a cache, rounded down.
    pub hit: u8,
    /// The same of the request before, if this process made one in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u8>,
    /// The first part that is not as it was in the request before: `model`, `effort`, `tools`, `head`,
    /// `instructions`, `environment`, or `message N` counted from 1. Absent if the request only added to that one;
    /// then a drop means that the provider no longer had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_changed: Option<String>,
}

/// Money, in millionths of a US dollar. What is not known is not a zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Cost {
    /// From prices in the catalog.
    Known {
        /// Millionths of a US dollar.
        micro_usd: u64,
    },
    /// No price is known for the model, or the provider sent no usage.
    Unknown,
}

impl Cost {
    /// Nothing spent.
    pub const ZERO: Cost = Cost::Known { micro_usd: 0 };
}

impl AddAssign for Cost {
    /// Unknown plus anything is unknown.
    fn add_assign(&mut self, other: Self) {
        *self = match (*self, other) {
            (Cost::Known { micro_usd: a }, Cost::Known { micro_usd: b }) => {
                Cost::Known { micro_usd: a.saturating_add(b) }
            }
            (Cost::Unknown, _) | (_, Cost::Unknown) => Cost::Unknown,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_counts_add_up_without_overflow() {
        let mut usage = Usage { input: u64::MAX, output: 1, ..Usage::default() };
        usage += usage;
        assert_eq!((usage.input, usage.total()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn an_unknown_cost_never_becomes_a_number() {
        let mut cost = Cost::ZERO;
        cost += Cost::Known { micro_usd: 5 };
        assert_eq!(cost, Cost::Known { micro_usd: 5 });
        cost += Cost::Unknown;
        cost += Cost::Known { micro_usd: 5 };
        assert_eq!(cost, Cost::Unknown);
    }
}
