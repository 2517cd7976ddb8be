//! Which of the names there are somebody may have meant. Bounded in cost.

/// As many as are worth showing.
const SHOWN: usize = 3;

/// Names beyond these are not compared.
const COMPARED: usize = 10_000;

/// How alike two names must be, from 0 to 1.
const ALIKE: f64 = 0.8;

/// Those of the names that are most like `name`, the likeliest first.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut found: Vec<(f64, &str)> = names
        .into_iter()
        .take(COMPARED)
        .map(|candidate| (likeness(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    found.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    found.into_iter().take(SHOWN).map(|(_, candidate)| candidate).collect()
}

fn likeness(wanted: &str, candidate: &str) -> f64 {
    let (short, long) = (wanted.len().min(candidate.len()), wanted.len().max(candidate.len()));
    // Beyond this length the comparison costs more than it says.
    if long > 200 {
        return 0.0;
    }
    // One slip in a short name changes much of it.
    let slip = short >= 3 && strsim::osa_distance(wanted, candidate) == 1;
    let alike = strsim::jaro_winkler(wanted, candidate);
    if slip { alike.max(ALIKE) } else { alike }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_comes_first_and_the_unlike_not_at_all() {
        assert_eq!(nearest("mian.rs", ["lib.rs", "main.rs", "Main.rs", "README.md"]), ["Main.rs", "main.rs"]);
        assert_eq!(nearest("scr", ["src", "doc"]), ["src"]);
        assert_eq!(nearest("x", ["lib.rs", "y"]), Vec::<&str>::new());
    }
}
