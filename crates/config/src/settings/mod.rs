//! What can be set. One field a setting: its type, its default and its doc
//! comment are all there is to write; checks, messages, variables, schema and
//! reference follow from them.
//!
//! A project may set a field only if it carries the mark `x-rein-project`:
//! `"yes"`, or `"narrower"` where `project` compares the value with the user's.
//! Permissions are not a field: they are rules in layers, see `permission`.

mod compaction;
mod face;
mod limits;
mod log;
mod sandbox;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rein_protocol::{Mode, ModelRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::provider::ProviderSettings;
use crate::role::RoleSettings;
use crate::secret::ServerUrl;

pub use compaction::{CompactionSettings, Summariser};
pub use face::{KeySettings, StatusPart, ThoughtsShown};
pub use limits::{BudgetSettings, DayBudgetSettings, UnknownCost, VerifyMode, VerifySettings};
pub use log::{LogLevel, LogSettings, OtlpSettings};
pub use sandbox::{Confine, NetworkAccess, SandboxMeans, SandboxSettings, WhenUnavailable};
pub use web::{SearchBackend, SearchSettings, WebSettings};

/// Settings of rein.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The model to use, as `provider/model`.
    #[schemars(extend("format" = "model", "x-rein-project" = "yes"))]
    pub model: Option<ModelRef>,
    /// How much runs without asking. A project can only choose a stricter mode than the user's; from the
    /// strictest: `plan`, `tight`, `write`, `free`.
    #[schemars(extend("x-rein-project" = "narrower"))]
    pub mode: Mode,
    /// After how many steps a turn ends; 0 means never. A project can only lower it.
    #[schemars(extend("x-rein-project" = "narrower"))]
    pub max_steps: u32,
    /// What may be spent.
    pub budget: BudgetSettings,
    /// Proving that the work is done.
    pub verify: VerifySettings,
    /// The shell that runs commands: an absolute path, or a name to be looked for in `PATH`. If not set, rein
    /// chooses one.
    #[schemars(extend("format" = "program"))]
    pub shell: Option<PathBuf>,
    /// Running commands.
    pub bash: BashSettings,
    /// Confining commands.
    pub sandbox: SandboxSettings,
    /// Talking to servers.
    pub network: NetworkSettings,
    /// Trying again after errors that pass.
    pub retry: RetrySettings,
    /// Keeping sessions.
    pub store: StoreSettings,
    /// Reading the web.
    pub web: WebSettings,
    /// Writing down what rein does.
    pub log: LogSettings,
    /// Telling a collector how long things took.
    pub otlp: OtlpSettings,
    /// Making room in the model's window.
    pub compaction: CompactionSettings,
    /// Whether a small model names a session after its first turn. It does so only where a person is there, and
    /// never with the model that does the work unless that was chosen for the role.
    pub titles: bool,
    /// The colours at a terminal: `terminal`, `auto`, `dark`, `light`, `high-contrast`, `colour-blind`, or the name of a
    /// file of your own, `themes/NAME.toml` beside your settings.
    pub theme: String,
    /// Whether keys in the editor are understood as in vi.
    pub vim: bool,
    /// What the status line shows, in this order.
    pub status_line: Vec<StatusPart>,
    /// How much of what a model thinks is shown at a terminal: a `line` of each thought, the `whole` of it, or none.
    pub thoughts: ThoughtsShown,
    /// Other keys for actions at a terminal, for example `transcript = ["f2"]`; `?` at a terminal lists all actions.
    #[schemars(extend("x-rein-entry" = "ACTION"))]
    pub keys: KeySettings,
    /// Providers of models by name: more of them, or other values for those that rein knows.
    #[schemars(extend("x-rein-entry" = "PROVIDER", "propertyNames" = { "pattern": "^[^/]+$" }))]
    pub provider: BTreeMap<String, ProviderSettings>,
    /// Models for kinds of work: `default`, `small`, `slow`, `plan`, `vision`, `title`, `commit`, `task`, `advisor`.
    #[schemars(extend("x-rein-entry" = "ROLE"))]
    pub roles: BTreeMap<String, RoleSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: None,
            mode: Mode::Tight,
            max_steps: 125,
            budget: BudgetSettings::default(),
            verify: VerifySettings::default(),
            shell: None,
            bash: BashSettings::default(),
            sandbox: SandboxSettings::default(),
            network: NetworkSettings::default(),
            retry: RetrySettings::default(),
            store: StoreSettings::default(),
            web: WebSettings::default(),
            log: LogSettings::default(),
            otlp: OtlpSettings::default(),
            compaction: CompactionSettings::default(),
            titles: true,
            theme: "terminal".to_owned(),
            vim: false,
            status_line: StatusPart::ALL.to_vec(),
            thoughts: ThoughtsShown::default(),
            keys: KeySettings::new(),
            provider: BTreeMap::new(),
            roles: BTreeMap::new(),
        }
    }
}

/// Running commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BashSettings {
    /// Seconds that a command may run if the model does not say how long.
    #[schemars(range(min = 1, max = 3600), extend("x-rein-project" = "yes"))]
    pub timeout: u32,
    /// Seconds after which a command that still runs goes on in the background; 0 means never.
    #[schemars(range(min = 0, max = 3600), extend("x-rein-project" = "yes"))]
    pub background_after: u32,
    /// How many commands may run in the background at once.
    #[schemars(range(min = 1, max = 1000))]
    pub most_jobs: u32,
    /// Megabytes of a command's output that are kept; the rest is counted.
    #[schemars(range(min = 1, max = 1048576))]
    pub output_mb: u32,
}

impl Default for BashSettings {
    fn default() -> Self {
        Self { timeout: 120, background_after: 60, most_jobs: 16, output_mb: 1024 }
    }
}

/// Talking to servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSettings {
    /// Seconds until an attempt to connect is given up.
    #[schemars(range(min = 1, max = 600), extend("x-rein-project" = "yes"))]
    pub connect_timeout: u32,
    /// Seconds of silence after which a stream counts as dead.
    #[schemars(range(min = 1, max = 3600), extend("x-rein-project" = "yes"))]
    pub idle_timeout: u32,
    /// The proxy for all connections: `http://`, `https://`, `socks5://` or `socks5h://`. If not set, the usual
    /// variables (`HTTPS_PROXY`, `NO_PROXY`, …) decide.
    #[schemars(extend("format" = "proxy-url"))]
    pub proxy: Option<ServerUrl>,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self { connect_timeout: 10, idle_timeout: 120, proxy: None }
    }
}

/// Trying again after errors that pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetrySettings {
    /// How often a call to a model is tried in all; 1 means that it is never tried again.
    #[schemars(range(min = 1, max = 100), extend("x-rein-project" = "yes"))]
    pub attempts: u32,
    /// Milliseconds before the second attempt; each further wait is twice as long. What a server asks for
    /// comes first.
    #[schemars(range(min = 1, max = 60000), extend("x-rein-project" = "yes"))]
    pub base_delay_ms: u32,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 5, base_delay_ms: 2000 }
    }
}

/// Keeping sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// What a power cut may cost. A crash of rein costs nothing either way.
    pub durability: Durability,
}

/// When an entry must have reached the disk itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Within a second: a power cut may cost the last one.
    #[default]
    Second,
    /// Before work goes on: a power cut costs nothing, and every entry waits for the disk.
    Every,
}
