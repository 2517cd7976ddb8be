//! Reads calls that are JSON: `{"name": …, "arguments": …}`, several of them, a
//! list of them, or the arguments alone behind a name.
//!
//! Owns the end of a call: it is where the value ends, whatever tags its strings
//! hold. The arguments are told while they come if the name comes first.

use super::balance::{Balance, Quotes};
use super::json_head::{early, extracted, guessed_name, has_arguments, parsed};
use super::offered::OfferedTools;
use super::opening::{Body, End, Found, Match, Step, find, follows};
use super::scanner::DialectEvent;

/// A call whose name comes later than this is told when it is whole.
const LATEST_NAME: usize = 512;

/// Reads calls.
pub(super) struct JsonBody {
    /// The name, if it came before.
    named: Option<String>,
    /// What ends the call, if it is not the value itself.
    closers: &'static [&'static str],
    phase: Phase,
    /// Where the current value begins, behind what was skipped and not consumed.
    base: usize,
    /// How much of the current value has been looked at.
    at: usize,
    balance: Balance,
    started: Option<Started>,
    calls: usize,
    in_list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Seeking,
    Value,
    /// Something that is no object, up to a closer.
    Raw,
    Closing,
}

/// A call that has been announced. Places count from the beginning of its value.
struct Started {
    tool: String,
    arguments_at: usize,
    arguments_end: Option<usize>,
    told: usize,
}

