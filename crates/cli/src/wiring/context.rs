//! What is needed to look at what models are sent, and the settings of it.

use std::sync::Arc;
use std::time::Duration;

use rein_engine::{CompactionSettings, Engine, EngineOptions, PageReader, PromptPart};
use rein_protocol::{ModelRef, Service};

use super::{Setup, from_model_error};
use crate::error::CommandError;

/// How room is made in the model's window.
pub(super) fn compaction(settings: &rein_config::CompactionSettings) -> CompactionSettings {
    CompactionSettings {
        model: settings.model,
        threshold: u8::try_from(settings.threshold).unwrap_or(100),
        idle: (settings.idle > 0).then(|| Duration::from_secs(u64::from(settings.idle) * 60)),
        promote: settings.promote,
    }
}

impl Setup {
    /// Past sessions, with every tool and all that is known of models. No turn can be run with it.
    pub async fn observer(&mut self) -> Result<Arc<dyn Service>, CommandError> {
        let engine: Arc<dyn Service> = self.observing().await?;
        Ok(engine)
    }

    /// Everything that is sent with every request of a session that begins here, to the model named or else to that
    /// of the settings.
    pub async fn prompt_parts(&mut self, model: Option<&str>) -> Result<Vec<PromptPart>, CommandError> {
        let named = model.map(|name| {
            let wrong =
                |error| CommandError::usage(format!("`{name}` does not name a model")).caused_by(error);
            name.parse::<ModelRef>().map_err(wrong)
        });
        let model = named.transpose()?.or_else(|| self.settings().settings.model.clone());
        if let Some(model) = &model {
            let models = self.all_models()?;
            if models.catalog().provider(&model.provider).is_none() {
                // In the words that say which providers there are.
                models.resolve(model).map_err(from_model_error)?;
            }
        }
        Ok(self.observing().await?.prompt_parts(self.directory(), model.as_ref()))
    }

    async fn observing(&mut self) -> Result<Arc<Engine>, CommandError> {
        let models = self.models(self.catalog()?)?;
        let store = self.store().await?;
        let mut options = self.options(store, models);
        options.tools = Arc::new(self.tools(None).await?);
        Ok(Engine::new(options))
    }

    /// Who reads pages for an agent that works with this model.
    pub(super) fn page_reader(&self, options: &EngineOptions, model: &ModelRef) -> PageReader {
        PageReader::new(Arc::clone(&options.models), model.clone())
    }
}
