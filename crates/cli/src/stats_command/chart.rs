//! Statistics for people: a bar and figures a row. On a narrow terminal a row
//! has lines of its own for its name, its bar and its figures; without Unicode
//! a bar is made of number signs.

use std::io::{self, Write};

use super::totals::{Report, Totals};
use crate::args::GroupBy;
use crate::headless::dollars;
use crate::terminal::{Ink, neutralise};

/// From here on a row fits on one line.
const WIDE: usize = 60;
/// What the figures take.
const FIGURES: usize = 28;
/// A name has at most so much room.
const LONGEST_NAME: usize = 32;

/// What is drawn on.
pub(super) struct Paper {
    pub(super) ink: Ink,
    pub(super) width: usize,
    pub(super) bars: Bars,
}

/// What bars are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bars {
    /// Blocks, with eighths.
    Blocks,
    /// Number signs.
    Ascii,
}

impl Bars {
    /// What the locale can show.
    pub(super) fn of_environment() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        match locale.contains("utf-8") || locale.contains("utf8") {
            true => Self::Blocks,
            false => Self::Ascii,
        }
    }

    /// A bar for a part of the largest.
    fn bar(self, part: u64, largest: u64, room: usize) -> String {
        let room = u128::try_from(room).unwrap_or_default();
        let eighths = u128::from(part) * room * 8 / u128::from(largest.max(1));
        // What is there at all is seen.
        let eighths = usize::try_from(eighths).unwrap_or_default().max(usize::from(part > 0));
        match self {
            Self::Blocks => {
                let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
                format!("{}{}", "█".repeat(eighths / 8), rest.get(eighths % 8).unwrap_or(&""))
            }
            Self::Ascii => "#".repeat(eighths.div_ceil(8)),
        }
    }

    fn cut(self) -> &'static str {
        match self {
            Self::Blocks => "…",
            Self::Ascii => "..",
        }
    }
}

/// Draws it.
pub(super) fn write(
    out: &mut dyn Write,
    report: &Report,
    by: GroupBy,
    days: u32,
    paper: &Paper,
) -> io::Result<()> {
    if report.rows.is_empty() {
        return writeln!(out, "nothing in the last {days} days");
    }
    let size = |totals: &Totals| match by {
        GroupBy::Tool => totals.calls,
        GroupBy::Day | GroupBy::Model | GroupBy::Project => totals.tokens(),
    };
    let largest = report.rows.iter().map(|(_, totals)| size(totals)).max().unwrap_or(0);
    let longest = report.rows.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    let name = longest.min(LONGEST_NAME);
    if paper.width >= WIDE {
        let indent = paper.width.saturating_sub(FIGURES + 1);
        writeln!(out, "{}", paper.ink.dim(&format!("{:indent$} {}", "", heading(by))))?;
    }
    for (key, totals) in &report.rows {
        let key = neutralise(key);
        if paper.width >= WIDE {
            let room = paper.width.saturating_sub(FIGURES + name + 3);
            let bar = paper.bars.bar(size(totals), largest, room);
            let gap = room.saturating_sub(bar.chars().count());
            let label = shortened(&key, name, paper.bars);
            let bar = paper.ink.cyan(&bar);
            writeln!(out, "{label:name$}  {bar}{:gap$} {}", "", figures(totals, by))?;
        } else {
            writeln!(out, "{}", paper.ink.bold(&shortened(&key, paper.width, paper.bars)))?;
            let room = paper.width.saturating_sub(9).max(1);
            let bar = paper.bars.bar(size(totals), largest, room);
            writeln!(out, " {} {}", paper.ink.cyan(&bar), count(size(totals)))?;
            writeln!(out, " {}", narrow_figures(totals, by))?;
        }
    }
    closing(out, report, days, paper)
}

fn closing(out: &mut dyn Write, report: &Report, days: u32, paper: &Paper) -> io::Result<()> {
    let total = &report.total;
    let facts = [
        format!("{days} days"),
        format!("{} sessions", report.sessions),
        format!("{} steps", total.steps),
        format!("{} tokens", count(total.tokens())),
        money(total),
        format!("{} from caches", percent(total.hit_rate())),
        format!("{} calls of tools", total.calls),
        format!("{} compactions", total.compactions),
    ];
    let mut line = String::new();
    for fact in facts {
        let together = line.chars().count() + fact.chars().count() + 2;
        if !line.is_empty() && together > paper.width {
            writeln!(out, "{}", paper.ink.dim(&line))?;
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&fact);
    }
    writeln!(out, "{}", paper.ink.dim(&line))
}

