//! `write`: a whole file at once.

use async_trait::async_trait;
use rein_protocol::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments;
use crate::change::{self, Change};
use crate::contract::{Complaint, Plan, Scene, Tool};
use crate::edit::{omission, omission_refused};
use crate::encoding::can_encode;
use crate::path::Place;
use crate::schema;
use crate::text::{self, Encoding, LineEnds};

/// Creates or replaces a file.
pub(crate) struct Write;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    path: String,
    /// The whole new content.
    content: String,
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write".to_owned(),
            description: include_str!("write.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse("write", arguments)?;
        let place = Place::find(&arguments.path, scene)?;
        if arguments.path.ends_with('/') {
            return Err(Complaint(format!("{} is the path of a directory. Name a file.", arguments.path)));
        }
        let before = change::before(&place).await?;
        let Some(before) = before else {
            let told = format!("Created {}.", place.shown);
            let change = Change::new("write", place, None, arguments.content.into_bytes(), told);
            return Ok(Box::new(change));
        };
        // An empty file holds nothing that could be lost.
        if !before.bytes.is_empty() {
            change::must_be_known_as(&place, &before, scene)?;
        }
        let old = text::decode(&before.bytes).map(|(old, _)| old).unwrap_or_default();
        if let Some((line, words)) = omission::added(&old, &arguments.content) {
            return Err(Complaint(format!(
                "{} was not changed. {}",
                place.shown,
                omission_refused(line, words)
            )));
        }
        let (after, notes) = in_the_manner_of(&before.bytes, &arguments.content);
        let note = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        let told = match after == before.bytes {
            true => format!("{} already had this content.", place.shown),
            false => format!("Replaced {}{note}.", place.shown),
        };
        Ok(Box::new(Change::new("write", place, Some(&before.bytes), after, told)))
    }
}

/// New content in the encoding and with the line ends of the old, and what to say of that.
fn in_the_manner_of(before: &[u8], content: &str) -> (Vec<u8>, Vec<&'static str>) {
    // Bytes that are no text have no manner.
    let (old, old_encoding) = text::decode(before).unwrap_or((String::new(), Encoding::Other));
    let mut notes = Vec::new();
    let has_own_ends = content.contains("\r\n");
    let content = match LineEnds::of(old.as_bytes()) {
        LineEnds::CrLf if !has_own_ends && content.contains('\n') => {
            notes.push("kept its CRLF line ends");
            let bytes = LineEnds::CrLf.applied_to(content.as_bytes());
            String::from_utf8(bytes).unwrap_or_else(|_| content.to_owned())
        }
        LineEnds::CrLf | LineEnds::Lf => content.to_owned(),
    };
    let content = content.strip_prefix('\u{feff}').unwrap_or(&content);
    let encoding = if can_encode(content, old_encoding) { old_encoding } else { Encoding::Utf8 };
    notes.extend(match encoding {
        Encoding::Utf8 if old_encoding != Encoding::Utf8 => {
            Some("now UTF-8, because its old encoding does not have all the characters")
        }
        Encoding::Utf8 | Encoding::Utf8Marked | Encoding::Other => None,
        Encoding::Utf16Little | Encoding::Utf16Big | Encoding::Utf16LittleBare | Encoding::Utf16BigBare => {
            Some("kept its encoding, UTF-16")
        }
        Encoding::Windows1252 => Some("kept its encoding, Windows-1252"),
    });
    (text::encode(content, encoding), notes)
}
