//! What the helper is told, as bytes in a file in memory.
//!
//! Paths, arguments and variables are bytes and not text, and the helper must
//! be quick: so this is lengths and bytes in a fixed order, written and read by
//! the same binary. What cannot be read is refused as a whole.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::jail::plan::{Body, Ghost, Plan, Step};
use crate::jail::{Network, Way};

/// A process to be started and attended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) walls: Option<Walls>,
    /// Nothing is executed if it is empty: the walls are tried.
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
}

/// What holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Walls {
    pub(crate) way: Way,
    pub(crate) network: Network,
    pub(crate) processes: u32,
    pub(crate) plan: Plan,
    /// The arguments of bubblewrap, its path first, up to the program. Empty by other ways.
    pub(crate) bubblewrap: Vec<OsString>,
}

impl Order {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer(Vec::with_capacity(8192));
        out.text(&self.program);
        out.texts(&self.args);
        out.number(self.env.len() as u64);
        for (name, value) in &self.env {
            out.text(name);
            out.text(value);
        }
        out.text(self.cwd.as_os_str());
        match &self.walls {
            None => out.number(0),
            Some(walls) => {
                out.number(1);
                out.walls(walls);
            }
        }
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader(bytes);
        let program = input.text()?;
        let args = input.texts()?;
        let count = input.number()?;
        let env = (0..count).map(|_| Some((input.text()?, input.text()?))).collect::<Option<_>>()?;
        let cwd = input.text()?.into();
        let walls = match input.number()? {
            0 => None,
            _ => Some(input.walls()?),
        };
        input.0.is_empty().then_some(Self { walls, program, args, env, cwd })
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &OsStr) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn texts(&mut self, texts: &[OsString]) {
        self.number(texts.len() as u64);
        for text in texts {
            self.text(text);
        }
    }

    fn paths(&mut self, paths: &[PathBuf]) {
        self.number(paths.len() as u64);
        for path in paths {
            self.text(path.as_os_str());
        }
    }

    fn walls(&mut self, walls: &Walls) {
        self.number(match walls.way {
            Way::BuiltIn => 0,
            Way::Bubblewrap => 1,
            Way::LandlockAlone => 2,
            Way::Seatbelt => 3,
        });
        self.number(u64::from(walls.network == Network::On));
        self.number(u64::from(walls.processes));
        self.texts(&walls.bubblewrap);
        let Plan { steps, ghosts, writable, hidden, temporary, temporary_limit } = &walls.plan;
        self.number(steps.len() as u64);
        for step in steps {
            self.step(step);
        }
        self.number(ghosts.len() as u64);
        for Ghost { path, body } in ghosts {
            self.number(match body {
                Body::Directory => 0,
                Body::Empty => 1,
                Body::Here => 2,
            });
            self.text(path.as_os_str());
        }
        self.paths(writable);
        self.paths(hidden);
        self.text(temporary.as_deref().unwrap_or(Path::new("")).as_os_str());
        self.number(*temporary_limit);
    }

    fn step(&mut self, step: &Step) {
        self.number(match step {
            Step::Keep(_) => 0,
            Step::Writable(_) => 1,
            Step::ReadOnly(_) => 2,
            Step::HideDirectory(_) => 3,
            Step::HideFile(_) => 4,
            Step::PinLink(_) => 5,
        });
        self.text(step.path().as_os_str());
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (head, tail) = self.0.split_first_chunk::<8>()?;
        self.0 = tail;
        Some(u64::from_le_bytes(*head))
    }

    fn text(&mut self) -> Option<OsString> {
        let length = usize::try_from(self.number()?).ok()?;
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(OsString::from_vec(head.to_vec()))
    }

    fn texts(&mut self) -> Option<Vec<OsString>> {
        let count = self.number()?;
        (0..count).map(|_| self.text()).collect()
    }

    fn paths(&mut self) -> Option<Vec<PathBuf>> {
        Some(self.texts()?.into_iter().map(PathBuf::from).collect())
    }

    fn walls(&mut self) -> Option<Walls> {
        let way = match self.number()? {
            0 => Way::BuiltIn,
            1 => Way::Bubblewrap,
            2 => Way::LandlockAlone,
            3 => Way::Seatbelt,
            _ => return None,
        };
        let network = if self.number()? == 1 { Network::On } else { Network::Off };
        let processes = u32::try_from(self.number()?).ok()?;
        let bubblewrap = self.texts()?;
        let count = self.number()?;
        let steps = (0..count).map(|_| self.step()).collect::<Option<_>>()?;
        let count = self.number()?;
        let ghosts = (0..count).map(|_| self.ghost()).collect::<Option<_>>()?;
        let writable = self.paths()?;
        let hidden = self.paths()?;
        let temporary = Some(PathBuf::from(self.text()?)).filter(|path| !path.as_os_str().is_empty());
        let temporary_limit = self.number()?;
        let plan = Plan { steps, ghosts, writable, hidden, temporary, temporary_limit };
        Some(Walls { way, network, processes, plan, bubblewrap })
    }

    fn step(&mut self) -> Option<Step> {
        let kind = self.number()?;
        let path = self.text()?.into();
        Some(match kind {
            0 => Step::Keep(path),
            1 => Step::Writable(path),
            2 => Step::ReadOnly(path),
            3 => Step::HideDirectory(path),
            4 => Step::HideFile(path),
            5 => Step::PinLink(path),
            _ => return None,
        })
    }

    fn ghost(&mut self) -> Option<Ghost> {
        let body = match self.number()? {
            0 => Body::Directory,
            1 => Body::Empty,
            2 => Body::Here,
            _ => return None,
        };
        Some(Ghost { path: self.text()?.into(), body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        let strange = OsString::from_vec(vec![b'/', 0xff, b'\n']);
        let plan = Plan {
            steps: vec![Step::Writable("/w".into()), Step::HideFile(strange.clone().into())],
            ghosts: vec![Ghost { path: "/w/.rein".into(), body: Body::Here }],
            writable: vec!["/w".into()],
            hidden: Vec::new(),
            temporary: Some("/private".into()),
            temporary_limit: 7,
        };
        Order {
            walls: Some(Walls {
                way: Way::Bubblewrap,
                network: Network::On,
                processes: 5,
                plan,
                bubblewrap: vec!["bwrap".into()],
            }),
            program: "sh".into(),
            args: vec![strange.clone(), OsString::new()],
            env: vec![("A".into(), strange)],
            cwd: "/w".into(),
        }
    }

    #[test]
    fn an_order_arrives_as_it_was_given() {
        assert_eq!(Order::decode(&order().encode()), Some(order()));
        let plain = Order { walls: None, ..order() };
        assert_eq!(Order::decode(&plain.encode()), Some(plain));
    }

    #[test]
    fn half_an_order_is_none() {
        let bytes = order().encode();
        for length in 0..bytes.len() {
            assert_eq!(Order::decode(&bytes[..length]), None, "{length}");
        }
        assert_eq!(Order::decode(&[bytes, vec![0]].concat()), None);
    }
}
