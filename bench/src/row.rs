//! A row of the result: what was measured, and what it should have been.
//! Owns the comparison with targets. Pure.
//!
//! A megabyte is a million bytes here, and a kilobyte a thousand.

use serde::Serialize;
use serde_json::{Value, json};

use crate::statistics::Spread;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Sample {
    /// From before the start to after the end.
    pub wall_ms: f64,
    /// On processors, in the program and its children.
    pub user_ms: f64,
    /// On processors, in the system on their behalf.
    pub system_ms: f64,
    /// The largest resident set of the program and its children, in bytes.
    pub max_rss: u64,
    /// Requests to the model.
    pub requests: usize,
    /// Bytes in their bodies.
    pub bytes_sent: usize,
    /// Bytes in the body of the first.
    pub first_request_bytes: usize,
}

/// Something that has a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The median of wall times, in milliseconds.
    Wall,
    /// The largest resident set of all runs, in bytes.
    MaxRss,
    /// Bytes of the first request.
    FirstRequest,
    /// Bytes of the binary.
    Size,
}

/// What a quantity should not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Target {
    /// Which.
    pub quantity: Quantity,
    /// In the unit of the quantity.
    pub at_most: f64,
}

impl Target {
    /// Milliseconds.
    pub fn wall(milliseconds: f64) -> Self {
        Self { quantity: Quantity::Wall, at_most: milliseconds }
    }

    /// Megabytes.
    pub fn max_rss(megabytes: f64) -> Self {
        Self { quantity: Quantity::MaxRss, at_most: megabytes * 1e6 }
    }

    /// Kilobytes.
    pub fn first_request(kilobytes: f64) -> Self {
        Self { quantity: Quantity::FirstRequest, at_most: kilobytes * 1e3 }
    }

    /// Megabytes.
    pub fn size(megabytes: f64) -> Self {
        Self { quantity: Quantity::Size, at_most: megabytes * 1e6 }
    }
}

impl Quantity {
    /// A value of it for a person.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Wall => format!("{} ms", short(value)),
            Self::MaxRss | Self::Size => format!("{} MB", short(value / 1e6)),
            Self::FirstRequest => format!("{} KB first", short(value / 1e3)),
        }
    }
}

/// Something to hold a figure against: what cannot be saved, or what is not rein's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reference {
    /// What it is.
    pub what: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: &'static str,
}

/// What was measured under one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name.
    pub name: String,
    /// The runs; none if nothing was run.
    pub samples: Vec<Sample>,
    /// Bytes of the binary, where that is what was measured.
    pub size: Option<u64>,
    /// What it should have been.
    pub targets: Vec<Target>,
    /// What to hold it against.
    pub references: Vec<Reference>,
}

impl Row {
    /// Runs and their targets.
    pub fn of(name: impl Into<String>, samples: Vec<Sample>, targets: impl Into<Vec<Target>>) -> Self {
        Self { name: name.into(), samples, size: None, targets: targets.into(), references: Vec::new() }
    }

    /// With something to hold it against.
    pub fn reference(mut self, what: impl Into<String>, value: f64, unit: &'static str) -> Self {
        self.references.push(Reference { what: what.into(), value, unit });
        self
    }

    /// Wall time, in milliseconds.
    pub fn wall(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.wall_ms))
    }

    /// Time on processors, in milliseconds.
    pub fn cpu(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.user_ms + sample.system_ms))
    }

    /// The largest resident set of all runs, in bytes.
    pub fn max_rss(&self) -> u64 {
        self.samples.iter().map(|sample| sample.max_rss).max().unwrap_or(0)
    }

    /// The most bytes that a run sent.
    pub fn bytes_sent(&self) -> usize {
        self.samples.iter().map(|sample| sample.bytes_sent).max().unwrap_or(0)
    }

    /// A quantity as it was measured.
    pub fn actual(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Wall => self.wall().median,
            Quantity::MaxRss => self.max_rss() as f64,
            Quantity::FirstRequest => {
                self.samples.iter().map(|sample| sample.first_request_bytes).max().unwrap_or(0) as f64
            }
            Quantity::Size => self.size.unwrap_or(0) as f64,
        }
    }

    /// The targets that were missed.
    pub fn missed(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| self.actual(target.quantity) > target.at_most)
    }

    /// Everything, for a program.
    pub fn to_json(&self) -> Value {
        let target = |target: &Target| {
            let actual = self.actual(target.quantity);
            json!({
                "quantity": target.quantity, "at_most": target.at_most,
                "actual": actual, "met": actual <= target.at_most,
            })
        };
        json!({
            "name": self.name,
            "wall_ms": self.wall(),
            "cpu_ms": self.cpu(),
            "max_rss": self.max_rss(),
            "bytes_sent": self.bytes_sent(),
            "size": self.size,
            "targets": self.targets.iter().map(target).collect::<Vec<Value>>(),
            "references": self.references,
            "samples": self.samples,
        })
    }
}

/// A number with as many places as it deserves.
pub fn short(value: f64) -> String {
    if value.abs() < 100.0 && value.fract() != 0.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let sample =
            |wall_ms, max_rss| Sample { wall_ms, max_rss, user_ms: 2.0, system_ms: 1.0, ..Sample::default() };
        let samples = vec![sample(70.0, 31_000_000), sample(50.0, 20_000_000), sample(55.0, 29_000_000)];
        Row::of("answer", samples, [Target::wall(60.0), Target::max_rss(30.0)])
    }

    #[test]
    fn time_counts_by_its_median_and_memory_by_its_worst() {
        let row = row();
        let missed: Vec<Quantity> = row.missed().map(|target| target.quantity).collect();
        assert_eq!(missed, [Quantity::MaxRss]);
        assert_eq!((row.actual(Quantity::Wall), row.cpu().median, row.max_rss()), (55.0, 3.0, 31_000_000));
    }

    #[test]
    fn a_target_that_is_just_reached_is_met() {
        let mut row = row();
        row.targets = vec![Target::wall(55.0)];
        assert_eq!(row.missed().count(), 0);
    }

    #[test]
    fn the_json_has_every_sample_and_every_verdict() {
        let json = row().reference("bare", 1.5, "ms").to_json();
        assert_eq!(json["samples"].as_array().map(Vec::len), Some(3));
        assert_eq!(json["wall_ms"], json!({"median": 55.0, "min": 50.0, "max": 70.0}));
        let rss = json!({"quantity": "max_rss", "at_most": 30e6, "actual": 31e6, "met": false});
        assert_eq!(json["targets"][1], rss);
        assert_eq!(json["references"], json!([{"what": "bare", "value": 1.5, "unit": "ms"}]));
    }

    #[test]
    fn numbers_have_as_many_places_as_they_deserve() {
        let shown = [0.0, 1.25, 60.0, 99.96, 412.7].map(short);
        assert_eq!(shown, ["0", "1.2", "60", "100.0", "413"]);
        assert_eq!(Quantity::FirstRequest.show(9_500.0), "9.5 KB first");
    }
}
