//! The way in: which models can be asked, and asking them.
//!
//! Reads keys, when they are needed, and puts them into the one header that
//! they belong into. One call of [`Models::stream`] is one attempt.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rein_http::{BodyEnd, CancellationToken, Client, Reach, Response};
use rein_protocol::{Cost, ModelRef, Timestamp, Usage};
use secrecy::SecretString;

use crate::auth::{Another, KeySource, Keychain, is_about_the_key};
use crate::catalog::{self, Access, AccessScheme, Catalog, Limits, Prices, Provider, Quirks};
use crate::discovery::{self, LocalServer};
use crate::error::{Advice, ErrorKind, ModelError, classify};
use crate::request::ModelRequest;
use crate::sending::Credential;
use crate::stream::ModelStream;
use crate::wire::Wire;

/// How much of an error's body is read.
const LONGEST_ERROR: usize = 64 * 1024;
/// How much of a list of models is read.
const LONGEST_LIST: usize = 8 * 1024 * 1024;
/// How many keys are tried for one request.
const MOST_KEYS: usize = 16;
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// Variables by name.
type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// How models are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelsOptions {
    /// How long a provider may be silent. If not said, two minutes, and a
    /// quarter of an hour on this machine: a local server reads a long prompt
    /// without a word.
    pub idle_timeout: Option<Duration>,
    /// How long servers on this machine are looked for.
    pub discovery_timeout: Duration,
}

impl Default for ModelsOptions {
    fn default() -> Self {
        Self { idle_timeout: None, discovery_timeout: Duration::from_millis(200) }
    }
}

/// The models that can be asked.
#[derive(Clone)]
pub struct Models {
    http: Client,
    catalog: Arc<Catalog>,
    environment: Environment,
    options: ModelsOptions,
    pub(crate) keychain: Keychain,
}

