//! A newer table of models than the bundled one, from a file or an address that
//! the user names.
//!
//! It can say what fits into models, what they cost and what they can do, and
//! nothing else: neither where a provider is nor how a key is sent can come
//! from it. Reading and storing the file is left to the caller. A table is
//! taken as a whole or not at all.
//!
//! Two forms are understood: rein's own, TOML with `date` and `[[models]]`, and
//! the JSON of models.dev, `{provider: {"models": {id: {…}}}}`.

mod foreign;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Catalog, ImageSupport, ModelInfo, Prices, Provider};

/// Names longer than that are no names.
const LONGEST_NAME: usize = 200;

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// It is not written as a table is.
    #[error("{place}: {message}")]
    Form {
        /// Where.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// What it says of a model cannot be.
    #[error("{place}: {model}: {message}")]
    Model {
        /// Where.
        place: String,
        /// Of which model.
        model: String,
        /// What is wrong.
        message: String,
    },
    /// It speaks of no provider that is known.
    #[error("it has no model of a provider that rein knows")]
    Nothing,
}

/// Where a table comes from, and when it was taken.
#[derive(Debug, Clone, Copy)]
pub struct TableSource<'a> {
    /// The file or address, for people.
    pub name: &'a str,
    /// The day on which it was taken: counts where the table has none.
    pub today: &'a str,
}

/// A table of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The day on which it held.
    pub date: String,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it says.
    #[serde(default)]
    pub models: Vec<TableModel>,
}

/// What a table says of a model. What is absent is not known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableModel {
    /// The provider's name in the catalog, or one of its aliases.
    pub provider: String,
    /// The name that the provider knows it by.
    pub id: String,
    /// Tokens that fit into its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// Tokens that it can answer with at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Whether it calls tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Whether it thinks before it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// Whether it can be sent images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// What tokens cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

/// rein's own form, with places for messages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    date: Spanned<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    models: Vec<Spanned<TableModel>>,
}

impl Table {
    /// Reads a table and keeps what it says of providers that the catalog knows, under their names there.
    pub fn read(text: &str, from: TableSource<'_>, catalog: &Catalog) -> Result<Self, TableError> {
        let mut table = match text.trim_start().starts_with('{') {
            true => foreign::read(text, from.today)?,
            false => own(text)?,
        };
        table.source.get_or_insert_with(|| from.name.to_owned());
        table.models.retain_mut(|model| match catalog.by_any_name(&model.provider) {
            Some(provider) => {
                model.provider.clone_from(&provider.name);
                true
            }
            None => false,
        });
        if table.models.is_empty() {
            return Err(TableError::Nothing);
        }
        Ok(table)
    }

    /// The table in rein's own form.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Texts, numbers and tables can be written as TOML.
        toml::to_string(self).unwrap_or_default()
    }
}

fn own(text: &str) -> Result<Table, TableError> {
    let place = |at: usize| {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}")
    };
    let own: Own = toml::from_str(text).map_err(|error| TableError::Form {
        place: place(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let date = own.date.get_ref();
    if date.parse::<Date>().is_err() {
        let message = format!("`{}` is no date: write it like 2026-01-31", brief(date));
        return Err(TableError::Form { place: place(own.date.span().start), message });
    }
    let mut models = Vec::with_capacity(own.models.len());
    for model in own.models {
        let at = model.span().start;
        let model = model.into_inner();
        if let Some(message) = what_is_wrong(&model) {
            let name = brief(&format!("{}/{}", model.provider, model.id));
            return Err(TableError::Model { place: place(at), model: name, message });
        }
        models.push(model);
    }
    Ok(Table { date: own.date.into_inner(), source: own.source, models })
}

/// What cannot be true of a model.
fn what_is_wrong(model: &TableModel) -> Option<String> {
    let bad_name =
        |name: &str| name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control);
    if bad_name(&model.provider) || bad_name(&model.id) {
        return Some(
            "its name or that of its provider is empty, too long, or holds control characters".to_owned(),
        );
    }
    if model.context == Some(0) || model.output == Some(0) {
        return Some("nothing fits into it; leave out what is not known".to_owned());
    }
    if let (Some(context), Some(output)) = (model.context, model.output)
        && output > context
    {
        return Some(format!("an answer of {output} tokens does not fit into a window of {context}"));
    }
    let prices = model.prices.as_ref()?;
    let tiers = prices.tiers.iter();
    let further = [prices.cached_input, prices.cache_write, prices.cache_write_hour].into_iter().flatten();
    let in_tiers = tiers.flat_map(|tier| {
        [Some(tier.input), Some(tier.output), tier.cached_input, tier.cache_write, tier.cache_write_hour]
    });
    let mut all = [prices.input, prices.output].into_iter().chain(further).chain(in_tiers.flatten());
    all.any(|price| !price.is_finite() || price < 0.0)
        .then(|| "a price is less than nothing, or no number".to_owned())
}

/// A text as a message can hold it.
fn brief(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(80).collect()
}

impl TableModel {
    fn info(&self, date: &str) -> ModelInfo {
        let prices = self.prices.clone().map(|mut prices| {
            prices.as_of.get_or_insert_with(|| date.to_owned());
            prices
        });
        ModelInfo {
            id: self.id.clone(),
            context: self.context,
            output: self.output,
            tools: self.tools,
            reasoning: self.reasoning,
            images: self.images.map(|seen| if seen { ImageSupport::Yes } else { ImageSupport::No }),
            prices,
            ..ModelInfo::default()
        }
    }
}

impl Catalog {
    /// A provider by its name or an alias.
    #[must_use]
    pub fn by_any_name(&self, name: &str) -> Option<&Provider> {
        self.provider(name).or_else(|| {
            self.providers.iter().find(|provider| provider.aliases.iter().any(|alias| alias == name))
        })
    }

    /// The catalog with a table: what it says counts, unless the entry of the provider is younger than the table. Then
    /// it only adds what is missing.
    #[must_use]
    pub fn with_table(mut self, table: &Table) -> Self {
        for model in &table.models {
            let Some(provider) = self.providers.iter_mut().find(|provider| provider.name == model.provider)
            else {
                continue;
            };
            let younger = provider.checked.as_ref().is_some_and(|checked| *checked > table.date);
            let bundled = provider.model(&model.id).cloned();
            provider.learn(model.info(&table.date));
            if let (true, Some(bundled)) = (younger, bundled) {
                provider.learn(bundled);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests;
