//! Reading edits by line. Pure, and lenient where only one thing can be meant.

use super::error::HashlineError;

/// The edits of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The file.
    pub path: String,
    /// The tag of the content that the line numbers are of.
    pub tag: String,
    /// What is done.
    pub operations: Vec<Operation>,
}

/// One edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// What is done where.
    pub kind: Kind,
    /// The new lines.
    pub body: Vec<String>,
    /// Where it is in the input, counted from 1.
    pub line: usize,
}

/// What is done where. Lines are counted from 1, and ranges include their last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines are replaced.
    Swap(usize, usize),
    /// Lines go.
    Delete(usize, usize),
    /// Lines come before one.
    Before(usize),
    /// Lines come after one.
    After(usize),
    /// Lines come first.
    Head,
    /// Lines come last.
    Tail,
    /// The block that begins at a line is replaced.
    SwapBlock(usize),
    /// It goes.
    DeleteBlock(usize),
    /// Lines come after it.
    AfterBlock(usize),
}

/// Edits, and whether some lines of theirs lacked the `+`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// By file.
    pub sections: Vec<Section>,
    /// Lines that were taken as new ones without their `+`.
    pub bare_rows: usize,
}

/// Reads edits by line.
///
/// # Errors
///
/// [`HashlineError`] for what cannot be read.
pub fn parse(input: &str) -> Result<Input, HashlineError> {
    let mut reader = Reader::default();
    for (index, line) in input.lines().enumerate() {
        if line.trim() == "*** Abort" {
            break;
        }
        reader.line(index + 1, line)?;
    }
    reader.close()?;
    if reader.sections.is_empty() {
        return Err(HashlineError::NoSections);
    }
    for section in &reader.sections {
        if section.operations.is_empty() {
            return Err(HashlineError::NoOperations { path: section.path.clone() });
        }
    }
    Ok(Input { sections: reader.sections, bare_rows: reader.bare_rows })
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    operation: Option<Operation>,
    /// Lines without anything, which are lines only if more follow.
    blanks: usize,
    bare_rows: usize,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), HashlineError> {
        let wrong = |instead| HashlineError::Line { line: number, text: line.to_owned(), instead };
        if line.trim().is_empty() {
            self.blanks += usize::from(self.operation.is_some());
            return Ok(());
        }
        if ["*** Begin Patch", "*** End Patch"].contains(&line.trim()) {
            return Ok(());
        }
        if let Some(row) = line.strip_prefix('+') {
            return self
                .row(row)
                .ok_or_else(|| wrong("new lines stand below SWAP or INS. Write that first."));
        }
        if let Some((path, tag)) = header(line) {
            self.close()?;
            let path = path.to_owned();
            let tag = tag.ok_or_else(|| HashlineError::NoTag { path: path.clone() })?.to_uppercase();
            self.sections.push(Section { path, tag, operations: Vec::new() });
            return Ok(());
        }
        if let Some(kind) = operation(line).map_err(wrong)? {
            self.close()?;
            if self.sections.is_empty() {
                return Err(HashlineError::NoSections);
            }
            self.operation = Some(Operation { kind, body: Vec::new(), line: number });
            return Ok(());
        }
        if line.starts_with("***") {
            return Err(wrong("a section begins with [path#TAG] here. Use SWAP, DEL and INS below it."));
        }
        if line.starts_with("@@") {
            return Err(wrong("there are no @@ here. Write SWAP N.=M:, DEL N.=M or INS.POST N:."));
        }
        if line.starts_with('-') {
            return Err(wrong(
                "lines that go are named by their numbers. For a new line that begins with -, write +-.",
            ));
        }
        if self.sections.is_empty() {
            return Err(HashlineError::NoSections);
        }
        self.bare_rows += 1;
        self.row(line).ok_or_else(|| {
            wrong("write SWAP N.=M:, DEL N.=M, INS.PRE N: or INS.POST N:, and new lines below it.")
        })
    }

    /// A new line of the operation that is read; nothing if it takes none.
    fn row(&mut self, row: &str) -> Option<()> {
        let blanks = std::mem::take(&mut self.blanks);
        let operation = self.operation.as_mut().filter(|operation| operation.kind.takes_lines())?;
        operation.body.extend(std::iter::repeat_n(String::new(), blanks));
        operation.body.push(row.to_owned());
        Some(())
    }

    fn close(&mut self) -> Result<(), HashlineError> {
        self.blanks = 0;
        let Some(operation) = self.operation.take() else { return Ok(()) };
        if operation.kind.takes_lines() && operation.body.is_empty() {
            return Err(HashlineError::Line {
                line: operation.line,
                text: String::new(),
                instead: "there are no new lines below it. Write them with +, or use DEL to remove lines.",
            });
        }
        if let Some(section) = self.sections.last_mut() {
            section.operations.push(operation);
        }
        Ok(())
    }
}

