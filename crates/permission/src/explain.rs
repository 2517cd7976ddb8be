//! A judgement about a command line with everything that led to it: what was
//! understood, and every rule that matched, whether it decided or not.

use std::path::Path;

use rein_protocol::{Effect, Intent};
use rein_shell::Analysis;

use crate::judgement::Judgement;
use crate::pattern::Subject;
use crate::policy::{LayerKind, Policy};
use crate::rule::{BASH, Rule};

/// Why a command line would run, ask or be refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The answer, with a detail for every part.
    pub judgement: Judgement,
    /// What the command line would do.
    pub analysis: Analysis,
    /// For every command of the analysis, the rules that match it, in the order of the layers.
    pub matched: Vec<Vec<(LayerKind, Rule)>>,
}

impl Policy {
    /// Judges a command line that would run in `cwd`, and says why.
    #[must_use]
    pub fn explain(&self, command: &str, cwd: &Path) -> Explanation {
        let effect =
            Effect::Execute { command: command.to_owned(), cwd: cwd.to_path_buf(), prelude: String::new() };
        let judgement = self.judge(&Intent { effects: vec![effect], ..Intent::default() });
        let analysis = self.analysis(command, cwd);
        let matched = (0..analysis.commands.len())
            .map(|index| self.rules.matching(BASH, &Subject::Command(self.names(&analysis, index))))
            .collect();
        Explanation { judgement, analysis, matched }
    }
}
