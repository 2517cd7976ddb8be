//! Which model to use, without ceremony.
//!
//! In this order: the one that was named; the provider that the standard
//! variables speak of; a provider from settings; any provider whose key is
//! there; a server on this machine. If nothing is found, the error says what
//! to do.

use std::collections::HashSet;

use rein_http::CancellationToken;
use rein_protocol::ModelRef;

use crate::catalog::{Origin, Provider};
use crate::discovery::LocalServer;
use crate::endpoint::{AddressSource, missing_variable, wants_key};
use crate::error::{ErrorKind, ModelError};
use crate::models::Models;
use crate::sending::Credential;

/// How many variables a hint names beside the first.
const NAMED: usize = 5;

impl Models {
    /// The model to use: `wanted` may be `provider/model`, the bare name of a
    /// model, or absent. May ask servers for their models.
    pub async fn choose(
        &self,
        wanted: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<ModelRef, ModelError> {
        match wanted.map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => self.choose_named(text).await,
            None => self.choose_any(cancel).await,
        }
    }

    async fn choose_named(&self, text: &str) -> Result<ModelRef, ModelError> {
        if let Ok(model) = text.parse::<ModelRef>()
            && self.catalog().provider(&model.provider).is_some()
        {
            return self.resolve(&model).map(|_| model);
        }
        let candidates = self.providers_with(text).await;
        match candidates.as_slice() {
            [provider] => Ok(reference(provider, text)),
            [] => Err(self.nobody_has(text)),
            several => Err(ambiguous(text, several)),
        }
    }

    /// The providers that can be used and have a model of this name; the first kind that has any.
    async fn providers_with(&self, model: &str) -> Vec<String> {
        let usable = || self.catalog().providers().iter().filter(|provider| self.is_usable(provider));
        let listed: Vec<String> = usable()
            .filter(|provider| provider.model(model).is_some())
            .map(|provider| provider.name.clone())
            .collect();
        if !listed.is_empty() {
            return listed;
        }
        // An address that somebody set is meant to be used, and nobody knows its models.
        let set: Vec<String> = usable()
            .filter(|provider| self.address(provider).1 == AddressSource::Environment)
            .map(|provider| provider.name.clone())
            .collect();
        if !set.is_empty() {
            return set;
        }
        let servers = self.local_servers().await;
        let has = |server: &&LocalServer| {
            server.models.iter().any(|id| id == model || id.strip_suffix(":latest") == Some(model))
        };
        let local: Vec<String> = servers.iter().filter(has).map(|server| server.provider.clone()).collect();
        if !local.is_empty() {
            return local;
        }
        usable()
            .filter(|provider| provider.origin == Origin::Configured && provider.models.is_empty())
            .map(|provider| provider.name.clone())
            .collect()
    }

    async fn choose_any(&self, cancel: &CancellationToken) -> Result<ModelRef, ModelError> {
        let providers = self.catalog().providers();
        let by_variables = providers.iter().filter(|provider| !provider.base_url_env.is_empty());
        let by_settings = providers.iter().filter(|provider| provider.origin == Origin::Configured);
        let mut tried = HashSet::new();
        for provider in by_variables.chain(by_settings).chain(providers) {
            if tried.insert(&provider.name)
                && self.is_usable(provider)
                && !self.has_account_only(provider)
                && let Some(model) = self.first_model(provider, cancel).await
            {
                return Ok(reference(&provider.name, &model));
            }
        }
        let servers = self.local_servers().await;
        let found =
            servers.iter().find_map(|server| Some(reference(&server.provider, server.models.first()?)));
        let account = || providers.iter().find(|provider| self.has_account_only(provider));
        let by_account = || Some(reference(&account()?.name, account()?.default_model.as_deref()?));
        found.or_else(by_account).ok_or_else(|| self.no_model())
    }

