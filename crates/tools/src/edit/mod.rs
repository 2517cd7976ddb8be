//! `edit`: one piece of a file.

mod nearest;
mod replace;

use async_trait::async_trait;
use rein_protocol::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments;
use crate::change::{self, Change};
use crate::contract::{Complaint, Plan, Scene, Tool};
use crate::path::Place;
use crate::schema;
use crate::text::{self, Encoding};
pub use replace::{ReplaceAll, ReplaceError, replace};

/// Replaces a piece of a file.
pub(crate) struct Edit;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    path: String,
    /// The exact text to replace.
    old: String,
    new: String,
    /// Replace every occurrence.
    replace_all: Option<bool>,
}

#[async_trait]
impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit".to_owned(),
            description: include_str!("edit.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("edit", arguments)?;
        let place = Place::find(&arguments.path, scene)?;
        let Some(before) = change::before(&place).await? else {
            return create(place, &arguments, scene);
        };
        if !before.bytes.is_empty() {
            change::must_be_known(&place, &before.seen, scene)?;
        }
        let edited = tokio::task::spawn_blocking(move || {
            edited(&before.bytes, &arguments).map(|edited| (before.bytes, edited))
        });
        let (before, edited) = match edited.await {
            Ok(Ok(edited)) => edited,
            Ok(Err(why)) => return Err(Complaint(format!("{} was not changed: {why}", place.shown))),
            Err(_) => {
                return Err(Complaint(
                    "The edit could not be worked out because of an internal error.".into(),
                ));
            }
        };
        let told = match edited.lines.as_slice() {
            [line] => format!("Edited {} at line {line}.", place.shown),
            lines => format!("Edited {} at {} places.", place.shown, lines.len()),
        };
        Ok(Box::new(Change::new("edit", place, Some(&before), edited.bytes, told)))
    }
}

fn create(place: Place, arguments: &Arguments, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
    if !arguments.old.is_empty() {
        let hint = change::hint_at_names(&place, scene);
        return Err(Complaint(format!("{} does not exist.{hint} To create a file, use write.", place.shown)));
    }
    let told = format!("Created {}.", place.shown);
    Ok(Box::new(Change::new("edit", place, None, arguments.new.clone().into_bytes(), told)))
}

/// A file after an edit, and the lines where it was made.
struct Edited {
    bytes: Vec<u8>,
    lines: Vec<usize>,
}

fn edited(before: &[u8], arguments: &Arguments) -> Result<Edited, String> {
    let all = if arguments.replace_all == Some(true) { ReplaceAll::Yes } else { ReplaceAll::No };
    let Some((content, encoding)) = text::decode(before) else {
        return edited_bytes(before, arguments, all);
    };
    let found =
        replace::replace_bytes(content.as_bytes(), arguments.old.as_bytes(), arguments.new.as_bytes(), all);
    let (bytes, lines) = found.map_err(|error| explained(&error, &content, &arguments.old))?;
    let bytes = match encoding {
        Encoding::Utf8 => bytes,
        _ => {
            let text = String::from_utf8(bytes).map_err(|_| "the result would not be text.".to_owned())?;
            text::encode(&text, encoding)
        }
    };
    Ok(Edited { bytes, lines })
}

/// In a file of an unknown encoding, plain letters mean what they mean, and nothing else does.
fn edited_bytes(before: &[u8], arguments: &Arguments, all: ReplaceAll) -> Result<Edited, String> {
    if !arguments.old.is_ascii() || !arguments.new.is_ascii() {
        return Err("it is not UTF-8, so only ASCII text in it can be replaced by ASCII text here. \
                    Convert it first, for example with iconv, or use a program with bash."
            .to_owned());
    }
    let found = replace::replace_bytes(before, arguments.old.as_bytes(), arguments.new.as_bytes(), all);
    match found {
        Ok((bytes, lines)) => Ok(Edited { bytes, lines }),
        Err(error) => Err(explained(&error, &String::from_utf8_lossy(before), &arguments.old)),
    }
}

fn explained(error: &ReplaceError, content: &str, old: &str) -> String {
    match error {
        ReplaceError::NotFound => nearest::explain(content, old),
        ReplaceError::Ambiguous { .. } | ReplaceError::Identical | ReplaceError::EmptyOld => {
            error.to_string()
        }
    }
}
