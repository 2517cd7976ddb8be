//! Addresses: whether a program that fetches talks to this machine only.

use crate::effect::Effect;
use crate::run::Judged;
use crate::word::Word;

/// Makes the network effect a loopback one if every address is on this machine.
pub(crate) fn judge(addresses: &[Word], judged: &mut Judged) {
    if addresses.is_empty() || !addresses.iter().all(is_loopback) {
        return;
    }
    judged.effects.retain(|(effect, _)| *effect != Effect::Network);
    judged.effect(Effect::Loopback, "talks to this machine only");
    judged.produced.fetches = false;
}

/// Whether a word is known to be an address of this machine. What follows the host may be unknown.
pub(crate) fn is_loopback(word: &Word) -> bool {
    let start = word.start();
    let rest = start.split_once("://").map_or(start, |(_, rest)| rest);
    let scheme = start.split_once("://").map_or("http", |(scheme, _)| scheme);
    if !matches!(scheme, "http" | "https" | "ws" | "wss") {
        return false;
    }
    let end = rest.find(['/', '?', '#']);
    // A host that goes on with something unknown is not known. After a colon only a port can come, but a port that
    // is not known might be `80@elsewhere`.
    if end.is_none() && word.literal().is_none() && !port_follows(word, rest) {
        return false;
    }
    let authority = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    if authority.contains(['@', '\\']) {
        return false;
    }
    is_loopback_host(host(authority))
}

/// Whether an address has something before an `@` in the part that names the machine.
pub(crate) fn has_userinfo(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest.get(..end).is_some_and(|authority| authority.contains('@'))
}

fn port_follows(word: &Word, rest: &str) -> bool {
    let numbers = word.holes().all(|hole| matches!(hole.why, crate::word::Why::Number));
    rest.ends_with(':') && numbers && !word.has_glob()
}

fn host(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

pub(crate) fn is_loopback_host(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let address =
        host.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    host == "localhost"
        || host.ends_with(".localhost")
        || host == "::1"
        || host == "0.0.0.0"
        || address && host.starts_with("127.") && host.split('.').count() == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for address in [
            "http://localhost:3000/x?y=1",
            "localhost:8080",
            "https://127.0.0.1/",
            "http://[::1]:80/",
            "http://api.localhost",
            "http://0.0.0.0:1",
        ] {
            assert!(is_loopback(&Word::text(address)), "{address}");
        }
        for address in [
            "http://localhost@evil.example/",
            "http://localhost:80@evil.example/",
            "http://localhost.evil.example/",
            "http://127.0.0.1.nip.io",
            "http://evil.example/localhost",
            "file:///etc/passwd",
            "ftp://localhost",
            "http://127.evil.com",
            "http://localhost\\@evil.example",
        ] {
            assert!(!is_loopback(&Word::text(address)), "{address}");
        }
    }
}
