//! Settings of what is written down about rein itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::secret::ServerUrl;

/// Writing down what rein does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// How much is written to the log file.
    pub level: LogLevel,
}

/// How much is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// What may be wrong too.
    #[default]
    Warn,
    /// How long turns, steps, calls and gates took too.
    Info,
    /// Details too.
    Debug,
    /// Everything.
    Trace,
}

/// Telling a collector how long things took.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpSettings {
    /// Where an OpenTelemetry collector listens for OTLP over HTTP, for example `http://localhost:4318`. If not
    /// set, `OTEL_EXPORTER_OTLP_ENDPOINT` decides; without either nothing is sent.
    #[schemars(extend("format" = "http-url"))]
    pub endpoint: Option<ServerUrl>,
}
