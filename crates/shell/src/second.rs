//! A second reader, tree-sitter's grammar for bash: an independent opinion on
//! where commands begin.
//!
//! Our own reader follows bash more closely, and decides. But a mistake in it
//! would hide a command, so whatever the second reader takes for a command that
//! ours does not, and whatever it cannot read, makes the line unknown. It can
//! only make a line louder.

use crate::analysis::{Reason, Span};
use crate::syntax::Parsed;
use crate::syntax::tree::{Assigned, Element, Kind, Node, Operation, Part, RawWord, Script, Test};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser, Tree};

/// How much text outside of here-documents is read twice.
const LONGEST: usize = 48 * 1024;

/// How often the second reader may report progress, every hundred operations, before it is stopped.
const PROGRESS: usize = 20_000;

/// Where the second reader disagrees.
pub fn check(text: &str, parsed: &Parsed) -> Option<(Span, Reason)> {
    if !parsed.oddities.is_empty() {
        // Unknown already.
        return None;
    }
    let whole = Span { start: 0, end: text.len() };
    let bodies = parsed.documents.iter().map(|document| document.span);
    let elsewhere: usize = bodies.map(|span| span.end.saturating_sub(span.start)).sum();
    if text.len().saturating_sub(elsewhere) > LONGEST {
        return Some((whole, Reason::Limit("the text is too long to be read twice")));
    }
    let Some(tree) = read(text) else {
        return Some((whole, Reason::Limit("another reader of bash did not get to its end")));
    };
    disagreement(&tree, parsed)
}

fn read(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut reports = 0;
    let mut progress = |_: &_| {
        reports += 1;
        if reports > PROGRESS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

fn disagreement(tree: &Tree, parsed: &Parsed) -> Option<(Span, Reason)> {
    let ours = beginnings(parsed);
    let mut detached = parsed.detached.clone();
    detached.sort_by_key(|span| span.start);
    // Spans nest but do not overlap, so the widest before a place decides.
    let mut ends: Vec<usize> = Vec::with_capacity(detached.len());
    for span in &detached {
        ends.push(ends.last().copied().unwrap_or_default().max(span.end));
    }
    let covered = |at: usize| {
        let before = detached.partition_point(|span| span.start <= at);
        before.checked_sub(1).and_then(|index| ends.get(index)).is_some_and(|end| at < *end)
    };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let span = Span { start: node.start_byte(), end: node.end_byte() };
        if node.is_error() || node.is_missing() {
            return Some((span, Reason::Ambiguous("another reader of bash cannot read this")));
        }
        if node.kind() == "command_name" && !ours.contains(&span.start) && !covered(span.start) {
            return Some((span, Reason::Ambiguous("another reader of bash sees a command here")));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

/// Something of the tree that is still to be looked at.
enum Task<'t> {
    Script(&'t Script),
    Node(&'t Node),
    Parts(&'t [Part]),
    Elements(&'t [Element]),
}

/// Where our reader has commands begin.
fn beginnings(parsed: &Parsed) -> BTreeSet<usize> {
    let mut found: BTreeSet<usize> = parsed.keywords.iter().copied().collect();
    let mut tasks = vec![Task::Script(&parsed.script)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Script(script) => {
                for step in &script.steps {
                    let pipelines =
                        std::iter::once(&step.first).chain(step.rest.iter().map(|(_, next)| next));
                    tasks.extend(pipelines.flat_map(|pipeline| &pipeline.commands).map(Task::Node));
                }
            }
            Task::Node(node) => {
                tasks.extend(
                    node.redirections.iter().map(|redirection| Task::Parts(&redirection.target.parts)),
                );
                node_tasks(node, &mut found, &mut tasks);
            }
            Task::Parts(parts) => parts.iter().for_each(|part| part_tasks(part, &mut tasks)),
            Task::Elements(elements) => {
                for element in elements {
                    tasks.push(Task::Parts(&element.value.parts));
                    tasks.extend(element.subscript.as_deref().map(Task::Parts));
                }
            }
        }
    }
    found
}

fn node_tasks<'t>(node: &'t Node, found: &mut BTreeSet<usize>, tasks: &mut Vec<Task<'t>>) {
    let word = |word: &'t RawWord| Task::Parts(&word.parts);
    match &node.kind {
        Kind::Simple(simple) => {
            found.extend(simple.words.first().map(|word| word.span.start));
            tasks.extend(simple.words.iter().map(word));
            for assignment in &simple.assignments {
                tasks.extend(assignment.subscript.as_deref().map(Task::Parts));
                tasks.push(match &assignment.value {
                    Assigned::Word(value) => word(value),
                    Assigned::Array(elements) => Task::Elements(elements),
                });
            }
        }
        Kind::Subshell(script) | Kind::Group(script) => tasks.push(Task::Script(script)),
        Kind::If { branches, otherwise } => {
            for (condition, body) in branches {
                tasks.extend([Task::Script(condition), Task::Script(body)]);
            }
            tasks.extend(otherwise.as_ref().map(Task::Script));
        }
        Kind::While { condition, body } => tasks.extend([Task::Script(condition), Task::Script(body)]),
        Kind::For { words, body, .. } => {
            tasks.extend(words.iter().flatten().map(word));
            tasks.push(Task::Script(body));
        }
        Kind::ArithmeticFor { header, body } => tasks.extend([Task::Parts(header), Task::Script(body)]),
        Kind::Case { subject, arms } => {
            tasks.push(word(subject));
            for arm in arms {
                tasks.extend(arm.patterns.iter().map(word));
                tasks.push(Task::Script(&arm.body));
            }
        }
        Kind::Function { body, .. } => tasks.push(Task::Node(body)),
        Kind::Coprocess { body } => tasks.push(Task::Node(body)),
        Kind::Condition(tests) => {
            tasks.extend(tests.iter().filter_map(|test| match test {
                Test::Word(value) => Some(word(value)),
                Test::Operator(_) => None,
            }));
        }
        Kind::Arithmetic(parts) => tasks.push(Task::Parts(parts)),
    }
}

fn part_tasks<'t>(part: &'t Part, tasks: &mut Vec<Task<'t>>) {
    match part {
        Part::Text(_) | Part::Quoted(_) => {}
        Part::Double(parts) | Part::Arithmetic(parts) => tasks.push(Task::Parts(parts)),
        Part::Substitution { script, .. } | Part::Process { script } => tasks.push(Task::Script(script)),
        Part::Array(elements) => tasks.push(Task::Elements(elements)),
        Part::Parameter(parameter) => {
            tasks.extend(parameter.subscript.as_deref().map(Task::Parts));
            match &parameter.operation {
                Operation::Default { word, .. }
                | Operation::Assign { word }
                | Operation::Alternate { word }
                | Operation::Require { word } => tasks.push(Task::Parts(word)),
                Operation::Trim { pattern, .. } => tasks.push(Task::Parts(pattern)),
                Operation::Rewrite { words } => tasks.push(Task::Parts(words)),
                Operation::Slice { header } => tasks.push(Task::Parts(header)),
                Operation::Plain
                | Operation::Length
                | Operation::Indirect
                | Operation::Names
                | Operation::Transform(_) => {}
            }
        }
    }
}
