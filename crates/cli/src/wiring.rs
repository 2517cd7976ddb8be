//! Puts the crates together: settings, store, models and engine. Nothing else
//! in the binary knows how an engine is made.
//!
//! What is made here leaves as `Arc<dyn Service>`. Sessions can be read without
//! any model that can be used; only a run needs one.

mod confinement;
mod context;
mod keyring;
mod keys;
mod limits;
mod models;
pub(crate) mod pictures;
mod places;
mod providers;
mod recording;
mod rules;
mod toolbox;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rein_config::{Durability, Environment, Flag, LoadRequest, Loaded, MANAGED_FILE, Source};
use rein_engine::{Commands, Engine, EngineOptions, EngineSettings, FileSystemPaths, PageReader};
use rein_http::{CancellationToken, Client, ClientOptions, ProxyMode, Recorder};
use rein_llm::retry::Patience;
use rein_llm::{Catalog, ErrorKind, ModelError, ModelInfo, Models, ModelsOptions, Prices, ProviderConfig};
use rein_permission::{Layer, Policy, Presence, Rule};
use rein_protocol::{Content, Mode, ModelRef, Service};
use rein_store::{SalvageReport, Store, StoreOptions};
use rein_tools::Registry;

use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::terminal::{Target, neutralise};
pub(crate) use confinement::preference;
pub use keys::Desk;
pub use places::{Places, resolved};
pub use recording::{RecordPlan, RecordedRun, SessionAge, today};
pub(crate) use toolbox::own as own_tools;

/// The runtime for everything that waits.
pub fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CommandError::failure("threads cannot be started").caused_by(error))
}

/// Settings that hold for one directory, and what can be made from them.
pub struct Setup {
    places: Places,
    loaded: Loaded,
    flags: Vec<Flag>,
    rules: Vec<Rule>,
    store: Option<Store>,
    plan: Option<RecordPlan>,
    recorder: Option<Recorder>,
    presence: Presence,
    usable: Vec<ModelRef>,
}

impl Setup {
    /// Reads the settings.
    pub fn load(shared: &SharedArguments, run: &RunArguments) -> Result<Self, CommandError> {
        let flags = flags(shared, run)?;
        let rules = rules::of_arguments(run)?;
        Self::load_at(Places::find(shared)?, flags, rules)
    }

    /// The same arguments, with the settings of another directory.
    pub fn moved_to(self, directory: &Path) -> Result<Self, CommandError> {
        let (store, plan, presence) = (self.store, self.plan, self.presence);
        let moved = Self::load_at(Places::at(directory)?, self.flags, self.rules)?;
        Ok(Self { store, plan, presence, ..moved })
    }

    /// Somebody is there to be asked.
    pub fn with_person(mut self) -> Self {
        self.presence = Presence::Person;
        self
    }

    /// The models that can be used, as far as that is known without asking anybody; once there is an engine.
    pub fn models_to_choose_from(&self) -> &[ModelRef] {
        &self.usable
    }

    /// Where rein works and keeps its files.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Every layer of rules that holds here.
    pub fn layers(&self) -> Vec<Layer> {
        rules::layers(&self.loaded, &self.rules)
    }

    /// Everything that decides here, with these layers and in this mode, as far as the administrator permits it.
    pub fn policy(&self, layers: Vec<Layer>, mode: Mode) -> Policy {
        let mode = self.loaded.mode_limit.as_ref().map_or(mode, |limit| limit.applied_to(mode));
        Policy {
            home: self.home(),
            protected: self.places.own_directories(),
            paths: Arc::new(FileSystemPaths),
            ..Policy::new(&self.places.directory, mode).with_layers(layers)
        }
    }

    /// The user's own directory, if there is one.
    pub fn home(&self) -> Option<PathBuf> {
        variable(&self.places.environment, "HOME").map(PathBuf::from)
    }

    /// Where rein works.
    pub fn directory(&self) -> &Path {
        &self.places.directory
    }

    /// What holds here.
    pub fn settings(&self) -> &Loaded {
        &self.loaded
    }

    /// What would hold if rein were started now.
    pub fn reloaded(&self) -> Result<Loaded, CommandError> {
        Self::load_at(self.places.clone(), self.flags.clone(), self.rules.clone()).map(|setup| setup.loaded)
    }

    /// Says on standard error what of the settings is ignored.
    pub fn print_warnings(&self) {
        for warning in &self.loaded.warnings {
            warn(&warning.to_string());
        }
    }

    /// Past sessions. No turn can be run with it.
    pub async fn archive(&mut self) -> Result<Arc<dyn Service>, CommandError> {
        let models = self.models(Catalog::empty())?;
        let store = self.store().await?;
        Ok(Engine::new(self.options(store, models)))
    }

