//! An engine with everything real around it, and a watcher of its events.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use rein_engine::{Engine, EngineOptions, EngineSettings, Presence};
use rein_llm::{Catalog, ModelInfo, Models, ProviderConfig, Wire};
use rein_permission::{Layer, LayerKind, Rule};
use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{
    Answer, Ask, CallStatus, Entry, EntryBody, EntryId, Event, EventBody, EventStream, Mode, OpenSession,
    PartKind, Prompt, Reply, Seq, Service, ServiceError, SessionId, Timestamp, TurnId,
};
use rein_store::{CommitHook, Store, StoreOptions};
use rein_testkit::{ModelServer, Project, Script};
use rein_tools::Registry;

/// How long a test waits for an event before it is held to hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the engine is set up.
#[derive(Clone)]
pub struct Setup {
    pub mode: Mode,
    pub presence: Presence,
    pub mode_limit: Option<rein_config::ModeLimit>,
    pub layers: Vec<Layer>,
    pub settings: EngineSettings,
    pub tools: Registry,
    pub after_commit: Option<CommitHook>,
    /// Tokens that fit into the model's window, if that is known.
    pub window: Option<u64>,
    /// What is peculiar about the provider.
    pub quirks: Option<rein_llm::Quirks>,
    /// Other models of the same server; one that is called `model` takes the place of the usual one.
    pub models: Vec<ModelInfo>,
    pub roles: rein_llm::Roles,
}

impl Default for Setup {
    fn default() -> Self {
        let settings =
            EngineSettings { attempts: 3, retry_base: Duration::from_millis(1), ..EngineSettings::default() };
        Self {
            mode: Mode::Tight,
            presence: Presence::Nobody,
            mode_limit: None,
            layers: Vec::new(),
            settings,
            tools: Registry::builtin(),
            after_commit: None,
            window: None,
            quirks: None,
            models: Vec::new(),
            roles: rein_llm::Roles::new(),
        }
    }
}

impl Setup {
    pub fn mode(mode: Mode) -> Self {
        Self::default().in_mode(mode)
    }

    pub fn interactive() -> Self {
        Self { presence: Presence::Person, ..Self::default() }
    }

    pub fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    pub fn rules(mut self, kind: LayerKind, rules: Vec<Rule>) -> Self {
        self.layers.push(Layer { kind, rules });
        self
    }
}

pub struct Stage {
    pub project: Project,
    pub server: ModelServer,
    pub store: Store,
    pub service: Arc<dyn Service>,
    pub session: SessionId,
    setup: Setup,
}

impl Stage {
    pub async fn new(script: Script) -> Self {
        Self::with(Project::new(), script, Setup::default()).await
    }

    pub async fn with(project: Project, script: Script, setup: Setup) -> Self {
        let options = StoreOptions::new(project.rein_home().join("store"));
        let store =
            Store::open(StoreOptions { after_commit: setup.after_commit.clone(), ..options }).unwrap();
        Self::on(store, project, script, setup).await
    }

    /// Another session in the same project and store.
    pub async fn in_a_new_session(self, script: Script) -> Self {
        Self::on(self.store, self.project, script, self.setup).await
    }

    async fn on(store: Store, project: Project, script: Script, setup: Setup) -> Self {
        let server = ModelServer::start(script).await;
        let service = engine(&project, &server, &store, &setup);
        let request = OpenSession {
            workspace: Some(project.path().to_owned()),
            model: Some("test/model".parse().unwrap()),
            mode: Some(setup.mode),
            ..OpenSession::default()
        };
        let session = service.open(request).await.unwrap().id;
        Self { project, server, store, service, session, setup }
    }

    /// Another engine on the same store, as another process would have it.
    pub fn another_engine(&self) -> Arc<dyn Service> {
        let store = Store::open(StoreOptions::new(self.project.rein_home().join("store"))).unwrap();
        engine(&self.project, &self.server, &store, &self.setup)
    }

    /// Another session with the beginning of this one, opened as after a crash.
    pub async fn killed_after(mut self, entries: &[Entry]) -> Self {
        let record = self.store.session(&self.session).await.unwrap().unwrap();
        let new = rein_store::NewSession {
            id: SessionId::new(),
            workspace: record.workspace,
            model: record.model,
            mode: record.mode,
            at: record.created,
        };
        self.session = new.id.clone();
        self.store.create_session(new).await.unwrap();
        let moved = crate::compaction::moved(entries, &self.session);
        self.store.append(&self.session, moved).await.unwrap();
        self.reopened().await
    }

    /// Somebody is there from the next opening on.
    pub fn with_person(mut self) -> Self {
        self.setup.presence = Presence::Person;
        self
    }

    /// The same with other tools from the next opening on.
    pub fn equipped(mut self, tools: Registry) -> Self {
        self.setup.tools = tools;
        self
    }

