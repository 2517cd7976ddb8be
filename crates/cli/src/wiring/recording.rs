//! Runs that are recorded, and runs that are played back.
//!
//! The head of a recording holds what the same run needs: the prompt, the
//! model and where it is, the mode, the directory. It holds no permission: what
//! may run when it is played back is decided then, by whoever plays it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rein_engine::{Engine, EngineSettings};
use rein_http::{Client, ClientOptions, Player, ProxyMode, Recorder};
use rein_llm::retry::Patience;
use rein_llm::{Catalog, Keychain, Models, ModelsOptions, ProviderConfig, Wire};
use rein_protocol::{Mode, ModelRef, Service};
use rein_store::StoreOptions;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use super::{Setup, from_model_error, open_store, providers, variable};
use crate::error::CommandError;

/// A run that is to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordPlan {
    /// Where to.
    pub file: PathBuf,
    /// The prompt.
    pub prompt: Option<String>,
    /// Whether the session had begun before.
    pub session: SessionAge,
}

/// Whether a session had begun before its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionAge {
    /// It begins with the run.
    New,
    /// There is more in it than the recording holds.
    Resumed,
}

/// A run, as the head of its recording tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedRun {
    /// The prompt.
    pub prompt: Option<String>,
    /// The model.
    pub model: ModelRef,
    /// How it was asked.
    pub wire: Wire,
    /// Where it was.
    pub base_url: String,
    /// How much ran without asking.
    pub mode: Mode,
    /// The cap on steps.
    pub max_steps: u32,
    /// The directory it worked in.
    pub workspace: String,
    /// The day, as the model was told it.
    pub date: String,
    /// Whether the session had begun before.
    pub session: SessionAge,
}

/// The day as models are told it.
pub fn today() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d").to_string()
}

impl Setup {
    /// Has what is sent and received by the engine to come recorded.
    pub fn record(&mut self, plan: RecordPlan) {
        self.plan = Some(plan);
    }

    /// Makes the recording complete, if there is one.
    pub async fn finish_recording(&self) -> Result<(), CommandError> {
        match &self.recorder {
            Some(recorder) => recorder
                .finish()
                .await
                .map_err(|error| CommandError::failure("the recording is not complete").caused_by(error)),
            None => Ok(()),
        }
    }

    /// Begins the recording that was planned.
    pub(super) fn begin_recording(
        &mut self,
        models: &Models,
        keychain: &Keychain,
        model: Option<&ModelRef>,
    ) -> Result<(), CommandError> {
        let (Some(plan), Some(model)) = (self.plan.take(), model) else { return Ok(()) };
        let endpoint = models.resolve(model).map_err(from_model_error)?;
        let settings = &self.loaded.settings;
        let run = RecordedRun {
            prompt: plan.prompt,
            model: model.clone(),
            wire: endpoint.wire,
            base_url: endpoint.base_url,
            mode: settings.mode,
            max_steps: settings.max_steps,
            workspace: self.places.directory.to_string_lossy().into_owned(),
            date: today(),
            session: plan.session,
        };
        let head = serde_json::to_value(&run)
            .map_err(|error| CommandError::failure("the recording cannot be begun").caused_by(error))?;
        let secrets = self.secrets(models.catalog(), keychain);
        let recorder = Recorder::create(&plan.file, &head, secrets).map_err(|error| {
            CommandError::usage("the run cannot be recorded")
                .caused_by(error)
                .hint("name a file that does not exist yet, in a directory that can be written")
        })?;
        self.recorder = Some(recorder);
        Ok(())
    }

    /// Every secret that rein knows here.
    fn secrets(&self, catalog: &Catalog, keychain: &Keychain) -> Vec<String> {
        const ACCOUNT: [&str; 3] = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"];
        let providers = catalog.providers();
        let names =
            providers.iter().flat_map(|provider| provider.key_env.iter().chain(&provider.access.token_env));
        let names = names.map(String::as_str).chain(ACCOUNT);
        let set = names.filter_map(|name| variable(&self.places.environment, name));
        let written =
            providers.iter().flat_map(|provider| provider.key.iter().chain(provider.headers.values()));
        let stored = keychain.secrets();
        let written = written.chain(&stored).map(|secret| secret.expose_secret().to_owned());
        set.chain(written).collect()
    }

    /// An engine that asks a recording instead of a model, and keeps its sessions in `data`.
    pub async fn played_engine(
        &self,
        run: &RecordedRun,
        player: Arc<Player>,
        data: &Path,
    ) -> Result<Arc<dyn Service>, CommandError> {
        let provider = ProviderConfig {
            name: run.model.provider.clone(),
            wire: Some(run.wire),
            base_url: Some(run.base_url.clone()),
            ..ProviderConfig::default()
        };
        let catalog = providers::catalog(Catalog::bundled(), &self.loaded.settings.provider)?;
        let catalog = catalog.with_provider(provider).map_err(from_model_error)?;
        let keys: Vec<String> =
            catalog.provider(&run.model.provider).map(|known| known.key_env.clone()).unwrap_or_default();
        let client = Client::new(ClientOptions { proxy: ProxyMode::Direct, ..ClientOptions::default() })
            .map_err(|error| CommandError::failure("the recording cannot be played").caused_by(error))?;
        // A recording does not look at keys, but whether there is one decides whether it is asked.
        let environment = move |name: &str| keys.iter().any(|key| key == name).then(|| "replayed".to_owned());
        let models = Models::new(client.played(player), catalog, environment)
            .with_options(ModelsOptions { patience: Patience::Replayed, ..ModelsOptions::default() });
        let store = open_store(StoreOptions::new(data)).await?;
        let mut options = self.options(store, models);
        let reader = self.page_reader(&options, &run.model);
        options.tools = Arc::new(self.tools(Some(reader)).await?);
        options.commands = self.commands().await?;
        options.settings =
            EngineSettings { max_steps: run.max_steps, retry_base: Duration::ZERO, ..options.settings };
        Ok(Engine::new(options))
    }
}
