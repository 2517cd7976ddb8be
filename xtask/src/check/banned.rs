//! Crates that must not come in, not even through others: they need more than
//! a C compiler to build, or bring a second TLS stack.

use std::path::Path;

use super::Finding;

const BANNED: [(&str, &str); 2] = [
    ("aws-lc-sys", "needs cmake and minutes; `ring` is the provider of cryptography here"),
    ("openssl-sys", "needs a system library; `rustls` is the TLS here"),
];

/// Every banned crate in the lock file.
pub fn check(lock: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in lock.lines().enumerate() {
        for (name, why) in BANNED {
            if line == format!("name = \"{name}\"") {
                let message = format!("`{name}` came in: {why}; `cargo tree -i {name}` shows through whom");
                findings.push(Finding::new(Path::new("Cargo.lock"), index + 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_crate_is_found_by_its_whole_name() {
        let lock = "[[package]]\nname = \"openssl-sys-not\"\n\n[[package]]\nname = \"openssl-sys\"\nversion = \"1\"\n";
        let found: Vec<usize> = check(lock).iter().map(|finding| finding.line).collect();
        assert_eq!(found, [5]);
    }
}
