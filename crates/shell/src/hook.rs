//! Programs whose words say more than a table can: `rm -r`, `sed`, `awk`,
//! `chmod`, `kill`, `curl` and a few more.

use crate::analysis::{Danger, Usage};
use crate::effect::Effect;
use crate::options::Told;
use crate::program::Resolved;
use crate::run::{Invocation, Judged};
use crate::script::{Deed, awk, sed};
use crate::state::State;
use crate::walk::Feed;
use crate::word::{Piece, Why, Word};

/// Adds what is special about a program.
pub(crate) fn judge(resolved: &Resolved, invocation: &Invocation, state: &State, judged: &mut Judged) {
    let told = &resolved.told;
    match resolved.key.as_str() {
        "echo" => judged.produced.text = echo(&told_words(invocation)),
        "printf" => judged.produced.text = printf(&told.operands),
        "pwd" => judged.produced.text = state.directory().map(str::to_owned),
        "cat" if told.operands.is_empty() => judged.produced.text = fed_text(&invocation.feed),
        "rm" => remove(told, judged),
        "sed" => sed_script(told, judged),
        "awk" => awk_program(told, judged),
        "perl" | "ruby" if told.has(&["-i"]) => {
            judged.effect(Effect::Write, "edits files in place");
            let files = resolved.rest.get(told.length..).unwrap_or_default();
            judged.paths.extend(files.iter().map(|word| (word.clone(), Usage::Write)));
        }
        "chmod" => {
            chmod(told, judged);
            whole_tree(told, judged);
        }
        "chown" | "chgrp" => whole_tree(told, judged),
        "kill" => kill(told, judged),
        "dd" => dd(&resolved.rest, judged),
        "curl" => curl(told, judged),
        "find" if told.has(&["-delete"]) => {
            judged.paths.extend(told.operands.iter().map(|word| (word.clone(), Usage::DeleteTree)));
        }
        "wget" if !told.has(&["-O", "--output-document"]) => remote_names(told, judged),
        "tail" if told.has(&["-f", "-F", "--follow", "--retry"]) => {
            judged.effect(Effect::Guarded, "does not end by itself");
        }
        "cp" | "mv" | "ln" | "install" => into_directory(resolved, judged),
        "tee" if told.operands.is_empty() => judged.effects.retain(|(effect, _)| *effect != Effect::Write),
        "date" | "uname" | "hostname" => judged.produced.number = told.operands.iter().any(is_seconds),
        "grep" | "rg" => {
            judged.produced.number = told.has(&["-c", "--count"]);
            if told.has(&["-R", "--dereference-recursive"]) {
                judged.effect(Effect::Guarded, "follows links, also out of the workspace");
            }
        }
        "jq" if told.operands.iter().any(mentions_environment) => {
            judged.effect(Effect::Secret, "prints the environment");
            judged.hazard(Danger::Secrets, "`env` in a filter is the whole environment", "env");
        }
        "npm run" | "yarn run" | "pnpm run" | "bun run" | "make" | "just" | "task" | "rake" | "gulp"
        | "invoke" => {
            task(told, judged);
        }
        "rmdir" | "del" | "format" => windows(resolved, judged),
        "go list" if told.has(&["-versions", "-u"]) => {
            judged.effect(Effect::Network, "asks where modules come from");
        }
        "crontab" if told.operands.is_empty() && told.has(&["-l"]) && told.options.len() == 1 => {
            judged.effects.retain(|(effect, _)| *effect != Effect::System);
            judged.effect(Effect::Read, "prints what runs by the clock");
        }
        "sqlite3" => statements(told, judged),
        _ => {}
    }
    if remote_copy(&resolved.key) {
        remote(told, judged);
    }
}

fn told_words(invocation: &Invocation) -> Vec<Word> {
    invocation.argv.iter().skip(1).cloned().collect()
}

/// What `echo` prints, if it is plain.
fn echo(words: &[Word]) -> Option<String> {
    let (words, end) = match words.first().and_then(Word::literal) {
        Some("-n") => (words.get(1..)?, ""),
        Some(option) if option.starts_with('-') && option.len() <= 3 => return None,
        _ => (words, "\n"),
    };
    let texts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
    Some(texts?.join(" ") + end)
}

/// What `printf` prints, if the format is plain or prints its arguments as they are.
fn printf(operands: &[Word]) -> Option<String> {
    let format = operands.first()?.literal()?;
    let rest: Option<Vec<&str>> = operands.iter().skip(1).map(Word::literal).collect();
    let rest = rest?;
    match format {
        "%s" => Some(rest.concat()),
        "%s\\n" | "%s\n" => Some(rest.iter().map(|word| format!("{word}\n")).collect()),
        plain if rest.is_empty() && !plain.contains('%') => {
            let plain = plain.replace("\\n", "\n");
            (!plain.contains('\\')).then_some(plain)
        }
        _ => None,
    }
}

