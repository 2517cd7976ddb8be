//! The tables: what programs do, which options and variables are escape
//! hatches, which paths are precious. Data with a reason for every row, in
//! `tables/*.toml`, read once.
//!
//! A table that cannot be read is never an empty table: [`tables`] says so and
//! the analysis knows nothing then.

use crate::analysis::Danger;
use crate::effect::Effect;
use crate::glob;
use crate::map::Map;
use crate::options::Options;
use crate::precious::Precious;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What a program or a sub-command does.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What it does with the options that are described.
    pub effect: Effect,
    /// Why it counts as that.
    pub why: String,
    /// Other names for the same, in the place of the last word.
    #[serde(default)]
    also: Vec<String>,
    /// Options; see [`Options::parse`].
    #[serde(default, rename = "options")]
    described: String,
    /// What its operands are; see [`crate::operands`].
    #[serde(default)]
    pub operands: String,
    /// Long options have one dash.
    #[serde(default)]
    single: bool,
    /// The effect without any operand or sub-command.
    pub bare: Option<Effect>,
    /// How it runs another command.
    pub inner: Option<Inner>,
    /// Operands before the inner command or script.
    #[serde(default)]
    pub skip: usize,
    /// What it prints is a number.
    #[serde(default)]
    pub number: bool,
    /// What it prints comes from another machine.
    #[serde(default)]
    pub fetches: bool,
    /// Runs a program by its input or its operand: an interpreter.
    #[serde(default)]
    pub interpreter: bool,
    /// For the tests of a wrapper: a command line, and what must be found in it.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests of the table"))]
    pub example: Option<String>,
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests of the table"))]
    pub runs: Option<String>,
    #[serde(skip)]
    pub options: Options,
    /// Whether rows for sub-commands exist.
    #[serde(skip)]
    pub branches: bool,
}

/// How a command runs another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inner {
    /// The words after its options and `skip` operands are a command.
    Argv,
    /// The same, with `NAME=value` words before.
    Environment,
    /// They are joined to a shell script.
    Script,
    /// The words after `--` are a command.
    Dashes,
    /// The words are a command whose first word is a package that may have to be fetched.
    Package,
    /// A shell: `-c`, a script file, or its input.
    Shell,
    /// Arguments from its input are added.
    Arguments,
    /// Text that is split into words, or a script in an option only.
    Options,
}

/// An option or operand that turns a command into something else.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gadget {
    /// The program, or program and sub-command.
    pub program: String,
    /// The options it is about, as [`Options::parse`] reads them.
    #[serde(default)]
    pub options: String,
    /// A pattern for an operand.
    pub operand: Option<String>,
    /// This many operands or more.
    pub operands: Option<usize>,
    /// What it leads to.
    pub class: Danger,
    /// Why.
    pub reason: String,
    /// Values with which the options are harmless, as patterns.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Values with which the options matter, as patterns; any if there is none.
    #[serde(default)]
    pub only: Vec<String>,
    /// For the tests: a command that must be flagged, and one that must not.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests of the table"))]
    pub example: String,
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests of the table"))]
    pub harmless: Option<String>,
    /// The names of the options.
    #[serde(skip)]
    pub names: Vec<String>,
}

/// A variable that changes what other programs do.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// A pattern for its name.
    pub name: String,
    /// What it leads to; none for one that only makes a program load code of the project.
    pub class: Option<Danger>,
    /// Why.
    pub reason: String,
    /// Values that are harmless, as patterns.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Bare names mean something else under it.
    #[serde(default)]
    pub lookup: bool,
    /// It changes nothing that matters; the row keeps a broader one from counting.
    #[serde(default)]
    pub quiet: bool,
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests of the table"))]
    pub example: String,
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests of the table"))]
    pub harmless: Option<String>,
}

/// A kind of path that is precious.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathRow {
    /// Patterns: `~/` is the home directory, `**/` any directory, a bare name any file of that name.
    pub patterns: Vec<String>,
    /// Patterns that are none after all.
    #[serde(default)]
    pub except: Vec<String>,
    /// Why.
    pub reason: String,
}

/// A command that may only be offered as it stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Destructive {
    /// The words it begins with.
    pub head: String,
    /// Options that make it one; none if it always is.
    #[serde(default)]
    pub options: Vec<String>,
    /// Why.
    pub reason: String,
}

