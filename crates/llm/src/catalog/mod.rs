//! What is known of providers and their models. Data: one TOML file a
//! provider, and what settings put on top of it.
//!
//! No code asks for the name of a provider or a model. What makes one
//! different from another is a [`Quirks`] field.

mod access;
mod bundled;
mod config;
mod family;
mod price;
mod spending;
mod table;
mod thinking;
mod variable;

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::Deserialize;

use crate::auth::OAuth;
use crate::dialect::Dialect;
use crate::wire::Wire;

pub use access::{Access, AccessScheme};
pub use config::ProviderConfig;
pub use family::{EditForm, Family};
pub use price::{PriceTier, Prices, cache_savings, cost};
pub use spending::Spending;
pub use table::{Table, TableError, TableSource};
pub use thinking::{Thinking, ThinkingStyle};
pub use variable::Variable;
pub(crate) use variable::filled_in;

/// A provider of models.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// What users write before the slash.
    pub name: String,
    /// What it calls itself.
    #[serde(default)]
    pub title: String,
    /// How it wants to be asked.
    #[serde(default)]
    pub wire: Wire,
    /// How to ask at another address than its own, where something that is only like it answers.
    #[serde(default)]
    pub elsewhere: Option<Wire>,
    /// Where its API begins, without a slash at the end. `{region}` stands for the region, other names for what
    /// `variables` says of them.
    pub base_url: String,
    /// What names in its addresses stand for.
    #[serde(default)]
    pub variables: BTreeMap<String, Variable>,
    /// Where it is if no variable says so, for those who have regions.
    #[serde(default)]
    pub region: Option<String>,
    /// Environment variables that name the region, the first that is set.
    #[serde(default)]
    pub region_env: Vec<String>,
    /// Environment variables that name another address, the first that is set.
    #[serde(default)]
    pub base_url_env: Vec<String>,
    /// Environment variables that hold the key, the first that is set. None: it wants no key.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// How it is shown who asks.
    #[serde(default)]
    pub access: Access,
    /// How tokens are to be had that no page hands out.
    #[serde(default)]
    pub sign_in: Option<SignIn>,
    /// What others call it, in tables of models.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The day on which its entry was last compared with what it says itself.
    #[serde(default)]
    pub checked: Option<String>,
    /// How one logs in, for those who have such a thing.
    #[serde(default)]
    pub oauth: Option<OAuth>,
    /// Where keys and credit are to be had.
    #[serde(default)]
    pub account_page: Option<String>,
    /// The port on which it usually listens on this machine.
    #[serde(default)]
    pub local_port: Option<u16>,
    /// How many seconds it may be silent, if otherwise than usual.
    #[serde(default)]
    pub idle_timeout: Option<u64>,
    /// The model to use if none is named.
    #[serde(default)]
    pub default_model: Option<String>,
    /// What it wants different.
    #[serde(default)]
    pub quirks: Quirks,
    /// Its models, as far as known.
    #[serde(default)]
    pub models: Vec<ModelInfo>,
    /// Headers to send with every request. They may hold secrets.
    #[serde(skip)]
    pub headers: BTreeMap<String, SecretString>,
    /// The key itself, if settings hold it.
    #[serde(skip)]
    pub key: Option<SecretString>,
    /// Who named it.
    #[serde(skip)]
    pub origin: Origin,
}

impl Provider {
    /// What is known of a model.
    #[must_use]
    pub fn model(&self, id: &str) -> Option<&ModelInfo> {
        self.models.iter().find(|model| model.id == id)
    }

    /// Names of its models that look like a name.
    #[must_use]
    pub fn nearest_models(&self, name: &str) -> Vec<String> {
        const ALIKE: f64 = 0.8;
        let name = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = self
            .models
            .iter()
            .filter(|model| model.id != name)
            .map(|model| (strsim::jaro_winkler(&name, &model.id.to_lowercase()), model.id.as_str()))
            .filter(|(likeness, _)| *likeness >= ALIKE)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(3).map(|(_, id)| id.to_owned()).collect()
    }
}

