//! Interpreters: where the code that they run comes from, and what is plain to
//! see in it.
//!
//! Code in another language is opaque: it never counts as reading only. What is
//! looked for in it makes a command louder, never quieter.

use crate::address;
use crate::analysis::{Danger, Usage};
use crate::effect::Effect;
use crate::options::Argument;
use crate::paths;
use crate::program::Resolved;
use crate::run::{Invocation, Judged};
use crate::walk::Feed;
use crate::word::{Why, Word};

/// Words in code that mean a connection.
const CONNECTS: [&str; 24] = [
    "requests.",
    "urllib",
    "urlopen",
    "httpx",
    "aiohttp",
    "http.client",
    "HTTPConnection",
    "socket.",
    "fetch(",
    "axios",
    "https.get",
    "http.get",
    "http.request",
    "net.connect",
    "net.createConnection",
    "WebSocket(",
    "smtplib",
    "ftplib",
    "paramiko",
    "Net::HTTP",
    "open-uri",
    "LWP::",
    "IO::Socket",
    "curl_exec",
];

/// Judges an interpreter that gets its program from an option, a file or its input.
pub(crate) fn judge(resolved: &Resolved, invocation: &Invocation, judged: &mut Judged) {
    if !resolved.row.interpreter || informs(resolved) {
        return;
    }
    let codes: Vec<&Word> = resolved
        .told
        .options
        .iter()
        .filter(|found| found.argument == Argument::Code)
        .filter_map(|found| found.value.as_ref())
        .collect();
    let rest = resolved.rest.get(resolved.told.length..).unwrap_or_default();
    if !codes.is_empty() {
        for code in codes {
            if code.is_fetched() {
                fetched(judged);
            }
            text(&code.shown(), judged);
        }
        arguments(rest, judged);
        return;
    }
    if resolved.told.options.iter().any(|found| found.argument == Argument::Module) {
        judged.effect(Effect::Project, "runs a module");
        arguments(rest, judged);
        return;
    }
    match rest.first() {
        Some(script) if script.literal() != Some("-") => {
            if script.holes().any(|hole| hole.why == Why::FetchedPipe) {
                fetched(judged);
            }
            judged.paths.push((script.clone(), Usage::Execute));
            judged.effect(Effect::Project, "runs a script");
            arguments(rest.get(1..).unwrap_or_default(), judged);
        }
        _ => {
            judged.effect(Effect::Project, "runs code from its input");
            arguments(rest.get(1..).unwrap_or_default(), judged);
            input(&invocation.feed, judged);
        }
    }
}

fn informs(resolved: &Resolved) -> bool {
    let rest = resolved.rest.get(resolved.told.length..).unwrap_or_default();
    let shown = |name: &str| matches!(name, "--version" | "--help" | "-V" | "-h" | "-v" | "-VV");
    rest.is_empty()
        && !resolved.told.options.is_empty()
        && resolved.told.options.iter().all(|found| shown(&found.shown) && found.value.is_none())
}

fn input(feed: &Feed, judged: &mut Judged) {
    match feed {
        Feed::Text(Some(code)) => text(code, judged),
        Feed::Pipe { text: Some(code), fetched: from_afar } => {
            text(code, judged);
            if *from_afar {
                fetched(judged);
            }
        }
        Feed::Pipe { text: None, fetched: true } => fetched(judged),
        Feed::File(word) => judged.paths.push((word.clone(), Usage::Execute)),
        Feed::Pipe { .. } | Feed::Text(None) | Feed::Inherited | Feed::Nothing => {}
    }
}

/// What another machine answers is run.
pub(crate) fn fetched(judged: &mut Judged) {
    judged.hazard(Danger::Catastrophic, "runs what another machine answers", "");
}

fn arguments(words: &[Word], judged: &mut Judged) {
    for word in words {
        judged.paths.extend(paths::suspected(word).map(|word| (word, Usage::Unknown)));
    }
}

/// Looks for connections and precious paths in code.
fn text(code: &str, judged: &mut Judged) {
    judged.effect(Effect::Project, "runs code that the line brings along");
    let code = crop(code);
    if CONNECTS.iter().any(|word| code.contains(word)) {
        let local = addresses(code).all(|address| address::is_loopback(&Word::text(address)));
        let some = addresses(code).next().is_some();
        if local && some {
            judged.effect(Effect::Loopback, "the code talks to this machine");
        } else {
            judged.effect(Effect::Network, "the code opens a connection");
        }
    }
    let upper = code.to_uppercase();
    let environment = ["ENVIRON", "GETENV", "PROCESS.ENV", "ENV["].iter().any(|word| upper.contains(word));
    let keys =
        ["SECRET", "TOKEN", "PASSWORD", "API_KEY", "APIKEY", "DATABASE_UR", "CREDENTIAL", "PRIVATE_KEY"];
    if upper.contains("DOTENV") || environment && keys.iter().any(|word| upper.contains(word)) {
        judged.hazard(Danger::Secrets, "the code reads keys from the environment", "");
    }
    for literal in literals(code) {
        if let Some(reason) = paths::secret(literal, None) {
            judged.hazard(Danger::Secrets, reason, literal);
        }
        if let Some(reason) = paths::persistence(literal, None) {
            judged.hazard(Danger::Persistence, reason, literal);
        }
    }
}

/// The part of a long text that is looked at.
fn crop(code: &str) -> &str {
    let mut end = code.len().min(64 * 1024);
    while !code.is_char_boundary(end) {
        end -= 1;
    }
    code.get(..end).unwrap_or_default()
}

fn addresses(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices("://").filter_map(|(at, _)| {
        let start =
            code.get(..at)?.rfind(|next: char| !next.is_ascii_alphanumeric()).map_or(0, |before| before + 1);
        let rest = code.get(start..)?;
        let end =
            rest.find(|next: char| next.is_whitespace() || "'\"`<>)".contains(next)).unwrap_or(rest.len());
        rest.get(..end)
    })
}

/// Strings in code that could be paths.
fn literals(code: &str) -> impl Iterator<Item = &str> {
    code.split(['\'', '"', '`'])
        .skip(1)
        .step_by(2)
        .filter(|text| !text.is_empty() && text.len() < 300)
        .filter(|text| !text.contains(|next: char| next.is_whitespace() || "*?[(".contains(next)))
        .take(500)
}
