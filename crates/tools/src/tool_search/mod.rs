//! `tool_search`: the schemas of tools that are not told in every request.
//!
//! Only their names are in this tool's description, as far as they fit. What is
//! found is told as the text of a result, so that the tools of the request stay
//! the same bytes; the tools themselves can be called whether or not they were
//! looked for.

mod index;

use async_trait::async_trait;
use rein_protocol::{Display, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::near;
use crate::schema;
use index::Index;

/// Bytes of names in the description.
const MOST_NAMES: usize = 4_000;

/// Tools that are told of when they were looked for by words.
const FOUND: usize = 5;

/// Tools that are told of when they were named.
const NAMED: usize = 20;

/// Finds tools among some that it was given.
pub(crate) struct ToolSearch {
    specs: Vec<ToolSpec>,
    index: Index,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Names, or words for what a tool should do.
    query: String,
}

impl ToolSearch {
    /// What it is called.
    pub(crate) const NAME: &str = "tool_search";

    /// Over these tools, in this order.
    pub(crate) fn over(specs: impl IntoIterator<Item = ToolSpec>) -> Self {
        let specs: Vec<ToolSpec> = specs.into_iter().collect();
        let mut index = Index::default();
        for spec in &specs {
            let keys: Vec<&str> = schema::properties(&spec.input_schema)
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str())
                .collect();
            index.add(&[(&spec.name, 6.0), (&spec.description, 2.0), (&keys.join(" "), 1.0)]);
        }
        Self { specs, index }
    }

    /// The tools that a query names, else those that fit its words.
    fn find(&self, query: &str) -> Vec<&ToolSpec> {
        let named: Vec<&ToolSpec> = query
            .split(|character: char| character.is_whitespace() || matches!(character, ',' | ';' | ':' | '`'))
            .filter_map(|name| self.specs.iter().find(|spec| spec.name.eq_ignore_ascii_case(name)))
            .take(NAMED)
            .collect();
        if !named.is_empty() {
            return named;
        }
        self.index.best(query, FOUND).into_iter().filter_map(|place| self.specs.get(place)).collect()
    }

    fn names(&self) -> String {
        let mut names = String::new();
        for (place, spec) in self.specs.iter().enumerate() {
            if names.len() + spec.name.len() > MOST_NAMES {
                names.push_str(&format!(" and {} more", self.specs.len() - place));
                break;
            }
            if place > 0 {
                names.push_str(", ");
            }
            names.push_str(&spec.name);
        }
        names
    }
}

#[async_trait]
impl Tool for ToolSearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Self::NAME.to_owned(),
            description: format!("{} {}", include_str!("tool_search.md").trim(), self.names()),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, _scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments: Arguments = arguments::parse(Self::NAME, arguments)?;
        let found: Vec<ToolSpec> = self.find(&arguments.query).into_iter().cloned().collect();
        if found.is_empty() {
            let names = self.specs.iter().map(|spec| spec.name.as_str());
            let meant = match near::nearest(&arguments.query, names).as_slice() {
                [] => "Use other words, or a name from the description of tool_search.".to_owned(),
                names => format!("Did you mean {}?", names.join(" or ")),
            };
            return Err(Complaint(format!("No tool fits. {meant}")));
        }
        let query: String = arguments.query.chars().take(100).collect();
        let display = Display::titled(format!("tool_search {query}"));
        Ok(Box::new(Telling { intent: Intent { effects: Vec::new(), display }, found }))
    }
}

struct Telling {
    intent: Intent,
    found: Vec<ToolSpec>,
}

#[async_trait]
impl Plan for Telling {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        _scene: &Scene,
        output: &mut dyn Output,
        _cancel: &CancellationToken,
    ) -> Outcome {
        for spec in &self.found {
            let text = format!("## {}\n{}\n{}\n\n", spec.name, spec.description, spec.input_schema);
            output.write(text.as_bytes());
        }
        let summary = format!("{} tools", self.found.len());
        Outcome::completed(self.intent.display.with_summary(summary))
            .with_trailer(Some("[call them by name, with arguments that fit the schema]".to_owned()))
    }
}
