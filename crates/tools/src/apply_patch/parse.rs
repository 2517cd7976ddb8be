//! Reading a patch. Pure, and lenient where only one thing can be meant: text
//! around it, blanks around its markers, lines that stay without their blank,
//! and hunk headers of unified diffs.

use super::error::PatchError;

/// What a patch does with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Section {
    /// Makes it.
    Add {
        /// The file.
        path: String,
        /// Its lines.
        lines: Vec<String>,
    },
    /// Removes it.
    Delete {
        /// The file.
        path: String,
    },
    /// Changes it.
    Update {
        /// The file.
        path: String,
        /// Where it is moved to.
        move_to: Option<String>,
        /// What changes.
        hunks: Vec<Hunk>,
    },
}

/// Lines of a file that change together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// Lines above it that tell where it is, from the outermost.
    pub contexts: Vec<String>,
    /// The line where it begins, if it says that, counted from 1.
    pub hint: Option<usize>,
    /// Its lines.
    pub rows: Vec<Row>,
    /// Whether it is at the end of the file.
    pub end: End,
    /// Where it begins in the patch, counted from 1.
    pub line: usize,
}

/// Where a hunk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// Somewhere.
    #[default]
    Anywhere,
    /// With the file.
    File,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// It stays.
    Stays(String),
    /// It goes.
    Goes(String),
    /// It comes.
    Comes(String),
}

/// Reads a patch.
///
/// # Errors
///
/// [`PatchError`] for what cannot be read; nothing is guessed.
pub fn parse(patch: &str) -> Result<Vec<Section>, PatchError> {
    let lines: Vec<&str> = patch.lines().collect();
    let Some(begin) = lines.iter().position(|line| line.trim() == "*** Begin Patch") else {
        return unified(&lines);
    };
    let inside = lines.get(begin + 1..).unwrap_or_default();
    // At the begin of a line it can be nothing else; after a blank it may be a line that stays.
    let end = inside
        .iter()
        .position(|line| line.trim_end() == "*** End Patch")
        .or_else(|| inside.iter().rposition(|line| line.trim() == "*** End Patch"))
        .ok_or(PatchError::NoEnd)?;
    let mut reader = Reader::default();
    for (index, line) in inside.iter().take(end).enumerate() {
        reader.line(begin + 2 + index, line)?;
    }
    reader.finish()
}

/// Reads a unified diff.
fn unified(lines: &[&str]) -> Result<Vec<Section>, PatchError> {
    let mut reader = Reader::default();
    let mut old = None;
    let mut is_inside = false;
    for (index, line) in lines.iter().enumerate() {
        let next = lines.get(index + 1).copied().unwrap_or_default();
        if line.starts_with("--- ") && next.starts_with("+++ ") {
            old = line.strip_prefix("--- ");
        } else if let (Some(from), Some(to)) = (old.take(), line.strip_prefix("+++ ")) {
            is_inside = true;
            reader.close()?;
            let (from, to) = (unified_name(from), unified_name(to));
            reader.section = Some(match (from, to) {
                (None, Some(path)) => Section::Add { path, lines: Vec::new() },
                (Some(path), None) => Section::Delete { path },
                (Some(from), Some(to)) => {
                    let move_to = (from != to).then_some(to);
                    Section::Update { path: from, move_to, hunks: Vec::new() }
                }
                (None, None) => return Err(PatchError::NoBegin),
            });
            reader.header = index + 1;
        } else if line.starts_with("```") || line.starts_with("diff --git ") {
            is_inside = false;
        } else if is_inside {
            reader.unified_line(index + 1, line)?;
        }
    }
    if reader.section.is_none() && reader.sections.is_empty() {
        return Err(PatchError::NoBegin);
    }
    reader.finish()
}

