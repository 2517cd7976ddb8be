//! The word that was probably meant.

/// No word of ours is longer, and comparing takes the product of both lengths.
const LONGEST: usize = 64;

/// The candidate that is nearest to the word, if one is near enough to be meant by it.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    if letters > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= 1 && letters.max(candidate.len()) > 2
                || *distance <= letters.min(candidate.len()) / 3
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let words = ["model", "mode", "max_steps", "shell"];
        for (word, meant) in [
            ("modle", Some("model")),
            ("mdoe", Some("mode")),
            ("maxsteps", Some("max_steps")),
            ("max-steps", Some("max_steps")),
            ("MODEL", Some("model")),
            ("shel", Some("shell")),
            ("theme", None),
            ("x", None),
            ("", None),
            (&"model".repeat(100_000), None),
        ] {
            assert_eq!(nearest(word, words), meant, "{word}");
        }
    }
}