/// Where and how a model is asked. Showing it shows no secrets.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The provider's name.
    pub provider: String,
    /// The name that the provider knows the model by.
    pub model: String,
    /// The protocol.
    pub wire: Wire,
    /// Where the API begins.
    pub base_url: String,
    /// Where it is, for those who have regions; otherwise empty.
    pub region: String,
    /// Who asks, if that is known.
    pub credential: Option<Credential>,
    /// Where that is known from.
    pub key_source: Option<KeySource>,
    /// How it is shown who asks.
    pub access: Access,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, SecretString>,
    /// What the provider wants different.
    pub quirks: Quirks,
    pub(crate) advice: Advice,
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Models {
    /// Models of the catalog, with keys and addresses from the environment.
    pub fn new(
        http: Client,
        catalog: Catalog,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            http,
            catalog: Arc::new(catalog),
            environment: Arc::new(environment),
            options: ModelsOptions::default(),
            keychain: Keychain::default(),
        }
    }

    /// With other options.
    #[must_use]
    pub fn with_options(mut self, options: ModelsOptions) -> Self {
        self.options = options;
        self
    }

    /// With secrets from elsewhere than settings and environment.
    #[must_use]
    pub fn with_keychain(mut self, keychain: Keychain) -> Self {
        self.keychain = keychain;
        self
    }

    /// What is known of providers.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Where and how a model is asked, or why it cannot be.
    pub fn resolve(&self, model: &ModelRef) -> Result<Endpoint, ModelError> {
        let provider =
            self.catalog.provider(&model.provider).ok_or_else(|| self.unknown_provider(&model.provider))?;
        let endpoint = self.endpoint(provider, &model.model);
        if !self.has_candidate(provider) && wants_key(provider, &endpoint.base_url) {
            return Err(missing_key(provider));
        }
        Ok(endpoint)
    }

    /// Asks a model, once; once more for every further key if the first is turned away. What the request says of
    /// the model is replaced by `model`.
    pub async fn stream(
        &self,
        model: &ModelRef,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ModelStream, ModelError> {
        self.resolve(model)?;
        let provider =
            self.catalog.provider(&model.provider).ok_or_else(|| self.unknown_provider(&model.provider))?;
        let mut left = MOST_KEYS;
        loop {
            left -= 1;
            self.prepare_key(provider, &cancel).await?;
            let endpoint = self.endpoint(provider, &model.model);
            match self.attempt(&endpoint, request, &cancel).await {
                Err(error)
                    if left > 0
                        && is_about_the_key(error.kind)
                        && self.turned_away(provider, &endpoint, &error) == Another::Left => {}
                done => return done,
            }
        }
    }

    async fn attempt(
        &self,
        endpoint: &Endpoint,
        request: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<ModelStream, ModelError> {
        let scrubber = endpoint.scrubber();
        let refine = |error: ModelError| scrubber.clean_error(endpoint.advice.add_to(error));
        let request = if request.model == endpoint.model {
            Cow::Borrowed(request)
        } else {
            Cow::Owned(ModelRequest { model: endpoint.model.clone(), ..request.clone() })
        };
        let encoded = endpoint.wire.encode(&request, &endpoint.quirks)?;
        let outgoing = endpoint
            .outgoing(encoded)
            .map_err(refine)?
            .with_idle_timeout(self.idle_timeout(&endpoint.base_url));
        let response = self.http.send(outgoing, cancel).await.map_err(|error| refine(error.into()))?;
        if !(200..300).contains(&response.status) {
            return Err(refine(failure(response).await));
        }
        Ok(ModelStream::new(endpoint.wire, response, scrubber, endpoint.advice.clone()))
    }

    /// The models that a provider lists.
    pub async fn list(&self, provider: &str, cancel: &CancellationToken) -> Result<Vec<String>, ModelError> {
        let known = self.catalog.provider(provider).ok_or_else(|| self.unknown_provider(provider))?;
        self.prepare_key(known, cancel).await?;
        let endpoint = self.endpoint(known, "");
        let scrubber = endpoint.scrubber();
        let refine = |error: ModelError| scrubber.clean_error(endpoint.advice.add_to(error));
        let request = endpoint.list_request().map_err(refine)?.with_idle_timeout(LIST_TIMEOUT);
        let mut response = self.http.send(request, cancel).await.map_err(|error| refine(error.into()))?;
        if !(200..300).contains(&response.status) {
            return Err(refine(failure(response).await));
        }
        match response.read_limited(LONGEST_LIST).await {
            (_, BodyEnd::Broken(error)) => Err(refine(error.into())),
            (body, BodyEnd::Whole | BodyEnd::Truncated) => discovery::model_ids(&body).ok_or_else(|| {
                refine(ModelError::new(ErrorKind::Protocol, format!("`{provider}` sent no list of models")))
            }),
        }
    }

    /// The model servers that run on this machine.
    pub async fn local_servers(&self) -> Vec<LocalServer> {
        let candidates: Vec<(String, String)> = self
            .catalog
            .providers()
            .iter()
            .filter(|provider| provider.local_port.is_some())
            .map(|provider| (provider.name.clone(), provider.base_url.clone()))
            .collect();
        discovery::local(&self.http, &candidates, self.options.discovery_timeout).await
    }

    /// What a model's tokens cost, if that is known.
    #[must_use]
    pub fn pricing(&self, model: &ModelRef) -> Option<Prices> {
        let provider = self.catalog.provider(&model.provider)?;
        // Another address is another seller.
        if self.address(provider).1 == AddressSource::Environment {
            return None;
        }
        provider.model(&model.model)?.prices.clone()
    }

    /// What a model call cost.
    #[must_use]
    pub fn cost(&self, model: &ModelRef, usage: &Usage) -> Cost {
        catalog::cost(Some(usage), self.pricing(model).as_ref())
    }

    /// How much fits into a model, as far as known.
    #[must_use]
    pub fn limits(&self, model: &ModelRef) -> Limits {
        self.catalog
            .provider(&model.provider)
            .and_then(|provider| provider.model(&model.model))
            .map(|model| Limits { context: model.context, output: model.output })
            .unwrap_or_default()
    }

    pub(crate) fn endpoint(&self, provider: &Provider, model: &str) -> Endpoint {
        let (base_url, _) = self.address(provider);
        let known = provider.model(model);
        let (key_source, credential) = self.chosen(provider).unzip();
        let advice = Advice {
            provider: provider.name.clone(),
            model: model.to_owned(),
            near_models: provider.nearest_models(model),
            key_source: key_source.clone(),
            key_env: provider.key_env.clone(),
            account_page: provider.account_page.clone(),
            base_url: shown_address(&base_url),
        };
        Endpoint {
            provider: provider.name.clone(),
            model: model.to_owned(),
            wire: provider.wire,
            base_url,
            region: self.region(provider),
            credential,
            key_source,
            access: provider.access.clone(),
            headers: provider.headers.clone(),
            quirks: known.map_or_else(|| provider.quirks.clone(), |model| model.quirks(&provider.quirks)),
            advice,
        }
    }

    /// Where a provider's API begins, and who says so.
    pub(crate) fn address(&self, provider: &Provider) -> (String, AddressSource) {
        match provider.base_url_env.iter().find_map(|name| self.variable(name)) {
            Some(url) => (url.trim_end_matches('/').to_owned(), AddressSource::Environment),
            None => (provider.base_url.replace("{region}", &self.region(provider)), AddressSource::Catalog),
        }
    }

    fn region(&self, provider: &Provider) -> String {
        let set = provider.region_env.iter().find_map(|name| self.variable(name));
        // It becomes a piece of a host's name.
        let sound = |region: &String| region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        set.filter(sound).or_else(|| provider.region.clone()).unwrap_or_default()
    }

    pub(crate) fn http(&self) -> &Client {
        &self.http
    }

    pub(crate) fn unknown_provider(&self, name: &str) -> ModelError {
        let near = self.catalog.nearest(name);
        let known: Vec<&str> =
            self.catalog.providers().iter().map(|provider| provider.name.as_str()).collect();
        let names = if near.is_empty() { known.join(", ") } else { near.join(", ") };
        let lead = if near.is_empty() { "known are" } else { "similar are" };
        ModelError::new(ErrorKind::NotFound, format!("there is no provider `{name}`; {lead}: {names}"))
            .with_hint(format!(
                "to use another one, set provider.{name}.base_url in your settings to its address"
            ))
    }

    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn idle_timeout(&self, base_url: &str) -> Duration {
        const REMOTE: Duration = Duration::from_secs(120);
        const LOCAL: Duration = Duration::from_secs(15 * 60);
        self.options.idle_timeout.unwrap_or(match Reach::of(base_url) {
            Reach::Loopback => LOCAL,
            Reach::Private | Reach::Public => REMOTE,
        })
    }
}

/// Who says where a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressSource {
    /// The catalog, or settings.
    Catalog,
    /// A variable of the environment.
    Environment,
}

