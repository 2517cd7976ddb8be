//! Cases about command lines: what is in them, and what is safe to run.
//!
//! Peers show different things of a command line; what is compared is whether
//! the same programs with the same arguments are found, and whether the same
//! commands run unasked in mode `tight`.

use serde_json::{Value, json};

use super::case::{PeerCase, Verdict};
use super::peers::{ask, not_applicable, same};
use crate::probe;

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    match case.op.as_str() {
        "prefix" => ask("arity.prefix", &case.input, |found| same(&found?["prefix"], &case.expect["prefix"])),
        "asks" => asks(case),
        "word-only-commands" => word_only(case),
        "command-roots" => roots(case),
        "split" => programs(case, |expect| strings(&expect["commands"])),
        "details" => details(case),
        "strip-wrapper" => stripped(case),
        "has-redirection" => redirection(case),
        "has-chaining" => chaining(case),
        "known-safe" | "plan-mode-safe" => safe(case, &case.expect["safe"]),
        "dangerous" => dangerous(case),
        "asks-permission" => safe(case, &json!(case.expect["asks"] == 0)),
        "classify" => not_applicable("a summary of a command for a screen"),
        "arguments-blocker" => not_applicable("another language of rules"),
        "escape-arg" => not_applicable("quoting for a shell, which rein never builds command lines with"),
        _ => not_applicable("no rule for this kind of case"),
    }
}

fn analysis(command: &str) -> Value {
    probe::call("shell.analyze", &json!({ "command": command })).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn argvs(analysis: &Value) -> Vec<Value> {
    analysis["commands"].as_array().into_iter().flatten().map(|one| one["argv"].clone()).collect()
}

/// What is asked for each command, and what "always" offers.
fn asks(case: &PeerCase) -> Verdict {
    let Some(command) = case.input["command"].as_str() else { return not_applicable("no command line") };
    let cwd = case.input.get("workdir").unwrap_or(&case.input["project"]);
    let input = json!({"cmd": command, "cwd": cwd, "workspace": case.input["project"]});
    let wanted = case.expect["asks"].as_array().cloned().unwrap_or_default();
    ask("permission.decide", &input, |found| {
        let found = found?;
        for one in &wanted {
            if one["permission"] == "external_directory" {
                let outside = found["details"].as_array().into_iter().flatten();
                let named = outside.filter(|detail| detail["permission"] == "external_directory").count();
                if named == 0 {
                    return Err(format!("ours: nothing outside\ntheirs: {}", one["patterns"]));
                }
                continue;
            }
            let commands = found["commands"].as_array().cloned().unwrap_or_default();
            let mut always: Vec<Value> = Vec::new();
            for command in &commands {
                if !always.contains(&command["always"]) {
                    always.push(command["always"].clone());
                }
            }
            same(&json!(commands.len()), &json!(strings(&one["patterns"]).len()))?;
            same(&json!(always), &one["always"])?;
        }
        Ok(())
    })
}

fn word_only(case: &PeerCase) -> Verdict {
    if case.expect["commands"].is_null() {
        return not_applicable(
            "declined there because it is more than plain words; understood or asked here",
        );
    }
    let found = analysis(case.input["command"].as_str().unwrap_or_default());
    verdict(same(&json!(argvs(&found)), &case.expect["commands"]))
}

fn roots(case: &PeerCase) -> Verdict {
    let command = case.input["command"].as_str().unwrap_or_default();
    let found = analysis(command);
    let expected = strings(&case.expect["roots"]);
    if expected.is_empty() {
        let unclear = found["unresolved"].as_array().is_some_and(|unresolved| !unresolved.is_empty());
        return if unclear {
            Verdict::Agree
        } else {
            not_applicable("declined there for a limit of its parser")
        };
    }
    let mut ours: Vec<String> =
        argvs(&found).iter().filter_map(|argv| argv[0].as_str().map(str::to_owned)).collect();
    let mut theirs = expected;
    ours.sort();
    theirs.sort();
    verdict(same(&json!(ours), &json!(theirs)))
}

/// The same programs as in the lines that a peer names.
fn programs(case: &PeerCase, lines: impl Fn(&Value) -> Vec<String>) -> Verdict {
    let ours = argvs(&analysis(case.input["command"].as_str().unwrap_or_default()));
    let theirs: Vec<Value> = lines(&case.expect).iter().flat_map(|line| argvs(&analysis(line))).collect();
    verdict(same(&json!(ours), &json!(theirs)))
}

fn details(case: &PeerCase) -> Verdict {
    let found = analysis(case.input["command"].as_str().unwrap_or_default());
    let mut ours: Vec<String> =
        argvs(&found).iter().filter_map(|argv| argv[0].as_str().map(str::to_owned)).collect();
    let named =
        case.expect["commands"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
    let mut theirs: Vec<String> = named.filter(|name| !name.contains(' ')).map(str::to_owned).collect();
    ours.sort();
    theirs.sort();
    verdict(same(&json!(ours), &json!(theirs)))
}

fn stripped(case: &PeerCase) -> Verdict {
    let command = case.input["command"].as_str().unwrap_or_default();
    if ["cmd", "powershell", "pwsh", "zsh -c ls -l"].iter().any(|start| command.starts_with(start)) {
        return not_applicable("another shell's way to read its arguments");
    }
    programs(case, |expect| expect["command"].as_str().map(str::to_owned).into_iter().collect())
}

fn redirection(case: &PeerCase) -> Verdict {
    let command = case.input["command"].as_str().unwrap_or_default();
    if command.contains("<<") {
        return not_applicable("text for standard input is no file");
    }
    let found = analysis(command)["redirects"].as_array().is_some_and(|redirects| !redirects.is_empty());
    verdict(same(&json!(found), &case.expect["redirection"]))
}

fn chaining(case: &PeerCase) -> Verdict {
    let command = case.input["command"].as_str().unwrap_or_default();
    verdict(same(&json!(argvs(&analysis(command)).len() > 1), &case.expect["chaining"]))
}

/// The command line of a case; words that are given one by one are quoted.
fn line(case: &PeerCase) -> Option<String> {
    if let Some(command) = case.input["command"].as_str() {
        return Some(command.to_owned());
    }
    let words = case.input["argv"].as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    Some(quoted.collect::<Vec<_>>().join(" "))
}

fn decision(case: &PeerCase) -> Option<(String, String)> {
    let found = probe::call("permission.decide", &json!({"cmd": line(case)?})).ok()?;
    Some((found["decision"].as_str()?.to_owned(), found["reasons"].to_string()))
}

fn safe(case: &PeerCase, expected: &Value) -> Verdict {
    let Some((decision, reasons)) = decision(case) else { return not_applicable("no command line") };
    verdict(
        same(&json!(decision == "allow"), expected)
            .map_err(|difference| format!("{}\n{difference}\n{reasons}", line(case).unwrap_or_default())),
    )
}

fn dangerous(case: &PeerCase) -> Verdict {
    let Some((decision, reasons)) = decision(case) else { return not_applicable("no command line") };
    if case.expect["dangerous"] != true {
        return not_applicable("not dangerous says nothing about running unasked");
    }
    let asks = decision != "allow";
    verdict(if asks { Ok(()) } else { Err(format!("{}\nruns: {reasons}", line(case).unwrap_or_default())) })
}

fn verdict(outcome: Result<(), String>) -> Verdict {
    outcome.map_or_else(Verdict::Differ, |()| Verdict::Agree)
}
