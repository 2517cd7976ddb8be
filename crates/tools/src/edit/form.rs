//! The forms in which models write edits, and telling which one a call is in.
//!
//! A model is offered one form, by what it was taught. A call in another form
//! is understood where it can mean only one thing: each form has marks that no
//! other has.

use std::fmt;
use std::str::FromStr;

use rein_protocol::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ReplaceAll, blocks};
use crate::arguments;
use crate::contract::Complaint;
use crate::schema;

/// A form in which edits are offered to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EditForm {
    /// Text replaced by text.
    #[default]
    Replace,
    /// Lines by their numbers, under a tag of the content that they are of.
    Hashline,
    /// Patches that begin with `*** Begin Patch`.
    Patch,
}

/// A name that no form has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEditForm(pub String);

impl std::error::Error for UnknownEditForm {}

impl fmt::Display for UnknownEditForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no edit form {:?}; use replace, hashline or patch", self.0)
    }
}

impl fmt::Display for EditForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replace => "replace",
            Self::Hashline => "hashline",
            Self::Patch => "patch",
        })
    }
}

impl FromStr for EditForm {
    type Err = UnknownEditForm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "replace" => Ok(Self::Replace),
            "hashline" => Ok(Self::Hashline),
            "patch" | "apply_patch" => Ok(Self::Patch),
            _ => Err(UnknownEditForm(name.to_owned())),
        }
    }
}

/// What the tool is called in its forms.
const NAMES: [&str; 2] = ["edit", "apply_patch"];

/// What others call it whose calls read the same.
const OTHER_NAMES: [&str; 6] =
    ["applypatch", "multi_edit", "multiedit", "replace", "search_replace", "str_replace"];

/// Whether a name, in small letters, is one of this tool in some form.
pub(crate) fn is_name(name: &str) -> bool {
    NAMES.contains(&name) || OTHER_NAMES.contains(&name)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used: what is read is put together from two smaller ones")]
struct Arguments {
    path: String,
    /// The text to replace.
    old: Option<String>,
    new: Option<String>,
    /// Replace every occurrence.
    replace_all: Option<bool>,
    /// Instead of old and new: several, in order, all or none.
    edits: Option<Vec<OneEdit>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct OneEdit {
    old: String,
    new: String,
    replace_all: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Single {
    path: String,
    old: String,
    new: String,
    replace_all: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Several {
    path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct PatchArguments {
    /// From "*** Begin Patch" to "*** End Patch".
    patch: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct HashlineArguments {
    /// Sections, each begun by [path#TAG].
    input: String,
}

impl EditForm {
    /// What the model is told.
    pub(crate) fn spec(self) -> ToolSpec {
        let (name, description, input_schema) = match self {
            Self::Replace => (NAMES[0], include_str!("edit.md"), schema::of::<Arguments>()),
            Self::Hashline => {
                (NAMES[0], include_str!("../hashline/hashline.md"), schema::of::<HashlineArguments>())
            }
            Self::Patch => {
                (NAMES[1], include_str!("../apply_patch/apply_patch.md"), schema::of::<PatchArguments>())
            }
        };
        ToolSpec { name: name.to_owned(), description: description.trim().to_owned(), input_schema }
    }
}

/// A call, understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Replace(Vec<FileEdits>),
    Patch(String),
    Hashline(String),
}

/// The edits of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileEdits {
    pub(crate) path: String,
    pub(crate) pieces: Vec<Piece>,
}

/// One replacement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) all: ReplaceAll,
}

/// Understands the arguments of a call, whatever the form that was offered.
pub(crate) fn read(offered: EditForm, arguments: Value) -> Result<Asked, Complaint> {
    let arguments = match arguments {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => Value::Object(Map::from_iter([(own_field(offered).to_owned(), Value::String(text))])),
        },
        other => other,
    };
    let Some(object) = arguments.as_object() else { return own(offered, arguments) };
    if object.contains_key("edits") {
        return several(arguments);
    }
    let marked = object
        .iter()
        .filter(|(name, _)| !is_content(name))
        .flat_map(|(_, value)| texts(value))
        .find_map(|text| by_its_marks(text, object));
    match marked {
        Some(asked) => asked,
        None if offered != EditForm::Replace && object.keys().any(|name| is_content(name)) => {
            single(arguments)
        }
        None => own(offered, arguments),
    }
}

/// Whether a field holds text of a file, in which marks are nothing but text.
fn is_content(name: &str) -> bool {
    let name = name.to_lowercase();
    ["old", "new", "search", "find", "replace"].iter().any(|word| name.starts_with(word))
}

/// The strings of a field: itself, or the words of a command.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn by_its_marks(text: &str, object: &Map<String, Value>) -> Option<Result<Asked, Complaint>> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("***"));
    let first = lines.next().unwrap_or_default();
    if first.starts_with('[') && first.ends_with(']') && first.contains('#') {
        return Some(Ok(Asked::Hashline(text.to_owned())));
    }
    if text.lines().any(|line| line.trim() == "*** Begin Patch") || has_unified_header(text) {
        return Some(Ok(Asked::Patch(text.to_owned())));
    }
    if blocks::has_marks(text) {
        let path =
            ["path", "file_path", "filePath", "file"].iter().find_map(|name| object.get(*name)?.as_str());
        return Some(of_blocks(text, path));
    }
    None
}

/// Whether a text has the two lines with which a unified diff begins.
fn has_unified_header(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(3).any(|lines| match lines {
        [old, new, hunk] => old.starts_with("--- ") && new.starts_with("+++ ") && hunk.starts_with("@@"),
        _ => false,
    })
}

fn of_blocks(text: &str, path: Option<&str>) -> Result<Asked, Complaint> {
    let found = blocks::parse(text, path).map_err(|error| Complaint(error.to_string()))?;
    let mut files: Vec<FileEdits> = Vec::new();
    for block in found {
        let piece = Piece { old: block.old, new: block.new, all: ReplaceAll::No };
        match files.iter_mut().find(|file| file.path == block.path) {
            Some(file) => file.pieces.push(piece),
            None => files.push(FileEdits { path: block.path, pieces: vec![piece] }),
        }
    }
    Ok(Asked::Replace(files))
}

fn own_field(offered: EditForm) -> &'static str {
    match offered {
        EditForm::Replace | EditForm::Patch => "patch",
        EditForm::Hashline => "input",
    }
}

