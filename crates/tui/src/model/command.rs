//! Slash commands: the one table, and which line of it was meant. What each
//! does is `perform`'s.

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Keys,
    Model,
    Effort,
    Mode,
    Plan,
    Compact,
    Handoff,
    Sessions,
    Fork,
    Tree,
    New,
    Rename,
    Permissions,
    Context,
    Cost,
    Stats,
    Diff,
    Copy,
    Export,
    Doctor,
    Config,
    Theme,
    Continue,
    Jobs,
    Queue,
    Image,
    Transcript,
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
    entry("help", &[], "", "keys and commands", Command::Help),
    entry("model", &[], "[provider/model]", "see or change the model", Command::Model),
    entry(
        "effort",
        &["think"],
        "[off|minimal|low|medium|high|max]",
        "how much the model thinks",
        Command::Effort,
    ),
    entry("mode", &[], "[tight|write|free|plan]", "how much runs without asking", Command::Mode),
    entry("plan", &[], "", "only look; withhold the rest", Command::Plan),
    entry("compact", &[], "[focus]", "replace what was said so far by a summary", Command::Compact),
    entry("handoff", &[], "[focus]", "go on in a new session with a summary", Command::Handoff),
    entry("resume", &["sessions"], "", "go on with another session", Command::Sessions),
    entry("fork", &[], "", "go on in a copy; this session stays as it is", Command::Fork),
    entry("tree", &["rewind"], "", "every branch of this session; go to an earlier place", Command::Tree),
    entry("new", &["clear"], "", "begin a new session", Command::New),
    entry("rename", &["title"], "[name]", "name this session", Command::Rename),
    entry("permissions", &["allowed"], "", "what is allowed for longer, to take back", Command::Permissions),
    entry("context", &[], "", "what the model is sent, and how full its window is", Command::Context),
    entry("cost", &["usage"], "", "tokens and money so far", Command::Cost),
    entry("stats", &[], "", "turns, calls and changes in figures", Command::Stats),
    entry("diff", &["changes"], "", "what was changed in this session", Command::Diff),
    entry("copy", &[], "", "the last answer to the clipboard", Command::Copy),
    entry("export", &[], "[file]", "write the session as Markdown", Command::Export),
    entry("doctor", &[], "", "look at everything that a run needs", Command::Doctor),
    entry("config", &["settings"], "", "every setting, to see and change", Command::Config),
    entry("theme", &[], "[name]", "colours", Command::Theme),
    entry("keys", &[], "", "which key does what", Command::Keys),
    entry("continue", &[], "", "go on with a turn that was cut off", Command::Continue),
    entry("jobs", &[], "", "commands in the background", Command::Jobs),
    entry("queue", &[], "", "messages that wait, to edit or remove", Command::Queue),
    entry("image", &[], "file", "attach a picture to what you write", Command::Image),
    entry("transcript", &["search"], "[words]", "the whole session, to read and search", Command::Transcript),
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
    let names = || TABLE.iter().flat_map(|entry| entry.aliases.iter().copied().chain([entry.name]));
    let near = names().map(|known| (strsim::damerau_levenshtein(known, name), known));
    let close = near.filter(|(distance, _)| *distance <= 2).min().map(|(_, known)| known);
    // A long word of which the end is missing is still that word.
    close.or_else(|| names().find(|known| name.len() > 2 && known.starts_with(name)))
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
        assert_eq!(parse("perm"), Parsed::Unknown { name: "perm".into(), nearest: Some("permissions") });
    }

    #[test]
    fn a_beginning_is_completed() {
        let names = |text: &str| completions(text).iter().map(|entry| entry.name).collect::<Vec<_>>();
        assert_eq!(names("mo"), ["model", "mode"]);
        assert_eq!(names("cl"), ["new"]);
        assert_eq!(names("xyzzy"), Vec::<&str>::new());
        assert_eq!(names("").len(), TABLE.len());
    }

    #[test]
    fn every_name_is_there_once() {
        let names: Vec<&str> =
            TABLE.iter().flat_map(|entry| entry.aliases.iter().copied().chain([entry.name])).collect();
        let unique: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
    }
}
