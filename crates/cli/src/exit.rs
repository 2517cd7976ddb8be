//! What the process tells the shell when it ends. These numbers are a promise
//! to scripts: they are documented in `--help` and never change their meaning.

use rein_protocol::StopReason;
use serde::{Serialize, Serializer};

use crate::signals::Signal;

/// How a run of the binary ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Success,
    /// The model, the store or rein itself failed.
    Failure,
    /// The arguments or the settings are wrong; nothing was begun.
    Usage,
    /// A call was not permitted, or the model repeated itself.
    Refused,
    /// A cap was reached before the work was done.
    Budget,
    /// A signal ended it.
    Interrupted(Signal),
}

/// The table in `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    the model finished and every call it made was permitted
  1    the model, the store or rein failed, or the answer was cut off or declined
  2    the arguments or the settings are wrong; nothing was begun
  3    a call was refused, or the model repeated itself; also when it answered all the same
  4    a cap was reached (--max-steps, --max-cost, --max-tokens, --max-time, or a day's)
  130  interrupted (SIGINT)
  143  terminated (SIGTERM, SIGHUP)";

/// Whether permission was missing for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permitted {
    /// Every call that was decided upon was allowed.
    All,
    /// At least one call was refused or rejected.
    Some,
}

impl Exit {
    /// The number for the shell.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Budget => 4,
            Self::Interrupted(signal) => signal.exit_code(),
        }
    }

    /// What a turn that ended like this means to the shell.
    pub fn of_turn(stop: StopReason, permitted: Permitted, signal: Option<Signal>) -> Self {
        match (stop, permitted) {
            (StopReason::EndTurn, Permitted::All) => Self::Success,
            (StopReason::EndTurn, Permitted::Some) | (StopReason::Rejected | StopReason::DoomLoop, _) => {
                Self::Refused
            }
            (StopReason::MaxSteps | StopReason::Budget, _) => Self::Budget,
            (StopReason::Interrupted, _) => Self::Interrupted(signal.unwrap_or(Signal::Interrupt)),
            (
                StopReason::ModelError
                | StopReason::Length
                | StopReason::Refusal
                | StopReason::InternalError
                | StopReason::VerifyFailed,
                _,
            ) => Self::Failure,
        }
    }
}

impl Serialize for Exit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.code())
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_call_shows_even_if_the_model_answered() {
        let exit = Exit::of_turn(StopReason::EndTurn, Permitted::Some, None);
        assert_eq!((exit, exit.code()), (Exit::Refused, 3));
        assert_eq!(Exit::of_turn(StopReason::EndTurn, Permitted::All, None), Exit::Success);
    }

    #[test]
    fn why_a_turn_stopped_outweighs_what_was_refused_on_the_way() {
        assert_eq!(Exit::of_turn(StopReason::MaxSteps, Permitted::Some, None), Exit::Budget);
        assert_eq!(Exit::of_turn(StopReason::ModelError, Permitted::Some, None), Exit::Failure);
        assert_eq!(Exit::of_turn(StopReason::DoomLoop, Permitted::All, None), Exit::Refused);
    }

    #[test]
    fn an_interrupted_turn_names_the_signal() {
        let terminated = Exit::of_turn(StopReason::Interrupted, Permitted::All, Some(Signal::Terminate));
        assert_eq!(terminated.code(), 143);
        assert_eq!(Exit::of_turn(StopReason::Interrupted, Permitted::All, None).code(), 130);
        // A turn that finished before the signal reached it is finished.
        assert_eq!(
            Exit::of_turn(StopReason::EndTurn, Permitted::All, Some(Signal::Interrupt)),
            Exit::Success
        );
    }
}
