//! The arrows between crates, compared with the design's table.
//!
//! Only what is shipped counts: a dev-dependency may point anywhere, because
//! tests look at things from outside.

use std::path::Path;

use super::Finding;
use crate::workspace::Package;

/// What a crate may name.
enum May {
    /// These and no others.
    Name(&'static [&'static str]),
    /// Every crate that is shipped.
    NameShipped,
    /// Whatever it likes.
    NameAnything,
}

/// Crates that are never part of the product.
const NOT_SHIPPED: [&str; 3] = ["testkit", "xtask", "bench"];

const TABLE: [(&str, May); 18] = [
    ("protocol", May::Name(&[])),
    ("shell", May::Name(&[])),
    ("http", May::Name(&[])),
    ("sandbox", May::Name(&["protocol"])),
    ("permission", May::Name(&["protocol", "shell"])),
    ("llm", May::Name(&["protocol", "http"])),
    ("store", May::Name(&["protocol"])),
    ("config", May::Name(&["protocol"])),
    ("rpc", May::Name(&["protocol", "http", "sandbox"])),
    ("tools", May::Name(&["protocol", "shell", "http", "sandbox", "rpc"])),
    ("engine", May::Name(&["protocol", "permission", "llm", "store", "config", "tools", "rpc"])),
    ("client", May::Name(&["protocol", "http"])),
    ("server", May::Name(&["protocol"])),
    ("tui", May::Name(&["protocol"])),
    ("cli", May::NameShipped),
    ("testkit", May::Name(&["protocol"])),
    ("xtask", May::NameAnything),
    ("bench", May::NameAnything),
];

/// Every arrow that the design does not have.
pub fn check(packages: &[Package], root: &Path) -> Vec<Finding> {
    packages.iter().flat_map(|package| check_one(package, root)).collect()
}

fn check_one(package: &Package, root: &Path) -> Vec<Finding> {
    let from = package.directory();
    let manifest = package.manifest_path.strip_prefix(root).unwrap_or(&package.manifest_path);
    let Some((_, may)) = TABLE.iter().find(|(name, _)| *name == from) else {
        let message =
            format!("crate `{from}` is not in the table of arrows: give it a row with what it may depend on");
        return vec![Finding::new(manifest, 1, message)];
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .filter_map(|dependency| {
            let to = dependency.path.as_deref()?.file_name()?.to_string_lossy();
            let allowed = match may {
                May::Name(names) => names.contains(&to.as_ref()),
                May::NameShipped => !NOT_SHIPPED.contains(&to.as_ref()),
                May::NameAnything => true,
            };
            let message = format!("`{from}` depends on `{to}`, an arrow that the design does not have");
            (!allowed).then(|| Finding::new(manifest, line_of(package, &dependency.name), message))
        })
        .collect()
}

/// The line of a manifest that names a dependency; the first if it cannot be read.
fn line_of(package: &Package, dependency: &str) -> usize {
    let text = std::fs::read_to_string(&package.manifest_path).unwrap_or_default();
    text.lines().position(|line| line.trim_start().starts_with(dependency)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        Package {
            manifest_path: format!("/r/crates/{name}/Cargo.toml").into(),
            dependencies: dependencies
                .iter()
                .map(|(to, kind)| Dependency {
                    name: format!("rein-{to}"),
                    kind: kind.map(str::to_owned),
                    path: Some(format!("/r/crates/{to}").into()),
                })
                .collect(),
            targets: Vec::new(),
        }
    }

    fn messages(packages: &[Package]) -> Vec<String> {
        check(packages, Path::new("/r")).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_arrows_of_the_design_pass() {
        let good = [
            package("protocol", &[]),
            package(
                "engine",
                &[("protocol", None), ("tools", None), ("testkit", Some("dev")), ("http", Some("dev"))],
            ),
            package("cli", &[("engine", None), ("sandbox", None)]),
            package("xtask", &[("testkit", None), ("llm", None)]),
        ];
        assert_eq!(messages(&good), [""; 0]);
    }

    #[test]
    fn an_arrow_against_the_design_is_named() {
        let bad = [
            package("tools", &[("engine", None)]),
            package("store", &[("http", Some("build"))]),
            package("cli", &[("testkit", None)]),
            package("novelty", &[]),
        ];
        assert_eq!(
            messages(&bad),
            [
                "crates/tools/Cargo.toml:1: `tools` depends on `engine`, an arrow that the design does not have",
                "crates/store/Cargo.toml:1: `store` depends on `http`, an arrow that the design does not have",
                "crates/cli/Cargo.toml:1: `cli` depends on `testkit`, an arrow that the design does not have",
                "crates/novelty/Cargo.toml:1: crate `novelty` is not in the table of arrows: \
                 give it a row with what it may depend on",
            ]
        );
    }

    #[test]
    fn a_dependency_from_outside_is_nobodys_business_here() {
        let mut package = package("protocol", &[]);
        package.dependencies.push(Dependency { name: "serde".to_owned(), kind: None, path: None });
        assert_eq!(messages(&[package]), [""; 0]);
    }
}
