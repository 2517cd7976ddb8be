//! Lays the layers over each other: defaults, the user's file, the project's
//! files, the environment, flags. The later one wins, value by value; the
//! administrator's file caps what comes out.
//!
//! Rules of permission are not laid over each other: they come out layer by
//! layer, because the strictest layer decides and not the last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rein_protocol::Mode;
use serde::Deserialize;
use toml::{Table, Value};

use crate::check::{Check, Leaf};
use crate::directories::Directories;
use crate::document;
use crate::environment::Environment;
use crate::error::{ConfigError, Problem, ProblemKind, Problems, Warning};
use crate::flag::{self, Flag};
use crate::grants::Grants;
use crate::managed::{self, ModeLimit};
use crate::origin::{Origin, Source};
use crate::permission::{self, FormReader, PermissionLayer, PermissionRule};
use crate::project::{self, Values, Workspace};
use crate::quote;
use crate::settings::Settings;
use crate::shape::{self, Node};

/// What to load settings from.
#[derive(Debug, Clone, Copy)]
pub struct LoadRequest<'a> {
    /// Where the user's file is.
    pub directories: &'a Directories,
    /// The directory that rein works in, absolute; the project is looked for from here upwards.
    pub workspace_start: &'a Path,
    /// The environment.
    pub environment: &'a Environment,
    /// The command line.
    pub flags: &'a [Flag],
    /// The administrator's file: [`MANAGED_FILE`](crate::MANAGED_FILE), and another in tests only.
    pub managed: &'a Path,
    /// What reads the entries of the lists `permission.allow`, `ask` and `deny`.
    pub forms: FormReader,
}

/// Settings, and where they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// What holds.
    pub settings: Settings,
    /// Where it comes from, by dotted key: every key that rein knows, and what is set below `provider`.
    pub origins: BTreeMap<String, Origin>,
    /// The rules of permission, layer by layer, from the administrator's file on. Grants are not among them.
    pub permission: Vec<PermissionLayer>,
    /// What the user allowed with "always" that holds here: like what is allowed for a session, it lifts an `ask`
    /// and never a `deny`.
    pub grants: Vec<PermissionRule>,
    /// The freest mode that can be chosen, if the administrator says so. The mode in the settings is within it.
    pub mode_limit: Option<ModeLimit>,
    /// What was ignored.
    pub warnings: Vec<Warning>,
    /// The files that were read, in the order of the layers.
    pub files: Vec<PathBuf>,
    /// The root of the repository around the directory that rein works in, or that directory.
    pub workspace: PathBuf,
}

/// Loads settings.
///
/// # Errors
/// If a file is there and cannot be read, or if anything is set to what makes
/// no sense; all such problems are reported together.
pub fn load(request: &LoadRequest<'_>) -> Result<Loaded, ConfigError> {
    let root = shape::tree();
    let workspace = Workspace::find(request.workspace_start)?;
    let mut layers = Layers::over(root, request.forms);

    layers.managed(request.managed)?;
    layers.file(Source::User, &request.directories.user_file())?;
    for file in &workspace.files {
        layers.file(Source::Project, file)?;
    }
    let variables = flag::of_environment(root, request.environment, &mut layers.problems);
    layers.lay(Source::Environment, None, variables);
    let flags = flag::of_flags(root, request.flags, &mut layers.problems);
    layers.lay(Source::Flag, None, flags);

    let grants = Grants::load(request.directories)?.for_workspace(request.workspace_start);
    layers.finish(workspace.root, grants)
}

/// The layers so far.
struct Layers<'a> {
    root: &'a Node,
    forms: FormReader,
    mode_limit: Option<ModeLimit>,
    values: Values,
    permission: Vec<PermissionLayer>,
    warnings: Vec<Warning>,
    problems: Vec<Problem>,
    files: Vec<PathBuf>,
}

impl<'a> Layers<'a> {
    fn over(root: &'a Node, forms: FormReader) -> Self {
        Self {
            root,
            forms,
            mode_limit: None,
            values: Values::new(),
            permission: Vec::new(),
            warnings: Vec::new(),
            problems: Vec::new(),
            files: Vec::new(),
        }
    }

