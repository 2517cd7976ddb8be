//! `rein permission test`: a file of things that could be done, and what should
//! become of each.
//!
//! The file is TOML with `[[case]]` tables, or has one JSON object a line. What
//! is wrong with it is told with its line, before anything is judged.

use std::fmt::Write;
use std::path::Path;

use rein_permission::{Action, Layer, LayerKind, Rule, forms};
use rein_protocol::Mode;
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Spanned;

use super::subject::Subject;
use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::sessions::Form;
use crate::stdout;
use crate::terminal::neutralise;
use crate::wiring::Setup;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    case: Vec<Spanned<Case>>,
}

/// One expectation, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    cmd: Option<String>,
    edit: Option<String>,
    read: Option<String>,
    fetch: Option<String>,
    permission: Option<String>,
    pattern: Option<String>,
    expect: Option<Action>,
    must: Option<Must>,
    mode: Option<Mode>,
    rules: Option<Vec<Written>>,
    why: Option<String>,
    /// For whoever reads the file.
    #[serde(default, rename = "given")]
    _given: Option<String>,
    /// For whoever reads the file.
    #[serde(default, rename = "kind")]
    _kind: Option<String>,
}

/// How strict it has to be at least.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Must {
    Allow,
    #[serde(alias = "never-auto-allow")]
    Ask,
    Deny,
}

/// A rule of a case.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Written {
    /// `allow bash:git *`
    Text(String),
    Parts(Rule),
}

/// An expectation that can be checked.
#[derive(Debug)]
struct Expectation {
    line: usize,
    subject: Subject,
    expected: Expected,
    mode: Option<Mode>,
    rules: Option<Vec<Rule>>,
    why: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Exactly(Action),
    AtLeast(Action),
}

impl Expected {
    fn holds(self, found: Action) -> bool {
        match self {
            Self::Exactly(action) => found == action,
            Self::AtLeast(action) => found >= action,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Exactly(action) | Self::AtLeast(action @ Action::Deny) => action.name().to_owned(),
            Self::AtLeast(action) => format!("at least {}", action.name()),
        }
    }
}

/// What became of an expectation.
struct Checked {
    expectation: Expectation,
    found: Action,
    reasons: Vec<String>,
}

impl Checked {
    fn holds(&self) -> bool {
        self.expectation.expected.holds(self.found)
    }
}

