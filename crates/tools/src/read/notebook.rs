//! A Jupyter notebook as its cells, with what they put out shortened.

use std::fs::File;
use std::io::Read;

use serde::Deserialize;
use serde_json::Value;

use super::file::Asked;
use super::{View, refusal, units};

/// Larger ones are shown as text.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Characters and lines of one output that are shown.
const OUTPUT_CHARS: usize = 1_000;
const OUTPUT_LINES: usize = 20;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
    metadata: Option<Value>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    source: Option<Value>,
    execution_count: Option<Value>,
    outputs: Option<Vec<Value>>,
}

/// The cells that are asked for.
pub(super) fn view(file: &mut File, bytes: u64, asked: &Asked<'_>) -> Result<View, String> {
    if bytes > MOST_BYTES {
        return Err("too large".to_owned());
    }
    let mut content = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut content).map_err(|error| refusal(asked.shown, &error))?;
    let mut view = render(&content, asked)?;
    view.notes
        .push("cells of a notebook, outputs shortened; to edit its JSON read it with offset=1".to_owned());
    Ok(view)
}

fn render(content: &[u8], asked: &Asked<'_>) -> Result<View, String> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let notebook: Notebook = serde_json::from_slice(content).map_err(|error| error.to_string())?;
    let language = notebook.metadata.as_ref().and_then(|metadata| {
        let named =
            metadata.pointer("/kernelspec/language").or_else(|| metadata.pointer("/language_info/name"));
        named.and_then(Value::as_str).map(|name| name.chars().take(40).collect::<String>())
    });
    let mut view = units::view(asked.selection, "cell", notebook.cells.len() as u64, |number| {
        let cell = usize::try_from(number - 1).ok().and_then(|index| notebook.cells.get(index));
        Ok(cell.map(|cell| cell_text(number, cell)).unwrap_or_default())
    })?;
    view.notes.extend(language);
    Ok(view)
}

fn cell_text(number: u64, cell: &Cell) -> String {
    let count = match cell.execution_count.as_ref().and_then(Value::as_u64) {
        Some(count) => format!(" In [{count}]"),
        None => String::new(),
    };
    let kind: String = cell.cell_type.chars().take(20).collect();
    let mut text =
        format!("# %% [{kind}] cell {number}{count}\n{}\n", joined(cell.source.as_ref()).trim_end());
    for output in cell.outputs.iter().flatten() {
        text.push_str("# output:\n");
        text.push_str(&shortened(&output_text(output)));
    }
    text
}

fn output_text(output: &Value) -> String {
    match output.get("output_type").and_then(Value::as_str) {
        Some("stream") => joined(output.get("text")),
        Some("error") => {
            let word = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", word("ename"), word("evalue"))
        }
        _ => {
            let Some(Value::Object(data)) = output.get("data") else { return String::new() };
            let others = data.iter().filter(|(kind, _)| *kind != "text/plain");
            let named =
                others.map(|(kind, value)| format!("({kind}, {} bytes)\n", joined(Some(value)).len()));
            named.collect::<String>() + &joined(data.get("text/plain"))
        }
    }
}

/// A text is one string or a list of its lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn shortened(text: &str) -> String {
    let text = text.trim_end();
    let by_lines = text.match_indices('\n').nth(OUTPUT_LINES - 1).map_or(text.len(), |(at, _)| at);
    let by_chars = text.char_indices().nth(OUTPUT_CHARS).map_or(text.len(), |(at, _)| at);
    let (kept, rest) = text.split_at(by_lines.min(by_chars));
    match rest.len() {
        0 => format!("{kept}\n"),
        bytes => format!("{kept}\n[… {bytes} bytes cut]\n"),
    }
}
