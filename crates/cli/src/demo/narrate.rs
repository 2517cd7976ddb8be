//! The demo as it is told on the terminal: what the model says and does, and
//! where a person would be asked.

use std::collections::HashSet;
use std::path::PathBuf;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    Ask, Block, CallId, CallResult, CallStatus, EntryBody, Event, EventBody, PartId, PartKind, SessionInfo,
    Tier, TurnId,
};

use super::project::shortened;
use crate::headless::{Face, RunResult, STOPPING, words};
use crate::streams::Printed;
use crate::terminal::{Ink, neutralise, one_line};

const WIDTH: usize = 100;

/// The narrator. Everything goes to standard output.
pub struct Narrator {
    ink: Ink,
    project: PathBuf,
    /// The part whose words were printed last.
    speaking: Option<PartId>,
    /// Parts of which something was printed while they streamed.
    streamed: HashSet<PartId>,
    /// Calls that run a command, whose output is worth showing.
    commands: HashSet<CallId>,
    /// Whether the last line is complete.
    line_is_open: bool,
}

impl Narrator {
    /// For a project, whose path is left out of what is told.
    pub fn new(ink: Ink, project: PathBuf) -> Self {
        Self {
            ink,
            project,
            speaking: None,
            streamed: HashSet::new(),
            commands: HashSet::new(),
            line_is_open: false,
        }
    }

    fn line(&mut self, line: &str, to: &mut Printed) {
        if self.line_is_open {
            to.out("\n");
            self.line_is_open = false;
        }
        to.out(line);
        to.out("\n");
    }

    fn say(&mut self, part: &PartId, words: &str, to: &mut Printed) {
        if words.is_empty() {
            return;
        }
        if self.speaking.as_ref() != Some(part) {
            self.line("", to);
            self.speaking = Some(part.clone());
        }
        self.streamed.insert(part.clone());
        to.out(&neutralise(words));
        self.line_is_open = !words.ends_with('\n');
    }

    /// What a command prints, set off from what the model says.
    fn output(&mut self, text: &str, to: &mut Printed) {
        for line in neutralise(text.trim_end()).lines() {
            let line = self.ink.dim(&format!("    │ {line}"));
            self.line(&line, to);
        }
    }

    fn ask(&mut self, ask: &Ask, to: &mut Printed) {
        let title = one_line(&shortened(&ask.display.title, &self.project), WIDTH);
        let heading = format!("{} may the agent do this?  {}", self.ink.yellow("?"), self.ink.bold(&title));
        self.line("", to);
        self.line(&heading, to);
        for item in &ask.items {
            let reason = format!("    why it asks: {}", one_line(&item.reason, WIDTH));
            self.line(&reason, to);
        }
        for block in &ask.display.blocks {
            let Block::Diff { unified, .. } = block else { continue };
            self.diff(unified, to);
        }
        let answer = self.ink.yellow("    you would be asked here; the demo answers for you: allow once");
        self.line(&answer, to);
    }

    fn diff(&mut self, unified: &str, to: &mut Printed) {
        let shown = coloured_diff(unified, self.ink, "    ");
        self.line(shown.trim_end_matches('\n'), to);
    }

    fn entry(&mut self, body: &EntryBody, to: &mut Printed) {
        match body {
            EntryBody::Part { part, body: AssistantPart::Text { text }, .. }
                if !self.streamed.contains(part) =>
            {
                self.say(part, text, to);
            }
            EntryBody::Asked { ask } => self.ask(ask, to),
            EntryBody::CallStarted { call, intent } => {
                if intent.tier() == Tier::Exec {
                    self.commands.insert(call.clone());
                }
                let title = one_line(&shortened(&intent.display.title, &self.project), WIDTH);
                let line = format!("{} {title}", self.ink.cyan("→"));
                self.line(&line, to);
            }
            EntryBody::CallEnded { call, result } => self.call_ended(call, result, to),
            EntryBody::Part { .. }
            | EntryBody::Queued { .. }
            | EntryBody::User { .. }
            | EntryBody::StepStarted { .. }
            | EntryBody::StepEnded { .. }
            | EntryBody::Decided { .. }
            | EntryBody::TurnEnded { .. }
            | EntryBody::ModelChanged { .. }
            | EntryBody::ModeChanged { .. }
            | EntryBody::Recovered { .. }
            | EntryBody::QueueChanged { .. }
            | EntryBody::Pruned { .. }
            | EntryBody::Compacted { .. }
            | EntryBody::Travelled { .. }
            | EntryBody::PersonRan { .. }
            | EntryBody::Titled { .. }
            | EntryBody::EffortChanged { .. } => {}
        }
    }

    fn call_ended(&mut self, call: &CallId, result: &CallResult, to: &mut Printed) {
        if self.commands.contains(call) {
            self.output(&words(&result.content), to);
        }
        let mark = match result.status {
            CallStatus::Completed => self.ink.green("✓"),
            CallStatus::Failed
            | CallStatus::Refused
            | CallStatus::Rejected
            | CallStatus::Interrupted
            | CallStatus::NotRun
            | CallStatus::Withheld
            | CallStatus::Unknown => self.ink.red("✗"),
        };
        let title = one_line(&shortened(&result.display.title, &self.project), WIDTH);
        let summary =
            result.display.summary.as_deref().map(|summary| format!("  ({})", one_line(summary, WIDTH)));
        let line = format!("{mark} {title}{}", self.ink.dim(summary.as_deref().unwrap_or_default()));
        self.line(&line, to);
    }
}

impl Face for Narrator {
    fn begin(&mut self, _: &SessionInfo, _: &TurnId, _: &mut Printed) {}

    fn event(&mut self, event: &Event, to: &mut Printed) {
        match &event.body {
            EventBody::PartDelta { part, kind: PartKind::Text, delta, .. } => self.say(part, delta, to),
            EventBody::PartDelta { kind: PartKind::Reasoning | PartKind::Call { .. }, .. }
            | EventBody::CallOutput { .. }
            | EventBody::Job { .. }
            | EventBody::Compacting { .. }
            | EventBody::PersonRuns { .. } => {}
            EventBody::Notice { message } => self.line(&one_line(message, WIDTH), to),
            EventBody::Retrying { error, .. } => {
                let line = self.ink.yellow(&format!("… {}", one_line(error, WIDTH)));
                self.line(&line, to);
            }
            EventBody::Broken { message } => self.line(&one_line(message, WIDTH), to),
            EventBody::Entry { entry } => self.entry(&entry.body, to),
        }
    }

    fn stopping(&mut self, to: &mut Printed) {
        self.line(STOPPING, to);
    }

    fn end(&mut self, _: &RunResult, to: &mut Printed) {
        if self.line_is_open {
            self.line_is_open = false;
            to.out("\n");
        }
    }
}

/// A diff with its additions and removals told apart.
pub fn coloured_diff(unified: &str, ink: Ink, indent: &str) -> String {
    let mut shown = String::new();
    for line in neutralise(unified).lines() {
        let painted = match line.chars().next() {
            Some('+') => ink.green(line),
            Some('-') => ink.red(line),
            Some('@') => ink.cyan(line),
            _ => line.to_owned(),
        };
        shown.push_str(indent);
        shown.push_str(&painted);
        shown.push('\n');
    }
    shown
}
