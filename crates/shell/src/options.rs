//! Options of a program, as a table describes them, and how a command line uses
//! them: bundled, attached, abbreviated, after `--`.
//!
//! The invariant: a word that could be an option and is not known to be a
//! harmless one is reported, never taken for an operand in silence.

use crate::map::Map;
use crate::word::{Piece, Word};
use std::collections::BTreeMap;

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// A value only if it is attached: `--color[=]`.
    Attached,
    /// Text that is only data: `-m=`.
    Text,
    /// A path that is read: `-f=<`.
    Read,
    /// A path that is written: `-o=>`.
    Write,
    /// A program or command line that is run: `--pre=!`.
    Command,
    /// A shell script: `-c=$`.
    Script,
    /// Code in another language: `-e=%`.
    Code,
    /// The name of a module that is run: `-m=*`.
    Module,
    /// An address: `--url=@`.
    Address,
}

/// The options of one program.
#[derive(Debug, Clone, Default)]
pub struct Options {
    names: BTreeMap<String, Argument>,
    letters: Map<char, Argument>,
    /// Any other option is as harmless as no option.
    pub any: bool,
    /// Long options have one dash: `-name`.
    pub single: bool,
    /// `-20` is an option.
    number: bool,
}

/// One option that a command line uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The names it may stand for: one, or several for an abbreviation. Empty for one that no table knows.
    pub names: Vec<String>,
    /// As written.
    pub shown: String,
    pub argument: Argument,
    pub value: Option<Word>,
}

/// Words of a command line, told apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    pub options: Vec<Found>,
    pub operands: Vec<Word>,
    /// Words that may be options, but are not known.
    pub suspects: Vec<Word>,
    /// How many words were looked at before `stop`.
    pub length: usize,
    /// A `--` was met.
    pub dashes: bool,
}

/// Where telling apart ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After the last word.
    End,
    /// Before the first operand: a sub-command or an inner command.
    Operand,
    /// The same, and also after an option that names the program to run: `python -m module`.
    Program,
}

impl Options {
    /// Reads a table's description: `-v -n= --output=> --color[=] -N *`.
    pub fn parse(description: &str) -> Self {
        let mut options = Self::default();
        for token in description.split_whitespace() {
            match token {
                "*" => options.any = true,
                "-N" => options.number = true,
                _ => options.add(token),
            }
        }
        options
    }

    /// Adds one option, or several names of one: `-o|--output=>`.
    pub fn add(&mut self, token: &str) {
        let (names, argument) = if let Some(names) = token.strip_suffix("[=]") {
            (names, Argument::Attached)
        } else {
            match token.rsplit_once('=') {
                None => (token, Argument::None),
                Some((names, "<")) => (names, Argument::Read),
                Some((names, ">")) => (names, Argument::Write),
                Some((names, "!")) => (names, Argument::Command),
                Some((names, "$")) => (names, Argument::Script),
                Some((names, "%")) => (names, Argument::Code),
                Some((names, "*")) => (names, Argument::Module),
                Some((names, "@")) => (names, Argument::Address),
                Some((names, _)) => (names, Argument::Text),
            }
        };
        for name in names.split('|') {
            let mut letters = name.chars().skip(1);
            if let (Some(letter), None) = (letters.next(), letters.next()) {
                self.letters.insert(letter, argument);
            }
            self.names.insert(name.to_owned(), argument);
        }
    }

    /// Tells the words of a command line apart. The program itself is not among them.
    pub fn tell(&self, words: &[Word], until: Until) -> Told {
        let mut told = Told::default();
        let mut index = 0;
        while let Some(word) = words.get(index) {
            if word.literal() == Some("--") {
                told.dashes = true;
                index += 1;
                break;
            }
            if !word.may_be_option() {
                if until != Until::End {
                    break;
                }
                told.operands.push(word.clone());
                index += 1;
                continue;
            }
            index += 1;
            if word.start().starts_with('-') {
                index += self.option(word, words.get(index), &mut told);
                if until == Until::Program && told.options.last().is_some_and(|found| self.ends(found)) {
                    break;
                }
            } else {
                told.suspects.push(word.clone());
                if until != Until::End {
                    index -= 1;
                    break;
                }
                told.operands.push(word.clone());
            }
        }
        if until == Until::End {
            told.operands.extend(words.iter().skip(index).cloned());
            index = words.len();
        }
        told.length = index;
        told
    }

