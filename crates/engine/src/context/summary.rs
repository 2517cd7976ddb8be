//! The summary of a conversation: what a model is asked for, and whether what
//! it gave can be used. Pure.

use super::size::Ruler;

/// The headings that every summary has, in order.
pub(crate) const SECTIONS: [&str; 6] =
    ["Goal", "Instructions", "Discoveries", "Accomplished", "Relevant files", "Next"];

const SYSTEM: &str = include_str!("../prompts/summary.md");

/// The instructions of a summariser.
pub(crate) fn system() -> String {
    SYSTEM.trim_end().to_owned()
}

/// What it is shown.
pub(crate) fn request(
    conversation: &str,
    previous: Option<&str>,
    focus: Option<&str>,
    room: u64,
    complaint: Option<&Flaw>,
) -> String {
    let mut text = String::new();
    if let Some(previous) = previous {
        text.push_str(&format!("<previous-summary>\n{}\n</previous-summary>\n\n", previous.trim()));
    }
    text.push_str(&format!("<conversation>\n{conversation}\n</conversation>\n\n"));
    if let Some(focus) = focus {
        text.push_str(&format!("The user wants this to be kept above all: {}\n", focus.trim()));
    }
    if let Some(flaw) = complaint {
        text.push_str(&format!("An earlier attempt could not be used: {flaw}.\n"));
    }
    text.push_str(&format!("Write the summary now, in at most {} words.", (room * 2 / 3).max(120)));
    text
}

/// Why a summary cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Flaw {
    #[error("it was empty")]
    Empty,
    #[error("it had no section `{0}`")]
    Missing(&'static str),
    #[error("it was too long")]
    TooLong,
    #[error("it says nothing")]
    Hollow,
    #[error("the model declined")]
    Declined,
    #[error("{0}")]
    Failed(String),
}

/// The summary in a model's answer, or why it cannot be used.
pub(crate) fn check(answer: &str, room: u64) -> Result<String, Flaw> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Err(Flaw::Empty);
    }
    let headings: Vec<String> = answer.lines().filter_map(heading).collect();
    for section in SECTIONS {
        let wanted = section.to_lowercase();
        if !headings.iter().any(|heading| heading.starts_with(&wanted)) {
            return Err(Flaw::Missing(section));
        }
    }
    // What stands before the first heading is talk.
    let start = answer.lines().take_while(|line| heading(line).is_none()).map(|line| line.len() + 1).sum();
    let summary = answer.get(start..).unwrap_or(answer).trim();
    let said: usize =
        summary.lines().filter(|line| heading(line).is_none()).map(|line| line.trim().len()).sum();
    if said < 20 {
        return Err(Flaw::Hollow);
    }
    // A little more than was asked for does no harm.
    if Ruler::default().tokens_of_text(summary) > room + room / 2 {
        return Err(Flaw::TooLong);
    }
    Ok(summary.to_owned())
}

/// The words of a line that is a heading, in lower case.
fn heading(line: &str) -> Option<String> {
    let line = line.trim();
    let marked =
        line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"));
    let words = line.trim_matches(|character: char| "#*: ".contains(character));
    (marked && !words.is_empty()).then(|| words.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> String {
        SECTIONS.map(|name| format!("## {name}\nsomething about it")).join("\n\n")
    }

    #[test]
    fn a_summary_with_all_sections_is_used_without_the_talk_before_it() {
        let good = good();
        assert_eq!(check(&good, 500), Ok(good.clone()));
        assert_eq!(check(&format!("Sure, here it is:\n\n{good}\n"), 500), Ok(good.clone()));
        let bold = SECTIONS.map(|name| format!("**{name}:**\nsomething")).join("\n");
        assert_eq!(check(&bold, 500), Ok(bold.clone()));
        let wordy = good.replace("## Next", "### Next steps");
        assert_eq!(check(&wordy, 500), Ok(wordy.clone()));
    }

    #[test]
    fn what_is_empty_incomplete_hollow_too_long_or_a_refusal_is_not() {
        let good = good();
        for (answer, flaw) in [
            (" \n".to_owned(), Flaw::Empty),
            ("I'm sorry, but I can't help with that.".to_owned(), Flaw::Missing("Goal")),
            (good.replace("## Accomplished", "and"), Flaw::Missing("Accomplished")),
            (SECTIONS.map(|name| format!("## {name}")).join("\n"), Flaw::Hollow),
            (format!("{good}\n{}", "x".repeat(4_000)), Flaw::TooLong),
        ] {
            assert_eq!(check(&answer, 500), Err(flaw), "{answer}");
        }
    }
}
