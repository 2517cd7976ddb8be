//! Redirections: which files are opened, and what a command reads then.

use super::simple::{Feed, Produced};
use super::{Context, Walker};
use crate::analysis::{Danger, Redirect, RedirectKind, Span, Usage};
use crate::state::State;
use crate::syntax::tree::{Descriptor, Operator, Redirection};
use crate::word::Word;

/// What the redirections of one command come to.
#[derive(Default)]
pub(super) struct Opened {
    /// What it reads, if they say so.
    pub feed: Option<Feed>,
    /// Whether what it prints goes elsewhere.
    pub diverted: bool,
    /// Files it writes to, where known.
    pub written: Vec<String>,
}

impl Opened {
    /// What `$(<file)` prints: the file.
    pub(super) fn produced(&self) -> Produced {
        Produced::default()
    }
}

impl Walker<'_> {
    pub(super) fn redirections(
        &mut self,
        redirections: &[Redirection],
        command: Option<usize>,
        state: &mut State,
        context: &Context,
    ) -> Opened {
        let mut opened = Opened::default();
        for redirection in redirections {
            self.redirection(redirection, command, state, context, &mut opened);
        }
        opened
    }

    fn redirection(
        &mut self,
        redirection: &Redirection,
        command: Option<usize>,
        state: &mut State,
        context: &Context,
        opened: &mut Opened,
    ) {
        let span = context.span(redirection.span);
        if let Descriptor::Variable(name) = &redirection.descriptor {
            state.set_number(name);
        }
        match redirection.operator {
            Operator::HereDocument | Operator::HereDocumentTabs => {
                let documents = std::rc::Rc::clone(&context.documents);
                let document = redirection.document.and_then(|index| documents.get(index));
                let text = document.map(|document| {
                    let mut inner = context.clone();
                    inner.outer = context.outer.or(Some(document.span));
                    self.value_as_written(&document.parts, span, state, &inner)
                });
                let text = text.and_then(|word| word.literal().map(str::to_owned));
                opened.feed = Some(Feed::Text(text));
            }
            Operator::HereString => {
                let word = self.value(&redirection.target.parts, span, state, context);
                opened.feed = Some(Feed::Text(word.literal().map(|text| format!("{text}\n"))));
            }
            _ => {
                for target in self.word(&redirection.target, state, context) {
                    self.target(redirection, &target, command, span, state, opened);
                }
            }
        }
    }

    /// The body of a here-document: nothing in it is a tilde.
    fn value_as_written(
        &mut self,
        parts: &[crate::syntax::tree::Part],
        span: Span,
        state: &mut State,
        context: &Context,
    ) -> Word {
        let mut word = Word::default();
        for part in parts {
            for piece in self.part(part, span, state, context).pieces() {
                word.push(piece.clone());
            }
        }
        word
    }

    fn target(
        &mut self,
        redirection: &Redirection,
        target: &Word,
        command: Option<usize>,
        span: Span,
        state: &State,
        opened: &mut Opened,
    ) {
        let (descriptor, standard) = match redirection.descriptor {
            Descriptor::Standard => (None, true),
            Descriptor::Number(number) => (Some(number), number == 1),
            Descriptor::Variable(_) => (None, false),
        };
        let kind = match redirection.operator {
            Operator::Read => RedirectKind::Read,
            Operator::ReadDuplicate if duplicates(target) => return,
            Operator::ReadDuplicate => RedirectKind::Read,
            Operator::WriteDuplicate if duplicates(target) => {
                opened.diverted |= standard;
                return;
            }
            Operator::Write | Operator::Clobber | Operator::Both | Operator::WriteDuplicate => {
                RedirectKind::Write
            }
            Operator::Append | Operator::BothAppend => RedirectKind::Append,
            Operator::ReadWrite => RedirectKind::ReadWrite,
            Operator::HereDocument | Operator::HereDocumentTabs | Operator::HereString => return,
        };
        if kind == RedirectKind::Read && descriptor.is_none_or(|number| number == 0) {
            let nothing = target.literal() == Some("/dev/null");
            opened.feed = Some(if nothing { Feed::Nothing } else { Feed::File(target.clone()) });
        }
        if kind != RedirectKind::Read {
            opened.diverted |= standard;
        }
        if target.is_pipe() || target.literal().is_some_and(is_harmless_device) {
            return;
        }
        if target.start().starts_with("/dev/tcp/") || target.start().starts_with("/dev/udp/") {
            let reason = "bash opens a connection to another machine for this name";
            self.hazard(Danger::Exfiltrates, reason, target.shown(), command, span);
            return;
        }
        let usage = if kind == RedirectKind::Read { Usage::Read } else { Usage::Write };
        self.path(target, usage, command, span, state);
        self.device(target, usage, command, span);
        if kind == RedirectKind::ReadWrite {
            self.path(target, Usage::Read, command, span, state);
        }
        if usage == Usage::Write {
            opened
                .written
                .extend(crate::paths::resolve(target, state).into_iter().filter_map(|(path, _)| path));
        }
        self.out.redirects.push(Redirect { kind, descriptor, target: target.clone(), span });
    }
}

/// `&1`, `&-`, `&3-`: no file is opened.
fn duplicates(target: &Word) -> bool {
    match target.literal() {
        Some(text) => {
            let digits = text.strip_suffix('-').unwrap_or(text);
            digits.chars().all(|next| next.is_ascii_digit())
        }
        None => crate::state::is_number(Some(target)),
    }
}

/// Names that are no files.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/zero" | "/dev/full"
    ) || path.strip_prefix("/dev/fd/").is_some_and(|rest| rest.chars().all(|next| next.is_ascii_digit()))
}
