//! How long to wait before a model is asked again. Pure: the clock and chance
//! are handed in.
//!
//! What a server asks for counts; the guess is only for servers that say
//! nothing. Whether to ask again at all is said by
//! [`ModelError::retryable`](crate::ModelError::retryable).

use std::time::Duration;

use rein_http::Headers;
use rein_protocol::Timestamp;

use crate::error::ModelError;

/// How often a model is asked in all, if settings do not say.
pub const MAX_ATTEMPTS: u32 = 5;
/// The wait after the first failure, if settings do not say.
pub const BASE_DELAY: Duration = Duration::from_secs(2);
/// The longest guess.
pub const MAX_DELAY: Duration = Duration::from_secs(30);
/// The longest wait on a server's word. One that wants more is not asked again by itself.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);
/// The same where nobody is there to decide otherwise.
pub const LONGEST_HEADLESS_WAIT: Duration = Duration::from_secs(60);

/// The most that chance adds to a guess.
const JITTER: f64 = 0.25;

/// For how long a server is waited for that asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patience {
    /// For up to an hour: somebody sees the countdown and can end it.
    #[default]
    Interactive,
    /// For up to a minute: a script would rather be told when to try again.
    Headless,
    /// As without a person, but without waiting: what comes next is recorded already.
    Replayed,
}

impl Patience {
    /// The longest wait on a server's word.
    #[must_use]
    pub fn longest_wait(self) -> Duration {
        match self {
            Self::Interactive => LONGEST_WAIT,
            Self::Headless | Self::Replayed => LONGEST_HEADLESS_WAIT,
        }
    }

    /// The error, with whether it is waited for; where it is not, with when to try again.
    #[must_use]
    pub(crate) fn judge(self, error: ModelError, now: Timestamp) -> ModelError {
        let error = ModelError { longest_wait: self.longest_wait(), ..error };
        match error.retry_after {
            Some(wait) if error.kind.retryable() && wait > error.longest_wait => error.with_hint(format!(
                "try again in {}{}, or choose another model with --model",
                spoken(wait),
                moment(now, wait)
            )),
            Some(_) if self == Self::Replayed => ModelError { retry_after: Some(Duration::ZERO), ..error },
            Some(_) | None => error,
        }
    }
}

/// A span as a person says it, rounded up to where it matters.
fn spoken(span: Duration) -> String {
    let seconds = span.as_secs() + u64::from(span.subsec_nanos() > 0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        7_200..172_800 => format!("{} h", seconds.div_ceil(3_600)),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}

/// The moment after a wait, if it is one that calendars know.
fn moment(now: Timestamp, wait: Duration) -> String {
    let wait = i64::try_from(wait.as_millis()).ok();
    let then = wait.and_then(|wait| jiff::Timestamp::from_millisecond(now.0.checked_add(wait)?).ok());
    then.map(|then| format!(" (at {})", then.strftime("%Y-%m-%d %H:%M UTC"))).unwrap_or_default()
}

/// The wait after the given attempt (the first is 1) failed: what the server
/// asked for, or twice as long each time, from `base` up to [`MAX_DELAY`].
/// `random` from 0 to 1 spreads those who failed together.
#[must_use]
pub fn delay(attempt: u32, retry_after: Option<Duration>, base: Duration, random: f64) -> Duration {
    if let Some(asked) = retry_after {
        return asked;
    }
    let doublings = attempt.saturating_sub(1).min(30);
    let guess = base.saturating_mul(1 << doublings).min(MAX_DELAY);
    let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 0.0 };
    guess.mul_f64(1.0 + JITTER * random).min(MAX_DELAY)
}

/// The wait that a server asks for, in headers or in the words of its answer.
#[must_use]
pub fn asked_by(headers: &Headers, text: &str, now: Timestamp) -> Option<Duration> {
    from_headers(headers, now)
        .or_else(|| from_text(text))
        .or_else(|| from_reset(headers, now))
        .or_else(|| from_buckets(headers, now))
}

fn from_headers(headers: &Headers, now: Timestamp) -> Option<Duration> {
    let milliseconds = headers.get("retry-after-ms").and_then(|text| seconds(text, 1000.0));
    let coarse =
        headers.get("retry-after").and_then(|text| seconds(text, 1.0).or_else(|| until_date(text, now)));
    match (milliseconds, coarse) {
        // Some servers send zero milliseconds beside the seconds that they mean.
        (Some(Duration::ZERO), Some(coarse)) => Some(coarse),
        (Some(exact), _) => Some(exact),
        (None, coarse) => coarse,
    }
}

