//! What tokens cost, and what a cache saves. What is not known stays unknown.

use rein_protocol::{Cost, Usage};
use serde::{Deserialize, Serialize};

/// Prices in US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Input that no cache served.
    pub input: f64,
    /// Input served from a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Input written to a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Input written to a cache that keeps it for an hour; as other writing if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<f64>,
    /// Output.
    pub output: f64,
    /// Other prices for longer prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PriceTier>,
    /// The day on which they held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
}

/// Prices of all tokens of a call whose prompt is longer than that.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTier {
    /// For prompts of more tokens than this.
    pub above: u64,
    /// Input that no cache served.
    pub input: f64,
    /// Input served from a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Input written to a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Input written to a cache that keeps it for an hour; as other writing if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<f64>,
    /// Output.
    pub output: f64,
}

/// What each kind of token costs in one call.
struct Rates {
    input: f64,
    cached_input: f64,
    cache_write: f64,
    cache_write_hour: f64,
    output: f64,
}

impl Prices {
    /// The prices that hold for a prompt of so many tokens.
    fn rates(&self, prompt: u64) -> Rates {
        let tier = self.tiers.iter().filter(|tier| prompt > tier.above).max_by_key(|tier| tier.above);
        let (input, cached, write, hour, output) = match tier {
            Some(tier) => {
                (tier.input, tier.cached_input, tier.cache_write, tier.cache_write_hour, tier.output)
            }
            None => (self.input, self.cached_input, self.cache_write, self.cache_write_hour, self.output),
        };
        let cache_write = write.unwrap_or(input);
        Rates {
            input,
            cached_input: cached.unwrap_or(input),
            cache_write,
            cache_write_hour: hour.unwrap_or(cache_write),
            output,
        }
    }
}

/// The tokens of a prompt, wherever they came from.
fn prompt(usage: &Usage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}

/// What a call cost. Without prices, or without usage, that is not known.
#[must_use]
pub fn cost(usage: Option<&Usage>, prices: Option<&Prices>) -> Cost {
    let (Some(usage), Some(prices)) = (usage, prices) else { return Cost::Unknown };
    let rates = prices.rates(prompt(usage));
    // Dollars for a million tokens are millionths of a dollar for one.
    let micro_usd = usage.input as f64 * rates.input
        + usage.cache_read as f64 * rates.cached_input
        + usage.cache_write.saturating_sub(usage.cache_write_hour) as f64 * rates.cache_write
        + usage.cache_write_hour as f64 * rates.cache_write_hour
        + usage.output as f64 * rates.output;
    if micro_usd.is_finite() && micro_usd >= 0.0 {
        Cost::Known { micro_usd: micro_usd.round() as u64 }
    } else {
        Cost::Unknown
    }
}

/// What a cache saved in a call, in millionths of a US dollar: the difference to the same call without one. Less than
/// nothing if more was written than read. Absent if prices make no sense.
#[must_use]
pub fn cache_savings(usage: &Usage, prices: &Prices) -> Option<i64> {
    let rates = prices.rates(prompt(usage));
    let saved = usage.cache_read as f64 * (rates.input - rates.cached_input)
        - usage.cache_write.saturating_sub(usage.cache_write_hour) as f64 * (rates.cache_write - rates.input)
        - usage.cache_write_hour as f64 * (rates.cache_write_hour - rates.input);
    saved.is_finite().then(|| saved.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage {
        input: 1000,
        output: 200,
        reasoning: 150,
        cache_read: 4000,
        cache_write: 100,
        cache_write_hour: 40,
    };

    fn prices() -> Prices {
        Prices { input: 1.25, cached_input: Some(0.125), output: 10.0, ..Prices::default() }
    }

    #[test]
    fn each_kind_of_token_has_its_price_and_unknown_stays_unknown() {
        let usage = USAGE;
        let prices = prices();
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

    #[test]
    fn a_long_prompt_has_the_prices_of_its_length_for_everything() {
        let tier = |above, input| PriceTier { above, input, output: input * 4.0, ..PriceTier::default() };
        let prices = Prices { tiers: vec![tier(100_000, 4.0), tier(10_000, 2.0)], ..prices() };
        let call = |input| Usage { input, output: 1, ..Usage::default() };
        let of = |input| match cost(Some(&call(input)), Some(&prices)) {
            Cost::Known { micro_usd } => micro_usd,
            Cost::Unknown => panic!("the price is known"),
        };
        assert_eq!((of(8), of(10_000)), (20, 12_510));
        assert_eq!((of(10_001), of(100_000)), (20_010, 200_008));
        assert_eq!(of(100_001), 400_020);
        // What a cache holds is a part of the prompt.
        let cached = Usage { cache_read: 100_000, ..call(1) };
        assert_eq!(cost(Some(&cached), Some(&prices)), Cost::Known { micro_usd: 400_020 });
    }

    #[test]
    fn a_cache_saves_what_reading_is_cheaper_less_what_writing_costs_more() {
        assert_eq!(cache_savings(&USAGE, &prices()), Some(4500));
        let writing = Prices { cache_write: Some(2.25), cache_write_hour: Some(3.25), ..prices() };
        assert_eq!(cache_savings(&USAGE, &writing), Some(4500 - 60 - 80));
        let only_written = Usage { cache_read: 0, ..USAGE };
        assert_eq!(cache_savings(&only_written, &writing), Some(-140));
        assert_eq!(cache_savings(&USAGE, &Prices { input: f64::NAN, ..prices() }), None);
    }
}
