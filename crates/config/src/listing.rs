//! Every setting as a face shows it: value, origin, and what can be set.

use serde_json::Value;

use crate::check::expected;
use crate::load::Loaded;
use crate::origin::Origin;
use crate::quote;
use crate::shape::{self, Shape};
use crate::show::toml_text;

/// A setting, for a person who may want to change it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedSetting {
    /// Its name, dotted and quoted as in TOML.
    pub key: String,
    /// Its value as a file would say it; nothing if it is not set. Secrets are masked.
    pub value: Option<String>,
    /// Where the value comes from.
    pub origin: Origin,
    /// What it is.
    pub about: String,
    /// What it takes, in words.
    pub takes: String,
    /// The words that it takes, if these are all.
    pub choices: Vec<String>,
}

impl Loaded {
    /// Every setting, in the order of the reference.
    #[must_use]
    pub fn listing(&self) -> Vec<ListedSetting> {
        let entries = self.entries().into_iter();
        entries
            .map(|(path, value, origin)| {
                let node = path.iter().try_fold(shape::tree(), |node, key| node.child(key));
                let choices = match node.map(|node| &node.shape) {
                    Some(Shape::Choice(choices)) => {
                        choices.iter().map(|choice| choice.word.clone()).collect()
                    }
                    Some(Shape::Boolean) => vec!["true".to_owned(), "false".to_owned()],
                    _ => Vec::new(),
                };
                ListedSetting {
                    key: quote::key(&path),
                    value: (value != Value::Null).then(|| toml_text(&value)),
                    origin,
                    about: node.map(|node| node.description.clone()).unwrap_or_default(),
                    takes: node.map(|node| expected(&node.shape)).unwrap_or_default(),
                    choices,
                }
            })
            .collect()
    }
}