fn fed_text(feed: &Feed) -> Option<String> {
    match feed {
        Feed::Text(text) | Feed::Pipe { text, .. } => text.clone(),
        Feed::Inherited | Feed::Nothing | Feed::File(_) => None,
    }
}

fn remove(told: &Told, judged: &mut Judged) {
    for word in &told.operands {
        if word.literal().is_some_and(|name| name.eq_ignore_ascii_case("nul")) {
            judged.hazard(Danger::Writes, "a name that stands for a device on some systems", "nul");
        }
    }
    let recursive = told.has(&["-r", "-R", "--recursive", "--no-preserve-root", "-d"]);
    if !recursive {
        return;
    }
    for (_, usage) in &mut judged.paths {
        if *usage == Usage::Delete {
            *usage = Usage::DeleteTree;
        }
    }
}

/// Text of a program with digits in place of numbers that are not known.
fn program_text(word: &Word) -> Option<String> {
    let mut text = String::new();
    for piece in word.pieces() {
        match piece {
            Piece::Text(known) | Piece::Glob(known) => text.push_str(known),
            Piece::Hole(hole) if matches!(hole.why, Why::Number | Why::Background) => text.push('1'),
            Piece::Hole(_) => return None,
        }
    }
    Some(text)
}

fn deeds(found: Vec<Deed>, language: &str, shown: &str, judged: &mut Judged) {
    for deed in found {
        match deed {
            Deed::Executes => {
                judged.effect(Effect::Project, format!("the {language} program runs a command"));
                judged.hazard(Danger::Executes, format!("the {language} program runs a command"), shown);
            }
            Deed::Connects => {
                judged.effect(Effect::Network, format!("the {language} program opens a connection"));
                judged.hazard(
                    Danger::Exfiltrates,
                    format!("the {language} program opens a connection"),
                    shown,
                );
            }
            Deed::Environment => {
                judged.hazard(
                    Danger::Secrets,
                    format!("the {language} program reads the environment"),
                    shown,
                );
            }
            Deed::Writes(file) => {
                judged.effect(Effect::Write, format!("the {language} program writes a file"));
                judged.hazard(Danger::Writes, format!("the {language} program writes a file"), shown);
                judged.paths.push((named(file), Usage::Write));
            }
            Deed::Reads(file) => judged.paths.push((named(file), Usage::Read)),
            Deed::Unreadable => {
                judged.effect(Effect::Project, format!("the {language} program cannot be read"));
            }
        }
    }
}

fn named(file: Option<String>) -> Word {
    file.map_or_else(|| Word::hole("a computed name", Why::Output), Word::text)
}

fn sed_script(told: &Told, judged: &mut Judged) {
    let mut operands = told.operands.as_slice();
    let in_place = told.has(&["-i", "--in-place"]);
    if in_place && operands.first().and_then(Word::literal) == Some("") {
        // The suffix of BSD's `-i ''`.
        operands = operands.get(1..).unwrap_or_default();
    }
    let mut scripts: Vec<&Word> = told
        .options
        .iter()
        .filter(|found| found.names.iter().any(|name| name == "-e" || name == "--expression"))
        .filter_map(|found| found.value.as_ref())
        .collect();
    let from_file = told.has(&["-f", "--file"]);
    if scripts.is_empty() && !from_file {
        scripts.extend(operands.first());
        operands = operands.get(1..).unwrap_or_default();
    }
    for script in scripts {
        match program_text(script) {
            Some(text) => deeds(sed::scan(&text), "sed", &script.shown(), judged),
            None => judged.effect(Effect::Project, "the sed script is not known"),
        }
    }
    if from_file {
        judged.effect(Effect::Project, "the sed script is in a file");
    }
    if in_place {
        judged.effect(Effect::Write, "edits files in place");
    }
    let usage = if in_place { Usage::Write } else { Usage::Read };
    judged.paths.extend(operands.iter().map(|word| (word.clone(), usage)));
}

fn awk_program(told: &Told, judged: &mut Judged) {
    let mut operands = told.operands.as_slice();
    if told.has(&["-f", "--file"]) {
        judged.effect(Effect::Project, "the awk program is in a file");
    } else {
        let mut programs: Vec<&Word> = told
            .options
            .iter()
            .filter(|found| found.names.iter().any(|name| name == "-e" || name == "--source"))
            .filter_map(|found| found.value.as_ref())
            .collect();
        if programs.is_empty() {
            programs.extend(operands.first());
            operands = operands.get(1..).unwrap_or_default();
        }
        for program in programs {
            match program_text(program) {
                Some(text) => deeds(awk::scan(&text), "awk", &program.shown(), judged),
                None => judged.effect(Effect::Project, "the awk program is not known"),
            }
        }
    }
    for word in operands {
        let assigns =
            word.start().split_once('=').is_some_and(|(name, _)| crate::syntax::cursor::is_name(name));
        if !assigns {
            judged.paths.push((word.clone(), Usage::Read));
        }
    }
}