    /// Whether only an account speaks for a provider, which most people have for other things: it is the last resort.
    fn has_account_only(&self, provider: &Provider) -> bool {
        provider.origin == Origin::Bundled && matches!(self.credential(provider), Some(Credential::Aws(_)))
    }

    /// Whether a provider can be asked, as far as that can be told without asking it.
    fn is_usable(&self, provider: &Provider) -> bool {
        if provider.local_port.is_some() {
            // Whether it runs is found out by looking for it, unless settings say that it does.
            return provider.origin == Origin::Configured;
        }
        let (base_url, source) = self.address(provider);
        if missing_variable(provider, &base_url).is_some() {
            return false;
        }
        let set = source == AddressSource::Environment || provider.origin == Origin::Configured;
        self.has_candidate(provider) || (set && !wants_key(provider, &base_url))
    }

    async fn first_model(&self, provider: &Provider, cancel: &CancellationToken) -> Option<String> {
        let fallback = || {
            provider.default_model.clone().or_else(|| provider.models.first().map(|model| model.id.clone()))
        };
        let own_address = self.address(provider).1 == AddressSource::Catalog;
        match fallback() {
            Some(model) if own_address => Some(model),
            fallback => {
                let listed = self.list(&provider.name, cancel).await.unwrap_or_default();
                listed.into_iter().next().or(fallback)
            }
        }
    }

    fn nobody_has(&self, model: &str) -> ModelError {
        let knowing: Vec<&Provider> =
            self.catalog().providers().iter().filter(|provider| provider.model(model).is_some()).collect();
        if let [first, ..] = knowing.as_slice() {
            let ways: Vec<String> = knowing
                .iter()
                .map(|provider| format!("{} ({})", provider.name, provider.key_env.join(" or ")))
                .collect();
            let message = format!("no key is set for a provider of `{model}`: {}", ways.join(", "));
            let variable = first.key_env.first().map_or("KEY", String::as_str);
            return ModelError::new(ErrorKind::Auth, message).with_hint(format!("export {variable}=…"));
        }
        if let Ok(parsed) = model.parse::<ModelRef>() {
            return self.unknown_provider(&parsed.provider);
        }
        ModelError::new(
            ErrorKind::NotFound,
            format!("no provider that can be used is known to have the model `{model}`"),
        )
        .with_hint(format!("name its provider, too: --model PROVIDER/{model}"))
    }

    fn no_model(&self) -> ModelError {
        let remote: Vec<&str> = self
            .catalog()
            .providers()
            .iter()
            .filter_map(|provider| Some(provider.key_env.first()?.as_str()))
            .collect();
        let local: Vec<&str> = self
            .catalog()
            .providers()
            .iter()
            .filter(|provider| provider.local_port.is_some())
            .map(|provider| provider.title.as_str())
            .collect();
        let hint = format!(
            "do one of these:\n  \
             set a key: export OPENAI_API_KEY=… (or {}, …; `rein models` shows all), or store one: rein auth login openai\n  \
             start a server on this machine: {} are found by themselves\n  \
             name a server: export OPENAI_BASE_URL=http://host:port/v1, or provider.NAME.base_url in your settings\n\
             to see how rein works without a model: rein demo",
            remote.into_iter().skip(1).take(NAMED).collect::<Vec<_>>().join(", "),
            local.join(", "),
        );
        ModelError::new(
            ErrorKind::NoModel,
            "there is no model to ask: no key is set and no server runs on this machine",
        )
        .with_hint(hint)
    }
}

fn reference(provider: &str, model: &str) -> ModelRef {
    ModelRef { provider: provider.to_owned(), model: model.to_owned() }
}

fn ambiguous(model: &str, providers: &[String]) -> ModelError {
    let names: Vec<String> = providers.iter().map(|provider| format!("{provider}/{model}")).collect();
    ModelError::new(
        ErrorKind::NotFound,
        format!("more than one provider has the model `{model}`: {}", names.join(", ")),
    )
    .with_hint(format!("choose one: --model {}", names.first().map_or("", String::as_str)))
}
