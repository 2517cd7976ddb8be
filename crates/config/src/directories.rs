//! Where rein keeps its files, after the XDG base directory specification.
//!
//! Only says where: nothing is created here, and a directory need not exist.

use std::path::PathBuf;

use crate::environment::Environment;
use crate::error::ConfigError;

/// The four directories of rein. Each is an absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// What is the user's: `config.toml`, and `grants.toml` with what was allowed for good.
    pub config: PathBuf,
    /// What must not be lost: sessions.
    pub data: PathBuf,
    /// What may be lost without harm but should outlive a restart: logs.
    pub state: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
}

impl Directories {
    /// `$REIN_HOME/{config,data,state,cache}` if that variable is set, else
    /// `rein` below each of `$XDG_CONFIG_HOME`, `$XDG_DATA_HOME`,
    /// `$XDG_STATE_HOME` and `$XDG_CACHE_HOME`. Of those, one that is not an
    /// absolute path is ignored, as the specification demands, and its place
    /// below `$HOME` is taken.
    ///
    /// # Errors
    /// If `REIN_HOME` is not absolute, or if a directory depends on `HOME` and
    /// that is not an absolute path.
    pub fn find(environment: &Environment) -> Result<Self, ConfigError> {
        if let Some(value) = environment.get("REIN_HOME") {
            let home = PathBuf::from(value);
            if !home.is_absolute() {
                return Err(ConfigError::RelativeReinHome { value: home });
            }
            return Ok(Self {
                config: home.join("config"),
                data: home.join("data"),
                state: home.join("state"),
                cache: home.join("cache"),
            });
        }
        let absolute =
            |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let place = |variable: &str, below_home: &str| match absolute(variable) {
            Some(base) => Ok(base.join("rein")),
            None => {
                absolute("HOME").map(|home| home.join(below_home).join("rein")).ok_or(ConfigError::NoHome)
            }
        };
        Ok(Self {
            config: place("XDG_CONFIG_HOME", ".config")?,
            data: place("XDG_DATA_HOME", ".local/share")?,
            state: place("XDG_STATE_HOME", ".local/state")?,
            cache: place("XDG_CACHE_HOME", ".cache")?,
        })
    }

    /// The user's settings.
    #[must_use]
    pub fn user_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// What the user allowed with "always" beyond a session.
    #[must_use]
    pub fn grants_file(&self) -> PathBuf {
        self.config.join("grants.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Result<[String; 4], String> {
        let environment: Environment = variables.iter().copied().collect();
        let found = Directories::find(&environment).map_err(|error| error.to_string())?;
        Ok([found.config, found.data, found.state, found.cache].map(|path| path.display().to_string()))
    }

    fn paths(paths: [&str; 4]) -> Result<[String; 4], String> {
        Ok(paths.map(str::to_owned))
    }

    #[test]
    fn the_home_directory_is_enough() {
        assert_eq!(
            find(&[("HOME", "/home/ada")]),
            paths([
                "/home/ada/.config/rein",
                "/home/ada/.local/share/rein",
                "/home/ada/.local/state/rein",
                "/home/ada/.cache/rein"
            ])
        );
    }

    #[test]
    fn absolute_xdg_directories_count_and_relative_or_empty_ones_do_not() {
        assert_eq!(
            find(&[
                ("HOME", "/home/ada"),
                ("XDG_CONFIG_HOME", "/etc/ada"),
                ("XDG_DATA_HOME", "share"),
                ("XDG_STATE_HOME", ""),
                ("XDG_CACHE_HOME", "./cache"),
            ]),
            paths([
                "/etc/ada/rein",
                "/home/ada/.local/share/rein",
                "/home/ada/.local/state/rein",
                "/home/ada/.cache/rein"
            ])
        );
    }

    #[test]
    fn without_a_home_all_four_xdg_directories_are_needed() {
        let no_home = "there is no home directory: set HOME, or set REIN_HOME to the directory \
                       where rein may keep its files (both must be absolute paths)";
        let xdg = [("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d"), ("XDG_STATE_HOME", "/s")];
        assert_eq!(find(&[]), Err(no_home.to_owned()));
        assert_eq!(find(&xdg), Err(no_home.to_owned()));
        assert_eq!(find(&[("HOME", "")]), Err(no_home.to_owned()));
        assert_eq!(find(&[("HOME", "home/ada")]), Err(no_home.to_owned()));
        let mut all = xdg.to_vec();
        all.push(("XDG_CACHE_HOME", "/k"));
        assert_eq!(find(&all), paths(["/c/rein", "/d/rein", "/s/rein", "/k/rein"]));
    }

    #[test]
    fn rein_home_comes_before_everything_and_must_be_absolute() {
        assert_eq!(
            find(&[("REIN_HOME", "/r"), ("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/c")]),
            paths(["/r/config", "/r/data", "/r/state", "/r/cache"])
        );
        assert_eq!(
            find(&[("REIN_HOME", "here"), ("HOME", "/home/ada")]),
            Err("REIN_HOME is `here`, which is not an absolute path: write it in full, from `/`".to_owned())
        );
    }
}
