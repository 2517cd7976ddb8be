//! The way in: which models can be asked, and asking them.
//!
//! Where and how, [`endpoint`](crate::endpoint) knows. One call of [`Models::stream`] is one attempt.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rein_http::{BodyEnd, CancellationToken, Client, Reach, Response};
use rein_protocol::{Cost, ModelRef, Timestamp, Usage};

use crate::auth::{Another, Keychain, is_about_the_key};
use crate::catalog::{self, AccessScheme, Catalog, Limits, ModelInfo, Prices, Provider, Quirks};
use crate::dialect::refuses_tools;
use crate::discovery::{self, LocalServer};
use crate::endpoint::{AddressSource, Endpoint, missing_variable, wants_key};
use crate::error::{ErrorKind, ModelError, classify};
use crate::guard::Guard;
use crate::opened::Begins;
use crate::request::ModelRequest;
use crate::retry::Patience;
use crate::role::Roles;
use crate::stream::ModelStream;
use crate::window::{self, LocalWindow};
use crate::wire::Wire;

/// How much of an error's body is read.
const LONGEST_ERROR: usize = 64 * 1024;
/// How much of a list of models is read.
const LONGEST_LIST: usize = 8 * 1024 * 1024;
/// How many keys are tried for one request.
const MOST_KEYS: usize = 16;
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server on this machine is asked how much fits.
const WINDOW_TIMEOUT: Duration = Duration::from_secs(2);

/// Variables by name.
type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// How models are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelsOptions {
    /// How long a provider may be silent of which the catalog does not say. If not said, two minutes, and a
    /// quarter of an hour on this machine: a local server reads a long prompt
    /// without a word.
    pub idle_timeout: Option<Duration>,
    /// How many bytes of an answer are read at most.
    pub longest_answer: usize,
    /// How long a provider is waited for that asks for it.
    pub patience: Patience,
    /// How long servers on this machine are looked for.
    pub discovery_timeout: Duration,
}