    /// An engine that runs turns, and the model to open a session with: the one
    /// named, or for a session without one (`None`) that of the settings or the
    /// first that can be used. A session that has one keeps it.
    pub async fn engine(
        &mut self,
        named: Option<&str>,
        had: Option<&ModelRef>,
    ) -> Result<(Arc<dyn Service>, Option<ModelRef>), CommandError> {
        let catalog = self.catalog()?;
        let keychain = keys::keychain(&self.places);
        providers::hide_keys(&catalog, &keychain, |name| {
            self.places.environment.get(name).map(ToOwned::to_owned)
        });
        let models = self.models(catalog)?.with_keychain(keychain.clone());
        let configured =
            self.loaded.settings.model.clone().or_else(|| {
                Some(models.roles().get(&rein_llm::Role::Default)?.model.as_ref()?.model.clone())
            });
        let configured = configured.as_ref().map(ToString::to_string);
        // Whatever a rein that was killed left running is ended while the model is chosen.
        let sweeping = tokio::task::spawn_blocking(rein_sandbox::end_orphans);
        let model = match (named, had) {
            (Some(name), _) => Some(self.choose(&models, Some(name)).await?),
            (None, Some(_)) => None,
            (None, None) => Some(self.choose(&models, configured.as_deref()).await?),
        };
        if let Err(error) = sweeping.await {
            tracing::debug!(%error, "orphaned processes were not looked for");
        }
        self.usable = providers::usable(&models);
        self.check_window(&models, model.as_ref().or(had)).await;
        self.begin_recording(&models, &keychain, model.as_ref().or(had))?;
        let models = match &self.recorder {
            Some(recorder) => models.with_client(self.client()?.recorded(recorder.clone())),
            None => models,
        };
        let store = self.store().await?;
        let commands = self.commands().await?;
        let mut options = self.options(store, models);
        let reader = model.as_ref().or(had).map(|model| self.page_reader(&options, model));
        options.tools = Arc::new(self.tools(reader).await?);
        options.layers.extend(confinement::refusing(&self.loaded.settings.sandbox));
        options.commands = commands;
        Ok((Engine::new(options), model))
    }

    async fn choose(&self, models: &Models, wanted: Option<&str>) -> Result<ModelRef, CommandError> {
        models.choose(wanted, &CancellationToken::new()).await.map_err(|error| match error.kind {
            ErrorKind::NoModel => from_model_error(error).for_want_of_a_model().hint(format!(
                "a server and a model in {}:\n\
                 model = \"mine/NAME-OF-THE-MODEL\"\n\
                 [provider.mine]\n\
                 base_url = \"http://host:port/v1\"\n\
                 key_env = \"NAME_OF_THE_VARIABLE_WITH_THE_KEY\"",
                self.places.directories.user_file().display()
            )),
            _ => from_model_error(error),
        })
    }

    fn load_at(places: Places, flags: Vec<Flag>, rules: Vec<Rule>) -> Result<Self, CommandError> {
        let request = LoadRequest {
            directories: &places.directories,
            workspace_start: &places.directory,
            environment: &places.environment,
            flags: &flags,
            managed: Path::new(MANAGED_FILE),
            forms: rules::read_form,
        };
        let loaded = rein_config::load(&request).map_err(wrong_settings)?;
        let presence = Presence::Nobody;
        let (store, usable) = (None, Vec::new());
        Ok(Self { places, loaded, flags, rules, store, presence, usable, plan: None, recorder: None })
    }

    /// The sessions on disk, as they were recorded.
    pub async fn store(&mut self) -> Result<Store, CommandError> {
        if let Some(store) = &self.store {
            return Ok(store.clone());
        }
        let mut options = StoreOptions::new(&self.places.directories.data);
        options.durability = match self.loaded.settings.store.durability {
            Durability::Second => rein_store::Durability::Second,
            Durability::Every => rein_store::Durability::Every,
        };
        let store = open_store(options).await?;
        self.store = Some(store.clone());
        Ok(store)
    }

    /// Pictures in files, made fit for models and kept.
    pub async fn pictures(&mut self, files: &[PathBuf]) -> Result<Vec<Content>, CommandError> {
        let mut content = Vec::with_capacity(files.len());
        for file in files {
            content.push(pictures::keep(&self.store().await?, file).await?);
        }
        Ok(content)
    }