/// `x-ratelimit-reset` and its kin: seconds, or the moment in seconds or milliseconds.
fn from_reset(headers: &Headers, now: Timestamp) -> Option<Duration> {
    const NAMES: [&str; 3] = ["x-ratelimit-reset-after", "x-ratelimit-reset", "ratelimit-reset"];
    NAMES.iter().find_map(|name| until_reset(headers.get(name)?, now))
}

fn until_reset(text: &str, now: Timestamp) -> Option<Duration> {
    const EARLIEST_MOMENT: f64 = 1e9;
    const EARLIEST_MILLISECONDS: f64 = 1e11;
    let value: f64 = text.trim().parse().ok()?;
    let milliseconds = if value < EARLIEST_MOMENT {
        value * 1000.0
    } else {
        let moment = if value < EARLIEST_MILLISECONDS { value * 1000.0 } else { value };
        moment - now.0 as f64
    };
    if milliseconds > 0.0 { Duration::try_from_secs_f64(milliseconds / 1000.0).ok() } else { None }
}

/// `x-ratelimit-remaining-tokens: 0` with `x-ratelimit-reset-tokens: 6m0s`, and the same of
/// `anthropic-ratelimit-tokens-…` with a moment: the longest wait among what is used up.
fn from_buckets(headers: &Headers, now: Timestamp) -> Option<Duration> {
    const KINDS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
    let names = KINDS.iter().flat_map(|kind| {
        [
            (format!("x-ratelimit-remaining-{kind}"), format!("x-ratelimit-reset-{kind}")),
            (format!("anthropic-ratelimit-{kind}-remaining"), format!("anthropic-ratelimit-{kind}-reset")),
        ]
    });
    let waits = names.filter_map(|(remaining, reset)| {
        let used_up = headers.get(&remaining)?.trim() == "0";
        let reset = headers.get(&reset)?.trim();
        let wait = seconds(reset, 1.0).or_else(|| span(&reset.to_ascii_lowercase()));
        wait.or_else(|| until_moment(reset, now)).filter(|wait| used_up && !wait.is_zero())
    });
    waits.max()
}

fn until_moment(text: &str, now: Timestamp) -> Option<Duration> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(moment.as_millisecond() - now.0).ok().map(Duration::from_millis)
}

fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    let value: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(value / per_second).ok()
}

