//! `rein doctor`: what works here and what does not, each with the next step.
//! What is looked at is `checks`'; this prints it.

mod checks;

use std::fmt::Write;

use rein_tui::host::{Finding, FindingState};

pub use checks::{StoreCheck, findings};

use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::stdout;
use crate::terminal::neutralise;
use crate::wiring::{Setup, runtime};

/// Looks at everything that a run needs. Something that is wrong is a failure, so that scripts can ask.
pub fn execute(shared: &SharedArguments) -> Result<Exit, CommandError> {
    let runtime = runtime()?;
    let found = match Setup::load(shared, &RunArguments::default()) {
        Ok(setup) => runtime.block_on(findings(&setup, StoreCheck::Opens)),
        // The rest does not depend on them.
        Err(error) => {
            let mut found = vec![checks::wrong_settings(&error)];
            found.extend(checks::machine());
            found
        }
    };
    runtime.shutdown_background();
    let text = text(&found);
    stdout::print(|out| out.write_all(text.as_bytes()))?;
    let wrong = found.iter().any(|finding| finding.state == FindingState::Bad);
    Ok(if wrong { Exit::Failure } else { Exit::Success })
}

fn text(found: &[Finding]) -> String {
    let mut text = String::new();
    for finding in found {
        let word = match finding.state {
            FindingState::Good => "ok",
            FindingState::Note => "note",
            FindingState::Bad => "wrong",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{word:<6} {}", neutralise(&finding.what).replace('\n', "\n       "));
        if let Some(next) = &finding.next {
            let _ = writeln!(text, "       {}", neutralise(next).replace('\n', "\n       "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_is_wrong_has_a_next_step_below_it() {
        let finding = |state, what: &str, next: Option<&str>| Finding {
            state,
            what: what.to_owned(),
            next: next.map(str::to_owned),
        };
        let found = [
            finding(FindingState::Good, "shell: /bin/sh", None),
            finding(FindingState::Bad, "store: \u{1b}[2J", Some("look at it")),
        ];
        assert_eq!(text(&found), "ok     shell: /bin/sh\nwrong  store: \\u{1b}[2J\n       look at it\n");
    }
}