/// How tokens are to be had that no page hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignIn {
    /// By signing in with the provider, which then hands out tokens for a while.
    Oauth,
}

/// Who named a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// It comes with rein.
    #[default]
    Bundled,
    /// Settings name it, anew or with other values.
    Configured,
}

/// What a provider wants different.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// The field for the longest answer.
    pub max_tokens_field: String,
    /// The role of instructions.
    pub system_role: String,
    /// Whether instructions go into a field of their own instead of a message, where there is one.
    pub instructions: bool,
    /// Whether tools are described so that the provider can hold the model to it, as far as that is possible.
    pub strict_tools: bool,
    /// Whether requests of one conversation are to be told apart from others, for the sake of the cache.
    pub cache_key: bool,
    /// How many words to make, for those who take a word for that.
    pub verbosity: Option<String>,
    /// Whether token counts have to be, and can be, asked for.
    pub stream_usage: bool,
    /// What ids of calls look like.
    pub tool_id: ToolIdShape,
    /// The field in which a model wants to see its own reasoning again.
    pub reasoning_field: Option<String>,
    /// The field for how much to think, where the wire has none of its own.
    pub effort_field: Option<String>,
    /// Where requests go, if not to the wire's usual path. `{model}` stands for the model's name, `{usual}` for the
    /// usual path.
    pub path: Option<String>,
    /// Headers to send with every request, such as a version, or features that are not for everybody yet.
    pub headers: BTreeMap<String, String>,
    /// How it is told what to keep for the next request.
    pub cache: CacheStyle,
    /// How it is told how much to think.
    pub thinking: Thinking,
    /// Whether it can be sent images.
    pub images: ImageSupport,
    /// Whether it can be asked to send the arguments of a call while they are written, unchecked.
    pub eager_arguments: bool,
    /// The longest answer to ask for if the request does not say, for those who insist on one.
    pub max_output: Option<u64>,
    /// How its models write calls into their text, where the server leaves them there.
    pub dialect: Option<Dialect>,
    /// Whether tools are described in words, and calls and results written in the dialect: for models and servers that
    /// take no tools otherwise.
    pub teach: bool,
    /// Whether answers begin in the middle of thinking, because the tag that opens it was written by the server.
    pub opened: bool,
}

impl Quirks {
    /// Where models are listed: beside where requests go, if the usual path is only a part of that.
    #[must_use]
    pub fn list_path(&self, usual: &str) -> String {
        let beside = self.path.as_ref().filter(|path| path.contains("{usual}") && !path.contains("{model}"));
        beside.map_or_else(|| usual.to_owned(), |path| path.replace("{usual}", usual))
    }

    /// Where requests go: the quirk, or the wire's usual path.
    #[must_use]
    pub fn path_or(&self, usual: &str, model: &str) -> String {
        match &self.path {
            Some(path) => path.replace("{usual}", usual).replace("{model}", &percent_encoded(model)),
            None => usual.to_owned(),
        }
    }
}

/// A piece of a path in which nothing has a meaning.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            max_tokens_field: "max_tokens".to_owned(),
            system_role: "system".to_owned(),
            instructions: false,
            strict_tools: false,
            cache_key: false,
            verbosity: None,
            stream_usage: true,
            tool_id: ToolIdShape::Any,
            reasoning_field: None,
            effort_field: None,
            path: None,
            headers: BTreeMap::new(),
            cache: CacheStyle::Automatic,
            thinking: Thinking::default(),
            images: ImageSupport::Yes,
            eager_arguments: false,
            max_output: None,
            dialect: None,
            teach: false,
            opened: false,
        }
    }
}

/// What ids of calls look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolIdShape {
    /// Any text of up to 40 characters.
    #[default]
    Any,
    /// Nine letters and digits.
    Alphanumeric9,
    /// Up to 64 letters, digits, `_` and `-`.
    Word64,
}

/// How a provider is told what to keep for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStyle {
    /// It finds that out by itself, or keeps nothing.
    #[default]
    Automatic,
    /// By marks, in the words of the wire.
    Marks,
    /// By marks, but it takes none behind tools.
    MarksWithoutTools,
}

