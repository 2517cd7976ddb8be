//! The first run at a terminal: what the guided choice of the face is wired to.

use std::sync::Arc;

use async_trait::async_trait;
use rein_protocol::ModelRef;
use rein_tui::welcome::{Chosen, ProviderOffer, Reception, welcome};
use rein_tui::{Palette, Reflow};

use crate::auth_command::store_key;
use crate::error::CommandError;
use crate::wiring::{Desk, Setup};

/// Asks what to do about there being no model.
pub async fn guide(setup: &Setup) -> Result<Chosen, CommandError> {
    let variable = |name: &str| std::env::var(name).ok();
    let front = Arc::new(Front { desk: setup.desk()? });
    welcome(front, Palette::detect(variable), Reflow::detect(variable))
        .await
        .map_err(|error| CommandError::failure("the terminal face cannot be shown").caused_by(error))
}

struct Front {
    desk: Desk,
}

#[async_trait]
impl Reception for Front {
    fn providers(&self) -> Vec<ProviderOffer> {
        let takes_key = |provider: &&rein_llm::Provider| !provider.key_env.is_empty();
        let offer = |provider: &rein_llm::Provider| ProviderOffer {
            name: provider.name.clone(),
            title: match provider.title.as_str() {
                "" => provider.name.clone(),
                title => title.to_owned(),
            },
            page: provider.account_page.clone(),
        };
        self.desk.models.catalog().providers().iter().filter(takes_key).map(offer).collect()
    }

    async fn store(&self, provider: &str, key: &str) -> Result<(), String> {
        store_key(&self.desk, provider, key).await.map(drop).map_err(|error| error.sentence())
    }

    async fn servers(&self) -> Vec<ModelRef> {
        let servers = self.desk.models.local_servers().await;
        let models = servers.into_iter().flat_map(|server| {
            let provider = server.provider;
            server.models.into_iter().map(move |model| ModelRef { provider: provider.clone(), model })
        });
        models.collect()
    }
}
