//! Redirections: `2>file`, `{fd}<file`, `&>file`, `<<EOF` and the rest.

use super::cursor::{continues_name, starts_name};
use super::tree::{Descriptor, Operator, Redirection};
use super::{Read, Reader};
use crate::analysis::Span;

impl Reader<'_> {
    /// The redirection at the cursor; none if something else stands there.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        let start = self.cursor.place();
        let before = self.cursor;
        let descriptor = self.descriptor();
        let Some(operator) = self.operator(&descriptor) else {
            self.cursor = before;
            return Ok(None);
        };
        self.blanks();
        let Some(target) = self.word()? else { return self.fail("a redirection without a target") };
        let document = match operator {
            Operator::HereDocument => Some(self.announce(&target, false)),
            Operator::HereDocumentTabs => Some(self.announce(&target, true)),
            _ => None,
        };
        let span = Span { start, end: self.cursor.raw_place() };
        Ok(Some(Redirection { operator, descriptor, target, document, span }))
    }

    /// All redirections after a compound command.
    pub(super) fn redirections(&mut self) -> Read<Vec<Redirection>> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            match self.redirection()? {
                Some(redirection) => all.push(redirection),
                None => return Ok(all),
            }
        }
    }

    /// A number or `{name}` right before the operator; anything else is a word, and the caller goes back.
    fn descriptor(&mut self) -> Descriptor {
        let before = self.cursor;
        let mut text = String::new();
        if self.cursor.eat('{') {
            while let Some(next) = self.cursor.peek().filter(|next| continues_name(*next)) {
                self.cursor.bump();
                text.push(next);
            }
            let named = text.starts_with(starts_name) && self.cursor.eat('}');
            if named && matches!(self.cursor.peek(), Some('<' | '>')) {
                return Descriptor::Variable(text);
            }
            self.cursor = before;
            return Descriptor::Standard;
        }
        while let Some(next) = self.cursor.peek().filter(char::is_ascii_digit) {
            self.cursor.bump();
            text.push(next);
        }
        match text.parse() {
            Ok(number) if matches!(self.cursor.peek(), Some('<' | '>')) => Descriptor::Number(number),
            _ => {
                self.cursor = before;
                Descriptor::Standard
            }
        }
    }

    fn operator(&mut self, descriptor: &Descriptor) -> Option<Operator> {
        let (first, second, third) = (self.cursor.peek()?, self.cursor.second(), self.cursor.third());
        let (operator, length) = match (first, second, third) {
            // A process substitution is a word.
            ('<' | '>', Some('('), _) => return None,
            ('<', Some('<'), Some('<')) => (Operator::HereString, 3),
            ('<', Some('<'), Some('-')) => (Operator::HereDocumentTabs, 3),
            ('<', Some('<'), _) => (Operator::HereDocument, 2),
            ('<', Some('&'), _) => (Operator::ReadDuplicate, 2),
            ('<', Some('>'), _) => (Operator::ReadWrite, 2),
            ('<', ..) => (Operator::Read, 1),
            ('>', Some('>'), _) => (Operator::Append, 2),
            ('>', Some('|'), _) => (Operator::Clobber, 2),
            ('>', Some('&'), _) => (Operator::WriteDuplicate, 2),
            ('>', ..) => (Operator::Write, 1),
            ('&', Some('>'), Some('>')) if *descriptor == Descriptor::Standard => (Operator::BothAppend, 3),
            ('&', Some('>'), _) if *descriptor == Descriptor::Standard => (Operator::Both, 2),
            _ => return None,
        };
        for _ in 0..length {
            self.cursor.bump();
        }
        Some(operator)
    }
}