/// A key of git's configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitKey {
    /// A pattern for the key.
    pub key: String,
    /// Values that are harmless, as patterns.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Whether the key is harmless whatever its value.
    #[serde(default)]
    pub harmless: bool,
    /// Why.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests of the table"))]
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GadgetFile {
    gadget: Vec<Gadget>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableFile {
    variable: Vec<Variable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathFile {
    secret: Vec<PathRow>,
    persistence: Vec<PathRow>,
    system: Vec<PathRow>,
    device: Vec<PathRow>,
    lookup: Vec<PathRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DestructiveFile {
    destructive: Vec<Destructive>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GitFile {
    key: Vec<GitKey>,
}

/// All tables.
#[derive(Debug)]
pub struct Tables {
    pub rows: Map<String, Row>,
    /// Other names of programs: `egrep`, `podman`.
    pub synonyms: Map<String, String>,
    pub gadgets: Map<String, Vec<Gadget>>,
    pub variables: Vec<Variable>,
    /// Where names without a pattern stand among the variables.
    variable_names: Map<String, usize>,
    pub secrets: Precious,
    pub persistence: Precious,
    /// Directories that the system lives in.
    pub system: Precious,
    /// Devices that hold data.
    pub devices: Precious,
    /// Directories that `PATH` may have more of.
    pub lookup: Precious,
    pub destructive: Map<String, Vec<Destructive>>,
    pub git_keys: Vec<GitKey>,
}

/// The programs, by theme.
pub(crate) const PROGRAMS: [(&str, &str); 9] = [
    ("shell", include_str!("tables/programs/shell.toml")),
    ("files", include_str!("tables/programs/files.toml")),
    ("text", include_str!("tables/programs/text.toml")),
    ("git", include_str!("tables/programs/git.toml")),
    ("build", include_str!("tables/programs/build.toml")),
    ("packages", include_str!("tables/programs/packages.toml")),
    ("system", include_str!("tables/programs/system.toml")),
    ("remote", include_str!("tables/programs/remote.toml")),
    ("wrappers", include_str!("tables/wrappers.toml")),
];

/// The tables, read once. None if they cannot be read: then nothing is known.
pub fn tables() -> Option<&'static Tables> {
    static TABLES: OnceLock<Option<Tables>> = OnceLock::new();
    TABLES.get_or_init(|| load().ok()).as_ref()
}

/// Reads the tables.
pub(crate) fn load() -> Result<Tables, toml::de::Error> {
    let gadgets: GadgetFile = toml::from_str(include_str!("tables/gadgets.toml"))?;
    let more: GadgetFile = toml::from_str(include_str!("tables/gadgets-more.toml"))?;
    let variables: VariableFile = toml::from_str(include_str!("tables/environment.toml"))?;
    let paths: PathFile = toml::from_str(include_str!("tables/paths.toml"))?;
    let destructive: DestructiveFile = toml::from_str(include_str!("tables/destructive.toml"))?;
    let git: GitFile = toml::from_str(include_str!("tables/git-config.toml"))?;
    let mut by_program: Map<String, Vec<Gadget>> = Map::default();
    for mut gadget in gadgets.gadget.into_iter().chain(more.gadget) {
        gadget.names = gadget.options.split_whitespace().flat_map(option_names).map(str::to_owned).collect();
        for program in gadget.program.split(',') {
            by_program.entry(program.trim().to_owned()).or_default().push(gadget.clone());
        }
    }
    let mut by_head: Map<String, Vec<Destructive>> = Map::default();
    for row in destructive.destructive {
        let program = row.head.split(' ').next().unwrap_or_default().to_owned();
        by_head.entry(program).or_default().push(row);
    }
    let (rows, synonyms) = rows(&by_program)?;
    Ok(Tables {
        rows,
        synonyms,
        gadgets: by_program,
        variable_names: named(&variables.variable),
        variables: variables.variable,
        secrets: Precious::new(paths.secret),
        persistence: Precious::new(paths.persistence),
        system: Precious::new(paths.system),
        devices: Precious::new(paths.device),
        lookup: Precious::new(paths.lookup),
        destructive: by_head,
        git_keys: git.key,
    })
}

/// The names in one word of a description: `-o|--output=>`.
fn option_names(token: &str) -> impl Iterator<Item = &str> {
    let names = token.strip_suffix("[=]").unwrap_or(token);
    names.split_once('=').map_or(names, |(names, _)| names).split('|')
}

fn named(variables: &[Variable]) -> Map<String, usize> {
    let exact = variables.iter().enumerate().filter(|(_, row)| !row.name.contains(['*', '?']));
    exact.map(|(index, row)| (row.name.clone(), index)).collect()
}

impl Tables {
    /// The row for a variable: the one with exactly its name, or the first whose pattern fits.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        if let Some(index) = self.variable_names.get(name) {
            return self.variables.get(*index);
        }
        let wide = |row: &&Variable| row.name.contains(['*', '?']) && glob::matches(&row.name, name);
        self.variables.iter().find(wide)
    }
}

type Rows = (Map<String, Row>, Map<String, String>);

fn rows(gadgets: &Map<String, Vec<Gadget>>) -> Result<Rows, toml::de::Error> {
    let mut rows: Map<String, Row> = Map::default();
    let mut synonyms = Map::default();
    for (_, text) in PROGRAMS {
        let file: BTreeMap<String, Row> = toml::from_str(text)?;
        for (name, mut row) in file {
            row.options = Options::parse(&row.described);
            row.options.single = row.single;
            let parent = name.rsplit_once(' ').map(|(parent, _)| parent);
            for other in std::mem::take(&mut row.also) {
                match parent {
                    Some(parent) => _ = rows.insert(format!("{parent} {other}"), row.clone()),
                    None => _ = synonyms.insert(other, name.clone()),
                }
            }
            rows.insert(name, row);
        }
    }
    for (name, row) in &mut rows {
        for gadget in gadgets.get(name).into_iter().flatten() {
            gadget.options.split_whitespace().for_each(|token| row.options.add(token));
        }
    }
    let parents: Vec<String> =
        rows.keys().filter_map(|name| name.rsplit_once(' ')).map(|(parent, _)| parent.to_owned()).collect();
    for parent in parents {
        if let Some(row) = rows.get_mut(&parent) {
            row.branches = true;
        }
    }
    Ok((rows, synonyms))
}
