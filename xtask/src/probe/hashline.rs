//! Edits by line, from data: in the form that models write, or taken apart into
//! the insertions and deletions of single lines that another project records.
//!
//! In the second form all that stems from one line of the input is one edit.

use rein_tools::hashline::{self, Kind, Operation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Failure, typed};

/// A file whose language is not known.
const NAMELESS: &str = "file";

/// `hashline.apply`.
pub fn apply(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        #[serde(alias = "text")]
        content: String,
        edits: Edits,
        path: Option<String>,
        #[serde(default)]
        options: Options,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Edits {
        Written(String),
        Steps(Vec<Step>),
    }
    #[derive(Deserialize, Default)]
    struct Options {
        path: Option<String>,
    }
    let input: Input = typed(input)?;
    let path = input.path.or(input.options.path).unwrap_or_else(|| NAMELESS.to_owned());
    let operations = match input.edits {
        Edits::Written(text) => written(&path, &text)?,
        Edits::Steps(steps) => operations(&steps)?,
    };
    let applied = hashline::apply(&path, &input.content, &operations).map_err(Failure::wrong)?;
    Ok(json!({ "content": applied.text, "notes": applied.notes }))
}

/// Edits as a model writes them, with or without the head of their section.
fn written(path: &str, text: &str) -> Result<Vec<Operation>, Failure> {
    let headed = match text.trim_start().starts_with(['[', '*']) {
        true => text.to_owned(),
        false => format!("[{path}#00000000]\n{text}"),
    };
    let parsed = hashline::parse(&headed).map_err(Failure::wrong)?;
    Ok(parsed.sections.into_iter().flat_map(|section| section.operations).collect())
}

/// What is done with one line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    kind: String,
    #[serde(default)]
    anchor: Option<Anchor>,
    #[serde(default)]
    cursor: Option<Cursor>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    line_num: usize,
    #[serde(default)]
    block_start: Option<usize>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
struct Anchor {
    line: usize,
}

#[derive(Deserialize, Clone, PartialEq)]
struct Cursor {
    kind: String,
    #[serde(default)]
    anchor: Option<Anchor>,
}

fn operations(steps: &[Step]) -> Result<Vec<Operation>, Failure> {
    let mut operations = Vec::new();
    for group in steps.chunk_by(|one, other| one.line_num == other.line_num) {
        let line = group.first().map_or(0, |step| step.line_num);
        if let Some(step) = group.iter().find(|step| !matches!(&*step.kind, "insert" | "delete" | "cut")) {
            return Err(Failure::Wrong(format!("there is no `{}` here", step.kind)));
        }
        let gone: Vec<usize> = group
            .iter()
            .filter(|step| step.kind == "delete")
            .filter_map(|step| step.anchor.map(|anchor| anchor.line))
            .collect();
        let inserted: Vec<&Step> = group.iter().filter(|step| step.kind == "insert").collect();
        let body = |steps: &[&Step]| steps.iter().map(|step| step.text.clone()).collect::<Vec<_>>();
        if let (Some(first), Some(last)) = (gone.iter().min(), gone.iter().max()) {
            let kind =
                if inserted.is_empty() { Kind::Delete(*first, *last) } else { Kind::Swap(*first, *last) };
            operations.push(Operation { kind, body: body(&inserted), line });
            continue;
        }
        for together in inserted.chunk_by(|one, other| one.cursor == other.cursor) {
            let kind = together.first().and_then(|step| place(step));
            let kind = kind.ok_or_else(|| Failure::wrong("an insertion without a place"))?;
            operations.push(Operation { kind, body: body(together), line });
        }
    }
    Ok(operations)
}

fn place(step: &Step) -> Option<Kind> {
    let cursor = step.cursor.as_ref()?;
    let line = cursor.anchor.map(|anchor| anchor.line);
    match (cursor.kind.as_str(), step.block_start) {
        ("bof", _) => Some(Kind::Head),
        ("eof", _) => Some(Kind::Tail),
        ("before_anchor", _) => line.map(Kind::Before),
        ("after_anchor", Some(start)) => Some(Kind::AfterBlock(start)),
        ("after_anchor", None) => line.map(Kind::After),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn both_forms_of_edits_are_made() {
        let made = |edits: Value| call("hashline.apply", &json!({"content": "a\nb\nc\n", "edits": edits}));
        let steps = json!([
            {"kind": "insert", "cursor": {"kind": "before_anchor", "anchor": {"line": 2}}, "text": "B", "lineNum": 1, "mode": "replacement"},
            {"kind": "delete", "anchor": {"line": 2}, "lineNum": 1},
            {"kind": "insert", "cursor": {"kind": "eof"}, "text": "d", "lineNum": 2},
        ]);
        for edits in [steps, json!("SWAP 2:\n+B\nINS.TAIL:\n+d")] {
            assert_eq!(made(edits).unwrap()["content"], "a\nB\nc\nd\n");
        }
        assert!(matches!(made(json!("DEL 9")), Err(Failure::Wrong(_))));
        assert!(matches!(made(json!([{"kind": "paste", "lineNum": 1}])), Err(Failure::Wrong(_))));
    }
}
