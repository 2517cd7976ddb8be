//! The tools of a run: those that come with rein, those that need a client or
//! a key, and those that the user wrote.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rein_config::{SearchBackend, WebSettings};
use rein_engine::PageReader;
use rein_http::{Client, ClientOptions, FetchOptions, Fetcher, Guard};
use rein_tools::user_tool::{Discovered, Limits, Origin, ToolDirectory, UserTools};
use rein_tools::web_search::{Backend, SearchSettings, WebSearch};
use rein_tools::webfetch::{self, Webfetch};
use rein_tools::{Registry, Tool};
use secrecy::SecretString;

use crate::error::CommandError;

/// More of the user's tools than this are told of by name only.
const TOLD: usize = 8;

/// The tools for these settings.
pub(super) fn tools(
    web: &WebSettings,
    client: &ClientOptions,
    own: Discovered,
    reader: Option<PageReader>,
    key: impl Fn(&str) -> Option<String>,
) -> Result<Registry, CommandError> {
    let registry = Registry::builtin().with(fetching(web, client, reader)?);
    let registry = match searching(web, client, key)? {
        Some(search) => registry.deferred([search]),
        None => registry,
    };
    Ok(if own.tools.len() > TOLD {
        registry.deferred(own.tools)
    } else {
        own.tools.into_iter().fold(registry, Registry::with)
    })
}

/// The tools in the user's own directory, and what is wrong with them.
pub(crate) async fn own(config: &Path) -> Discovered {
    let directories: Vec<ToolDirectory> = ["tool", "tools"]
        .iter()
        .map(|name| ToolDirectory { path: config.join(name), origin: Origin::User })
        .filter(|directory| directory.path.is_dir())
        .collect();
    if directories.is_empty() {
        return Discovered::default();
    }
    let taken: Vec<String> = Registry::builtin().names();
    UserTools::default().discover(&directories, &taken, Limits::default()).await
}

fn fetching(
    web: &WebSettings,
    client: &ClientOptions,
    reader: Option<PageReader>,
) -> Result<Arc<dyn Tool>, CommandError> {
    let guard = Guard::allowing(&web.allow_private)
        .map_err(|error| CommandError::usage("`web.allow_private` cannot be used").caused_by(error))?;
    let options = FetchOptions {
        client: client.clone(),
        guard,
        max_bytes: usize::try_from(web.size_mb).unwrap_or(usize::MAX >> 20) << 20,
        timeout: Duration::from_secs(web.timeout.into()),
        ..FetchOptions::default()
    };
    let fetcher = Fetcher::new(options)
        .map_err(|error| CommandError::usage("the network settings cannot be used").caused_by(error))?;
    let reader = reader.map(|reader| Arc::new(reader) as Arc<dyn webfetch::Summarise>);
    Ok(Arc::new(Webfetch::new(fetcher, webfetch::WebSettings::default(), reader)))
}

fn searching(
    web: &WebSettings,
    client: &ClientOptions,
    key: impl Fn(&str) -> Option<String>,
) -> Result<Option<Arc<dyn Tool>>, CommandError> {
    let Some(backend) = web.search.backend else { return Ok(None) };
    let client = Client::new(client.clone())
        .map_err(|error| CommandError::usage("the network settings cannot be used").caused_by(error))?;
    let settings = SearchSettings {
        backend: Some(match backend {
            SearchBackend::Searxng => Backend::SearXng,
            SearchBackend::Brave => Backend::Brave,
            SearchBackend::Tavily => Backend::Tavily,
            SearchBackend::Exa => Backend::Exa,
            SearchBackend::Html => Backend::DuckDuckGo,
        }),
        endpoint: web.search.endpoint.as_ref().map(|endpoint| endpoint.expose().to_owned()),
        key: web.search.key_env.as_ref().and_then(|name| key(name.as_ref())).map(SecretString::from),
        timeout: Some(Duration::from_secs(web.timeout.into())),
    };
    Ok(Some(Arc::new(WebSearch::new(client, settings))))
}
