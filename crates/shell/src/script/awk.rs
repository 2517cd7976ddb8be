//! An `awk` program: enough of its grammar to tell a comparison from a
//! redirection, and strings and regular expressions from code.

use super::Deed;

/// What a program does besides computing and printing.
pub fn scan(program: &str) -> Vec<Deed> {
    let mut reader = Reader {
        text: program.chars().collect(),
        at: 0,
        deeds: Vec::new(),
        printing: None,
        depth: 0,
        operand: false,
    };
    if reader.program().is_none() {
        reader.deeds.push(Deed::Unreadable);
    }
    reader.deeds
}

struct Reader {
    text: Vec<char>,
    at: usize,
    deeds: Vec<Deed>,
    /// How deep parentheses were when the `print` that is being read began.
    printing: Option<usize>,
    depth: usize,
    /// The last token was an operand, so that a slash divides and does not begin a regular expression.
    operand: bool,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn second(&self) -> Option<char> {
        self.text.get(self.at + 1).copied()
    }

    fn program(&mut self) -> Option<()> {
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.second() == Some('\n') => self.at += 2,
                '\n' | ';' | '{' | '}' => {
                    self.at += 1;
                    self.printing = None;
                    self.operand = false;
                    if next == '}' {
                        self.depth = 0;
                    }
                }
                '#' => {
                    while self.peek().is_some_and(|next| next != '\n') {
                        self.at += 1;
                    }
                }
                '"' => {
                    self.string()?;
                    self.operand = true;
                }
                '/' if !self.operand => {
                    self.regular_expression()?;
                    self.operand = true;
                }
                '@' => return None,
                letter if letter.is_alphabetic() || letter == '_' => self.word(),
                digit if digit.is_ascii_digit() => {
                    while self.peek().is_some_and(|next| next.is_alphanumeric() || next == '.') {
                        self.at += 1;
                    }
                    self.operand = true;
                }
                _ => self.symbol(next)?,
            }
        }
        Some(())
    }

    fn word(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|next| next.is_alphanumeric() || next == '_' || next == ':') {
            self.at += 1;
        }
        let word: String = self.text.get(start..self.at).unwrap_or_default().iter().collect();
        self.operand = true;
        match word.as_str() {
            "print" | "printf" => {
                self.printing = Some(self.depth);
                self.operand = false;
            }
            "system" => self.deeds.push(Deed::Executes),
            "ENVIRON" => self.deeds.push(Deed::Environment),
            "SYMTAB" | "FUNCTAB" => self.deeds.push(Deed::Unreadable),
            "getline" => self.getline(),
            "in" | "return" | "case" | "else" | "do" | "exit" | "delete" => self.operand = false,
            _ => {}
        }
    }

    /// `getline < file` and `getline var < file`.
    fn getline(&mut self) {
        let mut at = self.at;
        let blank = |next: Option<&char>| next.is_some_and(|next| *next == ' ' || *next == '\t');
        while blank(self.text.get(at)) {
            at += 1;
        }
        while self.text.get(at).is_some_and(|next| next.is_alphanumeric() || "_$".contains(*next)) {
            at += 1;
        }
        while blank(self.text.get(at)) {
            at += 1;
        }
        if self.text.get(at) == Some(&'<') {
            self.at = at + 1;
            let file = self.literal_ahead();
            self.named(file, Deed::Reads);
        }
    }

    /// The string at the cursor, if a string and nothing more stands there.
    fn literal_ahead(&mut self) -> Option<String> {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        if self.peek() != Some('"') {
            return None;
        }
        let text = self.string()?;
        self.operand = true;
        let mut at = self.at;
        while self.text.get(at).is_some_and(|next| *next == ' ' || *next == '\t') {
            at += 1;
        }
        let ends = self.text.get(at).is_none_or(|next| ";}\n),&|".contains(*next));
        ends.then_some(text)
    }

    fn named(&mut self, file: Option<String>, deed: impl FnOnce(Option<String>) -> Deed) {
        match file.as_deref() {
            Some("/dev/stdout" | "/dev/stderr" | "/dev/null" | "-" | "/dev/stdin") => {}
            Some(path) if path.starts_with("/inet") => self.deeds.push(Deed::Connects),
            _ => self.deeds.push(deed(file)),
        }
    }

    fn string(&mut self) -> Option<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let next = self.peek()?;
            self.at += 1;
            match next {
                '"' => return Some(text),
                '\\' => {
                    text.push(self.peek()?);
                    self.at += 1;
                }
                '\n' => return None,
                other => text.push(other),
            }
        }
    }

    fn regular_expression(&mut self) -> Option<()> {
        self.at += 1;
        let mut bracket = false;
        loop {
            let next = self.peek()?;
            self.at += 1;
            match next {
                '\\' => self.at += 1,
                '[' => bracket = true,
                ']' => bracket = false,
                '/' if !bracket => return Some(()),
                // Inside brackets versions differ; if no other slash follows, this one is the end.
                '/' => {
                    let more = self
                        .text
                        .iter()
                        .skip(self.at)
                        .take_while(|next| **next != '\n')
                        .any(|next| *next == '/');
                    if !more {
                        return Some(());
                    }
                }
                '\n' => return None,
                _ => {}
            }
        }
    }

    fn symbol(&mut self, next: char) -> Option<()> {
        let second = self.second();
        self.at += 1;
        match next {
            '(' => {
                self.depth += 1;
                self.operand = false;
            }
            ')' => {
                self.depth = self.depth.checked_sub(1)?;
                self.operand = true;
            }
            ']' | '$' => self.operand = next == ']',
            '|' if second == Some('|') => {
                self.at += 1;
                self.operand = false;
            }
            '|' => {
                self.deeds.push(Deed::Executes);
                self.operand = false;
            }
            '>' if self.printing.is_some_and(|depth| depth >= self.depth) => {
                if second == Some('>') {
                    self.at += 1;
                }
                let file = self.literal_ahead();
                self.named(file, Deed::Writes);
            }
            '+' | '-' if second == Some(next) => self.at += 1,
            '\'' | '`' => return None,
            _ => self.operand = false,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_compute_and_print_do_nothing_else() {
        for program in [
            "{print $1}",
            "{print $NF}",
            "$3 > 5 {print}",
            "/a|b/ {print $1 \" | \" $2}",
            "{if ($1 > 3 || $2 >= 4) print \"x > y\"}",
            "BEGIN{FS=\",\"} {s += $2 / 3} END{print s/NR}",
            "{print ($1 > $2)}",
            "{printf \"%s\\n\", $1 > \"/dev/stderr\"}",
            "!seen[$0]++",
            "NR==1,/x\\/y/ {gsub(/[/]/, \"-\"); print}",
            "# system(\"x\")\n{print}",
            "{ sub(/.*b\\/cli\\//, \"\", file); print file }",
            "",
        ] {
            assert_eq!(scan(program), [], "{program}");
        }
    }

    #[test]
    fn what_runs_writes_or_reads_is_found() {
        for (program, deeds) in [
            ("BEGIN{system(\"rm -rf src\")}", vec![Deed::Executes]),
            ("{print | \"sh\"}", vec![Deed::Executes]),
            ("{\"date\" | getline d}", vec![Deed::Executes]),
            ("{print $1 > \"out\"}", vec![Deed::Writes(Some("out".into()))]),
            ("{print $1 >> \"out\" }", vec![Deed::Writes(Some("out".into()))]),
            ("{print $1 > $2}", vec![Deed::Writes(None)]),
            ("{print $1 > \"a\" $2}", vec![Deed::Writes(None)]),
            ("{print > \"/inet/tcp/0/x/80\"}", vec![Deed::Connects]),
            (
                "BEGIN{while((getline l < \"/etc/passwd\") > 0) print l}",
                vec![Deed::Reads(Some("/etc/passwd".into()))],
            ),
            ("BEGIN{print ENVIRON[\"X\"]}", vec![Deed::Environment]),
            ("@load \"x\"", vec![Deed::Unreadable]),
            ("{print \"x}", vec![Deed::Unreadable]),
        ] {
            assert_eq!(scan(program), deeds, "{program}");
        }
    }
}