fn until_date(text: &str, now: Timestamp) -> Option<Duration> {
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    let milliseconds = u64::try_from(date.as_millisecond() - now.0).ok()?;
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

/// `Please try again in 6m11.5s`, `retry in 28ms`, `"retryDelay": "34.4s"`.
fn from_text(text: &str) -> Option<Duration> {
    const MARKS: [&str; 5] =
        ["retry in ", "again in ", "retry after ", "retrydelay\": \"", "retrydelay\":\""];
    let text = text.to_ascii_lowercase();
    MARKS.iter().find_map(|mark| {
        text.match_indices(mark).find_map(|(at, _)| span(text.get(at + mark.len()..).unwrap_or_default()))
    })
}

/// Numbers with units at the beginning of a text.
fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total: Option<f64> = None;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let Ok(number) = number.parse::<f64>() else { break };
        let after = after.strip_prefix(' ').unwrap_or(after);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let Some(factor) = unit_seconds(unit) else { break };
        total = Some(total.unwrap_or(0.0) + number * factor);
        rest = after;
    }
    total.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "milliseconds" | "millisecond" => Some(0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some(3600.0),
        "d" | "day" | "days" => Some(86400.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_735_689_600_000);

    fn asked(headers: &[(&str, &str)], text: &str) -> Option<u128> {
        let headers = headers.iter().copied().collect();
        asked_by(&headers, text, NOW).map(|delay| delay.as_millis())
    }

    #[test]
    fn guesses_double_up_to_a_cap_with_bounded_jitter() {
        let guess = |attempt, random| delay(attempt, None, BASE_DELAY, random).as_millis();
        let table: Vec<u128> = (1..=7).map(|attempt| guess(attempt, 0.0)).collect();
        assert_eq!(table, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!((guess(1, 1.0), guess(2, 0.5), guess(5, 1.0)), (2_500, 4_500, 30_000));
        assert_eq!((guess(0, 0.0), guess(u32::MAX, 7.0), guess(1, f64::NAN)), (2_000, 30_000, 2_000));
        assert_eq!(delay(3, None, Duration::from_millis(1), 0.0), Duration::from_millis(4));
        assert_eq!(delay(9, Some(Duration::from_secs(90)), BASE_DELAY, 1.0), Duration::from_secs(90));
    }

    #[test]
    fn headers_are_understood_in_every_form() {
        type Case = (&'static [(&'static str, &'static str)], Option<u128>);
        let table: [Case; 22] = [
            (&[("Retry-After", "5")], Some(5_000)),
            (&[("retry-after", "1.5")], Some(1_500)),
            (&[("retry-after-ms", "1500"), ("retry-after", "9")], Some(1_500)),
            (&[("retry-after-ms", "0"), ("retry-after", "1")], Some(1_000)),
            (&[("retry-after-ms", "0")], Some(0)),
            (&[("retry-after", "Wed, 01 Jan 2025 00:00:12 GMT")], Some(12_000)),
            (&[("retry-after", "Tue, 31 Dec 2024 23:59:00 GMT")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "1e300")], None),
            (&[("x-ratelimit-reset", "1735689620")], Some(20_000)),
            (&[("x-ratelimit-reset", "1735689660000")], Some(60_000)),
            (&[("x-ratelimit-reset", "1735689500")], None),
            (&[("x-ratelimit-reset", "2")], Some(2_000)),
            (&[("x-ratelimit-reset-after", "1.5"), ("x-ratelimit-reset", "1735689660")], Some(1_500)),
            (&[("ratelimit-reset", "7")], Some(7_000)),
            (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0.5s")], Some(360_500)),
            (&[("x-ratelimit-remaining-tokens", "5"), ("x-ratelimit-reset-tokens", "6m0s")], None),
            (
                &[
                    ("anthropic-ratelimit-requests-remaining", "0"),
                    ("anthropic-ratelimit-requests-reset", "2025-01-01T00:00:03Z"),
                    ("anthropic-ratelimit-input-tokens-remaining", "0"),
                    ("anthropic-ratelimit-input-tokens-reset", "2025-01-01T00:00:09Z"),
                ],
                Some(9_000),
            ),
            (
                &[
                    ("anthropic-ratelimit-tokens-remaining", "0"),
                    ("anthropic-ratelimit-tokens-reset", "2024-12-31T00:00:00Z"),
                ],
                None,
            ),
            (&[], None),
        ];
        for (headers, expected) in table {
            assert_eq!(asked(headers, ""), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_long_wait_is_for_persons_and_a_script_is_told_when_to_come_back() {
        let limited = |seconds: u64| ModelError {
            retry_after: Some(Duration::from_secs(seconds)),
            ..ModelError::new(crate::ErrorKind::RateLimit, "slow down")
        };
        let judged = |patience: Patience, seconds| {
            let error = patience.judge(limited(seconds), NOW);
            (error.retryable(), error.retry_after.map(|wait| wait.as_secs()), error.hint)
        };
        let hint = "try again in 2 min (at 2025-01-01 00:01 UTC), or choose another model with --model";
        assert_eq!(judged(Patience::Headless, 60), (true, Some(60), None));
        assert_eq!(judged(Patience::Headless, 119), (false, Some(119), Some(hint.replace("2 min", "119 s"))));
        assert_eq!(judged(Patience::Interactive, 119), (true, Some(119), None));
        assert_eq!(
            judged(Patience::Interactive, 7_000),
            (
                false,
                Some(7_000),
                Some(
                    "try again in 117 min (at 2025-01-01 01:56 UTC), or choose another model with --model"
                        .to_owned()
                ),
            )
        );
        assert_eq!(judged(Patience::Replayed, 60), (true, Some(0), None));
        assert!(!judged(Patience::Replayed, 61).0);
        let endless = Patience::Headless.judge(limited(u64::MAX), NOW);
        assert!(endless.hint.unwrap().starts_with("try again in "), "no calendar goes that far");
    }

    #[test]
    fn the_words_of_an_answer_are_understood() {
        let table = [
            ("Please try again in 28ms. Visit https://example.com", Some(28)),
            ("Rate limit exceeded. Try again in 35 seconds.", Some(35_000)),
            ("Please try again in 6m11.52s.", Some(371_520)),
            ("limit: 2\nPlease retry in 44.097740004s.", Some(44_097)),
            (r#"{"retryDelay": "34.4s"}"#, Some(34_400)),
            ("try again in a moment", None),
            ("we are looking again in 2025", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(asked(&[], text), expected, "{text}");
        }
        assert_eq!(asked(&[("retry-after", "5")], "Please retry in 1s"), Some(5_000));
    }
}
