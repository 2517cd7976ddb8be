//! Documents that are generated from the code, so that they cannot lie:
//! `cargo xtask docs` writes them, `cargo xtask check` compares them.

use std::io::Write;
use std::path::{Path, PathBuf};

use rein_protocol::{
    Ask, Entry, Event, OpenSession, Prompt, Reply, ServiceError, SessionChange, SessionFilter, SessionInfo,
    Snapshot,
};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::check::Finding;
use crate::error::XtaskError;
use crate::workspace::Workspace;

/// The generated documents with their text.
fn generated() -> Vec<(PathBuf, String)> {
    vec![
        ("docs/settings.md".into(), with_line_end(rein_config::reference())),
        ("docs/schema/config.json".into(), pretty(&rein_config::schema())),
        ("docs/schema/protocol.json".into(), pretty(&protocol())),
    ]
}

/// Writes those that are not as they should be.
pub fn write(workspace: &Workspace, out: &mut dyn Write) -> Result<(), XtaskError> {
    for (relative, text) in generated() {
        let path = workspace.root().join(&relative);
        if is_current(&path, &text) {
            continue;
        }
        let failed = |error| XtaskError::Write { path: path.clone(), error };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&path, &text).map_err(failed)?;
        writeln!(out, "wrote {}", relative.display()).map_err(XtaskError::output)?;
    }
    Ok(())
}

/// Those that are not as they should be.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>, XtaskError> {
    let stale = generated()
        .into_iter()
        .filter(|(relative, text)| !is_current(&workspace.root().join(relative), text));
    let message = "is not what the code says: run `cargo xtask docs`";
    Ok(stale.map(|(relative, _)| Finding::new(&relative, 1, message)).collect())
}

fn is_current(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|found| found.replace("\r\n", "\n") == text)
}

/// One schema with every type that crosses the door between a face and the engine.
fn protocol() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut roots = Map::new();
    macro_rules! root {
        ($($kind:ty),*) => {$(
            let schema = generator.subschema_for::<$kind>();
            let _ = roots.insert(stringify!($kind).to_owned(), schema.into());
        )*};
    }
    root!(
        Event,
        Entry,
        Ask,
        Reply,
        OpenSession,
        Prompt,
        SessionChange,
        SessionFilter,
        SessionInfo,
        Snapshot,
        ServiceError
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rein protocol",
        "description": "What a face and the engine say to each other. Each property is one type of message.",
        "type": "object",
        "properties": roots,
        "$defs": generator.take_definitions(true),
    })
}

fn pretty(value: &Value) -> String {
    with_line_end(format!("{value:#}"))
}

fn with_line_end(text: String) -> String {
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_schema_defines_what_it_refers_to() {
        let schema = protocol();
        let text = schema.to_string();
        let defined = schema["$defs"].as_object().unwrap();
        let referred: Vec<&str> =
            text.split("\"#/$defs/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(referred.len() > 10);
        for name in referred {
            assert!(defined.contains_key(name), "{name}");
        }
        assert!(schema["properties"]["Event"].is_object());
    }

    #[test]
    fn a_document_differs_by_its_words_and_not_by_its_line_ends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.md");
        assert!(!is_current(&path, "a\nb\n"));
        std::fs::write(&path, "a\r\nb\r\n").unwrap();
        assert!(is_current(&path, "a\nb\n"));
        assert!(!is_current(&path, "a\nc\n"));
    }
}