impl Kind {
    fn takes_lines(self) -> bool {
        !matches!(self, Self::Delete(..) | Self::DeleteBlock(_))
    }
}

/// `[path#TAG]`, or `[path]` alone.
fn header(line: &str) -> Option<(&str, Option<&str>)> {
    let inside = line.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    match inside.rsplit_once('#') {
        Some((path, tag)) if !path.trim().is_empty() => {
            let fits = (4..=16).contains(&tag.len())
                && tag.chars().all(|character| character.is_ascii_alphanumeric());
            fits.then_some((path.trim(), Some(tag)))
        }
        // Without a tag it is one only if it is the name of a file.
        _ => (inside.contains('.') && !inside.contains(char::is_whitespace)).then_some((inside, None)),
    }
}

/// An operation; nothing if the line is none.
fn operation(line: &str) -> Result<Option<Kind>, &'static str> {
    let line = line.trim();
    let verb_end = line
        .find(|character: char| character != '.' && !character.is_ascii_uppercase())
        .unwrap_or(line.len());
    let (verb, rest) = line.split_at(verb_end);
    let verb = verb.trim_end_matches('.');
    let rest = rest.trim().trim_end_matches(':').trim();
    if !["SWAP", "DEL", "INS"].iter().any(|known| verb == *known || verb.starts_with(&format!("{known}."))) {
        return Ok(None);
    }
    let one = |kind: fn(usize) -> Kind| match range(rest) {
        Some((first, last)) if first == last => Ok(Some(kind(first))),
        _ => Err("it takes the number of one line."),
    };
    let both = |kind: fn(usize, usize) -> Kind| match range(rest) {
        Some((first, last)) => Ok(Some(kind(first, last))),
        None => Err("it takes a range of lines like 4.=6."),
    };
    match verb {
        "SWAP" => both(Kind::Swap),
        "DEL" => both(Kind::Delete),
        "INS.PRE" => one(Kind::Before),
        "INS.POST" => one(Kind::After),
        "SWAP.BLK" => one(Kind::SwapBlock),
        "DEL.BLK" => one(Kind::DeleteBlock),
        "INS.BLK.POST" => one(Kind::AfterBlock),
        "INS.HEAD" if rest.is_empty() => Ok(Some(Kind::Head)),
        "INS.TAIL" if rest.is_empty() => Ok(Some(Kind::Tail)),
        _ => Err(
            "the operations are SWAP, DEL, INS.PRE, INS.POST, INS.HEAD, INS.TAIL, SWAP.BLK, DEL.BLK and INS.BLK.POST.",
        ),
    }
}