fn chmod(told: &Told, judged: &mut Judged) {
    let Some(mode) = told.operands.first().map(|word| word.shown().into_owned()) else { return };
    let digits = mode.trim_start_matches('0');
    let numeric = !mode.is_empty() && mode.bytes().all(|byte| byte.is_ascii_digit());
    let special = numeric && digits.len() >= 4 && !matches!(digits.as_bytes().first(), Some(b'1'));
    let symbolic =
        !numeric && mode.split(',').any(|clause| clause.contains(['+', '=']) && clause.contains('s'));
    if special || symbolic {
        judged.effect(Effect::Privilege, "sets a privilege bit");
        judged.hazard(Danger::Catastrophic, "a program with this bit runs with its owner's rights", mode);
    }
}

fn whole_tree(told: &Told, judged: &mut Judged) {
    if told.has(&["-R", "--recursive"]) {
        judged.trees.extend(told.operands.iter().skip(1).cloned());
    }
}

fn kill(told: &Told, judged: &mut Judged) {
    let own = |word: &Word| {
        word.start().starts_with('%')
            || !word.pieces().is_empty()
                && word.holes().count() == word.pieces().len()
                && word.holes().all(|hole| hole.why == Why::Background)
    };
    let signals_nothing =
        told.options.iter().any(|found| found.shown == "-0" || found.shown == "-l" || found.shown == "-L");
    if signals_nothing || !told.operands.is_empty() && told.operands.iter().all(own) {
        judged.effects.retain(|(effect, _)| *effect != Effect::Process);
        judged.effect(Effect::Shell, "acts on what this line started, or only asks");
    }
    let everything = told.options.iter().skip(1).any(|found| found.shown == "-1")
        || told.dashes && told.operands.iter().any(|word| word.literal() == Some("-1"));
    if everything {
        judged.hazard(Danger::Catastrophic, "`-1` stands for every process of the user", "-1");
    }
}

fn dd(words: &[Word], judged: &mut Judged) {
    for word in words {
        if let Some(path) = word.strip_start("of=") {
            judged.paths.push((path, Usage::Write));
        } else if let Some(path) = word.strip_start("if=") {
            judged.paths.push((path, Usage::Read));
        } else if word.has_hole() {
            judged.effect(Effect::Unknown, "an operand that is not known may name what is written");
        }
    }
}

/// Files that are named like what they are fetched from.
fn remote_names(told: &Told, judged: &mut Judged) {
    for word in &told.operands {
        let shown = word.shown();
        let path = shown.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        if !name.is_empty() {
            judged.paths.push((Word::text(name), Usage::Write));
        }
    }
}

