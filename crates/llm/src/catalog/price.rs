//! What tokens cost.

use rein_protocol::{Cost, Usage};
use serde::Deserialize;

/// Prices in US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Input that no cache served.
    pub input: f64,
    /// Input served from a cache; as other input if absent.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// Input written to a cache; as other input if absent.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// Input written to a cache that keeps it for an hour; as other writing if absent.
    #[serde(default)]
    pub cache_write_hour: Option<f64>,
    /// Output.
    pub output: f64,
    /// The day on which they held.
    #[serde(default)]
    pub as_of: Option<String>,
}

/// What a call cost. Without prices, or without usage, that is not known.
#[must_use]
pub fn cost(usage: Option<&Usage>, prices: Option<&Prices>) -> Cost {
    let (Some(usage), Some(prices)) = (usage, prices) else { return Cost::Unknown };
    let write = prices.cache_write.unwrap_or(prices.input);
    // Dollars for a million tokens are millionths of a dollar for one.
    let micro_usd = usage.input as f64 * prices.input
        + usage.cache_read as f64 * prices.cached_input.unwrap_or(prices.input)
        + usage.cache_write.saturating_sub(usage.cache_write_hour) as f64 * write
        + usage.cache_write_hour as f64 * prices.cache_write_hour.unwrap_or(write)
        + usage.output as f64 * prices.output;
    if micro_usd.is_finite() && micro_usd >= 0.0 {
        Cost::Known { micro_usd: micro_usd.round() as u64 }
    } else {
        Cost::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price_and_unknown_stays_unknown() {
        let usage = Usage {
            input: 1000,
            output: 200,
            reasoning: 150,
            cache_read: 4000,
            cache_write: 100,
            cache_write_hour: 40,
        };
        let prices = Prices { input: 1.25, cached_input: Some(0.125), output: 10.0, ..Prices::default() };
        assert_eq!(cost(Some(&usage), Some(&prices)), Cost::Known { micro_usd: 1250 + 500 + 125 + 2000 });
        let tiers = Prices { cache_write: Some(5.0), cache_write_hour: Some(10.0), ..prices.clone() };
        assert_eq!(
            cost(Some(&usage), Some(&tiers)),
            Cost::Known { micro_usd: 1250 + 500 + 300 + 400 + 2000 }
        );
        assert_eq!(cost(Some(&usage), None), Cost::Unknown);
        assert_eq!(cost(None, Some(&prices)), Cost::Unknown);
        let broken = Prices { input: f64::NAN, ..prices };
        assert_eq!(cost(Some(&usage), Some(&broken)), Cost::Unknown);
    }
}
