//! The format for persons and pipes: the model's words on standard output, and
//! what the agent does, in short lines, on standard error.

use std::collections::HashMap;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallResult, CallStatus, EntryBody, Event, EventBody, PartId, PartKind, SessionInfo, StopReason, TurnId,
};

use super::face::{Face, STOPPING};
use super::tally::{RunResult, breaks_off, words};
use crate::exit::Exit;
use crate::streams::Printed;
use crate::terminal::{Ink, Target, neutralise, one_line};

/// How wide a line about a call may get.
const WIDTH: usize = 100;

/// Whether the agent's doings are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A line when a call begins and one when it ends.
    Told,
    /// Only what was refused and what failed in the end.
    Quiet,
}

/// The printer.
pub struct Text {
    out: Target,
    ink: Ink,
    activity: Activity,
    /// How much of each part that is not complete yet has been printed, in bytes.
    streamed: HashMap<PartId, usize>,
    current: Option<PartId>,
    /// The step broke off in the middle of its words: what comes next goes on with them.
    cut: bool,
    /// Line feeds at the end of what has been printed; none if nothing has.
    trailing: Option<usize>,
}

impl Text {
    /// For streams of these kinds.
    pub fn new(out: Target, ink: Ink, activity: Activity) -> Self {
        Self { out, ink, activity, streamed: HashMap::new(), current: None, cut: false, trailing: None }
    }

    /// Words of a part of the answer.
    fn say(&mut self, part: &PartId, words: &str, to: &mut Printed) {
        if words.is_empty() {
            return;
        }
        if self.current.as_ref() != Some(part) {
            if !std::mem::take(&mut self.cut)
                && let Some(trailing) = self.trailing
            {
                self.write(&"\n".repeat(2_usize.saturating_sub(trailing)), to);
            }
            self.current = Some(part.clone());
        }
        *self.streamed.entry(part.clone()).or_default() += words.len();
        let words = self.out.text(words).into_owned();
        self.write(&words, to);
    }

    fn write(&mut self, text: &str, to: &mut Printed) {
        if text.is_empty() {
            return;
        }
        to.out(text);
        let feeds = text.len() - text.trim_end_matches('\n').len();
        let before = if feeds == text.len() { self.trailing.unwrap_or(0) } else { 0 };
        self.trailing = Some(before + feeds);
    }

    /// A line on standard error, which may be the same terminal.
    fn note(&mut self, line: &str, to: &mut Printed) {
        if self.out == Target::Terminal {
            self.end_line(to);
        }
        to.note(line);
    }

    fn activity(&mut self, line: &str, to: &mut Printed) {
        match self.activity {
            Activity::Told => self.note(line, to),
            Activity::Quiet => {}
        }
    }

    fn end_line(&mut self, to: &mut Printed) {
        if self.trailing == Some(0) {
            self.write("\n", to);
        }
    }

    fn entry(&mut self, body: &EntryBody, to: &mut Printed) {
        match body {
            EntryBody::Part { part, body: AssistantPart::Text { text }, .. } => {
                let streamed = self.streamed.get(part).copied().unwrap_or(0);
                let rest = text.get(streamed..).unwrap_or_default();
                self.say(part, rest, to);
                self.streamed.remove(part);
            }
            EntryBody::CallStarted { intent, .. } => {
                let line = format!("{} {}", self.ink.cyan("→"), one_line(&intent.display.title, WIDTH));
                self.activity(&line, to);
            }
            EntryBody::CallEnded { result, .. } => self.call_ended(result, to),
            EntryBody::Recovered { message } => {
                let line = self.ink.dim(&format!("· {}", one_line(message, WIDTH)));
                self.activity(&line, to);
            }
            EntryBody::Compacted { compaction } => {
                let (before, after) = (compaction.tokens_before, compaction.tokens_after);
                let line = self.ink.dim(&format!("· conversation compacted: {before} tokens, now {after}"));
                self.activity(&line, to);
            }
            EntryBody::StepEnded { finish, .. } => {
                self.cut = breaks_off(finish) && self.current.is_some();
            }
            EntryBody::Part { body: AssistantPart::Call(_), .. } | EntryBody::User { .. } => {
                self.current = None
            }
            EntryBody::Part { .. }
            | EntryBody::Queued { .. }
            | EntryBody::StepStarted { .. }
            | EntryBody::Asked { .. }
            | EntryBody::Decided { .. }
            | EntryBody::TurnEnded { .. }
            | EntryBody::ModelChanged { .. }
            | EntryBody::ModeChanged { .. }
            | EntryBody::QueueChanged { .. }
            | EntryBody::Pruned { .. }
            | EntryBody::Travelled { .. }
            | EntryBody::PersonRan { .. }
            | EntryBody::Titled { .. }
            | EntryBody::EffortChanged { .. } => {}
        }
    }

