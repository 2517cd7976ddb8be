//! What a session spent: the sum over its steps. One step of unknown cost makes
//! the sum unknown, and how many there were is told.

use rein_protocol::{Cost, Usage};

/// What was spent in several calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spending {
    /// How many calls.
    pub calls: u64,
    /// Of how many of them nobody knows the cost.
    pub unknown_calls: u64,
    /// What they used.
    pub usage: Usage,
    /// What they cost; unknown if that of any is.
    pub cost: Cost,
    /// What those whose cost is known cost, in millionths of a US dollar: at least so much was spent.
    pub at_least_micro_usd: u64,
    /// What the providers' caches saved in calls of which that is known, in millionths of a US dollar.
    pub saved_micro_usd: i64,
}

impl Default for Spending {
    fn default() -> Self {
        Self {
            calls: 0,
            unknown_calls: 0,
            usage: Usage::default(),
            cost: Cost::ZERO,
            at_least_micro_usd: 0,
            saved_micro_usd: 0,
        }
    }
}

impl Spending {
    /// Adds a call: what it used, what it cost, and what a cache saved in it, if that is known.
    pub fn add(&mut self, usage: Option<Usage>, cost: Cost, saved: Option<i64>) {
        self.calls = self.calls.saturating_add(1);
        if let Some(usage) = usage {
            self.usage += usage;
        }
        match cost {
            Cost::Known { micro_usd } => {
                self.at_least_micro_usd = self.at_least_micro_usd.saturating_add(micro_usd);
            }
            Cost::Unknown => self.unknown_calls = self.unknown_calls.saturating_add(1),
        }
        self.cost += cost;
        self.saved_micro_usd = self.saved_micro_usd.saturating_add(saved.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_step_makes_the_session_unknown_and_the_rest_is_still_told() {
        let usage = Usage { input: 10, output: 1, ..Usage::default() };
        let mut spending = Spending::default();
        spending.add(Some(usage), Cost::Known { micro_usd: 7 }, Some(-2));
        assert_eq!((spending.cost, spending.unknown_calls), (Cost::Known { micro_usd: 7 }, 0));
        spending.add(None, Cost::Unknown, None);
        spending.add(Some(usage), Cost::Known { micro_usd: 5 }, Some(10));
        let expected = Spending {
            calls: 3,
            unknown_calls: 1,
            usage: Usage { input: 20, output: 2, ..Usage::default() },
            cost: Cost::Unknown,
            at_least_micro_usd: 12,
            saved_micro_usd: 8,
        };
        assert_eq!(spending, expected);
    }
}
