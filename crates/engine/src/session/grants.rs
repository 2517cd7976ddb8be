//! What a person allowed for longer than once: kept in the user's file, or for
//! the session only.
//!
//! What is taken back does not hold from the next call on. Other processes read
//! the file when they start.

use std::path::{Path, PathBuf};

use rein_config::{Directories, GrantScope, Grants, KeptGrant};
use rein_protocol::{GivenGrant, Grant, Scope, ServiceError};

/// Where kept grants are, and where the session works.
#[derive(Debug, Clone)]
pub(crate) struct Keeping {
    pub(crate) directories: Option<Directories>,
    pub(crate) workspace: PathBuf,
}

impl Keeping {
    /// The grants in the user's file that hold here.
    pub(crate) async fn list(&self) -> Result<Vec<GivenGrant>, ServiceError> {
        let Some(directories) = self.directories.clone() else { return Ok(Vec::new()) };
        let kept = blocking(move || Grants::load(&directories).map(|grants| grants.list().to_vec())).await?;
        let given = kept.iter().filter_map(|kept| {
            let scope = scope_in(kept, &self.workspace)?;
            Some(GivenGrant { grant: kept.grant.clone(), scope })
        });
        Ok(given.collect())
    }

    /// Takes a grant out of the file. Returns the names that it had there.
    pub(crate) async fn take_back(&self, given: &GivenGrant) -> Result<Vec<String>, ServiceError> {
        let Some(directories) = self.directories.clone() else { return Ok(Vec::new()) };
        let (workspace, given) = (self.workspace.clone(), given.clone());
        let revoked = blocking(move || {
            let all = Grants::load(&directories)?;
            let meant = |kept: &&KeptGrant| {
                kept.grant == given.grant && scope_in(kept, &workspace) == Some(given.scope)
            };
            let ids: Vec<String> = all.list().iter().filter(meant).map(|kept| kept.id.clone()).collect();
            Grants::revoke(&directories, &ids)
        });
        Ok(revoked.await?.into_iter().map(|kept| kept.id).collect())
    }
}

/// How a kept grant holds in a workspace, if it does.
fn scope_in(kept: &KeptGrant, here: &Path) -> Option<Scope> {
    match &kept.scope {
        GrantScope::Everywhere => Some(Scope::Everywhere),
        GrantScope::Project { workspace } => (workspace == here).then_some(Scope::Project),
    }
}

/// That nothing like it is allowed.
pub(crate) fn not_given(grant: &Grant) -> ServiceError {
    let message = format!("nothing is allowed as {}:{}", grant.permission, grant.pattern);
    ServiceError::Invalid { message }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, rein_config::ConfigError> + Send + 'static,
) -> Result<T, ServiceError> {
    let failed = |reason: String| ServiceError::Invalid { message: reason };
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}
