//! The usual jail: everything readable but secrets, the workspace writable but for what runs code.
//!
//! It looks at the file system once, before anything has run inside, and names
//! canonical paths: a symbolic link that is made inside later leads nowhere new.

use std::path::{Path, PathBuf};

use super::caches::{self, Caches};
use super::secrets::SECRETS;
use super::{Jail, Limits, Network, Preference, Temporary, git, protected};

/// What the usual jail depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JailRequest {
    /// Where the work is.
    pub workspace: PathBuf,
    /// The user's home, if there is one: secrets and caches are looked for in it.
    pub home: Option<PathBuf>,
    /// The private temporary directory.
    pub temporary: Temporary,
    /// Whether tools may fill their caches.
    pub caches: Caches,
    /// What else may be written.
    pub extra_writable: Vec<PathBuf>,
    /// What else may not be read.
    pub extra_hidden: Vec<PathBuf>,
    /// Rein's own directories: credentials and conversations. They are hidden.
    pub rein_directories: Vec<PathBuf>,
    /// Whether it may talk to other machines.
    pub network: Network,
}

impl JailRequest {
    /// A workspace without a home, caches or network.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            home: None,
            temporary: Temporary::default(),
            caches: Caches::Off,
            extra_writable: Vec::new(),
            extra_hidden: Vec::new(),
            rein_directories: Vec::new(),
            network: Network::Off,
        }
    }
}

impl Jail {
    /// The usual jail. Looks at the file system; what cannot be looked at is neither writable nor hidden.
    pub fn standard(request: &JailRequest) -> Self {
        let workspace = canonical(&request.workspace);
        let home = request.home.as_deref().map(canonical);
        let repositories = git::repositories(&workspace);

        let mut writable = vec![workspace.clone()];
        writable.extend(repositories.writable);
        let caches = match (&home, request.caches) {
            (Some(home), Caches::On) => caches::present(home),
            (None, _) | (_, Caches::Off) => Vec::new(),
        };
        let further = caches.iter().chain(&request.extra_writable);
        writable.extend(further.filter_map(|path| outside_power_of(&workspace, path)));

        let mut read_only = repositories.read_only;
        read_only.extend(protected::in_workspace(&workspace));
        if let Some(home) = home.as_deref().filter(|home| home.starts_with(&workspace)) {
            read_only.extend(protected::in_home(home));
        }

        let mut hidden: Vec<PathBuf> =
            SECRETS.iter().flat_map(|secret| places(secret, home.as_deref())).collect();
        hidden
            .extend(request.rein_directories.iter().chain(&request.extra_hidden).map(|path| canonical(path)));
        Self {
            writable: distinct(writable),
            read_only: distinct(read_only),
            hidden: distinct(hidden),
            network: request.network,
            temporary: request.temporary.clone(),
            limits: Limits::default(),
            preference: Preference::default(),
        }
    }
}

/// Without symbolic links, or as it is if it is not there.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The canonical path, unless it leads out of the workspace through a link that may have been made in it.
fn outside_power_of(workspace: &Path, path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let was_inside = path.starts_with(workspace);
    (!was_inside || real.starts_with(workspace)).then_some(real)
}

/// Where a secret is: the home directory's, with `*` for every entry of a directory.
fn places(secret: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let base = match (secret.starts_with('/'), home) {
        (true, _) => PathBuf::from("/"),
        (false, Some(home)) => home.to_owned(),
        (false, None) => return Vec::new(),
    };
    let mut places = vec![base];
    for component in secret.split('/').filter(|component| !component.is_empty()) {
        places = match component {
            "*" => places
                .iter()
                .filter_map(|place| std::fs::read_dir(place).ok())
                .flat_map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()))
                .collect(),
            name => places.into_iter().map(|place| place.join(name)).collect(),
        };
    }
    places
}

fn distinct(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_made_in_the_workspace_widens_nothing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let workspace = home.join("work");
        std::fs::create_dir_all(workspace.join("cache")).unwrap();
        std::os::unix::fs::symlink("/etc", workspace.join("link")).unwrap();
        std::fs::write(workspace.join(".git"), format!("gitdir: {}", home.display())).unwrap();
        let mut request = JailRequest::new(&workspace);
        request.extra_writable = vec![workspace.join("link"), workspace.join("cache")];
        let jail = Jail::standard(&request);
        assert_eq!(jail.writable, [workspace.clone(), workspace.join("cache")]);
        assert!(jail.read_only.contains(&workspace.join(".git")));
    }

    #[test]
    fn secrets_are_those_of_the_home_and_of_the_machine() {
        let mut request = JailRequest::new("/nowhere/work");
        assert!(Jail::standard(&request).hidden.iter().all(|path| !path.ends_with(".ssh")));
        request.home = Some("/nowhere".into());
        request.rein_directories = vec!["/nowhere/.local/share/rein".into()];
        let hidden = Jail::standard(&request).hidden;
        for path in ["/nowhere/.ssh", "/nowhere/.local/share/rein", "/etc/shadow"] {
            assert!(hidden.contains(&PathBuf::from(path)), "{path}");
        }
    }

    #[test]
    fn a_jail_can_be_written_down_and_read_again() {
        let jail = Jail::standard(&JailRequest::new("/nowhere"));
        let text = serde_json::to_string(&jail).unwrap();
        assert_eq!(serde_json::from_str::<Jail>(&text).unwrap(), jail);
    }
}