impl JsonBody {
    /// Objects with a name and arguments.
    pub(super) fn calls(closers: &'static [&'static str]) -> Box<Self> {
        Box::new(Self::new(None, closers))
    }

    /// The arguments of a call.
    pub(super) fn named(name: &str, closers: &'static [&'static str]) -> Box<Self> {
        Box::new(Self::new(Some(name.to_owned()), closers))
    }

    fn new(named: Option<String>, closers: &'static [&'static str]) -> Self {
        Self {
            named,
            closers,
            phase: Phase::Seeking,
            base: 0,
            at: 0,
            balance: Balance::new(Quotes::Json),
            started: None,
            calls: 0,
            in_list: false,
        }
    }

    fn announce(&mut self, written: &str, at: usize, tools: &OfferedTools, out: &mut Vec<DialectEvent>) {
        let tool = tools.name(written);
        out.push(DialectEvent::CallStarted { tool: tool.clone() });
        self.started = Some(Started { tool, arguments_at: at, arguments_end: None, told: at });
    }

    /// Looks for the beginning of a value.
    fn seek(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Seek {
        if let (Some(name), None) = (self.named.clone(), &self.started) {
            self.announce(&name, 0, tools, out);
        }
        let rest = text.trim_start();
        let blanks = text.len() - rest.len();
        let more = || if end == End::More { Seek::More } else { Seek::Nothing };
        if rest.is_empty() {
            return more();
        }
        if let Some(fence) = rest.strip_prefix("```") {
            let Some(line) = fence.find('\n') else { return more() };
            return Seek::Skip(blanks + 3 + line + 1);
        }
        if end == End::More && "```".starts_with(rest) {
            return Seek::More;
        }
        match rest.chars().next() {
            Some('[') if self.named.is_none() && !self.in_list => {
                self.in_list = true;
                Seek::Skip(blanks + 1)
            }
            Some('{') => match rest.get(1..).unwrap_or_default().trim_start().chars().next() {
                None if end == End::More => Seek::More,
                Some('{') => Seek::Skip(blanks + 1),
                _ => Seek::Value(blanks),
            },
            _ => match follows(rest, self.closers, end) {
                Match::More => Seek::More,
                Match::Yes(_) => Seek::Nothing,
                Match::No if self.named.is_some() => Seek::Raw,
                Match::No => Seek::Nothing,
            },
        }
    }

    /// Follows the value; where it ends, if it does.
    fn follow(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Follow {
        if self.started.is_none()
            && let Some((name, at)) = early(text).filter(|(_, at)| *at <= LATEST_NAME)
        {
            let name = name.to_owned();
            self.announce(&name, at, tools, out);
        }
        let floor = usize::from(self.named.is_none());
        while let Some(character) = text.get(self.at..).and_then(|rest| rest.chars().next()) {
            if self.balance.in_string() && character == '<' && self.breaks_off(text) {
                match follows(text.get(self.at..).unwrap_or_default(), self.closers, end) {
                    Match::Yes(_) => return Follow::Broken,
                    Match::More => break,
                    Match::No => {}
                }
            }
            let whole = self.balance.feed(character);
            self.at += character.len_utf8();
            let (at, depth) = (self.at, self.balance.depth());
            if let Some(started) = &mut self.started
                && started.arguments_end.is_none()
                && at > started.arguments_at
                && depth == floor
                && matches!(character, '}' | ']')
            {
                started.arguments_end = Some(at);
            }
            if whole {
                return Follow::Whole;
            }
        }
        self.tell(text, self.at, out);
        if end == End::More { Follow::More } else { Follow::Broken }
    }

    /// No string of JSON has a bare end of line: a closer on the next line ends it, however it is quoted.
    fn breaks_off(&self, text: &str) -> bool {
        text.get(..self.at).is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with('\n'))
    }

    /// Tells what has come of the arguments.
    fn tell(&mut self, text: &str, until: usize, out: &mut Vec<DialectEvent>) {
        let Some(started) = &mut self.started else { return };
        let until = started.arguments_end.unwrap_or(until);
        if let Some(delta) = text.get(started.told..until).filter(|delta| !delta.is_empty()) {
            out.push(DialectEvent::CallDelta(delta.to_owned()));
            started.told = until;
        }
    }

    /// The value is there, or as much of it as will ever be. Whether it is a call.
    fn conclude(
        &mut self,
        text: &str,
        whole: bool,
        end: End,
        tools: &OfferedTools,
        out: &mut Vec<DialectEvent>,
    ) -> bool {
        self.tell(text, text.len(), out);
        let balance = std::mem::replace(&mut self.balance, Balance::new(Quotes::Json));
        let floor = usize::from(self.named.is_none());
        self.at = 0;
        let mend = |piece: &str, depth: usize| {
            let missing = balance.missing(depth).filter(|_| end == End::Natural && !whole)?;
            Some((format!("{piece}{missing}"), missing))
        };
        if let Some(started) = self.started.take() {
            let until = started.arguments_end.unwrap_or(text.len());
            let written = text.get(started.arguments_at..until).unwrap_or_default();
            let mended = mend(written, floor)
                .filter(|(mended, _)| started.arguments_end.is_none() && parsed(mended).is_some());
            let arguments = match mended {
                Some((mended, missing)) => {
                    out.push(DialectEvent::CallDelta(missing));
                    tools.arguments(&started.tool, &mended)
                }
                None if started.arguments_end.is_none() => unfinished(written),
                None => tools.arguments(&started.tool, written),
            };
            out.push(DialectEvent::CallCompleted { tool: started.tool, arguments });
            return true;
        }
        let value = match whole {
            true => parsed(text),
            false => mend(text, 0).and_then(|(mended, _)| parsed(&mended)).filter(has_arguments),
        };
        let (name, arguments) = match value.as_ref().and_then(extracted) {
            Some((name, serde_json::Value::String(text))) => (name, text),
            Some((name, arguments)) => (name, arguments.to_string()),
            // Of a value that breaks off before its arguments nothing can be made.
            None if !whole && !text.contains("\"arguments\"") => return false,
            None => match guessed_name(text) {
                Some(name) => (name.to_owned(), unfinished(text)),
                None => return false,
            },
        };
        emit(tools, &name, &arguments, out);
        true
    }

    /// What follows a value.
    fn close(&mut self, text: &str, end: End) -> Close {
        if self.closers.is_empty() && !self.in_list {
            return Close::Over(0);
        }
        let mut eaten = 0;
        loop {
            let rest = text.get(eaten..).unwrap_or_default();
            let trimmed = rest.trim_start();
            let blanks = rest.len() - trimmed.len();
            match follows(rest, self.closers, end) {
                Match::Yes(length) => return Close::Over(eaten + length),
                Match::More => return Close::More,
                Match::No => {}
            }
            match trimmed.chars().next() {
                None if end == End::More => return Close::More,
                None => return Close::Over(eaten),
                Some('}' | ';') => eaten += blanks + 1,
                Some(']') if self.in_list => {
                    eaten += blanks + 1;
                    if self.closers.is_empty() {
                        return Close::Over(eaten);
                    }
                }
                Some(',') if self.in_list => eaten += blanks + 1,
                Some('{') if self.named.is_none() => return Close::Next(eaten + blanks),
                Some('`') if trimmed.starts_with("```") => eaten += blanks + 3,
                Some('`') if end == End::More && "```".starts_with(trimmed) => return Close::More,
                Some(_) => return Close::Over(eaten),
            }
        }
    }
}