    /// The session closed and opened again by a new engine.
    pub async fn reopened(mut self) -> Self {
        // It may have been closed already.
        let _ = self.service.close(&self.session).await;
        self.service = engine(&self.project, &self.server, &self.store, &self.setup);
        let request = OpenSession { session: Some(self.session.clone()), ..OpenSession::default() };
        self.service.open(request).await.unwrap();
        self
    }

    /// The session with a journal as a process left it, opened again.
    pub async fn with_journal(self, bodies: impl IntoIterator<Item = EntryBody>) -> Self {
        self.service.close(&self.session).await.unwrap();
        let mut parent = self.store.session(&self.session).await.unwrap().unwrap().leaf;
        let mut seq = Seq::START.next_epoch().next_epoch();
        let mut entries = Vec::new();
        for body in bodies {
            seq = seq.next();
            let (id, session, at) = (EntryId::new(), self.session.clone(), Timestamp::now());
            let before = parent.replace(id.clone());
            entries.push(Entry { id, session, parent: before, seq, at, body });
        }
        self.store.append(&self.session, entries).await.unwrap();
        self.reopened().await
    }

    /// Prompts, and follows the turn to its end.
    pub async fn run(&self, prompt: &str) -> Transcript {
        self.start(prompt).await.finish().await
    }

    /// Prompts, and returns a watcher.
    pub async fn start(&self, prompt: &str) -> Run {
        let stream = self.service.subscribe(&self.session, Seq::START).await.unwrap();
        let turn = self.service.prompt(&self.session, Prompt::text(prompt)).await.unwrap();
        Run::new(turn, stream)
    }

    /// Prompts, and returns a watcher that sees what happens from now on, also what is not kept.
    pub async fn start_live(&self, prompt: &str) -> Run {
        let seq = self.service.get(&self.session).await.unwrap().seq;
        let stream = self.service.subscribe(&self.session, seq).await.unwrap();
        let turn = self.service.prompt(&self.session, Prompt::text(prompt)).await.unwrap();
        Run::new(turn, stream)
    }

    /// Watches a turn that is going to go on.
    pub async fn watch(&self, turn: &TurnId) -> Run {
        Run::new(turn.clone(), self.service.subscribe(&self.session, Seq::START).await.unwrap())
    }

    pub async fn reply(&self, ask: &Ask, answer: Answer) -> Result<(), ServiceError> {
        self.service.reply(&self.session, Reply { ask: ask.id.clone(), answer }).await
    }

    pub async fn entries(&self) -> Vec<Entry> {
        self.service.get(&self.session).await.unwrap().entries
    }

    pub async fn transcript(&self) -> Transcript {
        Transcript::of(&self.entries().await)
    }
}

fn engine(project: &Project, server: &ModelServer, store: &Store, setup: &Setup) -> Arc<dyn Service> {
    let usual = ModelInfo { id: "model".to_owned(), context: setup.window, ..ModelInfo::default() };
    let mut models = setup.models.clone();
    if models.iter().all(|model| model.id != usual.id) {
        models.push(usual);
    }
    let provider = ProviderConfig {
        name: "test".to_owned(),
        wire: Some(Wire::OpenAiChat),
        base_url: Some(server.base_url()),
        models,
        quirks: setup.quirks.clone(),
        ..ProviderConfig::default()
    };
    let catalog = Catalog::bundled().with_provider(provider).unwrap();
    let http = rein_http::Client::new(rein_http::ClientOptions::default()).unwrap();
    let models = Models::new(http, catalog, |_| None).with_roles(setup.roles.clone());
    Engine::new(EngineOptions {
        store: store.clone(),
        models: Arc::new(models),
        tools: Arc::new(setup.tools.clone()),
        settings: setup.settings.clone(),
        layers: setup.layers.clone(),
        presence: setup.presence,
        mode_limit: setup.mode_limit.clone(),
        home: Some(project.home().to_owned()),
        protected: vec![project.rein_home().to_owned()],
        commands: rein_engine::Commands::default(),
        directories: Some(directories(project)),
    })
}

/// A turn as a face sees it.
pub struct Run {
    pub turn: TurnId,
    pub transcript: Transcript,
    pub events: Vec<Event>,
    pub deltas: Vec<(PartKind, String)>,
    pub retries: Vec<(u32, String)>,
    stream: EventStream,
}

impl Run {
    fn new(turn: TurnId, stream: EventStream) -> Self {
        let transcript = Transcript::default();
        Self { turn, transcript, events: Vec::new(), deltas: Vec::new(), retries: Vec::new(), stream }
    }

    /// Follows to the end of the turn.
    pub async fn finish(&mut self) -> Transcript {
        let turn = self.turn.clone();
        self.follow_to_end_of(&turn).await
    }