/// The file that a line of a unified diff names; nothing for `/dev/null`.
fn unified_name(name: &str) -> Option<String> {
    let name = name.split('\t').next().unwrap_or(name).trim();
    let plain = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    (name != "/dev/null").then(|| plain.to_owned())
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    section: Option<Section>,
    /// Where the section begins.
    header: usize,
    hunk: Option<Hunk>,
    /// Lines without anything, which may be lines that stay or just space before what follows.
    blanks: usize,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), PatchError> {
        // Inside of an update, a line that stays may say anything after its blank.
        let is_update = matches!(self.section, Some(Section::Update { .. }));
        let marker = if is_update { line } else { line.trim_start() };
        if let Some(section) = header(marker) {
            self.close()?;
            let (Section::Add { path, .. } | Section::Delete { path } | Section::Update { path, .. }) =
                &section;
            if path.is_empty() {
                return Err(wrong(number, line, "the header names no file"));
            }
            self.section = Some(section);
            self.header = number;
            return Ok(());
        }
        match &mut self.section {
            Some(Section::Add { lines, .. }) => {
                if let Some(text) = line.strip_prefix('+') {
                    lines.extend(std::iter::repeat_n(String::new(), std::mem::take(&mut self.blanks)));
                    lines.push(text.to_owned());
                } else if line.trim().is_empty() {
                    self.blanks += 1;
                } else {
                    return Err(wrong(number, line, "every line of a new file begins with `+`"));
                }
                Ok(())
            }
            Some(Section::Update { .. }) => self.update(number, line),
            Some(Section::Delete { .. }) | None if line.trim().is_empty() => Ok(()),
            Some(Section::Delete { .. }) | None => Err(wrong(
                number,
                line,
                "expected `*** Add File: path`, `*** Update File: path` or `*** Delete File: path`",
            )),
        }
    }

    fn update(&mut self, number: usize, line: &str) -> Result<(), PatchError> {
        if let Some(target) = line.trim().strip_prefix("*** Move to:") {
            if let Some(Section::Update { move_to, .. }) = &mut self.section {
                *move_to = Some(name(target));
            }
            return Ok(());
        }
        if line.trim() == "*** End of File" {
            let hunk = self.hunk.get_or_insert_with(|| Hunk { line: number, ..Hunk::default() });
            hunk.end = End::File;
            self.close_hunk();
            return Ok(());
        }
        if line.starts_with("*** ") {
            return Err(wrong(number, line, "there is no such marker"));
        }
        if let Some(rest) = line.strip_prefix("@@") {
            self.hunk_header(number, rest);
            return Ok(());
        }
        if line.is_empty() {
            self.blanks += usize::from(self.hunk.is_some());
            return Ok(());
        }
        if line.starts_with("\\ No newline") || self.hunk.is_none() && is_noise(line) {
            return Ok(());
        }
        let blanks = std::mem::take(&mut self.blanks);
        let hunk = self.hunk.get_or_insert_with(|| Hunk { line: number, ..Hunk::default() });
        hunk.rows.extend(std::iter::repeat_n(Row::Stays(String::new()), blanks));
        hunk.rows.push(row(line));
        Ok(())
    }

    fn unified_line(&mut self, number: usize, line: &str) -> Result<(), PatchError> {
        match &mut self.section {
            Some(Section::Add { lines, .. }) => {
                lines.extend(line.strip_prefix('+').map(str::to_owned));
                Ok(())
            }
            Some(Section::Update { .. }) => self.update(number, line),
            Some(Section::Delete { .. }) | None => Ok(()),
        }
    }

    fn hunk_header(&mut self, number: usize, rest: &str) {
        // Headers after each other lead to one place, from the outermost.
        if self.hunk.as_ref().is_none_or(|hunk| !hunk.rows.is_empty()) {
            self.close_hunk();
        }
        self.blanks = 0;
        let hunk = self.hunk.get_or_insert_with(|| Hunk { line: number, ..Hunk::default() });
        match place(rest) {
            Place::Nowhere => {}
            Place::Line(line) => hunk.hint = Some(line),
            Place::Below(context) => hunk.contexts.push(context),
            Place::End => hunk.end = End::File,
        }
    }

    fn close_hunk(&mut self) {
        self.blanks = 0;
        let Some(hunk) = self.hunk.take() else { return };
        if let Some(Section::Update { hunks, .. }) = &mut self.section
            && !hunk.rows.is_empty()
        {
            hunks.push(hunk);
        }
    }

    fn close(&mut self) -> Result<(), PatchError> {
        self.close_hunk();
        match self.section.take() {
            Some(Section::Update { path, move_to: None, hunks }) if hunks.is_empty() => {
                Err(PatchError::NoHunks { line: self.header, path })
            }
            Some(section) => {
                self.sections.push(section);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Vec<Section>, PatchError> {
        self.close()?;
        if self.sections.is_empty() { Err(PatchError::Empty) } else { Ok(self.sections) }
    }
}

fn wrong(line: usize, text: &str, expected: &'static str) -> PatchError {
    PatchError::Line { line, text: text.to_owned(), expected }
}

fn header(line: &str) -> Option<Section> {
    let rest = line.strip_prefix("***")?.trim_start();
    let (word, path) = rest.split_once(':')?;
    let path = name(path);
    match word.trim() {
        "Add File" | "Create File" => Some(Section::Add { path, lines: Vec::new() }),
        "Delete File" => Some(Section::Delete { path }),
        "Update File" => Some(Section::Update { path, move_to: None, hunks: Vec::new() }),
        _ => None,
    }
}

fn name(given: &str) -> String {
    given.trim().trim_matches(|character| "`\"'".contains(character)).to_owned()
}

fn row(line: &str) -> Row {
    match line.split_at_checked(1) {
        Some(("+", rest)) => Row::Comes(rest.to_owned()),
        Some(("-", rest)) => Row::Goes(rest.to_owned()),
        Some((" ", rest)) => Row::Stays(rest.to_owned()),
        // Without its blank it can only be one that stays, and it must be in the file to be taken.
        _ => Row::Stays(line.to_owned()),
    }
}

/// What other diffs have above their first hunk.
fn is_noise(line: &str) -> bool {
    ["--- ", "+++ ", "diff --git ", "index ", "***"].iter().any(|noise| line.starts_with(noise))
}

/// Where a hunk header says that the hunk is.
enum Place {
    Nowhere,
    Line(usize),
    Below(String),
    End,
}

fn place(rest: &str) -> Place {
    let rest = rest.trim();
    if let Some(numbers) = rest.strip_prefix('-') {
        let digits: String = numbers.chars().take_while(char::is_ascii_digit).collect();
        if let Ok(line) = digits.parse()
            && numbers.contains('+')
        {
            return Place::Line(line);
        }
    }
    let rest = rest.strip_suffix("@@").unwrap_or(rest).trim();
    let lower = rest.to_lowercase();
    if rest.is_empty() || rest == "..." || rest == "…" {
        return Place::Nowhere;
    }
    if ["top of file", "start of file", "beginning of file"].contains(&lower.as_str()) {
        return Place::Line(1);
    }
    if lower == "end of file" {
        return Place::End;
    }
    if let Some(numbers) = lower.strip_prefix("lines ").or_else(|| lower.strip_prefix("line ")) {
        let digits: String = numbers.chars().take_while(char::is_ascii_digit).collect();
        let others =
            numbers.chars().all(|character| character.is_ascii_digit() || "-– ,".contains(character));
        if let (Ok(line), true) = (digits.parse(), others) {
            return Place::Line(line);
        }
    }
    Place::Below(rest.to_owned())
}