    /// What `rein auth` works with.
    pub fn desk(&self) -> Result<Desk, CommandError> {
        let (vault, keyring) = (keys::vault(&self.places), keyring::find(&self.places));
        let keychain = keys::open(&self.places).map_err(|error| CommandError::failure(error.to_string()))?;
        let models = self.models(self.catalog()?)?.with_keychain(keychain);
        Ok(Desk { models, http: self.client()?, vault, keyring })
    }

    fn client_options(&self) -> ClientOptions {
        let network = &self.loaded.settings.network;
        ClientOptions {
            connect_timeout: seconds(network.connect_timeout),
            proxy: match &network.proxy {
                Some(url) => ProxyMode::Url(url.expose().to_owned()),
                None => ProxyMode::Environment,
            },
            ..ClientOptions::default()
        }
    }

    /// How commands are confined here; tried out on a thread of its own.
    async fn commands(&self) -> Result<Commands, CommandError> {
        let (settings, home) = (self.loaded.settings.sandbox.clone(), self.home());
        let tried = tokio::task::spawn_blocking(move || confinement::commands(&settings, home.as_deref()));
        tried.await.map_err(|error| CommandError::failure("the sandbox was not tried").caused_by(error))?
    }

    /// What talks to servers, as the settings have it.
    pub fn client(&self) -> Result<Client, CommandError> {
        Client::new(self.client_options())
            .map_err(|error| CommandError::usage("the network settings cannot be used").caused_by(error))
    }

    async fn tools(&self, reader: Option<PageReader>) -> Result<Registry, CommandError> {
        let own = toolbox::own(&self.places.directories.config).await;
        for problem in &own.problems {
            warn(&format!("{}: {}; {}", problem.path.display(), problem.what, problem.next_step));
        }
        let web = &self.loaded.settings.web;
        let key = |name: &str| variable(&self.places.environment, name);
        toolbox::tools(web, &self.client_options(), own, reader, key)
    }

    fn models(&self, catalog: Catalog) -> Result<Models, CommandError> {
        let network = &self.loaded.settings.network;
        let client = self.client()?;
        // Left alone, the limit depends on where the server is.
        let origin = self.loaded.origins.get("network.idle_timeout");
        let set = origin.is_some_and(|origin| origin.source != Source::Default);
        let options = ModelsOptions {
            idle_timeout: set.then(|| seconds(network.idle_timeout)),
            // Nobody is there to decide whether to wait for long.
            patience: match self.presence {
                Presence::Person => Patience::Interactive,
                Presence::Nobody => Patience::Headless,
            },
            ..ModelsOptions::default()
        };
        let environment = self.places.environment.clone();
        let models = Models::new(client, catalog, move |name| variable(&environment, name));
        Ok(models.with_options(options).with_roles(self.roles()?))
    }

    fn options(&self, store: Store, models: Models) -> EngineOptions {
        let settings = &self.loaded.settings;
        EngineOptions {
            store,
            models: Arc::new(models),
            tools: Arc::new(Registry::builtin()),
            settings: EngineSettings {
                mode: settings.mode,
                max_steps: settings.max_steps,
                caps: limits::caps(&settings.budget),
                verify: limits::verify(&settings.verify),
                shell: settings.shell.clone(),
                command_timeout: seconds(settings.bash.timeout),
                background_after: (settings.bash.background_after > 0)
                    .then(|| seconds(settings.bash.background_after)),
                most_jobs: usize::try_from(settings.bash.most_jobs).unwrap_or(usize::MAX),
                output_bytes: u64::from(settings.bash.output_mb) << 20,
                keep_variables: settings.sandbox.keep_variables.iter().map(Into::into).collect(),
                attempts: settings.retry.attempts,
                retry_base: Duration::from_millis(settings.retry.base_delay_ms.into()),
                compaction: context::compaction(&settings.compaction),
                // What is recorded is played without a person.
                titles: settings.titles && self.recorder.is_none(),
            },
            layers: rules::layers(&self.loaded, &self.rules),
            presence: self.presence,
            mode_limit: self.loaded.mode_limit.clone(),
            home: self.home(),
            protected: self.places.own_directories(),
            commands: rein_engine::Commands::default(),
            directories: Some(self.places.directories.clone()),
        }
    }
}

/// What the demo's engine is made of.
pub struct Scripted {
    /// Where everything is kept.
    pub home: PathBuf,
    /// Where the recorded model answers.
    pub base_url: String,
    /// What it would cost.
    pub prices: Prices,
}