fn heading(by: GroupBy) -> String {
    match by {
        GroupBy::Tool => format!("{:>8} {:>8} {:>9}", "calls", "failed", "time"),
        GroupBy::Day | GroupBy::Model | GroupBy::Project => {
            format!("{:>8} {:>10} {:>7}", "tokens", "cost", "cache")
        }
    }
}

fn figures(totals: &Totals, by: GroupBy) -> String {
    match by {
        GroupBy::Tool => {
            let failed = totals.failed.saturating_add(totals.refused);
            format!("{:>8} {:>8} {:>9}", count(totals.calls), count(failed), seconds(totals.call_ms))
        }
        GroupBy::Day | GroupBy::Model | GroupBy::Project => {
            let (tokens, money) = (count(totals.tokens()), money(totals));
            format!("{tokens:>8} {money:>10} {:>7}", percent(totals.hit_rate()))
        }
    }
}

fn narrow_figures(totals: &Totals, by: GroupBy) -> String {
    match by {
        GroupBy::Tool => format!("{} failed {}", count(totals.failed), seconds(totals.call_ms)),
        GroupBy::Day | GroupBy::Model | GroupBy::Project => {
            format!("{} {}", money(totals), percent(totals.hit_rate()))
        }
    }
}

/// At least so much, if not everything is known; a question mark if nothing is.
fn money(totals: &Totals) -> String {
    let spending = &totals.spending;
    let known = rein_protocol::Cost::Known { micro_usd: spending.at_least_micro_usd };
    match (dollars(spending.cost), dollars(known)) {
        (Some(usd), _) => format!("${usd:.2}"),
        (None, Some(usd)) if spending.at_least_micro_usd > 0 => format!(">${usd:.2}"),
        (None, _) => "$?".to_owned(),
    }
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.0} %", rate * 100.0))
}

fn count(number: u64) -> String {
    #[allow(clippy::cast_precision_loss)] // Three digits are shown.
    let number_in = |unit: f64| number as f64 / unit;
    match number {
        0..=9_999 => number.to_string(),
        10_000..=999_999 => format!("{:.0}k", number_in(1e3)),
        1_000_000..=999_999_999 => format!("{:.1}M", number_in(1e6)),
        _ => format!("{:.1}G", number_in(1e9)),
    }
}

fn seconds(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// The end of a name tells more than its beginning.
fn shortened(name: &str, room: usize, bars: Bars) -> String {
    let length = name.chars().count();
    if length <= room {
        return name.to_owned();
    }
    let cut = bars.cut();
    let kept = room.saturating_sub(cut.chars().count());
    let end: String = name.chars().skip(length - kept).collect();
    format!("{cut}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_llm::Spending;
    use rein_protocol::{Cost, Usage};

    fn report() -> Report {
        let totals = |tokens: u64, cost: Cost| {
            let mut spending = Spending::default();
            let usage = Usage { input: tokens / 4, cache_read: tokens / 4 * 3, ..Usage::default() };
            spending.add(Some(usage), cost, None);
            Totals { steps: 1, spending, calls: 2, ..Totals::default() }
        };
        let rows = vec![
            ("2026-01-30".to_owned(), totals(4_000, Cost::Known { micro_usd: 120_000 })),
            ("2026-01-31".to_owned(), totals(2_000_000, Cost::Unknown)),
        ];
        Report { rows, total: totals(2_004_000, Cost::Unknown), tools: Vec::new(), sessions: 1 }
    }

    fn drawn(width: usize, bars: Bars) -> String {
        let mut out = Vec::new();
        write(&mut out, &report(), GroupBy::Day, 30, &Paper { ink: Ink::Plain, width, bars }).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        for width in [20, 40, 59, 60, 80, 200] {
            for bars in [Bars::Blocks, Bars::Ascii] {
                let text = drawn(width, bars);
                for line in text.lines() {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn bars_compare_and_figures_follow() {
        let text = drawn(72, Bars::Ascii);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            format!("2026-01-30  #{}  {:>8} {:>10} {:>7}", " ".repeat(29), "4000", "$0.12", "75 %")
        );
        assert_eq!(
            lines[2],
            format!("2026-01-31  {} {:>8} {:>10} {:>7}", "#".repeat(31), "2.0M", "$?", "75 %")
        );
        assert!(text.is_ascii(), "{text}");
        assert!(drawn(72, Bars::Blocks).contains('█'));
    }

    #[test]
    fn an_empty_time_is_said_to_be_empty() {
        let mut out = Vec::new();
        let paper = Paper { ink: Ink::Plain, width: 20, bars: Bars::Ascii };
        write(&mut out, &Report::default(), GroupBy::Day, 7, &paper).unwrap();
        assert_eq!(out, b"nothing in the last 7 days\n");
    }
}