    fn managed(&mut self, file: &Path) -> Result<(), ConfigError> {
        let Some(text) = document::read(file)? else { return Ok(()) };
        self.files.push(file.to_owned());
        let tree = managed::tree(self.root);
        let mut check = Check::file(&tree, Origin::file(Source::Managed, file), &text);
        self.problems.append(&mut check.problems);
        let is_mode = |leaf: &Leaf| leaf.path.iter().eq(["mode"]);
        let (modes, rules): (Vec<Leaf>, Vec<Leaf>) = check.leaves.into_iter().partition(is_mode);
        self.mode_limit = modes.into_iter().find_map(|leaf| {
            let mode = Mode::ALL.into_iter().find(|mode| Some(mode.name()) == leaf.value.as_str())?;
            Some(ModeLimit { mode, origin: leaf.origin })
        });
        self.lay(Source::Managed, Some(file), rules);
        Ok(())
    }

    fn file(&mut self, source: Source, file: &Path) -> Result<(), ConfigError> {
        let Some(text) = document::read(file)? else { return Ok(()) };
        self.files.push(file.to_owned());
        let mut check = Check::file(self.root, Origin::file(source, file), &text);
        self.problems.append(&mut check.problems);
        let mut leaves = check.leaves;
        if source == Source::Project {
            leaves = project::narrow(self.root, leaves, &self.values, &mut self.warnings);
        }
        self.lay(source, Some(file), leaves);
        Ok(())
    }

    fn lay(&mut self, source: Source, file: Option<&Path>, leaves: Vec<Leaf>) {
        let is_rule = |leaf: &Leaf| leaf.path.first().is_some_and(|key| key == permission::TABLE);
        let (rules, values): (Vec<Leaf>, Vec<Leaf>) = leaves.into_iter().partition(is_rule);
        for leaf in values {
            self.values.insert(leaf.path, (leaf.value, leaf.origin));
        }
        self.permission.append(&mut permission::layers(&rules, source, file, self.forms, &mut self.problems));
    }

    fn finish(mut self, workspace: PathBuf, grants: Vec<PermissionRule>) -> Result<Loaded, ConfigError> {
        let mut table = Table::new();
        let mut origins = BTreeMap::new();
        self.root.visit_fixed(&mut Vec::new(), &mut |path, _| {
            if path.first().is_some_and(|key| key != permission::TABLE) {
                origins.insert(quote::key(path), Origin::default_value());
            }
        });
        for (path, (value, origin)) in self.values {
            origins.insert(quote::key(&path), origin);
            insert(&mut table, &path, value);
        }
        let mut settings = Settings::deserialize(Value::Table(table)).unwrap_or_else(|_| {
            // `check` lets nothing through that a field does not take; should it ever, it must be said, and
            // without the words of the deserializer, which repeat values.
            let kind = ProblemKind::Unusable;
            self.problems.push(Problem { origin: Origin::default_value(), column: None, kind });
            Settings::default()
        });
        if !self.problems.is_empty() {
            return Err(ConfigError::Invalid(Problems(self.problems)));
        }
        let Self { permission, mut warnings, files, mode_limit, .. } = self;
        if let (Some(limit), Some(origin)) = (&mode_limit, origins.get_mut("mode")) {
            warnings.extend(limit.warning(settings.mode, origin));
            let mode = limit.applied_to(settings.mode);
            if mode != settings.mode {
                (settings.mode, *origin) = (mode, limit.origin.clone());
            }
        }
        Ok(Loaded { settings, origins, permission, grants, mode_limit, warnings, files, workspace })
    }
}

fn insert(table: &mut Table, path: &[String], value: Value) {
    let Some((key, below)) = path.split_first() else { return };
    if below.is_empty() {
        let is_there = matches!((&value, table.get(key)), (Value::Table(_), Some(Value::Table(_))));
        if !is_there {
            table.insert(key.clone(), value);
        }
        return;
    }
    if let Value::Table(inner) = table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new())) {
        insert(inner, below, value);
    }
}