    /// Whether everything after an option belongs to what it runs.
    fn ends(&self, found: &Found) -> bool {
        let modules = self.names.values().any(|argument| *argument == Argument::Module);
        modules && matches!(found.argument, Argument::Module | Argument::Code)
    }

    /// One word that begins with a dash. Says how many further words belong to it.
    fn option(&self, word: &Word, next: Option<&Word>, told: &mut Told) -> usize {
        let start = word.start();
        if start.starts_with("--") || self.single && self.is_single(start) {
            return self.long(word, next, told);
        }
        if self.number && word.literal().is_some_and(is_number) {
            told.options.push(Found {
                names: vec!["-N".into()],
                shown: start.into(),
                argument: Argument::None,
                value: None,
            });
            return 0;
        }
        self.cluster(word, next, told)
    }

    fn is_single(&self, start: &str) -> bool {
        start.len() > 2 || self.names.contains_key(start)
    }

    fn long(&self, word: &Word, next: Option<&Word>, told: &mut Told) -> usize {
        let start = word.start();
        let (name, attached) = match start.split_once('=') {
            Some((name, _)) => (name, word.strip_start(&format!("{name}="))),
            None if word.pieces().len() > 1 => {
                // The name itself goes on with something that is not known.
                told.suspects.push(word.clone());
                return 0;
            }
            None => (start, None),
        };
        let names = self.candidates(name);
        let argument = names.first().and_then(|name| self.names.get(*name)).copied();
        let takes = !matches!(argument, None | Some(Argument::None | Argument::Attached));
        let from_next = takes && attached.is_none();
        told.options.push(Found {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            shown: name.to_owned(),
            argument: argument.unwrap_or(Argument::None),
            value: if from_next { next.cloned() } else { attached },
        });
        usize::from(from_next && next.is_some())
    }

    /// The names that a long option may stand for: itself, or all that it abbreviates.
    fn candidates(&self, name: &str) -> Vec<&str> {
        if let Some((exact, _)) = self.names.get_key_value(name) {
            return vec![exact];
        }
        if self.single {
            // Go and its kin take both `-run` and `--run`, and no abbreviations.
            let other = name.strip_prefix('-').unwrap_or(name);
            return self.names.get_key_value(other).map(|(exact, _)| exact.as_str()).into_iter().collect();
        }
        if name.len() < 3 {
            return Vec::new();
        }
        self.names
            .range(name.to_owned()..)
            .map(|(candidate, _)| candidate.as_str())
            .take_while(|candidate| candidate.starts_with(name))
            .collect()
    }

    /// `-abc`, `-ofile`, `-o file`.
    fn cluster(&self, word: &Word, next: Option<&Word>, told: &mut Told) -> usize {
        let letters = word.start().get(1..).unwrap_or_default();
        for (place, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let argument = self.letters.get(&letter).copied();
            let rest = letters.get(place + letter.len_utf8()..).unwrap_or_default();
            let taken = letters.get(..place + letter.len_utf8()).unwrap_or_default();
            let attached = word.strip_start(&format!("-{taken}")).filter(|rest| rest.literal() != Some(""));
            let takes = !matches!(argument, None | Some(Argument::None | Argument::Attached));
            let mut found = Found {
                names: argument.iter().map(|_| name.clone()).collect(),
                shown: if rest.is_empty() { word.shown().into_owned() } else { name },
                argument: argument.unwrap_or(Argument::None),
                value: None,
            };
            if argument == Some(Argument::Attached) {
                found.value = attached;
                told.options.push(found);
                return 0;
            }
            if takes {
                let from_next = attached.is_none();
                found.value = if from_next { next.cloned() } else { attached };
                told.options.push(found);
                return usize::from(from_next && next.is_some());
            }
            told.options.push(found);
        }
        if word.pieces().len() > 1 {
            told.suspects.push(word.clone());
        }
        0
    }
}

