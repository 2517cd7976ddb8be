//! What a printer of a run is: events in, text out. Printers do no I/O.

use rein_protocol::{Event, SessionInfo, TurnId};

use super::tally::RunResult;
use crate::streams::Printed;

/// Turns a run into text for the two streams.
pub trait Face: Send {
    /// The session is open and the turn has begun.
    fn begin(&mut self, session: &SessionInfo, turn: &TurnId, to: &mut Printed);
    /// Something happened.
    fn event(&mut self, event: &Event, to: &mut Printed);
    /// A signal came, and the end of the turn is being waited for.
    fn stopping(&mut self, to: &mut Printed);
    /// The turn is over.
    fn end(&mut self, result: &RunResult, to: &mut Printed);
}

/// What to say when a signal came.
pub const STOPPING: &str = "interrupting; once more to quit at once";
