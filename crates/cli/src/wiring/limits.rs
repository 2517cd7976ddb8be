//! What may be spent and what proves the work, from settings to the engine.

use std::time::Duration;

use rein_config::{BudgetSettings, Flag, VerifySettings};
use rein_engine::{Caps, DayCaps, Verify};

use crate::args::BudgetArguments;

/// The caps of a run and of a day.
pub(super) fn caps(budget: &BudgetSettings) -> Caps {
    Caps {
        micro_usd: micro_usd(budget.cost),
        tokens: some(budget.tokens),
        time: (budget.time > 0).then(|| Duration::from_secs(budget.time.into())),
        day: DayCaps { micro_usd: micro_usd(budget.day.cost), tokens: some(budget.day.tokens) },
        unknown_cost: budget.unknown_cost,
    }
}

/// What proves the work, if the user wants it proved.
pub(super) fn verify(settings: &VerifySettings) -> Option<Verify> {
    let command = settings.command.clone().filter(|command| !command.trim().is_empty())?;
    Some(Verify {
        command,
        mode: settings.mode,
        attempts: settings.attempts,
        timeout: Duration::from_secs(settings.timeout_s.into()),
    })
}

/// What the command line says about it.
pub(super) fn flags(budget: &BudgetArguments) -> impl Iterator<Item = Flag> {
    let cost = budget.max_cost.map(|usd| Flag::new("--max-cost", ["budget", "cost"], format!("{usd:?}")));
    let tokens =
        budget.max_tokens.map(|count| Flag::new("--max-tokens", ["budget", "tokens"], count.to_string()));
    let time =
        budget.max_time.map(|time| Flag::new("--max-time", ["budget", "time"], time.as_secs().to_string()));
    [cost, tokens, time].into_iter().flatten()
}

fn micro_usd(usd: f64) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Such a cast saturates.
    let micro = (usd * 1e6).round() as u64;
    (usd > 0.0).then(|| micro.max(1))
}

fn some(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}
