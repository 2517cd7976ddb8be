//! What the helper says, through a pipe: that the program runs, why it does not, and how it ended.
//!
//! Every record is written at once and is shorter than what a pipe takes at
//! once, so that records of two helpers of one process are never mixed.

use std::io::{self, Read, Write};

use crate::run::Status;

/// How long the words of a failure may be.
const LONGEST: usize = 1000;

/// One thing that the helper says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record {
    /// The program has been executed.
    Started,
    /// It has not.
    Failed(Failure),
    /// The program ended. Others that it started may still be there, or are not.
    Exited(Status, Others),
}

/// Why a program was not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    /// What the system said, or 0.
    pub(crate) errno: i32,
    /// What was tried.
    pub(crate) what: String,
}

impl Failure {
    /// A step of the confinement that the system refused.
    pub(crate) fn wall(what: impl Into<String>, error: &io::Error) -> Self {
        Self { stage: Stage::Walls, errno: error.raw_os_error().unwrap_or(0), what: what.into() }
    }
}

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Walls,
    Directory,
    Program,
}

/// Whether something is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    Gone,
    Living,
}

impl Record {
    pub(crate) fn write(&self, mut pipe: impl Write) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(16);
        match self {
            Self::Started => bytes.push(b'S'),
            Self::Exited(status, others) => {
                let (kind, number) = match status {
                    Status::Code(code) => (b'c', *code),
                    Status::Signal(signal) => (b's', *signal),
                };
                bytes.extend([b'X', kind, u8::from(*others == Others::Living)]);
                bytes.extend(number.to_le_bytes());
            }
            Self::Failed(Failure { stage, errno, what }) => {
                let stage = match stage {
                    Stage::Walls => b'w',
                    Stage::Directory => b'd',
                    Stage::Program => b'p',
                };
                let what = what.as_bytes().get(..what.len().min(LONGEST)).unwrap_or_default();
                bytes.extend([b'F', stage]);
                bytes.extend(errno.to_le_bytes());
                bytes.extend((what.len() as u16).to_le_bytes());
                bytes.extend(what);
            }
        }
        pipe.write_all(&bytes)
    }

    /// The next record, or nothing when the helper is gone.
    pub(crate) fn read(mut pipe: impl Read) -> Option<Self> {
        let mut take = |count: usize| {
            let mut bytes = vec![0; count];
            pipe.read_exact(&mut bytes).ok().map(|()| bytes)
        };
        match take(1)?.first()? {
            b'S' => Some(Self::Started),
            b'X' => {
                let bytes = take(6)?;
                let (head, number) = bytes.split_first_chunk::<2>()?;
                let number = i32::from_le_bytes(number.try_into().ok()?);
                let status = if head[0] == b'c' { Status::Code(number) } else { Status::Signal(number) };
                Some(Self::Exited(status, if head[1] == 1 { Others::Living } else { Others::Gone }))
            }
            b'F' => {
                let head = take(7)?;
                let (stage, rest) = head.split_first()?;
                let (errno, length) = rest.split_first_chunk::<4>()?;
                let stage = match stage {
                    b'd' => Stage::Directory,
                    b'p' => Stage::Program,
                    _ => Stage::Walls,
                };
                let errno = i32::from_le_bytes(*errno);
                let what = take(usize::from(u16::from_le_bytes(length.try_into().ok()?)))?;
                let what = String::from_utf8_lossy(&what).into_owned();
                Some(Self::Failed(Failure { stage, errno, what }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_arrive_as_they_were_written() {
        let failed = |what: &str| {
            Record::Failed(Failure { stage: Stage::Directory, errno: 13, what: what.to_owned() })
        };
        let records = [
            Record::Started,
            Record::Exited(Status::Code(-3), Others::Living),
            Record::Exited(Status::Signal(9), Others::Gone),
            failed("enter"),
            failed(""),
        ];
        let mut bytes = Vec::new();
        for record in &records {
            record.write(&mut bytes).unwrap();
        }
        let mut rest = bytes.as_slice();
        for record in &records {
            assert_eq!(Record::read(&mut rest).as_ref(), Some(record));
        }
        assert_eq!(Record::read(&mut rest), None);
        assert_eq!(Record::read(&bytes[1..3]), None);
    }
}
