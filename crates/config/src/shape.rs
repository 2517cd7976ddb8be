//! The tree of settings, read from their JSON schema: what `check` compares
//! documents with, and what variables, listing and reference walk over.
//!
//! Handles the constructs that the types of this crate produce. One that it
//! does not know becomes a node that takes nothing, so that it cannot be
//! overlooked: the listing of every key is a snapshot.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::permission;
use crate::settings::Settings;

/// One place in the tree.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub shape: Shape,
    pub description: String,
    pub default: Option<Value>,
    pub project: ProjectMay,
}

/// What a project may do with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectMay {
    /// Nothing.
    NotSet,
    /// Set it to what allows no more than the user does.
    Narrow,
    /// Set it.
    Set,
}

/// What can stand in a place.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Text {
        format: Format,
        secrecy: Secrecy,
    },
    Choice(Vec<Choice>),
    Integer {
        minimum: i64,
        maximum: i64,
    },
    Number {
        minimum: f64,
    },
    Boolean,
    List(Box<Node>),
    /// A list of which every item is a value on its own, with its own place.
    Each(Box<Node>),
    /// Keys that the user makes up; `entry` stands for them in texts.
    Map {
        entry: String,
        names: Names,
        node: Box<Node>,
    },
    /// Keys that rein knows.
    Table(Vec<(String, Node)>),
    Either(Vec<Node>),
}

/// A word, and what it means.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub word: String,
    pub description: String,
}

/// How a text must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Any,
    Model,
    Program,
    HttpUrl,
    ProxyUrl,
    Variable,
}

/// Whether a text may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    Open,
    Secret,
}

/// How keys that the user makes up must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Any,
    WithoutSlash,
}

impl Node {
    /// Whether a project may set this or anything below it.
    pub fn is_open_to_projects(&self) -> bool {
        self.project != ProjectMay::NotSet
            || match &self.shape {
                Shape::Table(fields) => fields.iter().any(|(_, field)| field.is_open_to_projects()),
                Shape::Map { node, .. } => node.is_open_to_projects(),
                Shape::Either(alternatives) => alternatives.iter().any(Self::is_open_to_projects),
                Shape::Text { .. }
                | Shape::Choice(_)
                | Shape::Integer { .. }
                | Shape::Number { .. }
                | Shape::Boolean
                | Shape::List(_)
                | Shape::Each(_) => false,
            }
    }

    /// The node of a key right below this one.
    pub fn child(&self, key: &str) -> Option<&Node> {
        match &self.shape {
            Shape::Table(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, field)| field),
            Shape::Map { node, .. } => Some(node),
            Shape::Either(alternatives) => alternatives.iter().find_map(|alternative| alternative.child(key)),
            Shape::Text { .. }
            | Shape::Choice(_)
            | Shape::Integer { .. }
            | Shape::Number { .. }
            | Shape::Boolean
            | Shape::List(_)
            | Shape::Each(_) => None,
        }
    }

    /// The default of a setting, as a file would say it; an empty text if it has none.
    pub fn default_at(&self, path: &[String]) -> toml::Value {
        path.iter()
            .try_fold(self, |node, key| node.child(key))
            .and_then(|node| toml::Value::try_from(node.default.as_ref()?).ok())
            .unwrap_or_else(|| toml::Value::String(String::new()))
    }

    /// Visits every key that rein knows and that holds a value itself, in the order of the types.
    pub fn visit_fixed<'a>(&'a self, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String], &'a Node)) {
        match &self.shape {
            Shape::Table(fields) => {
                for (name, field) in fields {
                    path.push(name.clone());
                    field.visit_fixed(path, visit);
                    path.pop();
                }
            }
            Shape::Map { .. } => {}
            _ => visit(path, self),
        }
    }
}

/// The tree of all settings.
pub(crate) fn tree() -> &'static Node {
    static TREE: OnceLock<Node> = OnceLock::new();
    TREE.get_or_init(|| node(&schema()))
}

/// The JSON schema of a file of settings, for editors. The same on every call.
#[must_use]
pub fn schema() -> Value {
    let mut generator =
        SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true).into_generator();
    let permission = permission::schema(&mut generator);
    let mut schema = generator.into_root_schema_for::<Settings>().to_value();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(permission::TABLE.to_owned(), permission);
    }
    schema
}

fn node(schema: &Value) -> Node {
    Node {
        shape: shape(schema),
        description: text(schema, "description").replace('\n', " "),
        default: schema.get("default").filter(|value| !value.is_null()).cloned(),
        project: match text(schema, "x-rein-project") {
            "yes" => ProjectMay::Set,
            "narrower" => ProjectMay::Narrow,
            _ => ProjectMay::NotSet,
        },
    }
}

fn shape(schema: &Value) -> Shape {
    if let Some(Value::Array(alternatives)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        return either(alternatives);
    }
    match type_name(schema) {
        "string" => Shape::Text {
            format: match text(schema, "format") {
                "model" => Format::Model,
                "program" => Format::Program,
                "http-url" => Format::HttpUrl,
                "proxy-url" => Format::ProxyUrl,
                "variable" => Format::Variable,
                _ => Format::Any,
            },
            secrecy: match schema.get("writeOnly") {
                Some(Value::Bool(true)) => Secrecy::Secret,
                _ => Secrecy::Open,
            },
        },
        "integer" => Shape::Integer {
            minimum: schema.get("minimum").and_then(whole).unwrap_or(i64::MIN),
            maximum: schema.get("maximum").and_then(whole).unwrap_or(match text(schema, "format") {
                "uint32" => i64::from(u32::MAX),
                _ => i64::MAX,
            }),
        },
        "number" => {
            Shape::Number { minimum: schema.get("minimum").and_then(Value::as_f64).unwrap_or(f64::MIN) }
        }
        "boolean" => Shape::Boolean,
        "array" => {
            let item = Box::new(node(schema.get("items").unwrap_or(&Value::Null)));
            if schema.get("x-rein-each").is_some() { Shape::Each(item) } else { Shape::List(item) }
        }
        "object" => object(schema),
        _ => Shape::Either(Vec::new()),
    }
}

/// A bound: schemars writes those of integers as floats at times.
fn whole(value: &Value) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation)] // Bounds are small.
    value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
}

fn either(alternatives: &[Value]) -> Shape {
    let words: Option<Vec<Choice>> = alternatives
        .iter()
        .map(|alternative| {
            let word = alternative.get("const")?.as_str()?.to_owned();
            Some(Choice { word, description: text(alternative, "description").replace('\n', " ") })
        })
        .collect();
    if let Some(words) = words {
        return Shape::Choice(words);
    }
    let mut some: Vec<Node> =
        alternatives.iter().filter(|alternative| text(alternative, "type") != "null").map(node).collect();
    if some.len() == 1 { some.remove(0).shape } else { Shape::Either(some) }
}

fn object(schema: &Value) -> Shape {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        return Shape::Table(properties.iter().map(|(name, field)| (name.clone(), node(field))).collect());
    }
    Shape::Map {
        entry: text(schema, "x-rein-entry").to_owned(),
        names: match schema.get("propertyNames") {
            Some(_) => Names::WithoutSlash,
            None => Names::Any,
        },
        node: Box::new(node(schema.get("additionalProperties").unwrap_or(&Value::Null))),
    }
}

/// The type, without the `null` that an optional field has beside it.
fn type_name(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default()
        }
        _ => "",
    }
}

fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}