/// An engine with one model, with asks, and without anything of the user's.
pub async fn scripted_engine(scripted: Scripted) -> Result<(Arc<dyn Service>, ModelRef), CommandError> {
    let model = ModelRef { provider: "demo".to_owned(), model: "recorded".to_owned() };
    let recorded =
        ModelInfo { id: model.model.clone(), prices: Some(scripted.prices), ..ModelInfo::default() };
    let provider = ProviderConfig {
        name: model.provider.clone(),
        base_url: Some(scripted.base_url),
        models: vec![recorded],
        ..ProviderConfig::default()
    };
    let catalog = Catalog::empty().with_provider(provider).map_err(from_model_error)?;
    let client = Client::new(ClientOptions { proxy: ProxyMode::Direct, ..ClientOptions::default() })
        .map_err(|error| CommandError::failure("the demo's client cannot be made").caused_by(error))?;
    let store = open_store(StoreOptions::new(scripted.home.join("data"))).await?;
    let options = EngineOptions {
        store,
        models: Arc::new(Models::new(client, catalog, |_| None)),
        tools: Arc::new(Registry::builtin()),
        settings: EngineSettings { attempts: 1, ..EngineSettings::default() },
        layers: Vec::new(),
        presence: Presence::Person,
        mode_limit: None,
        home: None,
        protected: vec![scripted.home],
        commands: confinement::of_the_demo(),
        directories: None,
    };
    Ok((Engine::new(options), model))
}

/// Opens a store, on a thread that may block, and says if it had to be mended.
async fn open_store(mut options: StoreOptions) -> Result<Store, CommandError> {
    options.after_commit = abort_hook();
    let failed =
        |error: &dyn std::error::Error| CommandError::failure(format!("sessions cannot be kept: {error}"));
    let opened =
        tokio::task::spawn_blocking(move || Store::open(options)).await.map_err(|error| failed(&error))?;
    let store = opened.map_err(|error| failed(&error))?;
    if let Some(report) = store.salvage_report() {
        warn(&salvaged(report));
    }
    Ok(store)
}

fn salvaged(report: &SalvageReport) -> String {
    let mut text = format!(
        "the session store was damaged; {} sessions with {} entries were saved, the damaged file is kept as {}",
        report.sessions,
        report.entries,
        report.moved_to.display()
    );
    for loss in &report.lost {
        text.push_str("\n  ");
        text.push_str(loss);
    }
    text
}

/// For tests of crashes: ends the process by SIGKILL once so many entries are durable.
#[cfg(debug_assertions)]
fn abort_hook() -> Option<rein_store::CommitHook> {
    let limit: u64 = std::env::var("REIN_TEST_ABORT_AFTER").ok()?.parse().ok()?;
    Some(Arc::new(move |entries| {
        if entries >= limit {
            let own = rustix::process::getpid();
            // The signal cannot be refused by its sender's own process.
            let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        }
    }))
}

#[cfg(not(debug_assertions))]
fn abort_hook() -> Option<rein_store::CommitHook> {
    None
}

/// A model that does not exist was named wrongly; one that cannot be used is no matter of arguments.
fn from_model_error(error: ModelError) -> CommandError {
    let wrong = match error.kind {
        ErrorKind::NotFound | ErrorKind::BadRequest => CommandError::usage(error.message),
        _ => CommandError::failure(error.message),
    };
    match error.hint {
        Some(hint) => wrong.hint(hint),
        None => wrong,
    }
}

/// Settings, or another file of the user's, that cannot be used.
pub fn wrong_settings(error: rein_config::ConfigError) -> CommandError {
    CommandError::usage(error.to_string())
}

/// What the command line says about settings.
fn flags(shared: &SharedArguments, run: &RunArguments) -> Result<Vec<Flag>, CommandError> {
    let overrides =
        shared.overrides.iter().map(|text| Flag::assignment("--config", text).map_err(wrong_settings));
    let mut flags = overrides.collect::<Result<Vec<Flag>, CommandError>>()?;
    if let Some(steps) = run.max_steps {
        flags.push(Flag::new("--max-steps", ["max_steps"], steps.to_string()));
    }
    flags.extend(limits::flags(&run.budget));
    if let Some(mode) = run.mode {
        flags.push(Flag::new("--mode", ["mode"], mode.name()));
    }
    Ok(flags)
}

fn variable(environment: &Environment, name: &str) -> Option<String> {
    environment.get(name).and_then(|value| value.to_str()).map(str::to_owned)
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}

/// Says something on standard error that does not stop the work.
pub fn warn(text: &str) {
    let mut stderr = io::stderr();
    let ink = Target::of(&stderr).ink();
    let text = neutralise(text).replace('\n', "\n  ");
    // A warning that nobody can see warns nobody.
    let _ = writeln!(stderr, "{} {text}", ink.yellow("warning:"));
}
