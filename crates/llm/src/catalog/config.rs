//! Providers from settings, put on top of those that come with rein.

use std::collections::BTreeMap;

use secrecy::SecretString;

use super::{Access, Catalog, ModelInfo, Origin, Provider, Quirks};
use crate::auth::OAuth;
use crate::error::{ErrorKind, ModelError};
use crate::wire::Wire;

/// What settings say of a provider. What is absent stays as it is, or is as usual.
#[derive(Debug, Clone, Default)]
pub struct ProviderConfig {
    /// What users write before the slash.
    pub name: String,
    /// How it wants to be asked.
    pub wire: Option<Wire>,
    /// Where its API begins.
    pub base_url: Option<String>,
    /// Environment variables that hold the key, the first that is set.
    pub key_env: Vec<String>,
    /// The key itself.
    pub key: Option<SecretString>,
    /// How one logs in.
    pub oauth: Option<OAuth>,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, SecretString>,
    /// The model to use if none is named.
    pub default_model: Option<String>,
    /// How many seconds it may be silent.
    pub idle_timeout: Option<u64>,
    /// What it wants different.
    pub quirks: Option<Quirks>,
    /// Its models, or other values for those that are known.
    pub models: Vec<ModelInfo>,
}

impl Catalog {
    /// The catalog with a provider of settings: changed if it is known, added if not.
    pub fn with_provider(mut self, config: ProviderConfig) -> Result<Self, ModelError> {
        match self.providers.iter_mut().find(|provider| provider.name == config.name) {
            Some(known) => known.change(config),
            None => self.providers.push(Provider::from_config(config)?),
        }
        Ok(self)
    }
}

impl Provider {
    fn from_config(config: ProviderConfig) -> Result<Self, ModelError> {
        if config.name.is_empty() || config.name.contains('/') {
            let message =
                format!("`{}` cannot be the name of a provider: it is empty or holds a slash", config.name);
            return Err(ModelError::new(ErrorKind::BadRequest, message));
        }
        let Some(base_url) = &config.base_url else {
            let name = &config.name;
            let message = format!("the provider `{name}` has no address");
            let hint = format!("set provider.{name}.base_url, for example to http://127.0.0.1:8000/v1");
            return Err(ModelError::new(ErrorKind::BadRequest, message).with_hint(hint));
        };
        let mut provider = Provider {
            name: config.name.clone(),
            title: config.name.clone(),
            wire: Wire::default(),
            elsewhere: None,
            variables: BTreeMap::new(),
            base_url: base_url.clone(),
            base_url_env: Vec::new(),
            region: None,
            region_env: Vec::new(),
            key_env: Vec::new(),
            access: Access::default(),
            sign_in: None,
            aliases: Vec::new(),
            checked: None,
            oauth: None,
            account_page: None,
            local_port: None,
            idle_timeout: None,
            default_model: None,
            quirks: Quirks::default(),
            models: Vec::new(),
            headers: BTreeMap::new(),
            key: None,
            origin: Origin::Configured,
        };
        provider.change(config);
        Ok(provider)
    }

    fn change(&mut self, config: ProviderConfig) {
        self.origin = Origin::Configured;
        if let Some(wire) = config.wire {
            self.wire = wire;
            self.elsewhere = None;
            self.models.iter_mut().for_each(|model| model.wire = None);
        }
        if let Some(url) = config.base_url {
            // Prices and keys' pages are those of the address that they came with.
            let trimmed = url.trim().trim_end_matches('/');
            if trimmed != self.base_url {
                for model in &mut self.models {
                    model.prices = None;
                }
                if let Some(wire) = self.elsewhere.filter(|_| config.wire.is_none()) {
                    self.wire = wire;
                    self.models.iter_mut().for_each(|model| model.wire = None);
                }
                self.base_url = trimmed.to_owned();
            }
            self.base_url_env.clear();
        }
        if !config.key_env.is_empty() {
            self.key_env = config.key_env;
        }
        if config.key.is_some() {
            self.key = config.key;
        }
        if let Some(oauth) = config.oauth {
            self.oauth = Some(oauth.or(self.oauth.take()));
        }
        if let Some(quirks) = config.quirks {
            self.quirks = quirks;
        }
        if config.idle_timeout.is_some() {
            self.idle_timeout = config.idle_timeout;
        }
        if config.default_model.is_some() {
            self.default_model = config.default_model;
        }
        self.headers.extend(config.headers);
        for model in config.models {
            self.learn(model);
        }
    }