/// Servers on this machine and in private networks seldom want a key.
pub(crate) fn wants_key(provider: &Provider, base_url: &str) -> bool {
    !provider.key_env.is_empty() && Reach::of(base_url) == Reach::Public
}

fn missing_key(provider: &Provider) -> ModelError {
    let access = &provider.access;
    let pair = match access.scheme {
        AccessScheme::Aws(_) => Some("AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY".to_owned()),
        AccessScheme::Bearer | AccessScheme::Header(_) => None,
    };
    let names: Vec<String> = provider.key_env.iter().chain(&access.token_env).cloned().chain(pair).collect();
    let names = names.join(" or ");
    let page = provider
        .account_page
        .as_ref()
        .map(|page| format!("; keys are to be had at {page}"))
        .unwrap_or_default();
    let name = &provider.name;
    ModelError::new(ErrorKind::Auth, format!("there is no key for `{name}`: {names} is not set")).with_hint(
        format!(
            "export {}=…, or run `rein auth login {name}`, or set provider.{name}.key_env in your settings{page}",
            provider.key_env.first().map_or("KEY", String::as_str)
        ),
    )
}

/// The error that an answer without success is.
async fn failure(mut response: Response) -> ModelError {
    let (body, end) = response.read_limited(LONGEST_ERROR).await;
    if let BodyEnd::Broken(rein_http::HttpError::Cancelled) = end {
        return rein_http::HttpError::Cancelled.into();
    }
    classify(Some(response.status), &response.headers, &String::from_utf8_lossy(&body), Timestamp::now())
}

/// An address as it may be shown: without a user, a password or a query, which can hold keys.
fn shown_address(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else { return plain.to_owned() };
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let host = host.rsplit('@').next().unwrap_or_default();
    match path.is_empty() {
        true => format!("{scheme}://{host}"),
        false => format!("{scheme}://{host}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown_address;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        for (address, shown) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("https://user:pass@api.example.com:8/v1?key=1#x", "https://api.example.com:8/v1"),
            ("http://key@host", "http://host"),
            ("host/v1?key=1", "host/v1"),
        ] {
            assert_eq!(shown_address(address), shown);
        }
    }
}