pub(super) fn execute(shared: &SharedArguments, file: &Path, form: Form) -> Result<Exit, CommandError> {
    let setup = Setup::load(shared, &RunArguments::default())?;
    let text = std::fs::read_to_string(file).map_err(|error| {
        CommandError::usage(format!("{} cannot be read", file.display())).caused_by(error)
    })?;
    let wrong = |(line, message): (usize, String)| {
        CommandError::usage(format!("{}:{line}: {message}", file.display()))
            .hint("`rein permission test --help` shows how a case is written")
    };
    let cases = if text.trim_start().starts_with(['{', '/']) { lines(&text) } else { tables(&text) };
    let expectations = cases
        .and_then(|cases| {
            cases.into_iter().map(|(line, case)| expectation(line, case)).collect::<Result<Vec<_>, _>>()
        })
        .map_err(wrong)?;
    if expectations.is_empty() {
        return Err(wrong((1, "there is no case in it".to_owned())));
    }
    let checked: Vec<Checked> =
        expectations.into_iter().map(|expectation| check(&setup, expectation)).collect();
    let failed = checked.iter().filter(|checked| !checked.holds()).count();
    match form {
        Form::Json => stdout::print_json(&to_json(&checked))?,
        Form::Text => {
            setup.print_warnings();
            let text = to_text(file, &checked, failed);
            stdout::print(|out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(if failed == 0 { Exit::Success } else { Exit::Failure })
}

type Lined<T> = Result<T, (usize, String)>;

fn tables(text: &str) -> Lined<Vec<(usize, Case)>> {
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let document: Document = toml::from_str(text)
        .map_err(|error| (error.span().map_or(1, |span| line(span.start)), error.message().to_owned()))?;
    Ok(document.case.into_iter().map(|case| (line(case.span().start), case.into_inner())).collect())
}

fn lines(text: &str) -> Lined<Vec<(usize, Case)>> {
    let written = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//") && !line.starts_with('#')
    });
    written
        .map(|(index, line)| {
            let case = serde_json::from_str(line).map_err(|error| (index + 1, error.to_string()))?;
            Ok((index + 1, case))
        })
        .collect()
}

fn expectation(line: usize, case: Case) -> Lined<Expectation> {
    let wrong = |message: &str| (line, message.to_owned());
    let named = match (case.permission, case.pattern) {
        (Some(permission), Some(pattern)) => Some(Subject::named(&permission, &pattern)),
        (None, None) => None,
        _ => return Err(wrong("`permission` and `pattern` go together")),
    };
    let mut subjects = [
        case.cmd.map(Subject::Command),
        case.edit.map(|path| Subject::Edit(path.into())),
        case.read.map(|path| Subject::Read(path.into())),
        case.fetch.map(Subject::Fetch),
        named,
    ]
    .into_iter()
    .flatten();
    let (Some(subject), None) = (subjects.next(), subjects.next()) else {
        return Err(wrong(
            "a case has one of `cmd`, `edit`, `read`, `fetch`, or `permission` with `pattern`",
        ));
    };
    let expected = match (case.expect, case.must) {
        (Some(action), None) => Expected::Exactly(action),
        (None, Some(Must::Allow)) => Expected::Exactly(Action::Allow),
        (None, Some(Must::Ask)) => Expected::AtLeast(Action::Ask),
        (None, Some(Must::Deny)) => Expected::AtLeast(Action::Deny),
        _ => return Err(wrong("a case has either `expect` or `must`")),
    };
    let rules = match case.rules {
        None => None,
        Some(rules) => {
            let read = rules.into_iter().map(|rule| rule_of(rule, line)).collect::<Lined<Vec<_>>>()?;
            Some(read.into_iter().flatten().collect())
        }
    };
    Ok(Expectation { line, subject, expected, mode: case.mode, rules, why: case.why })
}

fn rule_of(written: Written, line: usize) -> Lined<Vec<Rule>> {
    match written {
        Written::Parts(rule) => Ok(vec![Rule { origin: format!("case at line {line}"), ..rule }]),
        Written::Text(text) => {
            let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
            let action =
                [Action::Allow, Action::Ask, Action::Deny].into_iter().find(|action| action.name() == word);
            let action =
                action.ok_or_else(|| (line, format!("`{text}` does not begin with allow, ask or deny")))?;
            forms::read(rest.trim(), action, &format!("case at line {line}"))
                .map(|understood| understood.rules)
                .map_err(|error| (line, format!("`{text}`: {error}")))
        }
    }
}

/// Judges a case: by the rules that hold here, or by its own and the administrator's.
fn check(setup: &Setup, expectation: Expectation) -> Checked {
    let mut layers = setup.layers();
    if let Some(rules) = &expectation.rules {
        layers.retain(|layer| layer.kind == LayerKind::Managed);
        layers.push(Layer { kind: LayerKind::User, rules: rules.clone() });
    }
    let mode = expectation.mode.unwrap_or(setup.settings().settings.mode);
    let judgement = expectation.subject.judged(&setup.policy(layers, mode));
    Checked { expectation, found: judgement.action, reasons: judgement.reasons }
}

fn to_text(file: &Path, checked: &[Checked], failed: usize) -> String {
    let mut text = String::new();
    for one in checked.iter().filter(|one| !one.holds()) {
        let Expectation { line, subject, expected, why, .. } = &one.expectation;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}:{line}: {}\n  expected {}, but it is {}: {}",
            file.display(),
            neutralise(&subject.shown()).replace('\n', "\\n"),
            expected.shown(),
            one.found.name(),
            neutralise(&one.reasons.join("; ")),
        );
        if let Some(why) = why {
            let _ = writeln!(text, "  why      {}", neutralise(why));
        }
    }
    let _ = match (failed, checked.len()) {
        (0, all) => writeln!(text, "{all} as expected"),
        (failed, all) => writeln!(text, "{failed} of {all} not as expected"),
    };
    text
}

fn to_json(checked: &[Checked]) -> Value {
    checked
        .iter()
        .map(|one| {
            json!({
                "line": one.expectation.line,
                "subject": one.expectation.subject.shown(),
                "expected": one.expectation.expected.shown(),
                "action": one.found.name(),
                "reasons": one.reasons,
                "why": one.expectation.why,
                "ok": one.holds(),
            })
        })
        .collect()
}