impl Told {
    /// Whether one of these options is used.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|found| found.names.iter().any(|name| names.contains(&name.as_str())))
    }

    /// The value of the last of these options.
    pub fn value(&self, names: &[&str]) -> Option<&Word> {
        self.options
            .iter()
            .rev()
            .find(|found| found.names.iter().any(|name| names.contains(&name.as_str())))
            .and_then(|found| found.value.as_ref())
    }

    /// Options that no table knows.
    pub fn strangers(&self) -> impl Iterator<Item = &Found> {
        self.options.iter().filter(|found| found.names.is_empty())
    }
}

fn is_number(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a word begins with a pattern: files may be named like options.
pub fn begins_with_glob(word: &Word) -> bool {
    matches!(word.pieces().first(), Some(Piece::Glob(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(description: &str, words: &[&str]) -> Vec<String> {
        let words: Vec<Word> = words.iter().map(|word| Word::text(*word)).collect();
        let told = Options::parse(description).tell(&words, Until::End);
        let option = |found: &Found| {
            let value = found.value.as_ref().map(|value| format!("={}", value.shown())).unwrap_or_default();
            let names =
                if found.names.is_empty() { format!("?{}", found.shown) } else { found.names.join("|") };
            format!("{names}{value}")
        };
        told.options.iter().map(option).chain(told.operands.iter().map(|word| word.shown().into())).collect()
    }

    #[test]
    fn short_options_bundle_and_take_values_attached_or_apart() {
        let options = "-u -o=> -k= -N";
        assert_eq!(told(options, &["-uoout", "in"]), ["-u", "-o=out", "in"]);
        assert_eq!(told(options, &["-uo", "out", "in"]), ["-u", "-o=out", "in"]);
        assert_eq!(told(options, &["-k2,2no", "in"]), ["-k=2,2no", "in"]);
        assert_eq!(told(options, &["-20", "in"]), ["-N", "in"]);
        assert_eq!(told(options, &["-ux"]), ["-u", "?-ux"]);
        assert_eq!(told(options, &["--", "-o"]), ["-o"]);
        assert_eq!(told(options, &["-"]), ["-"]);
    }

    #[test]
    fn long_options_are_found_abbreviated_and_with_either_form_of_value() {
        let options = "--upload-pack=! --tags --color[=]";
        assert_eq!(told(options, &["--upload-pa=x"]), ["--upload-pack=x"]);
        assert_eq!(told(options, &["--upload-pack", "x", "y"]), ["--upload-pack=x", "y"]);
        assert_eq!(told(options, &["--t"]), ["--tags"]);
        assert_eq!(told(options, &["--color", "y"]), ["--color", "y"]);
        assert_eq!(told(options, &["--colour"]), ["?--colour"]);
    }

    #[test]
    fn long_options_with_one_dash_do_not_bundle() {
        let mut options = Options::parse("-exec=! -name= -run=");
        options.single = true;
        let words = [Word::text("-name"), Word::text("-x"), Word::text("--run=y")];
        let told = options.tell(&words, Until::End);
        assert_eq!(told.value(&["-name"]), Some(&Word::text("-x")));
        assert_eq!(told.value(&["-run"]), Some(&Word::text("y")));
    }

    #[test]
    fn a_word_that_is_not_known_is_a_suspect() {
        let word = Word::hole("$x", crate::word::Why::Variable);
        let words = [word];
        let told = Options::parse("-a").tell(&words, Until::End);
        assert_eq!(told.suspects, words);
        assert_eq!(told.operands, words);
    }
}