/// `4`, `4.=6`, and other ways to write that.
fn range(text: &str) -> Option<(usize, usize)> {
    let numbers: Vec<&str> = text
        .split(|character: char| !character.is_ascii_digit())
        .filter(|number| !number.is_empty())
        .collect();
    let between: String = text.chars().filter(|character| !character.is_ascii_digit()).collect();
    let between = between.trim();
    match numbers.as_slice() {
        [one] if between.is_empty() => Some((one.parse().ok()?, one.parse().ok()?)),
        [first, last] if ["", ".=", "-", "..", "..=", "…", "–", ",", ":", "to"].contains(&between) => {
            Some((first.parse().ok()?, last.parse().ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn operations(text: &str) -> Result<Vec<(Kind, Vec<String>)>, HashlineError> {
        let input = parse(&format!("[a.rs#ABCD1234]\n{text}"))?;
        Ok(input.sections[0].operations.iter().map(|one| (one.kind, one.body.clone())).collect())
    }

    fn one(kind: Kind, body: &[&str]) -> Result<Vec<(Kind, Vec<String>)>, HashlineError> {
        Ok(vec![(kind, body.iter().map(|line| (*line).to_owned()).collect())])
    }

    #[test]
    fn every_operation_is_read_in_all_its_spellings() {
        for text in [
            "SWAP 2.=3:\n+x",
            "SWAP 2-3:\n+x",
            "SWAP 2 3\n+x",
            "SWAP 2…3:\n+x",
            "SWAP 2..3\nx",
            "SWAP 2.=3:\n+x\n\n",
        ] {
            assert_eq!(operations(text), one(Kind::Swap(2, 3), &["x"]), "{text}");
        }
        assert_eq!(operations("SWAP 2:\n+a\n+\n++b\n+-c"), one(Kind::Swap(2, 2), &["a", "", "+b", "-c"]));
        assert_eq!(operations("DEL 4"), one(Kind::Delete(4, 4), &[]));
        assert_eq!(operations("INS.PRE 4:\n+x"), one(Kind::Before(4), &["x"]));
        assert_eq!(operations("INS.HEAD:\n+x\n\n+y"), one(Kind::Head, &["x", "", "y"]));
        assert_eq!(operations("INS.BLK.POST 4:\n+x"), one(Kind::AfterBlock(4), &["x"]));
        assert_eq!(operations("DEL.BLK 4"), one(Kind::DeleteBlock(4), &[]));
        let envelope =
            parse("*** Begin Patch\n[a b/c.rs#abcd1234]\nDEL 1\n[d#ABCD1234]\nINS.TAIL:\n+x\n*** End Patch")
                .unwrap();
        assert_eq!(
            envelope
                .sections
                .iter()
                .map(|section| (section.path.as_str(), section.tag.as_str()))
                .collect::<Vec<_>>(),
            [("a b/c.rs", "ABCD1234"), ("d", "ABCD1234")]
        );
        assert_eq!(operations("SWAP 1:\n+x\n*** Abort\nDEL 2"), one(Kind::Swap(1, 1), &["x"]));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_to_write() {
        for (text, words) in [
            ("DEL 1\n+x", "new lines stand below SWAP or INS"),
            ("SWAP 1:\n-x", "named by their numbers"),
            ("SWAP 1:", "no new lines below it"),
            ("INS.PRE 1.=2:\n+x", "the number of one line"),
            ("SWAP one:\n+x", "a range of lines"),
            ("INS 4:\n+x", "the operations are"),
            ("@@ -1,2 +1,2 @@", "no @@ here"),
            ("*** Update File: a", "begins with [path#TAG]"),
            ("4", "write SWAP"),
            ("", "changes nothing"),
        ] {
            let error = operations(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert_eq!(parse("[a.rs]\nDEL 1"), Err(HashlineError::NoTag { path: "a.rs".into() }));
        assert_eq!(parse("DEL 1"), Err(HashlineError::NoSections));
        assert_eq!(parse(""), Err(HashlineError::NoSections));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>()) {
            let _ = parse(&text);
        }

        #[test]
        fn nothing_panics_on_what_is_alike(text in "(\\[a#ABCD1234\\]|SWAP|DEL|INS|\\.BLK|\\.POST|\\.=|:|[0-9]{1,25}|[+ \n*@-]){0,20}") {
            let _ = parse(&text);
        }
    }
}
