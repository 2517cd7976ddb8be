//! The commands of a `sed` script. GNU's are known; what differs between
//! versions is not read.

use super::Deed;

/// What a script does besides editing text.
pub fn scan(script: &str) -> Vec<Deed> {
    let mut reader = Reader { rest: script.chars().collect(), at: 0, deeds: Vec::new() };
    if reader.script().is_none() {
        reader.deeds.push(Deed::Unreadable);
    }
    reader.deeds
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    deeds: Vec<Deed>,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    /// None if the script cannot be read.
    fn script(&mut self) -> Option<()> {
        loop {
            self.skip(|next| next.is_ascii_whitespace() || next == ';');
            if self.peek().is_none() {
                return Some(());
            }
            self.addresses()?;
            self.skip(|next| next == ' ' || next == '\t');
            while self.peek() == Some('!') {
                self.at += 1;
                self.skip(|next| next == ' ' || next == '\t');
            }
            let command = self.bump()?;
            self.command(command)?;
        }
    }

    fn addresses(&mut self) -> Option<()> {
        self.address()?;
        self.skip(|next| next == ' ' || next == '\t');
        if self.peek() == Some(',') {
            self.at += 1;
            self.skip(|next| next == ' ' || next == '\t');
            if matches!(self.peek(), Some('+' | '~')) {
                self.at += 1;
            }
            self.address()?;
        }
        Some(())
    }

    fn address(&mut self) -> Option<()> {
        match self.peek() {
            Some('0'..='9') => {
                self.skip(|next| next.is_ascii_digit() || next == '~');
            }
            Some('$') => self.at += 1,
            Some('/') => {
                self.at += 1;
                self.regular_expression('/')?;
                self.skip(|next| next == 'I' || next == 'M');
            }
            Some('\\') => {
                self.at += 1;
                let delimiter = self.bump()?;
                self.regular_expression(delimiter)?;
                self.skip(|next| next == 'I' || next == 'M');
            }
            _ => {}
        }
        Some(())
    }

    /// Moves past the delimiter that ends a regular expression. One inside brackets does not: a version for which it
    /// does finds the bracket open and refuses the script.
    fn regular_expression(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.bump()? {
                '\\' => {
                    self.bump()?;
                }
                '[' => self.bracket()?,
                found if found == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// Moves past the bracket that closes; one that comes first is a character.
    fn bracket(&mut self) -> Option<()> {
        if self.peek() == Some('^') {
            self.at += 1;
        }
        if self.peek() == Some(']') {
            self.at += 1;
        }
        loop {
            match self.bump()? {
                ']' => return Some(()),
                '[' if matches!(self.peek(), Some(':' | '.' | '=')) => {
                    let kind = self.bump()?;
                    while !(self.bump()? == kind && self.peek() == Some(']')) {}
                    self.at += 1;
                }
                '\n' => return None,
                _ => {}
            }
        }
    }

    /// Moves past the next delimiter.
    fn delimited(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.bump()? {
                '\\' => {
                    self.bump()?;
                }
                found if found == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn command(&mut self, command: char) -> Option<()> {
        match command {
            '{' | '}' => {}
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(|next| next == ' ');
                self.skip(|next| next.is_ascii_digit());
            }
            '#' => self.skip(|next| next != '\n'),
            ':' | 'b' | 't' | 'T' | 'v' => self.skip(|next| next != '\n' && next != ';' && next != '}'),
            'a' | 'i' | 'c' => self.text(),
            's' => {
                let delimiter = self.bump()?;
                self.regular_expression(delimiter)?;
                self.delimited(delimiter)?;
                return self.flags();
            }
            'y' => {
                let delimiter = self.bump()?;
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
            }
            'e' => {
                self.deeds.push(Deed::Executes);
                self.skip(|next| next != '\n');
            }
            'r' | 'R' => {
                let file = self.file();
                self.deeds.push(Deed::Reads(Some(file)));
            }
            'w' | 'W' => {
                let file = self.file();
                self.writes(file);
            }
            _ => return None,
        }
        Some(())
    }

    fn flags(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => self.at += 1,
                Some('e') => {
                    self.at += 1;
                    self.deeds.push(Deed::Executes);
                }
                Some('w') => {
                    self.at += 1;
                    let file = self.file();
                    self.writes(file);
                    return Some(());
                }
                None | Some(' ' | '\t' | '\n' | ';' | '}' | '#') => return Some(()),
                Some(_) => return None,
            }
        }
    }

    fn writes(&mut self, file: String) {
        if !matches!(file.as_str(), "/dev/stdout" | "/dev/stderr") {
            self.deeds.push(Deed::Writes(Some(file)));
        }
    }

    /// A file name goes to the end of the line.
    fn file(&mut self) -> String {
        self.skip(|next| next == ' ' || next == '\t');
        let start = self.at;
        self.skip(|next| next != '\n');
        self.rest.get(start..self.at).unwrap_or_default().iter().collect()
    }

    /// Text goes to the end of the line, or further after a backslash.
    fn text(&mut self) {
        while let Some(next) = self.bump() {
            if next == '\\' {
                self.at += 1;
            } else if next == '\n' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_edit_text_do_nothing_else() {
        for script in [
            "1,40p",
            "s/a/b/g",
            "s|/app/logs|logs|g;s,x,y,",
            "/start/,/end/p",
            "/^func.*{/,/^}/p",
            "$!N;P;D",
            "1~2d",
            "/x/!d",
            "s/[^/]*$//",
            "s/[]/]/x/g",
            "s/[[:space:]/]*e/w/",
            "\\,x,d",
            "a hello w out",
            "1i\\\ntext e\\\nmore",
            "y/abc/xyz/",
            ":a;N;$!ba;s/\\n/ /g",
            "/a/{s/b/c/;p}",
            "# comment e\np",
            "s/e/w/;w /dev/stdout",
            "10q",
            "",
        ] {
            assert_eq!(scan(script), [], "{script}");
        }
    }

    #[test]
    fn what_runs_writes_or_reads_is_found() {
        let write = |path: &str| Deed::Writes(Some(path.into()));
        for (script, deeds) in [
            ("1e touch x", vec![Deed::Executes]),
            ("e", vec![Deed::Executes]),
            ("s/a/b/e", vec![Deed::Executes]),
            ("s/a/b/ge", vec![Deed::Executes]),
            ("w out", vec![write("out")]),
            ("/x/w out", vec![write("out")]),
            ("s/a/b/w out", vec![write("out")]),
            ("p;p;1W /etc/x", vec![write("/etc/x")]),
            ("r in", vec![Deed::Reads(Some("in".into()))]),
            ("s/[/]/x/;1e id", vec![Deed::Executes]),
            ("s/[/]/e;p", vec![Deed::Unreadable]),
            ("s/[/x/e", vec![Deed::Unreadable]),
            ("k", vec![Deed::Unreadable]),
            ("s/a", vec![Deed::Unreadable]),
        ] {
            assert_eq!(scan(script), deeds, "{script}");
        }
    }
}
