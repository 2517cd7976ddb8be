//! Variables that change what programs do: `LD_PRELOAD`, `PATH`, `GIT_*`.

use crate::analysis::{Danger, Span};
use crate::effect::Effect;
use crate::glob;
use crate::run::{Invocation, Judged};
use crate::tables::Variable;
use crate::walk::Walker;
use crate::word::{Piece, Word};

/// What setting a variable means.
#[derive(Default)]
pub(crate) struct Setting {
    pub changes_lookup: bool,
}

impl Walker<'_> {
    /// Judges variables that are set for one command.
    pub(crate) fn environment(&self, invocation: &Invocation, judged: &mut Judged) {
        for (name, value) in &invocation.assignments {
            let Some(row) = self.setting(name, value) else { continue };
            judged.changes_lookup |= row.lookup;
            match row.class {
                Some(class) => {
                    judged.effect(Effect::Project, row.reason.as_str());
                    judged.hazard(class, row.reason.clone(), format!("{name}={}", value.shown()));
                }
                None => judged.effect(Effect::Project, row.reason.as_str()),
            }
        }
    }

    /// Judges a variable that the shell sets for itself and all that follows.
    pub(crate) fn variable(
        &mut self,
        name: &str,
        value: &Word,
        command: Option<usize>,
        span: Span,
    ) -> Setting {
        let Some(row) = self.setting(name, value) else { return Setting::default() };
        if let Some(class) = row.class {
            self.hazard(class, row.reason.clone(), format!("{name}={}", value.shown()), command, span);
        }
        Setting { changes_lookup: row.lookup }
    }

    /// The row for a variable, unless its value is harmless.
    fn setting(&self, name: &str, value: &Word) -> Option<&'static Variable> {
        let row = self.tables.variable(name)?;
        if row.quiet {
            return None;
        }
        let literal = value.literal();
        if literal.is_some_and(|value| row.unless.iter().any(|pattern| glob::matches(pattern, value))) {
            return None;
        }
        if name == "PATH" && self.path_is_usual(value) {
            return None;
        }
        Some(row)
    }

    /// Whether every directory of a `PATH` is one that people keep their tools in, or what was there before.
    fn path_is_usual(&self, value: &Word) -> bool {
        let home = self.surroundings.home;
        let mut directories = vec![String::new()];
        for piece in value.pieces() {
            match piece {
                Piece::Text(text) => {
                    for (index, part) in text.split(':').enumerate() {
                        if index > 0 {
                            directories.push(String::new());
                        }
                        if let Some(last) = directories.last_mut() {
                            last.push_str(part);
                        }
                    }
                }
                Piece::Hole(hole) if matches!(hole.shown.as_str(), "$PATH" | "${PATH}") => {
                    if let Some(last) = directories.last_mut() {
                        last.push_str("$PATH");
                    }
                }
                Piece::Glob(_) | Piece::Hole(_) => return false,
            }
        }
        directories.iter().all(|directory| {
            directory == "$PATH"
                || directory.starts_with('/') && self.tables.lookup.find(directory, home).is_some()
        })
    }

    /// A file that holds data of a whole device, or the system's memory.
    pub(crate) fn device(
        &mut self,
        word: &Word,
        usage: crate::analysis::Usage,
        command: Option<usize>,
        span: Span,
    ) {
        use crate::analysis::Usage;
        let writes = matches!(usage, Usage::Write | Usage::Delete | Usage::DeleteTree);
        let Some(path) = word.pieces().first().filter(|_| writes).map(|_| word.shown()) else { return };
        if let Some(reason) = self.tables.devices.find(&path, None).filter(|_| path.starts_with('/')) {
            self.hazard(Danger::Catastrophic, reason, path.clone(), command, span);
        }
    }
}