impl Default for ModelsOptions {
    fn default() -> Self {
        Self {
            idle_timeout: None,
            longest_answer: 64 * 1024 * 1024,
            patience: Patience::Interactive,
            discovery_timeout: Duration::from_millis(200),
        }
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
    roles: Arc<Roles>,
    /// What servers on this machine said of their models.
    windows: Arc<Mutex<HashMap<ModelRef, LocalWindow>>>,
    /// Models whose servers refused tools.
    toolless: Arc<Mutex<HashSet<ModelRef>>>,
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
            roles: Arc::default(),
            windows: Arc::default(),
            toolless: Arc::default(),
        }
    }

    /// With models for roles.
    #[must_use]
    pub fn with_roles(mut self, roles: Roles) -> Self {
        self.roles = Arc::new(roles);
        self
    }

    /// The models that somebody chose for roles.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// With other options.
    #[must_use]
    pub fn with_options(mut self, options: ModelsOptions) -> Self {
        self.options = options;
        self
    }

    /// With another way to servers.
    #[must_use]
    pub fn with_client(mut self, http: Client) -> Self {
        self.http = http;
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
        if let Some(variable) = missing_variable(provider, &endpoint.base_url) {
            return Err(variable);
        }
        Ok(endpoint)
    }

    /// Asks a model, once; once more for every further key if the first is turned away. What the request says of
    /// the model is replaced by `model`. A server that takes no tools is asked again with the tools described in
    /// words, and from then on so at once.
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
            let mut endpoint = self.endpoint(provider, &model.model);
            match self.attempt(model, &mut endpoint, request, &cancel).await {
                Err(error)
                    if left > 0
                        && is_about_the_key(error.kind)
                        && self.turned_away(provider, &endpoint, &error) == Another::Left => {}
                done => return done.map(|stream| stream.with_key(self.clone(), endpoint)),
            }
        }
    }

    /// The same as [`turned_away`](Self::turned_away), in the middle of an answer.
    pub(crate) fn turned_away_by(&self, used: &Endpoint, error: &ModelError) -> Another {
        match self.catalog.provider(&used.provider) {
            Some(provider) => self.turned_away(provider, used, error),
            None => Another::None,
        }
    }

    /// With one key, with tools or with words in their place.
    async fn attempt(
        &self,
        model: &ModelRef,
        endpoint: &mut Endpoint,
        request: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<ModelStream, ModelError> {
        endpoint.quirks.teach |= self.toolless.lock().unwrap_or_else(PoisonError::into_inner).contains(model);
        match self.ask(endpoint, request, cancel).await {
            Err(error) if !endpoint.quirks.teach && !request.tools.is_empty() && refuses_tools(&error) => {
                self.toolless.lock().unwrap_or_else(PoisonError::into_inner).insert(model.clone());
                endpoint.quirks.teach = true;
                self.ask(endpoint, request, cancel).await
            }
            answered => answered,
        }
    }

    async fn ask(
        &self,
        endpoint: &Endpoint,
        request: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<ModelStream, ModelError> {
        let scrubber = endpoint.scrubber();
        let refine = |error: ModelError| {
            let advised = endpoint.advice.add_to(error);
            scrubber.clean_error(self.options.patience.judge(advised, Timestamp::now()))
        };
        let stage = endpoint.stage(request);
        let request = endpoint.written(request);
        let encoded = endpoint.wire.encode(&request, &endpoint.quirks)?;
        let idle_timeout = self.idle_timeout(&endpoint.provider, &endpoint.base_url);
        let outgoing = endpoint.outgoing(encoded).map_err(refine)?.with_idle_timeout(idle_timeout);
        let response = self.http.send(outgoing, cancel).await.map_err(|error| refine(error.into()))?;
        if !(200..300).contains(&response.status) {
            return Err(refine(failure(response).await));
        }
        let guard = Guard::new(self.options.longest_answer, idle_timeout, self.options.patience);
        let stream = ModelStream::new(endpoint.wire, response, scrubber, endpoint.advice.clone(), guard);
        let begins = if endpoint.quirks.opened { Begins::Thinking } else { Begins::Answering };
        Ok(stream.beginning(begins).with_stage(stage))
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

    /// Whether a model may have a window of its own where it runs, which its server can be asked for: on this machine
    /// or in a private network, at a port where a server of models usually listens or at an address of the settings
    /// that do not say how much fits. An address in a variable with an unusual port is more likely a way to elsewhere.
    #[must_use]
    pub fn has_own_window(&self, model: &ModelRef) -> bool {
        let Some(provider) = self.catalog.provider(&model.provider) else { return false };
        let (base_url, source) = self.address(provider);
        let host = base_url.split_once("://").map_or(base_url.as_str(), |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default();
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        let usual = |known: &Provider| known.local_port.is_some() && known.local_port == port;
        let unsaid = provider.model(&model.model).is_none_or(|info| info.context.is_none());
        let speaks =
            matches!(self.endpoint(provider, &model.model).wire, Wire::OpenAiChat | Wire::OpenAiResponses);
        let asked = source == AddressSource::Catalog && unsaid && speaks;
        Reach::of(&base_url) != Reach::Public && (asked || self.catalog.providers().iter().any(usual))
    }

    /// Asks a server on this machine or in a private network how much really fits into a model; from then on
    /// [`limits`](Self::limits) knows it too. Nothing of other servers, and of those that do not say.
    pub async fn local_window(&self, model: &ModelRef) -> Option<LocalWindow> {
        let provider = self.catalog.provider(&model.provider)?;
        let (base_url, _) = self.address(provider);
        if Reach::of(&base_url) == Reach::Public {
            return None;
        }
        let found = window::of(&self.http, &base_url, &model.model, WINDOW_TIMEOUT).await?;
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.insert(model.clone(), found.clone());
        Some(found)
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

    /// What the provider's cache saved in a call, in millionths of a US dollar; less than nothing if writing to it cost
    /// more than reading from it saved. Absent if that is not known.
    #[must_use]
    pub fn savings(&self, model: &ModelRef, usage: &Usage) -> Option<i64> {
        catalog::cache_savings(usage, &self.pricing(model)?)
    }

    /// What is known of a model, its family's part included.
    #[must_use]
    pub fn info(&self, model: &ModelRef) -> ModelInfo {
        match self.catalog.provider(&model.provider) {
            Some(provider) => self.catalog.info(provider, &model.model),
            None => ModelInfo::unlisted(&model.model).completed(&Quirks::default()),
        }
    }

    /// How much fits into a model, as far as known.
    #[must_use]
    pub fn limits(&self, model: &ModelRef) -> Limits {
        let local =
            self.windows.lock().unwrap_or_else(PoisonError::into_inner).get(model).and_then(|w| w.context);
        let known = self.known_limits(model);
        // What a server says that it has set up holds more than what is known of the model.
        Limits { context: known.context.into_iter().chain(local).min(), ..known }
    }

    fn known_limits(&self, model: &ModelRef) -> Limits {
        self.catalog
            .provider(&model.provider)
            .and_then(|provider| provider.model(&model.model))
            .map(|model| Limits { context: model.context, output: model.output })
            .unwrap_or_default()
    }

    pub(crate) fn options(&self) -> &ModelsOptions {
        &self.options
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

    fn idle_timeout(&self, provider: &str, base_url: &str) -> Duration {
        const REMOTE: Duration = Duration::from_secs(120);
        const LOCAL: Duration = Duration::from_secs(15 * 60);
        let known = self.catalog.provider(provider).and_then(|provider| provider.idle_timeout);
        known.map(Duration::from_secs).or(self.options.idle_timeout).unwrap_or(match Reach::of(base_url) {
            Reach::Loopback => LOCAL,
            Reach::Private | Reach::Public => REMOTE,
        })
    }
}

fn missing_key(provider: &Provider) -> ModelError {
    let access = &provider.access;
    let pair = match access.scheme {
        AccessScheme::Aws(_) => Some("AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY".to_owned()),
        AccessScheme::Bearer | AccessScheme::Header(_) => None,
    };
    let named = provider.key_env.iter().chain(&access.token_env).chain(&access.account_file_env);
    let names: Vec<String> = named.cloned().chain(pair).collect();
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