    pub async fn follow_to_end_of(&mut self, turn: &TurnId) -> Transcript {
        let ended = |event: &Event| match &event.body {
            EventBody::Entry { entry } => {
                matches!(&entry.body, EntryBody::TurnEnded { turn: ended, .. } if ended == turn)
            }
            _ => false,
        };
        while !self.events.last().is_some_and(ended) {
            self.next().await.expect("the events end before the turn does");
        }
        self.transcript.clone()
    }

    /// Follows until the session is closed.
    pub async fn follow_to_close(&mut self) -> Transcript {
        while self.next().await.is_some() {}
        self.transcript.clone()
    }

    pub async fn until(&mut self, condition: impl Fn(&Transcript) -> bool) {
        while !condition(&self.transcript) {
            self.next().await.expect("the events end before the condition holds");
        }
    }

    /// Follows until an entry like this has come.
    pub async fn until_entry(&mut self, wanted: impl Fn(&EntryBody) -> bool) {
        let is_it = |event: &Event| matches!(&event.body, EventBody::Entry { entry } if wanted(&entry.body));
        while !self.events.last().is_some_and(is_it) {
            self.next().await.expect("the events end before the entry comes");
        }
    }

    /// Follows until this many events have come or the turn has ended.
    pub async fn until_events(&mut self, count: usize) {
        while self.events.len() < count && self.transcript.stop.is_none() {
            self.next().await.expect("the events end too soon");
        }
    }

    /// Follows to the end of the turn, or to the end of the events if that comes first.
    pub async fn follow_to_close_or_end(&mut self) {
        while self.transcript.stop.is_none() && self.next().await.is_some() {}
    }

    /// Follows until a model call is going to be tried again.
    pub async fn until_retry(&mut self) {
        while self.retries.is_empty() {
            self.next().await.expect("the events end too soon");
        }
    }

    /// Follows until a person is asked.
    pub async fn ask(&mut self) -> Ask {
        self.until(|transcript| !transcript.asks.is_empty()).await;
        self.transcript.asks[0].clone()
    }

    async fn next(&mut self) -> Option<()> {
        let event = match tokio::time::timeout(PATIENCE, self.stream.next()).await {
            Ok(event) => event?,
            Err(_) => panic!("no event for {PATIENCE:?}; so far: {:#?}", self.transcript.items),
        };
        match &event.body {
            EventBody::PartDelta { kind, delta, .. } => self.deltas.push((kind.clone(), delta.clone())),
            EventBody::Retrying { attempt, error, .. } => self.retries.push((*attempt, error.clone())),
            EventBody::Entry { .. }
            | EventBody::CallOutput { .. }
            | EventBody::Job { .. }
            | EventBody::Compacting { .. }
            | EventBody::PersonRuns { .. }
            | EventBody::Notice { .. }
            | EventBody::Broken { .. } => {}
        }
        self.transcript.apply(&event);
        self.events.push(event);
        Some(())
    }
}

/// The kinds of entries, in order.
pub fn kinds(entries: &[Entry]) -> Vec<&'static str> {
    entries
        .iter()
        .map(|entry| match &entry.body {
            EntryBody::Queued { .. } => "queued",
            EntryBody::User { .. } => "user",
            EntryBody::StepStarted { .. } => "step_started",
            EntryBody::Part { .. } => "part",
            EntryBody::StepEnded { .. } => "step_ended",
            EntryBody::Asked { .. } => "asked",
            EntryBody::Decided { .. } => "decided",
            EntryBody::CallStarted { .. } => "call_started",
            EntryBody::CallEnded { .. } => "call_ended",
            EntryBody::TurnEnded { .. } => "turn_ended",
            EntryBody::ModelChanged { .. } => "model_changed",
            EntryBody::ModeChanged { .. } => "mode_changed",
            EntryBody::Recovered { .. } => "recovered",
            EntryBody::QueueChanged { .. } => "queue_changed",
            EntryBody::Pruned { .. } => "pruned",
            EntryBody::Compacted { .. } => "compacted",
            EntryBody::Travelled { .. } => "travelled",
            EntryBody::PersonRan { .. } => "person_ran",
            EntryBody::Titled { .. } => "titled",
            EntryBody::EffortChanged { .. } => "effort_changed",
        })
        .collect()
}

/// What became of each call, in order; open calls are left out.
pub fn statuses(transcript: &Transcript) -> Vec<CallStatus> {
    transcript
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Call(call) => call.result.as_ref().map(|result| result.status),
            _ => None,
        })
        .collect()
}

/// Where a project's grants are kept.
pub fn directories(project: &Project) -> rein_config::Directories {
    let environment = [("REIN_HOME", project.rein_home().as_os_str())].into_iter().collect();
    rein_config::Directories::find(&environment).unwrap()
}
