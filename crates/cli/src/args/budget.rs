//! What a run may spend, on the command line.

use std::time::Duration;

use clap::Args;

/// Caps of a run.
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct BudgetArguments {
    /// Stop before another call of the model once the run has cost so many US dollars; 0 for no cap
    ///
    /// A model whose price is not known is refused then, unless
    /// budget.unknown_cost accepts it.
    #[arg(long, value_name = "USD", value_parser = dollars, help_heading = "Run")]
    pub max_cost: Option<f64>,

    /// Stop before another call of the model once so many tokens are used, as 200000, 200k or 2M; 0 for no cap
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Run")]
    pub max_tokens: Option<u64>,

    /// Stop after so much time, as 90, 90s, 10m or 1h30m; 0 for no cap
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Run")]
    pub max_time: Option<Duration>,
}

fn dollars(text: &str) -> Result<f64, String> {
    let number: f64 = text.trim().trim_start_matches('$').parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("not an amount of money".to_owned()) }
}

fn count(text: &str) -> Result<u64, String> {
    let text = text.trim().replace('_', "");
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix(['m', 'M']).map_or((text.as_str(), 1), |digits| (digits, 1_000_000)),
    };
    let number: u64 = digits.parse().map_err(|_| "not a number, as 200000, 200k or 2M".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "too large".to_owned())
}

/// `90`, `90s`, `10m`, `1h30m`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "not a time, as 90s, 10m or 1h30m".to_owned();
    let mut rest = text.trim();
    if let Ok(seconds) = rest.parse::<u32>() {
        return Ok(Duration::from_secs(seconds.into()));
    }
    let (mut total, mut largest) = (0_u64, u64::MAX);
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
        let (digits, unit) = rest.split_at(end);
        let seconds = match unit.chars().next() {
            Some('h') => 3600,
            Some('m') => 60,
            Some('s') => 1,
            _ => return Err(wrong()),
        };
        // `1m30m` is a mistake.
        if seconds >= largest {
            return Err(wrong());
        }
        largest = seconds;
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        total = number.checked_mul(seconds).and_then(|more| total.checked_add(more)).ok_or_else(wrong)?;
        rest = unit.get(1..).unwrap_or_default();
    }
    if u32::try_from(total).is_err() || text.trim().is_empty() {
        return Err(wrong());
    }
    Ok(Duration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_units() {
        let read = |text: &str| duration(text).map(|time| time.as_secs());
        assert_eq!(read("90"), Ok(90));
        assert_eq!(read("90s"), Ok(90));
        assert_eq!(read("10m"), Ok(600));
        assert_eq!(read(" 1h30m5s "), Ok(5405));
        for wrong in ["", "m", "10x", "1m30m", "-5s", "1.5h", "99999999999h", "5h99999999999999999999s", "ä"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_and_dollars_are_read_and_nonsense_is_not() {
        assert_eq!(
            [count("200000"), count("200k"), count("2M"), count("1_000")].map(Result::unwrap),
            [200_000, 200_000, 2_000_000, 1_000]
        );
        assert!(count("2.5M").is_err() && count("-1").is_err() && count("99999999999999999999k").is_err());
        assert_eq!([dollars("2.5"), dollars("$0.10"), dollars("0")].map(Result::unwrap), [2.5, 0.1, 0.0]);
        assert!(dollars("inf").is_err() && dollars("-1").is_err() && dollars("NaN").is_err());
    }
}
