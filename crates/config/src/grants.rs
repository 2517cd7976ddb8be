//! What the user allowed with "always" beyond a session: for a project or
//! everywhere, in a file of the user's outside of every repository.
//!
//! The file is for people to read and to edit, and is replaced as a whole under
//! a lock, so that two processes that add at once lose nothing. One that is
//! there and cannot be read or understood is an error, never "no grants".
//! What a grant lifts is for the permission crate to say; it never lifts a
//! `deny`. Everything here blocks, usually for a few milliseconds.

mod text;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rein_protocol::{Grant, SessionId, Timestamp};

use crate::directories::Directories;
use crate::document;
use crate::error::{ConfigError, FileProblem};
use crate::origin::Origin;
use crate::permission::{Action, PermissionRule};
use crate::replace::{self, Lock};

/// Every grant that is kept, and the file it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants {
    file: PathBuf,
    grants: Vec<KeptGrant>,
}

/// A grant that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptGrant {
    /// Short, and the same for the same grant.
    pub id: String,
    /// What it allows.
    pub grant: Grant,
    /// Where it holds.
    pub scope: GrantScope,
    /// When it was given.
    pub when: Timestamp,
    /// In which session.
    pub session: SessionId,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// Where a grant holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GrantScope {
    /// In every session of one workspace.
    Project {
        /// The directory that such a session works in: absolute, with links resolved.
        workspace: PathBuf,
    },
    /// In every session.
    Everywhere,
}

/// A grant that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// What it allows.
    pub grant: Grant,
    /// Where it holds.
    pub scope: GrantScope,
    /// In which session it is given.
    pub session: SessionId,
}

impl Grants {
    /// Reads what is kept.
    ///
    /// # Errors
    /// If the file is there and cannot be read or understood, or can be written
    /// by others than the user.
    pub fn load(directories: &Directories) -> Result<Self, ConfigError> {
        let file = directories.grants_file();
        let grants = match document::read(&file)? {
            Some(written) => {
                check_private(&file)?;
                text::parse(&file, &written)?
            }
            None => Vec::new(),
        };
        Ok(Self { file, grants })
    }

    /// Every grant, in the order of the file.
    #[must_use]
    pub fn list(&self) -> &[KeptGrant] {
        &self.grants
    }

    /// The rules that grants are for a session that works in this directory.
    #[must_use]
    pub fn for_workspace(&self, directory: &Path) -> Vec<PermissionRule> {
        let holds = |grant: &&KeptGrant| match &grant.scope {
            GrantScope::Project { workspace } => workspace == directory,
            GrantScope::Everywhere => true,
        };
        self.grants.iter().filter(holds).map(|grant| self.rule(grant)).collect()
    }

    /// Keeps grants. One that is kept already stays as it is.
    ///
    /// # Errors
    /// As for [`Grants::load`], or if the file cannot be written. Nothing has changed then.
    pub fn add(directories: &Directories, new: &[NewGrant]) -> Result<Vec<KeptGrant>, ConfigError> {
        let _lock = Lock::take(&directories.config)?;
        let mut all = Self::load(directories)?;
        let when = Timestamp::now();
        let mut ids = Vec::new();
        for NewGrant { grant, scope, session } in new {
            let known = all.grants.iter().find(|kept| kept.grant == *grant && kept.scope == *scope);
            let id = match known {
                Some(kept) => kept.id.clone(),
                None => {
                    let id = all.free_id(grant, scope)?;
                    let (grant, scope, session) = (grant.clone(), scope.clone(), session.clone());
                    all.grants.push(KeptGrant { id: id.clone(), grant, scope, when, session, line: 0 });
                    id
                }
            };
            ids.push(id);
        }
        let written = all.write()?;
        Ok(ids.iter().filter_map(|id| written.iter().find(|grant| grant.id == *id)).cloned().collect())
    }

    /// Takes grants back, and returns those that there were.
    ///
    /// # Errors
    /// As for [`Grants::add`].
    pub fn revoke(directories: &Directories, ids: &[String]) -> Result<Vec<KeptGrant>, ConfigError> {
        let _lock = Lock::take(&directories.config)?;
        let mut all = Self::load(directories)?;
        let is_meant = |grant: &KeptGrant| ids.contains(&grant.id);
        let (revoked, left) = std::mem::take(&mut all.grants).into_iter().partition(is_meant);
        all.grants = left;
        let revoked: Vec<KeptGrant> = revoked;
        if !revoked.is_empty() {
            all.write()?;
        }
        Ok(revoked)
    }

    /// Writes the file, if what is written can be read again; otherwise changes nothing.
    fn write(&self) -> Result<Vec<KeptGrant>, ConfigError> {
        let text = text::write(&self.grants)?;
        let written = text::parse(&self.file, &text)?;
        replace::replace(&self.file, &text)?;
        Ok(written)
    }

    fn rule(&self, grant: &KeptGrant) -> PermissionRule {
        PermissionRule {
            permission: grant.grant.permission.clone(),
            pattern: grant.grant.pattern.clone(),
            action: Action::Allow,
            origin: Origin::grant(&self.file, grant.line, &grant.id),
        }
    }

    /// A short name from what the grant says, longer only where another grant has it.
    fn free_id(&self, grant: &Grant, scope: &GrantScope) -> Result<String, ConfigError> {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        const SHORTEST: usize = 5;
        let workspace = match scope {
            GrantScope::Project { workspace } => text::workspace(workspace)?,
            GrantScope::Everywhere => "",
        };
        let mut hasher = blake3::Hasher::new();
        for part in [grant.permission.as_str(), &grant.pattern, workspace] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let letters: String = hasher
            .finalize()
            .as_bytes()
            .iter()
            .filter_map(|byte| ALPHABET.get(usize::from(byte & 31)))
            .map(|letter| char::from(*letter))
            .collect();
        let taken: BTreeSet<&str> = self.grants.iter().map(|grant| grant.id.as_str()).collect();
        let free = (SHORTEST..=letters.len())
            .map(|length| format!("g{}", letters.get(..length).unwrap_or_default()))
            .find(|id| !taken.contains(id.as_str()));
        Ok(free.unwrap_or(letters))
    }
}

impl NewGrant {
    /// For every session of the workspace.
    pub fn project(grant: Grant, workspace: impl Into<PathBuf>, session: SessionId) -> Self {
        Self { grant, scope: GrantScope::Project { workspace: workspace.into() }, session }
    }

    /// For every session.
    #[must_use]
    pub fn everywhere(grant: Grant, session: SessionId) -> Self {
        Self { grant, scope: GrantScope::Everywhere, session }
    }
}

fn check_private(file: &Path) -> Result<(), ConfigError> {
    let failed = |problem| ConfigError::File { file: file.to_owned(), problem };
    let mode =
        std::fs::metadata(file).map_err(|error| failed(FileProblem::Unreadable(error)))?.permissions().mode();
    if mode & 0o022 == 0 { Ok(()) } else { Err(failed(FileProblem::WritableByOthers)) }
}
