//! Settings in layers, each value with its origin.
//!
//! Defaults, the user's file, the files of the project, the environment and
//! flags are laid over each other in this order by [`load()`], below what the
//! administrator's file ([`MANAGED_FILE`]) permits. What a setting is,
//! [`Settings`] says once: a field with a type, a default and a doc comment.
//! From its JSON schema come the checks with their messages, the names of
//! environment variables, [`schema()`], [`reference()`] and what
//! [`Loaded::show`] prints.
//!
//! Invariants: a file that is there but cannot be read, decoded or understood
//! is an error, never "no file", and so it is with [`Grants`]; a project can narrow what the user allows and
//! never widen it; no secret is in an error, a warning, a `Debug` or anything
//! serialised; nothing here reads the process environment except
//! [`Environment::of_process`].
//!
//! Layout: `environment` and `directories` say where things are; `settings`,
//! `provider`, `role`, `permission` and `secret` are the values; `shape` turns their
//! schema into what `check` compares a document with; `document` reads files;
//! `flag` reads flags and variables; `project` finds the workspace and narrows;
//! `load` lays the layers over each other, below `managed`; `grants` and
//! `additions` with `change` are what rein itself writes, by way of `replace`; `show`, `listing` and
//! `reference` are for people; `origin` and `error` say where and what.

mod additions;
mod change;
mod check;
mod directories;
mod document;
mod environment;
mod error;
mod flag;
mod grants;
mod listing;
mod load;
mod managed;
mod nearest;
mod origin;
mod permission;
mod project;
mod provider;
mod quote;
mod reference;
mod replace;
mod role;
mod secret;
mod settings;
mod shape;
mod show;

pub use additions::{RuleAdditions, Written};
pub use change::change;
pub use directories::Directories;
pub use environment::Environment;
pub use error::{ConfigError, FileProblem, Problem, ProblemKind, Problems, Refusal, Warning};
pub use flag::Flag;
pub use grants::{GrantScope, Grants, KeptGrant, NewGrant};
pub use listing::ListedSetting;
pub use load::{LoadRequest, Loaded, load};
pub use managed::{MANAGED_FILE, ModeLimit};
pub use origin::{Origin, Source};
pub use permission::{Action, FormReader, FormRule, PermissionLayer, PermissionRule};
pub use provider::{KeyEnvironment, ModelSettings, OAuthSettings, ProviderSettings, VariableName};
pub use reference::reference;
pub use role::{RoleModelName, RoleSettings};
pub use secret::{Secret, ServerUrl};
pub use settings::{
    BashSettings, BudgetSettings, CompactionSettings, Confine, DayBudgetSettings, Durability, KeySettings,
    LogLevel, LogSettings, NetworkAccess, NetworkSettings, OtlpSettings, RetrySettings, SandboxMeans,
    SandboxSettings, SearchBackend, SearchSettings, Settings, StatusPart, StoreSettings, Summariser,
    ThoughtsShown, UnknownCost, VerifyMode, VerifySettings, WebSettings, WhenUnavailable,
};
pub use shape::schema;
pub use show::ShowOrigin;