enum Seek {
    More,
    Skip(usize),
    Value(usize),
    Raw,
    Nothing,
}

enum Follow {
    More,
    Whole,
    Broken,
}

enum Close {
    More,
    Next(usize),
    Over(usize),
}

impl Body for JsonBody {
    fn step(&mut self, text: &str, end: End, tools: &OfferedTools, out: &mut Vec<DialectEvent>) -> Step {
        let mut done = self.base;
        loop {
            let rest = text.get(done..).unwrap_or_default();
            match self.phase {
                Phase::Seeking => match self.seek(rest, end, tools, out) {
                    Seek::More => return self.wait(done),
                    Seek::Skip(length) => done += length,
                    Seek::Value(blanks) => {
                        done += blanks;
                        self.phase = Phase::Value;
                    }
                    Seek::Raw => self.phase = Phase::Raw,
                    Seek::Nothing if self.started.is_some() => {
                        let begun = end == End::Cut && rest.trim().is_empty();
                        self.without_arguments(begun, out);
                        self.phase = Phase::Closing;
                    }
                    Seek::Nothing if self.calls == 0 => return Step::NotACall,
                    Seek::Nothing => return Step::Over(done),
                },
                Phase::Value => {
                    let followed = self.follow(rest, end, tools, out);
                    let (length, whole) = match followed {
                        Follow::More => return self.wait(done),
                        Follow::Whole => (self.at, true),
                        Follow::Broken => (self.at, false),
                    };
                    let value = rest.get(..length).unwrap_or_default();
                    if !self.conclude(value, whole, end, tools, out) && self.calls == 0 {
                        return Step::NotACall;
                    }
                    self.calls += 1;
                    done += length;
                    self.phase = Phase::Closing;
                }
                Phase::Raw => {
                    let (length, over) = match find(rest, 0, self.closers, end) {
                        Found::Tag(at, _) => (at, true),
                        Found::Half(_) => (0, false),
                        Found::Nothing => (rest.len(), end != End::More),
                    };
                    if !over {
                        return self.wait(done);
                    }
                    let written = rest.get(..length).unwrap_or_default();
                    if let Some(started) = self.started.take() {
                        let arguments = tools.arguments(&started.tool, written.trim());
                        out.push(DialectEvent::CallDelta(written.trim().to_owned()));
                        out.push(DialectEvent::CallCompleted { tool: started.tool, arguments });
                    }
                    self.calls += 1;
                    done += length;
                    self.phase = Phase::Closing;
                }
                Phase::Closing => match self.close(rest, end) {
                    Close::More => return self.wait(done),
                    Close::Over(length) => return Step::Over(done + length),
                    Close::Next(length) => {
                        done += length;
                        self.phase = Phase::Seeking;
                    }
                },
            }
        }
    }
}

impl JsonBody {
    /// Until it is sure that it is a call, nothing is consumed.
    fn wait(&mut self, done: usize) -> Step {
        let is_sure = self.calls > 0 || self.named.is_some();
        self.base = if is_sure { 0 } else { done };
        Step::More(if is_sure { done } else { 0 })
    }

    fn without_arguments(&mut self, is_cut: bool, out: &mut Vec<DialectEvent>) {
        if let Some(started) = self.started.take() {
            let arguments = if is_cut { unfinished("") } else { "{}".to_owned() };
            out.push(DialectEvent::CallCompleted { tool: started.tool, arguments });
        }
        self.calls += 1;
    }
}

/// A whole call at once.
pub(super) fn emit(tools: &OfferedTools, name: &str, arguments: &str, out: &mut Vec<DialectEvent>) {
    let tool = tools.name(name);
    let arguments = tools.arguments(&tool, arguments);
    out.push(DialectEvent::CallStarted { tool: tool.clone() });
    out.push(DialectEvent::CallDelta(arguments.clone()));
    out.push(DialectEvent::CallCompleted { tool, arguments });
}

/// Arguments that broke off. They must not read as if there had been none.
pub(super) fn unfinished(written: &str) -> String {
    if written.trim().is_empty() { "{".to_owned() } else { written.to_owned() }
}
