//! The JSON of models.dev: an object of providers, each with an object of
//! models. Fields that are not needed are ignored, zeros mean "not known", and
//! models that do not write text are left out.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Prices, Table, TableError, TableModel, brief, what_is_wrong};
use crate::catalog::PriceTier;

#[derive(Debug, Deserialize)]
struct ForeignProvider {
    #[serde(default)]
    models: BTreeMap<String, ForeignModel>,
}

#[derive(Debug, Deserialize)]
struct ForeignModel {
    #[serde(default)]
    tool_call: Option<bool>,
    #[serde(default)]
    reasoning: Option<bool>,
    #[serde(default)]
    modalities: Option<Modalities>,
    #[serde(default)]
    cost: Option<ForeignCost>,
    #[serde(default)]
    limit: Option<ForeignLimit>,
}

#[derive(Debug, Deserialize)]
struct Modalities {
    #[serde(default)]
    input: Vec<String>,
    #[serde(default)]
    output: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ForeignCost {
    #[serde(default)]
    input: Option<f64>,
    #[serde(default)]
    output: Option<f64>,
    #[serde(default)]
    cache_read: Option<f64>,
    #[serde(default)]
    cache_write: Option<f64>,
    #[serde(default)]
    tiers: Vec<ForeignTier>,
}

/// Prices of longer prompts.
#[derive(Debug, Deserialize)]
struct ForeignTier {
    #[serde(default)]
    tier: ForeignThreshold,
    #[serde(default)]
    input: Option<f64>,
    #[serde(default)]
    output: Option<f64>,
    #[serde(default)]
    cache_read: Option<f64>,
    #[serde(default)]
    cache_write: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
struct ForeignThreshold {
    #[serde(default)]
    size: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct ForeignLimit {
    #[serde(default)]
    context: Option<u64>,
    #[serde(default)]
    output: Option<u64>,
}

/// Reads the table. It has no date of its own.
pub(super) fn read(text: &str, today: &str) -> Result<Table, TableError> {
    let providers: BTreeMap<String, ForeignProvider> =
        serde_json::from_str(text).map_err(|error| TableError::Form {
            place: format!("line {}, column {}", error.line(), error.column()),
            message: error.to_string(),
        })?;
    let mut models = Vec::new();
    for (provider, listed) in providers {
        for (id, model) in listed.models {
            let writes =
                model.modalities.as_ref().is_none_or(|kinds| kinds.output.iter().any(|kind| kind == "text"));
            if !writes {
                continue;
            }
            let model = translated(&provider, &id, model);
            if let Some(message) = what_is_wrong(&model) {
                let name = brief(&format!("{provider}/{id}"));
                return Err(TableError::Model {
                    place: brief(&format!("{provider}.models.{id}")),
                    model: name,
                    message,
                });
            }
            models.push(model);
        }
    }
    Ok(Table { date: today.to_owned(), source: None, models })
}

fn translated(provider: &str, id: &str, model: ForeignModel) -> TableModel {
    let known = |count: Option<u64>| count.filter(|count| *count > 0);
    let (context, output) =
        model.limit.map_or((None, None), |limit| (known(limit.context), known(limit.output)));
    TableModel {
        provider: provider.to_owned(),
        id: id.to_owned(),
        context,
        // An answer that fills the window says that nobody knows a limit.
        output: output.filter(|output| context.is_none_or(|context| *output < context)),
        tools: model.tool_call,
        reasoning: model.reasoning,
        images: model.modalities.map(|kinds| kinds.input.iter().any(|kind| kind == "image")),
        prices: model.cost.and_then(prices),
    }
}

/// What costs nothing is paid otherwise, or free within limits: its price is not known.
fn prices(cost: ForeignCost) -> Option<Prices> {
    let (input, output) = cost.input.zip(cost.output)?;
    let costs = |price: &f64| *price != 0.0;
    (costs(&input) || costs(&output)).then(|| Prices {
        input,
        output,
        cached_input: cost.cache_read.filter(costs),
        cache_write: cost.cache_write.filter(costs),
        tiers: cost.tiers.into_iter().filter_map(tier).collect(),
        ..Prices::default()
    })
}

/// What depends on anything but the length of a prompt is left out.
fn tier(tier: ForeignTier) -> Option<PriceTier> {
    Some(PriceTier {
        above: tier.tier.size?,
        input: tier.input?,
        output: tier.output?,
        cached_input: tier.cache_read,
        cache_write: tier.cache_write,
        ..PriceTier::default()
    })
}
