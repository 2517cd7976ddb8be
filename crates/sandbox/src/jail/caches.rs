//! Where tools keep what they fetched and built, so that a build inside does not begin with nothing.
//!
//! Only what is fetched and checked by content, or rebuilt at will. Directories
//! from which programs are started outside (`~/.cargo/bin`, `~/go/bin`) and
//! settings that name commands (`~/.cargo/config.toml`) are not among them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Whether tools may fill their caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caches {
    /// They may: quick builds.
    #[default]
    On,
    /// They may only read them.
    Off,
}

/// Relative to the home directory.
const CACHES: &[&str] = &[
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    ".npm",
    ".cache/npm",
    ".cache/yarn",
    ".yarn/berry/cache",
    ".local/share/pnpm/store",
    ".cache/pnpm",
    ".bun/install/cache",
    ".cache/deno",
    ".cache/node",
    ".cache/node-gyp",
    ".cache/corepack",
    ".cache/pip",
    ".cache/uv",
    ".cache/pypoetry",
    ".cache/pdm",
    ".cache/pre-commit",
    ".cache/ruff",
    ".cache/mypy",
    ".cache/go-build",
    ".cache/golangci-lint",
    "go/pkg/mod",
    "go/pkg/sumdb",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/wrapper/dists",
    ".gradle/.tmp",
    ".m2/repository",
    ".ivy2/cache",
    ".cache/coursier",
    ".sbt/boot",
    ".nuget/packages",
    ".local/share/NuGet",
    ".cache/composer",
    ".composer/cache",
    ".cache/bazel",
    ".cache/bazelisk",
    ".cache/ccache",
    ".ccache",
    ".cache/sccache",
    ".cache/zig",
    ".cache/ms-playwright",
    ".cache/Cypress",
    ".cache/hex",
    ".cache/rebar3",
    ".hex/cache.ets",
    ".cache/dune",
    ".cabal/packages",
    ".stack/pantry",
    ".pub-cache/hosted",
    ".cache/swift",
];

/// The caches that are there. One that is missing is not made: a tool then fills its cache somewhere else
/// or says so.
pub(super) fn present(home: &Path) -> Vec<PathBuf> {
    CACHES.iter().map(|cache| home.join(cache)).filter(|path| path.symlink_metadata().is_ok()).collect()
}
