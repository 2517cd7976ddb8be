//! Slash commands: the one table, and which line of it was meant.

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Model,
    Mode,
    Plan,
    Sessions,
    New,
    Continue,
    Jobs,
    Transcript,
    Cost,
    Quit,
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) argument: &'static str,
    pub(crate) about: &'static str,
    pub(crate) command: Command,
}

const fn entry(
    name: &'static str,
    aliases: &'static [&'static str],
    argument: &'static str,
    about: &'static str,
    command: Command,
) -> Entry {
    Entry { name, aliases, argument, about, command }
}

/// Every command.
pub(crate) const TABLE: &[Entry] = &[
    entry("help", &["keys"], "", "keys and commands", Command::Help),
    entry("model", &[], "[provider/model]", "see or change the model", Command::Model),
    entry("mode", &[], "[tight|write|free|plan]", "how much runs without asking", Command::Mode),
    entry("plan", &[], "", "only look; withhold the rest", Command::Plan),
    entry("sessions", &["resume"], "", "go on with another session", Command::Sessions),
    entry("new", &["clear"], "", "begin a new session", Command::New),
    entry("continue", &[], "", "go on with a turn that was cut off", Command::Continue),
    entry("jobs", &[], "", "commands in the background", Command::Jobs),
    entry("transcript", &[], "", "the whole session, to read and search", Command::Transcript),
    entry("cost", &["usage"], "", "tokens and money so far", Command::Cost),
    entry("quit", &["exit"], "", "end; the session is kept", Command::Quit),
];

/// What was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A command and what stands behind it.
    Known(Command, String),
    /// None; perhaps this one.
    Unknown {
        /// As written.
        name: String,
        /// The one that is most like it.
        nearest: Option<&'static str>,
    },
}

/// Reads what was written behind the slash.
pub(crate) fn parse(text: &str) -> Parsed {
    let text = text.trim();
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let known = TABLE.iter().find(|entry| entry.name == name || entry.aliases.contains(&name));
    match known {
        Some(entry) => Parsed::Known(entry.command, argument.trim().to_owned()),
        None => Parsed::Unknown { name: name.to_owned(), nearest: nearest(name) },
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    let names = TABLE.iter().flat_map(|entry| entry.aliases.iter().copied().chain([entry.name]));
    let near = names.map(|known| (strsim::damerau_levenshtein(known, name), known));
    near.filter(|(distance, _)| *distance <= 2).min().map(|(_, known)| known)
}

/// The commands that a beginning may become.
pub(crate) fn completions(beginning: &str) -> Vec<&'static Entry> {
    let fits = |name: &str| name.starts_with(beginning);
    TABLE.iter().filter(|entry| fits(entry.name) || entry.aliases.iter().any(|alias| fits(alias))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_misspellings_are_told_apart() {
        assert_eq!(parse("mode plan "), Parsed::Known(Command::Mode, "plan".into()));
        assert_eq!(parse("exit"), Parsed::Known(Command::Quit, String::new()));
        let unknown = Parsed::Unknown { name: "sesions".into(), nearest: Some("sessions") };
        assert_eq!(parse("sesions"), unknown);
        assert_eq!(parse("xyzzy"), Parsed::Unknown { name: "xyzzy".into(), nearest: None });
    }

    #[test]
    fn a_beginning_is_completed() {
        let names = |text: &str| completions(text).iter().map(|entry| entry.name).collect::<Vec<_>>();
        assert_eq!(names("mo"), ["model", "mode"]);
        assert_eq!(names("cl"), ["new"]);
        assert_eq!(names("xyzzy"), Vec::<&str>::new());
        assert_eq!(names("").len(), TABLE.len());
    }
}