fn curl(told: &Told, judged: &mut Judged) {
    if told.has(&["-O", "--remote-name", "--remote-name-all"]) {
        remote_names(told, judged);
    }
    for word in &told.operands {
        if crate::address::has_userinfo(&word.shown()) {
            let reason = "what stands before the `@` is not the machine that answers";
            judged.hazard(Danger::Exfiltrates, reason, word.shown());
        }
    }
    let sends = [
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "--data-ascii",
        "--json",
        "-F",
        "--form",
    ];
    let method = told.value(&["-X", "--request"]).map(|word| word.shown().to_uppercase());
    let changes = told.has(&sends) && !told.has(&["-G", "--get"])
        || told.has(&["-T", "--upload-file"])
        || method.is_some_and(|method| !matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS"));
    if changes && judged.effects.iter().any(|(effect, _)| *effect == Effect::Loopback) {
        judged.effect(Effect::Network, "changes state on a local server");
    }
    for found in &told.options {
        let Some(value) = &found.value else { continue };
        let file = found.names.iter().any(|name| sends.contains(&name.as_str()));
        if file {
            let text = value.start();
            let path = text.split_once('@').map(|(before, _)| format!("{before}@"));
            if let Some(path) = path.and_then(|before| value.strip_start(&before)) {
                judged.paths.push((path, Usage::Read));
                judged.hazard(Danger::Exfiltrates, "sends a file away", value.shown());
            }
        }
    }
}

/// `-t directory` turns all operands into sources.
fn into_directory(resolved: &Resolved, judged: &mut Judged) {
    if let Some(directory) = resolved.told.value(&["-t", "--target-directory"]) {
        for (word, usage) in &mut judged.paths {
            if *usage == Usage::Write && resolved.told.operands.contains(word) {
                *usage = Usage::Read;
            }
        }
        judged.paths.push((directory.clone(), Usage::Write));
    }
    if resolved.key == "mv" {
        let last = resolved.told.operands.len().saturating_sub(1);
        for word in resolved.told.operands.iter().take(last) {
            judged.paths.push((word.clone(), Usage::Delete));
        }
    }
}

fn is_seconds(word: &Word) -> bool {
    word.literal().is_some_and(|format| {
        format.strip_prefix('+').is_some_and(|format| {
            !format.is_empty()
                && format
                    .split('%')
                    .skip(1)
                    .all(|part| matches!(part, "s" | "N" | "Y" | "H" | "M" | "S" | "d" | "m"))
                && format.starts_with('%')
        })
    })
}

fn mentions_environment(word: &Word) -> bool {
    let shown = word.shown();
    shown
        .split(|next: char| !(next.is_alphanumeric() || next == '_' || next == '$'))
        .any(|name| matches!(name, "env" | "$ENV"))
}

/// A task whose name says that it changes the outside.
fn task(told: &Told, judged: &mut Judged) {
    if told.operands.iter().any(says_outside) {
        judged.effect(Effect::Publish, "the name of the task says that it changes something outside");
    }
}

/// Whether the name of a task or script says that it changes something outside.
pub(crate) fn says_outside(word: &Word) -> bool {
    const OUTSIDE: [&str; 15] = [
        "deploy",
        "publish",
        "release",
        "install",
        "uninstall",
        "upload",
        "push",
        "migrate",
        "migration",
        "seed",
        "provision",
        "destroy",
        "rollback",
        "tunnel",
        "installer",
    ];
    let shown = word.shown().to_lowercase();
    let name = shown.rsplit('/').next().unwrap_or_default();
    name.starts_with("get-")
        || name.split(|next: char| !next.is_alphanumeric()).any(|part| OUTSIDE.contains(&part))
}

/// What statements that read begin with.
const BEGINS_READING: &str =
    "select pragma explain with .schema .tables .headers .mode .indexes .dump .databases .width .timeout";
/// What statements that change something contain; `replace` is a harmless function too, but asking does no harm.
const CHANGES_DATA: &str = "insert update delete drop create alter attach vacuum replace writefile";

/// SQL that only reads, as far as its words tell.
fn statements(told: &Told, judged: &mut Judged) {
    let texts: Vec<&Word> = told.operands.iter().skip(1).collect();
    let reads = |text: &str| {
        let text = text.trim().to_lowercase();
        let mut begins = BEGINS_READING.split(' ');
        let mut changes = CHANGES_DATA.split(' ');
        text.is_empty()
            || begins.any(|word| text.starts_with(word)) && !changes.any(|word| text.contains(word))
    };
    let all = texts.iter().all(|word| {
        let shown = word.shown();
        shown.split(';').all(reads)
    });
    if texts.is_empty() || !all || !judged.hazards.is_empty() {
        return;
    }
    judged.effects.retain(|(effect, _)| *effect != Effect::Write);
    judged.effect(Effect::Guarded, "only reads the database");
    for (_, usage) in &mut judged.paths {
        *usage = Usage::Read;
    }
}

fn remote_copy(key: &str) -> bool {
    matches!(key, "rsync" | "scp")
}

/// `host:path` is another machine; without one everything stays here.
fn remote(told: &Told, judged: &mut Judged) {
    let far = |word: &Word| {
        let shown = word.shown();
        let host = shown.split('/').next().unwrap_or_default();
        let drive = host.find(':') == Some(1) && matches!(shown.get(2..3), None | Some("/" | "\\"));
        shown.starts_with("rsync://") || host.contains(':') && !drive
    };
    if !told.operands.is_empty()
        && !told.operands.iter().any(far)
        && !told.operands.iter().any(Word::has_hole)
    {
        judged.effects.retain(|(effect, _)| *effect != Effect::Remote);
        judged.effect(Effect::Write, "copies files on this machine");
    }
}

/// `rmdir /s /q C:\` and its kind: a drive is a root.
fn windows(resolved: &Resolved, judged: &mut Judged) {
    let root = |word: &Word| {
        let shown = word.shown().replace('\\', "/");
        let shown = shown.trim_end_matches(['/', '*', '.']);
        shown.len() == 2
            && shown.ends_with(':')
            && shown.starts_with(|first: char| first.is_ascii_alphabetic())
    };
    if resolved.rest.iter().any(root) {
        judged.hazard(Danger::Catastrophic, "this is a whole drive", resolved.key.clone());
    }
}
