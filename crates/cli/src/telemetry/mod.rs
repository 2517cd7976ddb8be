//! What is written down about rein itself: a log file, and spans for a
//! collector that the user named.
//!
//! Nothing of it goes to standard output or error, and nothing leaves the
//! machine unless an endpoint is set. Neither is needed for anything: what
//! cannot be written or sent is dropped. [`subscriber`] takes what `tracing`
//! says, [`log_file`] is the file, [`otlp`] the way to a collector.

mod log_file;
mod otlp;
mod subscriber;

use rein_config::LogLevel;
use tracing::level_filters::LevelFilter;

use crate::wiring::Setup;
use log_file::LogFile;
use otlp::Exporter;
use subscriber::Recorder;

/// Held while rein works. When it is dropped, what was not sent yet is sent, for a second at most.
#[must_use]
pub struct Telemetry {
    exporter: Option<Exporter>,
}

/// Begins to take down what happens, as the settings have it.
pub fn start(setup: &Setup) -> Telemetry {
    let settings = &setup.settings().settings;
    let log = match settings.log.level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let exporter = otlp::target(setup).and_then(|target| Exporter::start(target, setup.client().ok()?));
    if log == LevelFilter::OFF && exporter.is_none() {
        return Telemetry { exporter };
    }
    let file = LogFile::new(&setup.places().directories.state.join("log"));
    let recorder = Recorder::new(log, file, exporter.clone());
    // A second one in the same process would be one too many.
    let _ = tracing::subscriber::set_global_default(recorder);
    Telemetry { exporter }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(exporter) = &self.exporter {
            exporter.flush();
        }
    }
}