    pub(super) fn learn(&mut self, model: ModelInfo) {
        match self.models.iter_mut().find(|known| known.id == model.id) {
            Some(known) => {
                known.wire = model.wire.or(known.wire);
                known.context = model.context.or(known.context);
                known.output = model.output.or(known.output);
                known.tools = model.tools.or(known.tools);
                known.reasoning = model.reasoning.or(known.reasoning);
                known.family = model.family.or_else(|| known.family.take());
                known.edit = model.edit.or(known.edit);
                known.prompt = model.prompt.or_else(|| known.prompt.take());
                known.promote = model.promote.or_else(|| known.promote.take());
                known.prices = model.prices.or_else(|| known.prices.take());
                known.thinking = model.thinking.or_else(|| known.thinking.take());
                known.cache = model.cache.or(known.cache);
                known.images = model.images.or(known.images);
                known.dialect = model.dialect.or(known.dialect);
                known.teach = model.teach.or(known.teach);
                known.opened = model.opened.or(known.opened);
            }
            None => self.models.push(model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Prices;

    #[test]
    fn settings_change_a_known_provider_and_keep_the_rest() {
        let catalog = Catalog::bundled();
        let before = catalog.provider("groq").unwrap().clone();
        let model = ModelInfo { id: "own".to_owned(), context: Some(1), ..ModelInfo::default() };
        let config = ProviderConfig {
            name: "groq".to_owned(),
            key_env: vec!["MY_KEY".to_owned()],
            models: vec![model.clone()],
            ..ProviderConfig::default()
        };
        let after = catalog.with_provider(config).unwrap().provider("groq").unwrap().clone();
        assert_eq!((after.base_url, after.key_env), (before.base_url, vec!["MY_KEY".to_owned()]));
        assert_eq!(after.models.len(), before.models.len() + 1);
        assert_eq!(after.models.last(), Some(&model));
        assert_eq!(after.origin, Origin::Configured);
    }

    #[test]
    fn another_address_has_other_prices() {
        let config = |name: &str| ProviderConfig {
            name: name.to_owned(),
            base_url: Some("http://127.0.0.1:9/v1/".to_owned()),
            ..ProviderConfig::default()
        };
        let catalog = Catalog::bundled().with_provider(config("openai")).unwrap();
        let provider = catalog.provider("openai").unwrap();
        assert_eq!(provider.base_url, "http://127.0.0.1:9/v1");
        assert!(provider.models.iter().all(|model| model.prices.is_none()));

        let known = ModelInfo {
            id: "m".into(),
            prices: Some(Prices { input: 1.0, output: 2.0, ..Prices::default() }),
            ..ModelInfo::default()
        };
        let own = ProviderConfig { models: vec![known.clone()], ..config("own") };
        let catalog = catalog.with_provider(own).unwrap();
        assert_eq!(catalog.provider("own").unwrap().models, [known]);
    }

    #[test]
    fn a_new_provider_needs_an_address_and_a_sound_name() {
        let error = Catalog::empty()
            .with_provider(ProviderConfig { name: "mine".to_owned(), ..ProviderConfig::default() })
            .unwrap_err();
        assert_eq!(
            error.hint.as_deref(),
            Some("set provider.mine.base_url, for example to http://127.0.0.1:8000/v1")
        );
        let slash = ProviderConfig {
            name: "a/b".to_owned(),
            base_url: Some("http://x".into()),
            ..ProviderConfig::default()
        };
        assert!(Catalog::empty().with_provider(slash).is_err());
    }
}
