//! Operations of the shell crate.

use rein_shell::{Analysis, Surroundings, analyze};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, typed};

/// `arity.prefix`.
pub fn prefix(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        tokens: Vec<String>,
    }
    let input: Input = typed(input)?;
    let tokens: Vec<&str> = input.tokens.iter().map(String::as_str).collect();
    Ok(json!({ "prefix": rein_shell::arity::prefix(&tokens) }))
}

/// `shell.analyze`.
pub fn analysis(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        command: String,
        #[serde(default)]
        cwd: Option<String>,
        #[serde(default)]
        home: Option<String>,
    }
    let input: Input = typed(input)?;
    let cwd = input.cwd.unwrap_or_else(|| "/workspace".to_owned());
    let surroundings = Surroundings { directory: &cwd, home: input.home.as_deref(), variables: &[] };
    Ok(described(&input.command, &analyze(&input.command, &surroundings)))
}

fn described(command: &str, analysis: &Analysis) -> Value {
    let source = |start: usize, end: usize| command.get(start..end).unwrap_or_default();
    let commands: Vec<Value> = analysis
        .commands
        .iter()
        .map(|one| {
            let argv: Vec<_> = one.argv.iter().map(|word| word.shown().into_owned()).collect();
            let literal = one.argv.iter().all(|word| word.literal().is_some());
            let effects: Vec<_> =
                one.effects.iter().map(|(effect, why)| format!("{effect:?}: {why}")).collect();
            json!({
                "argv": argv,
                "text": one.text(),
                "literal": literal,
                "source": source(one.span.start, one.span.end),
                "prefix": one.prefix(),
                "always": one.always(),
                "effects": effects,
                "substitution": one.place.substitution,
                "assignments": one.assignments.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            })
        })
        .collect();
    let redirects: Vec<Value> = analysis
        .redirects
        .iter()
        .map(|one| json!({ "kind": format!("{:?}", one.kind).to_lowercase(), "target": one.target.shown(), "source": source(one.span.start, one.span.end) }))
        .collect();
    let substitutions: Vec<String> =
        analysis.commands.iter().filter(|one| one.place.substitution).map(|one| one.text()).collect();
    let unresolved: Vec<String> =
        analysis.unknowns.iter().map(|one| format!("{}: {}", one.reason, one.detail)).collect();
    let wrappers: Vec<&str> =
        analysis.commands.iter().flat_map(|one| &one.via).map(|wrapper| wrapper.name.as_str()).collect();
    let hazards: Vec<Value> = analysis
        .hazards
        .iter()
        .map(|one| json!({ "class": format!("{:?}", one.class).to_lowercase(), "shown": one.shown, "reason": one.reason }))
        .collect();
    let paths: Vec<Value> = analysis
        .paths
        .iter()
        .map(|one| json!({ "path": one.path, "shown": one.shown, "usage": format!("{:?}", one.usage).to_lowercase() }))
        .collect();
    json!({
        "commands": commands,
        "redirects": redirects,
        "substitutions": substitutions,
        "unresolved": unresolved,
        "wrappers": wrappers,
        "hazards": hazards,
        "paths": paths,
        "notes": analysis.notes.iter().map(|note| note.reason).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn a_command_line_is_taken_apart() {
        let found = call("shell.analyze", &json!({"command": "sudo rm -rf x > log; echo $(date)"})).unwrap();
        assert_eq!(found["commands"][0]["argv"], json!(["rm", "-rf", "x"]));
        assert_eq!(found["wrappers"], json!(["sudo"]));
        assert_eq!(found["redirects"][0]["target"], "log");
        assert_eq!(found["substitutions"], json!(["date"]));
        assert_eq!(found["unresolved"], json!([]));
        let unclear = call("shell.analyze", &json!({"command": "$x y"})).unwrap();
        assert_eq!(unclear["unresolved"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn a_prefix_names_what_is_run() {
        let found = call("arity.prefix", &json!({"tokens": ["npm", "run", "build", "--watch"]}));
        assert_eq!(found, Ok(json!({"prefix": ["npm", "run", "build"]})));
        assert_eq!(call("arity.prefix", &json!({"tokens": []})), Ok(json!({"prefix": []})));
    }
}
