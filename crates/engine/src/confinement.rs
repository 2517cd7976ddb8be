//! From the rights that a judgement gave a call to the jail of its commands.
//!
//! Deciding about rights is `permission`'s business, and building walls
//! `sandbox`'s; here the one is translated into the other. The invariant: a
//! jail is never wider than the usual one by more than the rights say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rein_permission::{Confinement, Network, NetworkSetting, Rights, Walls};
use rein_tools::jail::{self, Caches, Jail, JailRequest, Limits, Preference, Temporary};

/// How commands are confined.
#[derive(Debug, Clone, Default)]
pub enum Commands {
    /// They run with all of the user's rights, because the user said so.
    #[default]
    Unconfined,
    /// The kernel confines them.
    Confined(Box<JailSettings>),
    /// The kernel lacks the means; each of them asks.
    Unavailable,
}

/// What jails are made of.
#[derive(Debug, Clone)]
pub struct JailSettings {
    /// Whether commands may write to the caches of tools.
    pub caches: Caches,
    /// Further places that they may write to.
    pub writable: Vec<PathBuf>,
    /// Further places that they may not read.
    pub hidden: Vec<PathBuf>,
    /// By what means they are held.
    pub preference: Preference,
    /// How much fits into their temporary directory.
    pub temporary_bytes: u64,
    /// How many processes they may have at once.
    pub processes: u32,
    /// Whether they reach other machines.
    pub network: NetworkSetting,
}

impl Commands {
    /// As the policy needs to know it.
    #[must_use]
    pub fn confinement(&self) -> Confinement {
        match self {
            Self::Unconfined => Confinement::Unconfined,
            Self::Confined(_) => Confinement::Confined,
            Self::Unavailable => Confinement::Unavailable,
        }
    }

    /// Whether confined commands reach other machines.
    #[must_use]
    pub fn network(&self) -> NetworkSetting {
        match self {
            Self::Confined(settings) => settings.network,
            Self::Unconfined | Self::Unavailable => NetworkSetting::default(),
        }
    }
}

/// Makes the jails of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Jailer {
    pub(crate) commands: Commands,
    pub(crate) workspace: PathBuf,
    pub(crate) home: Option<PathBuf>,
    /// rein's own directories.
    pub(crate) own: Vec<PathBuf>,
    /// The directory that stands in for `/tmp`.
    pub(crate) temporary: Option<PathBuf>,
    /// Where shells leave what later ones need.
    pub(crate) shell: Option<PathBuf>,
}

impl Jailer {
    /// What holds commands with these rights, if anything does.
    pub(crate) fn walls(self: &Arc<Self>, rights: &Rights) -> Option<rein_tools::Walls> {
        let Commands::Confined(settings) = &self.commands else { return None };
        if rights.walls == Walls::Down {
            return None;
        }
        let (jailer, settings, rights) = (Arc::clone(self), settings.clone(), rights.clone());
        Some(rein_tools::Walls::new(move || jailer.jail(&settings, &rights)))
    }

    fn jail(&self, settings: &JailSettings, rights: &Rights) -> Jail {
        let request = JailRequest {
            workspace: self.workspace.clone(),
            home: self.home.clone(),
            temporary: Temporary { directory: self.temporary.clone(), limit_bytes: settings.temporary_bytes },
            caches: settings.caches,
            extra_writable: settings.writable.clone(),
            extra_hidden: settings.hidden.clone(),
            rein_directories: self.own.clone(),
            network: match rights.network {
                Network::On => jail::Network::On,
                Network::Off => jail::Network::Off,
            },
        };
        let mut jail = Jail::standard(&request);
        jail.preference = settings.preference;
        jail.limits = Limits { processes: settings.processes };
        jail.writable.extend(self.shell.clone());
        widen(&mut jail, rights, &self.own);
        jail
    }
}

/// Opens what was named and allowed. rein's own directories stay closed.
fn widen(jail: &mut Jail, rights: &Rights, own: &[PathBuf]) {
    let is_own = |path: &Path| own.iter().any(|own| path.starts_with(own) || own.starts_with(path));
    for path in rights.writable.iter().filter(|path| !is_own(path)) {
        let within = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
        if within(&jail.writable) && !within(&jail.read_only) && !within(&jail.hidden) {
            continue;
        }
        jail.read_only.retain(|place| place != path);
        jail.hidden.retain(|place| place != path);
        if let Some(place) = existing(path).filter(|place| !is_own(place)) {
            jail.writable.push(place);
        }
    }
    for path in rights.readable.iter().filter(|path| !is_own(path)) {
        let hidden = jail.hidden.iter().any(|place| path.starts_with(place));
        if hidden && path.exists() {
            jail.hidden.retain(|place| place != path);
            jail.read_only.push(path.clone());
        }
    }
}

/// What must be open for a path to be made or changed: itself, or the directory that it will be in.
fn existing(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return Some(path.to_owned());
    }
    let parent = path.parent()?;
    // A directory that everything is in is more than was named.
    (parent.is_dir() && parent.components().count() > 2).then(|| parent.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jailer(workspace: &Path, home: &Path, own: &Path) -> Jailer {
        let settings = JailSettings {
            caches: Caches::Off,
            writable: Vec::new(),
            hidden: Vec::new(),
            preference: Preference::Automatic,
            temporary_bytes: 1 << 20,
            processes: 64,
            network: NetworkSetting::AsNeeded,
        };
        Jailer {
            commands: Commands::Confined(Box::new(settings)),
            workspace: workspace.to_owned(),
            home: Some(home.to_owned()),
            own: vec![own.to_owned()],
            temporary: None,
            shell: None,
        }
    }

    #[test]
    fn only_what_was_named_is_opened_and_never_what_is_reins_own() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let (workspace, home, own) = (root.join("w"), root.join("home"), root.join("own"));
        for made in [&workspace, &home.join(".ssh"), &own, &root.join("out")] {
            std::fs::create_dir_all(made).unwrap();
        }
        std::fs::write(home.join(".ssh/config"), "Host x").unwrap();
        let jailer = Arc::new(jailer(&workspace, &home, &own));
        let jail = |rights: &Rights| jailer.walls(rights).map(|walls| Arc::clone(walls.jail()));
        let usual = jail(&Rights::default()).unwrap();
        let rights = Rights {
            network: Network::On,
            writable: vec![root.join("out/new.txt"), own.join("credentials"), root.clone(), "/x".into()],
            readable: vec![home.join(".ssh/config"), own.join("secret"), workspace.join("a")],
            ..Rights::default()
        };
        let wide = jail(&rights).unwrap();
        let more = |wide: &[PathBuf], usual: &[PathBuf]| -> Vec<PathBuf> {
            wide.iter().filter(|path| !usual.contains(path)).cloned().collect()
        };
        assert_eq!(more(&wide.writable, &usual.writable), [root.join("out")]);
        assert_eq!(more(&wide.read_only, &usual.read_only), [home.join(".ssh/config")]);
        assert_eq!(wide.hidden, usual.hidden);
        assert_eq!((usual.network, wide.network), (jail::Network::Off, jail::Network::On));
        assert!(jail(&Rights { walls: Walls::Down, ..Rights::default() }).is_none());
    }
}
