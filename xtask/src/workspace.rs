//! Where the workspace is, which files belong to it and what cargo says of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::error::XtaskError;

/// The workspace this program was built from.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
}

/// A member, as cargo sees it.
#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    /// The manifest, absolute.
    pub manifest_path: PathBuf,
    /// What it names as dependencies.
    pub dependencies: Vec<Dependency>,
    /// What is compiled of it.
    pub targets: Vec<Target>,
}

/// A dependency as a manifest names it.
#[derive(Debug, Clone, Deserialize)]
pub struct Dependency {
    /// The package.
    pub name: String,
    /// `dev` or `build`; nothing for a normal one.
    pub kind: Option<String>,
    /// Its directory, if it is a member.
    pub path: Option<PathBuf>,
}

/// Something that is compiled.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    /// Its first file, absolute.
    pub src_path: PathBuf,
}

impl Package {
    /// The name of its directory, which is what the design calls it.
    pub fn directory(&self) -> String {
        let name = self.manifest_path.parent().and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Workspace {
    /// The one this program was built from.
    pub fn here() -> Self {
        let member = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: member.parent().unwrap_or(member).to_path_buf() }
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file of it as text.
    pub fn read(&self, relative: &Path) -> Result<String, XtaskError> {
        let path = self.root.join(relative);
        std::fs::read_to_string(&path).map_err(|error| XtaskError::Read { path, error })
    }

    /// The files that are tracked or could be, relative, in order. Ones that
    /// were deleted and not yet committed are left out.
    pub fn files(&self) -> Result<Vec<PathBuf>, XtaskError> {
        let listed = self.output("git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let mut files: Vec<PathBuf> = listed
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned()))
            .filter(|relative| self.root.join(relative).is_file())
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The members.
    pub fn packages(&self) -> Result<Vec<Package>, XtaskError> {
        #[derive(Deserialize)]
        struct Metadata {
            packages: Vec<Package>,
        }
        let text = self.output(&cargo(), &["metadata", "--no-deps", "--format-version", "1"])?;
        let metadata: Metadata = serde_json::from_slice(&text).map_err(|error| XtaskError::Strange {
            what: "cargo metadata".to_owned(),
            detail: error.to_string(),
        })?;
        Ok(metadata.packages)
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Result<Vec<u8>, XtaskError> {
        let shown = format!("{program} {}", arguments.join(" "));
        let output = clean(Command::new(program))
            .args(arguments)
            .current_dir(&self.root)
            .stderr(std::process::Stdio::inherit())
            .output()
            .map_err(|error| XtaskError::Start { program: shown.clone(), error })?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(XtaskError::Failed { program: shown, status: output.status, hint: None }),
        }
    }
}

/// The cargo that runs this, or the one in the path.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Without what `cargo run` told this process about itself: build scripts that
/// look at such variables would run again in every child.
pub fn clean(mut command: Command) -> Command {
    const PREFIXES: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CFG_"];
    const NAMES: [&str; 3] = ["CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];
    for (name, _) in std::env::vars_os() {
        let shown = name.to_string_lossy();
        if NAMES.contains(&shown.as_ref()) || PREFIXES.iter().any(|prefix| shown.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}
