//! Caps, and what reaching them means. Pure: figures in, sentences out.

use std::time::Duration;

use rein_config::UnknownCost;

/// What may be spent. What is absent has no cap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caps {
    /// Millionths of a US dollar in a run.
    pub micro_usd: Option<u64>,
    /// Tokens in a run.
    pub tokens: Option<u64>,
    /// The time that the turns of a run take together.
    pub time: Option<Duration>,
    /// What all sessions together may spend in a day.
    pub day: DayCaps,
    /// What is done under a cap on cost with a model of unknown cost.
    pub unknown_cost: UnknownCost,
}

/// What may be spent in a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DayCaps {
    /// Millionths of a US dollar.
    pub micro_usd: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
}

impl Caps {
    /// Whether there is no cap at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.micro_usd.is_none() && self.tokens.is_none() && self.time.is_none() && self.day.is_empty()
    }

    /// Whether it matters what a model costs.
    pub(crate) fn counts_money(&self) -> bool {
        self.micro_usd.is_some() || self.day.micro_usd.is_some()
    }
}

impl DayCaps {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Spent {
    pub(crate) micro_usd: u64,
    pub(crate) tokens: u64,
    pub(crate) time: Duration,
    /// Calls of which nobody knows what they cost.
    pub(crate) unknown_calls: u64,
}

/// What is to be said about a cap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It is reached.
    Over(String),
    /// Four fifths of it are used.
    Nearly { cap: &'static str, message: String },
}

/// One cap, and how it stands.
struct Gauge {
    cap: &'static str,
    spent: u128,
    limit: u128,
    /// `$1.20 of $2.00`.
    figures: String,
    whose: &'static str,
    raise: &'static str,
}

impl Gauge {
    fn finding(self) -> Option<Finding> {
        let Self { cap, spent, limit, figures, whose, raise } = self;
        if spent >= limit {
            return Some(Finding::Over(format!("the budget {whose} is spent: {figures}\nhint: {raise}")));
        }
        (spent.saturating_mul(5) >= limit.saturating_mul(4)).then(|| Finding::Nearly {
            cap,
            message: format!("80 % of the budget {whose} is used: {figures}"),
        })
    }
}

const RUN: &str = "of this run";
const DAY: &str = "of today";

/// What is to be said: everything that is reached first, then what nearly is.
pub(crate) fn judge(caps: &Caps, run: &Spent, day: &Spent) -> Vec<Finding> {
    let gauges = [
        caps.micro_usd.map(|limit| Gauge {
            cap: "cost",
            spent: run.micro_usd.into(),
            limit: limit.into(),
            figures: money(run, limit),
            whose: RUN,
            raise: "go on in a new run, and raise the cap with --max-cost or the setting budget.cost",
        }),
        caps.tokens.map(|limit| Gauge {
            cap: "tokens",
            spent: run.tokens.into(),
            limit: limit.into(),
            figures: format!("{} of {limit} tokens", run.tokens),
            whose: RUN,
            raise: "go on in a new run, and raise the cap with --max-tokens or the setting budget.tokens",
        }),
        caps.time.map(|limit| time_gauge(run.time, limit)),
        caps.day.micro_usd.map(|limit| Gauge {
            cap: "day.cost",
            spent: day.micro_usd.into(),
            limit: limit.into(),
            figures: money(day, limit),
            whose: DAY,
            raise: "go on tomorrow, or raise the setting budget.day.cost",
        }),
        caps.day.tokens.map(|limit| Gauge {
            cap: "day.tokens",
            spent: day.tokens.into(),
            limit: limit.into(),
            figures: format!("{} of {limit} tokens", day.tokens),
            whose: DAY,
            raise: "go on tomorrow, or raise the setting budget.day.tokens",
        }),
    ];
    let mut findings: Vec<Finding> = gauges.into_iter().flatten().filter_map(Gauge::finding).collect();
    findings.sort_by_key(|finding| matches!(finding, Finding::Nearly { .. }));
    findings
}

/// What is said of the time when it is over.
pub(crate) fn time_over(limit: Duration) -> Finding {
    let gauge = time_gauge(limit, limit);
    Finding::Over(format!("the budget {} is spent: {}\nhint: {}", gauge.whose, gauge.figures, gauge.raise))
}

/// What is said of the time when little is left.
pub(crate) fn time_nearly_over(limit: Duration) -> Finding {
    let gauge = time_gauge(limit / 5 * 4, limit);
    let message = format!("80 % of the budget {} is used: {}", gauge.whose, gauge.figures);
    Finding::Nearly { cap: gauge.cap, message }
}

fn time_gauge(spent: Duration, limit: Duration) -> Gauge {
    Gauge {
        cap: "time",
        spent: spent.as_millis(),
        limit: limit.as_millis(),
        figures: format!("{} of {}", clock(spent), clock(limit)),
        whose: RUN,
        raise: "go on in a new run, and raise the cap with --max-time or the setting budget.time",
    }
}

fn money(spent: &Spent, limit: u64) -> String {
    let at_least = if spent.unknown_calls > 0 { "at least " } else { "" };
    format!("{at_least}{} of {}", dollars(spent.micro_usd), dollars(limit))
}

/// With as many digits as it takes to tell it from nothing.
fn dollars(micro_usd: u64) -> String {
    let (whole, rest) = (micro_usd / 1_000_000, micro_usd % 1_000_000);
    match rest % 10_000 {
        0 => format!("${whole}.{:02}", rest / 10_000),
        _ => format!("${whole}.{rest:06}").trim_end_matches('0').to_owned(),
    }
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let shown: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect();
    if shown.is_empty() { "0s".to_owned() } else { shown.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(micro_usd: u64, tokens: u64) -> Spent {
        Spent { micro_usd, tokens, ..Spent::default() }
    }

    #[test]
    fn nothing_is_said_below_four_fifths_and_the_cap_itself_is_reached() {
        let caps = Caps { tokens: Some(100), ..Caps::default() };
        let said = |tokens| judge(&caps, &spent(0, tokens), &Spent::default());
        assert_eq!(said(79), []);
        let message = "80 % of the budget of this run is used: 80 of 100 tokens".to_owned();
        assert_eq!(said(80), [Finding::Nearly { cap: "tokens", message }]);
        let over = "the budget of this run is spent: 100 of 100 tokens\nhint: go on in a new run, and raise the cap \
                    with --max-tokens or the setting budget.tokens";
        assert_eq!(said(100), [Finding::Over(over.to_owned())]);
    }

    #[test]
    fn what_is_reached_comes_before_what_is_near() {
        let day = DayCaps { micro_usd: Some(1_000_000), tokens: None };
        let caps = Caps { micro_usd: Some(2_500_000), day, ..Caps::default() };
        let today = Spent { micro_usd: 1_234_500, unknown_calls: 1, ..Spent::default() };
        let said = judge(&caps, &spent(2_000_000, 0), &today);
        let over = "the budget of today is spent: at least $1.2345 of $1.00\nhint: go on tomorrow, or raise the \
                    setting budget.day.cost";
        let near = "80 % of the budget of this run is used: $2.00 of $2.50".to_owned();
        assert_eq!(said, [Finding::Over(over.to_owned()), Finding::Nearly { cap: "cost", message: near }]);
    }

    #[test]
    fn time_is_told_in_the_units_that_it_has() {
        assert_eq!(clock(Duration::from_secs(3_725)), "1h 2m 5s");
        assert_eq!(clock(Duration::from_millis(10)), "0s");
        assert_eq!(clock(Duration::from_secs(600)), "10m");
    }
}