/// A call in the form that was offered, or in none.
fn own(offered: EditForm, arguments: Value) -> Result<Asked, Complaint> {
    match offered {
        EditForm::Replace => single(arguments),
        EditForm::Patch => {
            arguments::parse::<PatchArguments>(NAMES[1], arguments).map(|read| Asked::Patch(read.patch))
        }
        EditForm::Hashline => {
            arguments::parse::<HashlineArguments>(NAMES[0], arguments).map(|read| Asked::Hashline(read.input))
        }
    }
}

fn single(arguments: Value) -> Result<Asked, Complaint> {
    let read: Single = arguments::parse(NAMES[0], arguments)?;
    let piece = OneEdit { old: read.old, new: read.new, replace_all: read.replace_all };
    Ok(Asked::Replace(vec![FileEdits { path: read.path, pieces: vec![piece.into()] }]))
}

fn several(mut arguments: Value) -> Result<Asked, Complaint> {
    let edits = arguments.as_object_mut().and_then(|object| object.remove("edits")).unwrap_or_default();
    // Some models write every field: what the list says counts then.
    let is_empty = |value: &Value| value.is_null() || value == "" || value == false;
    if let Some(object) = arguments.as_object_mut() {
        object.retain(|name, value| !(is_content(name) && is_empty(value)));
    }
    let edits = match edits {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let edits = match edits {
        Value::Array(edits) => edits,
        one @ Value::Object(_) => vec![one],
        Value::Null => return single(arguments),
        _ => {
            return Err(Complaint(
                "`edits` must be a list of {\"old\": string, \"new\": string, \"replace_all\"?: boolean}."
                    .into(),
            ));
        }
    };
    if edits.is_empty() {
        return single(arguments);
    }
    let has_own = arguments.as_object().is_some_and(|object| object.keys().any(|name| is_content(name)));
    let mut pieces = Vec::with_capacity(edits.len() + 1);
    let path = if has_own {
        let read: Single = arguments::parse(NAMES[0], arguments)?;
        pieces.push(OneEdit { old: read.old, new: read.new, replace_all: read.replace_all }.into());
        read.path
    } else {
        arguments::parse::<Several>(NAMES[0], arguments)?.path
    };
    for edit in edits {
        pieces.push(arguments::parse::<OneEdit>("edit.edits", edit)?.into());
    }
    Ok(Asked::Replace(vec![FileEdits { path, pieces }]))
}

impl From<OneEdit> for Piece {
    fn from(edit: OneEdit) -> Self {
        let all = if edit.replace_all == Some(true) { ReplaceAll::Yes } else { ReplaceAll::No };
        Self { old: edit.old, new: edit.new, all }
    }
}
