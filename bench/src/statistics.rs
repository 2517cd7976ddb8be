//! Many values as a few. Pure.

use serde::Serialize;

/// The middle of the values, and how far they spread.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spread {
    /// The one in the middle; of two in the middle, their mean.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of these values; all zero if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
        let last = sorted.len().saturating_sub(1);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { at(middle) } else { (at(last / 2) + at(middle)) / 2.0 };
        Self { median, min: at(0), max: at(last) }
    }
}

/// The value below which this part of the values is.
pub fn percentile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = (last as f64 * part).ceil() as usize;
    sorted.get(at.min(last)).copied().unwrap_or_default()
}

/// By how much more the second doubling cost than the first: 2 if cost is
/// linear in size, 4 if it is quadratic. What every run costs cancels out.
/// None if the first doubling cost nothing that could be measured.
pub fn growth(one: f64, two: f64, four: f64) -> Option<f64> {
    let (first, second) = (two - one, four - two);
    (first > 0.0).then(|| second / first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_the_sorted_values() {
        let spread = |values: &[f64]| Spread::of(values.iter().copied());
        assert_eq!(spread(&[3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(spread(&[4.0, 1.0, 10.0, 2.0]), Spread { median: 3.0, min: 1.0, max: 10.0 });
        assert_eq!(spread(&[5.0, 7.0]), Spread { median: 6.0, min: 5.0, max: 7.0 });
        assert_eq!(spread(&[5.0]), Spread { median: 5.0, min: 5.0, max: 5.0 });
        assert_eq!(spread(&[]), Spread::default());
    }

    #[test]
    fn growth_tells_linear_from_quadratic_whatever_the_start_costs() {
        assert_eq!(growth(50.0 + 1.0, 50.0 + 2.0, 50.0 + 4.0), Some(2.0));
        assert_eq!(growth(50.0 + 1.0, 50.0 + 4.0, 50.0 + 16.0), Some(4.0));
        assert_eq!(growth(5.0, 5.0, 6.0), None);
    }
}