/// Whether a model can be sent images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSupport {
    /// It can, or nobody knows better.
    #[default]
    Yes,
    /// Only in what a person says, and not in the results of tools.
    FromPersons,
    /// It cannot: the model is told that there was one.
    No,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// The name that the provider knows it by.
    pub id: String,
    /// How it wants to be asked, if otherwise than its provider says.
    #[serde(default)]
    pub wire: Option<Wire>,
    /// Tokens that fit into its window.
    #[serde(default)]
    pub context: Option<u64>,
    /// Tokens that it can answer with at most.
    #[serde(default)]
    pub output: Option<u64>,
    /// Whether it calls tools, if known.
    #[serde(default)]
    pub tools: Option<bool>,
    /// Whether it thinks before it answers, if known.
    #[serde(default)]
    pub reasoning: Option<bool>,
    /// Its family, if its name does not speak of it.
    #[serde(default)]
    pub family: Option<String>,
    /// The form in which it edits best, if otherwise than its family.
    #[serde(default)]
    pub edit: Option<EditForm>,
    /// Which instructions suit it, if others than its family.
    #[serde(default)]
    pub prompt: Option<String>,
    /// A model of the same provider with a larger window, or `provider/model`, to go on with when this one is full.
    #[serde(default)]
    pub promote: Option<String>,
    /// What tokens cost, if known.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// How it is told how much to think, if otherwise than its provider says.
    #[serde(default)]
    pub thinking: Option<Thinking>,
    /// How it is told what to keep, if otherwise than its provider says.
    #[serde(default)]
    pub cache: Option<CacheStyle>,
    /// Whether it can be sent images, if otherwise than its provider says.
    #[serde(default)]
    pub images: Option<ImageSupport>,
    /// How it writes calls into its text, if otherwise than its provider says.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether tools are described to it in words, if otherwise than its provider says.
    #[serde(default)]
    pub teach: Option<bool>,
    /// Whether its answers begin in the middle of thinking, if otherwise than its provider says.
    #[serde(default)]
    pub opened: Option<bool>,
}

impl ModelInfo {
    /// What the provider wants different, for this model.
    #[must_use]
    pub fn quirks(&self, provider: &Quirks) -> Quirks {
        Quirks {
            thinking: self.thinking.clone().unwrap_or_else(|| provider.thinking.clone()),
            cache: self.cache.unwrap_or(provider.cache),
            images: self.images.unwrap_or(provider.images),
            max_output: self.output.or(provider.max_output),
            dialect: self.dialect.or(provider.dialect),
            teach: self.teach.unwrap_or(provider.teach),
            opened: self.opened.unwrap_or(provider.opened),
            ..provider.clone()
        }
    }
}

/// How much fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Tokens that fit into the window, if known.
    pub context: Option<u64>,
    /// Tokens of the longest answer, if known.
    pub output: Option<u64>,
}

/// All providers, in the order in which they are preferred.
#[derive(Debug, Clone)]
pub struct Catalog {
    providers: Vec<Provider>,
}

impl Catalog {
    /// The providers that come with rein.
    #[must_use]
    pub fn bundled() -> Self {
        Self { providers: bundled::providers() }
    }

    /// No providers.
    #[must_use]
    pub fn empty() -> Self {
        Self { providers: Vec::new() }
    }

    /// All providers.
    #[must_use]
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// A provider by its name.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }

    /// What is known of a model, its family's part included; of one that nobody lists, what its name tells.
    #[must_use]
    pub fn info(&self, provider: &Provider, model: &str) -> ModelInfo {
        let listed = provider.model(model).cloned();
        listed.unwrap_or_else(|| ModelInfo::unlisted(model)).completed(&provider.quirks)
    }

    /// Names of providers that look like a name.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        const ALIKE: f64 = 0.75;
        let name = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = self
            .providers
            .iter()
            .map(|provider| (strsim::jaro_winkler(&name, &provider.name), provider.name.as_str()))
            .filter(|(likeness, _)| *likeness >= ALIKE)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(3).map(|(_, name)| name).collect()
    }
}