    fn call_ended(&mut self, result: &CallResult, to: &mut Printed) {
        let title = one_line(&result.display.title, WIDTH);
        let summary = match &result.display.summary {
            Some(summary) => format!(" ({})", one_line(summary, WIDTH)),
            None => String::new(),
        };
        let (ink, failed) = (self.ink, self.ink.red("✗"));
        match result.status {
            CallStatus::Completed => {
                self.activity(&format!("{} {title}{}", ink.green("✓"), ink.dim(&summary)), to)
            }
            CallStatus::Failed => self.activity(&format!("{failed} {title}{summary}"), to),
            CallStatus::Interrupted => self.activity(&format!("{failed} {title} (interrupted)"), to),
            CallStatus::Unknown => {
                self.activity(&format!("{failed} {title} (interrupted, effects unknown)"), to)
            }
            CallStatus::Withheld => self.activity(&ink.dim(&format!("- {title} (withheld)")), to),
            CallStatus::NotRun => self.activity(&ink.dim(&format!("- {title} (not run)")), to),
            CallStatus::Refused | CallStatus::Rejected => {
                self.note(&format!("{failed} {title}"), to);
                let told = words(&result.content);
                self.note(&format!("    {}", neutralise(told.trim()).replace('\n', "\n    ")), to);
            }
        }
    }
}

impl Face for Text {
    fn begin(&mut self, _: &SessionInfo, _: &TurnId, _: &mut Printed) {}

    fn event(&mut self, event: &Event, to: &mut Printed) {
        match &event.body {
            EventBody::PartDelta { part, kind: PartKind::Text, delta, .. } => self.say(part, delta, to),
            EventBody::PartDelta { kind: PartKind::Reasoning | PartKind::Call { .. }, .. }
            | EventBody::CallOutput { .. }
            | EventBody::Job { .. }
            | EventBody::PersonRuns { .. }
            | EventBody::Broken { .. } => {}
            EventBody::Compacting { .. } => {
                let line = self.ink.dim("… making room in the model's window");
                self.activity(&line, to);
            }
            EventBody::Notice { message } => {
                let line = self.ink.yellow(&format!("… {}", one_line(message, WIDTH)));
                self.activity(&line, to);
            }
            EventBody::Retrying { attempt, delay_ms, error, .. } => {
                let seconds = delay_ms.div_ceil(1000);
                let line = format!("… {}; try {attempt} in {seconds} s", one_line(error, WIDTH));
                let line = self.ink.yellow(&line);
                self.activity(&line, to);
            }
            EventBody::Entry { entry } => self.entry(&entry.body, to),
        }
    }

    fn stopping(&mut self, to: &mut Printed) {
        self.note(STOPPING, to);
    }

    fn end(&mut self, result: &RunResult, to: &mut Printed) {
        self.end_line(to);
        closing_words(result, self.ink, to);
    }
}

/// Why the run was not a success and how to go on, on standard error.
pub fn closing_words(result: &RunResult, ink: Ink, to: &mut Printed) {
    if let (StopReason::EndTurn, Some(message)) = (result.stop_reason, &result.message) {
        match result.withheld.is_empty() {
            true => to.note(&format!("{} {}", ink.yellow("warning:"), neutralise(message.trim()))),
            false => told("plan:", message, ink, to),
        }
    }
    if result.exit_code == Exit::Success {
        return;
    }
    match (result.stop_reason, &result.message) {
        // What was refused has been told where it happened.
        (StopReason::EndTurn, _) => {}
        (StopReason::Interrupted, _) => to.note(&ink.yellow("interrupted")),
        (stop, Some(message)) => failure(stop, message, ink, to),
        (stop, None) => failure(stop, without_words(stop), ink, to),
    }
    to.note(&format!("{} rein --resume {}", ink.cyan("resume with:"), result.session));
}

/// What there is to know of a run that went well, and what to do next.
fn told(label: &str, message: &str, ink: Ink, to: &mut Printed) {
    for (index, line) in neutralise(message.trim()).lines().enumerate() {
        match (index, line.strip_prefix("hint: ")) {
            (0, _) => to.note(&format!("{} {line}", ink.yellow(label))),
            (_, Some(hint)) => to.note(&format!("{} {hint}", ink.cyan("hint:"))),
            (_, None) => to.note(&format!("  {line}")),
        }
    }
}

/// What went wrong, and on lines of their own what to do about it.
fn failure(stop: StopReason, message: &str, ink: Ink, to: &mut Printed) {
    let message = neutralise(message.trim());
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    to.note(&format!("{} {first} ({})", ink.red("error:"), stop.name()));
    for line in lines {
        match line.trim_start().strip_prefix("hint: ") {
            Some(hint) => to.note(&format!("{} {hint}", ink.cyan("hint:"))),
            None => to.note(&format!("  {line}")),
        }
    }
}

fn without_words(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "the turn ended",
        StopReason::MaxSteps => "the cap on steps was reached; raise it with --max-steps",
        StopReason::DoomLoop => "the model repeated itself",
        StopReason::Rejected => "a call was rejected",
        StopReason::Interrupted => "the turn was interrupted",
        StopReason::ModelError => "the model failed",
        StopReason::Length => "the model's output limit cut its answer",
        StopReason::Refusal => "the model declined to answer",
        StopReason::Budget => "the budget is spent",
        StopReason::VerifyFailed => "the check went on failing",
        StopReason::InternalError => "rein failed",
    }
}
