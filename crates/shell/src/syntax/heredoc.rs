//! Here-documents: announced by `<<`, their bodies follow the end of the line.

use super::tree::{Document, Part, RawWord};
use super::words::Quotes;
use super::{Read, Reader};
use crate::analysis::Span;

/// A here-document whose body has not come yet.
pub(super) struct Pending {
    document: usize,
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
}

impl Reader<'_> {
    /// Remembers that a body will follow, and says where in the documents it will be.
    pub(super) fn announce(&mut self, target: &RawWord, strip_tabs: bool) -> usize {
        let mut delimiter = String::new();
        let mut quoted = false;
        let mut literal = true;
        for part in &target.parts {
            match part {
                Part::Text(text) => delimiter.push_str(text),
                Part::Quoted(text) => {
                    quoted = true;
                    delimiter.push_str(text);
                }
                Part::Double(inside) => {
                    quoted = true;
                    for part in inside {
                        match part {
                            Part::Quoted(text) => delimiter.push_str(text),
                            _ => literal = false,
                        }
                    }
                }
                _ => literal = false,
            }
        }
        if !literal || delimiter.contains('\n') {
            self.odd(target.span.start, "the end of a here-document is not a plain word");
        }
        let document = self.documents.len();
        self.documents.push(Document { quoted, ..Document::default() });
        self.pending.push(Pending { document, delimiter, quoted, strip_tabs });
        document
    }

    /// Reads the bodies that were announced. The cursor stands at the start of a line.
    pub(super) fn bodies(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            self.body(&pending)?;
        }
        Ok(())
    }

    /// At the end of the text: bash takes what is missing as empty, with a warning.
    pub(super) fn unfinished_documents(&mut self) -> Read<()> {
        if self.pending.is_empty() { Ok(()) } else { self.fail("a here-document without a body") }
    }

    fn body(&mut self, pending: &Pending) -> Read<()> {
        let start = self.cursor.raw_place();
        let mut body = String::new();
        let mut end;
        loop {
            end = self.cursor.raw_place();
            let Some(mut line) = self.line(pending) else {
                return self.fail("a here-document is not closed");
            };
            if pending.strip_tabs {
                line = line.trim_start_matches('\t').to_owned();
            }
            if line == pending.delimiter {
                break;
            }
            let shared = self.substituting && line.starts_with(&pending.delimiter) && line.contains(')');
            if shared && self.shared_end(end, &line, pending) {
                break;
            }
            body.push_str(&line);
            body.push('\n');
        }
        let span = Span { start, end };
        let parts = if pending.quoted {
            vec![Part::Quoted(body)]
        } else if body.contains(['$', '`', '\\']) {
            self.detached(&body, span, |reader| reader.document_parts())?
        } else {
            vec![Part::Quoted(body)]
        };
        self.detached.push(span);
        if let Some(document) = self.documents.get_mut(pending.document) {
            document.parts = parts;
            document.span = span;
        }
        Ok(())
    }

    /// `EOF)` ends a here-document in a substitution; the parenthesis is read again.
    fn shared_end(&mut self, start: usize, line: &str, pending: &Pending) -> bool {
        let rest = line.get(pending.delimiter.len()..).unwrap_or_default();
        if rest.trim_start().starts_with(')') {
            let consumed = self.cursor.slice(start, self.cursor.raw_place());
            let offset = consumed.find(&pending.delimiter).unwrap_or_default() + pending.delimiter.len();
            self.cursor.set_place(start + offset);
            true
        } else {
            self.odd(start, "a line that may end a here-document in a substitution");
            false
        }
    }

    /// The next line without its end; joined with the ones that continue it where the body expands.
    fn line(&mut self, pending: &Pending) -> Option<String> {
        self.cursor.raw_peek()?;
        let mut line = String::new();
        while let Some(next) = self.cursor.raw_bump() {
            match next {
                '\n' => break,
                '\\' if !pending.quoted && self.cursor.raw_peek() == Some('\n') => {
                    self.cursor.raw_bump();
                }
                '\\' if !pending.quoted => {
                    line.push('\\');
                    if let Some(escaped) = self.cursor.raw_bump() {
                        line.push(escaped);
                    }
                }
                other => line.push(other),
            }
        }
        Some(line)
    }

    fn document_parts(&mut self) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(next) = self.cursor.peek() {
            self.quoted_part(next, Quotes::Document, &mut parts)?;
        }
        Ok(parts)
    }
}
