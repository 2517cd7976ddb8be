//! What can be wrong with settings, and what of them is ignored.
//!
//! Nothing here carries a value that could be a secret: unknown keys and wrong
//! types are named without what they hold.

use std::fmt;
use std::path::PathBuf;

use crate::origin::Origin;
use crate::quote;

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No directory to look in.
    #[error(
        "there is no home directory: set HOME, or set REIN_HOME to the directory where rein may keep its files \
         (both must be absolute paths)"
    )]
    NoHome,
    /// `REIN_HOME` depends on where rein is started.
    #[error(
        "REIN_HOME is `{}`, which is not an absolute path: write it in full, from `/`",
        quote::plain(&.value.to_string_lossy())
    )]
    RelativeReinHome {
        /// What it is.
        value: PathBuf,
    },
    /// The directory to start from depends on another.
    #[error(
        "cannot look for a project from `{}`, which is not an absolute path",
        quote::plain(&.start.to_string_lossy())
    )]
    RelativeStart {
        /// What it is.
        start: PathBuf,
    },
    /// A file is there, but its text is not to be had.
    #[error("{}: {problem}", quote::plain(&.file.to_string_lossy()))]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: FileProblem,
    },
    /// What is set makes no sense.
    #[error("{0}")]
    Invalid(Problems),
    /// A file cannot be written.
    #[error("{}: cannot be written: {cause}", quote::plain(&.file.to_string_lossy()))]
    Write {
        /// Which.
        file: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// There would be more than is ever read.
    #[error("{}: would become larger than {limit} bytes: remove something first", quote::plain(&.file.to_string_lossy()))]
    TooLarge {
        /// Which.
        file: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// A workspace that cannot be written down.
    #[error(
        "nothing can be allowed for good in `{}`: its path is not UTF-8",
        quote::plain(&.workspace.to_string_lossy())
    )]
    UnwritableWorkspace {
        /// Which.
        workspace: PathBuf,
    },
    /// Rules whose order matters, and a file that has such rules already.
    #[error(
        "{}: has rules in tables already, and the order of rules matters: put the new ones where you want them",
        quote::plain(&.file.to_string_lossy())
    )]
    OrderMatters {
        /// Which.
        file: PathBuf,
    },
}

/// Why the text of a file is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The system says no.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] std::io::Error),
    /// A symbolic link to nothing.
    #[error("is a symbolic link to a file that does not exist: mend or remove it")]
    DanglingLink,
    /// A directory.
    #[error("is a directory, not a file")]
    Directory,
    /// A pipe, a socket, a device.
    #[error("is not a regular file")]
    NotRegular,
    /// Others could add to what is allowed.
    #[error("can be written by others: make it yours with `chmod go-w`")]
    WritableByOthers,
    /// More than anybody writes by hand.
    #[error("is larger than {limit} bytes: this is hardly a file of settings")]
    TooLarge {
        /// What would be read at most.
        limit: u64,
    },
    /// Not text.
    #[error("line {line} is not UTF-8: save the file in that encoding")]
    NotUtf8 {
        /// Where the first wrong byte is, from 1.
        line: usize,
    },
}

/// Everything that is wrong, at once. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub origin: Origin,
    /// The character in the line, from 1.
    pub column: Option<usize>,
    /// What.
    pub kind: ProblemKind,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// What is wrong. Keys are dotted and quoted as TOML has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// Not TOML.
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// No such setting.
    UnknownKey {
        /// The key in full.
        key: String,
        /// What was probably meant, in full.
        nearest: Option<String>,
        /// What could stand there.
        valid: Vec<String>,
    },
    /// A value of another type.
    WrongType {
        /// The key in full.
        key: String,
        /// What it takes, with its article.
        expected: String,
        /// What it got, with its article.
        found: &'static str,
    },
    /// Not one of the words that it can be.
    NotAChoice {
        /// The key in full.
        key: String,
        /// What it got.
        value: String,
        /// What it can be.
        choices: Vec<String>,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// Too small or too large.
    OutOfRange {
        /// The key in full.
        key: String,
        /// What it got.
        value: String,
        /// What it takes, as a phrase.
        range: String,
    },
    /// Not written as such a value is.
    Malformed {
        /// The key in full.
        key: String,
        /// What is wrong with it, as the end of a sentence.
        message: String,
    },
    /// An environment variable that is not text.
    NotUtf8,
    /// A flag without a key or without a value.
    NotAnAssignment,
    /// Every value passed its check, and yet they are no settings: a defect of this crate.
    Unusable,
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { message } => f.write_str(&quote::plain(message)),
            Self::UnknownKey { key, nearest: Some(nearest), .. } => {
                write!(f, "unknown key `{}`; did you mean `{nearest}`?", quote::brief(key))
            }
            Self::UnknownKey { key, nearest: None, valid } if valid.is_empty() => {
                write!(f, "unknown key `{}`", quote::brief(key))
            }
            Self::UnknownKey { key, nearest: None, valid } => {
                write!(f, "unknown key `{}`; there are {}", quote::brief(key), words(valid, "and"))
            }
            Self::WrongType { key, expected, found } => {
                write!(f, "`{}` must be {expected}, but it is {found}", quote::brief(key))
            }
            Self::NotAChoice { key, value, choices, nearest } => {
                write!(
                    f,
                    "`{}` must be {}, but it is `{}`",
                    quote::brief(key),
                    words(choices, "or"),
                    quote::brief(value)
                )?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
                    None => Ok(()),
                }
            }
            Self::OutOfRange { key, value, range } => {
                write!(f, "`{}` must be {range}, but it is {}", quote::brief(key), quote::brief(value))
            }
            Self::Malformed { key, message } => write!(f, "`{}` {message}", quote::brief(key)),
            Self::NotUtf8 => f.write_str("the value is not UTF-8"),
            Self::Unusable => {
                f.write_str("these settings passed every check and still cannot be used: a defect of rein")
            }
            Self::NotAnAssignment => f.write_str("write KEY=VALUE, for example `mode=plan`"),
        }
    }
}

/// `a`, `b` and `c`.
pub(crate) fn words(words: &[String], before_last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {before_last} {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Something that is set and ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub origin: Origin,
    /// The key in full.
    pub key: String,
    /// Why.
    pub refusal: Refusal,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` is ignored: {}", self.origin, self.key, self.refusal)
    }
}

/// Why something that is set does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is the user's alone.
    NotForProjects {
        /// What a project could do with it.
        reason: &'static str,
    },
    /// It would allow more than the user does.
    Looser {
        /// What the project wants.
        value: String,
        /// What holds.
        limit: String,
        /// Who says so.
        limit_origin: Origin,
    },
    /// It would let something run without asking.
    Allow,
    /// It would allow more than the administrator does.
    Managed {
        /// What is wanted.
        value: String,
        /// What holds.
        limit: String,
        /// Where the administrator says so.
        limit_origin: Origin,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotForProjects { reason } => {
                write!(f, "a project may not set it, because {reason}; set it in your own config.toml")
            }
            Self::Looser { value, limit, limit_origin } => {
                write!(f, "a project may only narrow, and {value} allows more than {limit} ({limit_origin})")
            }
            Self::Managed { value, limit, limit_origin } => {
                write!(
                    f,
                    "{value} allows more than the administrator does, which is {limit} ({limit_origin})"
                )
            }
            Self::Allow => {
                f.write_str("a project may ask or deny, but not allow; allow it in your own config.toml")
            }
        }
    }
}
